#!/usr/bin/env bash
# dp-accounting 0.6.0: the Laplace noise calibrated for epsilon = 1 and delta = 0 is twenty times
# too large.
#
# Guessed before: calibrate_dp_mechanism with the loss distribution accountant returns a noise
# multiplier of 1.0: that is the Laplace mechanism, and the search ends within its tolerance.
# Seen: it returns 20.04. The accountant says that Laplace noise of scale 1 has an infinite epsilon
# at delta = 0, though the loss distribution of the same noise, asked directly, says exactly 1. With
# delta = 1e-12 the calibration finds 1.0.
# Source: measured; LaplaceDpEvent is among the events that PLDAccountant supports,
# https://pypi.org/project/dp-accounting/0.6.0/
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  dp-accounting==0.6.0 numpy==2.4.6 scipy==1.17.1
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import math
import sys

import dp_accounting
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant, privacy_loss_distribution

found = dp_accounting.calibrate_dp_mechanism(PLDAccountant, dp_event.LaplaceDpEvent, 1.0, 0)
with_delta = dp_accounting.calibrate_dp_mechanism(
    PLDAccountant, dp_event.LaplaceDpEvent, 1.0, 1e-12
)
accountant = PLDAccountant()
accountant.compose(dp_event.LaplaceDpEvent(1))
composed = accountant.get_epsilon(0)
alone = privacy_loss_distribution.from_laplace_mechanism(1, 1).get_epsilon_for_delta(0)
print("calibrated at delta 0:", found, "at 1e-12:", with_delta)
print("epsilon of scale 1 by the accountant:", composed, "by the distribution:", alone)
same = found > 20 and abs(with_delta - 1) < 0.01 and math.isinf(composed) and abs(alone - 1) < 1e-3
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
