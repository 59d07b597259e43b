"""Mechanisms as practitioners write them: half of them right, half wrong in a way often seen.

The truth of each is derived by hand in its `why`: the smallest pure epsilon ("epsilon: ..."), or
the smallest delta at the claimed epsilon ("delta: ..."). Among the verdicts of those that no law
is found for are those without a decision; all others are decided.
"""

from __future__ import annotations

import functools
import math
import random
from collections import Counter
from typing import Any

import numpy as np
from mechanisms import (
    LN2,
    LN3,
    LOOSE,
    SLACK,
    TIGHT,
    UNSURE,
    VIOLATED,
    Mechanism,
    gaussian_curve,
    geometric_noise,
    laplace_curve,
    mechanism,
    response_curve,
    truth_probability,
)
from scipy import optimize, stats

PRACTITIONERS: list[Mechanism] = []

claim = functools.partial(mechanism, corpus=PRACTITIONERS, by_oracle=False)
tight = functools.partial(claim, verdicts=TIGHT)
loose = functools.partial(claim, verdicts=LOOSE)
wrong = functools.partial(claim, verdicts=VIOLATED)
ADDED = {"neighbors": "unbounded", "sizes": (0, 1, 2)}


# Counts.


@tight(1.0, values=(30, 70), **ADDED, true_delta=0.0, why="epsilon: 1, a record counts once.")
def count_of_seniors(data, rng):
    return len([age for age in data if age > 65]) + rng.laplace(scale=1 / 1.0)


@wrong(
    0.5, values=(30, 70), **ADDED, true_delta=laplace_curve(2.0),
    why="epsilon: 2, for the scale is epsilon = 1/2, and not 1 / epsilon.",
)  # fmt: skip
def count_with_epsilon_as_scale(data, rng):
    epsilon = 0.5
    return sum(age > 65 for age in data) + rng.laplace(0, epsilon)


@wrong(
    LN2, values=(0, 3), sizes=(1,), true_delta=0.5,
    why="epsilon: 3 log(2), for a user has up to three visits, and the noise is for one. delta: "
        "P(k) - 2 P(k - 3) is 3/4 P(k) for k <= 0, which have 2/3, and 0 at 1: 1/2.",
)  # fmt: skip
def visits_with_noise_of_users(data, rng):
    return int(np.sum(data)) + geometric_noise(rng, LN2)


@wrong(
    1.0, **ADDED, true_delta=1.0,
    why="delta: 1, for the exact count decides whether a small count is suppressed.",
)  # fmt: skip
def small_counts_suppressed(data, rng):
    if len(data) < 2:
        return "< 2"
    return len(data) + rng.laplace(0, 1)


@tight(
    LN2, SLACK, **ADDED, true_delta=0.0,
    why="epsilon: log(2), for noise of a count; what is below 0 is shown as 0 afterwards.",
)  # fmt: skip
def count_clamped_at_zero(data, rng):
    return max(0, len(data) + geometric_noise(rng, LN2))


@wrong(
    LN2, **ADDED, true_delta=5 / 6,
    why="delta: 5/6, for no record gives 0 for sure, one gives it with P(Z = -1) = 1/6.",
)  # fmt: skip
def noise_on_filled_bins(data, rng):
    counts = [data.count(0), data.count(1)]
    return [count + geometric_noise(rng, LN2) if count > 0 else 0 for count in counts]


# Sums and means.


@tight(
    1.0, values=(20, 150), **ADDED, true_delta=0.0,
    why="epsilon: 1, for an age is clipped to 100, and the scale is 100 / epsilon.",
)  # fmt: skip
def clipped_sum(data, rng):
    return np.clip(data, 0, 100).sum() + rng.laplace(0, 100 / 1.0)


@wrong(
    1.0, values=(-2, 2), sizes=(1, 2), true_delta=laplace_curve(2.0),
    why="epsilon: 2, for a replaced record moves the sum from -1 to 1, and the noise is for 1.",
)  # fmt: skip
def clipped_sum_with_unbounded_sensitivity(data, rng):
    clipped = [min(max(x, -1), 1) for x in data]
    return sum(clipped) + rng.laplace(0, 1 / 1.0)


@wrong(
    1.0, values=(5, 9), sizes=(1, 2), neighbors="unbounded", true_delta=laplace_curve(9 / 4),
    why="epsilon: 9/4, for an added record moves the sum by 9; the noise is for max - min = 4.",
)  # fmt: skip
def sum_with_bounded_sensitivity(data, rng):
    return sum(data) + rng.laplace(0, (9 - 5) / 1.0)


@tight(
    1.0, values=(0, 3), sizes=(4,), true_delta=0.0,
    why="epsilon: 1, for records in [0, 1] move a mean of 4 by 1/4, and the scale is 1/4.",
)  # fmt: skip
def clipped_mean(data, rng):
    clipped = np.clip(data, 0, 1)
    return clipped.mean() + rng.laplace(0, 1 / (len(data) * 1.0))


@wrong(
    1.0, sizes=(3,), true_delta=laplace_curve(3 / 2),
    why="epsilon: 3/2, for the sum is divided by n - 1 = 2, and the scale is 1 / (n epsilon).",
)  # fmt: skip
def mean_over_n_less_one(data, rng):
    n = len(data)
    return sum(data) / (n - 1) + rng.laplace(0, 1 / n)


