#!/usr/bin/env bash
# Fails when a source is not as clang-format would write it; skipped (77) without clang-format.
#   format.sh SOURCE_DIRECTORY
set -euo pipefail
cd "$1"
if ! command -v clang-format > /dev/null; then
  echo "SKIPPED: clang-format is not installed"
  exit 77
fi
find ockham app tests examples benchmarks experiments -type f \( -name '*.h' -o -name '*.cpp' \) -print0 |
  xargs -0 -P "$(nproc)" -n 8 clang-format --dry-run -Werror
echo "all sources are formatted"
