#!/usr/bin/env bash
# SmartNoise SQL 1.0.10: a count that is small has no row at all, though the query has no groups.
#
# Guessed before: SELECT COUNT(*) WHERE ward = 'c' with nobody there returns one row with 0 plus
# noise: SQL always returns one row for an aggregate without GROUP BY, and a noisy zero is needed to
# hide the last person.
# Seen: the result has a head and no row, for nobody and for two people, as if the whole table were
# one rare group whose name must be hidden. Code that reads row [1][0] fails on exactly the small
# counts. With censor_dims off the row is there.
# Source: measured; https://docs.smartnoise.org/sql/ (censor_dims)
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



def rows(where):
    return reader(1.0).execute(f"SELECT COUNT(*) FROM s.t WHERE ward = '{where}'")[1:]


found = {ward: rows(ward) for ward in ("a", "b", "c")}
columns["censor_dims"] = False
uncensored = rows("c")
print("rows:", found, "with censor_dims off:", uncensored)
same = len(found["a"]) == 1 and found["b"] == found["c"] == [] and len(uncensored) == 1
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
