#!/usr/bin/env bash
# DuckDB 2.0.1: the standard error of one record is 0, though its standard deviation is NULL.
#
# Guessed before: sem(v) of one record is NULL, as stddev, var_samp, skewness and kurtosis of it
# are, and as NaN is in pandas.
# Seen: it is 0.0: a group with one record seems to be the most certain of all, and comes first when
# groups are ordered by their standard error, or gets an infinite weight when means are weighted by
# it.
# Source: https://duckdb.org/docs/stable/sql/functions/aggregates (sem)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  duckdb==2.0.1 numpy==2.4.6 pandas==3.1.1
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import math
import sys

import duckdb
import pandas as pd

question = "SELECT sem(v), stddev(v), var_samp(v) FROM (VALUES (5.0)) t(v)"
found = duckdb.execute(question).fetchone()
pandas = pd.Series([5.0]).sem()
print("sem, stddev, var_samp:", found, "pandas:", pandas)
same = found == (0.0, None, None) and math.isnan(pandas)
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
