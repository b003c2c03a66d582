# shellcheck shell=bash
# Sourced by scripts/test and scripts/demo: installs what is missing and configures ./build.
# Expects `set -euo pipefail` and the root of the repository as the current directory.

# Binary packages of Debian 12, and the file or program by which each is recognised.
needed_packages() {
  local include=/usr/include triple
  triple=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2> /dev/null || echo x86_64-linux-gnu)
  have() { command -v "$1" > /dev/null; }
  have c++ || echo g++
  have cmake || echo cmake
  have ninja || echo ninja-build
  [ -e "$include/ATen/ATen.h" ] || echo libtorch-dev
  [ -e "$include/$triple/cblas-openblas.h" ] || [ -e "$include/$triple/openblas_config.h" ] ||
    [ -e "$include/$triple/openblas-pthread/openblas_config.h" ] || echo libopenblas-dev
  [ -e "$include/gloo/rendezvous/store.h" ] || echo libgloo-dev
  [ -e "$include/CLI/CLI.hpp" ] || echo libcli11-dev
  [ -e "$include/nlohmann/json.hpp" ] || echo nlohmann-json3-dev
  [ -e "$include/fmt/format.h" ] || echo libfmt-dev
  [ -e "$include/zlib.h" ] || echo zlib1g-dev
  [ -e "$include/png.h" ] || echo libpng-dev
  [ -e "$include/jpeglib.h" ] || echo libjpeg-dev
  [ -e "$include/gtest/gtest.h" ] || echo libgtest-dev
  [ -e "$include/rapidcheck.h" ] || echo librapidcheck-dev
  [ -e "$include/benchmark/benchmark.h" ] || echo libbenchmark-dev
  have ld.lld || echo lld
  have ccache || echo ccache
  have clang-format || echo clang-format
}

# What the test of the report pages needs besides.
needed_browser_packages() {
  command -v chromium > /dev/null || echo chromium
  command -v node > /dev/null || echo nodejs
  command -v npm > /dev/null || echo npm
}

install_missing() {  # [browser]
  local missing
  mapfile -t missing < <(needed_packages; [ "${1:-}" != browser ] || needed_browser_packages)
  [ "${#missing[@]}" -gt 0 ] || return 0
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo > /dev/null; then
      echo "missing packages, and no right to install them: apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "== installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

configure() {  # CMake options
  local log
  log=$(mktemp)
  echo "== configuring"
  if ! cmake -G Ninja -S . -B build "$@" > "$log" 2>&1; then
    cat "$log"
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}
