#!/usr/bin/env bash
# tools/fuzz.sh BUILD SECONDS: builds the fuzz targets with sanitizers and runs each for SECONDS.
# What they learn stays in BUILD/corpus; an input that breaks one is kept there too, and its path printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1 seconds=$2
compiler=${FUZZ_CXX:-clang++-19}
command -v "$compiler" >/dev/null || {
  echo "fuzz: $compiler is missing" >&2
  echo "  hint: tools/setup.sh test installs it" >&2
  exit 3
}
echo "fuzz: building with $compiler and sanitizers into $build"
cmake -S . -B "$build" -G Ninja -DSUBLANE_FUZZ=ON -DCMAKE_CXX_COMPILER="$compiler" --log-level=WARNING >/dev/null
ninja -C "$build" --quiet fuzz
mkdir -p "$build/crashes"

# run PROGRAM: for SECONDS; says what came of it.
run() {
  local program=$1 what=${1##*/fuzz_} corpus log
  corpus=("$build/corpus/$what")
  mkdir -p "${corpus[0]}"
  [ -d "tests/fuzz/corpus/$what" ] && corpus+=("tests/fuzz/corpus/$what")
  log=$build/fuzz_$what.log
  "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$build/crashes/" \
    "${corpus[@]}" >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    echo "fuzz: $what failed; the input is in $build/crashes" >&2
    return 1
  }
  echo "fuzz: $what: $(grep -oE 'Done [0-9]+ runs in [0-9]+' "$log" | tail -n 1) s, nothing found"
}

# Two at a time: each needs one core.
pids=() failed=0
for program in "$build"/fuzz_*; do
  [ -x "$program" ] && [ -f "$program" ] || continue
  if [ ${#pids[@]} -ge 2 ]; then
    wait "${pids[0]}" || failed=1
    pids=("${pids[@]:1}")
  fi
  run "$program" &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
exit $failed
