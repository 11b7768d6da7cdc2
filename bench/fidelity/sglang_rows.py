"""Rows whose kernels are sgl-project/sglang-jax's: ragged paged attention and the cache update.

The package is imported from a clone at the revision that was measured (run.py unpacks it); nothing of it is copied. Its
package initialisers pull in a whole server, so small stand-ins take their place. Lengths, page tables and slots are what
its public performance tests use: the same seeds, so the same values, which go to the simulator as real inputs.
"""
import os
import sys
import types

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

MAX_CONTEXT, CACHE_TOKENS, PREFILL_CHUNK = 40960, 600000, 2048


def cdiv(a, b):
    return -(-a // b)


def import_package():
    if "sgl_jax" in sys.modules:
        return
    root = os.environ["SGLANG_JAX_PYTHON"]
    sys.path.insert(0, root)
    def package(name, **members):
        module = types.ModuleType(name)
        module.__path__ = [os.path.join(root, *name.split("."))]
        module.__dict__.update(members)
        sys.modules[name] = module
    for name in ("sgl_jax", "sgl_jax.srt", "sgl_jax.srt.kernels"):
        package(name)
    package("sgl_jax.srt.utils", cdiv=cdiv)
    package("sgl_jax.srt.utils.common_utils", next_power_of_2=lambda x: 1 << max(0, x - 1).bit_length(), cdiv=cdiv)
    package("sgl_jax.srt.utils.jax_utils", get_device_name=lambda devices=None: "TPU v6e")
    from sgl_jax.srt.kernels.ragged_paged_attention import util
    util.get_tpu_version = lambda: 6
    if "ANY" not in vars(pltpu):  # the older revision's spelling
        pltpu.ANY = pl.ANY


def shape_of(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def page_indices(lengths, page_size):
    """Sequence after sequence in one run of cache slots; each padded to the longest context."""
    starts = np.concatenate([[0], np.cumsum(lengths)])
    slots = [np.pad(np.arange(starts[i], starts[i] + n), (0, MAX_CONTEXT - n)) for i, n in enumerate(lengths)]
    return np.concatenate(slots)[::page_size].astype(np.int32) // page_size


def rpa(parameters, target):
    import_package()
    p = types.SimpleNamespace(**parameters)
    try:
        from sgl_jax.srt.kernels.ragged_paged_attention.ragged_paged_attention_v3 import ragged_paged_attention
        young = True
    except ImportError:
        from sgl_jax.srt.kernels.ragged_paged_attention.ragged_paged_attention import ragged_paged_attention
        young = False
    if p.mode == "decode":
        kv_lens = np.asarray(jax.random.randint(jax.random.PRNGKey(42), (p.tokens,), 1024, 2048)) + 1
        q_lens, distribution = np.ones(p.tokens, np.int32), [p.tokens] * 3
    else:
        chunks = cdiv(p.tokens, PREFILL_CHUNK)
        kv_lens = q_lens = np.array([PREFILL_CHUNK] * (chunks - 1) + [p.tokens - PREFILL_CHUNK * (chunks - 1)], np.int32)
        distribution = [0, 0, chunks]
    cumulative = lambda x: np.concatenate([[0], np.cumsum(x)]).astype(np.int32)
    pages = cdiv(CACHE_TOKENS, p.page_size)
    cache = (pages, p.page_size, p.kv_heads * 2 // 2, 2, p.head_dim) if young else (pages, p.page_size, p.kv_heads * 2, p.head_dim)
    bf16 = jnp.bfloat16
    metadata = [kv_lens.astype(np.int32), page_indices(kv_lens, p.page_size), cumulative(q_lens), cumulative(kv_lens), np.array(distribution, np.int32)]
    arguments = [jax.ShapeDtypeStruct((p.tokens, p.q_heads, p.head_dim), bf16), jax.ShapeDtypeStruct((p.tokens, p.kv_heads, p.head_dim), bf16),
                 jax.ShapeDtypeStruct((p.tokens, p.kv_heads, p.head_dim), bf16), jax.ShapeDtypeStruct(cache, bf16)]

    def attention(q, k, v, kv_cache, *rest):
        return ragged_paged_attention(q, k, v, kv_cache, *rest, custom_mask=None, causal=1, sm_scale=p.head_dim ** -0.5)

    lowered = target.lower(attention, arguments + [shape_of(x) for x in metadata])
    return lowered, {4 + i: x for i, x in enumerate(metadata)}


def kv_update(parameters, target):
    import_package()
    from sgl_jax.srt.kernels.update_kv_cache.update_kv_cache import get_slot_mapping, kv_cache_update_kernel
    p = types.SimpleNamespace(**parameters)
    count = cdiv(p.new_tokens, p.page_size)
    cache_start = jax.random.randint(jax.random.PRNGKey(42), (count,), 0, cdiv(p.max_cache_len, p.page_size) - 1) * p.page_size
    lengths = np.minimum(p.page_size, p.new_tokens - np.arange(count) * p.page_size)
    slices = np.asarray(get_slot_mapping(p.num_slices_per_block, cache_start, jnp.arange(count) * p.page_size, jnp.asarray(lengths)))
    bf16, head_dim = jnp.bfloat16, 128
    new = jax.ShapeDtypeStruct((p.new_tokens, p.head_num, head_dim), bf16)
    cache = jax.ShapeDtypeStruct((p.max_cache_len, p.head_num, head_dim), bf16)

    def update(new_value, kv_cache, slots, slice_count):
        call = pl.pallas_call(
            kv_cache_update_kernel,
            grid_spec=pltpu.PrefetchScalarGridSpec(
                num_scalar_prefetch=1, in_specs=[pl.BlockSpec(memory_space=pl.ANY)] * 2, out_specs=[pl.BlockSpec(memory_space=pl.ANY)],
                grid=(cdiv(slice_count, p.num_slices_per_block),),
                scratch_shapes=[pltpu.VMEM((p.num_slices_per_block, p.page_size, p.head_num, head_dim), bf16), pltpu.SemaphoreType.DMA]),
            out_shape=[jax.ShapeDtypeStruct(kv_cache.shape, kv_cache.dtype)], input_output_aliases={2: 0}, name="kv_cache_update_kernel")
        return call(slots, new_value, kv_cache)[0]

    slice_count = np.array(count, np.int32)
    lowered = target.lower(update, [new, cache, shape_of(slices), shape_of(slice_count)])
    return lowered, {2: slices, 3: slice_count}


def lower(program, target):
    return {"rpa": rpa, "kv_update": kv_update}[program["kernel"]](program["parameters"], target)
