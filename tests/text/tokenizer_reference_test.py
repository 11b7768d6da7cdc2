"""`sublane tokenize` beside PyPI `tokenizers`: the same ids and the same texts, for each public family of tokenizers.

Vocabularies are trained here (tokenizer_vocabularies.py). The same vocabulary written as GGUF must give the ids of
its tokenizer.json, where GGUF can say what that says.
"""

import json
import os
import random
import subprocess
import tempfile
import unicodedata
import unittest

import gguf
import numpy
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers

import tokenizer_vocabularies as vocabularies

SUBLANE = os.environ["SUBLANE_BINARY"]
COUNT = 10000
CASES = ["(x):\n", "a->b", "12345", "DON'T", "日本語123", "１２３４", " Việt", "नमस्ते", "Fu\u0308hrer", "\u00a0x", "\u2029 ꏤ",
         "ab,1234 .5", "", " ", "\n", "a  b", "a" * 5000, " " * 5000, "字" * 2000, "0" * 1000, "Hello"]


def sublane(model, lines, *options):
    """One line of JSON in, one out."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    run = subprocess.run([SUBLANE, "tokenize", model, "--jsonl", *options], input=text, capture_output=True, text=True)
    if run.returncode:
        raise AssertionError(f"{model}: exit {run.returncode}: {run.stderr}")
    return [json.loads(line) for line in run.stdout.split("\n")[:-1]]


class Families(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.strings = CASES + vocabularies.random_strings(COUNT - len(CASES))
        text = vocabularies.training_text()
        cls.references = {}
        for name, make in vocabularies.FAMILIES.items():
            os.mkdir(cls.path(name))
            make(text).save(cls.path(name) + "/tokenizer.json")
            # As a file says it: numbers that were read are not always those that were written.
            cls.references[name] = Tokenizer.from_file(cls.path(name) + "/tokenizer.json")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def same(self, name, got, want, of):
        self.assertEqual(len(got), len(want))
        differ = [index for index in range(len(want)) if got[index] != want[index]]
        first = differ[0] if differ else 0
        self.assertEqual(differ, [], f"{name}: {len(differ)} of {len(want)} differ, the first for {of[first]!r}: "
                                     f"{got[first]} is not {want[first]}" if differ else "")

    def test_ids_are_the_references(self):
        for name, reference in self.references.items():
            with self.subTest(name):
                want = [each.ids for each in reference.encode_batch(self.strings, add_special_tokens=False)]
                self.same(name, sublane(self.path(name), self.strings, "--special", "--no-bos"), want, self.strings)

    def test_what_the_file_puts_around_a_text_is_put_around_it(self):
        few = [text for text in self.strings[:1000] if not text.startswith("<")]
        for name, reference in self.references.items():
            with self.subTest(name):
                want = [each.ids for each in reference.encode_batch(few)]
                self.same(name, sublane(self.path(name), few, "--special"), want, few)

    def test_special_tokens_of_a_user_are_text(self):
        for name, reference in self.references.items():
            with self.subTest(name):
                reference.encode_special_tokens = True
                special = {id for id, token in reference.get_added_tokens_decoder().items() if token.special}
                want = [each.ids for each in reference.encode_batch(self.strings, add_special_tokens=False)]
                reference.encode_special_tokens = False
                got = sublane(self.path(name), self.strings, "--no-bos")
                unknown = {reference.token_to_id("<unk>")}
                for text, ids in zip(self.strings, got):
                    self.assertFalse(set(ids) & (special - unknown), f"{name}: {text!r} became {ids}")
                # The reference's unigram model spells "</s>" as the special token; ours must not.
                keep = [index for index, ids in enumerate(want) if not set(ids) & (special - unknown)]
                self.assertGreater(len(keep), COUNT * 0.8)
                of = [self.strings[index] for index in keep]
                self.same(name, [got[index] for index in keep], [want[index] for index in keep], of)

    def test_texts_are_the_references(self):
        random_ = random.Random(3)
        for name, reference in self.references.items():
            with self.subTest(name):
                lists = [each.ids for each in reference.encode_batch(self.strings[:3000])]
                count = reference.get_vocab_size()
                lists += [[random_.randrange(count) for _ in range(random_.randint(0, 12))] for _ in range(2000)]
                want = reference.decode_batch(lists, skip_special_tokens=True)
                got = sublane(self.path(name), lists, "--decode")
                # Bytes that are no UTF-8: the reference gives up the whole run of byte tokens, a stream cannot.
                keep = [index for index, text in enumerate(want) if name != "gemma" or "\ufffd" not in text]
                self.assertGreater(len(keep), 2500)
                self.same(name, [got[index] for index in keep], [want[index] for index in keep],
                          [lists[index] for index in keep])

    def test_texts_come_back(self):
        for name in ["gpt2", "llama3", "deepseek_v3", "gemma"]:  # those that don't normalise
            with self.subTest(name):
                ids = sublane(self.path(name), self.strings, "--no-bos")
                want = [text.replace("▁", " ") if name == "gemma" else text for text in self.strings]
                self.same(name, sublane(self.path(name), ids, "--decode"), want, ids)

    def test_gguf_of_the_same_vocabulary_gives_the_same_ids(self):
        names = {"gpt2": "gpt-2", "llama3": "llama-bpe", "qwen2": "qwen2", "qwen35": "qwen35",
                 "deepseek_v3": "deepseek-v3"}
        for name, pre in names.items():
            with self.subTest(name):
                path = write_gguf(self.path(name) + ".gguf", self.references[name], "gpt2", pre=pre)
                # GGUF cannot say that a text is normalised.
                strings = [text for text in self.strings if unicodedata.is_normalized("NFC", text)]
                want = [each.ids for each in self.references[name].encode_batch(strings, add_special_tokens=False)]
                self.same(name, sublane(path, strings, "--special", "--no-bos"), want, strings)

    def test_gguf_with_scores_gives_the_ids_of_its_merges(self):
        reference = self.references["gemma"]
        path = write_gguf(self.path("gemma") + ".gguf", reference, "llama")
        # "▁" in a text is a space there, before added tokens are looked for.
        strings = [text for text in self.strings if "<0x" not in text and "▁" not in text]
        want = [each.ids for each in reference.encode_batch(strings, add_special_tokens=False)]
        self.same("gemma", sublane(path, strings, "--special", "--no-bos"), want, strings)

    def test_gguf_with_log_probabilities_gives_the_ids_of_unigram(self):
        file = json.loads(self.references["unigram"].to_str())
        # In the numbers, and without the normaliser, that a GGUF file holds.
        file["model"]["vocab"] = [[token, float(numpy.float32(score))] for token, score in file["model"]["vocab"]]
        file["normalizer"] = None
        file["pre_tokenizer"]["split"] = False
        reference = Tokenizer.from_str(json.dumps(file))
        path = write_gguf(self.path("unigram") + ".gguf", reference, "t5")
        strings = [text for text in self.strings if text[:1] not in (" ", "▁", "") and "</s>" not in text]
        want = [each.ids for each in reference.encode_batch(strings, add_special_tokens=False)]
        self.same("unigram", sublane(path, strings, "--no-bos"), want, strings)


def write_gguf(path, reference, model, pre=None):
    """The vocabulary of a tokenizer.json as GGUF metadata; no weights."""
    file = json.loads(reference.to_str())
    added = reference.get_added_tokens_decoder()
    tokens = [reference.id_to_token(id) for id in range(reference.get_vocab_size())]
    kinds = [1] * len(tokens)
    for id, token in enumerate(tokens):
        if id in added:
            kinds[id] = 3 if added[id].special else 4
        elif len(token) == 6 and token.startswith("<0x"):
            kinds[id] = 6
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(model)
    if pre:
        writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    if model == "gpt2":
        writer.add_token_merges([" ".join(merge) for merge in file["model"]["merges"]])
    else:
        scores = (dict(file["model"]["vocab"]) if model == "t5" else vocabularies.scores_of(file["model"]))
        writer.add_token_scores([scores.get(token, -1e6) for token in tokens])
        unknown = tokens.index("<unk>")
        kinds[unknown] = 2
        writer.add_unk_token_id(unknown)
        writer.add_add_space_prefix(model == "t5")
    writer.add_token_types(kinds)
    writer.add_tensor("none", numpy.zeros((32,), dtype=numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path



class Cuts(unittest.TestCase):
    """Where a file's steps cut: every part of the text is a token, and a whole piece wins over merges."""

    def cut(self, steps, text):
        letters = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)[0][0]
        ends = [0]
        for character in text:  # parts at whole characters
            ends.append(ends[-1] + len(character.encode()))
        parts = {letters[start:end] for start in ends for end in ends if start < end}
        vocab = {token: id for id, token in enumerate(sorted(parts | set(letters)))}
        if not any(step["type"] == "ByteLevel" for step in steps):
            steps = steps + [{"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]
        file = {"version": "1.0", "added_tokens": [], "normalizer": None, "post_processor": None,
                "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
                "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
                "model": {"type": "BPE", "ignore_merges": True, "vocab": vocab, "merges": []}}
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/tokenizer.json", "w") as out:
                json.dump(file, out)
            ids = sublane(folder, [text], "--no-bos")[0]
            self.assertEqual(ids, Tokenizer.from_file(folder + "/tokenizer.json").encode(text).ids)
            return sublane(folder, [[id] for id in ids], "--decode")

    def patterns(self, text, *patterns):
        return self.cut([{"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
                         for pattern in patterns], text)

    def families(self, text):
        return {"gpt2": self.patterns(text, vocabularies.GPT2), "llama3": self.patterns(text, vocabularies.LLAMA3),
                "qwen2": self.patterns(text, vocabularies.QWEN2), "qwen35": self.patterns(text, vocabularies.QWEN35),
                "deepseek": self.patterns(text, *vocabularies.DEEPSEEK_V3)}

    def test_case_01_each_family_has_its_own_pattern(self):
        whole = {"(x):\n": ["(x", "):\n"], "a->b": ["a", "->", "b"], "DON'T": ["DON", "'T"]}
        self.assertEqual(self.families("(x):\n"), {
            "gpt2": ["(", "x", "):", "\n"], **dict.fromkeys(["llama3", "qwen2", "qwen35", "deepseek"], whole["(x):\n"])})
        self.assertEqual(self.families("DON'T"), {
            "gpt2": ["DON", "'", "T"], **dict.fromkeys(["llama3", "qwen2", "qwen35", "deepseek"], whole["DON'T"])})
        for text, three, one in [("12345", ["123", "45"], list("12345")), ("１２３４", ["１２３", "４"], list("１２３４"))]:
            self.assertEqual(self.families(text), {"gpt2": [text], "llama3": three, "deepseek": three, "qwen2": one,
                                                   "qwen35": one})
        self.assertEqual(self.families("日本語123")["qwen2"], ["日本語", "1", "2", "3"])
        self.assertEqual(self.families("a->b")["llama3"], whole["a->b"])

    def test_case_04_combining_marks(self):
        for text, gpt2, llama3 in [("नमस्ते", ["नमस", "्", "त", "े"], ["नमस", "्त", "े"]),
                                   ("Fu\u0308hrer", ["Fu", "\u0308", "hrer"], ["Fu", "\u0308hrer"])]:
            self.assertEqual(self.families(text), {"gpt2": gpt2, "llama3": llama3, "qwen2": llama3, "qwen35": [text],
                                                   "deepseek": [text]})
        self.assertEqual(self.families("\u00a0x"), {"gpt2": ["\u00a0", "x"], **dict.fromkeys(
            ["llama3", "qwen2", "qwen35", "deepseek"], ["\u00a0x"])})

    def test_case_05_steps_are_interpreted_in_their_order(self):
        split = {"type": "Split", "behavior": "Isolated", "invert": False}
        self.assertEqual(self.cut([{**split, "pattern": {"String": r"\p{N}"}}], "a1b"), ["a1b"])
        self.assertEqual(self.cut([{**split, "pattern": {"Regex": r"\p{N}"}}], "a1b"), ["a", "1", "b"])
        steps = [{"type": "Punctuation", "behavior": "Contiguous"},
                 {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
                 {"type": "Digits", "individual_digits": False},
                 {**split, "pattern": {"Regex": "[0-9][0-9][0-9]"}}]
        self.assertEqual(self.cut(steps, "ab,1234 .5"), ["ab", ",", "123", "4", " ", ".", "5"])

    def test_case_02_a_whole_piece_wins_over_merges_where_the_file_says_so(self):
        def ids(merges, ignore):
            file = {"version": "1.0", "model": {
                "type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5}, "merges": merges,
                "ignore_merges": ignore}}
            with tempfile.TemporaryDirectory() as folder:
                with open(folder + "/tokenizer.json", "w") as out:
                    json.dump(file, out)
                return sublane(folder, ["abc"])[0]
        self.assertEqual(ids([["b", "c"], ["a", "b"]], True), [5])
        self.assertEqual(ids([["b", "c"], ["a", "b"]], False), [0, 4])
        self.assertEqual(ids(["a b", "b c"], False), [3, 2])


if __name__ == "__main__":
    unittest.main()
