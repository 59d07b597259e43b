"""Randomised mechanisms with the law of each: what a judge of mechanisms is judged on.

A function gets a dataset, which is a list of records, and a generator. Half of them are wrong in a
way that has been seen in print or in code. `test_mechanism_laws.py` holds what is stated here
against the forking oracle.

A claim is *right* if it holds for every pair of neighbors, in every order of their records. A law
with an infinite support is cut somewhere, and a cut law proves no pure epsilon; so many right
mechanisms claim a delta of 1e-9 which they do not need. They are "tight" if no smaller epsilon
would do, else "loose".
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

VIOLATED = frozenset({"violated", "violated (sampled)"})
TIGHT = frozenset({"tight", "tight up to rounding"})
LOOSE = frozenset({"loose"})
UNSURE = frozenset({"not refuted", "not judged"})

LN2, LN3 = math.log(2), math.log(3)
SLACK = 1e-9
"""A delta for mechanisms that need none, so that a cut law can be judged."""


@dataclass(frozen=True)
class Mechanism:
    """A randomised function, what it claims, and what is known of its law."""

    name: str
    function: Callable[[list[Any], Any], Any]
    values: tuple[Any, ...]
    sizes: tuple[int, ...]
    neighbors: str
    epsilon: float
    delta: float
    verdicts: frozenset[str]
    """The verdicts that are not false."""
    why: str
    """The law, with its source or derivation."""
    true_delta: float | Callable[[float], float] | None = None
    """The largest delta over all pairs, by closed form: at the claimed epsilon, or a function."""
    by_oracle: bool = True
    """Whether the forking oracle knows its draws, and is cheap enough."""
    tail: float = 1e-6
    """The mass below which the oracle leaves a branch."""

    @property
    def right(self) -> bool:
        """Whether the claim holds; what is wrong has "violated" among its verdicts."""
        return "violated" not in self.verdicts

    @property
    def known_delta(self) -> float | None:
        """The closed form at the claimed epsilon."""
        return self.true_delta(self.epsilon) if callable(self.true_delta) else self.true_delta


MECHANISMS: list[Mechanism] = []


def mechanism(
    epsilon: float,
    delta: float = 0,
    *,
    verdicts: frozenset[str] = VIOLATED,
    why: str,
    name: str | None = None,
    values: tuple[Any, ...] = (0, 1),
    sizes: tuple[int, ...] = (1,),
    neighbors: str = "bounded",
    true_delta: float | Callable[[float], float] | None = None,
    by_oracle: bool = True,
    tail: float = 1e-6,
    corpus: list[Mechanism] = MECHANISMS,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add a function with a claim to the corpus; one function can have several claims."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        known = name or getattr(function, "__name__", type(function).__name__)
        corpus.append(
            Mechanism(
                known.replace("_", " "), function, values, sizes, neighbors, epsilon, delta,
                verdicts, why, true_delta, by_oracle, tail,
            )
        )  # fmt: skip
        return function

    return add


# What practitioners share.


def geometric_noise(rng: Any, epsilon: float) -> Any:
    """Two-sided geometric noise: P(k) = (1 - a) / (1 + a) a^|k| with a = e^-epsilon."""
    p = 1 - math.exp(-epsilon)
    return rng.geometric(p) - rng.geometric(p)


def truth_probability(epsilon: float) -> float:
    return math.exp(epsilon) / (1 + math.exp(epsilon))


def flipped(bit: Any, rng: Any, p: float) -> Any:
    """The bit with probability p, else the other one."""
    return bit if rng.random() < p else 1 - bit


# Closed forms.


def response_curve(p: float) -> Callable[[float], float]:
    return lambda epsilon: max(0.0, p - math.exp(epsilon) * (1 - p))


def geometric_curve(own: float) -> Callable[[float], float]:
    """Two-sided geometric noise at a shift of 1."""
    return lambda epsilon: max(0.0, 1 - math.exp(epsilon - own)) / (1 + math.exp(-own))


def laplace_curve(own: float) -> Callable[[float], float]:
    """Laplace noise whose scale is the shift over `own`."""
    return lambda epsilon: max(0.0, 1 - math.exp((epsilon - own) / 2))


def normal_below(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2


def gaussian_curve(scale: float) -> Callable[[float], float]:
    """Gaussian noise at a shift of 1: Balle and Wang (2018), theorem 8."""

    def curve(epsilon: float) -> float:
        half, lean = 1 / (2 * scale), epsilon * scale
        return normal_below(half - lean) - math.exp(epsilon) * normal_below(-half - lean)

    return curve


# Randomised response.


@mechanism(
    LN3, verdicts=TIGHT, true_delta=response_curve(0.75),
    why="The truth with 3/4, so e^epsilon = 3 (Warner 1965); log(3) is rounded.",
)  # fmt: skip
def response_binary(data, rng):
    return flipped(data[0], rng, 0.75)


@mechanism(
    1.0, verdicts=TIGHT, true_delta=response_curve(truth_probability(1.0)),
    why="p = e / (1 + e) in floats, so epsilon is met up to the rounding of p.",
)  # fmt: skip
def response_in_floats(data, rng):
    return flipped(data[0], rng, math.exp(1.0) / (1 + math.exp(1.0)))


@mechanism(
    0.1, verdicts=TIGHT, true_delta=response_curve(truth_probability(0.1)),
    why="p = e^0.1 / (1 + e^0.1) in floats, so epsilon is met up to the rounding of p.",
)  # fmt: skip
def response_in_floats_small(data, rng):
    return flipped(data[0], rng, math.exp(0.1) / (1 + math.exp(0.1)))


@mechanism(
    1.0, true_delta=response_curve(truth_probability(1.0) + 0.01),
    why="p is too large by 0.01, so delta = p - e (1 - p).",
)  # fmt: skip
def response_wrong_p(data, rng):
    return flipped(data[0], rng, truth_probability(1.0) + 0.01)


@mechanism(
    1.0, true_delta=0.5 - math.exp(-1) / 2,
    why="A lie has e^-1 / 2, the truth 1 - e^-1 / 2: delta = 1 - e^-1 / 2 - e e^-1 / 2.",
)  # fmt: skip
def response_by_a_second_coin(data, rng):
    if rng.random() < 1 - math.exp(-1.0):
        return data[0]
    return rng.integers(2)


@mechanism(
    1.0, verdicts=TIGHT, values=(0, 1, 2, 3), true_delta=0.0,
    why="k-ary: the truth has e times the probability of each of the 3 others.",
)  # fmt: skip
def response_k_ary(data, rng):
    weights = np.ones(4)
    weights[data[0]] = math.exp(1.0)
    return rng.choice(4, p=weights / weights.sum())


@mechanism(
    1.0, values=(0, 1, 2),
    true_delta=truth_probability(1.0) / 2,
    why="k = 3 with the p of k = 2: a certain lie has (1 - p) / 2, and e (1 - p) / 2 = p / 2.",
)  # fmt: skip
def response_k_ary_with_binary_p(data, rng):
    if rng.random() < truth_probability(1.0):
        return data[0]
    return rng.choice([v for v in (0, 1, 2) if v != data[0]])


@mechanism(
    1.0, verdicts=TIGHT, values=(0, 1, 2), true_delta=0.0,
    why="The truth with g = (e - 1) / (e + 2), else any of 3: (g + (1 - g)/3) / ((1 - g)/3) = e.",
)  # fmt: skip
def response_k_ary_or_any(data, rng):
    keep = (math.e - 1) / (math.e + 2)
    return data[0] if rng.random() < keep else rng.integers(3)


@mechanism(
    1.0, verdicts=TIGHT, sizes=(3,), true_delta=0.0,
    why="The sum of three responses: all ones have p^3 against p^2 (1 - p), so no loss is hidden.",
)  # fmt: skip
def response_summed(data, rng):
    bits = np.array(data)
    keep = rng.random(size=len(bits)) < truth_probability(1.0)
    return np.where(keep, bits, 1 - bits).sum()


@mechanism(
    0.5, sizes=(2,),
    true_delta=max(0.0, truth_probability(1.0) ** 2 - math.exp(0.5) * truth_probability(1.0)
                   * (1 - truth_probability(1.0))),
    why="Shuffling does not lower a pure epsilon: both ones have p^2 against p (1 - p).",
)  # fmt: skip
def response_shuffled_claims_half(data, rng):
    bits = [flipped(bit, rng, truth_probability(1.0)) for bit in data]
    rng.shuffle(bits)
    return bits


@mechanism(
    1.0, verdicts=TIGHT, sizes=(2,), true_delta=0.0,
    why="Responses with epsilon = 1, released in random order: postprocessing, and met at (1, 1).",
)  # fmt: skip
def response_shuffled(data, rng):
    bits = np.array([flipped(bit, rng, truth_probability(1.0)) for bit in data])
    return rng.permutation(bits)


@mechanism(
    1.0, verdicts=TIGHT, values=(0, 1, 2), true_delta=0.0,
    why="Each of 3 bits flipped with epsilon / 2; two bits differ (Erlingsson et al. 2014).",
)  # fmt: skip
def response_unary(data, rng):
    bits = [int(value == data[0]) for value in range(3)]
    return [flipped(bit, rng, truth_probability(0.5)) for bit in bits]


@mechanism(
    1.0, values=(0, 1, 2),
    true_delta=truth_probability(1.0) ** 2 - math.e * (1 - truth_probability(1.0)) ** 2,
    why="Each bit is flipped with epsilon, and two bits differ: p^2 against (1 - p)^2.",
)  # fmt: skip
def response_unary_with_all_of_epsilon(data, rng):
    bits = np.eye(3, dtype=int)[data[0]]
    keep = rng.random(size=3) < truth_probability(1.0)
    return np.where(keep, bits, 1 - bits)


@mechanism(
    1.0, true_delta=truth_probability(1.0) ** 2 - math.e * (1 - truth_probability(1.0)) ** 2,
    why="Two responses of epsilon = 1 to one question: p^2 against (1 - p)^2.",
)  # fmt: skip
def response_twice(data, rng):
    return tuple(flipped(data[0], rng, truth_probability(1.0)) for _ in range(2))


@mechanism(
    1.0, sizes=(2,), true_delta=1.0,
    why="One coin flips both bits, so that they show whether the records are equal.",
)  # fmt: skip
def response_with_one_coin(data, rng):
    lie = rng.random() >= truth_probability(1.0)
    return [bit ^ int(lie) for bit in data]


@mechanism(
    LN3, verdicts=TIGHT, true_delta=response_curve(0.75),
    why="Randomised response; NaN is one of two names of its outcomes, on both neighbors.",
)  # fmt: skip
def response_as_nan(data, rng):
    return 1.0 if flipped(data[0], rng, 0.75) else math.nan


@mechanism(
    LN3, verdicts=TIGHT, true_delta=response_curve(0.75),
    why="Randomised response; an exception is one of its two outcomes, on both neighbors.",
)  # fmt: skip
def response_as_an_exception(data, rng):
    if flipped(data[0], rng, 0.75):
        raise ValueError("no")
    return 0


@mechanism(
    LN3, 0.01, verdicts=TIGHT, true_delta=0.01, name="all data with delta",
    why="With 0.01 all is released: delta = 0.01, and the rest is a response with epsilon.",
)  # fmt: skip
@mechanism(
    LN3, 0.005, true_delta=0.01,
    name="all data with twice delta",
    why="With 0.01 all is released, so delta = 0.01 and not 0.005.",
)  # fmt: skip
def all_data_with_delta(data, rng):
    if rng.random() < 0.01:
        return ("all", list(data))
    return flipped(data[0], rng, 0.75)


@mechanism(
    LN2, SLACK, verdicts=TIGHT, values=(0, 1, 2), true_delta=0.0,
    tail=1e-3,
    why="Redraws an index above 3, whatever the data: response over 3 with weights 2 : 1 : 1.",
)  # fmt: skip
def response_by_rejection(data, rng):
    while (index := rng.integers(8)) > 3:
        pass
    return [data[0], 0, 1, 2][index]


@mechanism(
    1.0, SLACK, verdicts=LOOSE | UNSURE, true_delta=0.0,
    tail=1e-4,
    why="A lie is accepted with e^-1 by the alternating series of von Neumann (Canonne, Kamath and"
        " Steinke 2020, algorithm 1); a refused lie starts again: e^-1 : 1. Loops in a loop have"
        " more paths than can be run, so that what is left exceeds the delta.",
)  # fmt: skip
def response_by_von_neumann(data, rng):
    while True:
        lie = rng.integers(2)
        if not lie:
            return data[0]
        k = 1
        while rng.random() < 1.0 / k:
            k += 1
        if k % 2:
            return 1 - data[0]


# Two-sided geometric noise, which is the discrete Laplace distribution.


@mechanism(
    LN2, SLACK, verdicts=TIGHT, sizes=(2,), true_delta=geometric_curve(LN2),
    why="Noise for a sensitivity of 1 (Ghosh, Roughgarden and Sundararajan 2009); needs no delta.",
)  # fmt: skip
@mechanism(
    LN2, verdicts=UNSURE, sizes=(1,), true_delta=geometric_curve(LN2),
    name="geometric pure",
    why="Right, but its law is cut, and a cut law proves no pure epsilon (DESIGN 12).",
)  # fmt: skip
@mechanism(
    0.5, 1.01 * geometric_curve(LN2)(0.5), verdicts=LOOSE,
    true_delta=geometric_curve(LN2), name="geometric with delta",
    why="The claimed delta is 1 % above (1 - e^(eps - eps0)) / (1 + e^-eps0), eps0 = log(2).",
)  # fmt: skip
@mechanism(
    0.5, 0.99 * geometric_curve(LN2)(0.5), true_delta=geometric_curve(LN2),
    name="geometric with too small a delta",
    why="The claimed delta is 1 % below (1 - e^(eps - eps0)) / (1 + e^-eps0), eps0 = log(2).",
)  # fmt: skip
def geometric_count(data, rng):
    return sum(data) + geometric_noise(rng, LN2)


@mechanism(
    LN2, true_delta=geometric_curve(2 * LN2),
    why="The noise is for half the sensitivity, so the pure epsilon is 2 log(2).",
)  # fmt: skip
def geometric_half_scale(data, rng):
    return sum(data) + geometric_noise(rng, 2 * LN2)


@mechanism(
    LN2, SLACK, verdicts=TIGHT, values=(0, 1, 2), true_delta=0.0,
    why="A sum of records in [0, 2], noise for a sensitivity of 2.", tail=1e-6,
)  # fmt: skip
def geometric_sum(data, rng):
    return sum(data) + geometric_noise(rng, LN2 / 2)


@mechanism(
    LN2, values=(0, 1, 2), true_delta=1 / 3,
    why="A sum of records in [0, 2], noise for 1: at a shift of 2 and a = 1/2, each k <= 0 has "
        "a^|k| / 3 against twice a quarter of that; the halves sum to 1/3.",
)  # fmt: skip
def geometric_sum_with_noise_of_a_count(data, rng):
    return sum(data) + geometric_noise(rng, LN2)


@mechanism(
    LN2, true_delta=0.5,
    why="One-sided noise never goes below the count: delta = P(Z = 0) = 1 - a = 1/2.",
)  # fmt: skip
def geometric_one_sided(data, rng):
    return sum(data) + rng.geometric(0.5) - 1


@mechanism(
    LN2, true_delta=0.25,
    why="Zero comes with both signs: P(0) = p, P(k) = p a^k / 2; delta = p - 2 p a / 2 = p / 2.",
)  # fmt: skip
def geometric_with_a_sign(data, rng):
    size = rng.geometric(0.5) - 1
    return sum(data) + (size if rng.random() < 0.5 else -size)


@mechanism(
    LN2, SLACK, verdicts=TIGHT, true_delta=0.0,
    tail=1e-5,
    why="A negative zero is drawn again, whatever the data: Canonne, Kamath and Steinke (2020).",
)  # fmt: skip
def geometric_with_a_sign_redrawn(data, rng):
    while True:
        size, negative = rng.geometric(0.5) - 1, rng.random() < 0.5
        if not (negative and size == 0):
            return sum(data) + (-size if negative else size)


@mechanism(
    LN2, SLACK, verdicts=TIGHT, sizes=(2,), true_delta=0.0,
    why="The released count is clipped to [0, n] with n public: postprocessing.",
)  # fmt: skip
@mechanism(
    LN2, verdicts=TIGHT | UNSURE, sizes=(1,), true_delta=0.0,
    name="geometric release clipped pure",
    why="As before; pure epsilon follows only if the tails of the noise are summed, not cut.",
)  # fmt: skip
def geometric_release_clipped(data, rng):
    noisy = sum(data) + geometric_noise(rng, LN2)
    return max(0, min(len(data), noisy))


@mechanism(
    LN2, true_delta=1 / 12,
    why="The noise is clipped to [-3, 3]: P(Z <= -3) = a^3 / (1 + a) where the other has none.",
)  # fmt: skip
def geometric_noise_clipped(data, rng):
    noise = geometric_noise(rng, LN2)
    return sum(data) + max(-3, min(3, noise))


@mechanism(
    LN2, true_delta=1 / 8,
    why="Noise beyond 3 becomes 0: a^3 (1 - a)/(1 + a) at the end, and 2 a^4/(1 + a) more at 0.",
)  # fmt: skip
def geometric_noise_dropped(data, rng):
    noise = geometric_noise(rng, LN2)
    if abs(noise) > 3:
        noise = 0
    return sum(data) + noise


@mechanism(
    LN2, true_delta=1 / 22,
    tail=1e-5,
    why="The noise is redrawn until |Z| <= 3: P(-3) = (1/24) / (11/12) where the other has none.",
)  # fmt: skip
def geometric_noise_redrawn(data, rng):
    while abs(noise := geometric_noise(rng, LN2)) > 3:
        pass
    return sum(data) + noise


@mechanism(
    3 * LN2, sizes=(2,), true_delta=64 / 73 - 8 / 10, tail=1e-5,
    why="Redrawn into [0, 2]: from 0 the masses are 64, 8, 1 of 73, from 1 they are 1, 8, 1 of 10.",
)  # fmt: skip
@mechanism(
    6 * LN2, SLACK, verdicts=LOOSE, sizes=(2,), true_delta=0.0, tail=1e-5,
    name="geometric redrawn claims twice epsilon",
    why="Redrawing into a range at most doubles epsilon: the masses and their sums both change.",
)  # fmt: skip
def geometric_redrawn_into_the_range(data, rng):
    while True:
        noisy = sum(data) + geometric_noise(rng, 3 * LN2)
        if 0 <= noisy <= 2:
            return noisy


@mechanism(
    3 * LN2, true_delta=7 / 8 - 56 / 71, tail=1e-5,
    why="Retried while negative: from 0, P(0) = (7/9) / (8/9); from 1, (7/72) / (71/72), 8 times.",
)  # fmt: skip
def geometric_retried_while_negative(data, rng):
    noisy = -1
    while noisy < 0:
        noisy = sum(data) + geometric_noise(rng, 3 * LN2)
    return noisy


@mechanism(
    LN2, SLACK, verdicts=TIGHT, true_delta=0.0,
    why="The absolute value of the noisy count is postprocessing.",
)  # fmt: skip
def geometric_release_folded(data, rng):
    return abs(sum(data) + geometric_noise(rng, LN2))


@mechanism(
    LN2, true_delta=1 / 3,
    why="The absolute value of the noise never lowers the count: delta = P(Z = 0) = 1/3.",
)  # fmt: skip
def geometric_noise_folded(data, rng):
    return sum(data) + abs(geometric_noise(rng, LN2))


@mechanism(
    LN2, true_delta=2 / 3,
    why="Negative noise becomes 0: the count itself has P(Z <= 0) = 1 / (1 + a) = 2/3.",
)  # fmt: skip
def geometric_noise_kept_positive(data, rng):
    return sum(data) + max(geometric_noise(rng, LN2), 0)


@mechanism(
    LN2, values=(0, 1, 2),
    true_delta=1 - (1 - math.sqrt(0.5)) / (1 + math.sqrt(0.5)) / 2,
    why="The scale is the largest record, and 0 gets no noise: from 2 all but 0 has 1 - P(Z = -2), "
        "with a = 2^-1/2, and from 0 it has none.", tail=1e-5,
)  # fmt: skip
def geometric_scale_of_the_largest(data, rng):
    largest = max(data)
    if largest == 0:
        return 0
    return sum(data) + geometric_noise(rng, LN2 / largest)


@mechanism(
    LN2, true_delta=None,
    why="A release with scale 1 or 2, by the data: tails of different rates have no pure epsilon.",
    tail=1e-5,
)  # fmt: skip
def geometric_scale_of_the_count(data, rng):
    return geometric_noise(rng, LN2 / (1 + sum(data)))


# Choices: exponential mechanism, permute-and-flip, noisy maxima.


@mechanism(
    1.0, verdicts=LOOSE, values=(0, 1, 2), sizes=(2,), true_delta=0.0,
    why="McSherry and Talwar (2007); the normalisers take back a part of epsilon.",
)  # fmt: skip
def exponential_mechanism(data, rng):
    counts = np.bincount(data, minlength=3)
    weights = np.exp(1.0 * counts / 2)
    return rng.choice(3, p=weights / weights.sum())


@mechanism(
    1.0, values=(0, 1), sizes=(1,),
    true_delta=truth_probability(2.0) - math.e * (1 - truth_probability(2.0)),
    why="The weights are e^2 : 1 from (1, 0) and 1 : e^2 from (0, 1), so that epsilon is 2.",
    name="exponential mechanism with twice the weights",
)  # fmt: skip
def exponential_mechanism_with_twice_the_weights(data, rng):
    counts = np.bincount(data, minlength=2)
    weights = np.exp(1.0 * 2 * counts)
    return rng.choice(2, p=weights / weights.sum())


@mechanism(
    1.0, sizes=(2,),
    true_delta=math.e / (2 * math.e) - math.e / (math.e**2 + 1),
    why="Without the factor 1/2: from (1, 1) it is 1/2, from (2, 0) it is 1 / (e^2 + 1).",
)  # fmt: skip
def exponential_mechanism_without_the_half(data, rng):
    counts = np.bincount(data, minlength=2)
    weights = np.exp(1.0 * counts)
    return rng.choice(2, p=weights / weights.sum())


def flips(order, counts, rng, epsilon):
    for candidate in order:
        if rng.random() < math.exp(epsilon * (counts[candidate] - max(counts)) / 2):
            return int(candidate)
    raise AssertionError("the best candidate is always accepted")


@mechanism(
    1.0, verdicts=LOOSE, values=(0, 1, 2), sizes=(2,), true_delta=0.0,
    why="McKenna and Sheldon (2020), theorem 1; on these datasets a part of epsilon is left.",
)  # fmt: skip
def permute_and_flip(data, rng):
    return flips(rng.permutation(3), np.bincount(data, minlength=3), rng, 1.0)


@mechanism(
    1.0, values=(0, 1, 2), sizes=(2,),
    why="Not permuted: the first candidate is certain when it is best, and others impossible.",
)  # fmt: skip
def flip_without_permuting(data, rng):
    return flips(range(3), np.bincount(data, minlength=3), rng, 1.0)


@mechanism(
    2 * LN2, SLACK, verdicts=LOOSE, values=(0, 1, 2), sizes=(1,), true_delta=0.0,
    tail=1e-4,
    why="One-sided geometric noise of epsilon / 2, first of the ties: a threshold on each noise "
        "moves by 2 at most (Dwork and Roth 2014, claim 3.9, for integers).",
)  # fmt: skip
def noisy_max_first(data, rng):
    counts = np.bincount(data, minlength=3)
    return int(np.argmax(counts + rng.geometric(0.5, size=3)))


@mechanism(
    2 * LN2, SLACK, verdicts=TIGHT, sizes=(2,), true_delta=0.0,
    tail=1e-5,
    why="As before, with a uniform choice among ties: with the noise higher by 2, whoever ties on "
        "one neighbor has tied on the other.",
)  # fmt: skip
def noisy_max_any(data, rng):
    noisy = np.bincount(data, minlength=2) + rng.geometric(0.5, size=2)
    return int(rng.choice(np.flatnonzero(noisy == noisy.max())))


@mechanism(
    2 * LN2, SLACK, verdicts=LOOSE | frozenset({"not refuted"}), sizes=(1,),
    true_delta=0.0, tail=1e-4,
    why="Two-sided geometric noise of epsilon / 2, first of the ties; by the same threshold.",
)  # fmt: skip
def noisy_max_two_sided(data, rng):
    noisy = [sum(bit == v for bit in data) + geometric_noise(rng, LN2) for v in (0, 1)]
    return 0 if noisy[0] >= noisy[1] else 1


@mechanism(
    LN2, sizes=(2,), true_delta=1 / 3,
    why="Epsilon per unit, but two counts move in opposite ways: P(0 | 1, 1) = 1 / (1 + a), "
        "P(0 | 0, 2) = a^2 / (1 + a); delta = (1 - a) / (1 + a).",
)  # fmt: skip
@mechanism(
    LN2, SLACK, verdicts=TIGHT, sizes=(1, 2), neighbors="unbounded", true_delta=0.0,
    name="noisy max of monotone counts",
    why="When a record is added all counts move one way, and epsilon / 2 is not needed.",
)  # fmt: skip
def noisy_max_without_the_half(data, rng):
    noisy = np.bincount(data, minlength=2) + rng.geometric(0.5, size=2)
    return int(np.argmax(noisy))


@mechanism(
    2 * LN2, sizes=(2,),
    tail=1e-5,
    why="The noisy maximum is released with its place: one noise answers twice, and what cannot "
        "win with one value on one neighbor can on the other.",
)  # fmt: skip
def noisy_max_with_its_value(data, rng):
    noisy = np.bincount(data, minlength=2) + rng.geometric(0.5, size=2)
    return int(np.argmax(noisy)), int(noisy.max())


# Sparse vector: Lyu, Su and Li (2017), figure 1, with geometric noise in place of Laplace noise.


def zeros_and_ones(data, count=2):
    """Counting queries that a replaced record moves in opposite ways: 0s first, then 1s."""
    half = count // 2
    return [sum(bit == 0 for bit in data)] * half + [sum(bit == 1 for bit in data)] * (count - half)


def at_least(k: int, a: float) -> float:
    """P(Z >= k) for two-sided geometric noise."""
    return a**k / (1 + a) if k >= 1 else 1 - a ** (1 - k) / (1 + a)


def sparse_vector_law(
    answers: Sequence[int], rho: float, nu: float, most: float = math.inf, fresh: float = 0
) -> dict[tuple[bool, ...], float]:
    """Sum over the noise of the threshold 1: outcomes by a = e^-rho and a = e^-nu.

    At most `most` answers are above; after each a new threshold with `fresh` is drawn, if given.
    """

    def noise(epsilon: float) -> list[tuple[int, float]]:
        a = math.exp(-epsilon)
        return [(k, (1 - a) / (1 + a) * a ** abs(k)) for k in range(-80, 81)]

    def follow(place, threshold, above):
        if place == len(answers) or above == most:
            return {(): 1.0}
        gap = 1 + threshold - answers[place]
        chance = at_least(gap, math.exp(-nu)) if nu < math.inf else float(gap <= 0)
        found: Counter[tuple[bool, ...]] = Counter()
        for rest, mass in follow(place + 1, threshold, above).items():
            found[(False, *rest)] += (1 - chance) * mass
        for new, share in noise(fresh) if fresh and above + 1 < most else [(threshold, 1.0)]:
            for rest, mass in follow(place + 1, new, above + 1).items():
                found[(True, *rest)] += chance * share * mass
        return found

    total: Counter[tuple[bool, ...]] = Counter()
    for threshold, share in noise(rho):
        for outcome, mass in follow(0, threshold, 0).items():
            total[outcome] += share * mass
    return total


def sparse_vector_delta(queries: int, *arguments: float) -> Callable[[float], float]:
    """The largest delta between the datasets [0] and [1]."""
    x, y = (sparse_vector_law(zeros_and_ones(data, queries), *arguments) for data in ([0], [1]))

    def curve(epsilon: float) -> float:
        growth = math.exp(epsilon)
        return max(
            sum(max(0.0, p[r] - growth * q.get(r, 0.0)) for r in p) for p, q in ((x, y), (y, x))
        )

    return curve


SPARSE = LOOSE | frozenset({"not refuted"})


@mechanism(
    4.0, SLACK, verdicts=SPARSE, tail=1e-4, true_delta=0.0,
    why="Algorithm 1 with c = 1: epsilon / 2 for the threshold, epsilon / 4 for each answer.",
)  # fmt: skip
def sparse_vector_1(data, rng, count=2):
    threshold = 1 + geometric_noise(rng, 2.0)
    released = []
    for answer in zeros_and_ones(data, count):
        above = answer + geometric_noise(rng, 1.0) >= threshold
        released.append(bool(above))
        if above:
            break
    return released


@mechanism(
    4.0, SLACK, verdicts=SPARSE, by_oracle=False, true_delta=0.0,
    why="Algorithm 1 with c = 1 on five queries; 12 geometric draws are too many for the oracle.",
)  # fmt: skip
def sparse_vector_1_of_five_queries(data, rng):
    return sparse_vector_1(data, rng, 5)


@mechanism(
    8.0, SLACK, verdicts=SPARSE, tail=1e-4, true_delta=0.0,
    why="Algorithm 2 with c = 2: epsilon / 2c for each threshold, which is drawn again after each "
        "answer above, and epsilon / 4c for each answer.",
)  # fmt: skip
def sparse_vector_2(data, rng):
    threshold, above, released = 1 + geometric_noise(rng, 2.0), 0, []
    for answer in zeros_and_ones(data):
        released.append(bool(answer + geometric_noise(rng, 1.0) >= threshold))
        if released[-1]:
            above += 1
            if above == 2:
                break
            threshold = 1 + geometric_noise(rng, 2.0)
    return released


def answered_sparse_vector_delta(queries: int, rho: float, nu: float) -> Callable[[float], float]:
    """As `sparse_vector_delta`, where one answer above is released as it was compared."""
    a, b = math.exp(-rho), math.exp(-nu)

    def masses(answers: list[int]) -> dict[tuple[int, int], float]:
        found: Counter[tuple[int, int]] = Counter()
        for k in range(-60, 61):
            share = (1 - a) / (1 + a) * a ** abs(k)
            for place, answer in enumerate(answers):
                for value in range(1 + k, 90):
                    own = (1 - b) / (1 + b) * b ** abs(value - answer)
                    found[place, value] += share * own
                share *= 1 - at_least(1 + k - answer, b)
            found[len(answers), 0] += share
        return found

    x, y = (masses(zeros_and_ones(data, queries)) for data in ([0], [1]))

    def curve(epsilon: float) -> float:
        growth = math.exp(epsilon)
        return max(sum(max(0.0, p[r] - growth * q[r]) for r in p) for p, q in ((x, y), (y, x)))

    return curve


@mechanism(
    2.0, by_oracle=False,
    true_delta=answered_sparse_vector_delta(6, 1.0, 1.0),
    why="Algorithm 3 releases the answer that was compared: it shows that the threshold is lower, "
        "so that each answer below it costs epsilon / 2; 14 geometric draws.",
)  # fmt: skip
def sparse_vector_3(data, rng):
    threshold = 1 + geometric_noise(rng, 1.0)
    released = []
    for answer in zeros_and_ones(data, 6):
        noisy = answer + geometric_noise(rng, 1.0)
        if noisy >= threshold:
            released.append(noisy)
            break
        released.append(False)
    return released


@mechanism(
    4.0, by_oracle=False,
    true_delta=sparse_vector_delta(5, 1.0, 3.0, 1),
    why="Algorithm 4 with c = 1: epsilon / 4 and 3 epsilon / 4 without the factor 2c, so that only "
        "(1 + 6c) / 4 epsilon holds for queries that move both ways; 12 geometric draws.",
)  # fmt: skip
def sparse_vector_4(data, rng):
    threshold = 1 + geometric_noise(rng, 1.0)
    released = []
    for answer in zeros_and_ones(data, 5):
        released.append(bool(answer + geometric_noise(rng, 3.0) >= threshold))
        if released[-1]:
            break
    return released


@mechanism(
    2.0, true_delta=sparse_vector_delta(2, 1.0, math.inf),
    why="Algorithm 5 adds no noise to the answers: below and above is possible one way only.",
)  # fmt: skip
def sparse_vector_5(data, rng):
    threshold = 1 + geometric_noise(rng, 1.0)
    return [bool(answer >= threshold) for answer in zeros_and_ones(data)]


@mechanism(
    4.0, by_oracle=False,
    true_delta=sparse_vector_delta(6, 2.0, 2.0),
    why="Algorithm 6 answers any number of queries with epsilon / 2 each; 14 geometric draws.",
)  # fmt: skip
def sparse_vector_6(data, rng):
    threshold = 1 + geometric_noise(rng, 2.0)
    return [
        bool(answer + geometric_noise(rng, 2.0) >= threshold) for answer in zeros_and_ones(data, 6)
    ]


# Samples.

AMPLIFIED = math.log((1 + math.e) / 2)
"""log(1 + q (e - 1)) with q = 1/2: a sample of half the records, then epsilon = 1."""


@mechanism(
    AMPLIFIED, verdicts=TIGHT, sizes=(2,), true_delta=0.0, name="sample of one of two",
    why="One of two records, then response: log(1 + (e - 1) / 2) (Balle, Barthe, Gaboardi 2018).",
)  # fmt: skip
@mechanism(
    0.5, sizes=(2,), name="sample claims q epsilon",
    true_delta=0.5 - math.exp(0.5) * (1 - truth_probability(1.0)),
    why="q epsilon = 1/2 is below log(1 + q (e - 1)) = 0.62.",
)  # fmt: skip
@mechanism(
    1.0, verdicts=LOOSE, sizes=(2,), true_delta=0.0, name="sample not amplified",
    why="Claims the epsilon of the response, and the sample lowers it.",
)  # fmt: skip
def sample_without_replacement(data, rng):
    chosen = rng.choice(np.array(data), size=1, replace=False)
    return flipped(int(chosen[0]), rng, truth_probability(1.0))


@mechanism(
    math.log(1 + (math.e - 1) / 3), verdicts=TIGHT, sizes=(3,), true_delta=0.0,
    why="A single draw of three with replacement is a draw without: q = 1/3.",
)  # fmt: skip
def sample_with_replacement_once(data, rng):
    return flipped(rng.choice(data), rng, truth_probability(1.0))


@mechanism(
    AMPLIFIED, sizes=(4,),
    why="Two of four, but with replacement: one record can be drawn twice, and counts twice.",
)  # fmt: skip
def sample_with_replacement_claims_without(data, rng):
    drawn = rng.choice(data, size=2)
    return tuple(sorted(flipped(bit, rng, truth_probability(1.0)) for bit in drawn))


@mechanism(
    math.log(1.5), SLACK, verdicts=TIGHT, sizes=(1, 2), neighbors="unbounded",
    true_delta=0.0, name="Poisson sample",
    tail=1e-4,
    why="Each record with q = 1/2, then geometric noise with e^epsilon = 2: log(1 + q (2 - 1)).",
)  # fmt: skip
@mechanism(
    LN2 / 2, sizes=(1, 2), neighbors="unbounded",
    name="Poisson sample claims q epsilon",
    tail=1e-4,
    why="q epsilon = log(2) / 2 is below log(1.5).",
)  # fmt: skip
def poisson_sample(data, rng):
    kept = rng.random(size=len(data)) < 0.5
    return int(kept.sum()) + geometric_noise(rng, LN2)


@mechanism(
    1.0, sizes=(2,), true_delta=0.75,
    why="A bootstrap is no noise: from (0, 0) a sum above 0 cannot be, from (0, 1) it has 3/4.",
)  # fmt: skip
def bootstrap_sum(data, rng):
    return int(rng.choice(data, size=len(data), replace=True).sum())


@mechanism(
    LN2, sizes=(2,),
    tail=1e-5,
    why="Noise for 1, but a record can be drawn twice, and then moves the count by 2.",
)  # fmt: skip
@mechanism(
    2 * LN2, SLACK, verdicts=LOOSE, sizes=(2,), true_delta=0.0,
    name="bootstrap with noise for all draws",
    tail=1e-5,
    why="A record moves the count of two draws by 2 at most, and the noise is for that.",
)  # fmt: skip
def bootstrap_with_noise(data, rng):
    resampled = rng.choice(data, size=len(data), replace=True)
    return int(resampled.sum()) + geometric_noise(rng, LN2)


@mechanism(
    0.1, 0.25, verdicts=TIGHT, sizes=(4,), true_delta=0.25,
    why="Any one record, as it is: it is the one that differs with 1/4, so (epsilon, 1/4) holds.",
)  # fmt: skip
@mechanism(
    0.1, 0.2, sizes=(4,), true_delta=0.25,
    name="name and shame claims a fifth",
    why="As before: delta is 1/4.",
)  # fmt: skip
def name_and_shame(data, rng):
    records = list(data)
    rng.shuffle(records)
    return records[0]


@mechanism(
    1.0, sizes=(3,), true_delta=1.0,
    why="All records in random order are all records.",
)  # fmt: skip
def shuffled_records(data, rng):
    return rng.permutation(data)


@mechanism(
    1.0, true_delta=1.0,
    why="Binomial noise with one trial: its support ends, and the ends show the count.",
    name="binomial noise on a count of two",
    values=(0, 2),
)  # fmt: skip
def binomial_noise_of_one_coin(data, rng):
    return sum(data) + rng.binomial(1, 0.5)


@mechanism(
    1.0, 0.1, true_delta=(5 - math.e) / 16,
    name="binomial noise with too small a delta",
    why="Four coins have (1, 4, 6, 4, 1) / 16; of that less e (0, 1, 4, 6, 4) / 16 the positive "
        "parts are 1 and 4 - e, so delta = (5 - e) / 16 = 0.1426.",
)  # fmt: skip
@mechanism(
    1.0, 0.15, verdicts=LOOSE, true_delta=(5 - math.e) / 16,
    name="binomial noise with delta", why="As derived before: (5 - e) / 16 = 0.1426.",
)  # fmt: skip
def binomial_noise(data, rng):
    return sum(data) + rng.binomial(4, 0.5)


# Thresholds on keys that are not public, and propose-test-release.

THRESHOLD = 8
NEW_KEY = 0.5 ** (THRESHOLD - 1) / 1.5
"""P(1 + Z >= 8) for two-sided geometric noise with a = 1/2: a^7 / (1 + a)."""


@mechanism(
    LN2, 1.01 * NEW_KEY, verdicts=LOOSE, values=("a", "b"), sizes=(1, 2),
    neighbors="unbounded", true_delta=NEW_KEY, name="threshold",
    tail=2e-5,
    why="A key of one person appears with P(1 + Z >= T) = a^(T - 1) / (1 + a), 1 % below delta.",
)  # fmt: skip
@mechanism(
    LN2, NEW_KEY / 2, values=("a", "b"), sizes=(1, 2),
    neighbors="unbounded", true_delta=NEW_KEY, name="threshold with delta of another threshold",
    tail=2e-5,
    why="Delta was computed for keys above T, but keys at T appear, too: a factor of 2.",
)  # fmt: skip
@mechanism(
    LN2, values=("a", "b"), sizes=(1, 2),
    neighbors="unbounded", true_delta=NEW_KEY, name="threshold claims pure",
    tail=2e-5,
    why="A key that only one of two neighbors has can appear, so no pure epsilon holds.",
)  # fmt: skip
@mechanism(
    LN2, 1.01 * NEW_KEY, verdicts=LOOSE, values=("a", "b"), sizes=(1,),
    name="threshold by replacement", true_delta=NEW_KEY,
    tail=2e-5,
    why="Of one record: either key appears with a^(T - 1) / (1 + a), and no key equally often.",
)  # fmt: skip
def threshold_on_keys(data, rng):
    released = {}
    for key, count in sorted(Counter(data).items()):
        noisy = count + geometric_noise(rng, LN2)
        if noisy >= THRESHOLD:
            released[key] = noisy
    return released


@mechanism(
    LN2, 1e-3, values=("a",), sizes=(1, 2),
    neighbors="unbounded", true_delta=1.0,
    why="The threshold is compared with the exact count: a key is there on one neighbor only.",
)  # fmt: skip
def threshold_without_noise(data, rng):
    return {
        key: count + geometric_noise(rng, LN2)
        for key, count in sorted(Counter(data).items())
        if count >= 2
    }


@mechanism(
    LN2, values=("a", "b"), sizes=(1, 2),
    neighbors="unbounded", true_delta=1.0,
    tail=1e-3,
    why="A histogram over the keys that occur: whether a key is there needs no noise to see.",
)  # fmt: skip
def keys_from_the_data(data, rng):
    keys, counts = np.unique(data, return_counts=True)
    return {
        str(key): int(n) + geometric_noise(rng, LN2) for key, n in zip(keys, counts, strict=True)
    }


PROPOSED = 0.5**7 / 1.5
"""P(Z > 6) for a = 1/2."""


def majority(data):
    """The more frequent bit, and how many records can change before it does."""
    ones = sum(data)
    return int(2 * ones > len(data)), abs(2 * ones - len(data)) // 2


@mechanism(
    LN2, 1.01 * PROPOSED, verdicts=LOOSE, sizes=(3,), true_delta=PROPOSED,
    name="propose test release", tail=1e-6,
    why="At distance 0 the majority is released with P(Z > 6) (Dwork and Lei 2009), and only "
        "neighbors at distance 0 have two majorities.",
)  # fmt: skip
@mechanism(
    LN2, PROPOSED / 2, sizes=(3,), true_delta=PROPOSED,
    name="propose test release at the wrong side", tail=1e-6,
    why="As before, with a delta of P(Z > 7).",
)  # fmt: skip
def propose_test_release(data, rng):
    winner, distance = majority(data)
    if distance + geometric_noise(rng, LN2) > 6:
        return winner
    return None


@mechanism(
    LN2, 1e-3, sizes=(3,), true_delta=1.0,
    why="The distance is tested without noise, so that a refusal shows it.",
)  # fmt: skip
def propose_test_release_without_noise(data, rng):  # noqa: ARG001
    winner, distance = majority(data)
    return winner if distance > 0 else None


# Leaks.


@mechanism(
    LN2, true_delta=5 / 6,
    why="0 is returned early: all but 0 has 1 - P(Z = -1) = 5/6 from 1, and nothing from 0.",
)  # fmt: skip
def early_return(data, rng):
    count = sum(data)
    if count == 0:
        return 0
    return count + geometric_noise(rng, LN2)


@mechanism(
    LN2, sizes=(2,), true_delta=5 / 6,
    why="When all agree the exact count is returned: all but 0 has 5/6 from (0, 1), else nothing.",
)  # fmt: skip
def exact_when_all_agree(data, rng):
    if len(set(data)) == 1:
        return sum(data)
    return sum(data) + geometric_noise(rng, LN2)


@mechanism(
    LN2, 1e-3, true_delta=1.0,
    why="The mean of no ones is NaN, without noise, on one of two neighbors.",
)  # fmt: skip
def nan_on_one_neighbor(data, rng):
    ones = [bit for bit in data if bit]
    mean = sum(ones) / len(ones) if ones else math.nan
    return mean + geometric_noise(rng, LN2)


@mechanism(
    LN2, sizes=(2,), true_delta=1.0,
    tail=1e-3,
    why="The release has an entry per distinct record: its shape shows their number.",
)  # fmt: skip
def shape_from_the_data(data, rng):
    counts = np.unique(data, return_counts=True)[1]
    p = 1 - math.exp(-LN2)
    return counts + rng.geometric(p, size=len(counts)) - rng.geometric(p, size=len(counts))


@mechanism(
    LN2, 1e-3, true_delta=1.0,
    why="An exception is raised on one of two neighbors, and always.",
)  # fmt: skip
def exception_on_one_neighbor(data, rng):
    if not any(data):
        raise ValueError("no ones")
    return sum(data) + geometric_noise(rng, LN2)


@mechanism(
    LN2, sizes=(1, 2), neighbors="unbounded", true_delta=1.0,
    why="The number of records is released beside the noisy count, and neighbors differ in it.",
)  # fmt: skip
def size_beside_the_count(data, rng):
    return {"n": len(data), "ones": sum(data) + geometric_noise(rng, LN2)}


# Draws that are shared.


@mechanism(
    LN2, SLACK, verdicts=TIGHT, true_delta=0.0,
    why="One draw under two answers that move together: the second is the first plus a constant.",
)  # fmt: skip
def one_draw_together(data, rng):
    noise = geometric_noise(rng, LN2)
    return sum(data) + noise, 10 + sum(data) + noise


@mechanism(
    LN2, true_delta=1.0,
    why="One draw under two counts that move in opposite ways: their difference has no noise.",
)  # fmt: skip
def one_draw_apart(data, rng):
    return np.bincount(data, minlength=2) + geometric_noise(rng, LN2)


@mechanism(
    LN2, SLACK, verdicts=TIGHT, sizes=(1, 2), neighbors="unbounded", true_delta=0.0,
    why="The third is the sum of the two others, noise and all: postprocessing.", tail=1e-4,
)  # fmt: skip
def rank_deficient_total(data, rng):
    zeros, ones = (geometric_noise(rng, LN2) for _ in range(2))
    return len(data) - sum(data) + zeros, sum(data) + ones, len(data) + zeros + ones


@mechanism(
    LN2, true_delta=1.0, tail=1e-3,
    why="The third less the two others is twice the ones less the records, without noise.",
)  # fmt: skip
def rank_deficient_leak(data, rng):
    zeros, ones = (geometric_noise(rng, LN2) for _ in range(2))
    return len(data) - sum(data) + zeros, sum(data) + ones, 2 * sum(data) + zeros + ones


# Generators of their own, and state.

STATE = UNSURE | VIOLATED


@mechanism(
    LN2, verdicts=STATE, true_delta=1.0,
    why="A fixed seed is in the code, so the noise is known: no noise at all.",
)  # fmt: skip
def fixed_seed(data, rng):  # noqa: ARG001
    own = np.random.default_rng(0)
    return sum(data) + int(own.geometric(0.5)) - int(own.geometric(0.5))


@mechanism(
    LN2, verdicts=STATE, true_delta=1.0,
    why="The seed is a function of the data, so each release is one, too.",
)  # fmt: skip
def seed_from_the_data(data, rng):  # noqa: ARG001
    own = np.random.default_rng(1000 + sum(data))
    return sum(data) + int(own.geometric(0.5)) - int(own.geometric(0.5))


@mechanism(
    LN2, verdicts=STATE, by_oracle=False, true_delta=1.0,
    why="A copy of the generator draws the same noise again, and it cancels; the oracle's draws "
        "are forks of one path, which a copy would leave.",
)  # fmt: skip
def generator_copied(data, rng):
    zeros, ones = np.bincount(data, minlength=2)
    state = rng.bit_generator.state
    first = ones + geometric_noise(rng, LN2)
    rng.bit_generator.state = state
    return int(first), int(zeros + geometric_noise(rng, LN2))


@mechanism(
    LN2, verdicts=UNSURE, by_oracle=False,
    why="The law is right, but the draws are of a generator that nobody drives (DESIGN 12).",
)  # fmt: skip
def generator_of_its_own(data, rng):  # noqa: ARG001
    return sum(data) + geometric_noise(np.random.default_rng(), LN2)


class NoiseOnce:
    """Draws its noise at the first call, and uses it for all others."""

    def __init__(self) -> None:
        self.noise: Any = None

    def __call__(self, data, rng):
        if self.noise is None:
            self.noise = geometric_noise(rng, LN2)
        return sum(data) + self.noise


class FirstIsNoisy:
    """Adds noise to its first answer only."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, data, rng):
        self.calls += 1
        return sum(data) + (geometric_noise(rng, LN2) if self.calls == 1 else 0)


