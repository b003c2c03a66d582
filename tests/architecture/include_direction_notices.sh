#!/usr/bin/env bash
# The include-direction test is itself tested: it accepts a small right tree, and refuses it after one wrong line.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

mkdir -p "$tree"/ockham/{base,linalg,evidence}
echo '#include <vector>' > "$tree/ockham/base/error.h"
echo '#include "ockham/base/error.h"' > "$tree/ockham/linalg/gram.h"
echo '#include "ockham/linalg/gram.h"' > "$tree/ockham/evidence/evidence.h"
"$here/include_direction.sh" "$tree"

expect_refusal() {  # FILE LINE
  cp -r "$tree" "$tree.wrong"
  echo "$2" >> "$tree.wrong/$1"
  if "$here/include_direction.sh" "$tree.wrong"; then
    echo "not noticed: $2 in $1"
    rm -rf "$tree.wrong"
    exit 1
  fi
  rm -rf "$tree.wrong"
}
expect_refusal ockham/base/error.h '#include "ockham/linalg/gram.h"'
expect_refusal ockham/linalg/gram.h '  #  include "ockham/evidence/evidence.h"  // why not'
expect_refusal ockham/linalg/gram.h '#include "gram_private.h"'
echo "wrong includes are noticed"
