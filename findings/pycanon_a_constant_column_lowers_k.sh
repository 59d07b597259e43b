#!/usr/bin/env bash
# pycanon 1.3.5: a person without an age is left out of k, until a column is added that is the same
# for all.
#
# Guessed before: three people of 30 and one whose age is missing have k = 1, or 3 if who has no age
# cannot be found by it; and a quasi-identifier that is the same for all changes neither.
# Seen: k_anonymity is 3 for the age alone and 1 for the age and a city that all have in common.
# Missing values are no class in the grouping of pandas by one column, and are one in that by two,
# where the classes are looked up.
# Source: measured with pandas 2.3.3; https://pycanon.readthedocs.io/en/latest/
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  pycanon==1.3.5 pandas==2.3.3 numpy==2.0.2
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy as np
import pandas as pd
from pycanon import anonymity

table = pd.DataFrame({"age": [30, 30, 30, np.nan], "city": ["here"] * 4})
alone = anonymity.k_anonymity(table, ["age"])
both = anonymity.k_anonymity(table, ["age", "city"])
city = anonymity.k_anonymity(table, ["city"])
print("k by age:", alone, "by age and city:", both, "by city:", city)
same = (alone, both, city) == (3, 1, 4)
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