class CacheBySize:
    """Remembers its releases by the number of records."""

    def __init__(self) -> None:
        self.known: dict[int, Any] = {}

    def __call__(self, data, rng):
        if len(data) not in self.known:
            self.known[len(data)] = sum(data) + geometric_noise(rng, LN2)
        return self.known[len(data)]


class CacheByData:
    """Remembers its releases by the records."""

    def __init__(self) -> None:
        self.known: dict[tuple[Any, ...], Any] = {}

    def __call__(self, data, rng):
        key = tuple(sorted(data))
        if key not in self.known:
            self.known[key] = sum(data) + geometric_noise(rng, LN2)
        return self.known[key]


STATEFUL = "the oracle runs a function many times, and so would see other states."
mechanism(
    LN2, verdicts=STATE, by_oracle=False, name="noise drawn once", true_delta=1.0,
    why=f"From the second answer on the differences have no noise; {STATEFUL}",
)(NoiseOnce())  # fmt: skip
mechanism(
    LN2, verdicts=STATE, by_oracle=False, name="first answer noisy", true_delta=1.0,
    why=f"From the second answer on there is no noise; {STATEFUL}",
)(FirstIsNoisy())  # fmt: skip
mechanism(
    LN2, verdicts=UNSURE, by_oracle=False, name="cache by size",
    why=f"Each first answer is right, and others repeat it: no function of the data; {STATEFUL}",
)(CacheBySize())  # fmt: skip
mechanism(
    LN2, verdicts=UNSURE, by_oracle=False, name="cache by data",
    why=f"Each first answer is right, and others repeat it: state, if harmless; {STATEFUL}",
)(CacheByData())  # fmt: skip


