"""Writes corpus/gguf/*.gguf: a few tiny files from which the fuzzer starts. Needs nothing but Python.

    python3 tests/fuzz/make_gguf_seeds.py
"""

import pathlib
import struct

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
PACK = {U8: "<B", I8: "<b", U16: "<H", I16: "<h", U32: "<I", I32: "<i", F32: "<f", BOOL: "<B", U64: "<Q", I64: "<q", F64: "<d"}


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def scalar(kind: int, value) -> bytes:
    return text(value) if kind == STRING else struct.pack(PACK[kind], value)


def key(name: str, kind: int, value) -> bytes:
    return text(name) + struct.pack("<I", kind) + scalar(kind, value)


def array(name: str, kind: int, values: list) -> bytes:
    head = text(name) + struct.pack("<IIQ", ARRAY, kind, len(values))
    return head + b"".join(scalar(kind, value) for value in values)


def gguf(keys: list, tensors: list, version: int = 3, alignment: int = 32) -> bytes:
    """tensors: (name, dimensions innermost first, type id, bytes)"""
    infos, data = b"", b""
    for name, dimensions, kind, size in tensors:
        infos += text(name) + struct.pack("<I", len(dimensions))
        infos += b"".join(struct.pack("<Q", d) for d in dimensions) + struct.pack("<IQ", kind, len(data))
        data += bytes(size) + bytes(-size % alignment)
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys)) + b"".join(keys) + infos
    return head + bytes(-len(head) % alignment if data else 0) + data


ARCHITECTURE = key("general.architecture", STRING, "llama")
SEEDS = {
    "no_tensors": gguf([ARCHITECTURE], []),
    "every_scalar": gguf([ARCHITECTURE] + [key(f"k{kind}", kind, 1) for kind in PACK], []),
    "arrays": gguf([ARCHITECTURE, array("s", STRING, ["a", "bc"]), array("i", I32, [1, -2]), array("f", F32, [0.5]),
                    array("b", BOOL, [0, 1])], [], version=2),
    "plain": gguf([ARCHITECTURE], [("a", [4, 2], 0, 32), ("b", [3], 1, 6), ("c", [2], 30, 4), ("d", [], 28, 8)]),
    "blocks": gguf([ARCHITECTURE], [("a", [32], 2, 18), ("b", [32], 3, 20), ("c", [32], 6, 22), ("d", [32, 2], 8, 68),
                                    ("e", [256], 12, 144), ("f", [256], 14, 210)]),
    "more_blocks": gguf([ARCHITECTURE], [("a", [32], 7, 24), ("b", [256], 10, 84), ("c", [256], 11, 110),
                                         ("d", [256], 13, 176), ("e", [256], 15, 292), ("f", [32], 39, 17)]),
    "refused_types": gguf([ARCHITECTURE], [("a", [256], 16, 66), ("b", [256], 34, 54)]),
    "aligned": gguf([ARCHITECTURE, key("general.alignment", U32, 64)], [("a", [1], 0, 4), ("b", [1], 0, 4)], alignment=64),
    "split": gguf([key("split.no", U16, 0), key("split.count", U16, 2)], []),
    "zero_dimension": gguf([], [("t", [1, 0], 0, 0)]),
}

if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "corpus" / "gguf"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in SEEDS.items():
        (folder / f"{name}.gguf").write_bytes(content)
