#!/usr/bin/env bash
# diffprivlib 0.6.6: the median of data with ties is drawn evenly from the gap between two values,
# whatever epsilon.
#
# Guessed before: for 1,000 records that are all 0.25, median(epsilon=1, bounds=(0, 1)) is near
# 0.25, and for 400 records of 20, 500 of 30 and 100 of 40 it is near 30, as the exponential
# mechanism prefers the answer with half the records below it.
# Seen: the answer is drawn from the intervals between successive records by their length, and the
# interval between equal records has length 0. So 1,000 equal records give a uniform number of [0,
# 1]: mean 0.5, standard deviation 0.29. The ages give a uniform number from 20 to 30 with mean 25.
# More records or a larger epsilon do not help; a little noise on the records does.
# Source: https://diffprivlib.readthedocs.io/en/latest/modules/tools.html (median)
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

ages = np.repeat([20.0, 30.0, 40.0], [400, 500, 100])
equal = [tools.median(np.full(1000, 0.25), epsilon=1.0, bounds=(0, 1)) for _ in range(400)]
tied = [tools.median(ages, epsilon=1.0, bounds=(0, 100)) for _ in range(400)]
spread = [
    tools.median(ages + np.linspace(0, 1e-3, 1000), epsilon=1.0, bounds=(0, 100))
    for _ in range(400)
]
for name, found in (("equal", equal), ("ages", tied), ("ages, spread", spread)):
    print(name, "mean", np.mean(found).round(3), "standard deviation", np.std(found).round(3))
same = (
    abs(np.mean(equal) - 0.5) < 0.1
    and np.std(equal) > 0.2
    and abs(np.mean(tied) - 25) < 1
    and np.std(tied) > 2
)
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
