#!/usr/bin/env bash
# diffprivlib 0.6.6: PCA moves the records that it is given, and a second fit sees other ones.
#
# Guessed before: fit leaves the caller's array as it is, as copy=True is the default and as the fit
# of scikit-learn's PCA does; two fits of one array have the same mean, up to noise.
# Seen: after a fit the array holds the records less the private mean: their mean was 5.05, 4.93 and
# is 0, 0. Bounds of 0 and 10 now move half of them to 0, so a second fit finds the mean 1.26 twice
# and the variance 11.2 where it was 8.9. Any sum or regression of the same array that comes after
# is of the moved records, too.
# Source: measured; https://diffprivlib.readthedocs.io/en/latest/modules/models.html (PCA, copy)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  diffprivlib==0.6.6 scikit-learn==1.8.0 numpy==2.4.6 \
  scipy==1.17.1
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy as np
from diffprivlib.models import PCA
from sklearn import decomposition

records = np.random.default_rng(0).uniform(0, 10, (1000, 2))
before = records.mean(axis=0)
decomposition.PCA(1).fit(records)
untouched = np.array_equal(records.mean(axis=0), before)
fits = []
for _ in range(2):
    found = PCA(1, epsilon=1e6, bounds=(0, 10), data_norm=15).fit(records)
    fits.append([*found.mean_.round(2).tolist(), round(float(found.explained_variance_[0]), 1)])
    if len(fits) == 1:
        after = records.mean(axis=0)
print("mean before:", before, "after:", after, "mean and variance of two fits:", fits)
same = (
    PCA().get_params()["copy"] is True
    and untouched
    and np.all(before > 4.9)
    and np.all(abs(after) < 0.01)
    and np.allclose(fits, [[5.05, 4.93, 8.9], [1.26, 1.26, 11.2]], atol=0.15)
)
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
