"""The texts whose token ids are kept as goldens: about 200, each there for a reason."""
import random

ASCII = [
    "", " ", "  ", "a", "Hello", "Hello, world!", " Hello", "Hello ", "  two  spaces  inside  ", "DON'T don't I'LL we've",
    "(x):\n", "a->b", "12345", "3.14159e-10", "1,234,567.89", "0xDEADBEEF", "2024-11-30T12:34:56Z", "A\tB\t\tC",
    "line\nline\r\nline\rline", "\n", "\n\n\n", "\r\n\r\n", "\t", "\t\t\t x", "trailing newline\n", "\x00\x01\x02\x1f\x7f",
    "CamelCaseIdentifierNames and snake_case_names and SCREAMING_CASE", "https://example.org/a?b=c&d=%20#frag",
    "user@example.org", "$100 + 20% = ~$120 <= #1 & `code` ^_^", "\"quoted\" 'single' ``tex''", "e.g. i.e. etc... wait---what?!",
    "The quick brown fox jumps over the lazy dog.", "antidisestablishmentarianism", "<div class=\"a\">x</div><br/>",
    "{\"key\": [1, 2.0, null, true]}", "\\n is not a newline \\\\ \\u0041",
]
CODE = [
    "def f(x):\n    return x ** 2  # square\n", "for (int i = 0; i < n; ++i) {\n\t\tsum += a[i];\n\t}\n",
    "    four\n        eight\n            twelve\n", "if(a&&b||!c){d?e:f;}", "SELECT * FROM t WHERE a='b' -- c\n",
    "#include <vector>\nstd::vector<int> v{1,2,3};", "x=>x+1;\nlet y = `${x}`;", "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "```python\nprint('hi')\n```\n", "%matplotlib inline\n\n\nimport numpy as np\n", "a\n \n  \n   \nb", "0b1010 0o777 1_000_000 .5f",
]
SCRIPTS = [
    "日本語123", "１２３４", "你好，世界！今天天气怎么样？", "こんにちは、元気ですか。", "안녕하세요 세계", "繁體中文與简体中文混排 text",
    "Привет, как дела?", "Καλημέρα κόσμε", "שלום עולם", "مرحبا بالعالم ١٢٣", "नमस्ते दुनिया", "สวัสดีชาวโลก", "ਸਤ ਸ੍ਰੀ ਅਕਾਲ",
    "Tiếng Việt có dấu", "Việt", "Füh­rer naïve café", "İstanbul ıssız", "ǅ ǆ ﬁ ﬀ ß ẞ", "ԱԲԳ ქართული አማርኛ", "ᚠᚢᚦ 𐎀𐎁 𒀀",
    "籙膂蟳푎𝔹 𝕳𝖊𝖑𝖑𝖔", "½ ⅓ ² ³ ① Ⅷ 四 ൰", "٣ ३ ੩ ๓ 𝟛", "№ ™ ℃ Ω Å",
]
MARKS = [
    "नमस्ते", "Fu\u0308hrer", "e\u0301 a\u0300 n\u0303", "Z\u0351\u036b\u0343\u034f\u0349a\u0334l\u0335g\u0336o\u0337", "ก็ ที่ นี้",
    "\u00a0x", "a\u00a0b\u00a0\u00a0c", "\u2029 \ua4e4", "a\u2003b\u3000c\u202fd", "\u200b\u200c\u200d\ufeffx", "x\u00ad\u2060y",
    "\u202eright to left\u202c", "\ufb01\u0301", "\u1100\u1161\u11a8 \uac01", "\u0e33\u0e4d\u0e32",
]
EMOJI = [
    "🦙", "Hi 🦙!", "👩‍👩‍👧‍👦 family", "👍🏽👍🏿", "🇺🇳🇩🇪", "❤️❤︎", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣2️⃣", "🤷🏻‍♂️", "🙂🙃" * 5, "a🦙b🦙c", "\U0010ffff \U000e0001 \ue000",
]
LOOK_ALIKES = [
    "<|im_start|>", "<|im_end|>", "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", "<|endoftext|>", "<bos>", "<eos> <pad>",
    "<start_of_turn>user\nHi<end_of_turn>\n", "<|im_start|", "<|im_<|im_start|>start|>", "a<|im_end|>b", " <|im_end|> ", "<s></s>",
    "<0x0A>", "<0xF0><0x9F>", "[INST] x [/INST]", "<unused0><unused99>", "<unk>", "<mask>", "[multimodal]", "<start_of_image>",
    "<table><tr><td>x</td></tr></table>", "<h1>T</h1> <b>b</b> <i >i</i>", "<|IM_START|>", "<repo_name>a<file_sep>b",
    "▁", "▁▁Hello▁world", "a▁   b ▁ c", "Ġhello Ċ", "ÿþ Ā ł", "<|im_start|>" * 3, "<table", "</table>>", "<<b>>",
]


def runs():
    """Runs around every length at which a vocabulary has a token of its own."""
    out = []
    for unit in (" ", "\n", "\t", "=", "-", "a", "ha", "0", "é", "漢", ".", "_"):
        for length in (2, 5, 16, 31):
            out.append(unit * length)
            out.append("x" + unit * (length - 1) + "y")
    out += ["\n\n \n\n  \n", " \n" * 8, "\t \t \t", "  \t\n  \t\n", "a" * 300, "ab" * 200, "()" * 40, "!?" * 33]
    return out


def long_texts():
    rng = random.Random(20261130)
    words = "the of model token cache kernel 7 42 -> ( ) , . naïve 東京 мир \n".split(" ") + ["lane", "sublane", "\n\n", "🦙"]
    return [
        " ".join(rng.choice(words) for _ in range(600)),
        "".join(rng.choice("abcdefghij klmnop\n") for _ in range(2500)),
        "人工知能は" * 200 + " end",
        "x" * 1200,
    ]


def random_texts(count=30):
    """Any characters at all: the wider net."""
    rng = random.Random(7)
    blocks = [(0x20, 0x7e), (0xa0, 0x24f), (0x370, 0x52f), (0x590, 0x6ff), (0x900, 0xdff), (0x1e00, 0x2bff), (0x3000, 0x9fff),
              (0xac00, 0xd7a3), (0x1f300, 0x1faff)]
    out = []
    for _ in range(count):
        letters = []
        for _ in range(rng.randint(5, 60)):
            low, high = rng.choice(blocks)
            letters.append(chr(rng.randint(low, high)))
            if rng.random() < 0.2:
                letters.append(" ")
        out.append("".join(letters))
    return out


def all_texts():
    return ASCII + CODE + SCRIPTS + MARKS + EMOJI + LOOK_ALIKES + runs() + long_texts() + random_texts()
