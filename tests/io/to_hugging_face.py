"""Writes a GGUF checkpoint as a Hugging Face folder: sharded float32 safetensors, config.json, tokenizer.json.

Everything is done by the reference packages (gguf reads and unpacks, safetensors and tokenizers write) and by the
formats' descriptions; nothing of Sublane is used, so that a folder made here can judge it.
"""
import json
import pathlib

import numpy
from gguf import GGUFReader, dequantize
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

LAYER_NAMES = {
    "llama": {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"},
    "gemma3": {"attn_norm": "input_layernorm", "post_attention_norm": "post_attention_layernorm",
               "ffn_norm": "pre_feedforward_layernorm", "post_ffw_norm": "post_feedforward_layernorm",
               "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm"},
}
COMMON = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
          "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
          "ffn_down": "mlp.down_proj"}
GLOBAL = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


class Source:
    def __init__(self, path: pathlib.Path):
        self.reader = GGUFReader(str(path))
        self.architecture = self.value("general.architecture")

    def value(self, key: str, default=None):
        field = self.reader.get_field(key)
        return default if field is None else field.contents()

    def own(self, key: str, default=None):
        return self.value(f"{self.architecture}.{key}", default)


def hf_name(architecture: str, name: str) -> str:
    stem, _, kind = name.rpartition(".")
    if not stem.startswith("blk."):
        return f"{GLOBAL[stem]}.{kind}"
    _, layer, part = stem.split(".")
    return f"model.layers.{layer}.{ {**COMMON, **LAYER_NAMES[architecture]}[part]}.{kind}"


def split_halves(values: numpy.ndarray, heads: int) -> numpy.ndarray:
    """Rows of rotary pairs side by side, as llama's GGUF has them, to the two halves that transformers turns."""
    return values.reshape(heads, -1, 2, values.shape[1]).swapaxes(1, 2).reshape(values.shape)


def weights(source: Source):
    heads, kv_heads = source.own("attention.head_count"), source.own("attention.head_count_kv")
    for tensor in source.reader.tensors:
        values = dequantize(tensor.data, tensor.tensor_type).reshape([int(n) for n in tensor.shape[::-1]])
        values = values.astype(numpy.float32)
        if source.architecture == "llama" and ".attn_q." in tensor.name:
            values = split_halves(values, heads)
        if source.architecture == "llama" and ".attn_k." in tensor.name:
            values = split_halves(values, kv_heads)
        if source.architecture == "gemma3" and "norm" in tensor.name:
            values = values - numpy.float32(1)  # transformers adds it
        yield hf_name(source.architecture, tensor.name), numpy.ascontiguousarray(values)


def write_weights(source: Source, folder: pathlib.Path, shards: int) -> None:
    tensors = list(weights(source))
    total = sum(values.nbytes for _, values in tensors)
    parts, size = [{}], 0
    for name, values in tensors:
        if size > total / shards and len(parts) < shards:
            parts.append({})
            size = 0
        parts[-1][name] = values
        size += values.nbytes
    weight_map = {}
    for number, part in enumerate(parts, 1):
        file = f"model-{number:05}-of-{len(parts):05}.safetensors"
        save_file(part, folder / file, metadata={"format": "pt"})
        weight_map.update({name: file for name in part})
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def config(source: Source) -> dict:
    layers, tokens = source.own("block_count"), source.value("tokenizer.ggml.tokens")
    common = {
        "hidden_size": source.own("embedding_length"), "intermediate_size": source.own("feed_forward_length"),
        "num_hidden_layers": layers, "num_attention_heads": source.own("attention.head_count"),
        "num_key_value_heads": source.own("attention.head_count_kv"), "vocab_size": len(tokens),
        "max_position_embeddings": source.own("context_length"), "tie_word_embeddings": True,
        "rms_norm_eps": float(source.own("attention.layer_norm_rms_epsilon")),
        "rope_theta": float(source.own("rope.freq_base")), "torch_dtype": "float32",
        "bos_token_id": source.value("tokenizer.ggml.bos_token_id"),
        "eos_token_id": source.value("tokenizer.ggml.eos_token_id")}
    if source.architecture == "llama":
        return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", **common}
    window = source.own("attention.sliding_window")
    return {"architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text", "sliding_window": window,
            "hidden_activation": "gelu_pytorch_tanh", "head_dim": source.own("attention.key_length"),
            "query_pre_attn_scalar": source.own("attention.key_length"), "rope_local_base_freq": 10000.0,
            "layer_types": ["full_attention" if (i + 1) % 6 == 0 else "sliding_attention" for i in range(layers)],
            **common}


def byte_level(source: Source, tokens: list) -> Tokenizer:
    merges = [tuple(merge.split(" ")) for merge in source.value("tokenizer.ggml.merges")]
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def sentence_piece(source: Source, tokens: list) -> Tokenizer:
    """Merges by the scores of what they make: each way to cut a token into two others."""
    scores = source.value("tokenizer.ggml.scores")
    ids = {token: i for i, token in enumerate(tokens)}
    merges = []
    for token, i in ids.items():
        cuts = [(token[:at], token[at:]) for at in range(1, len(token))]
        known = sorted((ids[left], ids[right], left, right) for left, right in cuts if left in ids and right in ids)
        merges += [(-scores[i], i, left, right) for _, _, left, right in known]
    merges.sort(key=lambda merge: merge[:2])
    model = models.BPE(ids, [(left, right) for _, _, left, right in merges], unk_token=tokens[3], fuse_unk=True,
                       byte_fallback=True)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Replace(" ", "\u2581")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    return tokenizer


def write_text(source: Source, folder: pathlib.Path) -> None:
    tokens, kinds = source.value("tokenizer.ggml.tokens"), source.value("tokenizer.ggml.token_type")
    make = byte_level if source.value("tokenizer.ggml.model") == "gpt2" else sentence_piece
    tokenizer = make(source, tokens)
    special = [AddedToken(token, special=True, normalized=False) for token, kind in zip(tokens, kinds) if kind == CONTROL]
    other = [AddedToken(token, normalized=False) for token, kind in zip(tokens, kinds) if kind == USER_DEFINED]
    tokenizer.add_special_tokens(special)
    tokenizer.add_tokens(other)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"add_bos_token": bool(source.value("tokenizer.ggml.add_bos_token", False)),
                "bos_token": tokens[source.value("tokenizer.ggml.bos_token_id")],
                "eos_token": tokens[source.value("tokenizer.ggml.eos_token_id")],
                "clean_up_tokenization_spaces": False, "tokenizer_class": "PreTrainedTokenizerFast"}
    if template := source.value("tokenizer.chat_template"):
        settings["chat_template"] = template
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def to_hugging_face(path: pathlib.Path, folder: pathlib.Path, shards: int = 2) -> None:
    source = Source(path)
    folder.mkdir(parents=True)
    write_weights(source, folder, shards)
    (folder / "config.json").write_text(json.dumps(config(source)))
    write_text(source, folder)
