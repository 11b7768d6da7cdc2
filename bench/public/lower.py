#!/usr/bin/env python3
"""Lowers the public programs with known faults to StableHLO text for a chip that isn't there.

    lower.py --out DIR [--packages DIR] [NAME ...]     makes NAME.STATE.mlir, with .npz where scalars decide what runs

Run it in a virtual environment with requirements.txt; --packages holds tpu-inference-VERSION folders (run.py makes both).
Public kernels are imported and run, never copied. Each state is lowered in a process of its own, since releases of one
package can't be loaded side by side. A failure is told in one line, and the others go on.
"""
import argparse
import os
import pathlib
import subprocess
import sys

import programs

HERE = pathlib.Path(__file__).resolve().parent
GENERATION = {"v6e": 6, "tpu7x": 7}
# All states are lowered for this chip: none of these programs asks which chip it is for, except tpu-inference's kernels.
CHIP = "v6e"


def scan_layers(state):
    import decode
    stacked = state == "before"
    return decode.scanned if stacked else decode.unrolled, decode.arguments(2, 64, 2048, stacked), {}, (2, 3)


def may_alias(state):
    return scan_layers("after")


def undonated(state):
    import decode
    return decode.unrolled, decode.arguments(2, 64, 2048, False), {}, () if state == "before" else (2, 3)


def spellings(state):
    import kernels
    return kernels.scores(state)


def flash_attention(state):
    import kernels
    return kernels.flash_attention(128 if state == "before" else 512)


def cache_per_layer(state):
    import kernels
    return kernels.context_parallel()


def latent_transposes(state):
    import kernels
    return kernels.latent_attention(head_major=state == "after")


def swapaxes(state):
    import kernels
    return kernels.paged_prefill(cured=state == "after")


def trace_markers(state):
    import kernels
    return kernels.scoped_kernel(named=state == "before")


def mask_on_sublanes(state):
    import kernels
    return kernels.masked_scores(on_lanes=state == "after")


def lower(program, state, out):
    """In the child: builds the state's program and writes its text and inputs."""
    sys.path.insert(0, str(HERE.parent))
    from tpu_target import Target
    import numpy as np
    if program.releases[0]:
        import packages
        packages.open_tpu_inference(GENERATION[CHIP])
    function, arguments, inputs, donated = globals()[program.name](state)
    lowered = Target(CHIP).lower(function, arguments, donate_argnums=donated)
    path = out / f"{program.name}.{state}.mlir"
    path.write_text(lowered.as_text(debug_info=True).replace(str(HERE) + os.sep, ""))
    if inputs:
        np.savez(path.with_suffix(".npz"), **{f"arg{number}": value for number, value in inputs.items()})


def release_of(program, state):
    return program.releases[0 if state == "before" else 1]


def start_child(program, state, options):
    """Lowers one state in a process of its own; returns what went wrong, or None."""
    environment = os.environ | {"PYTHONPATH": str(HERE), "PYTHONWARNINGS": "ignore", "PYTHONDONTWRITEBYTECODE": "1"}
    release = release_of(program, state)
    if release:
        environment["PYTHONPATH"] += os.pathsep + str(options.packages / f"tpu-inference-{release}")
    run = subprocess.run([sys.executable, __file__, "--out", options.out, "--state", state, program.name], env=environment,
                         capture_output=True, text=True)
    if run.returncode == 0:
        return None
    said = [line for line in run.stderr.splitlines() if line.strip() and not line.startswith(("-", "For simplicity"))]
    return said[-1][:300] if said else f"ended with {run.returncode}"


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--packages", type=pathlib.Path, default=HERE.parents[1] / "build" / "public")
    parser.add_argument("--state", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", help="programs; all without a name")
    return parser.parse_args(argv)


def main():
    options = parse(sys.argv[1:])
    known = {program.name: program for program in programs.PROGRAMS}
    unknown = sorted(set(options.names) - set(known))
    if unknown:
        sys.exit(f"lower.py: no program {', '.join(unknown)}. Known: {', '.join(known)}")
    options.out.mkdir(parents=True, exist_ok=True)
    chosen = [known[name] for name in options.names or known]
    if options.state:
        return lower(chosen[0], options.state, options.out)
    failed = False
    for program in chosen:
        for state in program.states:
            reason = start_child(program, state, options)
            failed = failed or reason is not None
            print(f"{program.name}.{state}: {'lowered' if reason is None else reason}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
