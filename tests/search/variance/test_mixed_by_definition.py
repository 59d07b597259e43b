"""Mixed changes against the definition: global, of one dataset, and within every distance."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from random import Random
from unittest import mock

import oracle_variance
import pytest
from doses import shares

import sensitivity_lab as sl
from sensitivity_lab.errors import InputError, NoEngineError
from sensitivity_lab.search.variance import branch, local_bounds, local_max
from sensitivity_lab.search.variance import words as word_search

KINDS = {
    "spread": lambda rng: rng.randint(-50, 50),
    "ties": lambda rng: rng.randint(0, 3),
    "two values": lambda rng: rng.choice((0, 7)),
    "clusters": lambda rng: rng.choice((-60, 0, 70)) + rng.randint(0, 3),
    "skewed": lambda rng: 3 ** rng.randint(0, 7),
    "cubes": lambda rng: rng.randint(-9, 9) ** 3,
    "offset": lambda rng: 10**9 + rng.randint(0, 12),
    "fractions": lambda rng: Fraction(rng.randint(-40, 40), 4),
}

RELATIONS = {
    "bounded": sl.Bounded,
    "symmetric_difference": sl.SymmetricDifference,
    "edit": sl.Edit,
}


def drawn(rng: Random):
    """Some records, a query and a relation; few records kept as often as many."""
    draw = KINDS[rng.choice(sorted(KINDS))]
    records = [Fraction(draw(rng)) for _ in range(rng.randint(4, 7))]
    relation = rng.choice(("symmetric_difference", "edit") * 4 + ("bounded",))
    query, ddof = rng.choice(("var", "std")), rng.choice((0, 0, 1))
    return records, query, ddof, relation, rng.randint(1, 5)


def by_patterns():
    """All that is for few records only is switched off, so that every search takes the long way."""
    return (
        mock.patch.object(branch, "FEW", 0),
        mock.patch.object(word_search, "FEW", 0),
        mock.patch.object(local_max, "FEW", 0),
        mock.patch.object(local_bounds, "ROWS", 7),
    )


def asked(seed: int):
    """One problem of each kind that some records allow, with what the definition says."""
    rng = Random(seed)
    records, name, ddof, relation, k = drawn(rng)
    number, root = len(records), name == "std"
    query = (sl.Std if root else sl.Var)(ddof=ddof)
    of = oracle_variance.variances(records, Fraction(ddof))
    exactly = rng.random() < 0.3
    size = rng.randint(1, number)
    pairs = set()
    for x in range(1 << number):
        if x.bit_count() == size:
            for y in oracle_variance.neighbors(x, number, relation, k, exactly=exactly):
                pairs.add((of[x], of[y]))
    of_x = rng.choice([x for x in range(1, 1 << number) if of[x] is not None])
    return records, query, of, relation, k, exactly, size, pairs, of_x


def dataset(records, mask):
    return [one for at, one in enumerate(records) if mask >> at & 1]


def check_global(records, query, relation, k, exactly, size, pairs) -> bool:
    universe = sl.Universe.from_dataset(records)
    neighbors = RELATIONS[relation](k, exactly=exactly)
    undefined = not pairs or any(None in pair for pair in pairs)
    try:
        found = sl.global_sensitivity(
            universe, query, size=size, neighbors=neighbors, method="variance"
        )
    except InputError:
        return False  # a relation that is not feasible
    except NoEngineError as error:
        if undefined or "not proved" in str(error):
            return False
        raise
    if undefined:
        return False
    expected = oracle_variance.largest_gap(pairs, query.root)
    check_gap(found, query, expected)
    x, y = (Counter(map(Fraction, one)) for one in (found.witness.x, found.witness.y))
    removed, added = (x - y).total(), (y - x).total()
    assert x.total() == size
    assert max(removed, added) <= k
    assert relation != "symmetric_difference" or removed + added <= k
    return True


def check_gap(found, query, expected) -> None:
    """The witness is as far apart as the definition says, and so is the value."""
    answers = []
    for one in (found.witness.x, found.witness.y):
        some = [Fraction(record) for record in one]
        every = oracle_variance.variances(some, Fraction(query.ddof))
        answers.append(every[-1])
    off = abs(oracle_variance.gap(*answers, query.root) - expected)
    assert off <= (expected * Decimal("1e-60") if query.root else 0)
    assert found.value == pytest.approx(float(expected), rel=1e-12)
    if not query.root:
        assert found.exact == expected


def check_of_one(records, query, of, relation, k, exactly, of_x) -> bool:
    universe, x = sl.Universe.from_dataset(records), dataset(records, of_x)
    near = set(oracle_variance.neighbors(of_x, len(records), relation, k, exactly=exactly))
    if not near or any(of[y] is None for y in near):
        return False
    neighbors = RELATIONS[relation](k, exactly=exactly)
    try:
        found = sl.local_sensitivity(
            universe, query, dataset=x, neighbors=neighbors, method="variance"
        )
    except InputError:
        return False
    pairs = {(of[of_x], of[y]) for y in near}
    check_gap(found, query, oracle_variance.largest_gap(pairs, query.root))
    return True


def check_reach(records, query, of, relation, k, of_x) -> bool:
    universe, x = sl.Universe.from_dataset(records), dataset(records, of_x)
    found = sl.reach(universe, query, dataset=x, neighbors=relation, distances=k, method="variance")
    for within in range(k + 1):
        near = {of_x, *oracle_variance.neighbors(of_x, len(records), relation, within)}
        answers = [of[y] for y in near if of[y] is not None]
        ends = (min(answers), max(answers))
        stated = (found.lower[within], found.upper[within])
        if query.root:
            stated = tuple(end.square for end in stated)
        assert stated == ends, within
        for end in ("lower", "upper"):
            y = Counter(map(Fraction, found.witness(within, end).y))
            held = Counter(x)
            apart = (held - y).total(), (y - held).total()
            assert max(apart) <= within
    return True


def check_all(seed: int) -> int:
    """Three questions about some records; returns how many had an answer."""
    records, query, of, relation, k, exactly, size, pairs, of_x = asked(seed)
    work, scanned, searched, rows = by_patterns()
    with work, scanned, searched, rows:
        return (
            check_global(records, query, relation, k, exactly, size, pairs)
            + check_of_one(records, query, of, relation, k, exactly, of_x)
            + check_reach(records, query, of, relation, k, of_x)
        )


@pytest.mark.parametrize("share", shares(1, 10, 500))
def test_mixed_changes_by_their_definition(share):
    answered = sum(check_all(seed) for seed in range(10 * share, 10 * share + 10))
    assert answered >= 10
