"""Errors by class and chip, ranks, and the worst rows, from rows and results. Standard library only; table_test.py tests it.

An error is simulated / measured - 1. A class's score is the median of its absolute errors; a class of fewer than LEAST points
is reported, not scored.
"""
import math

LEAST = 5
GOALS = {"GEMM": 0.05, "grouped matmul": 0.05, "ragged paged attention": 0.20}
GOAL, GOAL_P90 = 0.10, 0.25
HOST_LEAST = 4096  # host-timed GEMM below this size is mostly launch
DMA_LATENCY = {"v5e": 1133, "v6e": 546, "tpu7x": 690}  # libtpu's own, cycles, HBM to VMEM (fitted on its critical paths)
PROFILE_LEAST_CYCLES = 500
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")


def quantile(values, q):
    """Linear between order statistics."""
    values = sorted(values)
    at = (len(values) - 1) * q
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def median(values):
    return quantile(values, 0.5)


def launch_us(rows, results):
    """One launch constant a source of host times: the median of what the host saw beyond the simulated time. It is found from the
    source's rows of small size, which are mostly launch and are not scored, where there are at least three."""
    small, large = {}, {}
    for row in rows:
        if row.get("timing") == "host" and "us" in results.get(row["key"], {}):
            side = large if row.get("size", 0) >= HOST_LEAST else small
            side.setdefault(row["source"].split(":")[0], []).append(row["measured_us"] - results[row["key"]]["us"])
    # Host time is never shorter than device time.
    return {source: max(0.0, median(small[source] if len(small.get(source, [])) >= 3 else large.get(source, [0.0])))
            for source in small | large}


def measured_errors(rows, results):
    """[(row, error)] of the rows that have a result; host-timed ones less their source's launch constant."""
    launch, errors = launch_us(rows, results), []
    for row in rows:
        result = results.get(row["key"], {})
        if row["set"] != "measured" or "us" not in result:
            continue
        simulated = result["us"]
        if row["timing"] == "host":
            simulated += launch.get(row["source"].split(":")[0], 0.0)
        errors.append((row, simulated / row["measured_us"] - 1))
    return errors


def scored_class(row):
    """Class as it is scored, or None for rows that are only listed."""
    if row["timing"] == "host":
        return "GEMM (host-timed)" if row.get("size", 0) >= HOST_LEAST else None
    return row["class"]


def summarise(errors, key):
    """[{name, points, median, p90, worst, bias}] by key(row), sorted by name."""
    parts = {}
    for row, error in errors:
        if (name := key(row)) is not None:
            parts.setdefault(name, []).append(error)
    return [{"name": name, "points": len(e), "median": median(map(abs, e)), "p90": quantile(map(abs, e), 0.9),
             "worst": max(e, key=abs), "bias": median(e), "scored": len(e) >= LEAST} for name, e in sorted(parts.items())]


def paired(errors, key):
    """{name: {paired, paired_between_kernels}}, each {pairs, p90}: errors of the ratio of two points of one key, turned so that they
    are above 0. What two points are wrong by alike cancels; pairs of one kernel (class and implementation) and of two stand apart. Of
    points whose measured times are within a factor of two, as two versions of a program mostly are."""
    parts = {}
    for row, error in errors:
        if (name := key(row)) is not None:
            parts.setdefault(name, []).append((row["implementation"], row["measured_us"], math.log1p(error)))
    summary = {}
    for name, points in parts.items():
        found = {True: [], False: []}
        for i, (a, a_us, x) in enumerate(points):
            for b, b_us, y in points[i + 1:]:
                if max(a_us, b_us) <= 2 * min(a_us, b_us):
                    found[a == b].append(math.expm1(abs(x - y)))
        summary[name] = {what: {"pairs": len(e), "p90": quantile(e, 0.9) if e else 0.0}
                         for what, e in (("paired", found[True]), ("paired_between_kernels", found[False]))}
    return summary


def paired_report(errors):
    pairs = paired(errors, lambda r: scored_class(r) and f"{scored_class(r)}, {r['chip']}")
    cell = lambda p: [p["pairs"], f"{100 * p['p90']:.1f} %"] if p["pairs"] else [0, "-"]
    return ["", "Pairs of points: how far the ratio of their simulated times is from that of their measured ones, where",
            "these are within a factor of two. `sublane diff` takes its resolution from them.", ""] + grid(["class", "pairs of one kernel", "p90", "pairs of two kernels", "p90"],
                                                [[name, *cell(p["paired"]), *cell(p["paired_between_kernels"])] for name, p in sorted(pairs.items())])


