#!/usr/bin/env python3
"""Holds the order of the tree. Each check prints one line a fault, "file:line: what is wrong. hint".

    tools/check_tree.py [--root DIR] [includes|headers|readmes|lengths|paths ...]

includes  a folder of src/ includes only from those above it in CMakeLists.txt (the order in which data flows)
headers   a header does not drag in the heavy parsers (json, simdjson, CLI11, gtest)
readmes   every folder of src/, and web/, has a README.md of at most 40 lines
lengths   no source file is longer than 600 lines
paths     no file names a path of somebody's machine
Without a name: all of them. Exit 1 if there is a fault.
"""
import argparse
import os
import pathlib
import re
import sys

README_LINES = 40
SOURCE_LINES = 600
FOLDER = re.compile(r"^\s*sublane_folder\(\s*(\w+)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
HEAVY = ("nlohmann/json.hpp", "simdjson.h", "CLI/CLI.hpp", "gtest/gtest.h", "gmock/gmock.h")
# Headers that may include a heavy one, with the reason.
HEAVY_ALLOWED = {("cli/cli.h", "CLI/CLI.hpp"): "a Command adds options to its CLI11 subcommand"}
SOURCE_ENDINGS = {".cc", ".h", ".py", ".rs", ".sh", ".cmake", ".ts", ".tsx", ".mjs", ".css"}
# Taken apart, so that this file does not name them itself.
MACHINE_PATH = re.compile(r"(?<![\w.$}~-])/(" + "|".join(("ro" + r"ot/[\w.]", "ho" + r"me/[a-z]", "wo" + r"rk/[\w.]",
                                                        "tmp/" + r"lab\b", "Us" + r"ers/[A-Za-z]")) + ")")
SKIPPED_FOLDERS = {".git", ".venv", "__pycache__", "target", "node_modules"}


def lines(path):
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def folderOrder(root):
    """Folders of src/ as CMakeLists.txt lists them; the program, cli, comes last."""
    order = FOLDER.findall((root / "CMakeLists.txt").read_text())
    return order + [name for name in ("cli",) if name not in order]


def sources(root, top, endings):
    for path in sorted((root / top).rglob("*")):
        if path.suffix in endings and path.is_file() and not SKIPPED_FOLDERS & set(path.relative_to(root).parts):
            yield path, path.relative_to(root)


def checkIncludes(root):
    order = folderOrder(root)
    place = {name: index for index, name in enumerate(order)}
    for path, name in sources(root, "src", {".h", ".cc"}):
        folder = name.parts[1]
        if folder not in place:
            yield f"{name}: src/{folder} is not listed. Add sublane_folder({folder}) to CMakeLists.txt, in its place"
            continue
        for number, line in enumerate(lines(path), 1):
            include = INCLUDE.match(line)
            if not include or include[1] != '"' or "/" not in include[2]:
                continue
            other = include[2].split("/")[0]
            if other not in place:
                yield f'{name}:{number}: "{include[2]}" is in no folder of src/. Use <...> for other libraries'
            elif place[other] > place[folder]:
                yield (f'{name}:{number}: {folder}/ (number {place[folder] + 1} in the order of CMakeLists.txt) includes '
                       f'"{include[2]}" of {other}/ (number {place[other] + 1}). Move what is shared upwards')


def checkHeaders(root):
    for path, name in sources(root, "src", {".h"}):
        for number, line in enumerate(lines(path), 1):
            include = INCLUDE.match(line)
            if include and include[2] in HEAVY:
                if ("/".join(name.parts[1:]), include[2]) not in HEAVY_ALLOWED:
                    yield f"{name}:{number}: a header includes {include[2]}. Include it in a .cc file only"


def checkReadmes(root):
    folders = sorted(path for path in (root / "src").iterdir() if path.is_dir())
    for folder in folders + [path for path in (root / "web",) if path.is_dir()]:
        if not any(path.is_file() for path in folder.rglob("*")):
            continue
        readme = folder / "README.md"
        name = readme.relative_to(root)
        if not readme.is_file():
            yield f"{name}: missing. Say what the folder is, its central type, how to add to it, how to test it"
        elif len(lines(readme)) > README_LINES:
            yield f"{name}: {len(lines(readme))} lines are more than {README_LINES}. Move the rest to docs/"


def checkLengths(root):
    for top in ("src", "web", "tests", "bench", "tools", "cmake", "python"):
        for path, name in sources(root, top, SOURCE_ENDINGS):
            count = len(lines(path))
            if count > SOURCE_LINES:
                yield f"{name}: {count} lines are more than {SOURCE_LINES}. Split it by idea"


def checkPaths(root):
    for directory, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders
                            if name not in SKIPPED_FOLDERS and not (directory == str(root) and name.startswith("build")))
        for file in sorted(files):
            path = pathlib.Path(directory) / file
            if path.is_symlink() or path.stat().st_size > 4 << 20:
                continue
            for number, line in enumerate(path.read_bytes().splitlines(), 1):
                found = MACHINE_PATH.search(line.decode("utf-8", errors="replace"))
                if found:
                    yield f"{path.relative_to(root)}:{number}: names {found[0]}..., a path of one machine. Make it relative"


CHECKS = {"includes": checkIncludes, "headers": checkHeaders, "readmes": checkReadmes, "lengths": checkLengths,
          "paths": checkPaths}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=", ".join(CHECKS))
    options = parser.parse_args()
    unknown = [name for name in options.checks if name not in CHECKS]
    if unknown:
        parser.error(f"no check {unknown[0]!r}; there are {', '.join(CHECKS)}")
    faults = 0
    for name in options.checks or CHECKS:
        found = list(CHECKS[name](options.root.resolve()))
        faults += len(found)
        for fault in found:
            print(fault)
        print(f"{name}: {len(found)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
