#!/usr/bin/env python3
"""Greedy text and logits of the two real checkpoints from an independent reference.

The reference is `transformers` in float32 with eager attention, on weights dequantised by PyPI `gguf`. Nothing of
Sublane is imported. Five prompts a checkpoint, 48 greedy tokens each (end-of-sequence does not stop them). For each
step the gap between the two best logits is kept: a comparison ends at the first gap below 1e-3.

    python make_generation_goldens.py smollm2-135m FILE.gguf > ../../tests/engine/goldens/smollm2-135m.json
"""
import json
import sys

import gguf
import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

STEPS = 48
PROBES = 512

LONG = """The lighthouse at the end of the harbour wall had not been lit for eleven years when Marta was given its keys. \
The harbour master told her that the lamp was sound, that the gallery was not, and that the cat belonged to nobody. She \
wrote all three facts into a notebook, because she had learned that what is not written down is argued about later. On \
the first morning she counted the steps: one hundred and forty-two from the door to the lamp room, seven of them cracked. \
On the second morning she counted again and found one hundred and forty-one, and so she sat on the landing and thought \
about the difference until the cat came and sat on the step that she had missed. On the third day a letter came from the \
office of lights. It asked for an inventory of every object in the tower, its condition, its weight and its purpose. Marta \
began at the bottom. There was an iron stove, rusted, perhaps eighty kilograms, whose purpose was to be cold. There were \
nine lamps of brass, of which four had glass. There was a barrel of oil that had become a barrel of something else. There \
was a clock which ran backwards when the wind blew from the north, and she could not decide whether its condition was good. \
At the top there was the lens. It stood taller than she did, a cage of curved glass in a frame of bronze, and when the sun \
came through it in the late afternoon it threw bands of colour over the walls and the floor and the sleeping cat. She wrote: \
one lens, first order, eleven hundred kilograms, condition excellent, purpose to be seen from far away. Then she crossed \
out the last five words and wrote instead: purpose to let the others find their way home. The office of lights replied \
within a week. They thanked her for the inventory, noted that the stove had been removed from the register in the year of \
her birth, and asked whether the clock could be repaired. They did not mention the lens at all. In the winter the storms \
came, one behind the other, and the fishing boats stayed in. On the worst night the wind took the railing from the gallery \
and the clock ran backwards for nine hours. Marta carried the oil up the steps, one can at a time, and counted them: one \
hundred and forty-two. She cleaned the wick, filled the reservoir, and turned the handle that moved the lens upon its bed \
of mercury. It moved as if it had been waiting. When she struck the match the cat left the room, and when the flame stood \
high and yellow in the middle of all that glass, a beam went out over the water that was so solid she felt she could have \
walked along it. Two miles out, the trawler Adelheid, which had been reported safe in another port by mistake, turned her \
bow towards the light. The skipper said later that he had stopped believing in the tower when he was a boy, and that it \
was strange to be saved by a thing that he did not believe in. In the spring the office of lights sent an inspector. He \
counted the steps, looked at the stove, wound the clock, and wrote a report of forty pages in which he recommended that \
the lamp should be replaced by a smaller one of a modern kind. Marta read the report twice. Then she took her notebook and"""

CODE = """def moving_average(values, window):
    \"\"\"Return the average of each run of `window` neighbours.\"\"\"
    if window <= 0:
        raise ValueError("window must be positive")
    result = []
    total = 0.0
    for i, value in enumerate(values):
"""
PROMPTS = {
    "short": "The three primary colours are",
    "code": CODE,
    "non_ascii": "Grüße aus Köln! 日本の首都は東京です。🦙 naïve café — Größe: 5 µm, Ελλάδα:",
    "long": LONG,
}
CHAT = ("<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nWhy is the sky blue? Answer in two sentences.<|im_end|>\n<|im_start|>assistant\n")
LIST = "Shopping list:\n- apples\n- bread\n- cheese\n- "


