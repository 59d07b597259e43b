#!/usr/bin/env bash
# python-dp 1.1.5: quick_result on one object answers as often as it is called, though result
# answers once.
#
# Guessed before: an algorithm is made with an epsilon that its answer spends, so a second
# quick_result raises as a second result does.
# Seen: result raises the second time ("can only produce results once for a given epsilon, delta
# budget"). quick_result starts anew each time: five calls give five answers with fresh noise, each
# with the whole epsilon. Their average has a fifth of the variance, and the object's epsilon is
# still 1.
# Source: measured; the two methods stand side by side in
# https://pydp.readthedocs.io/en/latest/pydp.html
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  python-dp==1.1.5
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

from pydp.algorithms.laplacian import Count

count = Count(epsilon=1.0, dtype="int")
quick = [count.quick_result([1] * 1000) for _ in range(40)]
once = Count(epsilon=1.0, dtype="int")
once.add_entries([1] * 1000)
once.result()
try:
    once.result()
    refused = False
except RuntimeError as error:
    refused = "once" in str(error)
print("quick_result:", quick[:5], "result refused the second time:", refused)
same = len(set(quick)) > 1 and refused and count.epsilon == 1.0
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
