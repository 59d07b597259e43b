"""Which answers of two calls count as the same."""

from __future__ import annotations

import math

import pytest
from checks import refused

from sensitivity_lab.audits.maps import RANDOM, try_evidence_again, try_inputs_again
from sensitivity_lab.audits.row import Evidence
from sensitivity_lab.metrics import METRICS


@pytest.mark.parametrize("metric", ["symmetric", "change_one", "add_or_remove"])
def test_a_shuffle_is_not_randomised_where_order_does_not_count(metric):
    """Missing values are equal too, in any place."""
    nan = float("nan")
    before, now = (1.0, nan, 0.0, 1.0), (math.nan, -0.0, 1.0, 1.0)
    try_inputs_again(lambda _: now, [[0]], [before], False, METRICS[metric])
    seen = Evidence([0], [0], before, before)
    try_evidence_again(lambda _: now, [seen], False, METRICS[metric])


@pytest.mark.parametrize(
    ("metric", "now"),
    [("symmetric", (1, 1)), ("insert_delete", (2, 1)), ("L1", (2, 1)), ("discrete", 3)],
)
def test_other_answers_are(metric, now):
    refused(
        lambda: try_inputs_again(lambda _: now, [[0]], [(1, 2)], False, METRICS[metric]),
        "what is audited must be a function, but it is randomised, or keeps state between calls: "
        f"two calls on [0] returned (1, 2) and {now}; an audit needs the part that adds no "
        f"randomness and keeps nothing, or choices=, as in {RANDOM}",
    )
