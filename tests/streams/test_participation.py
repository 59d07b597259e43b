"""The sensitivity of streams against all patterns, signs and numbers of participations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import sensitivity_lab as sl
from sensitivity_lab import streams
from sensitivity_lab.errors import InputError, TooLargeError, VerificationError
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.streams import solving
from sensitivity_lab.streams.search import Rule, best_sum

Exact = list[list[Fraction]]


def patterns(steps: int, k: int, gap: int, fixed: bool) -> Iterator[tuple[int, ...]]:
    """All patterns, the empty one first."""
    for number in range(k + 1):
        for some in combinations(range(steps), number):
            gaps = [b - a for a, b in pairwise(some)]
            if all(one == gap if fixed else one >= gap for one in gaps):
                yield some


def moved(gram: Exact, u: dict[int, int]) -> Fraction:
    """The square of how far contributions move a release."""
    return sum((gram[i][j] * a * b for i, a in u.items() for j, b in u.items()), Fraction(0))


def largest(gram: Exact, asked: dict[str, Any]) -> Fraction:
    """The square of the sensitivity for numbers or ones, by its definition."""
    fixed = asked["pattern"] == "fixed"
    every = list(patterns(len(gram), asked["k"], asked["separation"], fixed))
    if asked["contribution"] == "number":
        times = 4 if asked["neighbors"] == "replace" else 1
        return times * max(
            moved(gram, dict(zip(some, signs, strict=True)))
            for some in every
            for signs in product((1, -1), repeat=len(some))
        )
    if asked["neighbors"] == "zero-out":
        return max(moved(gram, dict.fromkeys(some, 1)) for some in every)
    pairs = ((set(x), set(y)) for x, y in combinations(every[1:], 2))
    return max(
        (moved(gram, {**dict.fromkeys(x - y, 1), **dict.fromkeys(y - x, -1)}) for x, y in pairs),
        default=Fraction(0),
    )


def matrix_of(draw: np.random.Generator, kind: str, steps: int) -> np.ndarray:
    rows = int(draw.integers(1, steps + 3))

    def numbers(*shape: int) -> np.ndarray:
        if draw.random() < 0.5:
            return draw.standard_normal(shape)
        return draw.integers(-3, 4, shape).astype(float)

    apart = np.subtract.outer(np.arange(steps), np.arange(steps))
    if kind == "toeplitz":
        return numbers(steps)
    if kind == "falling":
        return np.sort(np.abs(numbers(steps)))[::-1]
    if kind == "banded":
        return np.where(abs(apart) < draw.integers(1, steps + 1), numbers(steps, steps), 0)
    if kind == "lower":
        return np.tril(numbers(steps, steps))
    if kind == "normalized":
        lower = np.tril(np.abs(numbers(steps, steps))) + np.eye(steps)
        return lower / np.linalg.norm(lower, axis=0)
    if kind == "sparse":
        return np.where(draw.random((rows, steps)) < 0.3, numbers(rows, steps), 0)
    return np.abs(numbers(rows, steps)) if kind == "positive" else numbers(rows, steps)


KINDS = ("positive", "mixed", "banded", "toeplitz", "falling", "lower", "sparse", "normalized")


def case(seed: int, most: int) -> tuple[Any, Exact, dict[str, Any]]:
    """A matrix, X by its definition, and what is asked."""
    draw = np.random.default_rng(seed)
    steps = int(draw.integers(1, most + 1))
    matrix = matrix_of(draw, KINDS[seed % len(KINDS)], steps)
    factor = matrix
    if matrix.ndim == 1:
        factor = [[matrix[i - j] if i >= j else 0.0 for j in range(steps)] for i in range(steps)]
    exact = [[Fraction(one) for one in row] for row in np.asarray(factor).tolist()]
    gram = [[sum(row[i] * row[j] for row in exact) for j in range(steps)] for i in range(steps)]
    asked = {
        "k": int(draw.integers(1, 5)),
        "separation": int(draw.integers(1, 5)),
        "pattern": "fixed" if draw.random() < 0.25 else "at least",
        "gram": bool(draw.random() < 0.2),
    }
    if asked["gram"]:
        matrix = np.array(gram, dtype=float)
        gram = [[Fraction(one) for one in row] for row in matrix.tolist()]
    return csr_array(matrix) if seed % 5 == 0 and matrix.ndim == 2 else matrix, gram, asked


def compare(seed: int, most: int) -> None:
    """Compare one matrix, both neighbors and three contributions."""
    matrix, gram, asked = case(seed, most)
    enough = (math.isqrt(8 * asked["k"] + 1) - 1) // 2
    for neighbors in ("zero-out", "replace"):
        both = {**asked, "neighbors": neighbors}
        for contribution in ("number", "one"):
            whole = {**both, "contribution": contribution}
            found = streams.participation_sensitivity(matrix, **whole)
            want = Difference(largest(gram, whole), Fraction(0), root=True)
            assert (found.status, found.upper) == ("exact", want.upper()), (seed, whole)
            found.verify()
        numbers = largest(gram, {**both, "contribution": "number"})
        for size in {1, 2, max(enough, 1)}:
            found = streams.participation_sensitivity(matrix, **both, contribution=size)
            found.verify()
            # No numbers do more; and enough dimensions close the gap.
            assert Fraction(found.upper) ** 2 >= numbers * (1 - Fraction(1, 10**12)), seed
            if size >= enough > 0:
                scale = max(found.upper**2, float(max(row[i] for i, row in enumerate(gram))))
                assert found.upper**2 - found.lower**2 <= 4e-9 * scale, (seed, both, size)


@pytest.mark.parametrize("seed", range(24))
def test_against_all_patterns_and_signs(seed):
    compare(seed, 7)


@pytest.mark.parametrize(
    "matrix",
    [
        [[1e50, 2.0, 2.0]],  # floats swallow what the later steps add
        [[0.7, 0.2], [0.6, -0.4]],  # floats show no gain of the second step, and there is one
        [[0.9, -0.1], [0.8, 0.1]],
    ],
)
def test_gains_that_floats_do_not_show_count(matrix):
    steps = len(matrix[0])
    exact = [[Fraction(one) for one in row] for row in matrix]
    gram = [[sum(row[i] * row[j] for row in exact) for j in range(steps)] for i in range(steps)]
    asked = {"k": steps, "separation": 1, "pattern": "at least", "neighbors": "zero-out"}
    found = streams.participation_sensitivity(matrix, **asked, contribution="one")
    best = largest(gram, {**asked, "contribution": "one"})
    assert moved(gram, found.witness.x) == best <= Fraction(found.upper) ** 2
    assert found.status == "exact"


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(1000, 3000))
def test_against_all_patterns_and_signs_of_twelve_steps(seed):
    compare(seed, 12)


@pytest.mark.parametrize("seed", range(8))
def test_more_participations_are_never_less_where_signs_are_free(seed):
    matrix = np.random.default_rng(seed).standard_normal((6, 9))
    found = [streams.participation_sensitivity(matrix, k=k, separation=2) for k in range(1, 5)]
    assert all(b.upper >= a.lower for a, b in pairwise(found))


def test_with_ones_fewer_participations_can_be_more():
    matrix = [[1, -1], [0, 0]]
    found = streams.participation_sensitivity(matrix, k=2, contribution="one")
    assert (found.value, dict(found.witness.x)) == (1.0, {0: 1})
    assert streams.participation_sensitivity(matrix, k=2).value == 2


def test_published_values():
    """Running sums of three steps, and the cross terms that a sum of squares leaves out."""
    sums = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    for asked, square in (
        ({}, 3),
        ({"neighbors": "replace"}, 12),
        ({"neighbors": "replace", "contribution": "one"}, 2),
    ):
        assert streams.participation_sensitivity(sums, k=1, **asked).value == math.sqrt(square)
    # 3 I - J: numbers 8, vectors 9; the sum of the absolute entries is 12.
    spread = 3 * np.eye(3) - 1
    numbers = streams.participation_sensitivity(spread, k=3, gram=True)
    vectors = streams.participation_sensitivity(spread, k=3, gram=True, contribution=2)
    assert numbers.value == math.sqrt(8)
    assert vectors.upper == pytest.approx(3, abs=1e-12)
    assert sum(vectors.certificate.values()) == pytest.approx(9, abs=1e-12)


def test_floats_that_do_not_tell_patterns_apart_are_compared_exactly():
    """Two columns whose norms differ by less than their floats are off."""
    matrix = np.full((200, 3), 0.1)
    matrix[7, 1] = np.nextafter(0.1, 1)
    found = streams.participation_sensitivity(matrix, k=1)
    assert (found.status, dict(found.witness.x)) == ("exact", {1: 1})


def test_too_many_ties_are_bounds(monkeypatch):
    monkeypatch.setattr(solving, "_MOST_NEAR", 3)
    found = streams.participation_sensitivity(np.full((3, 9), 0.1), k=2)
    assert found.status == "bounds"
    assert found.lower <= math.sqrt(0.12) <= found.upper <= found.lower * (1 + 1e-9)
    found.verify()
    assert "that was not finished" in repr(found)


def test_a_search_that_runs_out_of_time_has_bounds():
    draw = np.random.default_rng(0)
    matrix = np.where(draw.random((300, 300)) < 0.05, draw.standard_normal((300, 300)), 0)
    for asked in ({}, {"contribution": 3}):
        found = streams.participation_sensitivity(
            matrix, k=6, separation=5, time_limit=1e-6, **asked
        )
        assert found.status == "bounds"
        assert 0 < found.lower < found.upper < 10 * found.lower
        found.verify()


def test_too_many_pairs_of_patterns_are_refused():
    with pytest.raises(TooLargeError, match="of at most 3,000 patterns, and here are more"):
        streams.participation_sensitivity(np.eye(40), k=4, contribution="one", neighbors="replace")


def test_the_best_sum_is_exact():
    weights = [Fraction(1, 3), Fraction(1, 7), Fraction(1, 3) + Fraction(1, 10**30)]
    assert best_sum(weights, Rule(3, 1, 1, False))[1] == (2,)
    assert best_sum([-1, -2], Rule(2, 2, 1, True)) == (0, ())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lower": 9.0}, "the lower bound of a stream of 3 steps is stated as 9.0"),
        ({"k": 1}, "nobody contributes"),
        ({"separation": 3}, "nobody contributes"),
        ({"certificate": {0: 1.0, 2: 1.0}}, "the certificate is not shown"),
    ],
)
def test_a_wrong_result_is_not_verified(changes, message):
    found = streams.participation_sensitivity([1, 1, 1], k=2, separation=2)
    with pytest.raises(VerificationError, match=message):
        replace(found, **changes).verify()


def test_noise_takes_a_result():
    found = streams.participation_sensitivity([1, 1, 1], k=2, separation=2)
    scale = sl.noise.gaussian_scale(found, rho=0.5)
    assert scale == sl.noise.gaussian_scale(found.upper, rho=0.5) >= found.upper
    with pytest.raises(InputError, match="the result is in the norm L2"):
        sl.noise.laplace_scale(found, epsilon=1)


def test_a_claim_is_judged():
    report = streams.audit([1, 1, 1, 1], lambda k: k * 2, k=[1, 2], separation=2)
    assert [row.verdict for row in report.rows] == ["tight", "loose"]
    spread = 3 * np.eye(3) - 1
    for claim, verdict in ((2.9, "violated"), (3, "not judged"), (3.1, "loose")):
        report = streams.audit(spread, claim, k=3, gram=True, contribution=2)
        assert report.verdict == verdict


@pytest.mark.parametrize("neighbors", ["zero-out", "replace"])
def test_a_pattern_is_drawn_over_the_steps(neighbors):
    found = streams.participation_sensitivity(
        [1, -0.5, 0.25], k=2, contribution=2, neighbors=neighbors
    )
    ax = found.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "contribution")
    assert ax.get_legend_handles_labels()[1] == (["x", "y"] if neighbors == "replace" else ["x"])
    assert found.to_dict()["status"] == "bounds"


def test_a_picture_takes_axes_alone():
    found = sl.streams.participation_sensitivity(np.tril(np.ones((3, 3))), k=1, separation=1)
    with pytest.raises(sl.errors.InputError, match="ax: got 3; pass a matplotlib Axes"):
        found.plot(ax=3)
