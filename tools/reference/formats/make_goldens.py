"""Makes tests/formats/goldens: random blocks of each packing and what PyPI `gguf` unpacks them to, and the casts of
PyPI `ml_dtypes`.

    pip install gguf==0.19.0 ml_dtypes==0.5.4 numpy && python3 tools/reference/formats/make_goldens.py

A .bin file holds the blocks, then their values as little-endian float32. The bytes are random, with the scales drawn
from all finite halves (large, subnormal, negative, zero), so that every bit of a block is exercised.
"""

import pathlib
import sys

import gguf
import ml_dtypes
import numpy as np
from gguf import GGMLQuantizationType as Type

BLOCKS = {"F16": 512, "BF16": 512, "Q4_0": 24, "Q4_1": 24, "Q5_0": 24, "Q8_0": 24, "Q4_K": 5, "Q6_K": 5}
BLOCKS |= {"Q5_1": 24, "Q2_K": 5, "Q3_K": 5, "Q5_K": 5, "MXFP4": 24}
SCALES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q8_0": [0], "Q4_K": [0, 2], "Q6_K": [208]}
SCALES |= {"Q5_1": [0, 2], "Q2_K": [80, 82], "Q3_K": [108], "Q5_K": [0, 2], "MXFP4": []}


def blocks_of(name: str, rng: np.random.Generator) -> np.ndarray:
    _, block_bytes = gguf.GGML_QUANT_SIZES[Type[name]]
    blocks = rng.integers(0, 256, (BLOCKS[name], block_bytes), dtype=np.uint8)
    if name == "MXFP4":  # of finite values: 2^128 times 12 is none
        blocks[:, 0] = np.minimum(blocks[:, 0], 250)
        blocks[:3, 0] = [0, 1, 2]
    for at in SCALES.get(name, [0]):
        if name == "BF16":
            exponents = rng.integers(0, 255, BLOCKS[name], dtype=np.uint16) << 7
            halves = exponents | rng.integers(0, 128, BLOCKS[name], dtype=np.uint16)
        else:
            exponents = rng.integers(0, 31, BLOCKS[name], dtype=np.uint16) << 10
            halves = exponents | rng.integers(0, 1024, BLOCKS[name], dtype=np.uint16)
        halves |= rng.integers(0, 2, BLOCKS[name], dtype=np.uint16) << 15
        halves[0] = 0
        blocks[:, at : at + 2] = halves.view(np.uint8).reshape(-1, 2)
    return blocks


CASTS = {"f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2, "f8e8m0": ml_dtypes.float8_e8m0fnu,
         "f4e2m1": ml_dtypes.float4_e2m1fn}


def casts() -> str:
    """All 2^16 bfloat16 values, cast: a line "TYPE FIRST CODE" where the code changes, in hexadecimal."""
    values = (np.arange(2**16, dtype=np.uint32) << 16).view(np.float32)
    lines = []
    for name, dtype in CASTS.items():
        with np.errstate(all="ignore"):
            codes = values.astype(dtype).view(np.uint8)
        changes = np.flatnonzero(np.diff(codes, prepend=codes[0] ^ 1))
        lines += [f"{name} {at:04x} {codes[at]:02x}" for at in changes]
    return "\n".join(lines) + "\n"


def main() -> None:
    folder = pathlib.Path(__file__).resolve().parents[3] / "tests" / "formats" / "goldens"
    (folder / "casts.txt").write_text(casts())
    for name in BLOCKS:
        blocks = blocks_of(name, np.random.default_rng(20250301))
        values = gguf.dequantize(blocks, Type[name]).astype("<f4")
        assert np.isfinite(values).all(), name
        (folder / f"{name}.bin").write_bytes(blocks.tobytes() + values.tobytes())
        print(f"{name}: {blocks.nbytes} bytes -> {values.size} values", file=sys.stderr)


if __name__ == "__main__":
    main()
