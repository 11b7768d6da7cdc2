#!/usr/bin/env python3
"""How far the simulator is from measured time and from libtpu's own static profile: one command, one table.

    python3 bench/fidelity/run.py                          # the sample that rows.py draws; hours the first time, resumable
    python3 bench/fidelity/run.py --only 'flash' --per-class 3
    python3 bench/fidelity/run.py --stages table           # again from the results that are there
    python3 bench/fidelity/run.py --write-docs             # puts the tables into docs/simulator.md

Stages: lower (in a virtual environment of its own), profile (libtpu's, for the compiler rows), simulate, table. Every stage
keeps what it made under --cache, by row, and a row's failure is kept with its reason. `--retry` tries failures again.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import rows as row_sets
import table

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from parts import libtpu

TPU_INFERENCE = "tpu-inference==0.32.0"
STAGES = ("lower", "profile", "simulate", "table")


def works(python):
    return python and subprocess.run([python, "-c", "import venv"], capture_output=True).returncode == 0


class Environments:
    """Virtual environments with pinned packages, made on first use. `get` gives a Python, or None where it can't be made."""

    def __init__(self, cache, given):
        self.cache, self.given, self.made = cache, given, {}

    def get(self, name):
        if name not in self.made:
            self.made[name] = self.given.get(name) or self.make(name)
        return self.made[name]

    def make(self, name):
        base = {"base": [sys.executable], "312": [shutil.which(p) for p in ("python3.12", "python3.13")]}[name]
        base = next((p for p in base if works(p)), None)
        if base is None:
            return None
        requirements = HERE / ("requirements.txt" if name == "base" else "requirements-312.txt")
        folder = self.cache / f"venv-{name}-{hashlib.sha256(requirements.read_bytes()).hexdigest()[:8]}"
        python = folder / "bin" / "python"
        if not (folder / "complete").exists():
            print(f"run.py: making {folder} from {requirements.name}", file=sys.stderr)
            subprocess.run([base, "-m", "venv", "--clear", folder], check=True)
            subprocess.run([python, "-m", "pip", "install", "-q", "-r", requirements], check=True)
            if name == "base":  # it pins another jax and a server
                subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", TPU_INFERENCE], check=True)
            (folder / "complete").touch()
        return str(python)


def unpack_sglang(clone, revision, cache):
    """The package as it stood at `revision`, from a clone of sgl-project/sglang-jax; None without one."""
    if not clone:
        return None
    folder = cache / "sglang-jax" / revision
    if not (folder / "python").exists():
        folder.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "-C", clone, "archive", revision, "python/sgl_jax"], capture_output=True, check=True).stdout
        subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)
    return str(folder / "python")