@wrong(
    1.0, sizes=(1, 2), neighbors="unbounded",
    why="epsilon: infinite, for the scale is 1 / n, and tails with scales 1 and 1/2 part.",
)  # fmt: skip
def mean_with_scale_of_private_n(data, rng):
    return np.mean(data) + rng.laplace(0, 1 / len(data))


@claim(
    1.0, sizes=(1, 2), neighbors="unbounded", verdicts=LOOSE | UNSURE,
    why="epsilon: at most 1, for sum and count have 1/2 each. A quotient of noises has no law.",
)  # fmt: skip
def mean_with_private_n(data, rng):
    total = np.clip(data, 0, 1).sum() + rng.laplace(0, 1 / 0.5)
    return total / max(1, len(data) + rng.laplace(0, 1 / 0.5))


@wrong(
    1.0, values=(1, 10), sizes=(2,),
    why="epsilon: infinite, for the scale is the largest record: tails of 1 and 10 part.",
)  # fmt: skip
def sum_clipped_to_the_maximum(data, rng):
    bound = max(data)
    return np.clip(data, 0, bound).sum() + rng.laplace(0, bound / 1.0)


@wrong(
    1.0, values=(0, 8), sizes=(3,),
    why="epsilon: infinite, for the scale is 1 more than a quantile: 1 at (0, 0, 0), 5 at "
        "(0, 0, 8).",
)  # fmt: skip
def sum_clipped_to_a_quantile(data, rng):
    bound = 1 + float(np.quantile(data, 0.75))
    return sum(min(x, bound) for x in data) + rng.laplace(0, bound)


@claim(
    1.0, values=(1, 4), sizes=(1,), neighbors="bounded", verdicts=LOOSE,
    why="epsilon: 5/8: the bound 4 has 1 : e^(1/4) against e^(1/4) : 1, that is 1/4, and the sum "
        "moves by 3 with scale 8; at the bound 1 it does not move.",
)  # fmt: skip
def bound_by_exponential_mechanism(data, rng):
    bounds = np.array([1, 4])
    scores = np.array([sum(x <= b for x in data) for b in bounds])
    scores = scores - np.array([0, 1]) * sum(x <= 1 for x in data)
    weights = np.exp(0.5 * scores / 2)
    bound = int(bounds[rng.choice(2, p=weights / weights.sum())])
    return bound, sum(min(x, bound) for x in data) + rng.laplace(0, 2 * bound)


# Histograms and trees.


@tight(
    1.0, values=(3, 14, 25), sizes=(1, 2), true_delta=0.0,
    why="epsilon: 1, for a replaced record leaves a bin and enters one: 2, with scale 2.",
)  # fmt: skip
def histogram(data, rng):
    counts, _ = np.histogram(data, bins=[0, 10, 20, 30])
    return counts + rng.laplace(0, 2 / 1.0, size=3)


@wrong(
    1.0, values=(3, 14, 25), sizes=(1, 2),
    why="epsilon: 2, for a replaced record moves two bins, and each has scale 1. delta: two "
        "losses of Laplace noise with 1 each.",
)  # fmt: skip
def histogram_with_unbounded_sensitivity(data, rng):
    counts, _ = np.histogram(data, bins=[0, 10, 20, 30])
    return counts + rng.laplace(0, 1 / 1.0, size=len(counts))


@wrong(
    1.0, values=(0, 2), sizes=(1,), true_delta=1.0,
    why="delta: 1, for the largest record decides how many bins are released.",
)  # fmt: skip
def histogram_up_to_the_maximum(data, rng):
    counts = np.bincount(data)
    return counts + rng.laplace(0, 2, size=len(counts))


@tight(
    LN2, SLACK, values=("red", "blue"), sizes=(0, 1), neighbors="unbounded", true_delta=0.0,
    why="epsilon: log(2), for the domain is public, and an added record is in one bin.",
)  # fmt: skip
def histogram_over_a_public_domain(data, rng):
    counts = Counter(data)
    return {color: counts[color] + geometric_noise(rng, LN2) for color in ("red", "blue")}


@tight(
    1.0, values=(0, 3), sizes=(0, 1, 2), neighbors="unbounded", true_delta=0.0,
    why="epsilon: 1, for a record is in one node of each of three levels, with scale 3.",
)  # fmt: skip
def tree_of_counts(data, rng):
    leaves = np.bincount(data, minlength=4) if data else np.zeros(4, dtype=int)
    levels = [leaves, leaves.reshape(2, 2).sum(axis=1), leaves.sum(keepdims=True)]
    return [list(level + rng.laplace(0, 3 / 1.0, size=level.size)) for level in levels]


@wrong(
    1.0, values=(0, 3), sizes=(0, 1, 2), neighbors="unbounded",
    why="epsilon: 3/2, for log2(4) = 2 levels are paid for, and the root is a third.",
)  # fmt: skip
def tree_of_counts_without_its_root(data, rng):
    leaves = np.bincount(data, minlength=4) if data else np.zeros(4, dtype=int)
    levels = [leaves, leaves.reshape(2, 2).sum(axis=1), leaves.sum(keepdims=True)]
    return [list(level + rng.laplace(0, math.log2(4), size=level.size)) for level in levels]


