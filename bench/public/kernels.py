"""Programs around public kernels: the packages' own code is imported and run. What stands around a kernel (projections,
page tables, lengths) is ours."""
import contextlib
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

BF16, F32, I32 = jnp.bfloat16, jnp.float32, jnp.int32


def array(dtype, *shape):
    return jax.ShapeDtypeStruct(shape, dtype)


def shape_of(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def flash_attention(block):
    """JAX's Pallas flash attention, every block of `block` rows."""
    from jax.experimental.pallas.ops.tpu import flash_attention as public
    sizes = public.BlockSizes(block_q=block, block_k_major=block, block_k=block, block_b=1)
    return (lambda q, k, v: public.flash_attention(q, k, v, causal=True, sm_scale=128 ** -0.5, block_sizes=sizes),
            [array(BF16, 1, 8, 4096, 128)] * 3, {}, ())


def scores(order):
    """Attention scores of 4 heads, 2048 queries and keys of 512 wide: the same product whatever the order of the axes of
    queries and keys ("qhd": token, head, width; "hdq": head, width, token; "hqd": head, token, width)."""
    axes = {"q": 2048, "k": 2048, "h": 4, "d": 512}
    of_keys = order.replace("q", "k")
    shapes = [array(BF16, *(axes[axis] for axis in letters)) for letters in (order, of_keys)]
    return (lambda q, k: jnp.einsum(f"{order},{of_keys}->hqk", q, k, preferred_element_type=F32).astype(BF16)), shapes, {}, ()


def scoped_kernel(named):
    """A kernel of ours with three independent parts, polynomials of one tile, each named with jax.named_scope: what jax
    issue 40720 is about. The names become trace markers once regions of custom calls are traced, and a marker is a wall for
    the scheduler; without the names the parts share bundles."""
    scope = jax.named_scope if named else lambda name: contextlib.nullcontext()
    rows, width, terms = 256, 512, 24

    def polynomial(x, step):
        total = x
        for term in range(1, terms + 1):
            total = total * x + step / term
        return total

    def kernel(x, first, second, third):
        def eight_rows(i, carry):
            at = pl.ds(pl.multiple_of(i * 8, 8), 8)
            tile = x[at, :]
            with scope("first"):
                a = polynomial(tile, 1.0)
            with scope("second"):
                b = polynomial(tile, 0.5)
            with scope("third"):
                c = polynomial(tile, 0.25)
            first[at, :], second[at, :], third[at, :] = a, b, c
            return carry
        lax.fori_loop(0, rows // 8, eight_rows, 0)

    block = pl.BlockSpec((rows, width), lambda i: (i, 0))
    whole = array(F32, 16 * rows, width)
    call = pl.pallas_call(kernel, out_shape=[whole] * 3, grid=(16,), in_specs=[block], out_specs=[block] * 3)
    return lambda x: call(x), [whole], {}, ()


def masked_scores(on_lanes, rows=128, context=2048, at_once=8):
    """A kernel of ours that masks and sums scores, with one number for each pair of query and key: what sglang-jax 1569 is
    about. Stored as [rows, context, 128], of which only the first lane is read, keys lie along sublanes and each tile has to
    be transposed; stored as [rows, context] they lie along lanes, as the scores do."""
    def kernel(scores, mask, total):
        seen = (mask[...] if on_lanes else mask[:, :, 0]) != 0
        total[...] = jnp.where(seen, jnp.exp(scores[...]), 0.0).sum(-1, keepdims=True)

    wide = pl.BlockSpec((at_once, context), lambda i: (i, 0))
    of_mask = wide if on_lanes else pl.BlockSpec((at_once, context, 128), lambda i: (i, 0, 0))
    call = pl.pallas_call(kernel, out_shape=array(F32, rows, 1), grid=(rows // at_once,), in_specs=[wide, of_mask],
                          out_specs=pl.BlockSpec((at_once, 1), lambda i: (i, 0)))
    mask = array(I32, rows, context) if on_lanes else array(I32, rows, context, 128)
    return lambda scores, mask: call(scores, mask), [array(F32, rows, context), mask], {}, ()


def pages_of(sequences, pages_each):
    """A page table in which every sequence has its own run of pages."""
    return np.arange(sequences * pages_each, dtype=np.int32)


def cumulative(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def swap_on_four_axes(kernel):
    """What tpu-inference 3393 proposes for the queries of ragged paged attention: tokens and heads change places while the
    array has four axes, and only then is the group of heads split."""
    def prepare(q, k, v):
        tokens, heads, width = q.shape
        kv_heads, packing = k.shape[1], kernel.get_dtype_packing(q.dtype)
        group = heads // kv_heads
        by_head = q.reshape(tokens, kv_heads, group, width).swapaxes(0, 1)
        return by_head.reshape(kv_heads, tokens, group // packing, packing, width), kernel.merge_kv(k, v)
    kernel.prepare_inputs = prepare


def paged_prefill(cured, tokens=2048, hidden=2560, heads=32, kv_heads=8, width=128, page=128):
    """One prefill of 2048 tokens through projections and tpu-inference's ragged paged attention (Qwen3-4B's shapes)."""
    from tpu_inference.kernels.ragged_paged_attention.v3 import kernel
    if cured:
        swap_on_four_axes(kernel)
    pages = tokens // page

    def step(x, wq, wk, wv, wo, cache, lengths, table, starts, distribution):
        q = (x @ wq).reshape(tokens, heads, width)
        k = (x @ wk).reshape(tokens, kv_heads, width)
        v = (x @ wv).reshape(tokens, kv_heads, width)
        out, cache = kernel.ragged_paged_attention(q, k, v, cache, lengths, table, starts, distribution, sm_scale=width ** -0.5)
        return out.reshape(tokens, heads * width) @ wo, cache

    scalars = [np.array([tokens], np.int32), pages_of(1, pages), cumulative([tokens]), np.array([0, 0, 1], np.int32)]
    shapes = [array(BF16, tokens, hidden), array(BF16, hidden, heads * width), array(BF16, hidden, kv_heads * width),
              array(BF16, hidden, kv_heads * width), array(BF16, heads * width, hidden),
              array(BF16, pages, page, kv_heads, 2, width)]
    return step, shapes + [shape_of(x) for x in scalars], {6 + i: x for i, x in enumerate(scalars)}, (5,)


def latent_attention(head_major, tokens=128, heads=64, width=128, latent=512, rope=64, context=256, page=64):
    """Decode of DeepSeek-V3's latent attention: the projections into and out of the latent space in JAX, the kernel of
    tpu-inference between them. `head_major` is how the kernel of that release wants its queries."""
    from tpu_inference.kernels.mla.v2 import kernel
    pages_each = context // page
    into, out_of = ("TNH,ANH->NTA", "NTA,ANH->TNH") if head_major else ("TNH,ANH->TNA", "TNA,ANH->TNH")

    def step(q_nope, q_rope, k_up, v_up, new_latent, new_rope, cache, lengths, table, starts, distribution):
        q = jnp.einsum(into, q_nope, k_up)
        out, cache = kernel.mla_ragged_paged_attention(
            q, q_rope, new_latent, new_rope, cache, lengths, table, starts, distribution, sm_scale=(width + rope) ** -0.5,
            num_kv_pages_per_block=(4, 1, 1), num_queries_per_block=(1, 1, 1))
        return jnp.einsum(out_of, out, v_up), cache

    scalars = [np.full(tokens, context, np.int32), pages_of(tokens, pages_each), cumulative([1] * tokens),
               np.array([tokens] * 3, np.int32)]
    cache = array(BF16, tokens * pages_each, page // 2, 2, latent + 128)
    shapes = [array(BF16, tokens, heads, width), array(BF16, tokens, heads, rope), array(BF16, latent, heads, width),
              array(BF16, latent, heads, width), array(BF16, tokens, latent), array(BF16, tokens, rope), cache]
    return step, shapes + [shape_of(x) for x in scalars], {7 + i: x for i, x in enumerate(scalars)}, (6,)


def context_parallel(layers=4, tokens=512, context=4096, heads=8, kv_heads=2, width=128, page=256, spare=64):
    """Rank 0's part of a prefill with a cached prefix, for each layer as tpu-inference's pcp_forward calls its kernel: once
    over the cache, which it does not write and whose cache output nobody uses, then over the new tokens, which it writes.
    The ring between chips is off, so that one device is enough; the cache is larger than the prefix, as a server's is."""
    from tpu_inference.kernels.experimental.rpa_v3_cp import kernel
    total = context + tokens
    held = -(-total // (2 * page))

    def layer(q, k, v, cache, lengths, cached, table, starts, distribution, rank):
        call = functools.partial(kernel.ragged_paged_attention, kv_lens=lengths, page_indices=table, cu_q_lens=starts,
                                 distribution=distribution, kv_cache_lens=cached, cp_rank=rank, cp_group_size=2,
                                 return_lse=True, sm_scale=width ** -0.5)
        before, _, weight = call(q, k, v, cache, skip_current_attn=True, use_causal_mask=False, update_kv_cache=False)
        now, cache, other = call(q, k, v, cache, skip_cache_attn=True)
        most = jnp.maximum(weight, other)
        a, b = jnp.exp(weight - most)[..., None], jnp.exp(other - most)[..., None]
        return ((before * a + now * b) / (a + b)).astype(BF16), cache

    def step(q, k, v, caches, *scalars):
        written = []
        for cache in caches:
            q, cache = layer(q, k, v, cache, *scalars)
            written.append(cache)
        return q, written

    scalars = [np.array([total], np.int32), np.array([context], np.int32), pages_of(1, held), cumulative([tokens]),
               np.array([0, 0, 1], np.int32), np.array([0], np.int32)]
    cache = array(BF16, held * spare, page, kv_heads, 2, width)
    shapes = [array(BF16, tokens, heads, width), array(BF16, tokens, kv_heads, width), array(BF16, tokens, kv_heads, width),
              [cache] * layers]
    return step, shapes + [shape_of(x) for x in scalars], {3 + layers + i: x for i, x in enumerate(scalars)}, (3,)
