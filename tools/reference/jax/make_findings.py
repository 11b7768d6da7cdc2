"""Writes the StableHLO programs that the findings are tested on: for each rule one that has the fault, and one of
the same task without it. tests/findings/programs/expected.txt says which rules hold for which program.

Needs jax==0.10.2 (no TPU, no libtpu):  python tools/reference/jax/make_findings.py tests/findings/programs [NAME...]
The files are committed, so that the tests need no Python.
"""

import functools
import pathlib
import re
import sys

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

BF16, F32, I32 = jnp.bfloat16, jnp.float32, jnp.int32


def shape(dims, dtype=BF16):
    return jax.ShapeDtypeStruct(dims, dtype)


PROGRAMS = {}


def program(name, arguments, donate=()):
    """Names a function (`rule.fires`, `rule.silent`) and the shapes that it is lowered for."""
    def keep(function):
        PROGRAMS[name] = (function, arguments, donate)
        return function
    return keep


# ---- buffers

CACHE, ROW, QUERY = shape((8, 8, 2048, 128)), shape((8, 8, 1, 128)), shape((8, 8, 1, 128))


def attend(query, cache):
    scores = jnp.einsum("bhqd,bhkd->bhqk", query, cache, preferred_element_type=F32)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores).astype(BF16), cache)


@program("whole_copies.fires", [CACHE, ROW, shape((), I32), QUERY], donate=(0,))
def reads_the_old_cache_after_the_update(cache, row, position, query):
    updated = lax.dynamic_update_slice(cache, row, (0, 0, position, 0))
    first = attend(query, updated)
    return updated, attend(first, cache)


@program("whole_copies.silent", [CACHE, ROW, shape((), I32), QUERY], donate=(0,))
def reads_only_the_updated_cache(cache, row, position, query):
    updated = lax.dynamic_update_slice(cache, row, (0, 0, position, 0))
    return updated, attend(attend(query, updated), updated)


@program("whole_copies_loop.fires", [shape((4, 8, 8, 1024, 128)), shape((4, 8, 8, 1, 128)), shape((), I32), QUERY],
         donate=(0,))
def caches_as_scanned_inputs_and_outputs(caches, rows, position, query):
    """The scan cuts each layer's cache out, and stacks the new ones into another buffer."""
    def step(query, layer):
        cache, row = layer
        cache = lax.dynamic_update_slice(cache, row, (0, 0, position, 0))
        return attend(query, cache), cache
    query, caches = lax.scan(step, query, (caches, rows))
    return caches, query


LARGE = shape((16, 8, 8192, 128))  # more than the VMEM holds


@program("missed_donation.fires", [LARGE, shape((16, 8, 1, 128)), shape((), I32), shape((16, 8, 1, 128))])
def updates_a_cache_that_is_not_donated(cache, row, position, query):
    updated = lax.dynamic_update_slice(cache, row, (0, 0, position, 0))
    return updated, attend(query, updated)


@program("missed_donation.silent", [LARGE, shape((16, 8, 1, 128)), shape((), I32), shape((16, 8, 1, 128))],
         donate=(0,))
def updates_a_donated_cache(cache, row, position, query):
    updated = lax.dynamic_update_slice(cache, row, (0, 0, position, 0))
    return updated, attend(query, updated)


@program("unused_outputs.fires", [shape((2048, 2048)), shape((256, 2048))])
def returns_its_weights(weights, x):
    return x @ weights, weights


@program("unused_outputs.silent", [shape((2048, 2048)), shape((256, 2048))])
def returns_its_result(weights, x):
    return x @ weights


@program("unused_outputs_twice.fires", [shape((4096, 4096)), shape((4096, 4096))])
def returns_a_result_twice(x, y):
    total = x + y
    return total, total


# ---- layouts

@program("relayouts_weight.silent", [shape((8, 1024)), shape((1024, 16, 192))])
def flattens_heads_of_a_weight(x, weight):
    return x @ weight.reshape(1024, 16 * 192)


@program("whole_copies_layout.fires", [shape((64, 1024, 8, 128)), shape((64, 1024, 8, 128))])
def adds_in_another_order(x, y):
    """Both arguments are laid out anew first."""
    return jnp.transpose(x + y, (0, 3, 2, 1))


@program("tile_padding.fires", [shape((9, 129, 129, 129), F32), shape((9, 129, 129, 129), F32)])
def adds_with_half_the_lanes(x, y):
    return x * y + x


@program("tile_padding.silent", [shape((9, 129, 128, 128), F32), shape((9, 129, 128, 128), F32)])
def adds_with_all_lanes(x, y):
    return x * y + x


@program("tile_padding_heads.silent", [shape((8, 8, 2048, 40)), shape((8, 8, 1, 40))])
def attends_with_heads_of_40(cache, query):
    return attend(query, cache)


