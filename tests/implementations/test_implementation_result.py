"""The result of a search over code: its texts, and that `verify` finds whatever does not hold."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

import sensitivity_lab as sl

RESULT = sl.implementations.implemented_sensitivity(
    sl.Universe.from_domain([0, 0.1, 1]),
    sl.implementations.float_sum("float16"),
    size=8,
    neighbors=sl.Bounded(1),
)


def test_text_and_html_tell_the_same_facts():
    text = repr(RESULT)
    assert text == (
        "Implemented sensitivity of float16 sum: 1.0078125 (ideal 1)\n"
        "  exact      129/128\n"
        "  neighbors  bounded, at most 1; size 8; domain of 3 values, unlimited copies\n"
        "  order      free: any order of x, any order of y\n"
        "  witness x  (1, 1, 1, 1, 0.1, 0.1, 0.1, 0.1)  float16 sum 4.40625\n"
        "  witness y  (1, 1, 1, 0.1, 0.1, 0.1, 0.1, 0)  float16 sum 3.3984375\n"
        "  method     reachable accumulators: 6,561 orders of 45 multisets in 159 steps"
    )
    html = RESULT._repr_html_()
    for line in text.splitlines():
        for fact in line.strip().split("  ", 1):
            assert fact.strip() in html


def test_the_facts_as_plain_objects():
    facts = RESULT.to_dict()
    assert json.loads(json.dumps(facts))["exact"] == "129/128"
    assert (facts["neighbors"], facts["meaning"], facts["distance"]) == ("bounded", "at most", 1)
    assert (facts["order"], facts["ideal"], facts["size"]) == ("free", "1", 8)
    reordered = sl.implementations.implemented_sensitivity(
        sl.Universe.from_domain([1, 2]), sl.implementations.float_sum(), size=2, neighbors=None
    )
    assert (reordered.to_dict()["neighbors"], reordered.to_dict()["distance"]) == ("reordering", 0)
    assert "same records, reordered; size 2" in repr(reordered)


X, Y = RESULT.witness.x, RESULT.witness.y


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"witness": replace(RESULT.witness, x=X[::-1])},
            "the answer on x of float16 sum is stated as 4.40625, but the witness gives "
            "4.3984375; x = (0.1, 0.1, 0.1, 0.1, 1, 1, 1, 1), y = "
            "(1, 1, 1, 0.1, 0.1, 0.1, 0.1, 0)",
        ),
        (
            {"exact": Fraction(1)},
            "the exact value of float16 sum is stated as 1, but the witness gives 129/128; x = "
            "(1, 1, 1, 1, 0.1, 0.1, 0.1, 0.1), y = (1, 1, 1, 0.1, 0.1, 0.1, 0.1, 0)",
        ),
        ({"size": 7}, "x has 8 records, the stated sizes are (7,)"),
        (
            {"neighbors": None},
            "x = (1, 1, 1, 1, 0.1, 0.1, 0.1, 0.1) and y = (1, 1, 1, 0.1, 0.1, 0.1, 0.1, 0) are "
            "not the same records",
        ),
        (
            {"order": "aligned"},
            "x = (1, 1, 1, 1, 0.1, 0.1, 0.1, 0.1) and y = (1, 1, 1, 0.1, 0.1, 0.1, 0.1, 0) are "
            "not aligned neighbors (bounded, at most 1): they share 6 positions",
        ),
        (
            {"universe": sl.Universe.from_domain([0, 1])},
            "the record 0.1 is not in the universe: Universe of the values 0, 1, each as often as "
            "a dataset can hold",
        ),
    ],
)
def test_verify_finds_what_is_wrong(changed, message):
    RESULT.verify()
    with pytest.raises(sl.errors.VerificationError) as raised:
        replace(RESULT, **changed).verify()
    assert str(raised.value) == message
