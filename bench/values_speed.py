#!/usr/bin/env python3
"""How many vector bundles a second `sublane simulate --values` executes, on one core, in busy kernels.

Each program is a loop whose trip count is an argument. It runs twice; the difference of the two, in bundles and in
CPU seconds, leaves out the compile, the reading and the inputs. Times are of this machine, by its clock (measured).

    python3 bench/values_speed.py [--sublane build/sublane] [--chip v6e]
"""
import argparse
import pathlib
import tempfile

import numpy as np  # pip install numpy

from busy_loop import busy_program, simulate

SOFTMAX = """
      %m = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<256x512xf32>, tensor<f32>) -> tensor<256xf32>
      %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<256xf32>) -> tensor<256x512xf32>
      %d = stablehlo.subtract %a, %mb : tensor<256x512xf32>
      %e = stablehlo.exponential %d : tensor<256x512xf32>
      %s = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [1] : (tensor<256x512xf32>, tensor<f32>) -> tensor<256xf32>
      %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<256xf32>) -> tensor<256x512xf32>
      %q = stablehlo.divide %e, %sb : tensor<256x512xf32>
      %b = stablehlo.add %q, %w : tensor<256x512xf32>"""

PRODUCT = """
      %p = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
      %m = stablehlo.negate %x : tensor<256x512xbf16>
      %c = stablehlo.minimum %p, %x : tensor<256x512xbf16>
      %b = stablehlo.maximum %c, %m : tensor<256x512xbf16>"""

POLYNOMIAL = """
      %p = stablehlo.multiply %a, %w : tensor<256x512xf32>
      %q = stablehlo.add %p, %x : tensor<256x512xf32>
      %c = stablehlo.maximum %q, %w : tensor<256x512xf32>
      %b = stablehlo.subtract %c, %p : tensor<256x512xf32>"""

# name: body, type, weights, trips
KERNELS = {
    "elementwise": (POLYNOMIAL, "256x512xf32", "256x512xf32", (2000, 12000)),
    "softmax": (SOFTMAX, "256x512xf32", "256x512xf32", (200, 1200)),
    "matmul": (PRODUCT, "256x512xbf16", "512x512xbf16", (100, 600)),
}


def array(text, seed):
    dims = [int(d) for d in text.split("x")[:-1]]
    values = np.random.default_rng(seed).integers(-8, 9, dims).astype(np.float32) / 64
    if text.endswith("bf16"):
        return (values.view(np.uint32) >> 16).astype(np.uint16).view("V2")
    return values


def run(arguments, program, folder, trips, types):
    inputs = folder / "inputs.npz"
    np.savez(inputs, np.int32(trips), *[array(t, i) for i, t in enumerate(types)])
    document, cpu, _ = simulate(arguments.sublane,
                                [program, "--chip", arguments.chip, "--inputs", inputs, "--values"])
    return document["steps"][0], cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sublane", default="build/sublane")
    parser.add_argument("--chip", default="v6e")
    arguments = parser.parse_args()
    print(f"on {arguments.chip}, one core (measured)")
    print("| kernel | bundles | of them vector | CPU s | M bundles/s | M vector bundles/s |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kernel, (body, kind, weights, trips) in KERNELS.items():
            program = folder / f"{kernel}.mlir"
            program.write_text(busy_program(body, kind, weights))
            run(arguments, program, folder, 1, (kind, weights))  # compiled, and in the cache
            (few, begin), (many, end) = [run(arguments, program, folder, n, (kind, weights)) for n in trips]
            bundles, vector = (many[k] - few[k] for k in ("bundles", "vector_bundles"))
            seconds = end - begin
            print(f"| {kernel} | {bundles:,} | {vector:,} | {seconds:.2f} | {bundles / seconds / 1e6:.2f} "
                  f"| {vector / seconds / 1e6:.2f} |")


if __name__ == "__main__":
    main()
