#!/usr/bin/env bash
# dp-accounting 0.6.0: a mechanism given by its two distributions has another epsilon if they are
# exchanged, and 0.095 may stand for 2.303.
#
# Guessed before: from_two_probability_mass_functions of the answers no, yes with probabilities 0.9,
# 0.1 on one dataset and 0.99, 0.01 on its neighbor has epsilon log 10 at delta = 0, as 0.1 is ten
# times 0.01: the estimate is pessimistic and symmetric by default, and neighbors have no order.
# Seen: it is 0.0954 = log(0.99 / 0.9) in this order, and 2.3026 in the other one. symmetric=True
# does not look both ways; it takes the one way that it looks for both. symmetric=False gives 2.3026
# in both orders. The delta at epsilon = 0.5 is 0 for 0.0835.
# Source: measured; the argument's text is "if True it creates a symmetric
# PrivacyLossDistribution", https://pypi.org/project/dp-accounting/0.6.0/
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  dp-accounting==0.6.0 numpy==2.4.6 scipy==1.17.1
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys
from math import exp, log

from dp_accounting.pld import privacy_loss_distribution

here = {"no": log(0.9), "yes": log(0.1)}
there = {"no": log(0.99), "yes": log(0.01)}


def loss(lower, upper, **more):
    return privacy_loss_distribution.from_two_probability_mass_functions(lower, upper, **more)


orders = [(here, there), (there, here)]
both = [loss(*pair).get_epsilon_for_delta(0) for pair in orders]
asked = [loss(*pair, symmetric=False).get_epsilon_for_delta(0) for pair in orders]
delta = loss(here, there).get_delta_for_epsilon(0.5)
true_delta = 0.1 - 0.01 * exp(0.5)
print("by default:", both, "symmetric=False:", asked, "delta:", delta, "for", true_delta)
same = (
    abs(both[0] - log(1.1)) < 1e-3
    and all(abs(epsilon - log(10)) < 1e-3 for epsilon in [both[1], *asked])
    and delta < 1e-9 < 0.08 < true_delta
)
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
