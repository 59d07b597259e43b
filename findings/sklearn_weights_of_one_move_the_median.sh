#!/usr/bin/env bash
# scikit-learn 1.8.0: a dummy regressor's median changes when each record gets the weight 1.
#
# Guessed before: DummyRegressor(strategy="median") fitted with sample_weight of ones predicts what
# it predicts without: 2.5 for 1, 2, 3, 4.
# Seen: it predicts 2.0. Without weights it is NumPy's median, with weights the lower of the two
# middle records (the inverted distribution function). The same for strategy="quantile", so a
# baseline changes when somebody passes weights that are all equal.
# Source: https://scikit-learn.org/stable/modules/generated/sklearn.dummy.DummyRegressor.html
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  scikit-learn==1.8.0 numpy==2.4.6 scipy==1.17.1
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy as np
from sklearn.dummy import DummyRegressor

records = np.array([1.0, 2.0, 3.0, 4.0])
nothing, ones = np.zeros((4, 1)), np.ones(4)


def median(**weights):
    made = DummyRegressor(strategy="median").fit(nothing, records, **weights)
    return float(made.constant_[0, 0])


found = median(), median(sample_weight=ones)
print("without and with weights of one:", found)
same = found == (2.5, 2.0)
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