# ---- types

@program("wide_weights.fires", [shape((64, 2048), F32), shape((2048, 4096), F32)])
def multiplies_f32(x, weights):
    return x @ weights


@program("wide_weights.silent", [shape((64, 2048)), shape((2048, 4096))])
def multiplies_bf16(x, weights):
    return x @ weights


@program("wide_weights_exact.silent", [shape((64, 2048), F32), shape((2048, 4096), F32)])
def multiplies_f32_as_f32(x, weights):
    return jnp.dot(x, weights, precision=lax.Precision.HIGHEST)


@program("converted_weights.fires", [shape((64, 2048)), shape((2048, 4096), F32)])
def converts_its_weights(x, weights):
    return x @ weights.astype(BF16)


@program("converted_weights.silent", [shape((64, 2048)), shape((2048, 4096), jnp.int8)])
def widens_int8_weights(x, weights):
    return x @ weights.astype(BF16)


# ---- work that need not be done

@program("recomputed_constants.fires", [shape((1, 4096, 1, 128))])
def rotary_tables_in_the_step(x):
    position = jnp.arange(4096, dtype=F32)[:, None]
    frequency = 10000.0 ** (-jnp.arange(64, dtype=F32) / 64)
    angle = position * frequency
    cos, sin = jnp.cos(angle)[None, :, None, :], jnp.sin(angle)[None, :, None, :]
    a, b = jnp.split(x.astype(F32), 2, axis=-1)
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1).astype(BF16)


@program("recomputed_constants.silent", [shape((1, 4096, 1, 128)), shape((4096, 64), F32), shape((4096, 64), F32)])
def rotary_tables_as_arguments(x, cos, sin):
    a, b = jnp.split(x.astype(F32), 2, axis=-1)
    cos, sin = cos[None, :, None, :], sin[None, :, None, :]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1).astype(BF16)


@program("read_twice.fires", [shape((8, 8192)), shape((8, 8192)), shape((8192, 16384))])
def two_products_with_one_weight(x, y, weights):
    return jax.nn.softmax(x @ weights), jnp.argmax(y @ weights, axis=-1)


@program("read_twice.silent", [shape((16, 8192)), shape((8192, 16384))])
def one_product_with_one_weight(x, weights):
    both = x @ weights
    return jax.nn.softmax(both[:8]), jnp.argmax(both[8:], axis=-1)


@program("row_by_row.fires", [shape((8192, 256)), shape((1024,), I32), shape((1024, 256))], donate=(0,))
def scatters_rows(table, rows, values):
    return table.at[rows].set(values)


@program("row_by_row_gather.fires", [shape((32000, 256)), shape((1024,), I32)])
def gathers_rows(table, rows):
    return table[rows]


@program("row_by_row.silent", [shape((512, 128, 8, 128)), shape((64,), I32)])
def gathers_pages(table, pages):
    return table[pages]


@program("small_operations.fires", [shape((8, 256), F32)])
def many_small_sorts(x):
    for i in range(12):
        x = jnp.sort(x, axis=-1) * (1 + jnp.cumsum(x, axis=-1)[:, ::-1])
    return x


@program("sliced_in_loop.silent", [shape((64, 1024)), shape((6, 1024, 1024)), shape((6, 1024, 1024))])
def products_read_a_layers_slice(x, up, down):
    def step(x, layer):
        w, v = layer
        return jnp.tanh(jax.nn.relu(x @ w) @ v), None
    return lax.scan(step, x, (up, down))[0]


@program("small_operations.silent", [shape((2048, 4096)), shape((2048, 4096))])
def few_large_operations(x, y):
    return jnp.exp(x) * y, jnp.sum(x.astype(F32) + y, axis=-1)


# ---- four devices

MESH = jax.sharding.AbstractMesh((4,), ("x",))
SPLIT = jax.sharding.PartitionSpec("x")


@program("exposed_collectives.fires", [shape((4096, 1024), F32)])
def adds_over_the_devices(x):
    return jax.shard_map(lambda part: lax.psum(jnp.tanh(part), "x"), mesh=MESH, in_specs=SPLIT,
                         out_specs=jax.sharding.PartitionSpec())(x)


@program("exposed_collectives.silent", [shape((16384, 4096)), shape((4096, 4096))])
def adds_little_over_the_devices(x, weights):
    def body(part, weights):
        return lax.psum(jnp.sum((part @ weights).astype(F32), axis=0)[:128], "x")
    return jax.shard_map(body, mesh=MESH, in_specs=(SPLIT, jax.sharding.PartitionSpec()),
                         out_specs=jax.sharding.PartitionSpec())(x, weights)


# ---- kernels

BLOCKS, BLOCK = 64, (256, 1024)


