#!/usr/bin/env bash
# Fails when a room of the library includes a room above it.
#   include_direction.sh SOURCE_DIRECTORY
# base <- linalg, data <- network <- observe, probability <- curvature <- evidence <- predict, train <- select <- app.
# assess, store and report take plain values; distributed is for curvature's callers, train and select.
set -euo pipefail
cd "$1"

find ockham -type f \( -name '*.h' -o -name '*.cpp' \) -print0 | sort -z | xargs -0 awk '
  BEGIN {
    allowed["base"] = ""
    allowed["linalg"] = allowed["data"] = "base"
    allowed["network"] = "base data"  # for image_set.h: the scaling of bytes is a part of the network
    allowed["observe"] = allowed["probability"] = "base linalg data network"
    allowed["curvature"] = allowed["observe"] " observe probability"
    allowed["evidence"] = allowed["curvature"] " curvature distributed"
    allowed["assess"] = allowed["report"] = "base linalg"
    allowed["store"] = "base"
    allowed["distributed"] = "base"
    allowed["predict"] = allowed["evidence"] " evidence assess store"
    allowed["train"] = allowed["evidence"] " evidence assess store"
    allowed["select"] = allowed["train"] " predict train"
  }
  function complain(sentence) {
    printf "%s:%d: %s\n", FILENAME, FNR, sentence
    wrong = 1
  }
  FNR == 1 { split(FILENAME, part, "/"); room = part[2]; inside = (FILENAME ~ /^ockham\/[^\/]+\//) }
  FNR == 1 && inside && !(room in allowed) { complain("room " room " is not in the plan: add it to include_direction.sh and ARCHITECTURE.md") }
  inside && /^[ \t]*#[ \t]*include[ \t]*"/ {
    target = $0
    sub(/^[^"]*"/, "", target)
    sub(/".*/, "", target)
    if (target !~ /^ockham\/[^\/]+\/.+/) {
      complain("includes \"" target "\": name the room, as in \"ockham/base/error.h\"")
      next
    }
    split(target, path, "/")
    if (path[2] != room && index(" " allowed[room] " ", " " path[2] " ") == 0)
      complain(room " must not know " path[2] ": it includes " target)
  }
  END { exit wrong }
'
echo "every include points downward"
