#!/usr/bin/env bash
# python-dp 1.1.5: a Percentile of whole numbers is 0, whatever the data, the percentile and the
# bounds.
#
# Guessed before: Percentile(percentile=0.9, dtype="int") of the numbers 0 to 99, ten of each, with
# epsilon = 10, is about 90, as with dtype="float" (and as Median with dtype="int" is about 50).
# Seen: it is 0.0 for each of 10 %, 50 %, 90 % and 99 %. With bounds 20 and 100 it is still 0.0,
# outside its bounds. With dtype="float" it is 89.5 or so, and Median(dtype="int") is right. There
# is no warning.
# Source: measured; https://pydp.readthedocs.io/en/latest/pydp.html (Percentile)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  python-dp==1.1.5
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

from pydp.algorithms.laplacian import Median, Percentile

numbers = list(range(100)) * 10


def percentile(fraction, kind, lower):
    made = Percentile(
        epsilon=10.0, percentile=fraction, lower_bound=lower, upper_bound=100, dtype=kind
    )
    return made.quick_result([float(x) for x in numbers] if kind == "float" else numbers)


whole = [percentile(fraction, "int", 0) for fraction in (0.1, 0.5, 0.9, 0.99)]
raised = percentile(0.9, "int", 20)
floats = percentile(0.9, "float", 0.0)
median = Median(epsilon=10.0, lower_bound=0, upper_bound=100, dtype="int").quick_result(numbers)
print("int:", whole, "from 20:", raised, "float:", floats, "median, int:", median)
same = whole == [0.0] * 4 and raised == 0.0 and 80 < floats < 100 and 40 < median < 60
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
