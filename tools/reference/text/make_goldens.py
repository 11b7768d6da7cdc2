#!/usr/bin/env python3
"""Writes tests/text/goldens: what independent programs make of the same texts and templates.

    pip install tokenizers==0.23.2 sentencepiece gguf jinja2==3.1.6
    make_goldens.py --smollm2 FILE.gguf --gemma3 FILE.gguf [--gemma3-json tokenizer.json]

SmolLM2: the `tokenizers` package, set up here from the file as the model's publisher sets it up.
Gemma 3: Google's `sentencepiece`, from a model written here out of the file's pieces and scores; with
--gemma3-json (any copy of the published tokenizer.json) the `tokenizers` package must agree on every text.
Templates: jinja2 with the settings of the reference library.
"""
import argparse
import json
import os
import re

from texts import all_texts

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDENS = os.path.normpath(os.path.join(HERE, "../../../tests/text/goldens"))
CONTROL, USER_DEFINED, BYTE = 3, 4, 6


def read(path, key):
    from gguf import GGUFReader
    return GGUFReader(path).fields[key].contents()


def write_lines(name, rows):
    with open(os.path.join(GOLDENS, name), "w") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=True, separators=(",", ":")) + "\n")


def smollm2(path):
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    tokens = read(path, "tokenizer.ggml.tokens")
    kinds = read(path, "tokenizer.ggml.token_type")
    merges = [tuple(merge.split(" ")) for merge in read(path, "tokenizer.ggml.merges")]

    def build(special):
        tokenizer = Tokenizer(models.BPE({text: i for i, text in enumerate(tokens)}, merges))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
        tokenizer.decoder = decoders.ByteLevel()
        if special:
            tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False)
                                          for text, kind in zip(tokens, kinds) if kind == CONTROL])
        return lambda text: tokenizer.encode(text, add_special_tokens=False).ids

    write_ids("smollm2-135m.jsonl", build(False), build(True))


def gemma3(path, published):
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2 as proto
    tokens = read(path, "tokenizer.ggml.tokens")
    scores = read(path, "tokenizer.ggml.scores")
    kinds = read(path, "tokenizer.ggml.token_type")
    model = proto.ModelProto()
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    trainer.model_type, trainer.byte_fallback, trainer.vocab_size = 2, True, len(tokens)
    trainer.pad_id, trainer.eos_id, trainer.bos_id, trainer.unk_id = 0, 1, 2, 3
    trainer.pad_piece, trainer.eos_piece, trainer.bos_piece, trainer.unk_piece = tokens[:4]
    normalizer.name, normalizer.add_dummy_prefix, normalizer.remove_extra_whitespaces = "identity", False, False
    for i, (text, score, kind) in enumerate(zip(tokens, scores, kinds)):
        piece = model.pieces.add()
        piece.piece = text.replace(" ", "\u2581") if kind == USER_DEFINED else text
        piece.score, piece.type = score, 2 if i == trainer.unk_id else kind
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())

    control = {text: i for i, (text, kind) in enumerate(zip(tokens, kinds)) if kind == CONTROL}
    whole = re.compile("|".join(re.escape(text) for text in sorted(control, key=len, reverse=True)))

    def encode_special(text):
        ids, done = [], 0
        for match in whole.finditer(text):
            ids += processor.encode(text[done:match.start()]) + [control[match.group()]]
            done = match.end()
        return ids + processor.encode(text[done:])

    if published:
        from tokenizers import Tokenizer
        second = Tokenizer.from_file(published)
        for text in all_texts():
            assert second.encode(text, add_special_tokens=False).ids == encode_special(text), repr(text)
        print("published tokenizer.json agrees on", len(all_texts()), "texts")
    write_ids("gemma3-270m.jsonl", processor.encode, encode_special)


def write_ids(name, plain, special):
    rows = []
    for text in all_texts():
        row = {"text": text, "ids": plain(text)}
        if (ids := special(text)) != row["ids"]:
            row["special_ids"] = ids
        rows.append(row)
    write_lines(name, rows)
    print(name, len(rows), "texts,", sum(len(row["ids"]) for row in rows), "ids")


def templates(smollm2_path):
    from template_cases import CASES, CHATS, environment
    rows = []
    for name, source, context in CASES:
        try:
            rows.append({"name": name, "template": source, "context": context,
                         "text": environment().from_string(source).render(**context)})
        except Exception as error:  # what matters is that ours refuses too
            rows.append({"name": name, "template": source, "context": context, "error": str(error)})
    write_lines("templates.jsonl", rows)
    source = read(smollm2_path, "tokenizer.chat_template")
    rows = []
    for messages in CHATS:
        for prompt in (False, True):
            text = environment().from_string(source).render(
                messages=messages, add_generation_prompt=prompt, tools=None, documents=None,
                bos_token="<|im_start|>", eos_token="<|im_end|>")
            rows.append({"messages": messages, "add_generation_prompt": prompt, "text": text})
    write_lines("smollm2-135m-chats.jsonl", rows)
    print("templates:", len(CASES), "cases,", len(rows), "chats")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--smollm2", required=True)
    parser.add_argument("--gemma3", required=True)
    parser.add_argument("--gemma3-json")
    arguments = parser.parse_args()
    os.makedirs(GOLDENS, exist_ok=True)
    smollm2(arguments.smollm2)
    gemma3(arguments.gemma3, arguments.gemma3_json)
    templates(arguments.smollm2)


main()
