"""tools/setup.sh and tools/find_rust.sh on made-up parts and compilers: no network, no apt."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Scratch(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        for name in ("setup.sh", "find_rust.sh"):
            shutil.copy(ROOT / "tools" / name, self.tools)

    def program(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def run_(self, *command, **environment):
        run = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                             env={**os.environ, **{key: str(value) for key, value in environment.items()}})
        return run.returncode, run.stdout, run.stderr


class FindRust(Scratch):
    def setUp(self):
        super().setUp()
        (self.tools / "versions.env").write_text("RUST_MINIMUM=1.87.0\n")

    def rust(self, name, version):
        self.program(f"{name}/cargo", "exit 0\n")
        self.program(f"{name}/rustc", f'echo "rustc {version} (0 2026-01-01)"\n')
        return self.folder / name

    def find(self, *folders):
        path = ":".join([*map(str, folders), "/usr/bin", "/bin"])
        return self.run_("bash", self.tools / "find_rust.sh", PATH=path, CARGO_HOME=self.folder / "none")

    def testTakesTheFirstThatIsNewEnough(self):
        code, out, _ = self.find(self.rust("old", "1.63.0"), self.rust("new", "1.100.2"), self.rust("newer", "1.101.0"))
        self.assertEqual((code, out), (0, f"{self.folder}/new\n"))

    def testComparesNumbersNotText(self):
        code, out, _ = self.find(self.rust("old", "1.9.0"), self.rust("exact", "1.87.0"))
        self.assertEqual((code, out), (0, f"{self.folder}/exact\n"))

    def testSkipsAProxyWithoutToolchain(self):
        self.program("proxy/cargo", "exit 1\n")
        self.program("proxy/rustc", 'echo "error: no default toolchain" >&2; exit 1\n')
        code, out, _ = self.find(self.folder / "proxy", self.rust("new", "1.90.0"))
        self.assertEqual((code, out), (0, f"{self.folder}/new\n"))

    @unittest.skipIf(os.path.exists("/usr/bin/rustc"), "Debian's Rust is installed here")
    def testSaysWhatItFound(self):
        code, out, errors = self.find(self.rust("old", "1.63.0"))
        self.assertEqual((code, out), (1, ""))
        self.assertIn(f"no Rust >= 1.87.0: {self.folder}/old/rustc is 1.63.0;", errors)


class SetUp(Scratch):
    def setUp(self):
        super().setUp()
        self.program("rust/cargo", "exit 0\n")
        self.program("rust/rustc", 'echo "rustc 1.90.0"\n')
        self.wheels = self.folder / "wheels"
        self.wheels.mkdir()
        wheel = self.wheels / "toy_part-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("toy/plugin.so", "not really")
        self.hash = hashlib.sha256(wheel.read_bytes()).hexdigest()
        self.place = self.folder / "cache/sublane/parts/toy-1.0"
        self.versions(self.hash)

    def versions(self, sha256):
        (self.tools / "versions.env").write_text(
            f'RUST_MINIMUM=1.87.0\nRUST_FALLBACK=1.90.0\nAPT_BUILD=bash\nAPT_TEST=bash\n'
            f'PARTS="\ntoy toy-part 1.0 demo {sha256}\nextra toy-extra 2.0 test {sha256}\n"\n')

    def setup(self, purpose="demo", **environment):
        return self.run_("bash", self.tools / "setup.sh", purpose, SUBLANE_NO_APT=1, SUBLANE_WHEELS=self.wheels,
                         XDG_CACHE_HOME=self.folder / "cache", PIP_NO_INDEX=1, PIP_FIND_LINKS="",
                         PATH=f"{self.folder}/rust:{os.environ['PATH']}", **environment)

    def leftovers(self):
        return sorted(path.name for path in self.place.parent.iterdir())

    def testUnpacksAndIsFreeTheSecondTime(self):
        code, out, errors = self.setup()
        self.assertEqual(code, 0, errors)
        self.assertIn(f"fetching toy-part 1.0 from PyPI into {self.place}", out)
        self.assertEqual((self.place / "toy/plugin.so").read_text(), "not really")
        self.assertEqual(self.leftovers(), ["toy-1.0"])
        code, out, errors = self.setup()
        self.assertEqual(code, 0, errors)
        self.assertNotIn("fetching", out)

    def testWrongHashIsNeverUnpacked(self):
        self.versions("0" * 64)
        code, _, errors = self.setup()
        self.assertEqual(code, 3)
        self.assertIn("could not get toy-part==1.0 (part toy)", errors)
        self.assertIn("SUBLANE_WHEELS", errors)
        self.assertEqual(self.leftovers(), [])

    def testPackageThatCannotBeHad(self):
        code, _, errors = self.setup("test")
        self.assertEqual(code, 3)
        self.assertIn("could not get toy-extra==2.0 (part extra)", errors)
        self.assertEqual(self.leftovers(), ["toy-1.0"])

    def testLeftoversOfAKilledRunGo(self):
        (self.place.parent / ".new-killed").mkdir(parents=True)
        self.assertEqual(self.setup()[0], 0)
        self.assertEqual(self.leftovers(), ["toy-1.0"])

    def testUnknownPurpose(self):
        code, _, errors = self.setup("party")
        self.assertEqual(code, 3)
        self.assertIn("unknown purpose 'party'", errors)

    def testTwoAtOnce(self):
        runs = [subprocess.Popen(["bash", self.tools / "setup.sh"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env={**os.environ, "SUBLANE_NO_APT": "1", "SUBLANE_WHEELS": str(self.wheels),
                                      "XDG_CACHE_HOME": str(self.folder / "cache"),
                                      "PATH": f"{self.folder}/rust:{os.environ['PATH']}"}) for _ in range(4)]
        outputs = [run.communicate() for run in runs]
        self.assertEqual([run.returncode for run in runs], [0] * 4, outputs)
        self.assertEqual(b"".join(out for out, _ in outputs).count(b"fetching"), 1)
        self.assertEqual(self.leftovers(), ["toy-1.0"])


if __name__ == "__main__":
    unittest.main()
