#!/usr/bin/env python3
"""clang-tidy over src/, remembering what was clean.

    tools/tidy.py --build build          at most --seconds of it, changed files first
    tools/tidy.py --build build --all    every source, however long it takes

A file is checked again when it, a header of ours that it includes, or .clang-tidy has changed. Files that the time
did not suffice for are counted in the last line, so that nobody takes them for clean.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def closure(path, seen):
    """Adds `path` and the headers of src/ that it includes, directly or not, to `seen`."""
    if path in seen or not path.is_file():
        return seen
    seen[path] = path.read_bytes()
    for name in INCLUDE.findall(seen[path]):
        closure(ROOT / "src" / os.fsdecode(name), seen)
    return seen


def keyOf(source, setting):
    digest = hashlib.sha256(setting)
    for path, content in sorted(closure(source, {}).items()):
        digest.update(f"{path.relative_to(ROOT)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def changedFiles():
    """Sources that differ from the newest commit or that it touched: the ones whose state is least known."""
    names = set()
    for arguments in (["diff", "--name-only", "HEAD"], ["diff", "--name-only", "HEAD~1", "HEAD"]):
        run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        names.update(run.stdout.split())
    return names


def tidy(tool, build, source):
    run = subprocess.run([tool, "-p", build, "--quiet", str(source)], cwd=ROOT, capture_output=True, text=True)
    return run.returncode == 0, run.stdout.replace(f"{ROOT}/", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="folder with compile_commands.json")
    parser.add_argument("--seconds", type=float, default=120, help="start no file after that long")
    parser.add_argument("--all", action="store_true", help="no limit of time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    tool = shutil.which(os.environ.get("CLANG_TIDY", "clang-tidy-19"))
    if tool is None:
        print("tidy: clang-tidy-19 is missing\n  hint: tools/setup.sh test installs it", file=sys.stderr)
        return 3
    database = pathlib.Path(options.build) / "compile_commands.json"
    if not database.is_file():
        print(f"tidy: {database} is missing\n  hint: make build first", file=sys.stderr)
        return 2
    compiled = {pathlib.Path(entry["file"]) for entry in json.loads(database.read_text())}
    sources = sorted(path for path in compiled if path.is_relative_to(ROOT / "src") and path.is_file())

    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "sublane" / "tidy"
    cache.mkdir(parents=True, exist_ok=True)
    setting = (ROOT / ".clang-tidy").read_bytes() + os.fsencode(tool)
    keys = {source: keyOf(source, setting) for source in sources}
    dirty = [source for source in sources if not (cache / keys[source]).exists()]
    changed = changedFiles()
    dirty.sort(key=lambda source: str(source.relative_to(ROOT)) not in changed)

    deadline = float("inf") if options.all else time.monotonic() + options.seconds
    failed, left = [], []

    def check(source):
        if time.monotonic() > deadline:
            left.append(source)
            return
        clean, report = tidy(tool, options.build, source)
        if clean:
            (cache / keys[source]).touch()
        else:
            failed.append(source)
            print(report, flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(check, dirty))
    rest = f", {len(left)} left for `make tidy` (time was up)" if left else ""
    print(f"tidy: {len(sources)} sources: {len(sources) - len(dirty)} clean before, "
          f"{len(dirty) - len(left) - len(failed)} clean now, {len(failed)} with findings{rest}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
