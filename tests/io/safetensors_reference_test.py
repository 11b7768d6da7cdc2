"""What PyPI `safetensors` writes loads bit for bit, in one file and in shards; what it refuses is refused."""
import json
import os
import pathlib
import random
import struct
import subprocess
import tempfile
import unittest

import ml_dtypes
import numpy
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save_file

BINARY = os.environ["SUBLANE_BINARY"]
DTYPES = [numpy.float64, numpy.float32, numpy.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn,
          ml_dtypes.float8_e5m2, numpy.int64, numpy.int32, numpy.int16, numpy.int8, numpy.uint64, numpy.uint32,
          numpy.uint16, numpy.uint8, numpy.bool_]


def inspect(folder: pathlib.Path) -> dict:
    done = subprocess.run([BINARY, "inspect", str(folder), "--json"], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def array(chooser: random.Random, dtype, shape: list) -> numpy.ndarray:
    count = int(numpy.prod(shape))
    if dtype is numpy.bool_:
        return numpy.array([chooser.random() < 0.5 for _ in range(count)], dtype=dtype).reshape(shape)
    raw = chooser.randbytes(count * numpy.dtype(dtype).itemsize)
    return numpy.frombuffer(raw, dtype=dtype).reshape(shape).copy()


class Safetensors(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        (self.folder / "config.json").write_text('{"architectures": ["Nothing"]}')
        self.addCleanup(self.scratch.cleanup)

    def compare(self, tensors: dict) -> None:
        """Each tensor's bytes, found in the file where inspect says that they lie."""
        facts = inspect(self.folder)
        self.assertEqual({t["name"] for t in facts["tensors"]}, set(tensors))
        for told in facts["tensors"]:
            values = tensors[told["name"]]
            path = facts["files"][told["file"]]["path"]
            with open(path, "rb") as file:
                file.seek(told["offset"])
                self.assertEqual(file.read(told["bytes"]), values.tobytes(), told["name"])
            self.assertEqual(told["shape"], list(values.shape))

    def some(self, seed: int, count: int) -> dict:
        chooser = random.Random(seed)
        shapes = [[], [1], [0, 5], [7], [3, 4], [2, 3, 5], [129, 3]]
        return {f"t{i}.weight": array(chooser, chooser.choice(DTYPES), chooser.choice(shapes)) for i in range(count)}

    def testOneFile(self):
        for seed in range(5):
            tensors = self.some(seed, 40)
            save_file(tensors, self.folder / "model.safetensors", metadata={"format": "pt"} if seed % 2 else None)
            self.compare(tensors)

    def testShards(self):
        tensors = self.some(11, 60)
        names = sorted(tensors)
        weight_map = {}
        for shard in range(3):
            file = f"model-{shard + 1:05}-of-00003.safetensors"
            part = {name: tensors[name] for name in names[shard::3]}
            save_file(part, self.folder / file)
            weight_map.update({name: file for name in part})
        (self.folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
        self.compare(tensors)

    def testDamagedFilesAreJudgedAlike(self):
        """Random damage of the header: whatever the reference refuses is refused, and the other way round."""
        chooser = random.Random(5)
        save_file(self.some(3, 4), self.folder / "model.safetensors")
        good = (self.folder / "model.safetensors").read_bytes()
        (length,) = struct.unpack_from("<Q", good)
        refused = 0
        for _ in range(300):
            bad = bytearray(good)
            for _ in range(chooser.randint(1, 3)):
                at = chooser.randrange(8 + length)
                bad[at] = chooser.choice(b'0123456789",:[]{}Fax ') if at >= 8 else chooser.randrange(256)
            (self.folder / "model.safetensors").write_bytes(bad)
            try:
                deserialize(bytes(bad))
                theirs = True
            except (SafetensorError, UnicodeDecodeError):
                theirs = False
            done = subprocess.run([BINARY, "inspect", str(self.folder)], capture_output=True, text=True)
            self.assertIn(done.returncode, (0, 2), done.stderr)
            # We refuse two things more: a key that the format doesn't have, and a name that stands twice.
            if done.returncode == 0:
                self.assertTrue(theirs, bytes(bad[: 8 + length]))
            elif theirs:
                self.assertRegex(done.stderr, "which the format doesn't know|occurs twice|is not supported", bytes(bad[: 8 + length]))
            refused += done.returncode == 2
        self.assertGreater(refused, 100)


if __name__ == "__main__":
    unittest.main()
