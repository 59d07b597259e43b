#!/usr/bin/env bash
# SmartNoise SQL 1.0.10: ROUND makes a text of a number.
#
# Guessed before: SELECT ROUND(AVG(v), 1) returns the float 0.5.
# Seen: it returns the text '0.5' where AVG(v) returns a float. A caller's arithmetic then works on
# texts: '0.5' * 2 is '0.50.5'.
# Source: measured; https://docs.smartnoise.org/sql/ (supported functions)
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



rounded = reader(1e4).execute("SELECT ROUND(AVG(v), 1) FROM s.t")[1][0]
plain = reader(1e4).execute("SELECT AVG(v) FROM s.t")[1][0]
print("rounded:", repr(rounded), "plain:", repr(plain))
same = rounded == "0.5" and isinstance(plain, float)
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