# Continuous noise, of which the oracle knows nothing: closed forms only.

continuous = functools.partial(mechanism, by_oracle=False)


@continuous(
    1.0, verdicts=TIGHT, sizes=(1, 2), true_delta=laplace_curve(1.0),
    why="Laplace noise of scale 1 / epsilon on a count (Dwork et al. 2006).",
)  # fmt: skip
@continuous(
    0.5, 1.01 * laplace_curve(1.0)(0.5), verdicts=LOOSE, sizes=(1, 2),
    true_delta=laplace_curve(1.0), name="Laplace with delta",
    why="The claimed delta is 1 % above 1 - e^((epsilon - 1) / 2).",
)  # fmt: skip
@continuous(
    0.5, 0.99 * laplace_curve(1.0)(0.5), sizes=(1, 2),
    true_delta=laplace_curve(1.0), name="Laplace with too small a delta",
    why="The claimed delta is 1 % below 1 - e^((epsilon - 1) / 2).",
)  # fmt: skip
def laplace_count(data, rng):
    return sum(data) + rng.laplace(0.0, 1.0)


@continuous(
    1.0, true_delta=laplace_curve(2.0),
    why="Half the scale, so that epsilon is 2: delta = 1 - e^(-1/2).",
)  # fmt: skip
def laplace_half_scale(data, rng):
    return sum(data) + rng.laplace(scale=0.5)


