"""Writes corpus/quantised/*: a config.json and a safetensors file for each method. Needs nothing but Python.

    python3 tests/fuzz/make_quantised_seeds.py
"""

import json
import pathlib
import struct

BYTES = {"I32": 4, "F16": 2, "BF16": 2, "F32": 4, "I64": 8, "U8": 1, "I8": 1, "F8_E4M3": 1}


def seed(config: dict, tensors: dict) -> bytes:
    """tensors: name -> (dtype, shape, bytes or None for 0x77)"""
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        size = BYTES[dtype]
        for n in shape:
            size *= n
        content = content if content is not None else b"\x77" * size
        assert len(content) == size, name
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + size]}
        data += content
    text = json.dumps({"architectures": ["X"], "quantization_config": config}, separators=(",", ":")).encode()
    names = json.dumps(header, separators=(",", ":")).encode()
    return text + b"\0" + struct.pack("<Q", len(names)) + names + data


def compressed(format_name: str, **weights) -> dict:
    weights = {"dynamic": False, "symmetric": True} | weights
    return {"quant_method": "compressed-tensors", "format": format_name, "config_groups": {"group_0": {"weights": weights}}}


GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 8, "desc_act": True, "sym": True}
GPTQ_PARTS = {"q.qweight": ("I32", [2, 8], None), "q.qzeros": ("I32", [2, 1], None), "q.scales": ("F16", [2, 8], None),
              "q.g_idx": ("I32", [16], struct.pack("<16i", *([0, 1] * 8)))}
FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic"}
SEEDS = {
    "gptq": seed(GPTQ, GPTQ_PARTS),
    "gptq_v2": seed(GPTQ | {"checkpoint_format": "gptq_v2", "sym": False}, GPTQ_PARTS),
    "awq": seed({"quant_method": "awq", "bits": 4, "group_size": 2, "zero_point": True, "version": "gemm"},
                {"q.qweight": ("I32", [4, 1], None), "q.qzeros": ("I32", [2, 1], None), "q.scales": ("F16", [2, 8], None)}),
    "fp8_blocks": seed(FP8 | {"weight_block_size": [2, 2]},
                       {"q.weight": ("F8_E4M3", [3, 3], None), "q.weight_scale_inv": ("F32", [2, 2], None)}),
    "fp8_tensor": seed(FP8 | {"activation_scheme": "static"},
                       {"q.weight": ("F8_E4M3", [3, 3], None), "q.weight_scale": ("F32", [], None),
                        "q.input_scale": ("F32", [1], None), "n.weight": ("BF16", [3], None)}),
    "mxfp4": seed({"quant_method": "mxfp4"}, {"e_blocks": ("U8", [2, 1, 1, 16], None), "e_scales": ("U8", [2, 1, 1], None)}),
    "pack": seed(compressed("pack-quantized", num_bits=4, type="int", strategy="group", group_size=4, symmetric=False),
                 {"q.weight_packed": ("I32", [2, 2], None), "q.weight_scale": ("BF16", [2, 3], None),
                  "q.weight_zero_point": ("I32", [1, 3], None), "q.weight_shape": ("I64", [2], struct.pack("<2q", 2, 12))}),
    "int8": seed(compressed("int-quantized", num_bits=8, type="int", strategy="channel"),
                 {"q.weight": ("I8", [2, 3], None), "q.weight_scale": ("F32", [2, 1], None)}),
    "nvfp4": seed(compressed("nvfp4-pack-quantized", num_bits=4, type="float", strategy="tensor_group", group_size=16),
                  {"q.weight_packed": ("U8", [1, 16], None), "q.weight_scale": ("F8_E4M3", [1, 2], None),
                   "q.weight_global_scale": ("F32", [1], None)}),
}

if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "corpus" / "quantised"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in SEEDS.items():
        (folder / name).write_bytes(content)
