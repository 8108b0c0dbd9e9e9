"""A text of twelve scripts, emoji, spaces of all kinds and what is hard to split: the same with every version of Python."""

MASK = (1 << 64) - 1

# Code points of each script, ranges from the first to the last.
SCRIPTS = (
    ((0x0061, 0x007A), (0x00C0, 0x00D6), (0x0100, 0x017F)), ((0x0391, 0x03A1), (0x03B1, 0x03C9)), ((0x0410, 0x044F),), ((0x05D0, 0x05EA),), ((0x0621, 0x064A),),
    ((0x0904, 0x0939), (0x093E, 0x094D)), ((0x0E01, 0x0E3A),), ((0xAC00, 0xD7A3),), ((0x3041, 0x3096), (0x30A1, 0x30FA)), ((0x4E00, 0x9FA5),), ((0x10D0, 0x10FA),),
    ((0x0561, 0x0586),),
)
EMOJI = (0x1F300, 0x1F64F)
JOINED = ("\U0001F468\u200D\U0001F469\u200D\U0001F467", "\U0001F3F3\uFE0F\u200D\U0001F308", "\U0001F44D\U0001F3FD", "\U0001F1E9\U0001F1EA", "#\uFE0F\u20E3",
          "\u2764\uFE0F")
SPACES = (" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "        ", "\u00A0", "\u3000", "\u2003", "\n\n\n\n", " \n ", "\t\t")
ODD = ("don't", "I'LL", "we've", "x'S", "3.14159", "1,000,000", "0xDEADBEEF", "\u0663\u0664", "\u00BD", "\u2167", "e\u0301", "\u1E69\u0323", "\u0007",
       "\u200B", "\uFEFF", "\uFFFD", "\u00AD", "<|im_start|>", "<bos>", "</s>", "<0x0A>", "<start_of_turn>", "\u0120", "...", "!!!???", "a_b-c/d\\e",
       "https://example.org/?q=1&r=%20#x", "\U0001D49C", "\uFB01", "\u01C5", "the", "and", "return", "self.", "==", "->", "{}", "[i]")


class Draw:
    """Random numbers from a seed."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & MASK
        return (self.state >> 33) % n

    def between(self, first, last):
        return first + self.below(last - first + 1)

    def choice(self, values):
        return values[self.below(len(values))]

    def chance(self, percent):
        return self.below(100) < percent


def word(draw, script):
    return "".join(chr(draw.between(*draw.choice(script))) for _ in range(draw.between(1, 8)))


def line(draw):
    """Words of one or two scripts."""
    scripts, parts = [draw.choice(SCRIPTS) for _ in range(draw.choice((1, 1, 1, 2)))], []
    for _ in range(draw.between(4, 30)):
        kind = draw.below(100)
        if kind < 78:
            parts.append(word(draw, draw.choice(scripts)))
        elif kind < 86:
            parts.append(draw.choice(ODD))
        elif kind < 92:
            parts.append(chr(draw.between(*EMOJI)) if draw.chance(60) else draw.choice(JOINED))
        else:
            parts.append(str(draw.below(10 ** draw.between(1, 8))))
        parts.append(" " if draw.chance(85) else draw.choice(SPACES))
    return "".join(parts) + "\n"


def lines(n_bytes, seed=7):
    """Lines that are n_bytes together, or a little more."""
    draw, size = Draw(seed), 0
    while size < n_bytes:
        made = line(draw)
        size += len(made.encode())
        yield made
