"""Quantised checkpoints beside a float64 reference in NumPy, written here from the description of each format.

Tiny folders are written with PyPI safetensors, in each format; what Sublane reads (`sublane inspect --dump`) is compared
with the reference, rounded to float32 once. SUBLANE_BINARY names the program; SUBLANE_SEED brings a failure back.
"""

import json
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

import ml_dtypes
import numpy as np
import safetensors.numpy

BINARY = os.environ["SUBLANE_BINARY"]
SEED = int(os.environ.get("SUBLANE_SEED", random.SystemRandom().randrange(2**32)))
NAME = "model.layers.0.self_attn.q_proj"
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
TYPES = {"float8_e4m3fn": "F8_E4M3", "float8_e8m0fnu": "F8_E8M0", "bfloat16": "BF16"}


def write_safetensors(path: pathlib.Path, tensors: dict[str, np.ndarray]) -> None:
    """safetensors.numpy knows no eight-bit floats: their bytes go through the serialiser with the type's name."""
    described = {}
    for name, array in tensors.items():
        dtype = TYPES.get(array.dtype.name, {"float32": "F32", "float16": "F16", "int32": "I32", "int64": "I64", "int8": "I8",
                                             "uint8": "U8"}.get(array.dtype.name))
        described[name] = (dtype, array)
    header, data = {}, b""
    for name, (dtype, array) in described.items():
        content = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    safetensors.deserialize(path.read_bytes())  # the reference reads it too


def words(codes: np.ndarray, axis: int, bits: int, slots: list[int] | None = None) -> np.ndarray:
    """Packs codes along an axis into 32-bit words; code slots[i] of each n lies i-th from the bottom."""
    n = 32 // bits
    codes = np.moveaxis(codes, axis, -1).astype(np.uint32)
    codes = np.pad(codes, [(0, 0)] * (codes.ndim - 1) + [(0, -codes.shape[-1] % n)])
    codes = codes.reshape(*codes.shape[:-1], -1, n)[..., slots or list(range(n))]
    packed = np.zeros(codes.shape[:-1], np.uint32)
    for i in range(n):
        packed |= codes[..., i] << np.uint32(bits * i)
    return np.moveaxis(packed, -1, axis).view(np.int32)


def nibbles(codes: np.ndarray) -> np.ndarray:
    return (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)


def weights(bits: int, strategy: str, symmetric: bool = True, kind: str = "int", **more) -> dict:
    return {"num_bits": bits, "type": kind, "strategy": strategy, "symmetric": symmetric, "dynamic": False,
            "observer": "minmax", "observer_kwargs": {}, "actorder": None, "block_structure": None, "group_size": None} | more


def compressed(format_name: str, weights_args: dict, inputs: dict | None = None) -> dict:
    group = {"targets": ["Linear"], "weights": weights_args, "input_activations": inputs, "output_activations": None}
    return {"quant_method": "compressed-tensors", "format": format_name, "config_groups": {"group_0": group},
            "ignore": ["lm_head"], "kv_cache_scheme": None, "quantization_status": "compressed", "version": "0.9.0"}


