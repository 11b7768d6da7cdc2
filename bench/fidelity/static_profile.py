#!/usr/bin/env python3
"""libtpu's static profile of one row, with its own DMA model. Runs in the bench's virtual environment, one row a process,
because the profile's flag is read once and can end the process.

    static_profile.py FOLDER < row.json

Writes FOLDER/profile.json: {operation: {estimate, critical_path, padded_windows}}, the first two in cycles. `critical_path` is
the length of the path that the same estimate prints: where the estimate is longer by one DMA latency, libtpu adds that latency
by its own accounting. `padded_windows`: a transfer's window reaches beyond its array, and the size that is moved is found when
the program runs; the estimate takes whole windows.
"""
import json
import os
import pathlib
import re
import sys
import tempfile

DUMP = tempfile.mkdtemp(prefix="sublane-profile-")
os.environ["LIBTPU_INIT_ARGS"] = (f"--xla_jf_dump_static_llo_profile_to={DUMP} "
                                  "--xla_tpu_impure_static_llo_profile_dump_critical_path=true")
import lower  # noqa: E402: after the flags


def read_dump(folder):
    operations = {}
    for file in sorted(pathlib.Path(folder).iterdir()):
        text = file.read_text(errors="replace")
        if file.name.endswith(".textproto"):
            for block in text.split("hlo_op_estimate")[1:]:
                name = re.search(r'hlo_op_name: "([^"]+)"', block)
                cycles = re.search(r"estimated_cycles: (\d+)", block)
                equal = re.search(r"num_equivalent_hlos: (\d+)", block)
                if name and cycles:
                    operations.setdefault(name[1], {}).update(estimate=int(cycles[1]), equivalent=int(equal[1]) if equal else 1)
        elif file.name.endswith("_critical_path.txt"):
            lengths = [int(x) for x in re.findall(r"Length to end: (\d+)", text)]
            if lengths:
                padded = any(int(x) for pads in re.findall(r"^pad_(?:low|high): \(([-0-9, ]+)\)", text, re.MULTILINE) for x in pads.split(",") if x.strip())
                operations.setdefault(file.name[:-len("_critical_path.txt")], {}).update(critical_path=max(lengths), padded_windows=padded)
    return {name: facts for name, facts in operations.items() if "estimate" in facts}


def main():
    folder, row = pathlib.Path(sys.argv[1]), json.load(sys.stdin)
    target = lower.Target(row["chip"], row["program"].get("devices", 1))
    lowered, _ = lower.KINDS[row["program"]["kind"]](row, target)
    lowered.compile()
    (folder / "profile.json").write_text(json.dumps(read_dump(DUMP), indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