@continuous(
    1.0, verdicts=VIOLATED,
    true_delta=(math.exp(-2) + math.exp(-3)) / 2,
    why="Noise clipped to [-3, 3]: P(Z <= -2) where the other has none, and the atom at 3.",
)  # fmt: skip
def laplace_noise_clipped(data, rng):
    return sum(data) + float(np.clip(rng.laplace(0.0, 1.0), -3, 3))


@continuous(
    1.0, verdicts=VIOLATED | UNSURE,
    why="Noise clipped at 10^6 scales: wrong by about e^-10^6, which no float holds.",
)  # fmt: skip
def laplace_noise_clipped_far(data, rng):
    return sum(data) + max(-1e6, min(1e6, rng.laplace(0.0, 1.0)))


def redrawn_laplace_delta(epsilon: float) -> float:
    """From 0 and 1 into [0, 4], scale 1: the densities part at 1 and cross below it, if at all."""
    norm_0, norm_1 = 1 - math.exp(-4), 2 - math.exp(-1) - math.exp(-3)
    # Where x < 1: e^-x / norm_0 against e^epsilon e^(x - 1) / norm_1.
    cross = min(1.0, max(0.0, (1 - epsilon + math.log(norm_1 / norm_0)) / 2))
    own = (1 - math.exp(-cross)) / norm_0
    return own - math.exp(epsilon) * (math.exp(cross - 1) - math.exp(-1)) / norm_1


