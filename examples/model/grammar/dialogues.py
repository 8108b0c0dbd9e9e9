"""Dialogues between the player and a character of a game, in chat form or as a script."""
import re

from . import dialogue_folk, dialogue_roles, words as W
from .cast import cast_roles
from .expand import Entity, Scene, finish, is_question
from .tales import short_tale_about, tale_about

ROLES = {**dialogue_roles.ROLES, **dialogue_folk.ROLES}
PLAYER, NPC, END = "<|player|>", "<|npc|>", "<|end|>"

NUMBERS = W.words("""two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen, sixteen,
 seventeen, eighteen, nineteen, twenty""")

SCENES = [
    "{n} is a {n.title} {n.at}.", "{n} is a {n.trait} {n.title} {n.at}.", "You meet {n}, a {n.trait} {n.title}, {n.at}.",
    "{n}, a {n.title}, is {n.at}.", "This is {n}, a {n.trait} {n.title}. You meet {n.him} {n.at}.",
]

STORY_ASKED = [
    "[Tell me a story|Please tell me a story|Do you know a story|I would like to hear a story] about {a}.",
    "[Tell me|Can you tell me] about {a}.", "A story about {a}, please!",
]

_GREETING = re.compile(r"^(hello|hi|greetings|good|excuse)\b", re.I)
_FRAGMENT = re.compile(r"^(and you|a .* or |a (?!strong|small)|for .* or |any |the \w+ \w+\?|since |for |so \w+\?|[\w']+\?)", re.I)


def _punctuate(text):
    """Makes questions end with a question mark and other sentences not, whatever their template says."""
    parts = re.split(r"(?<=[.!?]) ", text)
    for i, part in enumerate(parts):
        if is_question(part):
            if part[-1] in ".!":
                parts[i] = part[:-1] + "?"
        elif part.endswith("?") and (_GREETING.match(part) or not _FRAGMENT.search(part)):
            parts[i] = part[:-1] + "."
    return " ".join(parts)


def _cast(dice):
    scene = Scene(dice, {})
    cast_roles(scene, "n=person v=person t=town w=wild d=dungeon x=pest m=monster o=treasure k=keepsake f=food b=herb "
                      "e=elder g=colour r=riddle")
    role = ROLES[dice.pick(sorted(ROLES))]
    scene.entities["n"].update(title=dice.pick(role["titles"]), at=dice.pick(role["at"]), work=role["work"])
    price = dice.between(6, 18)
    scene.entities["c"] = Entity(price=NUMBERS[price], less=NUMBERS[price - dice.between(2, 4)],
                                 few=NUMBERS[dice.between(0, 4)], many=NUMBERS[dice.between(6, 18)])
    return scene, role


def _topics(dice, role):
    """One to four topics, none of them opening with the same words as another."""
    chosen, openings = [], set()
    for _ in range(dice.between(1, 4)):
        topic = dice.pick(role["topics"] if dice.chance(0.55) else dialogue_folk.ANY_TOPICS)
        if topic[0][:14] not in openings:
            openings.add(topic[0][:14])
            chosen.append(topic)
    return chosen


def _lines(scene, role):
    """The whole conversation: finished lines, the player's at even positions."""
    dice = scene.dice
    exchanges = [dice.pick(role["greet"])] if dice.chance(0.75) else []
    exchanges += _topics(dice, role)
    if dice.chance(0.4):
        exchanges.append(dice.pick(role["bye"]))
    texts = [line for exchange in exchanges for line in exchange]
    return [_punctuate(finish(scene.expand(text))) for i, text in enumerate(texts)]


def _chat(scene_line, lines):
    return scene_line + "".join((NPC + x + END) if i % 2 else (PLAYER + x) for i, x in enumerate(lines))


def chat(dice):
    """Chat form: an optional sentence that sets the scene, then turns; every answer ends with the end token."""
    scene, role = _cast(dice)
    scene_line = finish(scene.expand(dice.pick(SCENES))) if dice.chance(0.7) else ""
    return _chat(scene_line, _lines(scene, role))


def story_chat(dice):
    """The player asks for a story about somebody and gets it."""
    subject, text = (short_tale_about if dice.chance(0.5) else tale_about)(dice)
    scene, _ = _cast(dice)
    asked = finish(scene.expand(dice.pick(STORY_ASKED).replace("{a}", "a " + subject)))
    scene_line = finish(scene.expand(dice.pick(SCENES))) if dice.chance(0.5) else ""
    return _chat(scene_line, [_punctuate(asked), text])


def script(dice):
    """The same conversations as a script: one line a turn, each with the name of the speaker."""
    scene, role = _cast(dice)
    first = finish(scene.expand(dice.pick(SCENES)))
    speakers = (dice.pick(["Player", "Hero", "Traveller", scene.entities["v"][""]]), scene.entities["n"][""])
    return "\n".join([first] + ["%s: %s" % (speakers[i % 2], x) for i, x in enumerate(_lines(scene, role))]) + END
