#!/usr/bin/env bash
# ddsketch 3.0.1: a missing record counts as 0 in the quantiles.
#
# Guessed before: add(NaN) raises, as it does not fit into a bucket, or is left out, so that the
# median of 40, 50, 60 and four NaN is about 50; or the quantiles are NaN.
# Seen: the median is 0. What is neither above the smallest positive number nor below the largest
# negative one is counted as zero, which NaN is; count is 7, sum and avg are NaN, so the mean shows
# it and the quantiles do not. If a third of the ages are missing, the lower quartile is 0.
# Source: measured; https://pypi.org/project/ddsketch/3.0.1/
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  ddsketch==3.0.1
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import math
import sys

from ddsketch import DDSketch


def quantile(numbers, fraction):
    sketch = DDSketch(0.01)
    for number in numbers:
        sketch.add(number)
    return sketch.get_quantile_value(fraction), sketch.count, sketch.avg


whole = quantile([40.0, 50.0, 60.0], 0.5)
missing = quantile([40.0, 50.0, 60.0] + [math.nan] * 4, 0.5)
quartile = quantile([40.0, 50.0, 60.0, 70.0, math.nan, math.nan], 0.25)
print("median, count, mean:", whole, "with four NaN:", missing, "lower quartile:", quartile[0])
same = (
    abs(whole[0] - 50) < 1
    and missing[:2] == (0, 7)
    and math.isnan(missing[2])
    and quartile[0] == 0
)
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
