#!/usr/bin/env bash
# diffprivlib 0.6.6: means of columns of whole numbers are cut to whole numbers, so the share of yes
# in each column is 0.
#
# Guessed before: mean(answers, axis=0) of 0 and 1 in three columns is the share of 1 in each, up to
# noise, as mean(answers[:, 0]) is.
# Seen: it is [0, 0, 0] where 90, 60 and 30 % are 1, while one column alone gives 0.90 and the same
# numbers as floats give [0.90, 0.60, 0.30]. The answers along an axis are written into an array of
# the type of the records, which cuts the fraction off, noise included. var, std, median and
# quantile do the same: mean ages are half a year too low on average, the variance of answers is 0.
# Source: measured; https://diffprivlib.readthedocs.io/en/latest/modules/tools.html (mean, axis)
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
from diffprivlib import tools

answers = np.zeros((1000, 3), dtype=int)
for column, yes in enumerate((900, 600, 300)):
    answers[:yes, column] = 1


def means(records):
    return tools.mean(records, axis=0, epsilon=100, bounds=(0, 1)).tolist()


whole, floats = means(answers), means(answers.astype(float))
alone = tools.mean(answers[:, 0], epsilon=100, bounds=(0, 1))
variances = tools.var(answers, axis=0, epsilon=100, bounds=(0, 1)).tolist()
print("int:", whole, "float:", floats, "one column:", alone, "variances, int:", variances)
same = (
    whole == variances == [0, 0, 0]
    and np.allclose(floats, [0.9, 0.6, 0.3], atol=0.02)
    and abs(alone - 0.9) < 0.02
)
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