@continuous(
    1.0, verdicts=VIOLATED | UNSURE, sizes=(4,), true_delta=redrawn_laplace_delta,
    why="Redrawn into [0, 4]: epsilon is 1 + log((2 - e^-1 - e^-3) / (1 - e^-4)) = 1.477.",
)  # fmt: skip
@continuous(
    2.0, verdicts=UNSURE, sizes=(4,), true_delta=redrawn_laplace_delta,
    name="Laplace redrawn claims twice epsilon",
    why="Redrawn into [0, 4]: epsilon is 1.477, but noise that is compared is only probed.",
)  # fmt: skip
def laplace_redrawn_into_the_range(data, rng):
    while True:
        noisy = sum(data) + rng.laplace(0.0, 1.0)
        if 0 <= noisy <= 4:
            return noisy


@continuous(
    1.0, verdicts=TIGHT, sizes=(2,), true_delta=0.0,
    why="The released value is clipped to a public range: postprocessing, met at 0.",
)  # fmt: skip
def laplace_release_clipped(data, rng):
    return np.clip(sum(data) + rng.laplace(0.0, 1.0), 0, 4)


@continuous(
    1.0, verdicts=TIGHT | UNSURE, sizes=(2,), true_delta=0.0,
    why="The released value is rounded: postprocessing; rounding leaves the algebra of DESIGN 12.",
)  # fmt: skip
def laplace_release_rounded(data, rng):
    return round(sum(data) + rng.laplace(0.0, 1.0))


