"""Writes the StableHLO files that tests/report explains, from small JAX functions.

Needs jax==0.10.2 (no TPU, no libtpu):  python tools/reference/jax/make_stablehlo.py tests/report/stablehlo
The files are committed, so that the tests need no Python. Run again only to change a function.
"""

import pathlib
import re
import sys

import jax
import jax.numpy as jnp
from jax import lax


def mlp_softmax(x, w_in, w_out):
    """Two matrix products, an activation between them, and a softmax."""
    with jax.named_scope("layer.0/mlp.up"):
        hidden = jax.nn.silu(x @ w_in)
    with jax.named_scope("layer.0/mlp.down"):
        scores = hidden @ w_out
    with jax.named_scope("softmax"):
        return jax.nn.softmax(scores.astype(jnp.float32), axis=-1)


def scan_24(x, weights):
    """24 times (256x512 @ 512x512, then tanh), as a loop over stacked weights."""
    def step(carry, weight):
        return jnp.tanh(carry @ weight), None
    return lax.scan(step, x, weights)[0]


def unrolled_24(x, weights):
    """The same arithmetic as scan_24, written out."""
    for layer in range(24):
        x = jnp.tanh(x @ weights[layer])
    return x


def gather_top_k_sort(table, ids, scores):
    """Rows by index, the 16 best of each row, and a whole sort."""
    rows = table[ids]
    best, where = lax.top_k(scores, 16)
    return rows, best, where, jnp.sort(scores, axis=-1)


def scan_cache(cache, rows, position):
    """Eight layers, each writing one row into its own page of a donated cache and reading it all."""
    def step(carry, layer):
        cache, total = carry
        row = rows[layer][None, :, None, :]
        cache = lax.dynamic_update_slice(cache, row, (layer, 0, position, 0))
        page = lax.dynamic_index_in_dim(cache, layer, 0, keepdims=False)
        return (cache, total + jnp.sum(page.astype(jnp.float32), axis=1)), None
    start = (cache, jnp.zeros((cache.shape[1], cache.shape[3]), jnp.float32))
    return lax.scan(step, start, jnp.arange(8))[0]


def shape(dims, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(dims, dtype)


PROGRAMS = {
    "mlp_softmax": (mlp_softmax, [shape((64, 1024)), shape((1024, 4096)), shape((4096, 2048))], ()),
    "scan_24": (scan_24, [shape((256, 512)), shape((24, 512, 512))], ()),
    "unrolled_24": (unrolled_24, [shape((256, 512)), shape((24, 512, 512))], ()),
    "gather_top_k_sort": (gather_top_k_sort,
                          [shape((32000, 256)), shape((64,), jnp.int32), shape((64, 4096), jnp.float32)], ()),
    "scan_cache": (scan_cache, [shape((8, 16, 4096, 128)), shape((8, 16, 128)), shape((), jnp.int32)], (0,)),
}
# With the name stack and source lines; the others are what as_text() gives by itself.
NAMED = {"mlp_softmax", "scan_cache"}


def main(folder):
    out = pathlib.Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    for name, (function, arguments, donated) in PROGRAMS.items():
        lowered = jax.jit(function, donate_argnums=donated).lower(*arguments)
        text = lowered.as_text(debug_info=name in NAMED)
        (out / f"{name}.mlir").write_text(re.sub(r'"[^"]*/(make_stablehlo\.py)"', r'"\1"', text))


if __name__ == "__main__":
    main(sys.argv[1])
