"""Makes tests/models/goldens/*.txt: logits of tiny models by Hugging Face transformers, in float32.

Weights come from a hash of the tensor's name and the element's index, so that a golden is only its logits;
tests/models/tiny_model.h has the same formula. Needs PyPI torch and transformers; the tests need neither.

    python tools/reference/models/make_goldens.py [NAME ...]   # writes beside each tests/models/goldens/*.json
"""
import json
import math
import pathlib
import sys
import tempfile

import numpy
import safetensors.torch
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
    if name.endswith("A_log"):  # of states that remember
        values = values - 1.5
    elif len(shape) == 1:
        values = values * 0.25 + (0.0 if stored_as_delta and "linear_attn" not in name else 1.0)
    else:
        values = values * (2.0 if "embed" in name else 2.5 / math.sqrt(shape[1]))
    return torch.from_numpy(values.astype(numpy.float32).reshape(shape))


def prompt(vocabulary: int) -> list:
    return [(7 * i * i + 3 * i + 5) % vocabulary for i in range(TOKENS)]


def filled(config) -> transformers.PreTrainedModel:
    """The model with hashed weights. They are given by their names in a checkpoint, which may be others than the
    model's own (experts one by one): what save_pretrained writes says them, and from_pretrained reads them."""
    random = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    delta = config.model_type.startswith(("gemma", "qwen3_next", "qwen3_5"))
    with tempfile.TemporaryDirectory() as folder:
        random.save_pretrained(folder)
        path = pathlib.Path(folder) / "model.safetensors"
        stored = safetensors.torch.load_file(path)
        weights = {name: weight(name, tuple(value.shape), delta) for name, value in stored.items()}
        safetensors.torch.save_file(weights, path, metadata={"format": "pt"})
        return transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="eager").eval()


def golden(path: pathlib.Path) -> str:
    config = transformers.AutoConfig.for_model(**json.loads(path.read_text()))
    model = filled(config)
    tokens = prompt(config.vocab_size)
    with torch.no_grad():
        logits = model(torch.tensor([tokens])).logits[0]
    lines = [f"# transformers {transformers.__version__}, torch {torch.__version__}, float32, eager attention"]
    lines.append("tokens " + " ".join(map(str, tokens)))
    # Every position where experts are chosen: each of them shows in some.
    has_experts = any("expert" in name for name, _ in model.named_parameters())
    for position in range(TOKENS) if has_experts else POSITIONS:
        lines.append(f"logits {position} " + " ".join(f"{v:.7g}" for v in logits[position].tolist()))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    wanted = sys.argv[1:]
    for config_file in sorted(GOLDENS.glob("*.json")):
        if wanted and config_file.stem not in wanted:
            continue
        config_file.with_suffix(".txt").write_text(golden(config_file))
        print(config_file.with_suffix(".txt").name)
