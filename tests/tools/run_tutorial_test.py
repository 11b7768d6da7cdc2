"""The tutorial's runner must fail when the output, the exit code or the file is wrong."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "run_tutorial.py"


def run(markdown):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "t.md"
        file.write_text(markdown)
        done = subprocess.run([sys.executable, RUNNER, file], capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines()[-1]


class RunTutorial(unittest.TestCase):
    def test_matches_with_gaps(self):
        self.assertEqual(run("```console\n$ seq 5\n1\n...\n4\n5\n```\n"), (0, "1 passed, 0 failed"))

    def test_wrong_line(self):
        self.assertEqual(run("```console\n$ seq 2\n1\n3\n```\n"), (1, "0 passed, 1 failed"))

    def test_more_output_than_written(self):
        self.assertEqual(run("```console\n$ seq 2\n1\n```\n"), (1, "0 passed, 1 failed"))

    def test_exit_code(self):
        self.assertEqual(run("```console\n$ false\n...\n```\n"), (1, "0 passed, 1 failed"))

    def test_no_block(self):
        self.assertEqual(run("```sh\n$ true\n```\n"), (1, "0 passed, 0 failed"))


if __name__ == "__main__":
    unittest.main()
