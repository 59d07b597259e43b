#!/usr/bin/env bash
# chdb 4.4.0 (ClickHouse 26.9 in Python): the smallest and the largest of no records are 0.
#
# Guessed before: min, max and median of no rows are NULL, as in SQL.
# Seen: min and max are 0, the median and the mean are NaN, and quantileExact is NaN for floats and 0
# for whole numbers: an aggregate of nothing is the default value of its type, unless it is asked
# with -OrNull. Records between 5 and 9 have the smallest 0 if nobody is left, which is outside of
# the bounds that their sensitivity is for.
# Source: measured; https://clickhouse.com/docs/sql-reference/aggregate-functions/combinators
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  chdb==4.4.0 chdb-core==26.9.0
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import chdb

names = ("min", "max", "avg", "median", "quantileExact(0.5)", "minOrNull")
found = {
    kind: chdb.query(
        f"select {', '.join(f'{name}(x)' for name in names)} "
        f"from (select arrayJoin([to{kind}(7)]) as x) where x > 9",
        "CSV",
    ).bytes().decode().strip()
    for kind in ("Float64", "Int64")
}
print(names, found)
same = found == {"Float64": "0,0,nan,nan,nan,\\N", "Int64": "0,0,nan,nan,0,\\N"}
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
