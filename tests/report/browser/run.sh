#!/usr/bin/env bash
# Renders the sample reports and looks at them with Chromium; skipped (77) unless asked for.
#   run.sh REPORT_SAMPLES_PROGRAM WORKING_DIRECTORY
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
samples_program=$1
working=$2

if [ "${OCKHAM_BROWSER_TESTS:-0}" != 1 ]; then
  echo "SKIPPED: needs Chromium and Node.js; scripts/test --browser installs them and runs this test"
  exit 77
fi
for program in node npm; do
  command -v "$program" > /dev/null || { echo "$program is missing: scripts/test --browser installs it"; exit 1; }
done
modules=$working/playwright/node_modules
if [ ! -d "$modules/playwright-core" ]; then
  npm install --prefix "$working/playwright" --no-audit --no-fund --loglevel=error playwright-core@1.60.0  # the last for Debian 12, Node.js 18
fi
rm -rf "$working/samples" "$working/screenshots"
"$samples_program" "$working/samples"
NODE_PATH=$modules node "$here/report_browser.mjs" "$working/samples" "$working/screenshots"
echo "screenshots are in $working/screenshots"
