#!/usr/bin/env bash
# pingouin 0.7.0: Cohen's d of a paired t-test is not that of the differences, and has lost its
# sign.
#
# Guessed before: ttest(x, y, paired=True) states d of the pairs: the mean of the differences over
# their standard deviation, -2.31 for 1, 2, 3 and 2, 3, 5, negative as T is.
# Seen: it states 1.03: the difference of the means over an average of the two standard deviations,
# as if the samples were not paired, and positive while T is -4. compute_effsize(paired=True) of the
# same package gives the same number with its sign.
# Source: https://pingouin-stats.org/generated/pingouin.compute_effsize.html (paired),
# https://pingouin-stats.org/generated/pingouin.ttest.html
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  pingouin==0.7.0 pandas==2.3.3 numpy==2.4.6 scipy==1.17.1 \
  scikit-learn==1.9.1 statsmodels==0.15.0
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy as np
import pingouin

x, y = np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 5.0])
told = pingouin.ttest(x, y, paired=True)
d = float(told["cohen_d"].iloc[0])
t = float(told["T"].iloc[0])
effect = float(pingouin.compute_effsize(x, y, paired=True))
pairs = (x - y).mean() / (x - y).std(ddof=1)
print("ttest: T", t, "d", d, "compute_effsize:", effect, "of the differences:", pairs)
same = t < 0 < d and abs(d - 1.0328) < 1e-3 and abs(effect + d) < 1e-9 and pairs < -2.3
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
