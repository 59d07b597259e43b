#!/usr/bin/env bash
# crick 0.0.8: infinite records vanish from a t-digest.
#
# Guessed before: TDigest.update refuses infinity, or it moves the quantiles: the 90th percentile of
# nine records, five of which are infinite, is infinite.
# Seen: infinite records are dropped without a word, as NaN is: size() is 4 after nine records, and
# the quantiles and max() are those of the finite ones. A duration that never ended, coded as
# infinity, is left out, and the median looks short.
# Source: measured; https://github.com/dask/crick
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  crick==0.0.8 numpy==2.4.6
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import crick
import numpy as np

digest = crick.TDigest()
digest.update(np.array([1.0, 2.0, 3.0, 4.0, *[np.inf] * 5]))
print("size:", digest.size(), "median:", digest.quantile(0.5), "max:", digest.max())
same = digest.size() == 4 and digest.quantile(0.5) == 2.5 and digest.max() == 4
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