KEY_THRESHOLD = 1 + math.log(1 / (2 * 0.01))
"""1 + log(1 / (2 delta)) / epsilon for (1, 0.01): P(1 + L >= T) = e^-(T - 1) / 2 = 0.01."""


def stable_histogram(data, rng, threshold):
    released = {}
    for key, count in Counter(sorted(data)).items():
        noisy = count + rng.laplace(0, 1 / 1.0)
        if noisy >= threshold:
            released[key] = noisy
    return released


@claim(
    1.0, 0.0101, values=("a",), sizes=(0, 1, 2), neighbors="unbounded", verdicts=LOOSE | UNSURE,
    why="delta: 0.01, the probability that the key of one person appears.",
)  # fmt: skip
def histogram_with_threshold(data, rng):
    return stable_histogram(data, rng, KEY_THRESHOLD)


@wrong(
    1.0, 0.0101, values=("a",), sizes=(0, 1, 2), neighbors="unbounded",
    why="delta: 0.01 e, for the threshold is log(1 / (2 delta)) without the person.",
)  # fmt: skip
def histogram_with_threshold_too_low(data, rng):
    return stable_histogram(data, rng, KEY_THRESHOLD - 1)


# Choices.


@loose(
    1.0, values=("a", "b", "c"), sizes=(2,), true_delta=0.0,
    why="epsilon: less than 1 = 2 * 1/2, for a place between two others takes back a part.",
)  # fmt: skip
def noisy_max_by_laplace(data, rng):
    counts = np.array([data.count(key) for key in "abc"])
    return "abc"[np.argmax(counts + rng.laplace(0, 2 / 1.0, size=3))]


@wrong(
    1.0, sizes=(2,), true_delta=0.5 - math.exp(-1),
    why="epsilon: log(e^2 / 2) = 1.307 at least, for the difference of two Laplace noises exceeds "
        "d with e^-d (1/2 + d/4): 1/2 at (1, 1), e^-2 at (0, 2). delta: 1/2 - e e^-2.",
)  # fmt: skip
def pate_with_scale_of_one(data, rng):
    votes = np.bincount(data, minlength=2)
    return int(np.argmax(votes + rng.laplace(0, 1 / 1.0, 2)))


@loose(
    1.0, values=(0, 1), sizes=(3,), true_delta=0.0,
    why="epsilon: below 1 = 2 * 1/2: P(d) = e^(-d/2) (1/2 + d/8), at 1 and 3: e 5/7, that is 0.66.",
)  # fmt: skip
def pate(data, rng):
    votes = [sum(vote == label for vote in data) for label in range(2)]
    noisy = [vote + rng.laplace(0.0, 2.0) for vote in votes]
    return max(range(2), key=lambda label: noisy[label])


@tight(
    1.0, sizes=(2,), true_delta=0.0,
    why="epsilon: 1, for P(E1 - E2 > d) = e^(-d/2) / 2: 1/2 at (1, 1), e^-1 / 2 at (0, 2).",
)  # fmt: skip
def noisy_max_by_exponential_noise(data, rng):
    zeros, ones = len(data) - sum(data), sum(data)
    return bool(ones + rng.exponential(2 / 1.0) > zeros + rng.exponential(2 / 1.0))


@wrong(
    1.0, sizes=(2,), true_delta=0.5 - math.exp(-1) / 2,
    why="epsilon: 2, for P(E1 - E2 > d) = e^-d / 2: 1/2 at (1, 1), e^-2 / 2 at (0, 2).",
)  # fmt: skip
def noisy_max_by_exponential_noise_of_one(data, rng):
    counts = np.bincount(data, minlength=2)
    return int(np.argmax(counts + rng.exponential(1.0, size=2)))


@tight(
    1.0, sizes=(2,), true_delta=0.0,
    why="epsilon: 1, for the margin moves by 2 with scale 2: P(L > 0) = 1/2, P(L > 2) = e^-1 / 2.",
)  # fmt: skip
def majority_by_a_noisy_margin(data, rng):
    margin = sum(data) - (len(data) - sum(data))
    return margin + rng.laplace(0, 2 / 1.0) > 0


@wrong(
    1.0, sizes=(2,), true_delta=0.5 - math.exp(-1) / 2,
    why="epsilon: 2, for the margin moves by 2, and only the challenger has noise, of scale 1.",
)  # fmt: skip
def noise_on_the_challenger(data, rng):
    incumbent, challenger = data.count(0), data.count(1)
    return "challenger" if challenger + rng.laplace(0, 1 / 1.0) > incumbent else "incumbent"


@wrong(
    1.0, values=(10, 70), sizes=(0, 1), neighbors="unbounded",
    why="epsilon: 3/2, for one record moves all three counts: far below, each of the winner's "
        "density and the two others' distributions moves by e^(1/2), the value being released.",
)  # fmt: skip
def noisy_max_of_nested_counts_with_value(data, rng):
    counts = [sum(age > at for age in data) for at in (20, 40, 60)]
    noisy = [count + rng.laplace(0, 2 / 1.0) for count in counts]
    best = int(np.argmax(noisy))
    return best, noisy[best]


def median_scores(data):
    return np.array([-abs(sum(x < c for x in data) - sum(x > c for x in data)) for c in range(4)])


