#!/usr/bin/env bash
# datasketches 5.2.0: an empty text is no distinct value.
#
# Guessed before: a HyperLogLog sketch that has seen "", "a" and "b" estimates 3, as COUNT(DISTINCT
# ..) of these does.
# Seen: it estimates 2, and 0 if it has seen nothing but empty texts: update("") is dropped without
# a word, by the theta and CPC sketches, too. NaN and 0.0 are counted, and -0.0 is 0.0. Who replaces
# a missing answer by "" finds one value fewer in the sketch than in the database.
# Source: measured; https://apache.github.io/datasketches-python/
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  datasketches==5.2.0 numpy==2.4.6
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

from datasketches import cpc_sketch, hll_sketch, update_theta_sketch


def estimate(sketch, values):
    for value in values:
        sketch.update(value)
    return round(sketch.get_estimate(), 3)


texts = [estimate(made(12), ["", "a", "b"]) for made in (hll_sketch, cpc_sketch)]
texts.append(estimate(update_theta_sketch(), ["", "a", "b"]))
empty = estimate(hll_sketch(12), ["", ""])
floats = estimate(hll_sketch(12), [float("nan"), 0.0, -0.0])
print("'', 'a', 'b':", texts, "'' alone:", empty, "nan, 0.0, -0.0:", floats)
same = texts == [2.0, 2.0, 2.0] and empty == 0 and floats == 2.0
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
