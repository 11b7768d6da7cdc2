#!/usr/bin/env python3
"""Does a report's first finding name the known fault of each public program, and does its cure bring what was promised?

    python3 bench/public/run.py [--only REGEX] [--out table.md]

Lowers the programs (lower.py, in a virtual environment of its own), reports on the state before and after with
`sublane explain --json`, and prints one table: time and HBM bytes before and after (simulated), the first finding of the
state before, whether it names the cause (programs.py says which rules do), and the gain that it promises beside the gain that
the state after shows. Reports are kept under --cache by the hash of the binary and of the program.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

import programs

HERE, ROOT = pathlib.Path(__file__).resolve().parent, pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HERE.parent))
from parts import libtpu


def environment(options):
    """A Python with requirements.txt, and a folder a release of tpu-inference, which pins other versions and a server."""
    folder = options.cache / f"venv-{hashlib.sha256((HERE / 'requirements.txt').read_bytes()).hexdigest()[:8]}"
    python = pathlib.Path(options.python) if options.python else folder / "bin" / "python"
    if not options.python and not (folder / "complete").exists():
        print(f"run.py: making {folder.name}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
        (folder / "complete").touch()
    for release in sorted({r for program in programs.PROGRAMS for r in program.releases if r}):
        target = options.packages / f"tpu-inference-{release}"
        if not target.exists():
            subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--target", target, f"tpu-inference=={release}"],
                           check=True)
    return python


def lower(options, chosen):
    """Lowers what is not there yet; a program that can't be lowered is told and has no line in the table."""
    wanted = [p.name for p in chosen if not all((options.lowered / f"{p.name}.{s}.mlir").exists() for s in p.states)]
    if wanted:
        python = environment(options)
        command = [python, HERE / "lower.py", "--out", options.lowered, "--packages", options.packages, *wanted]
        subprocess.run(command, env=os.environ | {"TPU_LIBRARY_PATH": libtpu()}, stdout=sys.stderr)


def report(options, program, state, chip):
    """The report of one state on one chip: the document's first step, or {"reason": why not}."""
    text = options.lowered / f"{program.name}.{state}.mlir"
    if not text.exists():
        return {"reason": "not lowered"}
    arguments = [text, "--chip", chip, "--json", "--top", "0"]
    for flag in program.flags:
        arguments += ["--compile-option", flag]
    if text.with_suffix(".npz").exists():
        arguments += ["--inputs", text.with_suffix(".npz")]
    key = hashlib.sha256(options.binary_hash + text.read_bytes() + " ".join(map(str, arguments[1:])).encode()).hexdigest()[:24]
    kept = options.cache / "reports" / f"{key}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        made = run_sublane(options, arguments)
        if "reason" in made:
            return made
        kept.write_text(json.dumps(made))
    return json.loads(kept.read_text())["steps"][0]