@loose(
    1.0, values=(0, 1, 3), sizes=(2,), true_delta=0.0,
    why="epsilon: below 1, for |below - above| moves by 2 at most, with weights e^(score / 4), and "
        "the sum of the weights never moves by all of e^(1/2).",
)  # fmt: skip
def median_by_exponential_mechanism(data, rng):
    weights = np.exp(1.0 * median_scores(data) / (2 * 2))
    return int(rng.choice(4, p=weights / weights.sum()))


@wrong(
    1.0, values=(0, 3), sizes=(1,),
    true_delta=(1 - math.exp(-1)) / (1 + 3 * math.exp(-2)),
    why="epsilon: 2, for scores (0, -1, -1, -1) become (-1, -1, -1, 0), with weights e^(2 score): "
        "1 against e^-2. delta: (1 - e e^-2) / (1 + 3 e^-2).",
)  # fmt: skip
def median_by_softmax_of_scores(data, rng):
    scores = 2 * 1.0 * median_scores(data)
    weights = np.exp(scores - scores.max())
    return rng.choice([0, 1, 2, 3], p=weights / weights.sum())


@loose(
    1.0, sizes=(2,), true_delta=0.0,
    why="epsilon: log((1 + e) / 2) = 0.62, for P(0) is 1/2 at (1, 1), 1 / (1 + e) at (0, 2).",
)  # fmt: skip
def exponential_mechanism_by_gumbel(data, rng):
    scores = np.bincount(data, minlength=2) * 1.0 / 2
    return int(np.argmax(scores + rng.gumbel(size=2)))


@wrong(
    1.0, sizes=(2,), true_delta=0.5 - math.e / (1 + math.e**2),
    why="epsilon: log((1 + e^2) / 2) = 1.43, without the half: 1/2 against 1 / (1 + e^2).",
)  # fmt: skip
def exponential_mechanism_by_gumbel_without_the_half(data, rng):
    scores = 1.0 * np.bincount(data, minlength=2)
    return int(np.argmax(scores + rng.gumbel(0.0, 1.0, size=2)))


def binary_search(data, rng, scale):
    low, high = 0, 4
    while high - low > 1:
        middle = (low + high) // 2
        below = sum(x < middle for x in data) + rng.laplace(0, scale)
        low, high = (low, middle) if below > len(data) / 2 else (middle, high)
    return low


@tight(
    1.0, values=(0, 3), sizes=(3,), true_delta=0.0,
    why="epsilon: 1, for two steps have 1/2 each; 0 of (3, 3, 3) and of (0, 3, 3) has e^(1/2) "
        "twice, as 0 and 1 are below 3/2.",
)  # fmt: skip
def median_by_binary_search(data, rng):
    return binary_search(data, rng, 2 / 1.0)


@wrong(
    1.0, values=(0, 3), sizes=(3,),
    why="epsilon: 2, for each of two steps spends 1; 0 of (3, 3, 3) and of (0, 3, 3).",
)  # fmt: skip
def median_by_binary_search_with_all_of_epsilon(data, rng):
    return binary_search(data, rng, 1 / 1.0)


# Sparse vector (Lyu, Su and Li 2017), with Laplace noise.


def bits(data):
    """Queries that a replaced record moves in opposite ways."""
    return [data.count(0), data.count(1)]


@loose(
    1.0, sizes=(1,), true_delta=0.0,
    why="epsilon: below 1/2 + 2/4 = 1, the bound of algorithm 1, which two queries do not meet.",
)  # fmt: skip
def above_threshold(data, rng):
    threshold = 1 + rng.laplace(0, 2 / 1.0)
    for index, answer in enumerate(bits(data)):
        if answer + rng.laplace(0, 4 / 1.0) >= threshold:
            return index
    return None


@loose(
    1.0, sizes=(0, 1), neighbors="unbounded", true_delta=0.0,
    why="epsilon: at most 1, for counts that move one way need no factor 2 (theorem 5).",
)  # fmt: skip
def above_threshold_of_monotone_counts(data, rng):
    threshold = 2 + rng.laplace(0, 2 / 1.0)
    for index, answer in enumerate([len(data), sum(data)]):
        if answer + rng.laplace(0, 2 / 1.0) >= threshold:
            return index
    return -1


@wrong(
    1.0, sizes=(1,),
    why="epsilon: infinite, for answers have no noise (algorithm 5): above, then not, needs "
        "a threshold between 1 and 0, which is so for one of two neighbors only.",
)  # fmt: skip
def above_threshold_without_noise_on_answers(data, rng):
    threshold = 1 + rng.laplace(0, 2 / 1.0)
    return [bool(answer >= threshold) for answer in bits(data)]


@wrong(
    1.0, sizes=(1,),
    why="epsilon: 3/2, three answers of scale 2: P(L > 1) and P(L > 0) have e^(1/2), three times.",
)  # fmt: skip
def every_answer_compared(data, rng):
    answers = [sum(data)] * 3
    return tuple(bool(answer + rng.laplace(0, 2 / 1.0) > 1) for answer in answers)


