"""Unpacking beside PyPI gguf and ml_dtypes: fresh random blocks of every type, all tensors of the real checkpoints.

SUBLANE_BINARY names the program; PYTHONPATH holds gguf, numpy and ml_dtypes. The seed is printed: a failure comes back
with SUBLANE_SEED=<seed>.
"""

import concurrent.futures
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

BINARY = os.environ["SUBLANE_BINARY"]
SEED = int(os.environ.get("SUBLANE_SEED", random.SystemRandom().randrange(2**32)))
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "sublane" / "checkpoints"

# Where the scales of a block lie, as 16-bit floats.
SCALES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "MXFP4": []}
ODD_HALVES = np.array([0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7C01],
                      np.uint16)  # zeros, subnormals, largest, infinities, NaNs


def dump(model: pathlib.Path, tensor: str, folder: str) -> np.ndarray:
    path = pathlib.Path(folder) / (tensor.replace("/", "_") + ".npy")
    subprocess.run([BINARY, "inspect", str(model), "--dump", tensor, "-o", str(path)], check=True)
    array = np.load(path)
    path.unlink()
    return array


def blocks_of(name: str, count: int, rng: np.random.Generator) -> np.ndarray:
    _, block_bytes = gguf.GGML_QUANT_SIZES[Type[name]]
    blocks = rng.integers(0, 256, (count, block_bytes), dtype=np.uint8)
    for at in SCALES[name]:
        halves = rng.integers(0, 2**16, count, dtype=np.uint16)  # NaN and infinities among them
        halves[: len(ODD_HALVES)] = rng.permutation(ODD_HALVES)
        blocks[:, at : at + 2] = halves.view(np.uint8).reshape(-1, 2)
    if name == "MXFP4":
        blocks[:256, 0] = np.arange(256)
    return blocks


class Unpacking(unittest.TestCase):
    def assert_same(self, ours: np.ndarray, theirs: np.ndarray, what: str) -> None:
        """Bit for bit; a NaN for a NaN (which of two NaNs a product keeps is the processor's affair)."""
        self.assertEqual(ours.dtype, np.float32)
        self.assertEqual(ours.shape, theirs.shape, what)
        theirs = theirs.astype(np.float32, copy=False)
        same = (ours.view(np.uint32) == theirs.view(np.uint32)) | (np.isnan(ours) & np.isnan(theirs))
        if not same.all():
            at = np.argwhere(~same)[0]
            self.fail(f"{what}, seed {SEED}: {(~same).sum()} values differ; at {at}: {ours[tuple(at)]}, "
                      f"not {theirs[tuple(at)]}")

    def test_random_blocks(self) -> None:
        rng = np.random.default_rng(SEED)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "blocks.gguf"
            writer = gguf.GGUFWriter(path, "llama")
            expected = {}
            for name in SCALES:
                packed = blocks_of(name, 600, rng)
                with np.errstate(all="ignore"):
                    expected[name] = gguf.dequantize(packed, Type[name])
                writer.add_tensor(name, packed, raw_dtype=Type[name])
            for name, width in {"F16": np.uint16, "BF16": np.uint16}.items():
                every = np.arange(2**16, dtype=width)
                raw = every.view(np.float16) if name == "F16" else every.view(np.uint8)
                expected[name] = gguf.dequantize(raw.reshape(1, -1), Type[name])
                writer.add_tensor(name, raw.reshape(1, -1), raw_dtype=Type[name])
            # No reference for Q8_K in Python: a float32 scale, 256 signed bytes, 16 sums.
            packed = rng.integers(0, 256, (600, 292), dtype=np.uint8)
            scale = packed[:, :4].copy().view(np.float32)
            with np.errstate(all="ignore"):
                expected["Q8_K"] = scale * packed[:, 4:260].view(np.int8).astype(np.float32)
            writer.add_tensor("Q8_K", packed, raw_dtype=Type.Q8_K)
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_tensors_to_file()
            writer.close()
            for name, values in expected.items():
                with self.subTest(name):
                    self.assert_same(dump(path, name, folder), values, name)

    def check_checkpoint(self, name: str) -> None:
        files = sorted((CACHE / name).glob("*.gguf"))
        if not files:
            self.skipTest(f"not fetched: sublane fetch {name}")
        reader = gguf.GGUFReader(files[0])
        self.assertGreater(len(reader.tensors), 100)

        def check(tensor: gguf.ReaderTensor) -> None:
            ours = dump(files[0], tensor.name, folder)
            rows = np.asarray(tensor.data)
            rows = rows.reshape(-1, rows.shape[-1])
            flat = ours.reshape(rows.shape[0], -1)
            for begin in range(0, rows.shape[0], 8192):
                self.assert_same(flat[begin : begin + 8192],
                                 gguf.dequantize(rows[begin : begin + 8192], tensor.tensor_type), tensor.name)

        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(check, reader.tensors))

    def test_every_tensor_of_smollm2(self) -> None:
        self.check_checkpoint("smollm2-135m")

    def test_every_tensor_of_gemma3(self) -> None:
        self.check_checkpoint("gemma3-270m")


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
