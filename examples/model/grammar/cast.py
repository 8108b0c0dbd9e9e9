"""Casting: turns a role such as `h=folk` into an entity of the scene, never the same name or noun twice in a document."""
from . import words as W
from .expand import Entity

HE = {"he": "he", "him": "him", "his": "his", "hers": "his", "himself": "himself"}
SHE = {"he": "she", "him": "her", "his": "her", "hers": "hers", "himself": "herself"}


def _fresh(scene, items, key=lambda item: item):
    """An item whose noun no other entity of the scene uses."""
    for _ in range(64):
        item = scene.dice.pick(items)
        if key(item) not in scene.used:
            scene.used.add(key(item))
            return item
    raise ValueError("no unused item left of " + repr(items)[:60])


def _character(scene, kind, names, pronouns, looks=W.LOOKS):
    name = _fresh(scene, names)
    look = "" if kind.startswith(("young", "old", "wise")) else _fresh(scene, looks)
    trait = _fresh(scene, W.TRAITS)
    hobby, doing = _fresh(scene, W.HOBBIES, lambda h: h[0])
    text = {"": name, "kind": kind, "the": "the " + kind, "look": look, "a": "a %s %s" % (look, kind), "trait": trait,
            "hobby": hobby, "doing": doing}
    return Entity(text, **pronouns)


def animal(scene):
    kind = _fresh(scene, W.ANIMALS)
    if scene.dice.chance(0.5):
        return _character(scene, kind, W.HE_ANIMAL_NAMES, HE)
    return _character(scene, kind, W.SHE_ANIMAL_NAMES, SHE)


def person(scene):
    if scene.dice.chance(0.5):
        return _character(scene, _fresh(scene, W.BOY_KINDS), W.BOY_NAMES, HE)
    return _character(scene, _fresh(scene, W.GIRL_KINDS), W.GIRL_NAMES, SHE)


def folk(scene):
    return animal(scene) if scene.dice.chance(0.5) else person(scene)


def elder(scene):
    if scene.dice.chance(0.5):
        return _character(scene, _fresh(scene, W.OLD_MEN), W.BOY_NAMES, HE)
    return _character(scene, _fresh(scene, W.OLD_WOMEN), W.GIRL_NAMES, SHE)


def place(scene):
    preposition, noun, looks = _fresh(scene, W.PLACES, lambda p: p[1])
    phrase = "the %s %s" % (scene.dice.pick(looks), noun) if looks else "the " + noun
    return Entity({"": phrase, "in": preposition + " " + phrase, "n": noun, "the": "the " + noun})


def town(scene):
    name = _fresh(scene, W.VILLAGE_START) + scene.dice.pick(W.VILLAGE_END)
    return Entity({"": name, "in": "in " + name})


def wild(scene):
    name = "the %s %s" % (_fresh(scene, W.WILD_START), _fresh(scene, W.WILD_END))
    return Entity({"": name})


def _thing(scene, nouns, looks):
    noun = _fresh(scene, nouns)
    look = scene.dice.pick(looks)
    return Entity({"": look + " " + noun, "a": "a %s %s" % (look, noun), "n": noun, "the": "the " + noun, "look": look})


def _noun(items):
    def cast(scene):
        noun = _fresh(scene, items)
        return Entity({"": noun, "a": "a " + noun, "the": "the " + noun})
    return cast


def _tuple(items, names):
    def cast(scene):
        item = _fresh(scene, items, lambda t: t[0])
        return Entity(zip(names, item), **{"": item[0]})
    return cast


ROLES = {
    "folk": folk, "animal": animal, "person": person, "elder": elder, "place": place, "town": town, "wild": wild,
    "keepsake": lambda s: _thing(s, W.KEEPSAKES, W.KEEPSAKE_LOOKS),
    "treasure": lambda s: _thing(s, W.TREASURES, W.TREASURE_LOOKS),
    "food": lambda s: _thing(s, W.FOODS, W.FOOD_LOOKS),
    "magic": _noun(W.MAGIC_THINGS), "fruit": _noun(W.FRUITS), "tool": _noun(W.TOOLS), "herb": _noun(W.HERBS),
    "colour": _noun(W.COLOURS), "monster": _noun(W.MONSTERS), "pest": _noun(W.PESTS), "spot": _noun(W.SEARCH_SPOTS),
    "hiding": _noun(W.HIDING_SPOTS), "build": _noun(W.BUILDS), "weak": _noun(W.WEAK_STUFF),
    "strong": _noun(W.STRONG_STUFF), "festival": _noun(W.FESTIVALS), "plant": _noun(W.PLANTS),
    "dungeon": _noun(W.GAME_PLACES),
    "hobby": _tuple(W.HOBBIES, ("do", "doing")), "skill": _tuple(W.SKILLS, ("do", "doing", "did")),
    "fright": _tuple(W.FRIGHTS, ("seems", "is")), "trouble": _tuple(W.TROUBLES, ("block", "passed")),
    "riddle": _tuple(W.RIDDLES, ("q", "a")), "storm": _tuple(W.STORMS, ("event", "does")),
}


def cast_roles(scene, roles):
    """roles: "h=folk o=keepsake"; adds the entities to the scene in that order."""
    for role in roles.split():
        key, kind = role.split("=")
        scene.entities[key] = ROLES[kind](scene)
