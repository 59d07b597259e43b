#!/usr/bin/env bash
# dp-accounting 0.6.0: for replaced records a Gaussian event counts as noise for half the
# sensitivity that the caller scaled it to.
#
# Guessed before: GaussianDpEvent(1) has epsilon 4.377 at delta = 1e-5 for every relation: the noise
# multiplier is noise over sensitivity, and whoever sets it knows which relation the sensitivity is
# of. At most, REPLACE_ONE is refused, as it is for Laplace.
# Seen: with NeighboringRelation.REPLACE_ONE epsilon is 9.997, that of a multiplier of 1/2. The
# sensitivity that the multiplier refers to is that of one added or removed record, and a
# replacement counts as two. The same relation is refused for LaplaceDpEvent. Who has already scaled
# the noise to a mean's sensitivity when one record is replaced pays twice.
# Source: measured; the relations are in dp_accounting.NeighboringRelation,
# https://pypi.org/project/dp-accounting/0.6.0/
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install \
  dp-accounting==0.6.0 numpy==2.4.6 scipy==1.17.1
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

from dp_accounting import NeighboringRelation, dp_event
from dp_accounting.pld import PLDAccountant


def epsilon(relation, noise):
    accountant = PLDAccountant(relation)
    accountant.compose(dp_event.GaussianDpEvent(noise))
    return accountant.get_epsilon(1e-5)


added = epsilon(NeighboringRelation.ADD_OR_REMOVE_ONE, 1)
half = epsilon(NeighboringRelation.ADD_OR_REMOVE_ONE, 0.5)
replaced = epsilon(NeighboringRelation.REPLACE_ONE, 1)
laplace = PLDAccountant(NeighboringRelation.REPLACE_ONE).supports(dp_event.LaplaceDpEvent(1))
print("added or removed:", added, "with half the noise:", half, "replaced:", replaced)
print("Laplace for replaced records:", laplace)
same = abs(added - 4.377) < 0.01 and abs(replaced - half) < 0.01 and replaced > 9 and not laplace
print("as described" if same else "this has changed")
sys.exit(not same)
PYTHON
