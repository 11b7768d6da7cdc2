#!/bin/sh
# build.sh TARGET ARCHIVE: compiles the crate with cargo's files in TARGET and puts the static library at ARCHIVE.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=$1
archive=$2
rust=$("$here/../../../tools/find_rust.sh") && PATH=$rust:$PATH
mkdir -p "$target" "$(dirname "$archive")"
# Clones share TARGET: without the lock one could copy what another has just compiled.
exec 9>"$target/sublane.lock"
flock 9
# cargo takes another clone's library for ours when it was built after our last edit: its key holds no path.
cargo clean --release --quiet --package sublane_text --manifest-path "$here/Cargo.toml" --target-dir "$target"
cargo build --release --locked --quiet --manifest-path "$here/Cargo.toml" --target-dir "$target"
cp "$target/release/libsublane_text.a" "$archive.tmp"
mv "$archive.tmp" "$archive"