def weigh(x):
    return jnp.tanh(x * 0.5) * x + jnp.exp(x * 0.25)


def manual_kernel(buffers):
    """Sums weigh(block) over blocks that it copies itself, with one buffer or two."""
    def body(x, out, scratch, flags):
        def copy(i):
            slot = i % buffers
            return pltpu.make_async_copy(x.at[i], scratch.at[slot], flags.at[slot])

        def step(i, total):
            if buffers == 1:
                copy(i).start()
            else:
                @pl.when(i + 1 < BLOCKS)
                def _():
                    copy(i + 1).start()
            copy(i).wait()
            return total + weigh(scratch[i % buffers])

        if buffers == 2:
            copy(0).start()
        out[...] = lax.fori_loop(0, BLOCKS, step, jnp.zeros(BLOCK, F32))

    def run(x):
        return pl.pallas_call(
            body, out_shape=shape(BLOCK, F32), in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
            scratch_shapes=[pltpu.VMEM((buffers, *BLOCK), F32), pltpu.SemaphoreType.DMA((buffers,))])(x)
    return run


program("single_buffered.fires", [shape((BLOCKS, *BLOCK), F32)])(manual_kernel(1))
program("single_buffered.silent", [shape((BLOCKS, *BLOCK), F32)])(manual_kernel(2))


def doubled(x, out):
    out[...] = x[...] + x[...]


def blocked(dims, block, index, grid, body=doubled, dtype=BF16):
    """`body` over blocks of one array."""
    spec = pl.BlockSpec(block, index)

    def run(x):
        return pl.pallas_call(body, out_shape=shape(dims, dtype), grid=grid, in_specs=[spec], out_specs=spec)(x)
    return run


program("small_pieces_grid.fires", [shape((16384, 128), F32)])(
    blocked((16384, 128), (8, 128), lambda i: (i, 0), (2048,), dtype=F32))
program("scalar_bound.silent", [shape((16384, 128), F32)])(
    blocked((16384, 128), (2048, 128), lambda i: (i, 0), (8,), dtype=F32))


@program("relayouts.fires", [shape((64, 2048, 1024))])
def turns_what_a_kernel_gives(x):
    dims = (64, 2048, 1024)
    return jnp.swapaxes(blocked(dims, (1, 1024, 1024), lambda i, j: (i, j, 0), (64, 2))(x), 1, 2)


@program("relayouts.silent", [shape((64, 2048, 1024))])
def takes_what_a_kernel_gives(x):
    dims = (64, 2048, 1024)
    return blocked(dims, (1, 1024, 1024), lambda i, j: (i, j, 0), (64, 2))(x) * 2


def by_pieces(contiguous):
    """Doubles 16 blocks that it copies itself: each one piece, or each 4096 pieces of 512 bytes."""
    def body(x, out, scratch, flags):
        def copy(i):
            return pltpu.make_async_copy(x.at[i] if contiguous else x.at[:, i], scratch.at[i % 2], flags.at[i % 2])
        out[...] = jnp.zeros(out.shape, out.dtype)
        copy(0).start()

        def step(i, nothing):
            @pl.when(i + 1 < 16)
            def _():
                copy(i + 1).start()
            copy(i).wait()
            out[...] += scratch[i % 2, :8]
            return nothing
        lax.fori_loop(0, 16, step, 0)

    def run(x):
        return pl.pallas_call(
            body, out_shape=shape((8, 2, 128)), in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
            scratch_shapes=[pltpu.VMEM((2, 4096, 2, 128), BF16), pltpu.SemaphoreType.DMA((2,))])(x)
    return run


program("small_pieces.fires", [shape((4096, 16, 2, 128))])(by_pieces(False))
program("small_pieces.silent", [shape((16, 4096, 2, 128))])(by_pieces(True))


def rows_by_index(ids, x, out):
    """A row at a time, by an index that the scalar unit reads."""
    def step(i, nothing):
        out[pl.ds(i, 1), :] = x[pl.ds(ids[ids[i]], 1), :]
        return nothing
    lax.fori_loop(0, 4096, step, 0)


@program("scalar_bound.fires", [shape((4096,), I32), shape((4096, 128), F32)])
def takes_rows_by_index(ids, x):
    return pl.pallas_call(rows_by_index, out_shape=shape((4096, 128), F32),
                          in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pltpu.VMEM)],
                          out_specs=pl.BlockSpec(memory_space=pltpu.VMEM))(ids, x)


def chain(x, out):
    def step(i, y):
        return y / (1 + jnp.sum(y, axis=1, keepdims=True))
    out[...] = lax.fori_loop(0, 1024, step, x[...])


def chains(x, out):
    """48 registers that need nothing of each other."""
    out[...] = lax.fori_loop(0, 1024, lambda i, y: jnp.exp(y * -0.5), x[...])


