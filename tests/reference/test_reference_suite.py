"""The reference suite is what it says: recomputed in plain Python, entry by entry.

Nothing here asks the library.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import oracle
import oracle_records
import pytest
from reference_entries import (
    ENTRIES,
    answer_of,
    difference_as_roots,
    is_at_least,
    query_on_numbers,
    query_on_rows,
    records_of,
    relation_of,
    roots_of,
    same_number,
    universe_of,
)

LISTED = 20_000
"""The oracle lists all datasets of labeled records: at most so many."""
FEW = 100
"""More datasets than these are listed by the exhaustive tests only."""

EVERY = 4
"""Of each so many entries, the everyday run recomputes the first."""


def each(
    entries: list[dict[str, Any]], everyday: Callable[[dict[str, Any]], bool]
) -> Callable[[Callable[[dict[str, Any]], None]], Callable[[list[dict[str, Any]]], None]]:
    """Make a test of one entry a test per query, which goes through its entries.

    A test per entry takes longer to set up than to run. For each query, the everyday run has one
    test and `make check` another one, of the entries that are left. A failure names its entry.
    """
    groups: defaultdict[tuple[str, bool], list[dict[str, Any]]] = defaultdict(list)
    for place, entry in enumerate(entries):
        groups[entry["query"]["name"], place % EVERY == 0 and everyday(entry)].append(entry)

    def of_entries(check):
        @pytest.mark.parametrize(
            "group",
            [
                pytest.param(group, id=name)
                if often
                else pytest.param(group, id=f"{name}, the others", marks=pytest.mark.exhaustive)
                for (name, often), group in groups.items()
            ],
        )
        def test(group):
            for entry in group:
                try:
                    check(entry)
                except BaseException as error:
                    error.add_note(f"of the entry {entry['id']}")
                    raise

        return test

    return of_entries


each_entry = each(ENTRIES, lambda _: True)


# The witnesses


@each_entry
def test_x_and_y_are_neighbors(entry):
    """By the rule that the file's header states."""
    copies = universe_of(entry)
    x, y = (Counter(records_of(entry, entry["witness"][side])) for side in "xy")
    assert x.total() == entry["size"]
    assert y.total() > 0
    for data in (x, y):
        assert all(data[record] <= copies.get(record, 0) for record in data)
    unlimited = entry["universe"]["counts"] is None
    i, j = (x - y).total(), (y - x).total()
    s = sum(min(x[v], y[v], math.inf if unlimited else copies[v] - max(x[v], y[v])) for v in copies)
    relation, k, exactly, direction = relation_of(entry)
    allowed = []
    for d in [k] if exactly else range(1, k + 1):
        if relation == "bounded":
            allowed.append((d, d))
        elif relation == "symmetric_difference":
            allowed.extend((removed, d - removed) for removed in range(d + 1))
        else:
            allowed.extend([(d, 0)] * (direction != "add") + [(0, d)] * (direction != "remove"))
    assert any(0 <= a - i == b - j <= s for a, b in allowed)


@each_entry
def test_the_witness_attains_the_value(entry):
    answers = []
    for side in "xy":
        answer = answer_of(entry, records_of(entry, entry["witness"][side]))
        stated = entry["witness"][f"query_{side}"]
        if entry["query"]["name"] == "std":
            assert roots_of(stated) == (answer, 0)
        elif isinstance(answer, tuple):
            assert tuple(map(Fraction, stated)) == answer
        else:
            assert Fraction(stated) == answer
        answers.append(answer)
    assert same_number(difference_as_roots(entry, *answers), roots_of(entry["exact"]))


@each_entry
def test_value_and_upper_are_the_floats_that_they_say(entry):
    roots = roots_of(entry["exact"])
    value, upper = entry["value"], entry["upper"]
    assert is_at_least(Fraction(upper), roots)
    below = math.nextafter(upper, -math.inf)
    assert upper == 0 or not is_at_least(Fraction(below), roots)
    middle = (Fraction(upper) + Fraction(below)) / 2
    if upper == 0 or not is_at_least(middle, roots):
        assert value == upper
    else:
        assert value in (
            (below, upper) if same_number((middle**2, Fraction(0)), roots) else (below,)
        )


@each_entry
def test_exact_is_written_in_one_way(entry):
    """Fractions in lowest terms, roots only where they are irrational, the larger first."""

    def check_root(radicand: str) -> None:
        value = Fraction(radicand)
        assert str(value) == radicand
        assert value > 0

    def irrational(radicand: str) -> bool:
        value = Fraction(radicand)
        return Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator)) ** 2 != value

    exact = entry["exact"]
    if isinstance(exact, str):
        assert str(Fraction(exact)) == exact
        return
    radicands = exact.get("root_difference") or [exact["root"]]
    for radicand in radicands:
        check_root(radicand)
    assert any(map(irrational, radicands))
    assert list(map(Fraction, radicands)) == sorted(map(Fraction, radicands), reverse=True)


# The maxima


def listed(entry: dict[str, Any]) -> int:
    return math.comb(sum(universe_of(entry).values()), entry["size"])


SMALL = [entry for entry in ENTRIES if listed(entry) <= LISTED]


@each(SMALL, lambda entry: listed(entry) <= FEW)
def test_no_other_pair_differs_more(entry):
    """All datasets and all their neighbors, in rational arithmetic."""
    copies = universe_of(entry)
    universe = oracle.universe_of(copies, copies.values())
    stated = roots_of(entry["exact"])
    if "rows" in entry["universe"]:
        found = oracle_records.global_sensitivity(
            universe, entry["size"], query_on_rows(entry), *relation_of(entry)
        )
        largest = found[entry["norm"]][0]
        assert stated == ((largest if entry["norm"] == "L2" else largest**2), 0)
        return
    largest, _ = oracle.global_sensitivity(
        universe, entry["size"], query_on_numbers(entry), *relation_of(entry)
    )
    if entry["query"]["name"] == "std":
        assert abs(oracle.root_difference(*stated) - largest) <= Decimal(10) ** -50 * largest
    else:
        assert stated == (largest**2, 0)


def test_nearly_all_entries_are_recomputed():
    """Left are the datasets of 24 records, whose values are closed forms."""
    left = [entry for entry in ENTRIES if listed(entry) > LISTED]
    assert {entry["size"] for entry in left} == {24}
    assert {entry["source"]["from"] for entry in left} == {"derived", "dppack"}
