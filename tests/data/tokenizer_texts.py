"""The texts that the vocabularies of tests/data/tokenizers are tried with, and the text that they are trained on.

TEXTS is a list of (id, text), INVALID one of (id, bytes that are not UTF-8), lines() what the vocabularies are trained on.
"""
import os
import random
import sys
import unicodedata

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "examples", "model"))
import corpus  # noqa: E402  # pylint: disable=wrong-import-position

TEXTS = []


def add(group, *texts):
    for i, text in enumerate(texts):
        TEXTS.append(("%s-%d" % (group, i + 1), text))


add("empty", "")
add("plain", "The quick brown fox jumps over the lazy dog.", "a", "A b C d",
    "I'm sure they'd've said we're fine, y'all'll see: it's John's.", "I'M SURE THEY'D SAY WE'RE FINE, IT'S JOHN'S",
    "don’t “quote” me — she said… ‘ok’", "hyphen-ated, under_scored, camelCaseWords, SCREAMING_SNAKE, XMLHttp",
    "Dr. Smith paid $1,234.56 (or €1.234,56) on 2024-02-29 at 13:37:05.", "'start 'Then 'Mine 'so 's 'S'S 'll 'LL'Ve",
    "The lighthouse keeper lit the lantern", "Hello world", "it'ſ the 'ſ and K'ſa", "iPhone McDonald eBay USAir aB Ab",
    "can't, CAN'T; we'Ll he'd'S x'm")
add("multilingual", "Der Fluß überquert die Brücke; größer, schöner, Äpfel.", "Où est l'hôtel ? Ça coûte 12 € à Noël.",
    "¿Dónde está el niño? ¡Mañana!", "Вечером мы идём домой, а утром снова в путь.", "Ένα μικρό σπίτι στην άκρη του δάσους.",
    "小さな家、森の端にある。カタカナとﾊﾝｶｸ", "河边有一座小房子，里面住着一只猫。", "강가에 작은 집이 있다. ㄱㄴㄷ", "नदी के किनारे एक छोटा घर है।",
    "ริมแม่น้ำมีบ้านหลังเล็ก ๆ", "بيت صغير عند النهر، ١٢٣٤٥ مرحبا؟", "בַּיִת קָטָן לְיַד הַנָּהָר", "Một ngôi nhà nhỏ bên bờ sông.",
    "İzmir'de ılık bir gün; IŞIK ışık", "მდინარესთან პატარა სახლია", "Գետի մոտ մի փոքրիկ տուն կա", "ትንሽ ቤት", "ᎣᏏᏲ",
    "中文English混合123テスト한국어العربية", "𝔘𝔫𝔦 𝒻𝑜 𐍈 𠜎𠜱 𐐀𐐨 ⰀⰰꞪꭰ", "ㄅㄆㄇ注音。「引号」【括】，；：！（一）～…—“中”",
    "ផ្ទះតូច ບ້ານນ້ອຍ အိမ်လေး", "㐀㐁豈更⼀⼁", "ǅungla ʰaʰ ªº ʻokina ˈa", "a中b文c,中,文 中文 abc字DEF字", "日本語ﾃｽﾄ한글ᄒ")
add("emoji", "😀", "👨‍👩‍👧‍👦", "👩🏽‍🚀 and 🏳️‍🌈", "🇫🇷🇯🇵", "1️⃣#️⃣ ❤️ ❤ ✅", "text😀text 😀 text", "🏴󠁧󠁢󠁥󠁮󠁧󠁿 flag")
_marked = "Å é ñ ü ç ố ờ ẫ 각 ㄱ が ぱ"
add("norm", unicodedata.normalize("NFC", _marked), unicodedata.normalize("NFD", _marked), "a\u0300\u0301\u0302\u0303",
    "\u0301leading mark", "Z͑ͫ̓ͪ͏̴̙A̴̵L̠ͨG", "\u212b \u2126 \ufb01 \u00bd \u2460 \uff21\uff22\uff23 ﬃ ㍿ ﷺ",
    "\u1e9b\u0323 \u1e69 s\u0323\u0307 q\u0323\u0307", "ΣΊΣΥΦΟΣ ẞ ŒÆ ﬀ Ⅷ ǅ", "é1è2 क्षि1 c\u0327a x\u0301y \u0301\u0301 9\u0301")
for _n in (1, 2, 3, 4, 5, 8, 9, 17, 40):
    add("spaces-%d" % _n, " " * _n, " " * _n + "x")
add("long-spaces", "a" + " " * 1100 + "b", " " * 777)
for _n in (1, 2, 3, 5):
    add("lines-%d" % _n, "\n" * _n, "\t" * _n, "a" + "\n" * _n + "b", "a " + "\n" * _n + "  b")
