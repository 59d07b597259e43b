#!/usr/bin/env bash
# pycanon 1.3.5: the l-diversity of a sorted table is that of other people.
#
# Guessed before: l_diversity and t_closeness are of a set of rows: sorting the table changes
# nothing, as it changes nothing for k_anonymity.
# Seen: two wards of four, one of which has the same illness four times, have l = 1 and t = 0.25.
# Sorted by age they have l = 2 and t = 0. The rows of a class are found by their labels and then
# taken by their places, and sort_values of pandas keeps the labels: a class is measured on rows of
# another one. reset_index(drop=True) gives l = 1 again. A table that was filtered raises
# IndexError, or is measured on other rows, too.
# Source: measured; https://pycanon.readthedocs.io/en/latest/
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  pycanon==1.3.5 pandas==2.3.3 numpy==2.0.2
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import pandas as pd
from pycanon import anonymity

table = pd.DataFrame(
    {
        "age": [30, 33, 36, 39, 31, 32, 37, 38],
        "ward": ["a", "a", "a", "a", "b", "b", "b", "b"],
        "illness": ["flu", "flu", "flu", "flu", "flu", "cold", "flu", "cold"],
    }
)


def measured(rows):
    return (
        anonymity.k_anonymity(rows, ["ward"]),
        anonymity.l_diversity(rows, ["ward"], ["illness"]),
        round(float(anonymity.t_closeness(rows, ["ward"], ["illness"])), 3),
    )


by_age = table.sort_values("age")
found = [measured(table), measured(by_age), measured(by_age.reset_index(drop=True))]
print("k, l, t as read, sorted, with new labels:", found)
same = found == [(4, 1, 0.25), (4, 2, 0.0), (4, 1, 0.25)]
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
