#!/usr/bin/env bash
# pycanon 1.3.5: the c of recursive (c, l)-diversity is counted from the rarest value.
#
# Guessed before: the illnesses x, x, x, y, z have l = 3 and c = 4: the most frequent value must be
# rarer than c times the l-th most frequent one and all after it, 3 < c * 1, and c is a whole
# number.
# Seen: c is 1. The counts are sorted the other way, and what is compared is the rarest value with
# the most frequent one, 1 < c * 3, which always holds for c = 1 unless all counts of a class are
# equal. A class in which one illness has 98 of 100 places is (1, 3)-diverse too, and the most even
# class, each illness once, has the larger c of 2.
# Source: measured; A. Machanavajjhala and others, l-Diversity: Privacy Beyond k-Anonymity, 2007
# (recursive (c, l)-diversity); https://pycanon.readthedocs.io/en/latest/
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


def recursive(illnesses):
    table = pd.DataFrame({"ward": ["a"] * len(illnesses), "illness": list(illnesses)})
    c, values = anonymity.recursive_c_l_diversity(table, ["ward"], ["illness"])
    return int(c), int(values)


found = [recursive(illnesses) for illnesses in ("xxxyz", "x" * 98 + "yz", "xyz")]
print("c, l of 3 + 1 + 1, of 98 + 1 + 1 and of 1 + 1 + 1:", found)
same = found == [(1, 3), (1, 3), (2, 3)]
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
