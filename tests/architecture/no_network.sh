#!/usr/bin/env bash
# Fails when the tool asks for a socket: only `ockham data` needs the network, and it leaves that to apt-get, npm and curl.
#   no_network.sh BUILD_DIRECTORY PRELOADED_LIBRARY
set -euo pipefail
tool=$1/ockham
preload=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The check itself: a process that does open a socket is noticed.
outcome=0
LD_PRELOAD=$preload bash -c 'exec 3<> /dev/tcp/127.0.0.1/9' 2> noticed.txt || outcome=$?
if [ "$outcome" != 99 ] || ! grep -q '^NETWORK' noticed.txt; then
  echo "the preloaded library did not notice a socket (exit code $outcome): $(cat noticed.txt)"
  exit 1
fi

offline() {
  if ! LD_PRELOAD=$preload "$tool" "$@" > out.txt 2> err.txt; then
    echo "ockham $* failed without the network:"
    cat err.txt
    exit 1
  fi
}
offline --help
offline data
offline data toy-curve
offline fit toy-curve.csv --target y --network mlp:4 --epochs 4 --frequency 2 --out run --quiet
offline predict run toy-curve.csv --out predictions.csv
offline evidence --from-run run
offline export run --to model.pt
offline report run
offline paper
echo "no subcommand but 'data', which starts other programs, asks for the network"
