#!/usr/bin/env bash
# DuckDB 2.0.1: the bins of histogram(v, edges) hold their right edge, and more bins come than
# edges.
#
# Guessed before: histogram(v, [0, 1, 2]) has two bins, 0 <= v < 1 and 1 <= v <= 2, as
# numpy.histogram has, and leaves out what lies outside.
# Seen: it has four: the keys are right edges that belong to their bin, the first counts all that is
# at most 0, and a fourth, inf, what lies above. Of 0, 0.5, 1, 1.5, 2, 3 NumPy counts [2, 3], DuckDB
# {0: 1, 1: 2, 2: 2, inf: 1}: the record 1 has moved to another bin.
# Source: https://duckdb.org/docs/stable/sql/functions/aggregates (histogram with boundaries)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  duckdb==2.0.1 numpy==2.4.6
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import duckdb
import numpy as np

records = [0, 0.5, 1, 1.5, 2, 3]
rows = "(SELECT unnest($1::DOUBLE[]) AS v)"
(bins,) = duckdb.execute(f"SELECT histogram(v, [0, 1, 2]) FROM {rows}", [records]).fetchone()
counts = np.histogram(records, [0, 1, 2])[0].tolist()
print("DuckDB:", bins, "NumPy:", counts)
same = bins == {0.0: 1, 1.0: 2, 2.0: 2, float("inf"): 1} and counts == [2, 3]
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
