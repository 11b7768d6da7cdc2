"""Makes tests/models/goldens/*.txt: logits of tiny models by Hugging Face transformers, in float32.

Weights come from a hash of the tensor's name and the element's index, so that a golden is only its logits;
tests/models/tiny_model.h has the same formula. Needs PyPI torch and transformers; the tests need neither.

    python tools/reference/models/make_goldens.py            # writes beside each tests/models/goldens/*.json
"""
import json
import math
import pathlib

import numpy
import torch
import transformers

GOLDENS = pathlib.Path(__file__).resolve().parents[3] / "tests" / "models" / "goldens"
TOKENS = 23
POSITIONS = [0, 4, 5, 13, 22]


def hashed(name: str, count: int) -> numpy.ndarray:
    """Values in [-1, 1) with 24 bits."""
    seed = 2166136261
    for byte in name.encode():
        seed = ((seed ^ byte) * 16777619) & 0xFFFFFFFF
    h = (numpy.arange(count, dtype=numpy.uint64) * 0x9E3779B9 + seed) & 0xFFFFFFFF
    h ^= h >> 16
    h = (h * 0x85EBCA6B) & 0xFFFFFFFF
    h ^= h >> 13
    h = (h * 0xC2B2AE35) & 0xFFFFFFFF
    h ^= h >> 16
    return (h >> 8).astype(numpy.float64) / 2.0**23 - 1.0


def weight(name: str, shape: tuple, stored_as_delta: bool) -> torch.Tensor:
    values = hashed(name, math.prod(shape))
    if len(shape) == 1:
        values = values * 0.25 + (0.0 if stored_as_delta else 1.0)
    else:
        values = values * (2.0 if "embed" in name else 2.5 / math.sqrt(shape[1]))
    return torch.from_numpy(values.astype(numpy.float32).reshape(shape))


def prompt(vocabulary: int) -> list:
    return [(7 * i * i + 3 * i + 5) % vocabulary for i in range(TOKENS)]


def golden(path: pathlib.Path) -> str:
    config = transformers.AutoConfig.for_model(**json.loads(path.read_text()))
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    delta = config.model_type.startswith("gemma")
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weight(name, tuple(parameter.shape), delta))
        tokens = prompt(config.vocab_size)
        logits = model(torch.tensor([tokens])).logits[0]
    lines = [f"# transformers {transformers.__version__}, torch {torch.__version__}, float32, eager attention"]
    lines.append("tokens " + " ".join(map(str, tokens)))
    for position in POSITIONS:
        lines.append(f"logits {position} " + " ".join(f"{v:.7g}" for v in logits[position].tolist()))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for config_file in sorted(GOLDENS.glob("*.json")):
        config_file.with_suffix(".txt").write_text(golden(config_file))
        print(config_file.with_suffix(".txt").name)
