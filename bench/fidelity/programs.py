"""The programs of the comparison with libtpu's static profile, and those of measured rows that are plain JAX.

Each is a function of (chip, parameters) that gives (function, abstract arguments). They are ours: small, one idea each.
"""
import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

BF16, F32, I8, I32 = jnp.bfloat16, jnp.float32, jnp.int8, jnp.int32


def array(dtype, *shape):
    return jax.ShapeDtypeStruct(shape, dtype)


def pallas_matmul(bm, bk, bn, transpose_rhs=False, relu=False):
    """A blocked matmul with a float32 accumulator in VMEM: the structure of JAX's public tutorial, written anew."""
    contract = ((1,), (1,)) if transpose_rhs else ((1,), (0,))

    def kernel(x, y, out, acc):
        step = pl.program_id(2)

        @pl.when(step == 0)
        def _():
            acc[...] = jnp.zeros_like(acc)

        acc[...] += lax.dot_general(x[...], y[...], (contract, ((), ())), preferred_element_type=F32)

        @pl.when(step == pl.num_programs(2) - 1)
        def _():
            total = jnp.maximum(acc[...], 0) if relu else acc[...]
            out[...] = total.astype(out.dtype)

    def call(x, y):
        m, k = x.shape
        n = y.shape[0 if transpose_rhs else 1]
        rhs = (pl.BlockSpec((bn, bk), lambda i, j, k: (j, k)) if transpose_rhs
               else pl.BlockSpec((bk, bn), lambda i, j, k: (k, j)))
        return pl.pallas_call(
            kernel, out_shape=array(x.dtype, m, n), grid=(m // bm, n // bn, k // bk),
            in_specs=[pl.BlockSpec((bm, bk), lambda i, j, k: (i, k)), rhs],
            out_specs=pl.BlockSpec((bm, bn), lambda i, j, k: (i, j)),
            scratch_shapes=[pltpu.VMEM((bm, bn), F32)],
            compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")))(x, y)

    return call


def pallas_matmul_square(size, bm, bk, bn, **options):
    return pallas_matmul(bm, bk, bn, **options), [array(BF16, size, size)] * 2


def matmul(m, k, n, dtype="bf16"):
    kind = {"bf16": BF16, "f32": F32}[dtype]
    return (lambda x, y: x @ y), [array(kind, m, k), array(kind, k, n)]


def copy(elements):
    return (lambda x: jnp.copy(x)), [array(BF16, elements)]


def layer_norm(x, g, b):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * g + b


def rms_norm(x, g):
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g


def flash_attention(q, k, v):
    from jax.experimental.pallas.ops.tpu import flash_attention as public
    return public.flash_attention(q, k, v, causal=True)


def decode_layer(heads=8, kv_heads=4, head_dim=128, context=1024, batch=8, hidden=1024, inner=2816):
    """One token a sequence through attention over a contiguous cache and a gated MLP."""
    def step(x, wq, wk, wv, wo, w1, w2, w3, g1, g2, keys, values, position):
        h = rms_norm(x, g1)
        q = (h @ wq).reshape(batch, kv_heads, heads // kv_heads, head_dim)
        k = (h @ wk).reshape(batch, 1, kv_heads, head_dim)
        v = (h @ wv).reshape(batch, 1, kv_heads, head_dim)
        keys = lax.dynamic_update_slice(keys, k, (0, position, 0, 0))
        values = lax.dynamic_update_slice(values, v, (0, position, 0, 0))
        scores = jnp.einsum("bgqd,btgd->bgqt", q, keys, preferred_element_type=F32) * head_dim ** -0.5
        scores = jnp.where(jnp.arange(context) <= position, scores, -1e30)
        weights = jax.nn.softmax(scores, axis=-1).astype(BF16)
        x = x + jnp.einsum("bgqt,btgd->bgqd", weights, values).reshape(batch, heads * head_dim) @ wo
        h = rms_norm(x, g2)
        return x + (jax.nn.silu(h @ w1) * (h @ w3)) @ w2, keys, values

    width, cache = heads * head_dim, array(BF16, batch, context, kv_heads, head_dim)
    return step, [array(BF16, batch, hidden), array(BF16, hidden, width), array(BF16, hidden, kv_heads * head_dim),
                  array(BF16, hidden, kv_heads * head_dim), array(BF16, width, hidden), array(BF16, hidden, inner),
                  array(BF16, inner, hidden), array(BF16, hidden, inner), array(BF16, hidden), array(BF16, hidden),
                  cache, cache, array(I32)]


def scan_layers(layers, width, batch):
    return (lambda x, w: lax.scan(lambda h, wi: (jnp.tanh(h @ wi), None), x, w)[0],
            [array(BF16, batch, width), array(BF16, layers, width, width)])


def dynamic_loop():
    return (lambda n, x: lax.fori_loop(0, n[0], lambda i, a: a * 1.5 + x[i % 8], x[0]),
            [array(I32, 1), array(F32, 8, 256)])


def while_newton():
    def run(x):
        return lax.while_loop(lambda s: s[0] < 40, lambda s: (s[0] + 1, 0.5 * (s[1] + x / s[1])), (0, x))[1]
    return run, [array(F32, 512, 1024)]


def all_reduce(devices=4):
    """Sharded over `devices` along the contraction: the product needs one all-reduce."""
    return (lambda x, y: x @ y), [array(BF16, 1024, 4096), array(BF16, 4096, 1024)]


PROGRAMS = {
    "add_small": lambda: ((lambda x, y: x + y), [array(F32, 256, 512)] * 2),
    "add_16m": lambda: ((lambda x, y: x + y), [array(F32, 4096, 4096)] * 2),
    "gelu": lambda: (jax.nn.gelu, [array(BF16, 2048, 4096)]),
    "swiglu": lambda: ((lambda x, y: jax.nn.silu(x) * y), [array(BF16, 1024, 8192)] * 2),
    "exp_f32": lambda: (jnp.exp, [array(F32, 1024, 2048)]),
    "cast_i8": lambda: ((lambda x, s: (x.astype(F32) * s).astype(BF16)), [array(I8, 2048, 2048), array(F32, 2048)]),
    "copy_32m": lambda: copy(1 << 24),
    "matmul_256": lambda: matmul(256, 256, 256),
    "matmul_1024": lambda: matmul(1024, 1024, 1024),
    "matmul_2048": lambda: matmul(2048, 2048, 2048),
    "matmul_4096": lambda: matmul(4096, 4096, 4096),
    "matmul_f32": lambda: matmul(512, 512, 512, "f32"),
    "matmul_thin": lambda: matmul(8, 8192, 8192),
    "matmul_tall": lambda: matmul(8192, 512, 1024),
    "matmul_transposed": lambda: ((lambda x, y: lax.dot_general(x, y, (((1,), (1,)), ((), ())),
                                                                preferred_element_type=F32)),
                                  [array(BF16, 512, 1024), array(BF16, 768, 1024)]),
    "matmul_i8_weights": lambda: ((lambda x, w, s: (x @ w.astype(BF16)) * s),
                                  [array(BF16, 8, 4096), array(I8, 4096, 4096), array(BF16, 4096)]),
    "batched_matmul": lambda: ((lambda x, y: jnp.einsum("bij,bjk->bik", x, y)), [array(BF16, 16, 512, 512)] * 2),
    "softmax": lambda: ((lambda x: jax.nn.softmax(x, axis=-1)), [array(F32, 2048, 2048)]),
    "softmax_small": lambda: ((lambda x: jax.nn.softmax(x, axis=-1)), [array(F32, 64, 1000)]),
    "softmax_bf16": lambda: ((lambda x: jax.nn.softmax(x, axis=-1)), [array(BF16, 1024, 4096)]),
    "layer_norm": lambda: (layer_norm, [array(F32, 512, 768), array(F32, 768), array(F32, 768)]),
    "rms_norm": lambda: (rms_norm, [array(BF16, 2048, 2048), array(BF16, 2048)]),
    "reduce_rows": lambda: ((lambda x: x.sum(1)), [array(F32, 2048, 1024)]),
    "reduce_columns": lambda: ((lambda x: x.sum(0)), [array(F32, 2048, 1024)]),
    "reduce_max": lambda: ((lambda x: x.max(-1)), [array(BF16, 1024, 4096)]),
    "argmax": lambda: ((lambda x: jnp.argmax(x, axis=-1)), [array(F32, 64, 32768)]),
    "cumsum": lambda: ((lambda x: jnp.cumsum(x, axis=-1)), [array(F32, 64, 4096)]),
    "top_k": lambda: ((lambda x: lax.top_k(x, 8)), [array(F32, 64, 8192)]),
    "sort": lambda: ((lambda x: jnp.sort(x, axis=-1)), [array(F32, 128, 2048)]),
    "gather": lambda: ((lambda t, i: jnp.take(t, i, axis=0)), [array(BF16, 49152, 576), array(I32, 64)]),
    "transpose": lambda: ((lambda x: jnp.transpose(x) + 0), [array(F32, 1024, 2048)]),
    "transpose_bf16": lambda: ((lambda x: jnp.swapaxes(x, 0, 1) * 2), [array(BF16, 2048, 1024)]),
    "concatenate": lambda: ((lambda x, y: jnp.concatenate([x, y], axis=1)), [array(BF16, 1024, 384)] * 2),
    "pallas_matmul_512": lambda: pallas_matmul_square(4096, 512, 1024, 512),
    "pallas_matmul_128": lambda: pallas_matmul_square(512, 128, 128, 128),
    "pallas_matmul_relu": lambda: pallas_matmul_square(1024, 256, 512, 256, relu=True),
    "flash": lambda: (flash_attention, [array(BF16, 1, 4, 1024, 128)] * 3),
    "decode_layer": decode_layer,
    "scan_24": lambda: scan_layers(24, 512, 64),
    "dynamic_loop": dynamic_loop,
    "while_newton": while_newton,
    "all_reduce": all_reduce,
}
DEVICES = {"all_reduce": 4}  # more than one device: the mesh that `simulate` is given
PLAIN = {"matmul": matmul, "copy": copy, "pallas_matmul": pallas_matmul_square}


def build(name, parameters):
    """(function, abstract arguments) of a program by its name, or of a parametrised one of PLAIN."""
    return PLAIN[name](**parameters) if parameters else PROGRAMS[name]()
