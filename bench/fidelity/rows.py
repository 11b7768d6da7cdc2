"""The rows of the comparison: what is compared, with what, and how the sample is drawn. Standard library only.

A row is a dict: key, folder (of the cache), set (measured | compiler), class, implementation, chip, program (how lower.py
makes it), and for measured rows measured_us, timing (device | host), scope (a prefix of the operations that were timed, or
all), source, and group (rows of equal arguments).

The sample is drawn by rule, not by hand: in each (class, implementation, chip) the rows, ordered by measured time, are cut
into equal strata, and of each stratum the row with the smallest hash of SEED and its key is taken. Then every row of a
sampled row's group comes along, so that ranks can be compared.
"""
import csv
import hashlib
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data"
SEED = "sublane-fidelity-1"
CHIPS = {"tpu_v6_lite": "v6e", "tpu_v5_lite": "v5e"}
# Where the figures that a revision holds were first recorded: its kernel was measured, and not yet its table of tuned block sizes.
MEASURED_AT = {"cddbf6f1": "da29e8bd"}
COMPILER_CHIPS = ("v6e", "v5e", "tpu7x")
TOKAMAX = {  # op -> (class, implementation)
    "pallas_mosaic_tpu_flash_attention": ("flash attention", "pallas"),
    "dot_product_attention": ("attention", "xla"),
    "xla_chunked_dot_product_attention": ("attention", "chunked"),
    "pallas_mosaic_tpu_ragged_dot": ("grouped matmul", "pallas"),
    "ragged_dot": ("grouped matmul", "xla"),
    "linear_softmax_cross_entropy_loss": ("fused cross-entropy", "xla"),
    "chunked_xla_linear_softmax_cross_entropy_loss": ("fused cross-entropy", "chunked"),
}


def digest(text, length=12):
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def read(name):
    with open(DATA / name, newline="") as file:
        return list(enumerate(csv.DictReader(file), start=2))  # the line number in the file


def finish(row):
    """Key and folder: stable names, made of what the row is."""
    row["folder"] = re.sub(r"[^A-Za-z0-9.]+", "-", row["key"]).strip("-") + "-" + digest(json.dumps([row["program"], row["chip"]], sort_keys=True), 8)
    return row


def tokamax_rows():
    rows = []
    for line, record in read("measured_tokamax_autotuning.csv"):
        kind, implementation = TOKAMAX[record["op"]]
        chip, arguments = CHIPS[record["device"]], json.loads(record["args_json"])
        # The v6e rows are of a younger revision than the v5e rows.
        version = "0.0.12" if chip == "v5e" else "0.0.15"
        rows.append({
            "key": f"{chip}/{kind}/{implementation}/{line}", "set": "measured", "class": kind, "implementation": implementation, "chip": chip,
            "measured_us": float(record["median_ms_latest"]) * 1000, "timing": "device", "scope": None,
            "source": f"measured_tokamax_autotuning.csv:{line}", "group": digest(chip + record["args_json"]),
            "program": {"kind": "tokamax", "tokamax": version, "op": record["op"], "args": arguments, "config": json.loads(record["config_json"])}})
    return rows


def matmul_tutorial_rows():
    rows = []
    for line, record in read("measured_jax_matmul_tutorial_v5e.csv"):
        size = int(record["m=n=k"])
        if record["variant"] == "xla":
            program = {"kind": "plain", "name": "matmul", "parameters": {"m": size, "k": size, "n": size}}
        else:
            bm, bk, bn = map(int, record["bm/bk/bn"].split("/"))
            program = {"kind": "plain", "name": "pallas_matmul", "parameters": {
                "size": size, "bm": bm, "bk": bk, "bn": bn,
                "transpose_rhs": "transpose_rhs" in record["variant"], "relu": "relu" in record["variant"]}}
        rows.append({"key": f"v5e/GEMM/{record['variant'].split()[0]}/{line}", "set": "measured", "class": "GEMM",
                     "implementation": record["variant"].split()[0], "chip": "v5e", "measured_us": float(record["time_us"]), "timing": "host",
                     "scope": None, "source": f"measured_jax_matmul_tutorial_v5e.csv:{line}", "group": f"v5e-gemm-{size}-{'t' if 'transpose' in record['variant'] else 'n'}",
                     "size": size, "program": program})
    return rows


