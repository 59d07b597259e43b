#!/usr/bin/env bash
# python-dp 1.1.5: the mean of 50,000 whole numbers of 100,000 is 14,097.
#
# Guessed before: BoundedMean(dtype="int") of 50,000 salaries of 100,000 with bounds 0 and 200,000
# is 100,000 up to noise, as with dtype="float"; dtype says what the records are.
# Seen: it is 14,097: the sum of five thousand million wraps around in 32 bits, and the wrapped sum
# is divided. The noise is small, the bounds hold, nothing is said. dtype="int64" and "float" give
# 100,000. "int" is the default, and 22,000 such records are enough.
# Source: measured; https://pydp.readthedocs.io/en/latest/pydp.html (BoundedMean)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  python-dp==1.1.5
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

from pydp.algorithms.laplacian import BoundedMean

salaries = [100_000] * 50_000


def mean(kind):
    made = BoundedMean(epsilon=1.0, lower_bound=0, upper_bound=200_000, dtype=kind)
    return made.quick_result([float(x) for x in salaries] if kind == "float" else salaries)


found = {kind: mean(kind) for kind in ("int", "int64", "float")}
print(found, "wrapped:", 5_000_000_000 % 2**32 / 50_000)
same = abs(found["int"] - 14_100) < 100 and all(
    abs(found[kind] - 100_000) < 100 for kind in ("int64", "float")
)
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