def alive(count):
    """Values that a loop carries in registers of their own: 64 are all that there are."""
    def body(x, out):
        def step(i, carry):
            return tuple(carry[k] * 0.99 + carry[(k + 1) % count] * 0.01 for k in range(count))
        made = lax.fori_loop(0, 256, step, tuple(x[8 * k:8 * k + 8] for k in range(count)))
        for k in range(count):
            out[8 * k:8 * k + 8] = made[k]
    return whole((8 * count, 128), body)


def whole(dims, body):
    def run(x):
        return pl.pallas_call(body, out_shape=shape(dims, F32))(x)
    return run


program("latency_bound.fires", [shape((8, 128), F32)])(whole((8, 128), chain))
program("latency_bound.silent", [shape((384, 128), F32)])(whole((384, 128), chains))
program("spills.fires", [shape((8 * 96, 128), F32)])(alive(96))
program("spills.silent", [shape((8 * 24, 128), F32)])(alive(24))


def attention_block(q, k, v, out, top, total, acc):
    """One block of an online softmax."""
    @pl.when(pl.program_id(1) == 0)
    def _():
        top[...] = jnp.full(top.shape, -1e30, F32)
        total[...] = jnp.zeros(total.shape, F32)
        acc[...] = jnp.zeros(acc.shape, F32)
    scores = lax.dot_general(q[...], k[...], (((1,), (1,)), ((), ())), preferred_element_type=F32)
    highest = jnp.maximum(top[...], jnp.max(scores, axis=1, keepdims=True))
    weights = jnp.exp(scores - highest[:, :1])
    scale = jnp.exp(top[...] - highest)
    total[...] = total[...] * scale + jnp.sum(weights, axis=1, keepdims=True)
    acc[...] = acc[...] * scale[:, :1] + jnp.dot(weights.astype(BF16), v[...], preferred_element_type=F32)
    top[...] = highest
    out[...] = (acc[...] / total[...][:, :1]).astype(BF16)


@program("mxu_idle.fires", [shape((2048, 128)), shape((2048, 128)), shape((2048, 128))])
def attends_by_small_blocks(q, k, v):
    rows, keys = pl.BlockSpec((128, 128), lambda i, j: (i, 0)), pl.BlockSpec((128, 128), lambda i, j: (j, 0))
    wide = pltpu.VMEM((128, 128), F32)
    return pl.pallas_call(attention_block, out_shape=shape((2048, 128)), grid=(16, 16), in_specs=[rows, keys, keys],
                          out_specs=rows, scratch_shapes=[wide, wide, wide])(q, k, v)


@program("mxu_idle.silent", [shape((2048, 2048)), shape((2048, 2048))])
def multiplies_by_large_blocks(x, y):
    def body(x, y, out):
        out[...] = jnp.dot(x[...], y[...], preferred_element_type=F32)
    return pl.pallas_call(body, out_shape=shape((2048, 2048), F32), grid=(4, 4),
                          in_specs=[pl.BlockSpec((512, 2048), lambda i, j: (i, 0)),
                                    pl.BlockSpec((2048, 512), lambda i, j: (0, j))],
                          out_specs=pl.BlockSpec((512, 512), lambda i, j: (i, j)))(x, y)


def marked(marks):
    """The same work with trace markers around each small part of it, or with none."""
    def body(x, out):
        def step(i, y):
            for part in range(6):
                if marks:
                    with jax.named_scope(f"part{part}"):
                        y = y * 0.99 + x[...] * 0.01
                else:
                    y = y * 0.99 + x[...] * 0.01
            return y
        out[...] = lax.fori_loop(0, 512, step, x[...])
    return whole((64, 128), body)


program("trace_marks.fires", [shape((64, 128), F32)])(marked(True))
program("trace_marks.silent", [shape((64, 128), F32)])(marked(False))


def main(folder, only):
    jax.config.update("jax_use_shardy_partitioner", False)  # libtpu takes what the other one writes as it is
    out = pathlib.Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    for name, (function, arguments, donated) in PROGRAMS.items():
        if only and name not in only:
            continue
        traced = jax.jit(function, donate_argnums=donated, keep_unused=True).trace(*arguments)
        text = traced.lower(lowering_platforms=("tpu",)).as_text(debug_info=True)
        if "collectives" in name:  # an abstract mesh leaves it at one
            text = text.replace("mhlo.num_partitions = 1 ", f"mhlo.num_partitions = {MESH.size} ")
        (out / f"{name}.mlir").write_text(re.sub(r'"[^"]*/(make_findings\.py)"', r'"\1"', text))


if __name__ == "__main__":
    main(sys.argv[1], set(sys.argv[2:]))