def run_sublane(options, arguments):
    try:
        run = subprocess.run([options.sublane, options.verb, *arguments], capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return {"reason": f"took over {options.timeout:g} s"}
    if run.returncode != 0:
        said = [line.strip() for line in run.stderr.splitlines() if line.strip()]
        return {"reason": said[0] if said else f"ended with {run.returncode}"}
    document = json.loads(run.stdout)
    steps = document.get("steps", [])
    if not steps:
        return {"reason": "the report has no step"}
    if steps[0]["rung"] != "bundles":
        return {"reason": f"not executed: {steps[0]['reason']}"}
    return document


def judge(program, chip, before, after):
    """One line of the table, from the two states' steps."""
    findings = before.get("findings") or []
    first = findings[0] if findings else None
    gained = before["total_us"] - after["total_us"]
    promised = first["gain_us"] if first else None
    return {"program": program, "chip": chip, "before": before, "after": after, "first": first, "gained": gained,
            "promised": promised, "names": bool(first) and first["rule"] in program.causes,
            "sign": bool(first) and (promised > 0) == (gained > 0) and promised != 0}


def lines_of(options, program):
    """(judged lines, what could not be judged)."""
    lines, missing = [], []
    for chip in program.chips:
        made = {state: report(options, program, state, chip) for state in program.states}
        failed = [f"{program.name}.{state} on {chip}: {step['reason'][:200]}" for state, step in made.items()
                  if "total_us" not in step]
        missing += failed
        if failed:
            continue
        before, after, ranked = "before", "after", sorted(made, key=lambda state: made[state]["total_us"])
        if "before" not in made:  # of several spellings the slowest on this chip is the fault, and the fastest its cure
            before, after = ranked[-1], ranked[0]
        lines.append(judge(program, chip, made[before], made[after]) | {"states": (before, after), "ranked": ranked})
    return lines, missing


def table(lines):
    head = ("program", "chip", "before us", "after us", "before HBM", "after HBM", "first finding", "names it", "promised us",
            "gained us", "sign")
    rows = [head, ("---",) * 2 + ("---:",) * 4 + ("---",) * 2 + ("---:",) * 2 + ("---",)]
    for line in lines:
        before, after, first = line["before"], line["after"], line["first"]
        moved = [f"{(step['hbm_read_bytes'] + step['hbm_write_bytes']) / 1e6:,.1f} MB" for step in (before, after)]
        name = line["program"].name + ("" if line["states"] == ("before", "after") else f" ({' -> '.join(line['states'])})")
        promised = "-" if not first else f"{line['promised']:,.1f} ({first.get('gain_origin', 'assumed')})"
        rows.append((name, line["chip"], f"{before['total_us']:,.1f}", f"{after['total_us']:,.1f}", *moved,
                     first["rule"] if first else "none", "yes" if line["names"] else "no", promised, f"{line['gained']:,.1f}",
                     "-" if not first else "right" if line["sign"] else "wrong"))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def summary(lines):
    counted = [line for line in lines if line["program"].counted]
    text = ["All times and bytes are simulated; a promised gain is of the origin beside it.",
            f"The first finding names the cause in {sum(l['names'] for l in lines)} of {len(lines)} lines, and in "
            f"{sum(l['names'] for l in counted)} of {len(counted)} changes that were argued from dumps or bundles; the gain that "
            f"it promises has the right sign in {sum(l['sign'] for l in lines)} of {len(lines)}."]
    text += [f"{line['program'].name} on {line['chip']}, fastest first: {', '.join(line['ranked'])}." for line in lines
             if len(line["ranked"]) > 2]
    return "\n".join(text) + "\n"


def silent(options, program):
    """Copies that never run must not be found: a finding of a rule about copies is a fault of the report."""
    step = report(options, program, program.states[0], program.chips[0])
    if "total_us" not in step:
        return f"{program.name}: {step['reason'][:200]}\n"
    wrong = [f["rule"] for f in step.get("findings") or [] if f["rule"] in programs.COPIES + ("missed-donation",)]
    verdict = f"wrongly found: {', '.join(wrong)}" if wrong else "no copy found, rightly"
    return f"{program.name}: {step['total_us']:,.1f} us (simulated), {verdict}\n"


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sublane", default=str(ROOT / "build" / "sublane"))
    parser.add_argument("--verb", default="explain", choices=("explain", "simulate"))
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "build" / "public")
    parser.add_argument("--lowered", type=pathlib.Path, help="lowered programs, or where they go (default: under --cache)")
    parser.add_argument("--packages", type=pathlib.Path, help="releases of tpu-inference, or where they go (default: --cache)")
    parser.add_argument("--python", help="a Python with requirements.txt installed, instead of making one")
    parser.add_argument("--only", default="", help="a regular expression that a program's name must hold")
    parser.add_argument("--timeout", type=float, default=1800)
    parser.add_argument("--out", type=pathlib.Path, help="where the table goes beside stdout")
    options = parser.parse_args(argv)
    options.cache = options.cache.resolve()
    options.lowered = (options.lowered or options.cache / "lowered").resolve()
    options.packages = (options.packages or options.cache).resolve()
    options.binary_hash = hashlib.sha256(pathlib.Path(options.sublane).read_bytes()).digest()
    return options


def main():
    options = parse(sys.argv[1:])
    chosen = [program for program in programs.PROGRAMS if re.search(options.only, program.name)]
    lower(options, chosen)
    lines, notes = [], []
    for program in chosen:
        if not program.causes:
            notes.append(silent(options, program))
            continue
        judged, missing = lines_of(options, program)
        lines += judged
        notes += [f"not judged: {reason}\n" for reason in missing]
    text = table(lines) + "\n" + summary(lines) + "".join(notes)
    print(text, end="")
    if options.out:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
