#!/usr/bin/env bash
# anjana 1.2.3: the label of an interval says that its right edge is outside, and it is inside.
#
# Guessed before: generate_intervals of the ages 0, 5, 10, 15, 20 in steps of 10 gives "[0, 10)" to 0
# and 5, and "[10, 20)" to 10 and 15.
# Seen: 10 is in "[0, 10)" and 20 in "[10, 20)": an interval holds its right edge, and the first one
# its left edge, too. Who reads the label of a released table looks for the ten-year-olds in the
# wrong group, and counts by label differ from those of pandas.cut with right=False.
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

import pandas as pd
from anjana.anonymity.utils import generate_intervals

ages = [0, 5, 10, 15, 20]
labels = generate_intervals(ages, 0, 30, 10)
other = pd.cut(ages, [0, 10, 20, 30], right=False).astype(str).tolist()
print(dict(zip(ages, labels)), "pandas:", other)
same = labels == ["[0, 10)", "[0, 10)", "[0, 10)", "[10, 20)", "[10, 20)"] and other == [
    "[0, 10)",
    "[0, 10)",
    "[10, 20)",
    "[10, 20)",
    "[20, 30)",
]
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
