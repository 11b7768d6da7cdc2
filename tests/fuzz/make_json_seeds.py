"""Writes corpus/{safetensors,index,config}/*: a few tiny files from which the fuzzer starts. Needs nothing but Python.

    python3 tests/fuzz/make_json_seeds.py
"""
import json
import pathlib
import struct

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"


def write(what: str, name: str, content: bytes) -> None:
    (CORPUS / what).mkdir(parents=True, exist_ok=True)
    (CORPUS / what / name).write_bytes(content)


def safetensors(tensors: list, metadata=None, pad: int = 0) -> bytes:
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, dtype, shape, size in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + size]}
        data += bytes(range(size))
    text = json.dumps(header).encode() + b" " * pad
    return struct.pack("<Q", len(text)) + text + data


write("safetensors", "empty", safetensors([]))
write("safetensors", "plain", safetensors([("a", "F32", [2, 2], 16), ("b", "BF16", [3], 6)], {"format": "pt"}, 5))
write("safetensors", "narrow", safetensors([("e", "F8_E4M3", [4], 4), ("s", "F8_E8M0", [2], 2), ("n", "F4", [2, 2], 2)]))
write("safetensors", "scalar", safetensors([("s", "I64", [], 8), ("z", "F16", [0, 5], 0), ("t", "BOOL", [1], 1)]))
write("safetensors", "hole", safetensors([("a", "U8", [1], 1)]) + b"x")
write("safetensors", "long", struct.pack("<Q", 1 << 63) + b"{}")

write("index", "two", json.dumps({"metadata": {"total_size": 8}, "weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}}).encode())
write("index", "escape", json.dumps({"weight_map": {"a": "../x", "b": "/etc/passwd", "c": "..", "d": ""}}).encode())
write("index", "odd", b'{"weight_map":{"a":1}, "metadata":[]}')

write("config", "llama", json.dumps({
    "architectures": ["LlamaForCausalLM"], "hidden_size": 8, "rope_scaling": {"rope_type": "llama3", "factor": 8.0},
    "eos_token_id": [1, 2], "tie_word_embeddings": True, "head_dim": None, "layer_types": ["full_attention"]}).encode())
write("config", "nested", json.dumps({
    "architectures": ["X"], "a": [{"b": [1, 2.5]}, {"c": "d"}], "e": {"f": {"g": {}}}, "h": [], "i": [[1], ["x"]]}).encode())
write("config", "twice", b'{"architectures":["X"],"a":1,"a":2}')
write("config", "large", b'{"architectures":["X"],"a":18446744073709551615,"b":1e999}')
