"""The public programs with known faults: what each is, which releases hold the state before and after, and which cause a
report has to name first. No JAX here: lower.py makes the programs, run.py judges the reports."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    about: str
    source: str                  # where the fault and its cure were described, or what it stands for
    code: str                    # "public": a package's own code is run; "own": a small program of ours with the same fault
    chips: tuple = ("v6e",)
    causes: tuple = ()           # rules, by name, any of which names the cause
    flags: tuple = ()            # of the compile, both states
    releases: tuple = (None, None)  # of tpu-inference, before and after
    states: tuple = ("before", "after")
    counted: bool = False        # one of the five changes that were argued from dumps or bundles


COPIES = ("whole-copies", "sliced-in-loop")

PROGRAMS = (
    Program("scan_layers", "a decode step whose layers are a lax.scan over a stacked, donated cache",
            "the usual way to write layers in JAX; cure: one layer after the other, a cache each", "own", ("v6e",), COPIES),
    Program("may_alias", "the cure of scan_layers, in whose code stand copies of each cache that never run",
            "libtpu decides donation at run time", "own", ("v6e",), (), states=("after",)),
    Program("undonated", "the same decode step without donation: those copies do run",
            "cure: donate_argnums", "own", ("v6e",), ("missed-donation", "whole-copies")),
    Program("spellings", "attention scores of four wide heads in three layouts: v6e's best is tpu7x's worst",
            "einsums that differ in the order of their letters", "own", ("v6e", "tpu7x"), ("relayouts", "mxu-idle"),
            states=("qhd", "hdq", "hqd")),
    Program("flash_attention", "JAX's Pallas flash attention in blocks of 128 x 128",
            "its default blocks; cure: blocks of 512", "public", ("v6e",), ("mxu-idle",)),
    Program("cache_per_layer", "a kernel that only reads the cache declares it as updated in place, so each layer copies it",
            "tpu-inference 3459", "public", ("v6e",), ("whole-copies",), releases=("0.28.0", "0.29.0"), counted=True),
    Program("latent_transposes", "XLA's transposes of queries and results round the kernel of latent attention",
            "tpu-inference 2551", "public", ("v6e",), ("relayouts",), releases=("0.20.0", "0.21.0"), counted=True),
    Program("swapaxes", "queries take their kernel's layout by a swap that stands one step too late",
            "tpu-inference 3393 (open: the state after is the package with our own version of its one function)", "public",
            ("v6e",), ("relayouts",), releases=("0.32.0", "0.32.0"), counted=True),
    Program("trace_markers", "names of regions in a kernel become markers that keep its parts from sharing bundles",
            "jax 40720", "own", ("v6e",), ("trace-marks",), ("xla_enable_custom_call_region_trace=true",), counted=True),
    Program("mask_on_sublanes", "a mask of a kernel with its keys along sublanes, one lane in 128 used: transposed in each step",
            "sglang-jax 1569", "own", ("v6e",), ("tile-padding", "relayouts")),
)