class Bench:
    def __init__(self, options):
        self.options, self.cache = options, pathlib.Path(options.cache).resolve()
        self.cache.mkdir(parents=True, exist_ok=True)
        self.environments = Environments(self.cache, {"base": options.python, "312": options.python312})
        self.environment = os.environ | {"TPU_LIBRARY_PATH": libtpu(), "PYTHONDONTWRITEBYTECODE": "1"}

    def file(self, row, name):
        return self.cache / row["folder"] / name

    def read(self, row, name):
        try:
            return json.loads(self.file(row, name).read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    def write(self, row, name, value):
        path = self.file(row, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".part")
        temporary.write_text(json.dumps(value, indent=1) + "\n")
        temporary.replace(path)

    def done(self, row, name):
        """Made, and not a failure that is to be tried again."""
        made = self.read(row, name)
        return made is not None and (made.get("ok", True) or not self.options.retry)

    def where(self, row):
        """(environment's name, revision of sglang-jax) that a row is lowered in."""
        program = row["program"]
        if program["kind"] == "sglang":
            return "312", row.get("revision", "cddbf6f1")
        return ("312" if program.get("tokamax", "0.0.12") != "0.0.12" else "base"), None

    def child(self, row):
        """(python, environment) to lower a row with, or a reason why not."""
        name, revision = self.where(row)
        python = self.environments.get(name)
        if python is None:
            return "needs Python 3.12"
        environment = dict(self.environment)
        if revision:
            root = unpack_sglang(self.options.sglang_jax, revision, self.cache)
            if root is None:
                return "needs --sglang-jax, a clone of sgl-project/sglang-jax"
            environment["SGLANG_JAX_PYTHON"] = root
        return python, environment

    def lower(self, rows):
        batches = {}
        for row in rows:
            if not self.done(row, "lower.json"):
                batches.setdefault(self.where(row), []).append(row)
        for batch in batches.values():
            child = self.child(batch[0])
            if isinstance(child, str):
                for row in batch:
                    self.write(row, "lower.json", {"key": row["key"], "ok": False, "reason": child})
                continue
            text = "".join(json.dumps(row) + "\n" for row in batch)
            subprocess.run([child[0], HERE / "lower.py", self.cache], input=text, text=True, env=child[1], check=False,
                           stdout=None if self.options.verbose else subprocess.DEVNULL)

    def lowered(self, row):
        made = self.read(row, "lower.json")
        return bool(made and made["ok"])

    def profile(self, rows):
        for row in rows:
            if row["set"] != "compiler" or not self.lowered(row) or self.done(row, "profile-state.json"):
                continue
            state = {"ok": True}
            python, environment = self.child(row)
            start = time.time()
            try:
                run = subprocess.run([python, HERE / "static_profile.py", self.file(row, "")], input=json.dumps(row), text=True, env=environment,
                                     capture_output=True, timeout=self.options.timeout)
                if run.returncode != 0:
                    last = (run.stderr.strip().splitlines() or ["no words"])[-1]
                    state = {"ok": False, "reason": f"libtpu's profile ended with {run.returncode}: {last[:200]}"}
                elif not self.read(row, "profile.json"):
                    state = {"ok": False, "reason": "libtpu's profile has no operation of this program"}
            except subprocess.TimeoutExpired:
                state = {"ok": False, "reason": f"libtpu's profile took over {self.options.timeout} s"}
            self.note(row, "profile", state, start)
            self.write(row, "profile-state.json", state)

    def binary_hash(self):
        return hashlib.sha256(pathlib.Path(self.options.sublane).read_bytes()).hexdigest()[:16]

    def simulate(self, rows):
        binary = self.binary_hash()
        for row in rows:
            made = self.read(row, "simulate.json")
            if not self.lowered(row):
                continue
            if made and (made["binary"] == binary or self.options.keep) and (made["ok"] or not self.options.retry):
                continue
            start = time.time()
            state = {"binary": binary, **self.simulate_one(row)}
            self.note(row, "simulate", state, start)
            self.write(row, "simulate.json", state)

    def simulate_one(self, row):
        command = [self.options.sublane, "simulate", self.file(row, "program.mlir"), "--chip", row["chip"], "--json"]
        if self.file(row, "inputs.npz").exists():
            command += ["--inputs", self.file(row, "inputs.npz")]
        if row["set"] == "compiler":
            command += ["--dma", "compiler"]
        for flag, value in row.get("flags", {}).items():
            command += ["--compile-option", f"{flag}={value}"]
        if row["program"].get("devices", 1) > 1:
            command += ["--mesh", "2x2x1" if row["chip"] == "tpu7x" else "2x2"]
        command += self.options.simulate_arguments
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=self.options.timeout)
        except subprocess.TimeoutExpired:
            return {"ok": False, "reason": f"took over {self.options.timeout} s"}
        if run.returncode != 0:
            reason = next((line for line in run.stderr.splitlines() if line.strip()), f"ended with {run.returncode}")
            return {"ok": False, "reason": reason.strip()[:300]}
        document = json.loads(run.stdout)
        for step in document.get("steps", []):
            if step["rung"] != "bundles":
                return {"ok": False, "reason": f"not executed: {step['reason']}"[:300]}
        return {"ok": True, "document": document}

    def note(self, row, stage, state, start):
        if self.options.verbose:
            outcome = "ok" if state["ok"] else state["reason"]
            print(f"{stage:9}{row['key']:60}{time.time() - start:7.1f} s  {outcome[:120]}", flush=True)

    def collect(self, rows):
        """(results, failures) as table.py wants them."""
        results, failures = {}, {}
        binary = self.binary_hash() if pathlib.Path(self.options.sublane).exists() else None
        for row in rows:
            for stage, name in (("lower", "lower.json"), ("profile", "profile-state.json"), ("simulate", "simulate.json")):
                made = self.read(row, name)
                if made and not made["ok"] and stage == "simulate" and binary not in (None, made["binary"]):
                    failures[row["key"]] = (stage, "not run again since an older version failed")
                    break
                if made and not made["ok"]:
                    failures[row["key"]] = (stage, re.sub(r"/\S+/|[EWI]\d{4} [\d:.]+ +\d+ ", "", made["reason"]))
                    break
            else:
                made = self.read(row, "simulate.json")
                if made:
                    results[row["key"]] = self.result(row, made["document"])
        return results, failures

    def result(self, row, document):
        """{us, ops: cycles of one execution by operation, profile}."""
        operations = document["ops"]
        if row["set"] == "compiler":
            return {"ops": {op["op"]: op["cycles"] / max(1, op["count"]) for op in operations}, "profile": self.read(row, "profile.json") or {}}
        if row.get("scope"):
            return {"us": sum(op["us"] for op in operations if op["op"].startswith(row["scope"]))}
        return {"us": document["total_us"] - sum(step["launch_us"] for step in document.get("steps", []))}


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sublane", default=str(ROOT / "build" / "sublane"))
    parser.add_argument("--cache", default=str(ROOT / "build" / "fidelity"))
    parser.add_argument("--per-class", type=int, default=12, help="rows of each class, implementation and chip")
    parser.add_argument("--all", action="store_true", help="every measured row")
    parser.add_argument("--tuned", type=int, default=0, help="keys of the tuned table of quantised matmul; 50 take hours")
    parser.add_argument("--tuned-others", type=int, default=6, help="other legal choices of each key")
    parser.add_argument("--only", default="", help="a regular expression that a row's key must hold")
    parser.add_argument("--stages", default=",".join(STAGES))
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--retry", action="store_true", help="try failed rows again")
    parser.add_argument("--keep", action="store_true", help="take results of an older binary")
    parser.add_argument("--longest-us", type=float, default=float("inf"), help="leave out rows measured longer than this")
    parser.add_argument("--sglang-jax", help="a clone of sgl-project/sglang-jax, for ragged paged attention and the cache update")
    parser.add_argument("--python", help="a Python with requirements.txt installed, instead of making one")
    parser.add_argument("--python312", help="the same for requirements-312.txt")
    parser.add_argument("--out", help="where the tables go beside stdout")
    parser.add_argument("--write-errors", action="store_true", help="puts the errors by class into src/sim/models/*.fit.json")
    parser.add_argument("--write-docs", action="store_true")
    parser.add_argument("--points", help="write the measured rows as CSV for sublane calibrate")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("simulate_arguments", nargs="*", help="further arguments for sublane simulate, after --")
    return parser.parse_args(argv)


