#!/usr/bin/env python3
"""How fast `sublane inspect --scan` reads every byte and looks for NaN and infinities, from a warm cache.

    bench/scan.py [--binary build/sublane] [--gigabytes 4] [--threads 2] [MODEL ...]

Writes a sharded Hugging Face folder (four safetensors files: BF16, F32, F16 and F8_E4M3) and a GGUF file (a quarter
each of F32, BF16, Q8_0 and Q4_K) of that size into a temporary folder, random but finite, then scans them and each
MODEL several times. Anonymous memory is the process's RssAnon, looked at every 2 ms. Printed, never asserted; every
figure is measured.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time

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


SHARDS = [("BF16", 2, 1), ("F32", 4, 3), ("F16", 2, 1), ("F8_E4M3", 1, 0)]  # bytes, and the one with the exponent's top


def write_folder(folder: pathlib.Path, total: int) -> None:
    chooser = random.Random(2)
    folder.mkdir()
    (folder / "config.json").write_text('{"architectures": ["Bench"]}')
    weight_map = {}
    for number, (dtype, size, top) in enumerate(SHARDS, 1):
        file = f"model-{number:05}-of-{len(SHARDS):05}.safetensors"
        chunk = bytearray(chooser.randbytes(64 * ROW * size))
        chunk[top::size] = bytes(b & 0x3B for b in chunk[top::size])
        layers, repeats = 16, max(1, total // len(SHARDS) // 16 // len(chunk))
        bytes_each, header = repeats * len(chunk), {}
        for layer in range(layers):
            name = f"model.layers.{layer}.{dtype}.weight"
            offsets = [layer * bytes_each, (layer + 1) * bytes_each]
            header[name] = {"dtype": dtype, "shape": [64 * repeats, ROW], "data_offsets": offsets}
            weight_map[name] = file
        text_ = json.dumps(header).encode()
        with open(folder / file, "wb") as out:
            out.write(struct.pack("<Q", len(text_)) + text_)
            for _ in range(layers * repeats):
                out.write(chunk)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))


def most_anonymous(process: subprocess.Popen) -> int:
    """Bytes, until the process ends."""
    most = 0
    while process.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        found = [int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("RssAnon")]
        most = max([most, *found])
        time.sleep(0.002)
    return most


def measure(binary: str, model: str, threads: int, repeats: int) -> dict:
    rates, anonymous = [], 0
    for _ in range(repeats + 1):  # the first warms the cache
        command = [binary, "inspect", model, "--scan", "--json", "--threads", str(threads)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        watcher = concurrent.futures.ThreadPoolExecutor(1)
        watched = watcher.submit(most_anonymous, process)
        scan = json.loads(process.stdout.read())["scan"]
        process.wait()
        anonymous = max(anonymous, watched.result())
        rates.append(scan["rate"]["value"])
    return {"bytes": scan["bytes"], "best": max(rates[1:]), "median": statistics.median(rates[1:]), "anonymous": anonymous}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", default=["smollm2-135m", "gemma3-270m"])
    parser.add_argument("--binary", default="build/sublane")
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print(f"scan for NaN and infinities, {arguments.threads} threads, warm cache, {arguments.repeats} runs (measured)")
    print(f"{'model':<24} {'bytes':>10} {'best':>12} {'median':>12} {'anonymous':>10}")
    with tempfile.TemporaryDirectory() as folder:
        gguf, sharded = pathlib.Path(folder) / "made.gguf", pathlib.Path(folder) / "sharded"
        write_folder(sharded, int(arguments.gigabytes * 1e9))
        write_model(gguf, int(arguments.gigabytes * 1e9))
        for model, name in [(sharded, "safetensors, 4 shards"), (gguf, "GGUF"), *((m, m) for m in arguments.models)]:
            result = measure(arguments.binary, str(model), arguments.threads, arguments.repeats)
            print(f"{name:<24} {result['bytes'] / 1e9:>7.3f} GB {result['best'] / 1e9:>7.2f} GB/s "
                  f"{result['median'] / 1e9:>7.2f} GB/s {result['anonymous'] / 1e6:>7.1f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
