"""The two real checkpoints, written as Hugging Face folders by the reference packages, say what their GGUF says.

Needs `sublane fetch smollm2-135m` and `sublane fetch gemma3-270m`.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from to_hugging_face import to_hugging_face

BINARY = os.environ["SUBLANE_BINARY"]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "sublane/checkpoints"
TEXTS = ["The three primary colours are", "Caf\u00e9 na\u00efve 12345 \U0001f999 \u65e5\u672c\u8a9e\n\tx = f(a)->b;"]


def sublane(*words, text=None) -> str:
    done = subprocess.run([BINARY, *map(str, words)], input=text, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"sublane {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


class RealCheckpoints(unittest.TestCase):
    def same(self, name: str, *options) -> None:
        (gguf,) = (CACHE / name).glob("*.gguf")
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "model"
            to_hugging_face(gguf, folder)
            facts = json.loads(sublane("inspect", folder, "--json"))
            self.assertIsNone(facts["model"]["error"])
            self.assertIsNone(facts["text"]["error"])
            self.assertEqual(len(facts["files"]), 2)
            for text in TEXTS:
                ids = [json.loads(sublane("tokenize", model, "--json", text=text))["ids"] for model in (name, folder)]
                self.assertEqual(ids[0], ids[1])
            prompt = ["--prompt", TEXTS[0], "--max-tokens", "24", *options]
            said = [sublane("run", model, *prompt) for model in (name, folder)]
            self.assertEqual(said[0], said[1])
            self.assertGreater(len(said[0].split()), 5)

    def testSmolLM2(self):
        self.same("smollm2-135m", "--chat")

    def testGemma3(self):
        self.same("gemma3-270m")


if __name__ == "__main__":
    unittest.main()
