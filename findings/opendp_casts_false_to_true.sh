#!/usr/bin/env bash
# OpenDP 0.16.0: casting text to bool makes True of "false", "0" and "no".
#
# Guessed before: make_cast_default from str to bool reads "true" (perhaps "True") as True, and what
# it cannot read becomes the default, False.
# Seen: every text but the empty one is True: "false", "False", "0" and "no" as well. Text to int is
# read, as one expects, and what is no number becomes 0. A count of the True after a CSV file was
# split counts everybody who answered.
# Source: https://docs.opendp.org/en/stable/api/python/opendp.transformations.html
# (make_cast_default)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  opendp==0.16.0
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import opendp.prelude as dp

dp.enable_features("contrib")
text = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
given = ["true", "false", "False", "0", "no", ""]
flags = dp.t.make_cast_default(*text, TOA=bool)(given)
numbers = dp.t.make_cast_default(*text, TOA=int)(["7", "no", ""])
print(dict(zip(given, flags)), "to int:", numbers)
same = flags == [True] * 5 + [False] and numbers == [7, 0, 0]
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
