#!/usr/bin/env bash
# SmartNoise SQL 1.0.10: counts are cut towards zero to whole numbers, so they are half a row too
# small on average.
#
# Guessed before: COUNT(*) of 100 rows with epsilon = 10,000 is 100: the noise is integer valued, or
# it is rounded to the nearest.
# Seen: it is 99 about half the time: noise on the real line is added and the fraction cut off. With
# any epsilon the mean of a positive count is 0.5 too low. Small, but a sum of a thousand cells is
# 500 rows too small.
# Source: measured; https://docs.smartnoise.org/sql/
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  smartnoise-sql==1.0.10 pandas==2.3.3 numpy==2.4.6 \
  setuptools==80.9.0
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import logging
import sys

import pandas as pd
import snsql
from snsql import Privacy

logging.disable(logging.CRITICAL)
columns = {
    "rows": 100,
    "id": {"name": "id", "type": "int", "private_id": True},
    "v": {"type": "float", "lower": 0, "upper": 1},
    "ward": {"type": "string"},
}
metadata = {"": {"s": {"t": columns}}}
frame = pd.DataFrame({"id": range(100), "v": [0.0, 1.0] * 50, "ward": ["a"] * 98 + ["b"] * 2})


def reader(epsilon):
    privacy = Privacy(epsilon=epsilon, delta=1e-5)
    return snsql.from_df(frame, privacy=privacy, metadata=metadata)



found = [reader(1e4).execute("SELECT COUNT(*) FROM s.t")[1][0] for _ in range(60)]
print({value: found.count(value) for value in set(found)})
same = set(found) == {99, 100} and 10 < found.count(99) < 50
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
