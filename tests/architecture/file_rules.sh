#!/usr/bin/env bash
# Fails when a tracked file names a directory of somebody's machine, or a source is longer than 400 lines (it holds two concepts).
#   file_rules.sh SOURCE_DIRECTORY
set -euo pipefail
cd "$1"

if git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
  list() { git ls-files -z --cached --others --exclude-standard; }
else
  list() { find . -path './build*' -prune -o -type f -print0; }
fi

wrong=0
while IFS= read -r -d '' file; do
  [ -f "$file" ] || continue
  if grep -nIE '(^|[^A-Za-z0-9_.})])/(work|root|home)/[A-Za-z]' "$file" /dev/null; then wrong=1; fi
  case "$file" in
    *.h | *.cpp)
      lines=$(wc -l < "$file")
      if [ "$lines" -gt 400 ]; then
        echo "$file: $lines lines; split it, 400 is the most"
        wrong=1
      fi
      ;;
  esac
done < <(list)
[ "$wrong" = 0 ] && echo "no machine paths, no file over 400 lines"
exit "$wrong"
