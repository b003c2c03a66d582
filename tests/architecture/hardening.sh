#!/usr/bin/env bash
# Fails when a built file lacks the hardening that cmake/OckhamCompile.cmake asks for. Skipped (77) without readelf, and for builds
# under sanitizers or without optimisation, which have none.
#   hardening.sh BUILD_DIRECTORY BUILD_TYPE SANITIZER
set -euo pipefail
build=$1
if ! command -v readelf > /dev/null || [ -n "${3:-}" ] || [ "$2" = Debug ]; then
  echo "SKIPPED: no readelf, or a build under sanitizers or without optimisation"
  exit 77
fi

wrong=0
# FILE WHAT PATTERN: something must be in what readelf says of it
expect() {
  if ! grep -qE "$3" <<< "$said"; then
    echo "$1: $2 is missing"
    wrong=1
  fi
}

for file in "$build/ockham" "$build/libockham.so" "$build/libockham_engine.so"; do
  said=$(readelf --wide --file-header --program-headers --dynamic --dyn-syms "$file")
  expect "$file" "position independence" 'Type: +DYN'
  expect "$file" "a table of relocations that becomes read-only (relro)" 'GNU_RELRO'
  expect "$file" "binding at the start (now)" 'BIND_NOW|FLAGS_1.*NOW'
  expect "$file" "the stack protector" '__stack_chk_fail'
  if grep -qE 'GNU_STACK.* RWE' <<< "$said"; then
    echo "$file: its stack is executable"
    wrong=1
  fi
  if grep -q 'TEXTREL' <<< "$said"; then
    echo "$file: its code is changed when it is loaded"
    wrong=1
  fi
done
said=$(readelf --wide --dyn-syms "$build/libockham.so")
expect "$build/libockham.so" "_FORTIFY_SOURCE" '__[a-z]+_chk@'
[ "$wrong" = 0 ] && echo "position independent, read-only relocations, stack protector, fortified, no executable stack"
exit "$wrong"
