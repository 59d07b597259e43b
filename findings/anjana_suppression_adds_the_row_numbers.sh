#!/usr/bin/env bash
# anjana 1.2.3: an anonymized table has the row numbers of the original as a new column, if records
# were suppressed.
#
# Guessed before: k_anonymity returns the columns it was given, generalized, whether the limit of
# suppressed records is 0 or 20 percent; identifiers are "*".
# Seen: with 0 percent the columns are name, age, ward, illness. With 20 percent, where one record is
# left out, a column "index" comes first: the places of the records in the table that was
# anonymized, 0, 2, 3, .., each once. Who writes the result to a file publishes them, and the number
# left out is the place of the suppressed person.
# Source: measured; https://anjana.readthedocs.io/en/latest/
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  anjana==1.2.3 pycanon==1.3.5 pandas==2.3.3 numpy==2.0.2
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy as np
import pandas as pd
from anjana.anonymity import k_anonymity

table = pd.DataFrame(
    {
        "name": ["p", "q", "r", "s", "t", "u", "v"],
        "age": [30, 91, 30, 30, 40, 40, 40],
        "ward": ["a", "c", "a", "a", "b", "b", "b"],
        "illness": ["flu", "cold", "cold", "flu", "flu", "cold", "flu"],
    }
)


def anonymized(percent):
    levels = {
        name: {0: table[name].to_numpy(), 1: np.array(["*"] * len(table))}
        for name in ("age", "ward")
    }
    return k_anonymity(table.copy(), ["name"], ["age", "ward"], 3, percent, levels)


none, some = anonymized(0), anonymized(20)
print(list(none.columns), list(some.columns))
print(some)
same = (
    list(none.columns) == ["name", "age", "ward", "illness"]
    and list(some.columns) == ["index", "name", "age", "ward", "illness"]
    and some["index"].tolist() == [0, 2, 3, 4, 5, 6]
)
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