add("ws", "a  b   c    d     e", "trailing   ", "   leading", "tab\tbetween\t\ttabs", " \t \t mixed", "line1\nline2\n\nline4",
    "line1 \n line2\n \n", "\r", "\r\n", "a\r\nb\r\n\r\nc", "a\rb", "\n\r\n\r", "\n\n \n\n", "x \u00a0y", "\u00a0\u00a0",
    "\u2003em\u2009thin\u200bzero\u3000ideographic", "\ufeffbom", "soft\u00adhyphen", "\x07 bell \x1b[0m esc", "\x0b\x0c vt ff",
    "word\u2028line sep\u2029para", "a\u0085b nel", "def f():\n    if x:\n\t\treturn 1\n\n\n    # done   \n", "a.\n\nb!\r\n\r\nc;\nd",
    "a  \nb\n  c \n\n d\t\n", "x\n y\n  z", " , . ; : !", "a,  b,   c", "…\n\n…  —\n", "w. \n", "a/\nb//\r\n/c/", "\n  \n\n   x")
add("numbers", *["123456789012"[:n] for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 12)])
add("numbers-mixed", "1 22 333 4444 55555 666666 7777777", "3.14159265358979", "1,000,000", "0x1F 0b1010 1e-10 6.022E23", "a1b2c3",
    "v1.2.3-rc.4", "+1 (555) 010-9999", "-42 −42", "½ ⅓ ² ³ ₄ Ⅷ ① Ⅷ1234", "٠١٢٣ ०१२३ ๐๑๒ ０１２３ ٠١٢٣4567", "100% 1st 2nd 007",
    "x1234567y 12345.6789 1234_5678 12345é 1234中5678", "$1234567.89 #12345 @1234")
add("code", "#include <stdio.h>\nint main(void) {\n\tprintf(\"%d\\n\", 42);\n}\n",
    "def f(x: int) -> str:\n    return f\"{x:>10}\"  # comment\n", "const f = async (a, b) => { await g(a ?? b?.c); };",
    "<div class=\"a\">&amp;<br/></div>", "{\"key\": [1, 2.5, null], \"b\": \"c\\n\"}", "x=1;y+=2;z<<=3;w!==4;a&&b||!c",
    "std::vector<std::pair<int, std::string>> v;", "```python\nprint('hi')\n```", "\\frac{a}{b} \\alpha_{i}^{2}", "a->b::c..d...e....f",
    "//////// ---- ==== ____ .... !!!???", "#### Heading\n* item\n", "$HOME/${x}/%APPDATA% ~/a.b", "(a)[b]{c}<d>|e^f`g`~h+i=j",
    ".word ,word !Word _word /path \\cmd \"quoted\" 'single' -dash .9 ,9", "..word !?word ¡word «word» €word ©word +=word |x")
add("url", "https://example.com/path/to/page?query=1&x=%20y#frag", "user.name+tag@mail.example.org", "file:///C:/Windows")
add("special", "<s>", "</s>", "<s>hello</s>", "<|endoftext|>", "a<|endoftext|>b", " <|endoftext|> ", "<|im_start|>user\nhi<|im_end|>\n",
    "<|im_start", "<|im_start|", "|im_start|>", "<unk>", "<tool>call</tool> <tool> x", "[INST] hi [/INST]", "▁", "a▁b ▁c ▁▁d", "Ġ",
    "ĠHelloĊ", "<0x0A>", "<0xE2><0x82>", "[MASK] a[SEP]b [CLS]", "<sentinel:12>a<sentinel:3> <sentinel:x>", "IMGIMGABCZ IMGIMGAZx IMGIMGJZ",
    "wordy word words", "<|IM_START|>", "##ing ing##", "\x00nul")
add("long", "a" * 100, "ab" * 40, "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft", "x" * 101, "是" * 20,
    "😀" * 5, "0" * 50, "aAbBcC" * 5)
add("joined", "ㄅㄆㄇㄅㄆㄇ", "ㄅㄆㄇ漢字ㄅㄆㄇ", "。。、、漢字", "한글한글ㄱㄴ", "abc   ", "abc \u3000", "1 \n ", "x've y't z'd", "X'VE Y'T Z'D",
    "é'sé'té", "++==  ++", "a+=b a++b", "中'中'中", "เล็กเล็ก", "०१२०१२", "１２３４５６")
add("sign", "a a'll 'llama 're-do ''' ''s", "[^a] (b) *c* ~d~ `e` ^f", "A,B;C:D!E?F", "¶§a ¶ b", "x\u200dy\u200cz", "a  \u3000b\u3000\u3000c",
    "!\n?\r\n;\n\n", "a'\nb", "word…\u2026。，、।۔،word", "=\n==\n\n", "<$+|~^`>", "´a ˜b ¨c ＋a｀b", "a b c é f", " a  b   c\td")

