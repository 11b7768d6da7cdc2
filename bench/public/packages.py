"""Imports kernels of tpu-inference without what its package initialisers want (a server, a device)."""
import importlib.util
import logging
import sys
import types


def open_tpu_inference(generation):
    """Makes `tpu_inference.kernels...` importable: stand-ins for the parent package and its logger, and `generation` (6 for
    v6e, 7 for tpu7x) where a kernel would ask the host's device."""
    parent, log = (types.ModuleType(f"tpu_inference{name}") for name in ("", ".logger"))
    parent.__path__ = list(importlib.util.find_spec("tpu_inference").submodule_search_locations)
    logging.Logger.warning_once = logging.Logger.warning
    log.init_logger = logging.getLogger
    sys.modules.update({"tpu_inference": parent, "tpu_inference.logger": log})
    from tpu_inference.kernels.ragged_paged_attention.v3 import util
    util.get_tpu_version = lambda: generation
