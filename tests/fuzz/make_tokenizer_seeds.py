"""Writes corpus/tokenizer/*: small tokenizers from which the fuzzer starts. Needs nothing but Python.

    python3 tests/fuzz/make_tokenizer_seeds.py
"""

import json
import pathlib

CUT = b"\xff"
TEXT = "ab <s>12 ÄÖ é 日本\n".encode()
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def token(id, content, special=True, **flags):
    base = {"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {**base, "special": special, **flags}


def bpe(tokens, merges=(), **fields):
    return {"type": "BPE", "vocab": {text: id for id, text in enumerate(tokens)}, "merges": list(merges), **fields}


def seed(model, added=(), config=None, generation=None, **steps):
    file = {"version": "1.0", "added_tokens": list(added), "model": model, **steps}
    beside = [json.dumps(part).encode() if part else b"" for part in (config, generation)]
    return CUT.join([json.dumps(file, ensure_ascii=False).encode(), *beside, TEXT])


SPLIT = {"type": "Split", "pattern": {"Regex": r"\p{N}{1,3}|\s+(?!\S)|\s+"}, "behavior": "Isolated", "invert": False}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
BACK = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
TEMPLATE = {"type": "TemplateProcessing", "pair": [], "single": [
    {"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [4], "tokens": ["<s>"]}}}
SMALL = ["a", "b", "c", "ab"]

SEEDS = {
    "merges": seed(bpe(SMALL, ["a b"], unk_token="c", fuse_unk=True), [token(4, "<s>", lstrip=True)]),
    "pairs": seed(bpe(SMALL, [["a", "b"]], unk_token="c", ignore_merges=True), [token(4, "<s>", rstrip=True)]),
    "byte_level": seed(bpe(SMALL + ["Ġ", "1", "2"], ["a b"]), pre_tokenizer={
        "type": "Sequence", "pretokenizers": [SPLIT, {"type": "Digits", "individual_digits": True}, BYTE_LEVEL]},
        decoder=BYTE_LEVEL, post_processor=BYTE_LEVEL),
    "byte_fallback": seed(bpe(SMALL + BYTES + ["▁"], ["a b"], byte_fallback=True, unk_token="a"),
                          normalizer={"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, REPLACE]},
                          decoder={"type": "Sequence", "decoders": [BACK, {"type": "ByteFallback"}, {"type": "Fuse"}, {
                              "type": "Strip", "content": " ", "start": 1, "stop": 0}]}),
    "unigram": seed({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁", -2], ["a", -1.5], ["ab", -2.25]]},
                    [token(0, "<unk>")], normalizer={"type": "NFKC"}, pre_tokenizer=METASPACE, decoder=METASPACE),
    "template": seed(bpe(SMALL, ["a b"], unk_token="a"), [token(4, "<s>"), token(5, "é", False, normalized=True)],
                     config={"bos_token": "<s>", "eos_token": {"content": "<s>"}, "add_bos_token": True,
                             "added_tokens_decoder": {"6": token(6, "<t>")}, "chat_template": [
                                 {"name": "default", "template": "x"}]},
                     generation={"eos_token_id": [4, 5]}, normalizer={"type": "NFC"}, post_processor=TEMPLATE),
    "other_steps": seed(bpe(SMALL, unk_token="a"), pre_tokenizer={"type": "Sequence", "pretokenizers": [
        {"type": "Punctuation", "behavior": "Contiguous"}, {"type": "WhitespaceSplit"}, {"type": "UnicodeScripts"},
        {"type": "FixedLength", "length": 3}, {"type": "CharDelimiterSplit", "delimiter": "-"}]},
        normalizer={"type": "Sequence", "normalizers": [{"type": "Lowercase"}, {"type": "StripAccents"}, {
            "type": "Strip", "strip_left": True, "strip_right": False}, {"type": "Nmt"}]}),
    "gguf_byte_level": b"G\x05" + CUT.join([b"", b"a", b"b", b"ab", TEXT]),
    "gguf_scores": b"G\x40" + CUT.join([b"", *(text.encode() for text in BYTES), b"a", "▁".encode(), b"ab", TEXT]),
    "gguf_unigram": b"G\x80" + CUT.join([b"\x04\0\0\0\0\0\0\0a\0", b"a", "▁a".encode(), b"ab", TEXT]),
    "wordpiece": seed({"type": "WordPiece", "unk_token": "a", "continuing_subword_prefix": "##",
                       "max_input_chars_per_word": 100, "vocab": {"a": 0}}),
}

if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "corpus" / "tokenizer"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in SEEDS.items():
        (folder / name).write_bytes(content)
