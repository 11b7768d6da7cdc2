#!/usr/bin/env bash
# Are all C++ files as clang-format writes them? With --fix, makes them so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
clang_format=${CLANG_FORMAT:-clang-format-19}
command -v "$clang_format" >/dev/null || {
  echo "format: $clang_format is missing" >&2
  echo "  hint: tools/setup.sh test installs it" >&2
  exit 3
}
mapfile -t files < <(find src tests bench python \( -name '*.cc' -o -name '*.h' \) -print 2>/dev/null | sort)
if [ "${1:-}" = --fix ]; then
  "$clang_format" -i "${files[@]}"
  exit
fi
if ! report=$("$clang_format" --dry-run -Werror --ferror-limit=1 "${files[@]}" 2>&1); then
  sed -n 's/: error:.*/: not as clang-format writes it/p' <<<"$report" >&2
  echo "  hint: make format" >&2
  exit 1
fi
echo "format: ${#files[@]} files are as clang-format writes them"
