"""How many distinct values: against the definition.

Small numbers are the contract's; here are rows, one dataset, and what is difficult about them.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from unittest.mock import patch

import oracle
import pandas as pd
import pytest
from checks import check_value
from doses import dose
from strategies import RELATIONS

import sensitivity_lab as sl
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import CountDistinct
from sensitivity_lab.search import multiplicities as theory


def message(error, call) -> str:
    """The whole text of an error."""
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def changes_of(pairs, answer) -> Fraction:
    """The largest change of an answer over pairs of datasets."""
    known = {data: answer(data) for pair in pairs for data in pair}
    return Fraction(max(abs(known[x] - known[y]) for x, y in pairs))


def draw(rng: Random):
    """Rows with few values, perhaps unlimited, a relation and all pairs of neighbors."""
    while True:
        cells = [rng.randrange(rng.choice((1, 2, 3, 6))) for _ in range(rng.randint(2, 7))]
        rows = [(cell, rng.randrange(rng.choice((1, 2, 4)))) for cell in cells]
        family, exactly = rng.choice(sorted(RELATIONS)), rng.random() < 0.5
        size, k = rng.randint(1, 4), rng.randint(1, 4)
        unlimited = rng.random() < 0.25
        if unlimited:
            rows, k = sorted(set(rows))[:3], min(k, 2)
        table = pd.DataFrame(rows, columns=["a", "b"])
        make = sl.TableUniverse.from_domain if unlimited else sl.TableUniverse.from_dataset
        universe = make(table)
        relation, parameters = RELATIONS[family]
        neighbors = relation(k, exactly, **parameters)
        try:
            if size > universe.size or not neighbors.changes(size, universe):
                continue
        except sl.errors.InputError:
            continue
        records = rows * (size + k if unlimited else 1)
        told = neighbors.name.replace(" ", "_")
        pairs = list(oracle.pairs(records, size, told, k, exactly=exactly, **parameters))
        return universe, neighbors, size, pairs


def check_one(seed: int) -> None:
    """Of rows, of a column and of its numbers, globally and for one dataset."""
    rng = Random(seed)
    universe, neighbors, size, pairs = draw(rng)
    x = rng.choice(pairs)[0]
    of_x = [pair for pair in pairs if pair[0] == x]
    for column, place in ((None, slice(2)), ("a", 0), ("b", 1)):

        def answer(data, place=place):
            return len({row[place] for row in data})

        query = sl.CountDistinct(column)
        found = sl.global_sensitivity(universe, query, size=size, neighbors=neighbors)
        of_one = sl.local_sensitivity(universe, query, dataset=x, neighbors=neighbors)
        for result, some in ((found, pairs), (of_one, of_x)):
            case = f"seed {seed}: {result!r}"
            assert result.exact == changes_of(some, answer), case
            pair = result.witness.x, result.witness.y
            assert result.exact == abs(answer(pair[0]) - answer(pair[1])), case
            assert pair in some, case
            assert result.method == "multiplicities", case
            result.verify()
        if column is not None:
            numbers = universe.column(column)
            same = sl.global_sensitivity(numbers, "count_distinct", size=size, neighbors=neighbors)
            assert (same.exact, same.method) == (found.exact, "multiplicities")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "seeds", [range(8), pytest.param(range(8, 25), marks=pytest.mark.exhaustive)], ids=str
)
def test_a_few_random_tables(seeds):
    for seed in seeds:
        check_one(seed)


@pytest.mark.stress
def test_many_random_tables():
    for seed in range(25, 25 + dose(20_000)):
        check_one(seed)


def test_more_values_of_y_can_be_better_than_the_fewest():
    """x takes what y leaves of each value, so that y had better spread: q = 3, not 2."""
    universe = sl.Universe([1, 2, 3], [3, 3, 3])
    result = sl.global_sensitivity(
        universe, "count_distinct", size=3, neighbors=sl.SymmetricDifference(9, exactly=True)
    )
    assert result.exact == 1
    asked = Problem(universe, (CountDistinct(),), (sl.SymmetricDifference(9, exactly=True),), (3,))
    assert theory.Copies(asked, CountDistinct()).gain(0, 3, 6) == (0, 3)


def test_few_records_outside_decide_which_values_go():
    """Without 1 and 2 there is no place for what is added: 1 and 3 go, though 3 has more."""
    universe = sl.Universe([1, 2, 3, 4], [5, 6, 3, 1])
    x = [1, 2, 3, 3, 4]
    for removed_and_added in (8, 9, 10):
        neighbors = sl.SymmetricDifference(removed_and_added, exactly=True)
        quick, listed = (
            sl.local_sensitivity(
                universe, "count_distinct", dataset=x, neighbors=neighbors, method=method
            )
            for method in ("multiplicities", "enumeration")
        )
        assert quick.exact == listed.exact


def test_a_table_that_is_too_large_is_refused():
    universe = sl.Universe(range(40), [2] * 40)
    x = list(range(40))
    with patch.object(theory, "MAX_STEPS", 1000):
        said = message(
            sl.errors.TooLargeError,
            lambda: sl.local_sensitivity(
                universe,
                "count_distinct",
                dataset=x,
                neighbors=sl.SymmetricDifference(60, exactly=True),
                method="multiplicities",
            ),
        )
    assert said == (
        "no engine accepts count_distinct here: multiplicities would take 676,270 steps, more than "
        "1,000; choose a smaller distance"
    )


def test_distances_share_what_is_known_of_their_changes():
    """At most k has the changes of every smaller k: one gain per direction and new change."""
    universe = sl.Universe(range(50), [3] * 50)
    gain = theory.Copies.gain
    calls = []

    def counted(*arguments):
        calls.append(arguments[1:])
        return gain(*arguments)

    with patch.object(theory.Copies, "gain", counted):
        sl.sensitivity_curves(
            universe, "count_distinct", size=60, distances=range(1, 21), neighbors="unbounded"
        )
    assert len(calls) == len(set(calls)) == 2 * 2 * 20


def test_a_million_records():
    universe = sl.Universe(range(1000), [1000] * 1000)
    result = sl.global_sensitivity(
        universe, "count_distinct", size=1000, neighbors=sl.Bounded(1000)
    )
    assert result.exact == 1000 - 1
    result.verify()


def test_records_that_no_float_tells_apart():
    """An enumeration compares them as whole numbers."""
    universe = sl.Universe.from_dataset([2**60, 2**60 + 1, 2**60 + 1, -(2**60)])
    for method in ("multiplicities", "enumeration"):
        result = sl.global_sensitivity(
            universe, "count_distinct", size=2, neighbors=sl.Bounded(1), method=method
        )
        assert result.exact == 1


def test_a_missing_value_is_a_value():
    table = pd.DataFrame({"a": [None, None, 1.0]})
    assert sl.CountDistinct("a")(table) == table["a"].nunique(dropna=False) == 2


def test_the_smooth_sensitivity_is_enumerated():
    universe = sl.Universe([1, 2, 3], [2, 2, 2])
    result = sl.smooth_sensitivity(
        universe, "count_distinct", dataset=[1, 1, 2], beta=0.1, neighbors="bounded"
    )
    assert (result.value, result.local.method) == (1.0, "enumeration")


def test_a_column_needs_a_table():
    said = message(
        sl.errors.InputError,
        lambda: sl.global_sensitivity(
            sl.Universe([1, 2]), sl.CountDistinct("a"), size=1, neighbors=sl.Bounded(1)
        ),
    )
    assert said == (
        "count_distinct of a is a query of a column, and the universe has numbers; leave out the "
        "column, or make a TableUniverse of the table"
    )
    assert message(sl.errors.InputError, lambda: sl.CountDistinct("a")([1, 2])) == (
        "count_distinct of a is a query on records; give a DataFrame"
    )
    table = sl.TableUniverse.from_dataset(pd.DataFrame({"a": [1, 2]}))
    assert (
        message(
            sl.errors.InputError,
            lambda: sl.global_sensitivity(
                table, sl.CountDistinct("z"), size=1, neighbors=sl.Bounded(1)
            ),
        )
        == "unknown column 'z'; the columns are 'a'"
    )
    assert message(sl.errors.InputError, lambda: sl.CountDistinct([])) == (
        "column must be the name of one column, such as 'age', got []"
    )


@pytest.mark.parametrize(
    ("records", "x"),
    [
        ([0, 1, 3, 3, 5], [1, 5]),
        ([0, 1, 1, 2, 2, 3, 3, 4], [1, 4]),
        ([0, 1, 1, 1, 1, 3, 3, 5, 5], [3, 5]),
    ],
)
def test_the_fewest_distinct_values_may_be_new_ones(records, x):
    """Both values of x go, and two copies of one that it has not come, not the smallest ones."""
    expected, _ = oracle.local_sensitivity(records, x, ("count_distinct",), "bounded", 2, True)
    result = sl.local_sensitivity(
        sl.Universe.from_dataset(records),
        "count_distinct",
        dataset=x,
        neighbors=sl.Bounded(2, exactly=True),
        method="multiplicities",
    )
    check_value(result, expected)
    assert (result.exact, len(set(result.witness.y))) == (1, 1)