class Quantised(unittest.TestCase):
    def setUp(self) -> None:
        self.rng = np.random.default_rng(SEED)

    def read(self, config: dict | None, tensors: dict[str, np.ndarray], wanted: str) -> np.ndarray:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            model = {"architectures": ["LlamaForCausalLM"]} | ({"quantization_config": config} if config else {})
            (root / "config.json").write_text(json.dumps(model))
            write_safetensors(root / "model.safetensors", tensors)
            subprocess.run([BINARY, "inspect", folder, "--dump", wanted, "-o", str(root / "out.npy")], check=True)
            return np.load(root / "out.npy")

    def check(self, config: dict, tensors: dict[str, np.ndarray], expected: np.ndarray, rounded_once: bool = True) -> None:
        ours = self.read(config, {f"{NAME}.{part}": array for part, array in tensors.items()}, NAME + ".weight")
        self.assertEqual(ours.shape, expected.shape)
        if rounded_once:
            np.testing.assert_array_equal(ours, expected.astype(np.float32), f"seed {SEED}")
        else:
            np.testing.assert_allclose(ours, expected, rtol=2.0**-22, err_msg=f"seed {SEED}")

    def scales(self, *shape: int) -> np.ndarray:
        return (self.rng.uniform(0.001, 0.1, shape) * self.rng.choice([1, 1, 1, -1], shape)).astype(np.float16)

    def test_gptq(self) -> None:
        """qweight [in / n, out], qzeros [groups, out / n], scales [groups, out]: scale * (code - zero point)."""
        inputs, outputs = 96, 40
        for bits in (4, 8):
            for version in (1, 2):
                for group in (32, -1, 40):
                    for act_order in (False, True):
                        size = inputs if group == -1 else group
                        groups = -(-inputs // size)
                        codes = self.rng.integers(0, 2**bits, (inputs, outputs))
                        zeros = self.rng.integers(version == 1, 2**bits - 1, (groups, outputs))
                        scales = self.scales(groups, outputs)
                        order = np.arange(inputs) // size
                        if act_order:
                            order = self.rng.permutation(order)
                        config = {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": act_order,
                                  "sym": False, "checkpoint_format": "gptq" if version == 1 else "gptq_v2",
                                  "damp_percent": 0.1, "true_sequential": True, "lm_head": False}
                        stored = zeros - 1 if version == 1 else zeros
                        parts = {"qweight": words(codes, 0, bits), "qzeros": words(stored, 1, bits), "scales": scales,
                                 "g_idx": order.astype(np.int32)}
                        expected = scales.astype(np.float64)[order] * (codes - zeros[order])
                        with self.subTest(bits=bits, version=version, group=group, act_order=act_order):
                            self.check(config, parts, expected.T)

    def test_awq(self) -> None:
        """qweight [in, out / 8], qzeros [groups, out / 8], outputs 0 2 4 6 1 3 5 7 in a word."""
        inputs, outputs = 96, 40
        for group in (32, -1):
            size = inputs if group == -1 else group
            codes = self.rng.integers(0, 16, (inputs, outputs))
            zeros = self.rng.integers(0, 16, (inputs // size, outputs))
            scales = self.scales(inputs // size, outputs)
            slots = [0, 2, 4, 6, 1, 3, 5, 7]
            config = {"quant_method": "awq", "bits": 4, "group_size": group, "zero_point": True, "version": "gemm",
                      "modules_to_not_convert": None}
            order = np.arange(inputs) // size
            self.check(config, {"qweight": words(codes, 1, 4, slots), "qzeros": words(zeros, 1, 4, slots), "scales": scales},
                       (scales.astype(np.float64)[order] * (codes - zeros[order])).T)

    def test_pack_quantized(self) -> None:
        """weight_packed [out, in / n] of codes above zero by half of their range; zero points packed along outputs."""
        outputs, inputs = 24, 100
        for bits in (4, 8):
            half = 2 ** (bits - 1)
            for symmetric in (True, False):
                for group in (20, None):
                    size = group or inputs
                    codes = self.rng.integers(-half, half, (outputs, inputs))
                    zeros = self.rng.integers(-half, half, (outputs, inputs // size)) * (not symmetric)
                    scales = self.scales(outputs, inputs // size).astype(ml_dtypes.bfloat16)
                    parts = {"weight_packed": words(codes + half, 1, bits), "weight_scale": scales,
                             "weight_shape": np.array([outputs, inputs], np.int64)}
                    if not symmetric:
                        parts["weight_zero_point"] = words(zeros + half, 0, bits)
                    config = compressed("pack-quantized", weights(bits, "group" if group else "channel", symmetric,
                                                                  group_size=group))
                    expected = (codes - np.repeat(zeros, size, 1)) * np.repeat(scales.astype(np.float64), size, 1)
                    with self.subTest(bits=bits, symmetric=symmetric, group=group):
                        self.check(config, parts, expected)

    def test_pack_quantized_with_groups_of_columns(self) -> None:
        outputs, inputs, size = 8, 64, 16
        codes = self.rng.integers(-8, 8, (outputs, inputs))
        scales = self.scales(outputs, inputs // size)
        order = self.rng.permutation(np.arange(inputs) // size)
        config = compressed("pack-quantized", weights(4, "group", group_size=size, actorder="group"))
        self.check(config, {"weight_packed": words(codes + 8, 1, 4), "weight_scale": scales,
                            "weight_shape": np.array([outputs, inputs], np.int64), "weight_g_idx": order.astype(np.int32)},
                   codes * scales.astype(np.float64)[:, order])

    def test_int8(self) -> None:
        outputs, inputs = 12, 30
        codes = self.rng.integers(-128, 128, (outputs, inputs)).astype(np.int8)
        token = {"num_bits": 8, "type": "int", "strategy": "token", "symmetric": True, "dynamic": True}
        for strategy, shape in {"tensor": (1,), "channel": (outputs, 1)}.items():
            for symmetric in (True, False):
                scales = self.scales(*shape).astype(np.float32)
                zeros = self.rng.integers(-20, 20, shape).astype(np.int8)
                parts = {"weight": codes, "weight_scale": scales} | ({} if symmetric else {"weight_zero_point": zeros})
                config = compressed("int-quantized", weights(8, strategy, symmetric), token)
                expected = (codes.astype(np.float64) - (0 if symmetric else zeros)) * scales.astype(np.float64)
                with self.subTest(strategy=strategy, symmetric=symmetric):
                    self.check(config, parts, expected)

    def fp8(self, *shape: int) -> np.ndarray:
        codes = self.rng.integers(0, 256, shape, dtype=np.uint8)
        codes[(codes & 0x7F) == 0x7F] = 0x7E  # NaN is looked at elsewhere
        return codes.view(ml_dtypes.float8_e4m3fn)

    def test_float_quantized(self) -> None:
        outputs, inputs = 100, 72
        codes = self.fp8(outputs, inputs)
        static = {"num_bits": 8, "type": "float", "strategy": "tensor", "symmetric": True, "dynamic": False}
        for strategy, shape, more in (("tensor", (1,), {}), ("channel", (outputs, 1), {}),
                                      ("block", (4, 3), {"block_structure": [32, 32]}), ("group", (outputs, 3), {"group_size": 24})):
            scales = self.scales(*shape).astype(np.float32)
            full = scales.astype(np.float64)
            if strategy == "block":
                full = full[np.arange(outputs) // 32][:, np.arange(inputs) // 32]
            if strategy == "group":
                full = full[:, np.arange(inputs) // 24]
            config = compressed("float-quantized", weights(8, strategy, kind="float", **more), static)
            with self.subTest(strategy=strategy):
                self.check(config, {"weight": codes, "weight_scale": scales, "input_scale": np.array([0.5], np.float32)},
                           codes.astype(np.float64) * full)

    def test_fp8_blocks(self) -> None:
        """DeepSeek: weight_scale_inv is multiplied; block of row r: floor(r / 128)."""
        for outputs, inputs in ((1000, 640), (96, 96), (129, 127)):
            codes = self.fp8(outputs, inputs)
            scales = self.rng.uniform(1e-4, 1, (-(-outputs // 128), -(-inputs // 128))).astype(np.float32)
            config = {"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3", "weight_block_size": [128, 128]}
            full = scales.astype(np.float64)[np.arange(outputs) // 128][:, np.arange(inputs) // 128]
            with self.subTest(shape=(outputs, inputs)):
                self.check(config, {"weight": codes, "weight_scale_inv": scales}, codes.astype(np.float64) * full)

    def test_fp8_block_scales_that_are_powers_of_two(self) -> None:
        codes = self.fp8(64, 64)
        scales = self.rng.integers(100, 140, (2, 2), dtype=np.uint8).view(ml_dtypes.float8_e8m0fnu)
        config = {"quant_method": "fp8", "activation_scheme": "dynamic", "scale_fmt": "ue8m0", "weight_block_size": [32, 32]}
        full = scales.astype(np.float64)[np.arange(64) // 32][:, np.arange(64) // 32]
        self.check(config, {"weight": codes, "weight_scale_inv": scales}, codes.astype(np.float64) * full)

    def test_nvfp4(self) -> None:
        """Code * (scale of 16 / global scale)."""
        outputs, inputs = 20, 64
        codes = self.rng.integers(0, 16, (outputs, inputs))
        scales = np.abs(self.fp8(outputs, inputs // 16).astype(np.float32)).astype(ml_dtypes.float8_e4m3fn)
        for value in (1.0, 448 * 6 / 0.37):
            global_scale = np.array([value], np.float32)
            config = compressed("nvfp4-pack-quantized", weights(4, "tensor_group", kind="float", group_size=16))
            full = np.repeat(scales.astype(np.float64) / global_scale.astype(np.float64), 16, 1)
            self.check(config, {"weight_packed": nibbles(codes), "weight_scale": scales, "weight_global_scale": global_scale},
                       E2M1[codes] * full, rounded_once=value == 1.0)

    def test_mxfp4(self) -> None:
        """gpt-oss: [experts, outputs, blocks, 16] bytes of two codes, the lower first; scale 2^(s - 127)."""
        experts, outputs, blocks = 3, 10, 4
        codes = self.rng.integers(0, 16, (experts, outputs, blocks, 32))
        scales = self.rng.integers(90, 160, (experts, outputs, blocks), dtype=np.uint8)
        name = "model.layers.0.mlp.experts.down_proj"
        ours = self.read({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head", "model.layers.*.self_attn"]},
                         {name + "_blocks": nibbles(codes), name + "_scales": scales,
                          name + "_bias": np.zeros((experts, outputs), ml_dtypes.bfloat16)}, name)
        expected = E2M1[codes] * np.exp2(scales.astype(np.float64) - 127)[..., None]
        np.testing.assert_array_equal(ours, expected.reshape(experts, outputs, blocks * 32).astype(np.float32))

    def test_eight_bit_floats_without_scales(self) -> None:
        """All codes of plain tensors, widened."""
        every = np.arange(256, dtype=np.uint8)
        for name in ("float8_e4m3fn", "float8_e8m0fnu"):
            codes = every.view(getattr(ml_dtypes, name))
            np.testing.assert_array_equal(self.read(None, {"t": codes}, "t"), codes.astype(np.float32))


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
