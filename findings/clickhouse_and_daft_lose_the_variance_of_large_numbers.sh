#!/usr/bin/env bash
# chdb 4.4.0 (ClickHouse 26.9) and daft 0.7.26: numbers near 1e9 have no variance.
#
# Guessed before: the variance of 1e9, 1e9 + 0.25, 1e9 + 0.5, 1e9 + 1 is 0.1823 (a sample's), as all
# these numbers are exact floats, and NumPy, DuckDB and Polars give it.
# Seen: ClickHouse's varSamp is 0, varSampStable is right; daft's stddev is 0. Both subtract the
# square of a sum from a sum of squares. Times in seconds since 1970 are such numbers: what is
# published of them is noise around 0, whatever the sensitivity is.
# Source: measured; https://clickhouse.com/docs/sql-reference/aggregate-functions/reference/varsamp
# says "numerically unstable"; daft's page says nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  chdb==4.4.0 chdb-core==26.9.0 daft==0.7.26
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import chdb
import daft

records = [1e9, 1e9 + 0.25, 1e9 + 0.5, 1e9 + 1]
told = chdb.query(
    f"select varSamp(x), varSampStable(x) from (select arrayJoin({records}) as x)", "CSV"
)
plain, stable = map(float, told.bytes().decode().split(","))
frame = daft.from_pydict({"x": records})
(spread,) = frame.agg(daft.col("x").stddev()).to_pydict()["x"]
print("varSamp:", plain, "varSampStable:", stable, "daft's stddev:", spread)
same = plain == 0 and abs(stable - 0.18229166666666666) < 1e-12 and spread == 0
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
