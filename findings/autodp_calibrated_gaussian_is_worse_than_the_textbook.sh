#!/usr/bin/env bash
# autodp 0.2.3.1: the Gaussian noise that its calibrator finds exceeds that of the classical
# formula.
#
# Guessed before: privacy_calibrator.gaussian_mech(1, 1e-5) returns the analytic sigma 3.73, as the
# package is known for tight accounting; classical_gaussian_mech returns 4.84 for comparison.
# Seen: gaussian_mech returns 4.90, more than the 4.84 of sqrt(2 ln(1.25 / delta)). It inverts an
# RDP bound, while GaussianMechanism(sigma).get_approxDP of the same package is tight: for 4.90 it
# says epsilon 0.75.
# Source: measured; https://pypi.org/project/autodp/0.2.3.1/
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  autodp==0.2.3.1 numpy==2.4.6 scipy==1.17.1
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import autodp.mechanism_zoo as zoo
import autodp.privacy_calibrator as privacy_calibrator

found = privacy_calibrator.gaussian_mech(1, 1e-5)["sigma"]
classical = privacy_calibrator.classical_gaussian_mech(1, 1e-5)["sigma"]
needed = zoo.GaussianMechanism(sigma=3.7306).get_approxDP(1e-5)
spent = zoo.GaussianMechanism(sigma=found).get_approxDP(1e-5)
print("calibrated:", found, "classical:", classical)
print("epsilon of sigma 3.7306:", needed, "of the calibrated sigma:", spent)
same = found > classical > 4.8 and abs(needed - 1) < 1e-3 and spent < 0.8
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
