"""Where set-up put what benches need."""
import os
import pathlib
import sys


def libtpu():
    """The library's path: $SUBLANE_LIBTPU, else the newest under the cache's parts. Ends the program if there is none."""
    if "SUBLANE_LIBTPU" in os.environ:
        return os.environ["SUBLANE_LIBTPU"]
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    found = sorted((cache / "sublane" / "parts").glob("libtpu-*/libtpu/libtpu.so"))
    if not found:
        sys.exit("run.py: no libtpu under the cache's parts; run tools/setup.sh")
    return str(found[-1])
