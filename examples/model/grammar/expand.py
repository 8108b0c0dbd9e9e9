"""The template language of the corpus, and the dice that drive it.

A template is English text with
  [one|two|three]   one of the alternatives, which may be empty and may nest
  {h}  {h.he}       an entity of the scene, or one of its attributes
  {^h.he}           the same with its first letter capitalised
  {@rule}           one template of the rule, expanded in the same scene
`finish` then repairs what depends on the neighbouring words: a or an, spaces, capitals at the start of sentences.
"""
import functools
import random
import re


class Dice:
    """Random choices that depend on the seed alone, on every version of Python: only `random()` itself is used."""

    def __init__(self, seed):
        self._random = random.Random(seed).random

    def below(self, n):
        return int(self._random() * n)

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def chance(self, p):
        return self._random() < p

    def pick(self, items):
        return items[self.below(len(items))]

    def some(self, items, n):
        """n different items, in random order."""
        rest = list(items)
        return [rest.pop(self.below(len(rest))) for _ in range(n)]


class Entity(dict):
    """A thing of the scene: attribute name -> text. The attribute "" is what the bare slot shows."""


def _parse_sequence(text, pos, nested):
    """Parses up to the end of an alternative; returns (nodes, position of the delimiter)."""
    nodes, start = [], pos
    while pos < len(text):
        c = text[pos]
        if c in "|]" and nested:
            break
        if c == "[":
            nodes.append(text[start:pos])
            choices = []
            while True:
                choice, pos = _parse_sequence(text, pos + 1, True)
                choices.append(choice)
                if pos >= len(text):
                    raise ValueError("unclosed [ in template: " + text)
                if text[pos] == "]":
                    break
            nodes.append(tuple(choices))
            start = pos + 1
        elif c == "{":
            nodes.append(text[start:pos])
            end = text.index("}", pos)
            nodes.append({"slot": text[pos + 1:end]})
            pos, start = end, end + 1
        elif c in "|]}":
            raise ValueError("stray %s in template: %s" % (c, text))
        pos += 1
    nodes.append(text[start:pos])
    return [n for n in nodes if n != ""], pos


@functools.lru_cache(maxsize=None)
def parse(text):
    return _parse_sequence(text, 0, False)[0]


class Scene:
    """The entities of one document, the rules it may use, and its dice."""

    def __init__(self, dice, rules):
        self.dice = dice
        self.rules = rules
        self.entities = {}
        self.used = set()  # names and nouns already taken, so that no two entities of a document share one

    def expand(self, template):
        return "".join(self._emit(parse(template)))

    def _emit(self, nodes):
        for node in nodes:
            if isinstance(node, str):
                yield node
            elif isinstance(node, tuple):
                yield from self._emit(self.dice.pick(node))
            else:
                yield self._slot(node["slot"])

    def _slot(self, slot):
        if slot[0] == "@":
            return self.expand(self.dice.pick(self.rules[slot[1:]]))
        capital = slot[0] == "^"
        key, _, attribute = slot.lstrip("^").partition(".")
        text = self.entities[key][attribute]
        if "{" in text or "[" in text:
            text = self.expand(text)
        return text[:1].upper() + text[1:] if capital else text


_ARTICLE = re.compile(r"\b([Aa]) (?=([A-Za-z][\w'-]*))")
_AN_ANYWAY = ("hour", "honest", "honour", "heir")
_A_ANYWAY = ("uni", "use", "one", "once", "eu")


def _article(match):
    word = match.group(2).lower()
    vowel = word.startswith(_AN_ANYWAY) or (word[0] in "aeiou" and not word.startswith(_A_ANYWAY))
    return match.group(1) + ("n " if vowel else " ")


# A sentence starts at the beginning of a line, after a full stop (also one inside closing quotes), and after ! or ?.
# A closing quote after ! or ? leaves the case alone: it may be followed by "said the fox".
_START = re.compile(r"(^\"?|\n\"?|[.!?] \"?|\.\" \"?)([a-z])")


_QUESTION = re.compile(
    r"^(and )?(can|could|does|did|is|are|was|were|may i|will|would|shall|where|who|why|which|what(?! a\b| lovely\b)|do(?! not)|"
    r"have (you|they|we)|how(?! lovely| polite| kind| nice| lucky))\b|(, (is|does|are) (it|you|we)( not)?|^and you).$", re.I)


def is_question(sentence):
    return _QUESTION.search(sentence) is not None


def _ask(match):
    """A quotation whose questions end with a question mark, whatever the template says."""
    parts = re.split(r"(?<=[.!?,]) (?=[A-Z])", match.group(1))
    return '"%s"' % " ".join(p[:-1] + "?" if p[-1:] in (".", "!", ",") and is_question(p) else p for p in parts)


def finish_tale(text):
    """As finish, for text with direct speech in quotes."""
    return re.sub(r'"([^"]*)"', _ask, finish(text))


def finish(text):
    text = re.sub(r"[ \t]+", " ", text)
    text = re.sub(r" ?\n ?", "\n", text)
    text = re.sub(r" ([.,!?;:])", r"\1", text).strip()
    text = re.sub(r"([.!?])[.!?]+", r"\1", text)  # an alternative with its own mark before the template's
    text = _ARTICLE.sub(_article, text)
    return _START.sub(lambda m: m.group(1) + m.group(2).upper(), text)
