"""Each check of tools/check_tree.py passes on a good tree and fails, with its own words, on a bad one."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "check_tree.py"


class CheckTree(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.write("CMakeLists.txt", "sublane_folder(base LINK fmt)\nsublane_folder(io)\n  sublane_folder(graph)\n")
        self.write("src/base/README.md", "# base\n")
        self.write("src/base/result.h", "#include <string>\n")
        self.write("src/io/README.md", "# io\n" * 40)
        self.write("src/io/gguf.cc", '#include "base/result.h"\n#include "io/gguf.h"\n#include "list.inc"\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self, *checks):
        run = subprocess.run([sys.executable, TOOL, "--root", self.root, *checks], capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    def assertFault(self, check, fault):
        code, output = self.check(check)
        self.assertEqual(code, 1, output)
        self.assertIn(fault, output)
        self.assertIn(f"{check}: 1 faults", output)

    def testGoodTreePasses(self):
        code, output = self.check()
        self.assertEqual(code, 0, output)
        self.assertEqual(output, "includes: 0 faults\nheaders: 0 faults\nreadmes: 0 faults\nlengths: 0 faults\n"
                                 "paths: 0 faults\n")

    def testIncludeFromBelow(self):
        self.write("src/io/gguf.cc", '\n  #  include "graph/graph.h"\n')
        self.assertFault("includes", 'src/io/gguf.cc:2: io/ (number 2 in the order of CMakeLists.txt) includes '
                                     '"graph/graph.h" of graph/ (number 3)')

    def testCliComesLast(self):
        self.write("src/cli/main.cc", '#include "graph/graph.h"\n#include "cli/cli.h"\n')
        self.assertEqual(self.check("includes")[0], 0)
        self.write("src/graph/graph.cc", '#include "cli/cli.h"\n')
        self.assertFault("includes", "src/graph/graph.cc:1: graph/")

    def testUnlistedFolder(self):
        self.write("src/sim/sim.cc", "int x;\n")
        self.assertFault("includes", "src/sim is not listed")

    def testIncludeOfNoFolder(self):
        self.write("src/io/gguf.cc", '#include "oi/gguf.h"\n')
        self.assertFault("includes", 'src/io/gguf.cc:1: "oi/gguf.h" is in no folder')

    def testHeavyHeader(self):
        self.write("src/base/json.h", "#include <nlohmann/json.hpp>\n")
        self.assertFault("headers", "src/base/json.h:1: a header includes nlohmann/json.hpp")

    def testHeavyHeaderIsFineInSource(self):
        self.write("src/base/json.cc", "#include <nlohmann/json.hpp>\n")
        self.assertEqual(self.check("headers")[0], 0)

    def testMissingReadme(self):
        self.write("src/graph/graph.cc", "int x;\n")
        self.assertFault("readmes", "src/graph/README.md: missing")

    def testLongReadme(self):
        self.write("src/io/README.md", "# io\n" * 41)
        self.assertFault("readmes", "src/io/README.md: 41 lines are more than 40")

    def testThePagesSourceIsHeldToo(self):
        self.write("web/src/page.ts", "let x;\n" * 601)
        self.assertFault("readmes", "web/README.md: missing")
        self.assertFault("lengths", "web/src/page.ts: 601 lines are more than 600")

    def testEmptyFolderNeedsNoReadme(self):
        (self.root / "src" / "engine").mkdir()
        self.assertEqual(self.check("readmes")[0], 0)

    def testLongSource(self):
        self.write("src/io/gguf.cc", "int x;\n" * 601)
        self.assertFault("lengths", "src/io/gguf.cc: 601 lines are more than 600")

    def testMachinePath(self):
        for place in ("/ro" + "ot/.cache", "/ho" + "me/ada/x", "/wo" + "rk/main", "/tmp/" + "lab/x"):
            self.write("docs/notes.md", f"one\nsee {place}\n")
            self.assertFault("paths", f"docs/notes.md:2: names {place[:5]}")

    def testPathsThatAreFine(self):
        self.write("docs/notes.md", "run as root/sudo; homework/x; $HOME/root/x; https://x.org/work/y; /tmp/x\n")
        self.assertEqual(self.check("paths")[0], 0, self.check("paths")[1])

    def testBuildFolderIsSkipped(self):
        self.write("build/log.txt", "/ro" + "ot/x\n")
        self.assertEqual(self.check("paths")[0], 0)

    def testUnknownCheck(self):
        code, output = self.check("beauty")
        self.assertEqual(code, 2)
        self.assertIn("no check 'beauty'; there are includes, headers", output)


if __name__ == "__main__":
    unittest.main()
