"""What a sweep does not accept, and errors at one of its points."""

from __future__ import annotations

import pytest
from sweep_cases import MEAN, clipped_sum

import sensitivity_lab as sl


def test_errors_name_the_point():
    with pytest.raises(sl.errors.InputError) as caught:
        sl.sweep(sl.global_sensitivity, "size", [2, 9], **MEAN)
    assert str(caught.value) == (
        "size = 9: size must be at most the universe's number of records, 5, got 9; choose a "
        "smaller size, or use a domain as the universe, Universe.from_domain(values)"
    )


def test_errors_keep_their_class():
    def within(memory_limit):
        options = {**MEAN, "query": max}
        run = sl.Run(memory_limit=memory_limit)
        return sl.global_sensitivity(**options, size=3, method="enumeration", run=run)

    with pytest.raises(sl.errors.TooLargeError, match=r"^memory_limit = 1: "):
        sl.sweep(within, "memory_limit", [10**9, 1])


def test_a_callers_own_error_gets_a_note():
    def fails(bound):
        return clipped_sum(1 / (bound - 3))

    with pytest.raises(ZeroDivisionError) as caught:
        sl.sweep(fails, "bound", [4, 3])
    assert caught.value.__notes__ == ["in the sweep over bound, at bound = 3"]


RETURNED = (
    "the function of a sweep must return a Sensitivity, SensitivityCurves, or several of them"
)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            (clipped_sum, "bound", [1, 2, 1.0]),
            "values: bound = 1 comes twice; give each value once",
        ),
        (
            (clipped_sum, "limit", [1]),
            "function has no argument 'limit'; its arguments are bound, query, size",
        ),
        (
            (sl.global_sensitivity, "size", [1]),
            "function cannot be called with size: missing a required argument: 'universe'; its "
            "arguments are universe, query, size, neighbors, norm, method, n_jobs, progress, run",
        ),
        ((lambda bound: bound, "bound", [7]), f"bound = 7: {RETURNED}; got 7"),
        ((lambda bound: [bound][1:], "bound", [7]), f"bound = 7: {RETURNED}; got []"),
        (
            (lambda bound: [clipped_sum(bound), clipped_sum(bound, size=4)], "bound", [7]),
            "bound = 7: 2 results are alike in column, query, neighbors, kind, norm and distance: "
            "records, sum, bounded, at most, global, L1, 1; return one of them, or give functions "
            "names with from_function(..., name=...)",
        ),
    ],
)
def test_what_is_not_accepted(asked, message):
    with pytest.raises(sl.errors.InputError) as caught:
        sl.sweep(*asked)
    assert str(caught.value) == message


def test_an_argument_is_not_both_swept_and_fixed():
    with pytest.raises(sl.errors.InputError) as caught:
        sl.sweep(sl.global_sensitivity, "size", [2, 3], size=3, **MEAN)
    assert str(caught.value) == "size is what varies, but is also given as 3; leave that out"
