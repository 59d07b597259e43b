#!/usr/bin/env bash
# pyreadstat 1.3.7: write_dta widens int8 and int16 columns where Stata has no room, and refuses
# int32.
#
# Guessed before: Stata keeps the largest values of each whole number type for its missing codes; a
# column of int32 with 2,147,483,647 is widened to double, as columns of int8 with 127 and of int16
# with 32,767 are.
# Seen: int8 and int16 come back whole, and the same number in a column of int64 does, too, as a
# double. In a column of int32 from 2,147,483,621 on it raises "outside the range of representable
# values". Downcasting a column to save memory makes a file that could be written fail.
# Source: measured; https://ofajardo.github.io/pyreadstat_documentation/_build/html/index.html
# (write_dta)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  pyreadstat==1.3.7 pandas==2.3.3 numpy==2.4.6
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import pandas as pd
import pyreadstat


def back(kind, number):
    pyreadstat.write_dta(pd.DataFrame({"a": pd.Series([number, 1], dtype=kind)}), "a.dta")
    return int(pyreadstat.read_dta("a.dta")[0]["a"][0])


whole = [back("int8", 127), back("int16", 32767), back("int64", 2147483647)]
last = back("int32", 2147483620)
try:
    back("int32", 2147483621)
    refused = ""
except pyreadstat.ReadstatError as error:
    refused = str(error)
print("widened:", whole, "int32:", last, "the next one:", refused)
same = whole == [127, 32767, 2147483647] and last == 2147483620 and "outside" in refused
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
