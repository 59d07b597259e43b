"""Functions at the edges of where they are defined: poles, roots, logarithms, NaN and jumps."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

import sensitivity_lab as sl
from sensitivity_lab.bounds import checker
from sensitivity_lab.bounds.carried import CONTINUOUS, DEFINED, NAN, NOWHERE, UNSURE, records

pytestmark = pytest.mark.filterwarnings("ignore:(divide|invalid|overflow):RuntimeWarning")

INTERVALS = np.array(
    [
        *[(1, 2), (0, 1), (0, 0), (-1, 0), (-2, -1), (-1, 1), (1e-300, 1), (-1e-300, 1)],
        *[(0, 1e-300), (-1, -1e-300), (3, 3), (-3, -3), (-1, 1e-300), (0.5, 1e300)],
    ]
)
ROOT, LOG, QUOTIENT, ALL = "cccunucucncnuc", "cu00nucuuncnuc", "cuuucucuucccuc", "c" * 14
DECORATIONS = [
    (np.sqrt, ROOT),
    (lambda u: u**0.3, ROOT),
    (lambda u: np.maximum(np.sqrt(u), 1), ROOT),
    (np.log, LOG),
    (np.log10, LOG),
    (lambda u: u**-0.3, LOG),
    (np.log1p, "cccu0ucccucnuc"),
    (lambda u: 1 / u, QUOTIENT),
    (lambda u: u**-1, QUOTIENT),
    (lambda u: u**-2, QUOTIENT),
    (lambda u: np.exp(1 / u), QUOTIENT),
    (lambda u: np.minimum(1 / u, 0), QUOTIENT),
    (lambda u: u / (2 * u), "cunucucuucccuc"),
    (lambda u: 0 / u, "cunucucuucccuc"),
    (lambda u: u**3, ALL),
    (lambda u: u**0, ALL),
    (np.arctan, ALL),
    (lambda u: np.sqrt(np.abs(u)), ALL),
    (lambda u: u > 0, "cdcccdcddcccdc"),
    (lambda u: np.sqrt(u) >= 0, "cccdcdcdccccdc"),
    (lambda u: np.where(u > 0.1, u, 1.0), "cdcccdddcccccc"),
    (lambda u: np.where(u > 0, np.log(u), 0), "cucccucuucccuc"),
]
"""Functions, and what is known of each interval: `c` defined and continuous there, `d` defined, `u`
perhaps not, `0` nowhere, where numpy has an infinite number, `n` nowhere, where it has NaN.
"""
KNOWN = {"c": CONTINUOUS, "d": DEFINED, "u": UNSURE, "0": NOWHERE, "n": NAN}


def in_both(f, x, y):
    """What both programs say of a function of one number in boxes, x and y of shape (boxes, 2)."""
    ends = [(side[:, 0][None], side[:, 1][None]) for side in (x, y)]
    ours = f(records(*ends, (0,), (1,), np.arange(2), ordered=True))
    sides = [tuple(np.stack([e, 0 * e], axis=1) for e in side) for side in ends]
    known = (np.full((1, 1, len(x)), 3),) * 2
    theirs = f(checker.Pairs(*sides, checker.minus(*sides), known))
    return ours, theirs


@pytest.mark.parametrize("at", range(len(DECORATIONS)))
def test_what_is_known_of_numbers(at):
    """308 vectors: where a function is defined and continuous, in both programs."""
    f, letters = DECORATIONS[at]
    with np.errstate(all="ignore"):
        ours, theirs = in_both(f, INTERVALS, INTERVALS)
    expected = np.array([KNOWN[letter] for letter in letters])
    assert np.broadcast_to(ours.x.decor, (1, 14)).tolist() == [expected.tolist()]
    # The second program does not tell "nowhere" from "perhaps not".
    other = np.where(expected == NOWHERE, UNSURE, expected)
    again = np.broadcast_to(theirs.known[0], (1, 1, 14))[0]
    assert (again <= other).all()
    assert ((again >= 3) == (other >= 3)).all()


@pytest.mark.parametrize("at", range(len(DECORATIONS)))
def test_differences_across_edges_are_in_their_boxes(at):
    """All 196 pairs of an interval of x and one of y: on both sides of a pole, and at it."""
    f, _ = DECORATIONS[at]
    first, second = np.divmod(np.arange(14 * 14), 14)
    x, y = INTERVALS[first], INTERVALS[second]
    with np.errstate(all="ignore"):
        ours, theirs = in_both(f, x, y)
        for a in (0, 1e-9, 0.3, 0.99, 1):
            for b in (0, 1e-9, 0.4, 1):
                on_x = f(np.clip(x[:, 0] + a * (x[:, 1] - x[:, 0]), *x.T)) * 1.0
                on_y = f(np.clip(y[:, 0] + b * (y[:, 1] - y[:, 0]), *y.T)) * 1.0
                true = on_x - on_y
                near = 1e-9 * (np.abs(on_x) + np.abs(on_y))
                for lo, hi in (
                    (ours.d.value.lo[0], ours.d.value.hi[0]),
                    (theirs.jets[2][0][0, 0], theirs.jets[2][1][0, 0]),
                ):
                    inside = (lo - near <= true) & (true <= hi + near)
                    assert (inside | ~np.isfinite(true)).all()


EDGES = {
    "mean": np.mean,
    "min": np.min,
    "max": np.max,
    "std": np.std,
    "first": lambda x: x[0],
    "squares": lambda x: (x**2).mean(),
}
SHAPES = {
    "reciprocal": lambda u, _: 1 / u,
    "power -1": lambda u, _: u**-1,
    "arctan of a pole": lambda u, _: np.arctan(1e-3 / u),
    "pole of both signs": lambda u, _: np.tanh(u**-1),
    "quotient": lambda u, v: u / v,
    "cut quotient": lambda u, v: np.minimum(np.maximum(u / v, -2), 2),
    "log": lambda u, _: np.log(u),
    "cut log": lambda u, _: np.clip(np.log(u), -3, 3),
    "log of a part": lambda u, _: np.where(u > 0.01, np.log(u), 0),
    "root": lambda u, _: np.sqrt(u),
    "power 0.3": lambda u, _: u**0.3,
    "power -0.5, cut": lambda u, _: np.minimum(u**-0.5, 7),
    "compared root": lambda u, v: np.where(np.sqrt(u) >= 0.2, v, 2.0),
    "compared quotient": lambda u, v: np.where(u / v >= -0.37, v, 5.0),
    "not compared quotient": lambda u, v: np.where(~(u / v < 0.37), 1.0, 0 * u),
    "twice": lambda u, _: 1 / (1 + u**-1),
    "exp of a pole": lambda u, _: np.exp(-np.abs(1 / u)),
}
ENDS = [(0, 1), (-1, 1), (-0.001, 1), (1e-6, 2e-6), (10**6, 10**6 + 1), (-2, -1)]
PLACES = [0.0, 0.0, 0.002, 0.5, 1.0]
"""Where an edge is moved to, as a share of the interval; 0.0 without a move."""


def edge_function(seed):
    """A function of one edge: `shape` of an atom that is moved, and of another one."""
    random = np.random.default_rng(seed)
    (of, by), shape = random.choice(list(EDGES), 2), list(SHAPES)[seed % len(SHAPES)]
    low, high = ENDS[int(random.integers(len(ENDS)))]
    moved = PLACES[int(random.integers(len(PLACES)))]
    edge = low + moved * (high - low) if moved else 0.0

    def f(x):
        return SHAPES[shape](EDGES[of](x) - edge, EDGES[by](x))

    return f, low, high, edge


def furthest(f, n, low, high, edge, random):
    """The furthest finite pair of a climb from records at, and next to, both ends and the edge."""
    close = np.clip(edge + np.array([0, 1e-3, -1e-3, 1e-7, -1e-7, 1e-12]) * (high - low), low, high)
    special = np.array([low, high, (low + high) / 2, *close])

    def far(z):
        x, y = np.sort(z[:n]), np.sort(z[1:])
        with np.errstate(all="ignore"):
            found = abs(float(f(x)) - float(f(y)))
        return found if math.isfinite(found) else -1.0

    drawn = [random.choice(special, n + 1) for _ in range(60)]
    z = max(drawn + [low + random.random(n + 1) * (high - low) for _ in range(40)], key=far)
    for step in range(150):
        other = z.copy()
        at = int(random.integers(n + 1))
        other[at] = (
            random.choice(special)
            if step % 2
            else other[at] + random.normal() * (high - low) * 2.0 ** -(step / 8)
        )
        other = np.clip(other, low, high)
        z = max(z, other, key=far)
    return far(z)


@pytest.mark.parametrize(
    "case",
    [*range(136), *(pytest.param(case, marks=pytest.mark.stress) for case in range(136, 408))],
)
def test_no_pair_is_above_at_an_edge(case):
    """What is certified holds for every pair whose answers are numbers, and `check()` agrees.

    Every eighth case, as in `make test`, has each shape once, and each size in turn.
    """
    n = 1 + case // 8 % 4
    f, low, high, edge = edge_function(case)
    universe = sl.Universe.from_interval(low, high)
    far = furthest(f, n, low, high, edge, np.random.default_rng(case))
    try:
        with np.errstate(all="ignore"):
            found = sl.bounds.sensitivity_bounds(
                universe, f, size=n, neighbors="bounded", time_limit=0.2
            )
    except (sl.errors.InputError, sl.errors.QueryError) as error:
        told = str(error)
        assert "no answer there" in told or "returned nan" in told or "returned inf" in told
        return
    answers = abs(found.witness.query_x) + abs(found.witness.query_y)
    assert far <= found.upper + 1e-7 * max(far, answers), found
    assert found.check() >= 1
    assert (found.upper == math.inf) == bool(found.pole) or not found.reached


def test_a_pole_is_told_with_its_place():
    universe = sl.Universe.from_interval(-1, 1)
    found = sl.bounds.sensitivity_bounds(
        universe, lambda x: (x.mean() - 0.25) ** -1, size=2, neighbors="bounded"
    )
    assert found.upper == math.inf
    assert "the function takes the power -1 of 0 (line" in found.pole
    assert "near x = (" in str(found)


ACROSS = [
    (lambda x: np.where(x.min() / x.max() >= 0, x.mean(), 5.0), 3, (0, 1), 5),
    (lambda x: np.where(x.std() / x.mean() >= 0, 1.0, 0.0), 3, (0, 1), 1),
    (lambda x: np.arctan(1e-4 * (x.mean() - 0.002) ** -1), 2, (0, 1), 3.1415),
]


@pytest.mark.parametrize(("f", "n", "ends", "true"), ACROSS)
def test_bounds_across_a_pole_and_past_nan(f, n, ends, true):
    with np.errstate(all="ignore"):
        found = sl.bounds.sensitivity_bounds(
            sl.Universe.from_interval(*ends), f, size=n, neighbors="bounded", time_limit=1
        )
        assert true - 1e-6 <= found.upper <= true * 1.001
        assert found.check()


def test_records_are_floats_where_the_ends_are_whole():
    """A product of seven records of 1,000 is 10^21, which no int64 is."""
    whole = sl.Universe.from_interval(0, 1000)
    found = sl.bounds.sensitivity_bounds(whole, np.prod, size=7, neighbors="bounded")
    assert found.witness.query_x == 1e21
    found.verify()
    harmonic = sl.bounds.sensitivity_bounds(
        sl.Universe.from_interval(1, 10),
        lambda x: len(x) / (x**-1).sum(),
        size=2,
        neighbors="bounded",
    )
    assert harmonic.lower == pytest.approx(10 - 20 / 11)


NOBODY = [
    (lambda x: x.sum() if len(x) else 0.0, 1),
    (lambda x: x.mean() if len(x) else 0.0, 1),
    (lambda x: np.prod(x), 1),
    (lambda x: x.sum(), 2),
]


@pytest.mark.parametrize(("f", "true"), NOBODY)
@pytest.mark.parametrize("size", [1, range(1, 4), [2, 1]])
def test_bounds_that_reach_the_dataset_of_nobody(f, true, size):
    universe = sl.Universe.from_interval(0, true)
    found = sl.bounds.sensitivity_bounds(universe, f, size=size, neighbors="unbounded")
    assert found.lower <= true <= found.upper
    assert found.reached
    assert found.check()
    found.verify()


def test_a_function_without_an_answer_for_nobody_is_told():
    with pytest.raises(sl.errors.QueryError, match=r"on the dataset \(\)"):
        sl.bounds.sensitivity_bounds(
            sl.Universe.from_interval(0, 1), np.max, size=1, neighbors="unbounded"
        )


@pytest.mark.parametrize("name", ["mean", "std", "squares", "max"])
def test_bounds_grow_with_the_number_of_changes(name):
    universe = sl.Universe.from_interval(-1, 1)
    found = [
        sl.bounds.sensitivity_bounds(universe, EDGES[name], size=3, neighbors=sl.Bounded(k))
        for k in (1, 2, 3)
    ]
    assert all(more.upper >= less.lower for less, more in pairwise(found))


def test_the_checker_does_not_tell_multiples_of_pi_apart_that_rounding_hides():
    # Between 1e16 + 6 and 1e16 + 8 there is an odd multiple of pi; floats take it for an even one.
    lower, upper = checker.cosine((np.array([1e16 + 6]), np.array([1e16 + 8])))
    assert (lower[0], upper[0]) == (-1, 1)
