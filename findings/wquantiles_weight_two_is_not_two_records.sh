#!/usr/bin/env bash
# wquantiles 0.6: a record of weight 2 is not the same as two records.
#
# Guessed before: the weighted median of 1, 2, 3 with weights 2, 1, 1 is that of 1, 1, 2, 3 with
# weights 1, which is 1.5: weights are counts.
# Seen: it is 1.667. The weights place the records on a line by their cumulated halves, and the
# answer is interpolated there, so only equal weights give the usual median. A table of distinct
# values with counts and the table of its records have two medians.
# Source: measured; https://pypi.org/project/wquantiles/0.6/
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  wquantiles==0.6 numpy==2.4.6
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy as np
import wquantiles

counted = wquantiles.median(np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 1.0]))
listed = wquantiles.median(np.array([1.0, 1.0, 2.0, 3.0]), np.ones(4))
print("weights 2, 1, 1:", counted, "records 1, 1, 2, 3:", listed)
same = abs(counted - 5 / 3) < 1e-9 and abs(listed - 1.5) < 1e-9
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