@continuous(
    1.0, verdicts=VIOLATED | UNSURE, values=(0, 1, 2),
    true_delta=1.0,
    why="The scale is the largest record, and 0 gets no noise: an atom on one neighbor only.",
)  # fmt: skip
def laplace_scale_of_the_largest(data, rng):
    if max(data) == 0:
        return 0.0
    return sum(data) + rng.laplace(0.0, max(data))


@continuous(
    1.0, sizes=(2,), true_delta=1.0,
    why="When all agree the exact count is returned, which is an atom on one neighbor only.",
)  # fmt: skip
def laplace_exact_when_all_agree(data, rng):
    if min(data) == max(data):
        return float(sum(data))
    return sum(data) + rng.laplace(0.0, 1.0)


@continuous(
    1.0, verdicts=VIOLATED | UNSURE, true_delta=1 - math.exp(-1),
    why="Exponential noise has one side: P(Z < 1) where the other has none.",
)  # fmt: skip
def exponential_noise(data, rng):
    return sum(data) + rng.exponential(1.0)


@continuous(
    1.0, verdicts=TIGHT, true_delta=0.0,
    why="One draw under two answers that move together: the second is the first plus a constant.",
)  # fmt: skip
def laplace_one_draw_together(data, rng):
    noise = rng.laplace(0.0, 1.0)
    return np.array([sum(data), 10 + sum(data)]) + noise