@claim(
    1.0, sizes=(0, 1), neighbors="unbounded", verdicts=LOOSE,
    why="epsilon: at most 1, for the test has 1/4 + 1/4 and the value has fresh noise of 1/2.",
)  # fmt: skip
def above_threshold_with_a_fresh_value(data, rng):
    threshold = 2 + rng.laplace(0, 4.0)
    if len(data) + rng.laplace(0, 4.0) >= threshold:
        return len(data) + rng.laplace(0, 2.0)
    return None


@wrong(
    1.0, sizes=(2,),
    why="epsilon: infinite, for the exact count stops the search for a round: two rounds with "
        "noise where it is below 2, one where it is 2.",
)  # fmt: skip
def early_stopping(data, rng):
    released = []
    for _ in range(2):
        released.append(sum(data) + rng.laplace(0, 2 / 1.0))
        if sum(data) >= 2:
            break
    return released


def stops_above(answers, rng, threshold_scale, scale, value=False):
    threshold = 1 + rng.laplace(0, threshold_scale)
    released = []
    for answer in answers:
        noisy = answer + rng.laplace(0, scale)
        released.append(noisy if value and noisy >= threshold else bool(noisy >= threshold))
        if noisy >= threshold:
            break
    return released


@claim(
    1.0, sizes=(1,), verdicts=VIOLATED | UNSURE,
    why="epsilon: at least 2, for the compared answer is released (algorithm 3), and so the "
        "threshold is lower: far below, five answers below it have e^(1/2) each, the value one.",
)  # fmt: skip
def above_threshold_with_the_compared_value(data, rng):
    zeros, ones = bits(data)
    return stops_above([zeros] * 5 + [ones], rng, 2 / 1.0, 2 / 1.0, value=True)


@wrong(
    1.0, sizes=(1,),
    why="epsilon: at most 7/4 of algorithm 4 with c = 1, scales 4 and 4/3, with 3/4 for each query "
        "that moves as it may; six queries go up and down in turn, and have 1.03.",
)  # fmt: skip
def above_threshold_without_the_half(data, rng):
    return stops_above(bits(data) * 3, rng, 4 / 1.0, 4 / 3)


# Randomized response.


@tight(
    LN3, true_delta=response_curve(0.75),
    why="epsilon: log(3), for heads gives the truth, tails any answer: 3/4 against 1/4.",
)  # fmt: skip
def response_by_two_coins(data, rng):
    if rng.integers(2) == 1:
        return bool(data[0])
    return bool(rng.integers(2) == 1)


@loose(
    1.0, true_delta=response_curve(1 - math.exp(-1)),
    why="epsilon: log(e - 1) = 0.54, for the truth has 1 - e^-1, and a lie e^-1.",
)  # fmt: skip
def response_truthful_with_one_less_exp(data, rng):
    return data[0] if rng.random() < 1 - math.exp(-1.0) else 1 - data[0]


@tight(
    1.0, sizes=(2,), true_delta=0.0,
    why="epsilon: 1, for the mean of responses is made unbiased by public numbers only.",
)  # fmt: skip
def response_unbiased(data, rng):
    p = truth_probability(1.0)
    answers = [bit if rng.uniform() < p else 1 - bit for bit in data]
    return round((sum(answers) / len(answers) - (1 - p)) / (2 * p - 1), 6)


@tight(
    1.0, values=(0, 1, 2), true_delta=0.0,
    why="epsilon: 1, the own bit with 1/2, others with q = 1 / (1 + e): (1 - q) / q (Wang 2017).",
)  # fmt: skip
def response_optimized_unary(data, rng):
    own, other = 1 / 2, 1 / (1 + math.exp(1.0))
    return [int(rng.random() < (own if value == data[0] else other)) for value in range(3)]


@wrong(
    1.0, values=(0, 1, 2), true_delta=0.75 * truth_probability(1.0) - math.e * 0.25
    * (1 - truth_probability(1.0)),
    why="epsilon: 1 + log(3), for the own bit has 3/4 and not 1/2. delta: own alone, 3/4 p less "
        "e 1/4 (1 - p); with own and other 3/4 (1 - p) meets e 3/4 (1 - p), nothing more.",
)  # fmt: skip
def response_unary_with_a_larger_own(data, rng):
    other = 1 / (1 + math.exp(1.0))
    return [int(rng.random() < (0.75 if value == data[0] else other)) for value in range(3)]


@wrong(
    1.0, true_delta=truth_probability(1.0) ** 3 - math.e * (1 - truth_probability(1.0)) ** 3,
    why="epsilon: 3, for the least of three responses is 1 with p^3 against (1 - p)^3.",
)  # fmt: skip
def best_of_three_responses(data, rng):
    p = truth_probability(1.0)
    return min(data[0] if rng.random() < p else 1 - data[0] for _ in range(3))


@tight(
    3.0, true_delta=0.0, name="best of three responses at three epsilon",
    why="epsilon: 3, for p^3 / (1 - p)^3 = e^3.",
)  # fmt: skip
def best_of_three(data, rng):
    p = truth_probability(1.0)
    return min(data[0] if rng.random() < p else 1 - data[0] for _ in range(3))


# Gaussian noise.

CLASSIC = math.sqrt(2 * math.log(1.25 / 1e-5))


def analytic_sigma(epsilon, delta):
    """The scale of Balle and Wang (2018), by bisection, from above."""
    return 1.000001 * optimize.brentq(lambda s: gaussian_curve(s)(epsilon) - delta, 0.1, 100)