def choose(options):
    measured = [r for r in row_sets.measured_rows() if r["measured_us"] <= options.longest_us]
    measured = measured if options.all else row_sets.sample(measured, options.per_class)
    tuned = row_sets.tuned_rows(options.tuned, options.tuned_others) if options.tuned else []
    return [r for r in measured + row_sets.compiler_rows() + tuned if re.search(options.only, r["key"])]


def write_points(bench, rows, path):
    """The CSV that `sublane calibrate` reads: one measured row a line."""
    with open(path, "w") as out:
        out.write("key,chip,class,kernel,timing,source,measured_us,scope,program,inputs,options\n")
        for row in rows:
            if row["set"] != "measured" or not bench.lowered(row):
                continue
            inputs = bench.file(row, "inputs.npz")
            flags = " ".join(f"{k}={v}" for k, v in row.get("flags", {}).items())
            kernel = f"{row['class']} {row['implementation']}"
            fields = [row["key"], row["chip"], table.scored_class(row) or "", kernel, row["timing"], row["source"].split(":")[0], row["measured_us"],
                      row["scope"] or "", bench.file(row, "program.mlir"), inputs if inputs.exists() else "", flags]
            out.write(",".join(str(f) for f in fields) + "\n")


MARK = ("<!-- bench/fidelity/run.py --write-docs writes from here -->", "<!-- to here -->")


def write_docs(text):
    path = ROOT / "docs" / "simulator.md"
    page = path.read_text() if path.exists() else f"{MARK[0]}\n{MARK[1]}\n"
    head, rest = page.split(MARK[0], 1)
    path.write_text(head + MARK[0] + "\n\n" + text + "\n" + MARK[1] + rest.split(MARK[1], 1)[1])


def write_errors(rows, results):
    """Puts the errors of all points, also of those that no fit saw, where `sublane simulate` takes its error bars from."""
    errors = table.measured_errors(rows, results)
    for path in sorted((ROOT / "src" / "sim" / "models").glob("*.fit.json")):
        fit, chip = json.loads(path.read_text()), path.name.split(".")[0]
        known = {entry["class"]: entry for entry in fit["residuals"]}
        of_chip = [e for e in errors if e[0]["chip"] == chip]
        pairs = table.paired(of_chip, table.scored_class)
        for s in table.summarise(of_chip, table.scored_class):
            entry = known.setdefault(s["name"], {"class": s["name"], "points": 0, "start_median": round(s["median"], 4),
                                                 "held_out_median": round(s["median"], 4)})
            entry |= {"points": s["points"], "median": round(s["median"], 4), "p90": round(s["p90"], 4), "worst": round(s["worst"], 4)}
            entry |= {what: p | {"p90": round(p["p90"], 4)} for what, p in pairs[s["name"]].items()}
            known[s["name"]] = entry
        fit["residuals"] = [known[name] for name in sorted(known)]
        path.write_text(json.dumps(fit, indent=2) + "\n")


def main():
    options = parse(sys.argv[1:])
    bench, rows, stages = Bench(options), choose(options), options.stages.split(",")
    for stage in ("lower", "profile", "simulate"):
        if stage in stages:
            getattr(bench, stage)(rows)
    if options.points:
        write_points(bench, rows, options.points)
    if "table" in stages:
        text = table.report(rows, *bench.collect(rows))
        print(text)
        if options.out:
            pathlib.Path(options.out).write_text(text)
        if options.write_docs:
            write_docs(text)
        if options.write_errors:
            write_errors(rows, bench.collect(rows)[0])


if __name__ == "__main__":
    main()
