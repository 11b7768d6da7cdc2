#!/usr/bin/env python3
"""How fast `sublane inspect --scan` reads every byte and looks for NaN and infinities, from a warm cache.

    bench/scan.py [--binary build/sublane] [--gigabytes 2] [--threads 2] [MODEL ...]

Writes a GGUF file of that size into a temporary folder (a quarter each of F32, BF16, Q8_0 and Q4_K, random but
finite), then scans it and each MODEL several times. Printed, never asserted; every figure is measured.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile

# name, type number, values and bytes of a block, places of 16-bit scales in it
TYPES = [("f32", 0, 1, 4, []), ("bf16", 30, 1, 2, []), ("q8_0", 8, 32, 34, [0]), ("q4_k", 12, 256, 144, [0, 2])]
ROW = 4096


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def rows(kind: str, block_values: int, block_bytes: int, scales: list, chooser: random.Random) -> bytes:
    """One row of finite numbers."""
    row = bytearray(chooser.randbytes(ROW // block_values * block_bytes))
    if kind == "f32":
        row[3::4] = bytes(b & 0x3F for b in row[3::4])
    if kind == "bf16":
        row[1::2] = bytes(b & 0x3F for b in row[1::2])
    for at in scales:
        row[at + 1 :: block_bytes] = bytes(b & 0x3B for b in row[at + 1 :: block_bytes])
    return bytes(row)


def write_model(path: pathlib.Path, total: int) -> None:
    chooser = random.Random(1)
    infos, offset, plan = b"", 0, []
    for name, kind, values, size, scales in TYPES:
        # 1024 rows repeated: the scan does not know, and writing is quick
        row_bytes = ROW // values * size
        repeats = max(1, total // len(TYPES) // (row_bytes * 64))
        chunk = b"".join(rows(name, values, size, scales, chooser) for _ in range(64))
        infos += text(f"{name}.weight") + struct.pack("<IQQIQ", 2, ROW, 64 * repeats, kind, offset)
        plan.append((chunk, repeats))
        offset += len(chunk) * repeats
    head = b"GGUF" + struct.pack("<IQQ", 3, len(TYPES), 1)
    head += text("general.architecture") + struct.pack("<I", 8) + text("bench") + infos
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32))
        for chunk, repeats in plan:
            for _ in range(repeats):
                file.write(chunk)


def measure(binary: str, model: str, threads: int, repeats: int) -> dict:
    rates = []
    for _ in range(repeats + 1):  # the first warms the cache
        command = [binary, "inspect", model, "--scan", "--json", "--threads", str(threads)]
        scan = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["scan"]
        rates.append(scan["rate"]["value"])
    return {"bytes": scan["bytes"], "best": max(rates[1:]), "median": statistics.median(rates[1:])}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", default=["smollm2-135m", "gemma3-270m"])
    parser.add_argument("--binary", default="build/sublane")
    parser.add_argument("--gigabytes", type=float, default=2)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print(f"scan for NaN and infinities, {arguments.threads} threads, warm cache, {arguments.repeats} runs (measured)")
    print(f"{'model':<24} {'bytes':>10} {'best':>12} {'median':>12}")
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "made.gguf"
        write_model(made, int(arguments.gigabytes * 1e9))
        for model in [str(made), *arguments.models]:
            result = measure(arguments.binary, model, arguments.threads, arguments.repeats)
            name = "made here" if model == str(made) else model
            print(f"{name:<24} {result['bytes'] / 1e9:>7.3f} GB {result['best'] / 1e9:>7.2f} GB/s "
                  f"{result['median'] / 1e9:>7.2f} GB/s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