INVALID = [
    ("lone-continuation", b"a\x80b"), ("lone-lead2", b"a\xc3"), ("lead2-ascii", b"\xc3(x"), ("overlong2", b"\xc0\xaf"),
    ("overlong3", b"\xe0\x80\xaf"), ("truncated3", b"caf\xe2\x82"), ("truncated3-mid", b"\xe2\x82x"), ("truncated4", b"\xf0\x9f\x98"),
    ("truncated4-mid", b"\xf0\x9f\x98 ok"), ("surrogate", b"\xed\xa0\x80z"), ("surrogate-pair", b"\xed\xa0\xbd\xed\xb8\x80"),
    ("above-max", b"\xf4\x90\x80\x80"), ("fe-ff", b"\xfe\xff"), ("latin1", "déjà vu".encode("latin-1")),
    ("five-byte", b"\xf8\x88\x80\x80\x80"), ("mixed", "ok é".encode() + b"\xff" + "漢".encode() + b"\xe6\xbc end"),
    ("nul", b"\xffa\x00b"), ("many-continuations", b"\x80\xbf\x80\xbf"), ("utf16le", b"\xff\xfe" + "hi".encode("utf-16-le")),
    ("mark-after", b"a\xff\xcc\x81")]

PARTS = ["abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "    ", "\n\n\t\r", ".,;:!?'\"()[]{}<>/\\|@#$%^&*-_=+~`",
         "éèüñçßøåÆŒ", "абвгдежзийклмн", "αβγδεζηθ", "漢字日本語中文的一是不了", "ひらがなカタカナ", "한국어가나다", "مرحبا", "हिन्दीक", "ไทยภาษา",
         "😀🎉🚀🦙👍", "\u0301\u0308\u200d\ufe0f\u00a0\u3000"]
WORDS = [" the", " and", "ing", "'s", "'LL", "'re", " I'm", "==", "->", "::", "http://", ".com", " 2024", "\r\n", "\n\n", "    ", "\t", " \n",
         "<|", "|>", "</", "Hello", " world", " 你好", "。", "、", " é", "🏽", " 🙂"]


def mixtures(seed, n):
    """Random texts, of characters that have been in Unicode for long."""
    dice = random.Random(seed)
    out = []
    while len(out) < n:
        text = ""
        for _ in range(dice.randint(3, 12)):
            if dice.random() < 0.35:
                text += dice.choice(WORDS)
            else:
                part = dice.choice(PARTS)
                text += "".join(dice.choice(part) for _ in range(dice.randint(1, 6)))
            if dice.random() < 0.3:
                text += " "
        out.append(("mixture-%d" % (len(out) + 1), text))
    return out


TEXTS += mixtures(7, 30)

# What the tales lack; besides, the vocabularies are trained on TEXTS, so that tokens reach over each place where some
# pre-tokenizer cuts and another does not.
MORE = """for (int i = 0; i < 10; ++i) { sum += values[i]; }
if (x == 0) return -1;  // nothing to do
def area(width, height):\n    return width * height\n
let total = items.filter((a) => a.price > 12).length;
In 1987 there were 2,400 people; by 2003 there were 312. In 2024: 100,000. 123 456 789 1234 5678
10% of 250 is 25. 3.5 + 4.25 = 7.75; 12:30, 2024-06-01.
größer über Äpfel schön für weiß. être déjà élève à façon où. niño mañana está.
Мы идём домой. Утром солнце над рекой. Это был хороший день.
το σπίτι και το δάσος είναι μικρό.
我们在河边。他们是好朋友。今天的天气很好，我们一起去。中文
これは本です。それはペンです。私の家は小さい。
이것은 책입니다. 우리는 집에 있다. 한국어
هذا بيت صغير. نحن في البيت. مرحبا
यह एक घर है। हम घर में हैं।
นี่คือบ้าน ภาษาไทย
😀 😀😀 👍 🎉 🎉🎉 🚀
"Well," she said, "we're here: isn't it nice?" (Yes!) [No] {maybe} <b>bold</b> it's we'll they've I'd I'm
THE END. IT'S HERE! WE'LL SEE. DON'T. XML HTML HTTP""".split("\n")


def tales(n):
    """The first `n` documents of the corpus that the tales model is trained on, under a seed of their own."""
    return [corpus.document("tokenizers", i) for i in range(n)]


def lines():
    """The training text, line by line; a line keeps its end."""
    out = []
    for text in tales(60):
        for mark in ("<|begin|>", "<|end|>", "<|player|>", "<|npc|>"):
            text = text.replace(mark, "\n")
        out += [line for line in text.splitlines(keepends=True) if line.strip()]
    return out + [line + "\n" for line in MORE]
