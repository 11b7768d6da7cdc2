#!/usr/bin/env python3
"""Lowers rows to StableHLO text for a chip that isn't there. Runs in the bench's own virtual environment (see run.py).

    lower.py CACHE < rows.jsonl      one JSON row a line; one line of progress a row on stdout

Each row gets CACHE/<row's folder>/program.mlir, inputs.npz where the program needs real values, and lower.json, which says
either how long it took or why it failed. A failure never stops the rows after it.
"""
import json
import pathlib
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tpu_target import Target

import jax
import numpy as np


def lower_plain(row, target):
    import programs
    spec = row["program"]
    function, arguments = programs.build(spec["name"], spec.get("parameters"))
    if spec["name"] in programs.DEVICES:
        return lower_sharded(function, arguments, target), None
    return target.lower(function, arguments), None


def lower_sharded(function, arguments, target):
    """Both operands split along the contraction, the result whole: one all-reduce."""
    mesh = jax.sharding.Mesh(np.array(target.devices), ("x",))
    def split(shape, *axes):
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes))
        return jax.ShapeDtypeStruct(shape.shape, shape.dtype, sharding=sharding)
    whole = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    x, y = arguments
    return jax.jit(function, out_shardings=whole).lower(split(x, None, "x"), split(y, "x", None))


def tokamax_op(name):
    """The op object that the tuning cache's file of this name is about."""
    from tokamax._src.ops.attention import api as attention
    from tokamax._src.ops.linear_softmax_cross_entropy_loss import api as loss
    from tokamax._src.ops.ragged_dot import api as ragged
    def of(table, *names):
        found = [table[n] for n in names if n in table]
        if not found:
            raise NotImplementedError(f"this tokamax has no {name}")
        return found[0]
    return {
        "pallas_mosaic_tpu_flash_attention": lambda: of(attention.IMPLEMENTATIONS, "mosaic_tpu"),
        "dot_product_attention": lambda: of(attention.IMPLEMENTATIONS, "xla"),
        "xla_chunked_dot_product_attention": lambda: of(attention.IMPLEMENTATIONS, "xla_chunked"),
        "pallas_mosaic_tpu_ragged_dot": lambda: of(ragged.IMPLEMENTATIONS, "mosaic", "mosaic_tpu"),
        "ragged_dot": lambda: of(ragged.IMPLEMENTATIONS, "xla"),
        "linear_softmax_cross_entropy_loss": lambda: of(loss.IMPLEMENTATIONS, "xla"),
        "chunked_xla_linear_softmax_cross_entropy_loss": lambda: of(loss.IMPLEMENTATIONS, "chunked_xla"),
    }[name]()


def dtype_of(text):
    return text.split("[")[0]


def lower_tokamax(row, target):
    """The op as tokamax's own benchmark calls it: its arguments, its configuration, arrays as arguments of the jit. Group
    sizes are constants there, so that no input is needed."""
    import pydantic
    from tokamax._src import benchmarking
    from tokamax._src.ops import op as op_lib
    spec = row["program"]
    op, arguments = tokamax_op(spec["op"]), dict(spec["args"])
    if "q" in arguments:  # what "default" is on a TPU; tokamax asks the host, which here is a CPU
        preset = {"bf16": "BF16_BF16_F32", "f16": "BF16_BF16_F32", "f32": "BF16_BF16_F32"}[dtype_of(arguments["q"])]
        arguments["precision"] = [preset, preset]
    model = op_lib._get_arg_spec_adapter(op)
    values = getattr(model, "_impl", model).validate_json(json.dumps(arguments))
    config = pydantic.TypeAdapter(op.config_cls).validate_json(json.dumps(spec["config"]))
    op = op.replace(config=config)
    type(op).supported_on = lambda self, device: True  # it would ask this host
    bound = op_lib.BoundArguments(op, values)
    function, arrays = benchmarking.standardize_function(op, *bound.args, kwargs=bound.kwargs, seed=None)
    return target.lower(function, [arrays]), None


def lower_sglang(row, target):
    import sglang_rows
    return sglang_rows.lower(row["program"], target)


def lower_tpu_inference(row, target):
    """tpu-inference's quantised matmul with given blocks. Its package initialiser wants a server: a stand-in takes its place."""
    import importlib.util
    import logging
    import types
    import jax.numpy as jnp
    if "tpu_inference" not in sys.modules:
        parent, log = types.ModuleType("tpu_inference"), types.ModuleType("tpu_inference.logger")
        parent.__path__ = list(importlib.util.find_spec("tpu_inference").submodule_search_locations)
        logging.Logger.warning_once = logging.Logger.warning
        log.init_logger = logging.getLogger
        sys.modules.update({"tpu_inference": parent, "tpu_inference.logger": log})
    from tpu_inference.kernels.quantized_matmul import kernel, tuned_block_sizes
    tuned_block_sizes.get_tpu_version = lambda: {"v5e": 5, "v6e": 6, "tpu7x": 7}[row["chip"]]
    spec = row["program"]
    tuned = tuned_block_sizes.TunedValue(*spec["blocks"])
    def call(x, w, scale):
        return kernel.quantized_matmul_kernel(x, w, scale, x_q_dtype=jnp.int8, tuned_value=tuned)
    shape = jax.ShapeDtypeStruct
    return target.lower(call, [shape((spec["batch"], spec["width"]), jnp.bfloat16), shape((spec["out"], spec["width"]), jnp.int8),
                               shape((spec["out"],), jnp.float32)]), None


KINDS = {"plain": lower_plain, "tokamax": lower_tokamax, "sglang": lower_sglang, "tpu_inference": lower_tpu_inference}


def main():
    cache, targets = pathlib.Path(sys.argv[1]), {}
    for line in sys.stdin:
        row = json.loads(line)
        folder = cache / row["folder"]
        folder.mkdir(parents=True, exist_ok=True)
        start, note = time.time(), {"key": row["key"], "jax": jax.__version__}
        try:
            where = (row["chip"], row["program"].get("devices", 1))
            if where not in targets:
                targets[where] = Target(*where)
            lowered, inputs = KINDS[row["program"]["kind"]](row, targets[where])
            # A timed kernel is found by its name, which is in the locations.
            (folder / "program.mlir").write_text(lowered.as_text(debug_info=bool(row.get("scope"))))
            if inputs:
                np.savez(folder / "inputs.npz", **{str(k): v for k, v in inputs.items()})
            note.update(ok=True)
        except Exception as error:  # noqa: BLE001: whatever a public kernel raises is that row's reason
            where = traceback.extract_tb(error.__traceback__)[-1]
            note.update(ok=False, reason=f"{type(error).__name__}: {str(error).strip()[:300]}", at=f"{pathlib.Path(where.filename).name}:{where.lineno}")
        note["seconds"] = round(time.time() - start, 2)
        (folder / "lower.json").write_text(json.dumps(note, indent=1) + "\n")
        print(json.dumps(note), flush=True)


if __name__ == "__main__":
    main()
