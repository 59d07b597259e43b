"""Truncation: what is cut, how much a person can change what is left, and when it is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from doses import shares

pytest.importorskip("duckdb", reason="needs the extra `sql`")

from sensitivity_lab.errors import InputError
from sensitivity_lab.sql import Query
from sensitivity_lab.sql.linear_program import tolerance, truncated_total

pytestmark = pytest.mark.sql

AREAS = ["north", "south"]


def shop(seed: int, *, friends: bool = False) -> dict[str, pd.DataFrame]:
    """Return customers with areas, orders with values, prices by item; or friendships."""
    random = Random(seed)
    if friends:
        pairs = [(a, b) for a in range(6) for b in range(a) if random.random() < 0.5]
        table = pd.DataFrame([*pairs, (0, 0)], columns=["one", "other"])
        return {"friends": table.assign(weight=[random.randint(0, 4) for _ in table.index])}
    orders = [
        (random.choice([1, 1, 1, 2, 2, 3]), random.randint(1, 3), random.randint(-2, 5))
        for _ in range(random.randint(4, 14))
    ]
    items = [(random.randint(1, 3), random.choice(AREAS)) for _ in range(4)]
    return {
        "orders": pd.DataFrame(orders, columns=["customer", "item", "value"]),
        "items": pd.DataFrame(items, columns=["item", "area"]),
    }


def without(tables: dict[str, pd.DataFrame], owners: list[str], person: int) -> Any:
    """Return the tables without the rows of a person."""
    return {
        name: table[~table[[one for one in owners if one in table]].eq(person).any(axis=1)]
        for name, table in tables.items()
    }


JOIN = "FROM orders JOIN items USING (item)"
ALONE = f"SELECT COUNT(*) AS answer {JOIN}"


def of_orders(text: str, tables: dict[str, pd.DataFrame], **given: Any) -> Query:
    options = {"person": "orders.customer", "public": ["items"], **given}
    return Query(text, connection=tables, **options)


def test_where_each_result_is_one_persons_it_cuts_what_is_beyond_the_threshold() -> None:
    query = of_orders(ALONE, shop(3))
    sizes = query.contributions().to_frame()["answer"].to_numpy()
    study = query.truncation([3, 1, 2, 3], epsilon=2)
    assert [point.threshold for point in study.points] == [3, 1, 2, 3]
    for point in study.points:
        assert point.answer == np.minimum(sizes, point.threshold).sum()
        assert point.cut == np.maximum(sizes - point.threshold, 0).sum()
        assert point.persons_cut == (sizes > point.threshold).sum()
        assert math.isclose(point.scale, point.threshold / 2)
        expected = point.cut + point.scale * math.exp(-point.cut / point.scale)
        assert math.isclose(point.error, expected)
    assert study.persons == len(sizes)


def test_cutting_rows_does_not_bound_a_join() -> None:
    """A star with pendants: one row per person, and one person is in 12 results and moves them."""
    rows = [(0, "hub", "hub")] + [(person, f"leaf {person}", "hub") for person in range(1, 13)]
    tables = {"visits": pd.DataFrame(rows, columns=["person", "name", "host"])}
    text = (
        "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.host = b.name AND a.name <> b.name"
    )
    query = Query(text, connection=tables, person="visits.person")
    assert query.local_sensitivity().value == 12
    [point] = query.truncation([1], epsilon=1).points
    assert point.answer == 1


PROGRAMS = {
    "count": "SELECT COUNT(*) AS answer FROM friends a JOIN friends b ON a.other = b.one",
    "sum": "SELECT SUM(weight) AS answer FROM friends",
}


def program(kind: str, tables: dict[str, pd.DataFrame]) -> Query:
    if kind == "count":
        return Query(PROGRAMS[kind], connection=tables, person="friends.one")
    twice = {"friends": tables["friends"], "people": pd.DataFrame({"id": range(6)})}
    text = "SELECT SUM(weight) AS answer FROM friends JOIN people ON people.id = friends.other "
    persons = {"friends": "one", "people": "id"}
    return Query(text, connection=twice, person=persons, bounds={"friends.weight": (0, 3)})


@pytest.mark.parametrize("kind", PROGRAMS)
@pytest.mark.parametrize("seed", shares(everyday=1, check=2, stress=6))
def test_one_person_changes_the_linear_program_by_the_threshold_at_most(
    kind: str, seed: int
) -> None:
    tables, thresholds = shop(seed, friends=True), [0.5, 1, 3, 100]
    query = program(kind, tables)
    study = query.truncation(thresholds, epsilon=1)
    total = float(query.answer()["answer"].iloc[0])
    assert study.points[-1].answer == total
    for point in study.points:
        assert 0 <= point.answer <= total
    for person in range(6):
        owners = ["one"] if kind == "count" else ["one", "other", "id"]
        # A row of friends belongs to `one`; the join with people loses the person's other rows.
        smaller = program(kind, without(tables, owners, person))
        after = smaller.truncation(thresholds, epsilon=1)
        for here, there in zip(study.points, after.points, strict=True):
            assert abs(here.answer - there.answer) <= here.sensitivity
            assert here.sensitivity <= here.threshold * (1 + 2**-10)


def test_the_linear_program_against_a_search_over_half_integers() -> None:
    """Capacities of pairs: the optimum is half-integral, so a search over halves finds it."""
    pairs = [(0, 1), (1, 2), (0, 2), (2, 3)]
    values = [2, 1, 2, 3]
    for threshold in (1, 2, 3):
        best = Fraction(0)
        halves = [[Fraction(n, 2) for n in range(2 * value + 1)] for value in values]
        for choice in np.ndindex(*map(len, halves)):
            weights = [halves[i][n] for i, n in enumerate(choice)]
            loads = [
                sum(w for w, p in zip(weights, pairs, strict=True) if v in p) for v in range(4)
            ]
            if max(loads) <= threshold:
                best = max(best, sum(weights, Fraction(0)))
        optimum = truncated_total(pairs, values, Fraction(threshold))
        assert math.isclose(optimum.lower, best)
        assert optimum.lower <= best <= optimum.upper


def test_the_parts_of_the_linear_program_are_not_stable() -> None:
    """Nine results in a row, in two groups by turns: without the first person, either has all."""
    row = [(place, place + 1) for place in range(9)]
    odd, even = ([int(place % 2 == side) for place in range(9)] for side in (0, 1))
    both, one = [1] * 9, Fraction(1)
    totals = [truncated_total(row, values, one).upper for values in (both, odd, even)]
    assert [round(total, 6) for total in totals] == [5, 5, 4]
    left = [truncated_total(row[1:], values[1:], one).upper for values in (both, odd, even)]
    assert [round(total, 6) for total in left] == [4, 4, 4]


def test_a_total_that_no_float_holds_moves_by_the_sensitivity_at_most() -> None:
    """2**53 + 2 results of nobody and one of a person: as floats, 2**53 + 2 and 2**53 + 4."""
    alone = truncated_total([()], [2**53 + 2], Fraction(1)).lower
    assert truncated_total([(), (0,)], [2**53 + 2, 1], Fraction(1)).lower - alone == 1


@pytest.mark.parametrize("seed", shares(everyday=30, check=150, stress=1000))
def test_without_a_person_the_lower_end_moves_by_the_sensitivity_at_most(seed: int) -> None:
    """Random programs of up to twelve results of one to three persons, with large values, too."""
    random = Random(seed)
    most = random.choice([1, 3, 10**6, 2**60])
    persons = [
        tuple(random.sample(range(5), random.randint(0, 3))) for _ in range(random.randint(1, 12))
    ]
    values = [random.randint(0, most) for _ in persons]
    tau = Fraction(random.choice([1, 2, 5, most, Fraction(1, 3)]))
    whole = truncated_total(persons, values, tau)
    assert whole.lower <= whole.upper <= whole.lower + tolerance(tau)
    for person in range(5):
        rest = [(of, one) for of, one in zip(persons, values, strict=True) if person not in of]
        left = truncated_total([of for of, _ in rest], [one for _, one in rest], tau)
        assert abs(whole.lower - left.lower) <= tau + tolerance(tau)


def test_persons_without_a_conflict_need_no_solver() -> None:
    optimum = truncated_total([(0,), (0, 1), (2,), ()], [5, 1, 4, 7], Fraction(5))
    assert (optimum.lower, optimum.upper, optimum.cut) == (16, 16, 1)
    assert truncated_total([], [], Fraction(1)).upper == 0


@pytest.mark.exhaustive
def test_r2t_costs_noise_for_each_threshold() -> None:
    query = of_orders(ALONE, shop(5))
    study = query.truncation([1, 2, 4, 8], epsilon=1)
    taken = 4 * math.log(4 / 0.1)
    expected = min(point.cut + 2 * taken * point.threshold for point in study.points)
    assert math.isclose(study.r2t_error(), expected)
    assert study.r2t_error(0.01) > study.r2t_error()
    with pytest.raises(InputError) as error:
        study.r2t_error(1)
    assert str(error.value) == "failure must be a number above 0 and below 1, got 1"


@pytest.mark.exhaustive
def test_r2t_errs_by_its_bound_at_most_as_often_as_it_says() -> None:
    """Simulated: noise for each threshold, the penalty, and the largest."""
    query = of_orders(ALONE, shop(2))
    thresholds, chance = [1, 2, 4, 8], 0.2
    study = query.truncation(thresholds, epsilon=3)
    total = float(query.answer()["answer"].iloc[0])
    rng = np.random.default_rng(1)
    rounds = len(thresholds)
    scales = np.array(thresholds) * rounds / 3
    kept = np.array([float(point.answer) for point in study.points])
    noisy = kept + rng.laplace(size=(20_000, rounds)) * scales - scales * math.log(rounds / chance)
    errors = np.abs(np.maximum(noisy.max(axis=1), 0) - total)
    assert (errors > study.r2t_error(chance)).mean() <= chance


@pytest.mark.exhaustive
def test_what_cannot_be_truncated_is_refused_with_a_way() -> None:
    tables = shop(1)

    def refused(text: str, thresholds: Any = (1,), **given: Any) -> str:
        with pytest.raises(InputError) as error:
            of_orders(text, tables, **given).truncation(thresholds, epsilon=1)
        return str(error.value)

    assert refused(f"SELECT COUNT(DISTINCT customer) AS n {JOIN}") == (
        "truncation: n counts distinct values, which is not truncated; plan a release: "
        "query.plan(...)"
    )
    assert refused(f"SELECT SUM(value) AS n {JOIN}") == (
        "truncation: n adds up values without bounds; give public bounds of 'orders.value', such "
        "as bounds={'orders.value': (1, 50)}"
    )
    query = of_orders(ALONE, shop(1))
    for call in (query.truncation, lambda: query.truncation([1])):
        with pytest.raises(InputError, match=r"^truncation: give .* as in query\."):
            call()
    assert refused(ALONE, thresholds=[]) == ("thresholds must be a list of 1 to 100 numbers, got 0")
    left = "SELECT COUNT(*) AS n FROM items LEFT JOIN orders USING (item)"
    assert refused(left) == (
        "truncation: a LEFT JOIN to a private table is not supported, because a person can take "
        "results away from others; use an inner join"
    )
    several = (
        "truncation: the linear program needs one number and values of at least 0: with groups "
        "only its total is stable, and optima differ in how they share it out. Leave out GROUP BY "
        "(a query of each group, with WHERE and a share of epsilon, is private) and give bounds of "
        "at least 0; or plan a release: query.plan(...)"
    )
    grouped = f"SELECT area, COUNT(*) AS n {JOIN} GROUP BY area"
    assert refused(grouped, groups=AREAS) == several
    negative = refused(f"SELECT SUM(value) AS n {JOIN}", bounds={"orders.value": (-2, 4)})
    assert negative == several
    assert "pass public=['items']" in refused(ALONE, public=[])


def test_rows_of_nobody_are_never_cut() -> None:
    table = pd.DataFrame({"person": pd.array([1, 1, 1, None, None], dtype="Int64")})
    query = Query(
        "SELECT COUNT(*) AS n FROM visits",
        connection={"visits": table},
        person="visits.person",
        null_person="public",
    )
    [point] = query.truncation([1], epsilon=1).points
    assert (point.answer, point.cut, point.persons_cut) == (3, 2, 1)


def test_the_repr_says_that_errors_may_not_choose() -> None:
    text = repr(of_orders(ALONE, shop(1)).truncation([1, 2], epsilon=1))
    assert "do not choose a threshold by these errors" in text
