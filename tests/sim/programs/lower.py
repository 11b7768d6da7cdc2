"""Lowers the programs of values_plugin_test.cc: python lower.py FOLDER (needs jax; only to change a program).

Each becomes NAME.mlir (StableHLO). A kernel that the CPU cannot run has NAME.reference.mlir beside it, plain
operations with the same result.
"""
import sys

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

F32, BF16, S8, S32 = jnp.float32, jnp.bfloat16, jnp.int8, jnp.int32


def shape(dims, dtype):
    return jax.ShapeDtypeStruct(dims, dtype)


def dot(x, y, contract=((1,), (0,))):
    return lax.dot_general(x, y, (contract, ((), ())), preferred_element_type=F32)


def flash_kernel(q, k, v, o, m, l, acc):
    """One block of queries against one block of keys; the running maximum, sum and output stay in VMEM."""
    step = pl.program_id(2)

    @pl.when(step == 0)
    def _():
        m[...] = jnp.full_like(m, -1e30)
        l[...] = jnp.zeros_like(l)
        acc[...] = jnp.zeros_like(acc)

    s = dot(q[0], k[0], ((1,), (1,)))
    row = pl.program_id(1) * q.shape[1] + lax.broadcasted_iota(S32, s.shape, 0)
    column = step * k.shape[1] + lax.broadcasted_iota(S32, s.shape, 1)
    s = jnp.where(column <= row, s, -1e30)
    largest = jnp.maximum(m[...], s.max(axis=1, keepdims=True))
    shrink = jnp.exp(m[...] - largest)
    p = jnp.exp(s - largest[:, :1])
    l[...] = l[...] * shrink + p.sum(axis=1, keepdims=True)
    acc[...] = acc[...] * shrink + dot(p.astype(BF16), v[0])
    m[...] = largest

    @pl.when(step == pl.num_programs(2) - 1)
    def _():
        o[0] = (acc[...] / l[...]).astype(o.dtype)


