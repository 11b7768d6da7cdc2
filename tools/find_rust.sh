#!/usr/bin/env bash
# Prints the directory of the first cargo and rustc that are new enough for the crates of src/text.
# Exit 1, and what was found on stderr, when there is none.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/versions.env"

# atLeast A B: version A is B or newer.
atLeast() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

found=""
IFS=: read -r -a folders <<<"$PATH"
for folder in "${folders[@]}" "${CARGO_HOME:-${HOME:-/}/.cargo}/bin" /usr/bin; do
  [ -x "$folder/cargo" ] && [ -x "$folder/rustc" ] || continue
  # A rustup proxy without a toolchain prints an error and no version.
  version=$("$folder/rustc" --version 2>/dev/null | sed -n 's/^rustc \([0-9.]*\).*/\1/p') || true
  if [ -n "$version" ] && atLeast "$version" "$RUST_MINIMUM"; then
    echo "$folder"
    exit 0
  fi
  found="$found $folder/rustc is ${version:-without a toolchain};"
done
echo "find_rust: no Rust >= $RUST_MINIMUM:${found:- none found}" >&2
exit 1