@loose(
    0.5, 1e-5, sizes=(0, 1), neighbors="unbounded", true_delta=gaussian_curve(2 * CLASSIC),
    why="delta: below 1e-5, the classic scale is larger than needed (Balle and Wang 2018).",
)  # fmt: skip
def gaussian_classic(data, rng):
    sigma = np.sqrt(2 * np.log(1.25 / 1e-5)) * 1.0 / 0.5
    return len(data) + rng.normal(0, sigma)


@loose(
    1.0, 1e-5, sizes=(0, 1), neighbors="unbounded",
    true_delta=gaussian_curve(analytic_sigma(1.0, 1e-5)),
    why="delta: just below 1e-5, for the scale is a millionth more than the exact one.",
)  # fmt: skip
def gaussian_analytic(data, rng):
    return len(data) + analytic_sigma(1.0, 1e-5) * rng.standard_normal()


@wrong(
    20.0, 1e-5, sizes=(0, 1), neighbors="unbounded", true_delta=gaussian_curve(CLASSIC / 20),
    why="delta: 0.0015, for the classic scale holds for epsilon < 1 only (Balle and Wang 2018).",
)  # fmt: skip
def gaussian_classic_beyond_one(data, rng):
    return len(data) + rng.normal(0, CLASSIC / 20)


@wrong(
    1.0, 1e-5, sizes=(0, 1), neighbors="unbounded", true_delta=gaussian_curve(CLASSIC**0.5),
    why="delta: of scale 2.2, for the root of the scale is taken as if it were a variance.",
)  # fmt: skip
def gaussian_with_the_root(data, rng):
    return len(data) + rng.normal(0, np.sqrt(CLASSIC))


@wrong(
    1.0, 1e-5, values=((0, 0, 0, 0), (1, 1, 1, 1)), sizes=(1,),
    true_delta=gaussian_curve(CLASSIC / 2),
    why="delta: of a shift of 2, the norm of (1, 1, 1, 1), with noise for 1.",
)  # fmt: skip
def gaussian_for_each_coordinate(data, rng):
    return np.sum(data, axis=0) + rng.normal(0, CLASSIC, size=4)


@loose(
    1.0, 1e-5, values=((3, 4), (0, 0)), sizes=(0, 1), neighbors="unbounded",
    true_delta=gaussian_curve(CLASSIC),
    why="delta: below 1e-5, for (3, 4) is clipped to norm 1, and the classic scale is for that.",
)  # fmt: skip
def gaussian_clipped_by_norm(data, rng):
    total = np.zeros(2)
    for row in data:
        total += np.array(row) / max(1.0, np.linalg.norm(row))
    return total + rng.normal(0, CLASSIC, size=2)


def discrete_gaussian(rng, sigma, bound):
    support = np.arange(-bound, bound + 1)
    weights = np.exp(-(support**2) / (2 * sigma**2))
    return int(rng.choice(support, p=weights / weights.sum()))


def table_delta(sigma, bound, epsilon):
    """Sum over the table of the positive parts, at a shift of 1."""
    mass = {k: math.exp(-(k**2) / (2 * sigma**2)) for k in range(-bound, bound + 1)}
    parts = [max(0.0, m - math.exp(epsilon) * mass.get(k + 1, 0.0)) for k, m in mass.items()]
    return math.fsum(parts) / math.fsum(mass.values())


@loose(
    1.0, 0.033, sizes=(1, 2), true_delta=table_delta(1.5, 12, 1.0),
    why="delta: 0.0325, the sum over the table; its end has e^-32.",
)  # fmt: skip
def discrete_gaussian_by_table(data, rng):
    return sum(data) + discrete_gaussian(rng, 1.5, 12)


@wrong(
    1.0, 0.01, sizes=(1, 2), true_delta=table_delta(1.5, 3, 1.0),
    why="delta: the sum over the table, which ends at 2 sigma: its end alone has 0.036.",
)  # fmt: skip
def discrete_gaussian_by_a_short_table(data, rng):
    return sum(data) + discrete_gaussian(rng, 1.5, 3)


# Noise that is changed, or made by other means.


@claim(
    1.0, sizes=(0, 1), neighbors="unbounded", true_delta=0.0,
    verdicts=TIGHT | UNSURE,
    why="epsilon: 1, for the release is rounded afterwards; far out, all masses part by e.",
)  # fmt: skip
def release_rounded(data, rng):
    return int(np.round(len(data) + rng.laplace(0, 1 / 1.0)))


@wrong(
    1.0, values=(0.0, 0.5), true_delta=1.0,
    why="delta: 1, for the noise is rounded, and then a half shows the record.",
)  # fmt: skip
def noise_rounded(data, rng):
    return sum(data) + np.round(rng.laplace(0, 1 / 1.0))


@claim(
    1.0, sizes=(0, 1), neighbors="unbounded", true_delta=(math.exp(-4) + math.exp(-5)) / 2,
    verdicts=VIOLATED | UNSURE,
    why="delta: P(Z <= -4) + P(Z >= 5), where the other has none, as noise ends at 5.",
)  # fmt: skip
def noise_clamped(data, rng):
    noise = rng.laplace(0, 1 / 1.0)
    return len(data) + min(max(noise, -5), 5)


