"""Audits of datasets none of which are neighbors, where nothing would be compared."""

from __future__ import annotations

import numpy as np
import pytest
from replay_cases import Noise

import sensitivity_lab as sl

ALONE = {
    "one size": ({"sizes": 3}, "no two datasets of size 3 ", "give sizes=[2, 3]"),
    "sizes far apart": (
        {"sizes": [1, 3]}, "no two datasets of the sizes 1, 3 ", "give sizes=[2, 3]"
    ),
    "no records": (
        {"sizes": 0, "inputs": "add_or_remove"},
        "no two datasets of size 0 ",
        "give sizes=[0, 1]",
    ),
    "one value": (
        {"values": [1], "sizes": 2, "inputs": "change_one"},
        "no two datasets of size 2 ",
        "give at least two values",
    ),
    "a single dataset": (
        {"values": None, "datasets": [np.array([1])]},
        "no two of the datasets ",
        "give datasets that are closer, or a larger distance",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ALONE)
def test_datasets_without_neighbors_are_refused(case):
    given, who, way = ALONE[case]
    with pytest.raises(sl.errors.InputError) as caught:
        sl.audits.audit_map(sum, 5, **{"values": [0, 5], "d_in": [0, 1], **given})
    assert str(caught.value) == f"{who}are neighbors at distance 1: {way}"
    assert sl.audits.audit_map(sum, 0, **{"values": [0, 5], **given}, d_in=0).verdict == "tight"


def test_neighbors_among_the_sizes_are_compared():
    assert sl.audits.audit_map(sum, lambda d: 5 * d, [0, 5], [2, 3], d_in=1).verdict == "tight"
    assert sl.audits.audit_map(sum, 5, [0, 5], 3, d_in=2).verdict == "tight"
    assert sl.audits.audit_map(sum, 5, [0, 5], 3, inputs="change_one", d_in=1).verdict == "tight"


def noisy_sum(x):
    return sum(x) + np.random.default_rng().laplace(scale=5)


AUDITS = {
    "recorded": lambda sizes, neighbors: sl.audits.audit_recorded(
        lambda x: Noise(5).randomise(sum(x)), [0, 5], sizes, Noise, neighbors=neighbors
    ),
}


@pytest.mark.parametrize("audit", AUDITS)
@pytest.mark.parametrize("neighbors", ["unbounded", "symmetric_difference"])
def test_noise_is_not_judged_without_neighbors(audit, neighbors):
    with pytest.raises(sl.errors.InputError) as caught:
        AUDITS[audit](3, neighbors)
    assert str(caught.value) == (
        "no two datasets of size 3 are neighbors at distance 1: give sizes=[2, 3]"
    )
    assert AUDITS[audit]([2, 3], neighbors).rows[0].compared == "tight"
    assert AUDITS[audit](3, "bounded").rows[0].compared == "tight"
