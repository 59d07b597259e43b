"""Tables of neighbors that are too long, and arguments that are not accepted."""

from __future__ import annotations

import pytest
from checks import refused

import sensitivity_lab as sl

PICTURE = sl.Universe.from_dataset([1, 2, 3, 10, 11])


ADVICE = (
    "choose a smaller universe, size or k, or a larger row_limit, or ask global_sensitivity for "
    "the largest change alone"
)


@pytest.mark.parametrize(
    ("universe", "asked", "message"),
    [
        (
            sl.Universe.from_dataset(range(20)),
            {"size": 10, "neighbors": sl.Bounded(2)},
            "the table would have more than 5,000 rows: 184,756 datasets x (size 10; universe of "
            "20 records), and the first, (0, 1, 2, 3, 4, 5, 6, 7, 8, 9), alone has 2,125 neighbors "
            f"(bounded, at most 2); {ADVICE}",
        ),
        (
            PICTURE,
            {"size": [2, 3], "neighbors": sl.Unbounded(1), "row_limit": 99},
            "the table would have more than 99 rows: 20 datasets x (size any of (2, 3); universe "
            "of 5 records), and the first, (1, 2), alone has 5 neighbors (unbounded, at most 1); "
            f"{ADVICE}",
        ),
        (
            sl.Universe.from_domain(range(4000)),
            {"size": 1, "neighbors": "bounded"},
            "the table would have more than 5,000 rows: 4,000 datasets x (size 1; domain of 4,000 "
            "values, unlimited copies), and the first, (0,), alone has 4,000 neighbors (bounded, "
            f"at most 1); {ADVICE}",
        ),
    ],
    ids=["datasets", "sizes", "neighbors"],
)
def test_too_many_rows(universe, asked, message):
    def never(x):
        raise AssertionError(f"the rows are counted first, but the query saw {x}")

    refused(lambda: sl.neighbor_table(universe, never, **asked), message, sl.errors.TooLargeError)


def test_the_limit_itself_is_allowed():
    asked = {"size": 3, "neighbors": sl.Unbounded(1)}
    assert len(sl.neighbor_table(PICTURE, "mean", **asked, row_limit=50)) == 50
    with pytest.raises(sl.errors.TooLargeError):
        sl.neighbor_table(PICTURE, "mean", **asked, row_limit=49)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        (
            {"size": 6},
            sl.errors.InputError,
            "size must be at most the universe's number of records, 5, got 6; choose a smaller "
            "size, or use a domain as the universe, Universe.from_domain(values)",
        ),
        (
            {"neighbors": sl.Bounded(3, exactly=True)},
            sl.errors.InputError,
            "bounded, exactly 3 is not feasible for datasets of size 3 in a universe of 5 records: "
            "replacing exactly k records needs k <= size and k <= records outside x; the largest "
            "feasible k is 2",
        ),
        (
            {"query": sl.Var(ddof=2), "size": 2},
            sl.errors.InputError,
            "var_ddof_2 needs at least 3 records, got size 2; leave out smaller sizes, or say the "
            "answer for fewer, empty=, which is then public",
        ),
        (
            {"query": sl.from_function(lambda x: 1 / int(x[0] - 1), name="f")},
            sl.errors.QueryError,
            "query 'f' on the dataset (1, 2, 3) raised ZeroDivisionError: division by zero",
        ),
        (
            {"universe": sl.Universe([10**200, *range(4)]), "query": "var"},
            sl.errors.InputError,
            "var, bounded, at most 1: an answer of about 1e399 is beyond the range of floats "
            "(about 1.8e308); divide the records by a constant",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_what_is_not_accepted(changed, error, message):
    asked = {"universe": PICTURE, "query": "mean", "size": 3, "neighbors": sl.Bounded(1), **changed}
    refused(
        lambda: sl.neighbor_table(asked.pop("universe"), asked.pop("query"), **asked),
        message,
        error,
    )
