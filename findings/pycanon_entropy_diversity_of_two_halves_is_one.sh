#!/usr/bin/env bash
# pycanon 1.3.5: two values that are equally frequent have an entropy l-diversity of 1.
#
# Guessed before: entropy_l_diversity of a class with n values, each once, is n: the entropy is
# log n, and l is its exponential.
# Seen: it is 1 for two values, the same as for one value, 2 for three, 5 for five and 16 - 1 for
# sixteen. exp(log 2) is 1.999.. in floats and the fraction is cut off, so whether a table has
# entropy 2-diversity is decided by the last digit. 20 of the sizes from 1 to 29 are one too small.
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


def diversity(values):
    table = pd.DataFrame({"ward": ["a"] * values, "illness": range(values)})
    return anonymity.entropy_l_diversity(table, ["ward"], ["illness"])


found = [diversity(values) for values in (1, 2, 3, 5, 16)]
small = sum(diversity(values) == values - 1 for values in range(1, 30))
print("1, 2, 3, 5 and 16 values:", found, "one too small:", small)
same = found == [1, 1, 2, 5, 15] and small > 9
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