def rank_pairs(rows, results, least=1.10):
    """Pairs of equal arguments whose measured times differ by `least`: (right signs, pairs, wrong pairs). Predictions that are
    equal are wrong."""
    groups = {}
    for row in rows:
        if row["set"] == "measured" and row["group"] and row["timing"] == "device" and "us" in results.get(row["key"], {}):
            groups.setdefault((row["chip"], row["group"]), []).append(row)
    right, pairs, wrong = 0, 0, []
    for members in groups.values():
        members = sorted(members, key=lambda r: r["key"])
        for i, a in enumerate(members):
            for b in members[i + 1:]:
                slow, fast = (a, b) if a["measured_us"] >= b["measured_us"] else (b, a)
                if slow["measured_us"] < least * fast["measured_us"]:
                    continue
                pairs += 1
                if results[slow["key"]]["us"] > results[fast["key"]]["us"]:
                    right += 1
                else:
                    wrong.append((slow["key"], fast["key"], slow["measured_us"] / fast["measured_us"], results[slow["key"]]["us"] / results[fast["key"]]["us"]))
    return right, pairs, wrong


def profile_pairs(rows, results):
    """Kernel-chip pairs of the static profile: ([(chip, program, operation, libtpu, ours, error)], [(chip, program, operation, why
    excluded)]). The rules: an estimate that is one DMA latency longer than its own critical path is libtpu's accounting; and where a
    transfer's window reaches beyond its array, what is moved is found when the program runs, but the estimate prices the whole."""
    pairs, excluded = [], []
    for row in rows:
        result = results.get(row["key"], {})
        if row["set"] != "compiler" or "ops" not in result:
            continue
        for name, facts in sorted(result["profile"].items()):
            where = (row["chip"], row["class"], name)
            ours = result["ops"].get(name)
            added = facts["estimate"] - facts.get("critical_path", facts["estimate"])
            if facts["estimate"] < PROFILE_LEAST_CYCLES:
                excluded.append((*where, f"below {PROFILE_LEAST_CYCLES} cycles"))
            elif added >= 0.9 * DMA_LATENCY[row["chip"]]:
                excluded.append((*where, f"the estimate is its critical path {facts['critical_path']} plus {added}: one DMA latency"))
            elif name.startswith(COLLECTIVES):
                excluded.append((*where, f"a link to other chips, of which libtpu's own figures are not known: {facts['estimate']}, ours is {ours or 0:.0f}"))
            elif facts.get("padded_windows"):
                excluded.append((*where, f"a window reaches beyond its array: {facts['estimate']} prices it whole, ours is {ours or 0:.0f}"))
            elif ours is None:
                excluded.append((*where, "no such operation in the simulation"))
            else:
                pairs.append((*where, facts["estimate"], ours, ours / facts["estimate"] - 1))
    return pairs, excluded


def tuned_ranks(rows, results):
    """Of each key of the tuned table: (choices that ran, published choice's place among them from 0 = fastest to 1 = slowest, its
    time over the fastest, mean time of the others over the fastest)."""
    keys = {}
    for row in rows:
        if row["set"] == "tuned" and "us" in results.get(row["key"], {}):
            keys.setdefault(row["group"], []).append((row["published"], results[row["key"]]["us"]))
    out = []
    for _, choices in sorted(keys.items()):
        published = [us for mine, us in choices if mine]
        others = [us for mine, us in choices if not mine]
        if not published or not others:
            continue
        best = min(published + others)
        slower = sum(us > published[0] for us in others) + 0.5 * sum(us == published[0] for us in others)
        out.append((len(choices), 1 - slower / len(others), published[0] / best, sum(others) / len(others) / best))
    return out


def tuned_report(rows, results):
    ranks = tuned_ranks(rows, results)
    if not ranks:
        return []
    mean = lambda at: sum(r[at] for r in ranks) / len(ranks)
    return ["", "### Published block choices of quantised matmul (v6e, int8)", "",
            f"{len(ranks)} keys, each with {mean(0) - 1:.1f} other legal choices drawn at random on average. 0 is the fastest, 1 the slowest.", ""] + grid(
                ["", "mean place", "median place", "time over the fastest drawn (median)"],
                [["published", f"{mean(1):.2f}", f"{median([r[1] for r in ranks]):.2f}", f"{median([r[2] for r in ranks]):.2f}"],
                 ["a random legal choice", "0.50", "0.50", f"{median([r[3] for r in ranks]):.2f}"]])


def percent(x):
    return f"{100 * x:+.1f} %"


def grid(header, lines):
    """A Markdown table."""
    out = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return out + ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]


def summary_grid(summary, goal_of):
    lines = []
    for s in summary:
        goal = goal_of(s["name"])
        verdict = "not scored" if not s["scored"] else "met" if s["median"] <= goal and s["p90"] <= max(GOAL_P90, goal) else "missed"
        lines.append([s["name"], s["points"], f"{100 * s['median']:.1f} %", f"{100 * s['p90']:.1f} %", percent(s["worst"]), percent(s["bias"]),
                      f"{100 * goal:.0f} %", verdict])
    return grid(["class", "points", "median", "p90", "worst", "bias", "goal", ""], lines)