def flash(q, k, v):
    heads, length, depth = q.shape
    block = 128
    queries = pl.BlockSpec((1, block, depth), lambda h, i, j: (h, i, 0))
    keys = pl.BlockSpec((1, block, depth), lambda h, i, j: (h, j, 0))
    return pl.pallas_call(
        flash_kernel,
        out_shape=shape(q.shape, BF16),
        grid=(heads, length // block, length // block),
        in_specs=[queries, keys, keys],
        out_specs=queries,
        scratch_shapes=[pltpu.VMEM((block, 128), F32) for _ in range(2)] + [pltpu.VMEM((block, depth), F32)],
    )(q, k, v)


def flash_reference(q, k, v):
    s = jnp.einsum("hqd,hkd->hqk", q, k, preferred_element_type=F32)
    s = jnp.where(jnp.tril(jnp.ones(s.shape[1:], bool)), s, -1e30)
    p = jax.nn.softmax(s, -1)
    return jnp.einsum("hqk,hkd->hqd", p, v.astype(F32), precision="highest").astype(BF16)


def layer_norm(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * scale + shift


def softmax_parts(x):
    """With what its operations compute, so that a fault is seen where it is."""
    largest = x.max(-1, keepdims=True)
    total = jnp.exp(x - largest).sum(-1, keepdims=True)
    return largest, total, jnp.exp(x - largest) / total


def layer_norm_parts(x, scale, shift):
    total, n = x.sum(-1, keepdims=True), x.shape[-1]
    squares = ((x - total / n) ** 2).sum(-1, keepdims=True)
    return total, squares, (x - total / n) * lax.rsqrt(squares / n + 1e-5) * scale + shift


def elementwise(x, y):
    return x * y - x, jnp.where(x > y, x, y * 2), jnp.abs(x) + 1, jnp.maximum(x, y)


def transcendental(x, y):
    return jnp.exp(x), jnp.log(jnp.abs(y) + 1), jnp.tanh(x), lax.rsqrt(jnp.abs(y) + 1), lax.logistic(x), jnp.sin(y)


def integers(x, y):
    return x * y - x, x & y, x ^ y, lax.shift_right_arithmetic(x, jnp.full_like(x, 3)), jnp.maximum(x, y), lax.div(x, y)


def rotate(x, y, by):
    return (x << by) | lax.shift_right_logical(y, jnp.full_like(y, 32 - by))


def rotations(x, y):  # by whole bytes: masks of parts of words
    return rotate(x, x, 8), rotate(x, y, 16), rotate(x, x, 24), rotate(y, y, 16) ^ (x + y)


def loop(count, x):
    return lax.fori_loop(0, count[0], lambda i, a: a * 0.5 + x[i % 8], x[0])


def until(limit, x):
    """Adds until the sum is large enough: every step's end depends on vector work."""
    return lax.while_loop(lambda s: s[1].sum() < limit[0], lambda s: (s[0] + 1, s[1] + x), (0, x))


def permutations(x):
    """A product with a permutation matrix after another, thousands of times: exact."""
    n = x.shape[1]
    w = (lax.broadcasted_iota(S32, (n, n), 0) == (lax.broadcasted_iota(S32, (n, n), 1) * 5 + 3) % n).astype(BF16)
    return lax.fori_loop(0, 5001, lambda i, a: dot(a, w).astype(BF16), x)


def paged_kernel(pages, lengths, q, cache, o, buffer, semaphore):
    """Sums over a sequence's pages, fetched one by one by a table, with a semaphore each."""
    row = pl.program_id(0)
    length = lengths[row]

    def fetch(page, slot):
        return pltpu.make_async_copy(cache.at[pages[row * 4 + page]], buffer.at[slot], semaphore.at[slot])

    fetch(0, 0).start()
    o[0] = jnp.zeros_like(o[0])

    def body(page, _):
        @pl.when(page + 1 < length)
        def _():
            fetch(page + 1, (page + 1) % 2).start()

        fetch(page, page % 2).wait()
        o[0] += dot(q[0], buffer[page % 2], ((1,), (1,)))

    lax.fori_loop(0, length, body, None)


def paged(pages, lengths, q, cache):
    return pl.pallas_call(
        paged_kernel,
        out_shape=shape((q.shape[0], q.shape[1], cache.shape[1]), F32),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=2,
            grid=(q.shape[0],),
            in_specs=[pl.BlockSpec((1,) + q.shape[1:], lambda i, *_: (i, 0, 0)), pl.BlockSpec(memory_space=pl.ANY)],
            out_specs=pl.BlockSpec((1, q.shape[1], cache.shape[1]), lambda i, *_: (i, 0, 0)),
            scratch_shapes=[pltpu.VMEM((2,) + cache.shape[1:], cache.dtype), pltpu.SemaphoreType.DMA((2,))],
        ),
    )(pages, lengths, q, cache)


def paged_reference(pages, lengths, q, cache):
    chosen = cache[pages.reshape(-1, 4)].astype(F32)
    chosen = jnp.where((jnp.arange(4) < lengths[:, None])[..., None, None], chosen, 0)
    return jnp.einsum("bqd,bpkd->bqk", q.astype(F32), chosen, precision="highest")


PROGRAMS = {
    "elementwise_f32": (elementwise, [((64, 256), F32)] * 2),
    "elementwise_bf16": (lambda x, y: (x + y, jnp.maximum(x, y)), [((64, 256), BF16)] * 2),
    "integers": (integers, [((64, 256), S32)] * 2),
    "rotations": (rotations, [((64, 256), S32)] * 2),
    "transcendental": (transcendental, [((64, 256), F32)] * 2),
    "reductions": (lambda x: (x.sum(0), x.sum(1), x.max(1), x.argmax(1), x.min((0, 1))), [((60, 200), F32)]),
    "softmax": (lambda x: jax.nn.softmax(x, -1), [((64, 1000), F32)]),
    "layer_norm": (layer_norm, [((128, 768), F32), ((768,), F32), ((768,), F32)]),
    "softmax_parts": (softmax_parts, [((64, 1000), F32)]),
    "layer_norm_parts": (layer_norm_parts, [((128, 768), F32), ((768,), F32), ((768,), F32)]),
    "matmul_bf16": (dot, [((64, 512), BF16), ((512, 384), BF16)]),
    "matmul_f32": (dot, [((64, 512), F32), ((512, 384), F32)]),
    "matmul_f32_rounded": (dot, [((64, 384), F32), ((384, 256), F32)]),
    "matmul_transposed": (lambda x, y: dot(x, y, ((0,), (1,))), [((512, 64), BF16), ((384, 512), BF16)]),
    "matmul_int8": (lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ())), preferred_element_type=S32),
                    [((64, 512), S8), ((512, 384), S8)]),
    "unpack_int8": (lambda x, w, s: (x @ w.astype(BF16)) * s, [((8, 512), BF16), ((512, 512), S8), ((512,), BF16)]),
    "transpose": (lambda x: x.T * 2, [((256, 384), F32)]),
    "gather": (lambda t, i: jnp.take(t, i, axis=0), [((1000, 576), BF16), ((64,), S32)]),
    "sort": (lambda x: lax.top_k(x, 8), [((16, 1024), F32)]),
    "loop": (loop, [((1,), S32), ((8, 256), F32)]),
    "until": (until, [((1,), F32), ((8, 128), F32)]),
    "permutations": (permutations, [((16, 128), BF16)]),
    "scan": (lambda x, w: lax.scan(lambda h, m: (jnp.tanh(dot(h, m)).astype(BF16), None), x, w)[0],
             [((64, 256), BF16), ((6, 256, 256), BF16)]),
    "flash": (flash, [((2, 512, 128), BF16)] * 3, flash_reference),
    "paged": (paged, [((12,), S32), ((3,), S32), ((3, 16, 128), BF16), ((16, 128, 128), BF16)], paged_reference),
}


def main(folder):
    for name, (function, arguments, *reference) in PROGRAMS.items():
        arguments = [shape(*argument) for argument in arguments]
        for suffix, f in [("", function)] + [(".reference", r) for r in reference]:
            platform = "tpu" if reference and not suffix else "cpu"
            lowered = jax.jit(f, keep_unused=True).trace(*arguments).lower(lowering_platforms=(platform,))
            with open(f"{folder}/{name}{suffix}.mlir", "w") as file:
                file.write(lowered.as_text())


if __name__ == "__main__":
    # Kernels carry the path of their source: let it be the name alone.
    scope = {"__name__": "lower"}
    exec(compile(open(__file__).read(), "lower.py", "exec"), scope)
    scope["main"](sys.argv[1])
