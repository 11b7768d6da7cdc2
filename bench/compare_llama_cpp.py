#!/usr/bin/env python3
"""Tokens per second of `sublane run` beside llama.cpp: the same file, prompt and threads, in one run.

    python3 -m venv build/bench-venv && build/bench-venv/bin/pip install llama-cpp-python    # builds from source, 10-20 min
    build/bench-venv/bin/python bench/compare_llama_cpp.py [smollm2-135m gemma3-270m]

Both sides read a 512-token prompt and then generate 64 tokens greedily on 2 threads. Sublane computes in float32 on
weights widened at load; llama.cpp computes on the packed weights with quantised activations. Runs alternate; the best of
three is shown, for both. Origin of every figure: measured, on this machine.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS, PROMPT, ANSWER, THREADS = 3, 512, 64, 2
TEXT = "The quick brown fox jumps over the lazy dog near the river bank while seven wizards watch. " * 64


def checkpoint(model):
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "sublane" / "checkpoints"
    return next((cache / model).glob("*.gguf"))


def prompt_text(model):
    """Text of about PROMPT tokens, cut by llama.cpp's own tokenizer."""
    import llama_cpp
    vocabulary = llama_cpp.Llama(str(checkpoint(model)), n_ctx=32, verbose=False)  # vocab_only crashes in 0.3.36
    ids = vocabulary.tokenize(TEXT.encode(), add_bos=False)[:PROMPT]
    return vocabulary.detokenize(ids).decode()


def run_sublane(model, file):
    out = subprocess.run([ROOT / "build" / "sublane", "run", model, "--prompt-file", file, "--max-tokens", str(ANSWER), "--json"],
                         capture_output=True, text=True, check=True).stdout
    report = json.loads(out)
    return len(report["prompt_ids"]), report["tokens_per_second"]["prefill"], report["tokens_per_second"]["decode"]


def run_llama(model, text):
    import llama_cpp
    llm = llama_cpp.Llama(str(checkpoint(model)), n_ctx=1024, n_threads=THREADS, n_threads_batch=THREADS, n_batch=512, verbose=False)
    ids = llm.tokenize(text.encode(), add_bos=model.startswith("gemma"))
    llm.eval(ids[:16]), llm.reset()  # first use
    start = time.perf_counter()
    llm.eval(ids)
    prefill = time.perf_counter() - start
    start = time.perf_counter()
    for _ in range(ANSWER):
        llm.eval([llm.sample(temp=0.0)])
    decode = time.perf_counter() - start
    return len(ids), len(ids) / prefill, ANSWER / decode


def main():
    print(f"{'model':14} {'':9} {'sublane f32':>12} {'llama.cpp':>12} {'ratio':>7}   tokens/s, measured, {THREADS} threads, best of {RUNS}")
    for model in sys.argv[1:] or ["smollm2-135m", "gemma3-270m"]:
        text = prompt_text(model)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            ours, theirs = [], []
            for _ in range(RUNS):
                ours.append(run_sublane(model, file.name))
                theirs.append(run_llama(model, text))
        for column, what in ((1, "prefill"), (2, "decode")):
            a, b = max(r[column] for r in ours), max(r[column] for r in theirs)
            print(f"{model:14} {what:9} {a:12.1f} {b:12.1f} {a / b:6.2f}x   prompt {ours[0][0]} / {theirs[0][0]} tokens")


if __name__ == "__main__":
    main()
