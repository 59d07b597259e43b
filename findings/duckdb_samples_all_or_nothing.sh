#!/usr/bin/env bash
# DuckDB 2.0.1: USING SAMPLE 50% of a small table returns all of its rows or none.
#
# Guessed before: each row is in the sample with probability 1/2, so that of 10 rows about 5 come;
# amplification by sampling, and every estimate divided by the rate, assume that.
# Seen: 0 or 10 rows come: chunks of up to 2,048 rows are sampled as a whole. A mechanism run on the
# sample is not amplified at all, as one person's row comes only with all others. (bernoulli) after
# the percentage draws row by row.
# Source: https://duckdb.org/docs/stable/sql/samples (system sampling is the default for
# percentages)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  duckdb==2.0.1
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import duckdb


def sizes(sample):
    return {len(duckdb.sql(f"FROM range(10) USING SAMPLE {sample}").fetchall()) for _ in range(60)}


default, by_row = sizes("50%"), sizes("50% (bernoulli)")
print("sizes of samples:", sorted(default), "bernoulli:", sorted(by_row))
same = default == {0, 10} and len(by_row) > 3
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