@continuous(
    1.0, true_delta=1.0,
    why="One draw under two counts that move in opposite ways: their difference has no noise.",
)  # fmt: skip
def laplace_one_draw_apart(data, rng):
    return np.bincount(data, minlength=2) + rng.laplace(0.0, 1.0)


@continuous(
    1.0, verdicts=TIGHT, sizes=(1, 2), neighbors="unbounded", true_delta=0.0,
    why="Two leaves and their sum: a record is in two nodes, each with scale 2 / epsilon.",
)  # fmt: skip
def tree_sums(data, rng):
    leaves = np.bincount(data, minlength=2)
    return np.append(leaves, leaves.sum()) + rng.laplace(0.0, 2.0, size=3)


@continuous(
    1.0, sizes=(1, 2), neighbors="unbounded",
    why="Each of the two nodes of a record spends all of epsilon: epsilon is 2.",
)  # fmt: skip
def tree_sums_with_all_of_epsilon(data, rng):
    leaves = np.bincount(data, minlength=2)
    return np.append(leaves, leaves.sum()) + rng.laplace(0.0, 1.0, size=3)


@continuous(
    1.0, sizes=(1, 2), neighbors="unbounded", true_delta=1.0,
    why="The root reuses the noise of the leaves, with a sign: root - left + right has none left.",
)  # fmt: skip
def tree_sums_rank_deficient_leak(data, rng):
    leaves, noise = np.bincount(data, minlength=2), rng.laplace(0.0, 2.0, size=2)
    return np.append(leaves + noise, leaves.sum() + noise[0] - noise[1])


@continuous(
    1.0, verdicts=TIGHT, sizes=(1, 2), neighbors="unbounded", true_delta=0.0,
    why="A record moves the sum by 1 at most and the count by 1, with epsilon / 2 each.",
)  # fmt: skip
def sum_and_count(data, rng):
    return sum(data) + rng.laplace(0.0, 2.0), len(data) + rng.laplace(0.0, 2.0)


@continuous(
    1.0, sizes=(1, 2), neighbors="unbounded",
    why="Both the sum and the count spend all of epsilon: epsilon is 2.",
)  # fmt: skip
def sum_and_count_with_all_of_epsilon(data, rng):
    return sum(data) + rng.laplace(0.0, 1.0), len(data) + rng.laplace(0.0, 1.0)


@continuous(
    1.0, verdicts=UNSURE, sizes=(1, 2), neighbors="unbounded",
    why="The ratio alone is postprocessing of both, but a quotient of draws is not affine.",
)  # fmt: skip
def sum_over_count(data, rng):
    return (sum(data) + rng.laplace(0.0, 2.0)) / (len(data) + rng.laplace(0.0, 2.0))


