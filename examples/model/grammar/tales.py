"""Tales: picks a schema, casts its roles and writes the paragraphs."""
from . import short_tales, tale_rules, tales_home, tales_quest
from .cast import cast_roles
from .expand import Scene, finish_tale

TALES = tales_home.TALES + tales_quest.TALES
RULES = {**tale_rules.RULES, **tales_home.RULES, **tales_quest.RULES, **short_tales.RULES}


def _from_schema(dice, schemas):
    """The kind of the hero, and a tale of one schema."""
    roles, template = dice.pick(schemas)
    scene = Scene(dice, RULES)
    cast_roles(scene, roles)
    return scene.entities["h"]["kind"], finish_tale(scene.expand(template.strip()))


def tale_about(dice):
    return _from_schema(dice, TALES)


def short_tale_about(dice):
    return _from_schema(dice, short_tales.SHORT)


def journey(dice):
    """A tale of two to four encounters on a road."""
    scene = Scene(dice, RULES)
    cast_roles(scene, "h=folk p=place e=elder w=wild")
    end = dice.below(3)
    start = short_tales.JOURNEY_START[end]
    paragraphs = [scene.expand(start)]
    for roles, template in dice.some(short_tales.ENCOUNTERS, dice.between(2, 4)):
        cast_roles(scene, roles)
        paragraphs.append(scene.expand(template))
    paragraphs.append(scene.expand(short_tales.JOURNEY_END[end]))
    return finish_tale("\n".join(paragraphs))
