#!/usr/bin/env python3
"""Runs the console blocks of a Markdown file and compares what they print.

    tools/run_tutorial.py docs/tutorial.md --path build

A line `$ command` is run from the root of the tree with `--path` first on PATH, and must exit 0. The lines up to the next command
are its expected standard output; a line `...` stands for any lines, `...` at a line's end for its rest. Trailing spaces and empty
lines don't count.
Ends with `N passed, N failed`; exits 1 if any block failed or there was none.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def commands(text):
    """(line number, command, expected lines) of every console block, in order."""
    found = []
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = not inside and line.strip() == "```console"
        elif inside and line.startswith("$ "):
            found.append((number, line[2:], []))
        elif inside and found:
            found[-1][2].append(line)
    return found


def tidy(lines):
    return [line.rstrip() for line in lines if line.strip()]


def same(expected, printed):
    return printed.startswith(expected[:-3]) if expected.endswith("...") else printed == expected


def first_mismatch(expected, printed):
    """None if the output matches, else the expected line that was not found."""
    at, anywhere = 0, False
    for line in tidy(expected):
        if line == "...":
            anywhere = True
            continue
        if anywhere:
            while at < len(printed) and not same(line, printed[at]):
                at += 1
        if at >= len(printed) or not same(line, printed[at]):
            return line
        at, anywhere = at + 1, False
    return None if anywhere or at == len(printed) else "(end of the output)"


def check(command, expected, environment):
    done = subprocess.run(command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr.strip()[-800:]}"
    printed = tidy(done.stdout.splitlines())
    missing = first_mismatch(expected, printed)
    return None if missing is None else f"expected {missing!r}; it printed:\n" + "\n".join(printed[:60])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--path", default="build")
    options = parser.parse_args()
    environment = dict(os.environ)
    environment["PATH"] = str(pathlib.Path(options.path).resolve()) + os.pathsep + environment["PATH"]
    passed = failed = 0
    for number, command, expected in commands(pathlib.Path(options.file).read_text()):
        fault = check(command, expected, environment)
        print(f"{'FAIL' if fault else 'ok  '} {options.file}:{number}: {command}", flush=True)
        if fault:
            print(re.sub("^", "     ", fault, flags=re.M))
        failed += fault is not None
        passed += fault is None
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
