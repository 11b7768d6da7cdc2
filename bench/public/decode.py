"""A decode step of Llama-3-8B's shapes in plain JAX, with its layers in a loop or one after the other. Ours: it stands for
the way in which public models write `lax.scan` over layers with a stacked cache."""
import jax
import jax.numpy as jnp
from jax import lax

BF16, F32, I32 = jnp.bfloat16, jnp.float32, jnp.int32
HIDDEN, INNER, HEADS, KV_HEADS, HEAD_DIM = 4096, 14336, 32, 8, 128


def array(dtype, *shape):
    return jax.ShapeDtypeStruct(shape, dtype)


def rms_norm(x, gain):
    wide = x.astype(F32)
    return (wide * lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-5)).astype(BF16) * gain


def attend(q, keys, values, position):
    """q: [batch, kv_heads, group, head_dim] over the whole cache, [batch, kv_heads, context, head_dim]."""
    scores = jnp.einsum("bgqd,bgtd->bgqt", q, keys, preferred_element_type=F32) * HEAD_DIM ** -0.5
    seen = jnp.arange(keys.shape[2]) <= position[:, None, None, None]
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e30), axis=-1).astype(BF16)
    return jnp.einsum("bgqt,bgtd->bgqd", weights, values)


def layer(x, weights, keys, values, position):
    """One layer; returns x and the cache with this step's rows in it."""
    batch = x.shape[0]
    h = rms_norm(x, weights["norm1"])
    q = (h @ weights["q"]).reshape(batch, KV_HEADS, HEADS // KV_HEADS, HEAD_DIM)
    k = (h @ weights["k"]).reshape(batch, KV_HEADS, HEAD_DIM)
    v = (h @ weights["v"]).reshape(batch, KV_HEADS, HEAD_DIM)
    keys = keys.at[jnp.arange(batch), :, position].set(k)
    values = values.at[jnp.arange(batch), :, position].set(v)
    x = x + attend(q, keys, values, position).reshape(batch, HEADS * HEAD_DIM) @ weights["o"]
    h = rms_norm(x, weights["norm2"])
    return x + (jax.nn.silu(h @ weights["gate"]) * (h @ weights["up"])) @ weights["down"], keys, values


def layer_weights():
    width = KV_HEADS * HEAD_DIM
    return {"norm1": (HIDDEN,), "norm2": (HIDDEN,), "q": (HIDDEN, HIDDEN), "k": (HIDDEN, width), "v": (HIDDEN, width),
            "o": (HIDDEN, HIDDEN), "gate": (HIDDEN, INNER), "up": (HIDDEN, INNER), "down": (INNER, HIDDEN)}


def scanned(x, weights, keys, values, position):
    """The stacked cache goes in as what is scanned over and comes out stacked anew."""
    def body(x, one):
        x, k, v = layer(x, one[0], one[1], one[2], position)
        return x, (k, v)
    x, (keys, values) = lax.scan(body, x, (weights, keys, values))
    return x, keys, values


def unrolled(x, weights, keys, values, position):
    """The same, one layer after the other, a cache for each layer."""
    caches = []
    for index, one in enumerate(weights):
        x, k, v = layer(x, one, keys[index], values[index], position)
        caches.append((k, v))
    return x, [k for k, _ in caches], [v for _, v in caches]


def arguments(layers, batch, context, stacked):
    cache = (batch, KV_HEADS, context, HEAD_DIM)
    if stacked:
        weights = {name: array(BF16, layers, *shape) for name, shape in layer_weights().items()}
        caches = [array(BF16, layers, *cache)] * 2
    else:
        weights = [{name: array(BF16, *shape) for name, shape in layer_weights().items()} for _ in range(layers)]
        caches = [[array(BF16, *cache)] * layers] * 2
    return [array(BF16, batch, HIDDEN), weights, *caches, array(I32, batch)]