def goal_of(name):
    return next((goal for kind, goal in GOALS.items() if name.startswith(kind)), GOAL)


def measured_report(rows, results, worst=12):
    errors = measured_errors(rows, results)
    lines = ["### Measured time, by class and chip", "", "Origin of both sides: measured (the row's source), simulated.", ""]
    lines += summary_grid(summarise(errors, lambda r: scored_class(r) and f"{scored_class(r)}, {r['chip']}"), goal_of)
    lines += ["", "By implementation:", ""]
    lines += summary_grid(summarise(errors, lambda r: scored_class(r) and f"{scored_class(r)}, {r['chip']}, {r['implementation']}"), goal_of)
    lines += paired_report(errors)
    for source, us in sorted(launch_us(rows, results).items()):
        lines += ["", f"Host times of {source} hold {us:.0f} us of launch (the median over its rows below n = {HOST_LEAST}, which are not scored; added to the simulated time)."]
    lines += ["", f"Worst {worst} rows:", ""]
    ordered = sorted((e for e in errors if scored_class(e[0])), key=lambda e: -abs(e[1]))[:worst]
    lines += grid(["row", "measured us", "simulated us", "error"],
                  [[row["key"], f"{row['measured_us']:.1f}", f"{results[row['key']]['us']:.1f}", percent(error)] for row, error in ordered])
    return lines


def rank_report(rows, results):
    right, pairs, wrong = rank_pairs(rows, results)
    if not pairs:
        return []
    lines = ["", "### Ranks of implementations with equal arguments", "",
             f"{right} of {pairs} pairs that differ by 10 % or more have the right sign ({100 * right / pairs:.0f} %; goal 85 %)."]
    if wrong:
        lines += [""] + grid(["slower", "faster", "measured ratio", "simulated ratio"], [[a, b, f"{m:.2f}", f"{s:.2f}"] for a, b, m, s in wrong[:10]])
    return lines


def profile_report(rows, results, worst=10):
    pairs, excluded = profile_pairs(rows, results)
    if not pairs:
        return []
    lines = ["", "### libtpu's static profile, with its own DMA model", "", "Origin: compiler (libtpu's estimate), simulated with `--dma compiler`.", ""]
    parts = summarise([({"chip": chip}, error) for chip, _, _, _, _, error in pairs] + [({"chip": "all"}, p[5]) for p in pairs], lambda r: r["chip"])
    lines += grid(["chip", "kernels", "median", "p90", "worst"],
                  [[s["name"], s["points"], f"{100 * s['median']:.2f} %", f"{100 * s['p90']:.2f} %", percent(s["worst"])] for s in parts])
    lines += ["", "Goal: median 0.5 %, worst 5 %. Worst:", ""]
    lines += grid(["chip", "program", "operation", "libtpu cycles", "ours", "error"],
                  [[*p[:5], percent(p[5])] for p in sorted(pairs, key=lambda p: -abs(p[5]))[:worst]])
    reasons = {}
    for _, _, _, why in excluded:
        kind = "one DMA latency added by libtpu's accounting" if "DMA latency" in why else "with a window that reaches beyond its array" if "window" in why else "over links between chips" if "link" in why else why
        reasons[kind] = reasons.get(kind, 0) + 1
    lines += ["", "Excluded: " + "; ".join(f"{n} {kind}" for kind, n in sorted(reasons.items())) + "."]
    named = [e for e in excluded if any(word in e[3] for word in ("DMA latency", "window", "link"))]
    if named:
        lines += [""] + grid(["chip", "program", "operation", "why"], named)
    return lines


def failures_report(rows, failures):
    """`failures`: key -> (stage, reason)."""
    if not failures:
        return []
    reasons = {}
    for row in rows:
        if row["key"] in failures:
            reasons.setdefault(failures[row["key"]], []).append(row["key"])
    lines = ["", f"### Rows without a result: {sum(map(len, reasons.values()))} of {len(rows)}", ""]
    return lines + grid(["stage", "reason", "rows", "first"], [[stage, reason.replace("|", "/")[:160], len(keys), keys[0]]
                                                             for (stage, reason), keys in sorted(reasons.items(), key=lambda x: -len(x[1]))])


def report(rows, results, failures):
    lines = measured_report(rows, results) if any(r["set"] == "measured" and "us" in results.get(r["key"], {}) for r in rows) else []
    return "\n".join(lines + rank_report(rows, results) + tuned_report(rows, results) + profile_report(rows, results) + failures_report(rows, failures)) + "\n"
