#!/usr/bin/env python3
"""How fast `sublane simulate` is: bundles a second on one core in a busy kernel, and one decode step of an 8B model.

The busy kernels are loops whose trip count is an argument. Each runs twice; the difference of the two, in bundles and
in CPU seconds, leaves out the compile, the reading and the start. The model's step runs twice, too: the first run
compiles, the second takes the compile from the cache and is measured whole. Times are of this machine (measured).

    python3 bench/simulate_speed.py [--sublane build/sublane] [--chip v6e] [--no-model]
"""
import argparse
import pathlib
import tempfile

import numpy as np  # pip install numpy

from busy_loop import busy_program, simulate

ROOT = pathlib.Path(__file__).resolve().parent.parent

PRODUCT = """      %p = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<512x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<512x2048xbf16>
      %b = stablehlo.tanh %p : tensor<512x2048xbf16>"""
SUM = """      %p = stablehlo.multiply %a, %w : tensor<4096x4096xf32>
      %b = stablehlo.add %p, %w : tensor<4096x4096xf32>"""
SMALL = """      %p = stablehlo.multiply %a, %w : tensor<8x128xf32>
      %b = stablehlo.add %p, %w : tensor<8x128xf32>"""
# name: body, type, weights, trips
KERNELS = {
    "matmul with weights from HBM": (PRODUCT, "512x2048xbf16", "2048x2048xbf16", (50, 5000)),
    "elementwise over HBM": (SUM, "4096x4096xf32", "4096x4096xf32", (10, 500)),
    "one tile, mostly scalar work": (SMALL, "8x128xf32", "8x128xf32", (1000, 1000000)),
}


def kernel_rate(sublane, chip, body, x, w, trips):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "busy.mlir"
        program.write_text(busy_program(body, x, w))
        bundles, seconds = [], []
        for n in (trips[0], *trips):  # the first run compiles
            inputs = pathlib.Path(folder) / "n.npz"
            np.savez(inputs, arg0=np.int32(n))
            document, cpu, _ = simulate(sublane, [program, "--chip", chip, "--inputs", inputs])
            bundles.append(document["steps"][0]["bundles"])
            seconds.append(cpu)
        return bundles[2] - bundles[1], seconds[2] - seconds[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sublane", default=str(ROOT / "build" / "sublane"))
    parser.add_argument("--chip", default="v6e")
    parser.add_argument("--no-model", action="store_true", help="leave out the 8B model, whose compile takes minutes")
    options = parser.parse_args()
    for name, (body, x, w, trips) in KERNELS.items():
        bundles, seconds = kernel_rate(options.sublane, options.chip, body, x, w, trips)
        print(f"{name}: {bundles / 1e6:.1f} M bundles in {seconds:.2f} s CPU: {bundles / seconds / 1e6:.1f} M bundles/s a core")
    if options.no_model:
        return
    model = ["--config", ROOT / "tests/report/configs/llama3_8b.json", "--layers", "loop", "--chip", options.chip, "--step", "decode"]
    simulate(options.sublane, model)
    document, cpu, peak = simulate(options.sublane, model)
    step = document["steps"][0]
    print(f"decode step of Llama-3-8B's shapes, layers in a loop: {document['total_us']:.0f} us (simulated), {step['bundles'] / 1e6:.1f} M bundles, "
          f"{cpu:.2f} s CPU, {peak:.0f} MiB")


if __name__ == "__main__":
    main()
