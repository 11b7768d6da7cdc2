"""Times our tokenizing beside PyPI `tokenizers`, in one run on one thread each, on the families that the tests train.

    python3 bench/tokenize_speed.py [--megabytes 4] [--rounds 5]

PYTHONPATH must hold `tokenizers` and `gguf` (tools/reference/packages.sh prints the folder), SUBLANE_BINARY names the
binary (default build/sublane). Both sides say their own seconds of processor time, without reading files and starting
up: `sublane tokenize --jsonl --time`, and `Tokenizer.encode` in a loop and `encode_batch_fast`. Printed are the best of
the rounds, and how time grows when a text without a place to cut is doubled: 2.0 is linear.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "text"))

import tokenizer_vocabularies as vocabularies  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

REPEATS = 5  # of a text in one run: the first pays for fresh memory
SUBLANE = os.environ.get("SUBLANE_BINARY", "build/sublane")


def our_seconds(model, texts):
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    run = subprocess.run([SUBLANE, "tokenize", model, "--jsonl", "--no-bos", "--special", "--time"], input=lines,
                         capture_output=True, text=True, check=True)
    return float(re.match(r"([0-9.]+) seconds", run.stderr).group(1))


def their_seconds(reference, texts):
    start = time.process_time()
    for text in texts:
        reference.encode(text, add_special_tokens=False)
    return time.process_time() - start


def their_fast_seconds(reference, texts):
    start = time.process_time()
    reference.encode_batch_fast(texts, add_special_tokens=False)
    return time.process_time() - start


def best(rounds, measure):
    return min(measure() for _ in range(rounds))


def compare(name, folder, megabytes, rounds):
    reference = Tokenizer.from_file(folder + "/tokenizer.json")
    lines = vocabularies.training_text(seed=5)
    texts, size = [], 0
    while size < megabytes * 1e6:
        texts.append("".join(lines[len(texts) * 37 % len(lines):][:40]))
        size += len(texts[-1].encode())
    rows = [(our_seconds(folder, texts), their_seconds(reference, texts), their_fast_seconds(reference, texts))
            for _ in range(rounds)]
    ours, theirs, fast = (min(side) for side in zip(*rows))
    print(f"{name:12} {size / 1e6:6.2f} MB   ours {ours:7.3f} s   encode {theirs:7.3f} s, ratio {ours / theirs:5.2f}"
          f"   encode_batch_fast {fast:7.3f} s, ratio {ours / fast:5.2f}")


def growth(name, folder, rounds):
    for what, unit, count in [("equal letters", "a", 100000), ("equal spaces", " ", 100000), ("equal digits", "0", 100000),
                              ("letters, no space", "hgfedcba", 11000), ("han, no space", "的一是不了人", 11000),
                              ("signs", "(-", 100000)]:
        once, twice = ((unit * count)[:count], (unit * count)[:2 * count].ljust(2 * count, unit[0]))
        one = best(rounds, lambda: our_seconds(folder, [once] * REPEATS) / REPEATS)
        two = best(rounds, lambda: our_seconds(folder, [twice] * REPEATS) / REPEATS)
        print(f"{name:12} {count:7} {what:18} {one * 1e3:8.2f} ms, twice as many {two * 1e3:8.2f} ms: {two / one:5.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    text = vocabularies.training_text()
    with tempfile.TemporaryDirectory() as root:
        for name, make in vocabularies.FAMILIES.items():
            os.mkdir(f"{root}/{name}")
            make(text).save(f"{root}/{name}/tokenizer.json")
        for name in vocabularies.FAMILIES:
            compare(name, f"{root}/{name}", options.megabytes, options.rounds)
        for name in vocabularies.FAMILIES:
            growth(name, f"{root}/{name}", options.rounds)


if __name__ == "__main__":
    main()