@continuous(
    math.log((1 + math.e) / 2), verdicts=TIGHT, sizes=(1, 2), neighbors="unbounded",
    why="Amplified by a sample with q = 1/2: log(1 + q (e - 1)), which is attained.",
)  # fmt: skip
def laplace_of_a_sample(data, rng):
    kept = rng.random(size=len(data)) < 0.5
    return int(kept.sum()) + rng.laplace(0.0, 1.0)


CLASSICAL = math.sqrt(2 * math.log(1.25 / 1e-5))
"""The classical scale for (1, 1e-5), Dwork and Roth (2014), theorem A.1."""


@continuous(
    1.0, 1e-5, verdicts=LOOSE, true_delta=gaussian_curve(CLASSICAL),
    why="The classical scale, which is larger than needed: Balle and Wang (2018).",
)  # fmt: skip
@continuous(
    1.0, true_delta=gaussian_curve(CLASSICAL),
    name="Gaussian claims pure", why="Gaussian noise has no pure epsilon.",
)  # fmt: skip
def gaussian_count(data, rng):
    return sum(data) + rng.normal(0.0, CLASSICAL)


@continuous(
    1.0, 1e-5, true_delta=gaussian_curve(CLASSICAL / 2),
    why="Half the classical scale: Balle and Wang (2018), theorem 8.",
)  # fmt: skip
def gaussian_half_scale(data, rng):
    return sum(data) + CLASSICAL / 2 * rng.standard_normal()


@continuous(
    1.0, 1e-5, verdicts=VIOLATED | UNSURE,
    why="Clipped at 3 scales: the atom P(Z <= -3) = 0.00135 is where the other has no atom.",
)  # fmt: skip
def gaussian_noise_clipped(data, rng):
    return sum(data) + np.clip(rng.normal(0.0, CLASSICAL), -3 * CLASSICAL, 3 * CLASSICAL)


@continuous(
    1.0, 1e-5, verdicts=UNSURE,
    why="Clipped at 10^6 scales: right within delta, but noise that is clipped is only probed.",
)  # fmt: skip
def gaussian_noise_clipped_far(data, rng):
    return sum(data) + np.clip(rng.normal(0.0, CLASSICAL), -1e6 * CLASSICAL, 1e6 * CLASSICAL)


@continuous(
    1.0, 1e-5, verdicts=VIOLATED | UNSURE,
    why="Redrawn until within 2 scales: beyond 2 - 1 / scale the other has nothing, 1 % and more.",
)  # fmt: skip
def gaussian_noise_redrawn(data, rng):
    while abs(noise := rng.normal(0.0, CLASSICAL)) > 2 * CLASSICAL:
        pass
    return sum(data) + noise


def descend(data, noises, clip):
    """Two steps on the squares of w - x, each gradient at most 1 in size; both are released."""
    w, released = 0.5, []
    for noise in noises:
        gradients = [np.clip(w - x, -1, 1) if clip else w - x for x in data]
        w = w - 0.1 * (sum(gradients) + noise)
        released.append(w)
    return released


STEPS = 5.0
"""The noise of a step. Replacing a record moves a sum by 1: rho = 2 / (2 * 25) for two steps."""
STEPS_EPSILON = 1 / 25 + 2 * math.sqrt(1 / 25 * math.log(1e5))
"""rho + 2 sqrt(rho log(1 / delta)): Bun and Steinke (2016), proposition 1.3, at 1e-5."""


@continuous(
    STEPS_EPSILON, 1e-5, verdicts=LOOSE, sizes=(2,),
    true_delta=gaussian_curve(STEPS / math.sqrt(2)),
    why="Two adaptive steps move by (1, 1) given their past: a shift of sqrt(2) / 5 scales.",
)  # fmt: skip
def two_steps_of_descent(data, rng):
    return descend(data, (rng.normal(0.0, STEPS) for _ in range(2)), clip=False)


@continuous(
    STEPS_EPSILON, 1e-5, verdicts=LOOSE | UNSURE, sizes=(2,),
    why="Clipped gradients: replayed, each step moves by 1 at most; alone, clipping is not affine.",
)  # fmt: skip
def two_steps_of_clipped_descent(data, rng):
    return descend(data, (rng.normal(0.0, STEPS) for _ in range(2)), clip=True)


@continuous(
    STEPS_EPSILON, 1e-5, verdicts=LOOSE, sizes=(2,), true_delta=gaussian_curve(STEPS),
    why="The second step uses the noise of the first: w2 = 1.8 w1 - 0.4, so that it adds nothing.",
)  # fmt: skip
def two_steps_with_one_noise(data, rng):
    return descend(data, [rng.normal(0.0, STEPS)] * 2, clip=False)


@continuous(
    STEPS_EPSILON, 1e-5, sizes=(2,), true_delta=1.0,
    why="The second step has the noise of the first, negated: w2 + 0.2 w1 = 0.4 + 0.2 sum(x).",
)  # fmt: skip
def two_steps_with_opposite_noise(data, rng):
    noise = rng.normal(0.0, STEPS)
    return descend(data, (noise, -noise), clip=False)


def count_then_sum(data, rng, share):
    """A noisy count is the bound of the records and the scale of their noisy sum."""
    count = len(data) + rng.laplace(0.0, 2.0)
    bound = max(1.0, float(count))
    return float(count), sum(min(x, bound) for x in data) + rng.laplace(0.0, bound / share)


@continuous(
    1.0, verdicts=UNSURE, values=(0, 9), sizes=(1, 2), neighbors="unbounded",
    why="Half of epsilon on the count, and half on a sum that moves by the released bound at most.",
)  # fmt: skip
def adaptive_bound(data, rng):
    return count_then_sum(data, rng, 0.5)


@continuous(
    1.0, values=(0, 9), sizes=(1, 2), neighbors="unbounded", verdicts=VIOLATED | UNSURE,
    why="The sum spends all of epsilon after the count has spent half: after any count, 1.5.",
)  # fmt: skip
def adaptive_bound_with_all_of_epsilon(data, rng):
    return count_then_sum(data, rng, 1.0)


@continuous(
    1.0, values=(0, 9), sizes=(1, 2), neighbors="unbounded",
    why="Above a released count of 3 the noise of the sum is for a bound of 1, but the bound is 9.",
)  # fmt: skip
def adaptive_bound_without_its_scale(data, rng):
    count = len(data) + rng.laplace(0.0, 2.0)
    bound = 9.0 if count > 3 else 1.0
    return count, sum(min(x, bound) for x in data) + rng.laplace(0.0, 2.0)


@continuous(
    1.0, values=(0, 9), sizes=(1, 2), neighbors="unbounded", verdicts=VIOLATED | UNSURE,
    why="Where the released count is large, a sum without noise seems safe: epsilon is infinite. "
    "No test has so many runs that it sees this.",
)  # fmt: skip
def adaptive_exact_sum(data, rng):
    count = len(data) + rng.laplace(0.0, 1.0)
    return count, sum(data) if count > 100 else 0


@continuous(
    1.0, verdicts=UNSURE, values=(0, 9), sizes=(1, 2), neighbors="unbounded",
    why="The bound is a noisy count that is not released: composition, but no history tells it.",
)  # fmt: skip
def adaptive_bound_not_released(data, rng):
    return count_then_sum(data, rng, 0.5)[1]


def clipped_to_one(record, dtype):
    vector = np.array(record, dtype=dtype)
    return (vector * min(dtype(1), dtype(1) / np.abs(vector).sum())).astype(float)


@continuous(
    1.0, values=((1, 0), (11, 6)), sizes=(1, 2),
    neighbors="unbounded",
    why="Clipped to L1 norm 1 in float16, (11, 6) has norm 1.00048828125: epsilon is that.",
)  # fmt: skip
def clipped_in_float16(data, rng):
    total = sum(clipped_to_one(record, np.float16) for record in data)
    return total + rng.laplace(0.0, 1.0, size=2)


@continuous(
    1.0, verdicts=LOOSE, values=((2, 3),), sizes=(1, 2),
    neighbors="unbounded",
    why="Clipped in float16, (2, 3) has norm 0.99951171875: so that the claim is loose here.",
)  # fmt: skip
def clipped_in_float16_below(data, rng):
    total = sum(clipped_to_one(record, np.float16) for record in data)
    return total + rng.laplace(0.0, 1.0, size=2)
