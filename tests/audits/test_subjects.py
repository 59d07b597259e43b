"""Names of what is audited, and what a report says to people."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import pytest
from checks import refused_with
from reports import report, row

import sensitivity_lab as sl
from sensitivity_lab.exact.difference import Difference

UNIVERSE = sl.Universe.from_domain([0, 5])
HERE = {"size": 2, "neighbors": "bounded", "distances": 1}


class Total:
    def __call__(self, x):
        return sum(x)


def total(x, least):
    return sum(max(one, least) for one in x)


NAMES = {
    "a partial": (partial(total, least=0), "total"),
    "a partial of a partial": (partial(partial(total), least=0), "total"),
    "a function": (sum, "sum"),
    "an object": (Total(), "Total"),
    "a lambda": (
        lambda x: sum(x),
        f"<lambda> (test_subjects.py:{total.__code__.co_firstlineno + 10})",
    ),
}


@pytest.mark.parametrize("case", NAMES)
def test_reports_call_functions_by_their_names(case):
    function, name = NAMES[case]
    by_map = sl.audit(
        [0, 5], function, 5, size=[2], neighbors="change_one", outputs="absolute", distances=1
    )
    assert (by_map.subject, by_map.verdict) == (name, "tight")
    coupled = sl.audit(
        [0, 5],
        lambda x: function(x),
        9,
        size=[1, 2],
        neighbors="symmetric",
        outputs="absolute",
        distances=1,
        subject=name,
        choices=2,
    )
    assert coupled.subject == name
    if case != "a function":  # "sum" is a query of the lab's as well
        by_query = sl.audit(UNIVERSE, function, 5, **HERE)
        assert by_query.subject == f"{name}, bounded"


def test_a_subject_of_ones_own():
    tried = sl.audit(UNIVERSE, sum, 5, **HERE, subject="my sum")
    assert tried.subject == "my sum, bounded"
    asserted = sl.assert_sensitivity(UNIVERSE, sum, 5, **HERE, subject="my sum")
    assert asserted.subject == tried.subject


def test_loose_claims_raise_on_demand():
    loose = report(row(1, 1), row(2, 1), row(None, 1))
    assert loose.verdict == "no claim"
    loose.raise_if_violated()
    refused_with(
        lambda: loose.raise_if_violated(tight=True),
        "a sensitivity of 2 is claimed",
        sl.errors.SensitivityViolation,
    )
    report(row(1, 1)).raise_if_violated(tight=True)
    refused_with(
        lambda: report(row(2, 1), row(1, 2)).raise_if_violated(tight=True),
        "a sensitivity of 1 is claimed",
        sl.errors.SensitivityViolation,
    )
    refused_with(lambda: loose.raise_if_violated(tight=1), r"^tight must be True or False, got 1$")


def test_notes_are_told_everywhere():
    noted = sl.audits.AuditReport("mean", (row(1, 2),), "size 2", ("first of <all>", "second"))
    assert repr(noted).splitlines()[1:4] == [
        "  setting  size 2",
        "  note     first of <all>",
        "  note     second",
    ]
    assert "first of &lt;all&gt;" in noted._repr_html_()
    assert noted.to_dict()["notes"] == ["first of <all>", "second"]
    assert noted.counterexample(noted.decisive).splitlines()[-2:] == [
        "(first of <all>)",
        "(second)",
    ]


def test_long_fractions_are_told_as_numbers_and_kept_as_they_are():
    third, tenth = Fraction(1 / 3), Fraction(0.1)
    pair = sl.audits.Evidence((1,), (2,), third, (tenth, Fraction(1, 3), 10**400 + Fraction(1, 3)))
    found = report(row(tenth, Difference(third, Fraction(0)), evidence=pair))
    first, x, y, _ = found.counterexample(found.decisive).splitlines()
    assert first == (
        "mean, bounded: a sensitivity of 0.1 is claimed at distance 1, the truth is 0.3333333333: "
        "violated (claim / truth = 0.3)"
    )
    assert x == f"x = [1]  ->  f(x) = {1 / 3!r}"
    assert y.startswith("y = [2]  ->  f(y) = (0.1, Fraction(1, 3), Fraction(3000000000000000")
    assert found.rows[0].exact == third
    assert found.to_dict()["rows"][0]["exact"] == str(third)
