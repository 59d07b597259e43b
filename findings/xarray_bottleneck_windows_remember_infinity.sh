#!/usr/bin/env bash
# xarray 2026.9.0 with bottleneck 1.6.0: a record that has left a rolling window still spoils all
# windows after it.
#
# Guessed before: rolling(day=2).sum() has the sums of two successive records, so one record counts
# in two of them, and whether bottleneck is installed changes the speed alone.
# Seen: of 1, 2, infinity, 1, 1, 2, 3 all sums after those with infinity are NaN, for ever, and 1e17
# in its place leaves 0, 1, 3 as the last three, where 2, 3, 5 are right: bottleneck adds the new
# record and subtracts the old one. With use_bottleneck=False they are right. The mean and the
# standard deviation are as the sum, the median is right. A sensitivity that counts the windows with
# a record in them is too small.
# Source: measured; https://bottleneck.readthedocs.io/en/latest/reference.html (move_sum)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  xarray==2026.9.0 bottleneck==1.6.0 numpy==2.4.6 pandas==3.1.1
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy as np
import xarray as xr


def sums(record, quick):
    days = xr.DataArray(np.array([1, 2, record, 1, 1, 2, 3]), dims="day")
    with xr.set_options(use_bottleneck=quick):
        return [str(float(total)) for total in days.rolling(day=2).sum().values[4:]]


found = {record: (sums(record, True), sums(record, False)) for record in (np.inf, 1e17)}
for record, pair in found.items():
    print("the last three sums after", record, "with bottleneck:", pair[0], "without:", pair[1])
right = ["2.0", "3.0", "5.0"]
same = (
    all(pair[1] == right for pair in found.values())
    and found[np.inf][0] == ["nan"] * 3
    and found[1e17][0] != right
)
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
