"""Tokenizers in the manner of public model families, trained here on text of our own making.

What makes a family is its published pattern and its steps; the vocabulary is only what they run on, so a small one
trained in two seconds shows the same faults. Each maker returns a `tokenizers.Tokenizer`.
"""

import json
import random

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
QWEN35 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK_V3 = [
    r"\p{N}{1,3}", r"[一-龥぀-ゟ゠-ヿ]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"]

SCRIPTS = {
    "latin": "abcdefghijklmnopqrstuvwxyz", "accents": "äöüßéèçñåø", "greek": "αβγδεζηθικλμνξοπρστυφχψω",
    "cyrillic": "абвгдежзиклмнопрстуфхцчшщыьэюя", "devanagari": "कखगघचछजझटठडढतथदधनपफबभमयरलवशसह",
    "han": "的一是不了人我在有他这为之大来以个中上们日本語", "kana": "あいうえおかきくけこサシスセソ",
    "hangul": "가나다라마바사아자차", "arabic": "ابتثجحخدذرزسشصضطظعغ", "thai": "กขคงจฉชซญดตถทธน"}
MARKS = {"devanagari": "ािीुूेैोौ्ं", "latin": "\u0301\u0308", "thai": "ัิีุู่้", "arabic": "\u064e\u064f"}
EMOJI = ["🦙", "👩‍💻", "🇩🇪", "👍🏽", "❤️", "🚀"]
CODE = ["def f(x):\n    return x", "for (int i = 0; i < n; ++i) {\n\ta[i] += 1;\n}", "a->b && !c", "// TODO: fix\r\n",
        '{"key": [1, 2.5, null]}', "import os\n\n\n", "https://x.org/a?b=c#d", "#include <map>"]


