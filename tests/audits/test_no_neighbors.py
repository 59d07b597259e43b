"""Audits of datasets none of which are neighbors, where nothing would be compared."""

from __future__ import annotations

import numpy as np
import pytest
from checks import refused
from replay_cases import Noise

import sensitivity_lab as sl

ASKED = {"universe": [0, 5], "neighbors": "symmetric", "outputs": "absolute"}

ALONE = {
    "one size": (
        {"size": 3},
        "no two datasets of size 3 ",
        "give size=[2, 3], or a distance of 2 if the size is fixed",
    ),
    "sizes far apart": (
        {"size": [1, 3]}, "no two datasets of the sizes 1, 3 ", "give size=[2, 3]"
    ),
    "no records": (
        {"size": 0, "neighbors": "add_or_remove"},
        "no two datasets of size 0 ",
        "give size=[0, 1]",
    ),
    "one value": (
        {"universe": [1], "size": 2, "neighbors": "change_one"},
        "no two datasets of size 2 ",
        "give at least two values",
    ),
    "one value at each place": (
        {"universe": [1], "size": 2, "neighbors": "hamming"},
        "no two datasets of size 2 ",
        "give at least two values",
    ),
    "a single dataset": (
        {"universe": None, "datasets": [np.array([1])]},
        "no two of the datasets ",
        "give datasets that are closer, or a larger distance",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ALONE)
def test_datasets_without_neighbors_are_refused(case):
    given, who, way = ALONE[case]
    refused(
        lambda: sl.audit(query=sum, claim=5, **{**ASKED, "distances": [0, 1], **given}),
        f"{who}are neighbors at distance 1: {way}",
    )
    assert sl.audit(query=sum, claim=0, **{**ASKED, **given, "distances": 0}).verdict == "tight"


def test_neighbors_among_the_sizes_are_compared():
    assert (
        sl.audit(
            [0, 5],
            sum,
            lambda d: 5 * d,
            size=[2, 3],
            neighbors="symmetric",
            outputs="absolute",
            distances=1,
        ).verdict
        == "tight"
    )
    assert (
        sl.audit(
            [0, 5], sum, 5, size=3, neighbors="symmetric", outputs="absolute", distances=2
        ).verdict
        == "tight"
    )
    assert (
        sl.audit(
            [0, 5], sum, 5, size=3, neighbors="change_one", outputs="absolute", distances=1
        ).verdict
        == "tight"
    )


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
    refused(
        lambda: AUDITS[audit](3, neighbors),
        "no two datasets of size 3 are neighbors at distance 1: give size=[2, 3]"
        + ", or a distance of 2 if the size is fixed" * (neighbors == "symmetric_difference"),
    )
    assert AUDITS[audit]([2, 3], neighbors).rows[0].compared == "tight"
    assert AUDITS[audit](3, "bounded").rows[0].compared == "tight"
