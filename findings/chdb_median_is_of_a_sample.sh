#!/usr/bin/env bash
# chdb 4.4.0 (ClickHouse 26.9 in Python): the median of more than 8,192 records is that of a sample.
#
# Guessed before: median(number) of 0 to 99,999 is 49,999.5, as it is exact for small tables.
# Seen: it is 50,501.5, each time, and 4,477 for 0 to 8,999; up to 8,192 records it is exact.
# `median` and `quantile` keep 8,192 records, chosen at random with a fixed seed and by their places,
# so the answer depends on the order too. `quantileExact` sorts all records, and takes the upper of
# two middle ones. A sensitivity of the median is for neither.
# Source: measured; https://clickhouse.com/docs/sql-reference/aggregate-functions/reference/quantile
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


def asked(what, size):
    return float(chdb.query(f"select {what} from numbers({size})", "CSV").bytes().decode())


found = [asked("median(number)", size) for size in (8192, 9000, 100000)]
exact = asked("quantileExact(0.5)(number)", 100000)
print("median of 0 to n - 1 for n = 8192, 9000, 100000:", *found, "exact:", exact)
same = found == [4095.5, 4477.0, 50501.5] and exact == 50000
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
