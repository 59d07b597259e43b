#!/usr/bin/env bash
# diffprivlib 0.6.6: count_nonzero is cut at the number of records, so the count of a common
# property is too small.
#
# Guessed before: count_nonzero(epsilon=1) adds two-sided geometric noise, as histogram does:
# standard deviation 1.36 around the true count, which is private.
# Seen: for 100 records that are all true the answers lie below 100.0 on average (99.6) with
# standard deviation 0.9, and none exceeds 100: the noise is truncated to 0 .. number of records. So
# the number of records is taken for public, and counts near it are biased, while the histogram of
# the same records goes above it.
# Source: measured; https://diffprivlib.readthedocs.io/en/latest/modules/tools.html (count_nonzero)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  diffprivlib==0.6.6 scikit-learn==1.8.0 numpy==2.4.6 \
  scipy==1.17.1
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy as np
from diffprivlib import tools

counts = [tools.count_nonzero(np.ones(100), epsilon=1.0) for _ in range(2000)]
bins = [
    tools.histogram(np.full(100, 0.5), epsilon=1.0, bins=1, range=(0, 1))[0][0]
    for _ in range(2000)
]
print("count: mean", np.mean(counts), "max", max(counts), "histogram: max", max(bins))
same = max(counts) == 100 and np.mean(counts) < 99.8 and max(bins) > 100
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