def microbench_rows():
    rows = []
    for line, record in read("measured_microbench.csv"):
        if record["device"] != "v6e":
            continue  # collectives of slices
        size = int(record["size"])
        row = {"set": "measured", "chip": "v6e", "measured_us": float(record["time"]), "scope": None, "implementation": "xla",
               "timing": "host" if "host timing" in record["op"] else "device", "source": f"measured_microbench.csv:{line}", "group": f"v6e-micro-{line}", "size": size}
        if record["op"].startswith("gemm"):
            # Measured with --xla_tpu_scoped_vmem_limit_kib=65536.
            row |= {"key": f"v6e/GEMM/xla/{line}", "class": "GEMM", "flags": {"xla_tpu_scoped_vmem_limit_kib": 65536},
                    "program": {"kind": "plain", "name": "matmul", "parameters": {"m": size, "k": size, "n": size}}}
        else:
            row |= {"key": f"v6e/HBM copy/xla/{line}", "class": "HBM copy and elementwise",
                    "program": {"kind": "plain", "name": "copy", "parameters": {"elements": size // 2}}}
        rows.append(row)
    return rows


def sglang_rows():
    """Kernels of sgl-project/sglang-jax, timed as one operation of a trace."""
    rows = []
    for line, record in read("measured_rpa_v3_kernel_sglang_jax.csv"):
        mode, page = record["mode"], int(record["page_size"])
        parameters = {"mode": mode, "page_size": page, "tokens": int(record["num_tokens_or_seqs"]), "q_heads": int(record["q_heads"]),
                      "kv_heads": int(record["kv_heads"]), "head_dim": int(record["head_dim"])}
        revision = MEASURED_AT.get(record["sglang_jax_commit"], record["sglang_jax_commit"])
        program = {"kind": "sglang", "kernel": "rpa", "parameters": parameters}
        if revision != record["sglang_jax_commit"]:
            program["revision"] = revision  # another program: another folder of the cache
        rows.append({"key": f"v6e/ragged paged attention/{mode}-{record['sglang_jax_commit']}/{line}", "set": "measured", "class": "ragged paged attention",
                     "implementation": f"{mode} {record['sglang_jax_commit']}", "chip": "v6e", "measured_us": float(record["device_ms_used"]) * 1000, "timing": "device",
                     "scope": "RPA", "source": f"measured_rpa_v3_kernel_sglang_jax.csv:{line}", "revision": revision,
                     "group": digest("rpa" + json.dumps(parameters)), "program": program})
    for line, record in read("measured_kv_cache_update_sglang_jax.csv"):
        if record["above_hbm_peak"] == "yes":
            continue
        parameters = {key: int(record[key]) for key in ("head_num", "max_cache_len", "new_tokens", "page_size", "num_slices_per_block")}
        rows.append({"key": f"v6e/KV update/pallas/{line}", "set": "measured", "class": "KV update", "implementation": "pallas", "chip": "v6e",
                     "measured_us": float(record["device_ms_used"]) * 1000, "timing": "device", "scope": "kv_cache_update_kernel",
                     "source": f"measured_kv_cache_update_sglang_jax.csv:{line}", "group": digest("kv" + json.dumps(parameters)),
                     "program": {"kind": "sglang", "kernel": "kv_update", "parameters": parameters}})
    return rows


def divisors(size, step):
    return [d for d in range(step, size + 1, step) if size % d == 0]


def legal_blocks(batch, out, width):
    """Block sizes of the quantised matmul that divide the shape, are aligned, and leave their double-buffered blocks within
    96 MiB of VMEM."""
    choices = []
    for b in sorted({*divisors(batch, 128), batch}):  # lanes of the row of maxima
        for o in divisors(out, 128):
            for i in divisors(width, 128):
                blocks = 2 * (2 * b * i + o * i + 2 * b * o) + 4 * b * o + b * i
                if blocks <= 96 << 20:
                    choices.append((b, o, i))
    return choices


def tuned_rows(keys, others, seed=SEED):
    """`keys` keys of the published table (v6e, int8) by smallest hash, each with its published choice and `others` other legal
    choices by smallest hash."""
    records = [(line, r) for line, r in read("tuned_quantized_matmul_tpu_inference.csv") if r["tpu_version"] == "6" and r["w_q_dtype"] == "int8"]
    rows = []
    for line, record in sorted(records, key=lambda x: digest(seed + str(x[0]), 64))[:keys]:
        batch, out, width = (int(record[k]) for k in ("n_batch", "n_out", "n_in"))
        published = tuple(int(record[k]) for k in ("batch_block", "out_block", "in_block"))
        rest = [c for c in legal_blocks(batch, out, width) if c != published]
        chosen = sorted(rest, key=lambda c: digest(f"{seed}{line}{c}", 64))[:others]
        for blocks in [published] + chosen:
            name = "x".join(map(str, blocks))
            rows.append(finish({"key": f"v6e/tuned/{line}/{name}", "set": "tuned", "class": "quantised matmul", "implementation": name, "chip": "v6e",
                                "group": str(line), "published": blocks == published, "legal": len(rest) + 1,
                                "program": {"kind": "tpu_inference", "batch": batch, "out": out, "width": width, "blocks": blocks}}))
    return rows


def measured_rows():
    return [finish(row) for row in tokamax_rows() + matmul_tutorial_rows() + microbench_rows() + sglang_rows()]


def program_names():
    """Names in programs.py's PROGRAMS, without importing jax."""
    text = (HERE / "programs.py").read_text()
    return re.findall(r'^    "([a-z0-9_]+)": ', text[text.index("PROGRAMS = {"):], re.MULTILINE)


def compiler_rows():
    rows = []
    for name in program_names():
        for chip in COMPILER_CHIPS:
            program = {"kind": "plain", "name": name}
            if name == "all_reduce":
                program["devices"] = 4
            rows.append(finish({"key": f"{chip}/compiler/{name}", "set": "compiler", "class": name, "implementation": "", "chip": chip,
                                "group": None, "program": program}))
    return rows


def stratum(row):
    return row["class"], row["implementation"], row["chip"]


def sample(rows, per_stratum, seed=SEED):
    """`per_stratum` rows of each (class, implementation, chip), spread over their times; then the rows of their groups."""
    strata = {}
    for row in rows:
        strata.setdefault(stratum(row), []).append(row)
    taken = {}
    for members in strata.values():
        members = sorted(members, key=lambda r: (r["measured_us"], r["key"]))
        parts = min(per_stratum, len(members))
        for part in range(parts):
            within = members[part * len(members) // parts:(part + 1) * len(members) // parts]
            row = min(within, key=lambda r: digest(seed + r["key"], 64))
            taken[row["key"]] = row
    groups = {row["group"] for row in taken.values()}
    for row in rows:
        if row["group"] in groups and row["program"]["kind"] == "tokamax":
            taken.setdefault(row["key"], row)
    return sorted(taken.values(), key=lambda r: r["key"])