@claim(
    1.0, sizes=(0, 1), neighbors="unbounded", true_delta=0.0,
    verdicts=TIGHT | UNSURE,
    why="epsilon: 1, the difference of two exponential noises is Laplace noise.",
)  # fmt: skip
def laplace_by_two_exponentials(data, rng):
    return len(data) + rng.exponential(1.0) - rng.exponential(1.0)


@claim(
    1.0, sizes=(0, 1), neighbors="unbounded", true_delta=0.0,
    verdicts=TIGHT | UNSURE,
    why="epsilon: 1, for the sign of a uniform times the logarithm of the rest is Laplace noise.",
)  # fmt: skip
def laplace_by_inversion(data, rng):
    u = rng.uniform(-0.5, 0.5)
    return len(data) - 1.0 * np.sign(u) * np.log(1 - 2 * abs(u))


@tight(
    1.0, sizes=(0, 1), neighbors="unbounded", true_delta=0.0,
    why="epsilon: 1, SciPy draws Laplace noise from the generator that it gets.",
)  # fmt: skip
def laplace_by_scipy(data, rng):
    return len(data) + stats.laplace.rvs(scale=1 / 1.0, random_state=rng)


@claim(
    LN3, verdicts=UNSURE,
    why="epsilon: log(3), but nobody drives the random numbers of the standard library.",
)  # fmt: skip
def response_by_the_standard_library(data, rng):  # noqa: ARG001
    return data[0] if random.random() < 0.75 else 1 - data[0]


@claim(
    1.0, sizes=(0, 1), neighbors="unbounded", verdicts=VIOLATED | UNSURE,
    why="epsilon: infinite, the seed is made of the data, and so is the noise.",
)  # fmt: skip
def seed_of_the_data(data, rng):  # noqa: ARG001
    return len(data) + np.random.default_rng(sum(data) + len(data)).laplace()


@wrong(
    1.0, **ADDED, true_delta=0.5,
    why="epsilon: infinite, for 1 of one record has 1/2, and of no record none. delta: 1/2; of one "
        "and two, 2 and its 1/4, and no more at 1 - e/2 < 1/2.",
)  # fmt: skip
def thinned_count(data, rng):
    return rng.binomial(len(data), 0.5)


@wrong(
    1.0, **ADDED,
    why="epsilon: infinite, for noise that has no value below 0 leaves the count as the least.",
)  # fmt: skip
def poisson_noise(data, rng):
    return len(data) + rng.poisson(3)


@claim(
    1.0, sizes=(0, 1), neighbors="unbounded", verdicts=TIGHT | UNSURE,
    why="epsilon: 1, what is printed with two places is printed after the noise.",
)  # fmt: skip
def release_printed(data, rng):
    return f"{len(data) + rng.laplace(0, 1.0):.2f}"


@claim(
    1.0, sizes=(0, 1), neighbors="unbounded", verdicts=TIGHT | UNSURE,
    why="epsilon: 1, for a child of the generator draws noise as its parent does.",
)  # fmt: skip
def generator_spawned(data, rng):
    return len(data) + rng.spawn(1)[0].laplace(0, 1.0)


@claim(
    1.0, sizes=(0, 1), neighbors="unbounded", verdicts=TIGHT | UNSURE,
    why="epsilon: 1, in the law; the seed of the second generator is a draw of the first.",
)  # fmt: skip
def generator_seeded_by_the_other(data, rng):
    return len(data) + np.random.default_rng(rng.integers(2**31)).laplace(0, 1.0)


@claim(
    1.0, values=(0, 1, 2), true_delta=0.0,
    verdicts=TIGHT,
    why="epsilon: 1, any of 3 with 3 / (e + 2), and the truth else: (e - 1 + 1) against 1.",
)  # fmt: skip
def response_by_a_scaled_uniform(data, rng):
    if rng.random() < 3 / (math.e + 2):
        return int(rng.random() * 3)
    return data[0]


@claim(
    1.0, sizes=(2,), true_delta=0.0,
    verdicts=LOOSE,
    why="epsilon: log((1 + e) / 2) = 0.62, one trial with the weights of a choice.",
)  # fmt: skip
def exponential_mechanism_by_multinomial(data, rng):
    weights = np.exp(np.bincount(data, minlength=2) / 2)
    return int(np.argmax(rng.multinomial(1, weights / weights.sum())))


@wrong(
    1.0, values=(5, 6), sizes=(1, 2),
    why="epsilon: 2, for the number of distinct records moves by 1, but noise has scale 1/2.",
)  # fmt: skip
def distinct_records(data, rng):
    return len(set(data)) + rng.laplace(0, 1 / 2)


@wrong(
    1.0, sizes=(1, 2), true_delta=1.0,
    why="delta: 1, the records are removed while they are counted; the last is left as it is.",
)  # fmt: skip
def records_consumed(data, rng):
    count = 0
    while len(data) > 1:
        count += data.pop(0)
    return count + rng.laplace(0, 1.0), data


@tight(
    1.0, sizes=(1, 2), true_delta=0.0,
    why="epsilon: 1, a count; that the records are sorted in place changes nothing.",
)  # fmt: skip
def records_sorted_in_place(data, rng):
    data.sort(reverse=True)
    data[0] = min(data[0], 1)
    return sum(data) + rng.laplace(0, 1.0)


