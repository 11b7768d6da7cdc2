#!/usr/bin/env bash
# The reference packages that tests/*/*_reference_test.py compare with (tokenizers, jinja2, gguf, safetensors, ...).
#
#   tools/reference/packages.sh             prints the python to use and the folder for its PYTHONPATH, a line each
#   tools/reference/packages.sh --install   brings the packages from PyPI into that folder first
#
# The folder is in the user's cache and named after the python and the list of packages, so nothing is ever mixed.
# SUBLANE_WHEELS=DIR: pip takes wheels from there before PyPI.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
list=$here/test-requirements.txt

python=""
for candidate in python3 /usr/bin/python3; do
  if command -v "$candidate" >/dev/null &&
    "$candidate" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("pip") is None)' 2>/dev/null; then
    python=$(command -v "$candidate")
    break
  fi
done
[ -n "$python" ] || { echo "packages: no python3 with pip (apt-get install python3-pip)" >&2; exit 3; }
tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
parts=${XDG_CACHE_HOME:-$HOME/.cache}/sublane/parts
folder=$parts/reference-$tag-$(sha256sum "$list" | cut -c1-12)

if [ "${1:-}" = --install ] && [ ! -d "$folder" ]; then
  mkdir -p "$parts"
  scratch=$(mktemp -d "$parts/.new-XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  "$python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps --no-cache-dir --no-compile \
    --root-user-action=ignore --only-binary=:all: ${SUBLANE_WHEELS:+--find-links "$SUBLANE_WHEELS"} \
    --target "$scratch/packages" -r "$list" >&2
  # Two set-ups at once bring the same files: the second gives way.
  mv -T "$scratch/packages" "$folder" 2>/dev/null || [ -d "$folder" ]
fi
printf '%s\n%s\n' "$python" "$folder"
