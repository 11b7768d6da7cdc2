#!/usr/bin/env python3
"""How long explain takes: after the compile, from save to findings with the compile, and as a page.

    bench/explain_speed.py --sublane build/sublane [--chips v6e,v5e] [--loop-only]

Prints, for each model and chip, the CPU seconds of `explain` when the compile comes from the cache (goal: 5 s), and for two
programs the seconds from a save to the findings with the compile included (goals: 5 s for one small kernel, 40 s for a decode step
of two layers with Llama-3-8B's shapes). Each text is new, so no cache knows it. Measured on this machine.
"""
import argparse
import json
import pathlib
import resource
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LLAMA = ROOT / "tests/report/configs/llama3_8b.json"
KERNEL = ROOT / "tests/findings/programs/single_buffered.fires.mlir"
MODELS = {
    "smollm2-135m": ["smollm2-135m"],
    "gemma3-270m": ["gemma3-270m"],
    "Llama-3-8B, loop": ["--config", str(LLAMA), "--layers", "loop"],
}


def timed(command):
    """Seconds of wall and CPU time, children included, and what it printed. None: the program does not fit the chip."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode == 2 and "does not fit" in done.stderr:
        return None
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr[-400:]}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def rung(output):
    return "bundles" if "NOT executed" not in output else "lower rung"


def after_the_compile(sublane, chips):
    print(f"{'model':<18} {'chip':<6} {'wall s':>7} {'CPU s':>7} {'HTML MB':>8}  (measured; both steps, compile from the cache)")
    with tempfile.TemporaryDirectory() as folder:
        for model, arguments in MODELS.items():
            for chip in chips:
                command = [sublane, "explain", *arguments, "--chip", chip]
                if timed(command) is None:  # compiles
                    print(f"{model:<18} {chip:<6} does not fit in HBM", flush=True)
                    continue
                wall, cpu, output = timed(command)
                page = pathlib.Path(folder) / "r.html"
                timed([*command, "--step", "decode", "--format", "html", "-o", str(page)])
                print(f"{model:<18} {chip:<6} {wall:>7.2f} {cpu:>7.2f} {page.stat().st_size / 1e6:>8.2f}  {rung(output)}", flush=True)


def from_save_to_findings(sublane):
    print("\nfrom a save to the findings, compile included (measured):")
    with tempfile.TemporaryDirectory() as folder:
        kernel = pathlib.Path(folder) / "kernel.mlir"
        kernel.write_text(KERNEL.read_text() + f"// {time.time_ns()}\n")
        wall, cpu, _ = timed([sublane, "explain", str(kernel), "--chip", "v6e", "--view", "findings"])
        print(f"  one small kernel, v6e                              {wall:>6.1f} s ({cpu:.1f} s of CPU)", flush=True)
        config = json.loads(LLAMA.read_text()) | {"num_hidden_layers": 2}
        path = pathlib.Path(folder) / "config.json"
        path.write_text(json.dumps(config))
        context = str(1024 + time.time_ns() % 64 * 16)  # a step that nobody compiled
        wall, cpu, output = timed([sublane, "explain", "--config", str(path), "--chip", "v6e", "--step", "decode", "--batch", "8",
                                   "--context", context, "--view", "findings"])
        print(f"  decode, 2 layers of Llama-3-8B, 8 x {context} tokens  {wall:>6.1f} s ({cpu:.1f} s of CPU), {rung(output)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sublane", default=str(ROOT / "build/sublane"))
    parser.add_argument("--chips", default="v4,v5e,v5p,v6e,tpu7x")
    parser.add_argument("--loop-only", action="store_true")
    options = parser.parse_args()
    sublane = str(pathlib.Path(options.sublane).resolve())
    if not options.loop_only:
        after_the_compile(sublane, options.chips.split(","))
    from_save_to_findings(sublane)


if __name__ == "__main__":
    main()