@wrong(
    1.0, sizes=(2,),
    why="epsilon: infinite, for of the shuffled records only the first is answered at random.",
)  # fmt: skip
def shuffled_and_one_response(data, rng):
    records = list(data)
    rng.shuffle(records)
    if rng.random() < 0.25:
        records[0] = 1 - records[0]
    return records


@claim(
    3 * LN3, SLACK, values=(0, 1), sizes=(1,), verdicts=LOOSE | UNSURE, true_delta=0.0,
    why="epsilon: at most 3 log(3), the best of a random number of runs (Liu and Talwar 2019), "
        "each a candidate with its noisy score.",
)  # fmt: skip
def private_selection(data, rng):
    best = (-1, -1)
    while True:
        candidate = int(rng.integers(2))
        agrees = int(candidate == data[0])
        score = agrees if rng.random() < 0.75 else 1 - agrees
        best = max(best, (score, candidate))
        if rng.random() < 0.5:
            return best[1]


@claim(
    1.0, sizes=(0, 1), neighbors="unbounded", verdicts=TIGHT | UNSURE,
    why="epsilon: 1, for what is below 0 becomes 0 after the noise.",
)  # fmt: skip
def release_kept_positive(data, rng):
    noisy = np.array([len(data)]) + rng.laplace(0, 1.0, size=1)
    return np.where(noisy < 0, 0, noisy)


@wrong(
    1.0, values=(0, 1), sizes=(1,),
    why="delta: 1, for the noise is multiplied by the count, and 0 has none.",
)  # fmt: skip
def relative_noise(data, rng):
    return sum(data) * (1 + rng.laplace(0, 1.0))


@wrong(
    1.0, values=(0, 2), sizes=(1,),
    why="delta: the sign is exact: a record of 2 gives 1, of 0 gives 0, and noise has its own.",
)  # fmt: skip
def exact_sign_with_noisy_size(data, rng):
    return np.sign(data[0]), data[0] + rng.laplace(0, 2.0)


@wrong(
    1.0, sizes=(1,),
    why="epsilon: 1 + log(2 - 1/e) = 1.49, for a noisy check comes before, of P(L >= 0) = 1/2 at 0 "
        "and 1 - e^-1 / 2 at 1, and spends, too.",
)  # fmt: skip
def checked_before_release(data, rng):
    if sum(data) + rng.laplace(0, 1.0) < 0:
        return "too few"
    return sum(data) + rng.laplace(0, 1.0)


# Samples and compositions.


@tight(
    math.log(5 / 3), SLACK, sizes=(3,), true_delta=0.0,
    why="epsilon: log(1 + q (2 - 1)) with q = 2/3: a sample of two of three (Balle et al. 2018).",
)  # fmt: skip
@wrong(
    2 / 3 * LN2, sizes=(3,), name="count of a sample claims q epsilon",
    why="epsilon: log(5/3) = 0.51, above q epsilon = 0.46.",
)  # fmt: skip
def count_of_a_sample(data, rng):
    chosen = rng.choice(len(data), size=2, replace=False)
    return sum(data[i] for i in chosen) + geometric_noise(rng, LN2)


@tight(
    1.0, values=((0, 0, 0), (1, 1, 1)), sizes=(2,), true_delta=0.0,
    why="epsilon: 1, for each of three columns has 1/3.",
)  # fmt: skip
def means_of_columns(data, rng):
    epsilon = 1.0 / 3
    return [sum(column) / len(data) + rng.laplace(0, 0.5 / epsilon)
            for column in zip(*data, strict=True)]  # fmt: skip


@wrong(
    1.0, values=((0, 0, 0), (1, 1, 1)), sizes=(2,),
    why="epsilon: 3, for each of three columns spends 1.",
)  # fmt: skip
def means_of_columns_with_all_of_epsilon(data, rng):
    return [float(np.mean(column)) + rng.laplace(0, 0.5) for column in np.transpose(data)]


PTR = math.exp(-3) / 2


def propose_test(data, rng, cutoff):
    ones = sum(data)
    distance = abs(2 * ones - len(data)) // 2
    if distance + rng.laplace(0, 1 / 1.0) <= cutoff:
        return None
    return int(2 * ones > len(data))


@claim(
    1.0, 1.01 * PTR, sizes=(3,), true_delta=PTR, verdicts=LOOSE,
    why="delta: e^-3 / 2, P(L > 3), with which two majorities at distance 0 are released.",
)  # fmt: skip
def propose_test_release(data, rng):
    return propose_test(data, rng, 3)


@wrong(
    1.0, 1.01 * PTR, sizes=(3,), true_delta=PTR * math.e,
    why="delta: e^-2 / 2, for the test is passed above 2, and delta is for 3.",
)  # fmt: skip
def propose_test_release_with_a_lower_bar(data, rng):
    return propose_test(data, rng, 2)


NOISE: dict[int, Any] = {}


@claim(
    LN2, sizes=(2,), verdicts=VIOLATED | UNSURE,
    why="epsilon: infinite from the second answer on, for the cache keeps the noise of the first.",
)  # fmt: skip
def noise_in_a_cache(data, rng):
    if len(data) not in NOISE:
        NOISE[len(data)] = geometric_noise(rng, LN2)
    return sum(data) + NOISE[len(data)]