def read(path):
    reader = gguf.GGUFReader(path)
    fields = {k: f for k, f in reader.fields.items()}
    get = lambda key: fields[key].contents()
    tensors = {}
    for t in reader.tensors:
        values = gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32)
        tensors[t.name] = torch.from_numpy(np.ascontiguousarray(values.reshape(tuple(int(n) for n in reversed(t.shape)))))
    return get, tensors


def unpermute(weight, heads):
    """GGUF llama rows hold rotary pairs next to each other; transformers wants the halves apart."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).transpose(1, 2).reshape(rows, columns)


def smollm2(get, tensors):
    heads, kv_heads = get("llama.attention.head_count"), get("llama.attention.head_count_kv")
    config = transformers.LlamaConfig(
        vocab_size=get("llama.vocab_size"), hidden_size=get("llama.embedding_length"),
        intermediate_size=get("llama.feed_forward_length"), num_hidden_layers=get("llama.block_count"),
        num_attention_heads=heads, num_key_value_heads=kv_heads, rms_norm_eps=get("llama.attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": get("llama.rope.freq_base")},
        max_position_embeddings=get("llama.context_length"), tie_word_embeddings=True, attn_implementation="eager")
    names = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj",
             "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
             "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
    state = {"model.embed_tokens.weight": tensors["token_embd.weight"], "model.norm.weight": tensors["output_norm.weight"]}
    for layer in range(config.num_hidden_layers):
        for short, long in names.items():
            value = tensors[f"blk.{layer}.{short}.weight"]
            if short == "attn_q":
                value = unpermute(value, heads)
            if short == "attn_k":
                value = unpermute(value, kv_heads)
            state[f"model.layers.{layer}.{long}.weight"] = value
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    return transformers.LlamaForCausalLM(config), state


def gemma3(get, tensors):
    layers = get("gemma3.block_count")
    config = transformers.Gemma3TextConfig(
        vocab_size=tensors["token_embd.weight"].shape[0], hidden_size=get("gemma3.embedding_length"),
        intermediate_size=get("gemma3.feed_forward_length"), num_hidden_layers=layers,
        num_attention_heads=get("gemma3.attention.head_count"), num_key_value_heads=get("gemma3.attention.head_count_kv"),
        head_dim=get("gemma3.attention.key_length"), query_pre_attn_scalar=get("gemma3.attention.key_length"),
        rms_norm_eps=get("gemma3.attention.layer_norm_rms_epsilon"), sliding_window=get("gemma3.attention.sliding_window"),
        layer_types=["full_attention" if (i + 1) % 6 == 0 else "sliding_attention" for i in range(layers)],
        rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": get("gemma3.rope.freq_base")},
                         "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}},
        max_position_embeddings=get("gemma3.context_length"), tie_word_embeddings=True, attn_implementation="eager")
    names = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
             "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
             "ffn_down": "mlp.down_proj"}
    norms = {"attn_norm": "input_layernorm", "post_attention_norm": "post_attention_layernorm",
             "ffn_norm": "pre_feedforward_layernorm", "post_ffw_norm": "post_feedforward_layernorm",
             "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm"}
    state = {"model.embed_tokens.weight": tensors["token_embd.weight"],
             "model.norm.weight": tensors["output_norm.weight"] - 1.0}
    for layer in range(layers):
        for short, long in names.items():
            state[f"model.layers.{layer}.{long}.weight"] = tensors[f"blk.{layer}.{short}.weight"]
        for short, long in norms.items():     # the file stores 1 + w
            state[f"model.layers.{layer}.{long}.weight"] = tensors[f"blk.{layer}.{short}.weight"] - 1.0
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    return transformers.Gemma3ForCausalLM(config), state


def byte_level_tokenizer(get):
    tokens, merges = get("tokenizer.ggml.tokens"), get("tokenizer.ggml.merges")
    tokenizer = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=[tuple(m.split(" ")) for m in merges]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([t for t, kind in zip(tokens, get("tokenizer.ggml.token_type")) if kind == 3])
    return tokenizer


def sentence_piece_tokenizer(get):
    """Merges of a SentencePiece BPE follow from the scores: all two-piece splits of a token, best token first."""
    tokens, scores, kinds = get("tokenizer.ggml.tokens"), get("tokenizer.ggml.scores"), get("tokenizer.ggml.token_type")
    ids = {t: i for i, t in enumerate(tokens)}
    merges = []
    for token, index in ids.items():
        if kinds[index] != 1:
            continue
        local = [(token[:i], token[i:]) for i in range(1, len(token)) if token[:i] in ids and token[i:] in ids]
        local.sort(key=lambda pair: (ids[pair[0]], ids[pair[1]]))
        merges.extend((scores[index], index, pair) for pair in local)
    merges.sort(key=lambda m: (-m[0], m[1]))
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=[m[2] for m in merges], byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    from tokenizers import AddedToken
    tokenizer.add_special_tokens([t for t, kind in zip(tokens, kinds) if kind == 3])
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t, kind in zip(tokens, kinds) if kind == 4])
    return tokenizer


def generate(model, ids, probes):
    cache, tokens, gaps, first = None, [], [], None
    step = torch.tensor([ids])
    with torch.inference_mode():
        for _ in range(STEPS):
            out = model(input_ids=step, past_key_values=cache, use_cache=True)
            cache, logits = out.past_key_values, out.logits[0, -1]
            if first is None:
                first = logits
            best = torch.topk(logits, 2)
            tokens.append(int(best.indices[0]))
            gaps.append(round(float(best.values[0] - best.values[1]), 6))
            step = torch.tensor([[tokens[-1]]])
    top = torch.topk(first, 20)
    number = lambda x: float(f"{float(x):.7g}")
    return {"tokens": tokens, "gaps": gaps,
            "logits": {"max_abs": number(first.abs().max()), "mean": number(first.mean()),
                       "top_ids": [int(i) for i in top.indices], "top": [number(v) for v in top.values],
                       "probe": [number(first[i]) for i in probes]}}


def main():
    name, path = sys.argv[1:3]
    torch.manual_seed(0)
    torch.set_num_threads(2)
    get, tensors = read(path)
    model, state = (smollm2 if name.startswith("smollm2") else gemma3)(get, tensors)
    missing, extra = model.load_state_dict(state, strict=False)
    assert not missing and not extra, (missing, extra)
    model = model.float().eval()
    tokenizer = (byte_level_tokenizer if name.startswith("smollm2") else sentence_piece_tokenizer)(get)
    bos = [get("tokenizer.ggml.bos_token_id")] if get("tokenizer.ggml.add_bos_token") else []
    prompts = dict(PROMPTS)
    prompts["chat" if name.startswith("smollm2") else "list"] = CHAT if name.startswith("smollm2") else LIST
    vocabulary = state["lm_head.weight"].shape[0]
    probes = [int(i) for i in np.random.RandomState(7).choice(vocabulary, PROBES, replace=False)]
    result = {"model": name, "steps": STEPS, "probe_ids": probes, "prompts": {},
              "made_by": {"torch": torch.__version__, "transformers": transformers.__version__,
                          "script": "tools/reference/make_generation_goldens.py"}}
    for key, text in prompts.items():
        ids = bos + tokenizer.encode(text, add_special_tokens=False).ids
        entry = generate(model, ids, probes)
        print(f"{name} {key}: {len(ids)} tokens, smallest gap {min(entry['gaps'])}: "
              f"{tokenizer.decode(entry['tokens'])!r}", file=sys.stderr)
        result["prompts"][key] = {"text": text, "ids": ids, "parse_special": key == "chat", **entry}
    print(json.dumps(result, ensure_ascii=False, separators=(",", ":")).replace('"prompts"', '\n"prompts"'))


if __name__ == "__main__":
    main()