def training_text(seed=1, words=30000):
    """Words drawn from a fixed list, so that merges have something to find."""
    random_ = random.Random(seed)
    lexicon = []
    for script, letters in SCRIPTS.items():
        for _ in range(400 if script == "latin" else 120):
            word = ""
            for _ in range(random_.randint(1, 7)):
                word += random_.choice(letters)
                if script in MARKS and random_.random() < 0.3:
                    word += random_.choice(MARKS[script])
            lexicon.append(word)
    lexicon += EMOJI + CODE + ["don't", "I'LL", "we're", "it's", "12345", "3.14", "１２３４", "..."]
    lines = []
    for _ in range(words // 12):
        line = [random_.choice(lexicon) for _ in range(12)]
        line = [word.title() if random_.random() < 0.1 else word for word in line]
        lines.append(random_.choice([" ", " ", " ", "  "]).join(line) + random_.choice([".\n", "!\n\n", "\n", ""]))
    return lines


def train_byte_level(text, size, pre_tokenizer, normalizer=None):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    if normalizer:
        tokenizer.normalizer = normalizer
    trainer = trainers.BpeTrainer(vocab_size=size, show_progress=False, special_tokens=[],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(text, trainer)
    return tokenizer


def splits(*patterns):
    steps = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    return pre_tokenizers.Sequence(steps + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def specials(tokenizer, *names):
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in names])


def gpt2(text):
    tokenizer = train_byte_level(text, 4000, pre_tokenizers.ByteLevel(add_prefix_space=False))
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    specials(tokenizer, "<|endoftext|>")
    return tokenizer


def llama3(text):
    tokenizer = train_byte_level(text, 4000, splits(LLAMA3))
    tokenizer = with_ignore_merges(tokenizer, ["ĠViá»ĩt", "Ġunreached", "ĠabcĠdef"])
    specials(tokenizer, "<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>", "<|start_header_id|>")
    begin = tokenizer.token_to_id("<|begin_of_text|>")
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing(single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", begin)])])
    return tokenizer


def with_ignore_merges(tokenizer, unreachable):
    """Adds entries that no merge reaches, as Llama-3 has 588 of."""
    file = json.loads(tokenizer.to_str())
    for token in unreachable:
        file["model"]["vocab"].setdefault(token, len(file["model"]["vocab"]))
    file["model"]["ignore_merges"] = True
    return Tokenizer.from_str(json.dumps(file))


def qwen2(text):
    tokenizer = train_byte_level(text, 4000, splits(QWEN2), normalizers.NFC())
    specials(tokenizer, "<|endoftext|>", "<|im_start|>", "<|im_end|>")
    tokenizer.add_tokens([AddedToken("<tool_call>", normalized=False), AddedToken("</tool_call>", normalized=False)])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def qwen35(text):
    tokenizer = train_byte_level(text, 4000, splits(QWEN35), normalizers.NFC())
    specials(tokenizer, "<|endoftext|>", "<|im_start|>", "<|im_end|>")
    return tokenizer


def deepseek_v3(text):
    tokenizer = train_byte_level(text, 4000, splits(*DEEPSEEK_V3))
    specials(tokenizer, "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>")
    tokenizer.add_tokens([AddedToken("<｜Assistant｜>", normalized=True)])
    return tokenizer


def gemma(text):
    """BPE on characters with a byte for each that has no token; spaces written as U+2581."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    # Trained word by word, or it would learn whole sentences; the pre-tokenizer of the file never cuts.
    words = [["▁" * (index > 0) + word for index, word in enumerate(line.split(" "))] for line in text]
    trainer = trainers.BpeTrainer(vocab_size=4000, show_progress=False, limit_alphabet=600,
                                  special_tokens=["<pad>", "<eos>", "<bos>", "<unk>"] + bytes_)
    tokenizer.train_from_iterator((word for line in words for word in line), trainer)
    return Tokenizer.from_str(undo_special(tokenizer.to_str(), bytes_, ["<start_of_turn>", "  ", "\n\n"]))


def undo_special(text, bytes_, more):
    """The trainer's tokens were special to keep them whole; in such files bytes are plain tokens."""
    file = json.loads(text)
    file["added_tokens"] = [token for token in file["added_tokens"] if token["content"] not in bytes_]
    for content in more:
        file["model"]["vocab"].setdefault(content, len(file["model"]["vocab"]))
        file["added_tokens"].append({
            "id": file["model"]["vocab"][content], "content": content, "single_word": False, "lstrip": False,
            "rstrip": False, "normalized": False, "special": content.startswith("<")})
    file["model"]["merges"] = every_merge(file["model"])
    file["post_processor"] = {
        "type": "TemplateProcessing", "pair": [], "special_tokens": {
            "<bos>": {"id": "<bos>", "ids": [file["model"]["vocab"]["<bos>"]], "tokens": ["<bos>"]}},
        "single": [{"SpecialToken": {"id": "<bos>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]}
    return json.dumps(file)


def scores_of(model):
    """A SentencePiece score for each token: what was learnt first is the best."""
    rank = {left + right: -index - 1.0 for index, (left, right) in reversed(list(enumerate(model["merges"])))}
    return {token: rank.get(token, -1e6) for token in model["vocab"]}


def every_merge(model):
    """All ways to put a token together, best tokens first: how the merges of such files are derived from scores."""
    vocab, scores = model["vocab"], scores_of(model)
    merges = []
    for token in sorted((t for t in vocab if scores[t] > -1e6), key=lambda t: -scores[t]):
        ways = [(token[:cut], token[cut:]) for cut in range(1, len(token)) if token[:cut] in vocab and token[cut:] in vocab]
        merges += sorted(ways, key=lambda way: (vocab[way[0]], vocab[way[1]]))
    return merges


def unigram(text):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(),
                                                 normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=3000, show_progress=False, unk_token="<unk>",
                                      special_tokens=["<pad>", "</s>", "<unk>"])
    tokenizer.train_from_iterator(text[:800], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", tokenizer.token_to_id("</s>"))])
    return tokenizer


FAMILIES = {"gpt2": gpt2, "llama3": llama3, "qwen2": qwen2, "qwen35": qwen35, "deepseek_v3": deepseek_v3,
            "gemma": gemma, "unigram": unigram}


def random_strings(count, seed=7):
    """All planes, marks, controls, unassigned code points, long runs, code, and words of the training text."""
    random_ = random.Random(seed)
    words = [word for line in training_text(words=2400) for word in line.split(" ")]
    specials_ = ["\u00a0", "\u2029", "\u3000", "\u200b", "\ufeff", "\u0085", "\x00", "\x1b", "１２３", "٣٤", "Ⅷ", "²",
                 "\r\n", "\n", "\t", "   ", "'S", "'ll", "ſ", "ı", "İ", "é", "e\u0301", "\u0308", "ﬁ", "™", "㍿", "▁", "Ġ",
                 "<|im_start|>", "<|endoftext|>", "<tool_call>", "<bos>", "</s>", "<｜User｜>", "<｜Assistant｜>", "<0x0A>",
                 "<|eot_id|>", "  ", "\n\n"]

    def piece():
        kind = random_.random()
        if kind < 0.30:
            return random_.choice(words)
        if kind < 0.45:
            return " "
        if kind < 0.60:
            return random_.choice(specials_)
        if kind < 0.72:
            return chr(random_.randint(0x20, 0x7e))
        if kind < 0.80:
            return chr(random_.choice([0x300, 0x900, 0x1f300, 0x600, 0xe00]) + random_.randint(0, 255))
        if kind < 0.82:
            return random_.choice("a \n0!字").ljust(random_.randint(2, 300), random_.choice("a \n0!字"))
        while True:
            point = random_.randint(1, 0x10ffff) if kind < 0.95 else random_.randint(1, 0xffff)
            if not 0xd800 <= point <= 0xdfff:
                return chr(point)

    return ["".join(piece() for _ in range(random_.choice([1, 2, 3, 5, 8, 13]))) for _ in range(count)]
