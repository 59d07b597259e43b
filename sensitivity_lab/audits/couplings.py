"""Audits of randomised code: compare its claimed stability with the best coupling of outputs.

The outputs on each dataset, all of them or a sample, are distributions over one list. Their
distance under the best coupling is exact if all outputs are known, and an estimate if they are
drawn. A maximum flow decides whether a coupling keeps every pair of outputs close; the proof is
under the heading "Couplings" of docs/proofs.md.
"""

from __future__ import annotations

import copy
import math
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab import running
from sensitivity_lab.checks import check_whole, listed
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics import Distances, Metric
from sensitivity_lab.metrics.cells import key_of
from sensitivity_lab.results.literals import short_literal
from sensitivity_lab.search.farthest import Farthest

from .claims import holds_float
from .maps import collected
from .pairs import check_pairs, distances, plain
from .question import Question, naming
from .report import AuditReport
from .row import AuditRow, Evidence

OUTPUT_LIMIT = 2_000
"""The largest number of different outputs; all pairs are measured."""


@dataclass(frozen=True)
class Source:
    """Where the outputs on a dataset come from.

    Attributes
    ----------
    function : callable
        Takes a dataset, and a choice where `choices` is given.
    choices : callable or None
        Returns the random choices on a dataset.
    draws : int
        The number of calls on a dataset, if there are no choices.
    """

    function: Callable[..., Any]
    choices: Callable[[list[Any]], Iterable[Any]] | None
    draws: int

    @property
    def enumerated(self) -> bool:
        """Whether all outputs are known, each with its probability."""
        return self.choices is not None

    def outputs(self, x: Any, *, backward: bool = False) -> list[Any]:
        """Return the outputs on a dataset, one per choice or draw, in their order.

        Where there are choices, `backward` says whether to call the function in reverse order.
        """
        if self.choices is None:
            return [self._call(x) for _ in range(self.draws)]
        with naming("choices, on {}, raised", x):
            given = self.choices(copy.deepcopy(x))
        choices = listed(given, f"choices, on {short_literal(x)}, must be several")
        if not choices:
            raise InputError(f"choices, on {short_literal(x)}, must be at least one, got none")
        if backward:
            return [self._call(x, choice) for choice in reversed(choices)][::-1]
        return [self._call(x, choice) for choice in choices]

    def _call(self, x: Any, *choice: Any) -> Any:
        with naming("{} with the choice {} raised" if choice else "{} raised", x, *choice):
            return collected(self.function(copy.deepcopy(x), *choice))


@dataclass(frozen=True)
class Distribution:
    """How often each output occurs on a dataset.

    Attributes
    ----------
    places : tuple of int
        The places of the outputs in the common list, ascending.
    counts : tuple of int
        How often each occurs among the outputs on this dataset.
    """

    places: tuple[int, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """How many outputs there are, with repetitions."""
        return sum(self.counts)


@dataclass(frozen=True)
class Outputs:
    """All outputs on all datasets, without those at distance 0 from an earlier one.

    Attributes
    ----------
    items : list
        The outputs.
    distances : Distances
        How far apart they are.
    matrix : ndarray, shape (outputs, outputs)
        The same for all pairs, in a unit of its own.
    distributions : list of Distribution
        One per dataset.
    """

    items: list[Any]
    distances: Distances
    matrix: NDArray[Any]
    distributions: list[Distribution]

    def shown(self, place: int, enumerated: bool) -> tuple[tuple[Any, Any], ...]:
        """Return the outputs on a dataset with their probabilities, or how often they came."""
        found = self.distributions[place]
        return tuple(
            (self.items[at], Fraction(count, found.total) if enumerated else count)
            for at, count in zip(found.places, found.counts, strict=True)
        )


def gathered(made: Sequence[Sequence[Any]], metric: Metric) -> Outputs:
    """Return the outputs on all datasets as distributions over one list of outputs."""
    seen: dict[Hashable, int] = {}
    items: list[Any] = []
    places = []
    for outputs in made:
        line = []
        for output in outputs:
            key = key_of(plain(output))
            if key not in seen:
                seen[key] = len(items)
                items.append(_frozen(output))
                if len(items) > OUTPUT_LIMIT:
                    raise TooLargeError(
                        f"there are more than {OUTPUT_LIMIT:,} different outputs, and all pairs "
                        "are measured; use fewer values, smaller sizes or fewer draws; for "
                        "code that adds noise, use audit_mechanism"
                    )
            line.append(seen[key])
        places.append(line)
    measured = distances(metric, items, key_of)
    matrix = _matrix(measured, len(items))
    # Each output stands for all at distance 0 from it, such as other orders of a multiset.
    stands = [int(np.flatnonzero(line == 0)[0]) for line in matrix]
    counted = (sorted(Counter(stands[place] for place in line).items()) for line in places)
    distributions = [Distribution(*zip(*ordered, strict=True)) for ordered in counted]
    return Outputs(items, measured, matrix, distributions)


def _matrix(measured: Distances, number: int) -> NDArray[Any]:
    """Return all distances; entry [i, j] is that of outputs i and j."""
    rows = [measured.row(i) for i in range(number)]
    whole = any(row.dtype == object for row in rows)
    matrix = np.zeros((number, number), dtype=object if whole else np.int64)
    for i, row in enumerate(rows):
        matrix[i, i + 1 :] = row
        matrix[i + 1 :, i] = row
    return matrix


def _frozen(output: Any) -> Any:
    """Return an output that does not change: lists and arrays as tuples."""
    if isinstance(output, np.ndarray):
        output = output.tolist()
    return tuple(map(_frozen, output)) if isinstance(output, list | tuple) else output


_DOUBT = 25.0
"""A sample is evidence if chance alone explains it with a probability of at most exp(-25)."""


def exact_distance(x: Distribution, y: Distribution, matrix: NDArray[Any], least: int) -> int:
    """Return the smallest over couplings of the largest distance of two coupled outputs.

    Parameters
    ----------
    x, y : Distribution
        All outputs; those of one dataset are equally likely.
    matrix : ndarray
        The distances of all outputs.
    least : int
        A distance up to which no two need to be distinguished.

    Returns
    -------
    int
        The distance, or `least` if it is not above.
    """
    near = matrix[np.ix_(x.places, y.places)]
    # Probabilities as integers over the common total, so that the flow is exact.
    supply = [count * y.total for count in x.counts]
    demand = [count * x.total for count in y.counts]
    return _least(near, least, lambda t: uncoupled(supply, demand, near <= t)[0] == 0)


def sampled_distance(x: Distribution, y: Distribution, matrix: NDArray[Any], least: int) -> int:
    """Return a distance that no coupling stays below, unless the samples are a rare accident.

    Parameters, and `least`, are those of `exact_distance`; the counts are those of independent
    draws, as many on x as on y.
    """
    near = matrix[np.ix_(x.places, y.places)]
    return _least(near, least, lambda t: not _told_apart(x.counts, y.counts, near <= t))


def _least(near: NDArray[Any], least: int, enough: Any) -> int:
    """Return the smallest distance that is enough, or `least` if that is."""
    if int(near.max()) <= least or enough(least):
        return least
    candidates = sorted({int(t) for t in near.ravel() if t > least})
    # All distances after one that is enough are; the last one is, whatever `enough` says.
    return candidates[bisect_left(candidates, True, hi=len(candidates) - 1, key=enough)]


def _told_apart(x: Sequence[int], y: Sequence[int], close: NDArray[np.bool_]) -> bool:
    """Tell whether samples rule out every coupling of close outputs.

    With a coupling, any set A of outputs of x is at most as likely as what is close to A on y. The
    sets tried are single outputs, on both sides, and the one that a maximum flow gets stuck in.
    """
    for counts, others, line in ((x, y, close), (y, x, close.T)):
        around = line @ np.array(others)
        doubt = math.log(2 * len(counts))
        if any(_too_many(*pair, doubt) for pair in zip(counts, around.tolist(), strict=True)):
            return True
    # The flow gets stuck in the worst of all 2**len(x) sets, so that many are tried.
    left, stuck = uncoupled(x, y, close)
    inside = sum(x[i] for i in stuck)
    return left > 0 and _too_many(inside, inside - left, len(x) * math.log(2))


def _too_many(inside: int, around: int, doubt: float) -> bool:
    """Tell whether more draws than `around` could come by chance fell inside a set.

    If the set is at most as likely as what is around it, then of all draws in either at most half
    are expected inside, and by Hoeffding's inequality an excess has a probability of at most
    ``exp(-excess**2 / (2 * draws))``. `doubt` is the logarithm of how many sets are tried.
    """
    excess = inside - around
    return excess > 0 and excess**2 > 2 * (inside + around) * (_DOUBT + doubt)


def uncoupled(
    supply: Sequence[int], demand: Sequence[int], close: NDArray[np.bool_]
) -> tuple[int, list[int]]:
    """Return how much of a supply no coupling brings to a close demand, and where it gets stuck.

    Parameters
    ----------
    supply, demand : sequence of int
        How often each output of x and each output of y occurs, over one common total.
    close : ndarray of bool, shape (len(supply), len(demand))
        Which outputs may be coupled.

    Returns
    -------
    left : int
        The total less the maximum flow: 0 if a coupling keeps all pairs close.
    stuck : list of int
        Outputs A of x with ``supply(A) - demand(those close to A) == left``, the largest such
        difference of all sets: a minimum cut.

    Notes
    -----
    The flow grows along shortest paths, each found by a breadth-first search of the m by n pairs:
    at most ``m n`` searches, and in practice about m + n. Every capacity is an integer.

    Examples
    --------
    >>> uncoupled([2, 1], [1, 2], np.array([[True, False], [True, True]]))
    (1, [0])
    """
    left, room = list(supply), list(demand)
    partners = [np.flatnonzero(line).tolist() for line in close]
    flow: list[dict[int, int]] = [{} for _ in demand]  # by output of y: what each output of x sends
    while True:
        # back[j] is the output of x from which the search came to the output j of y.
        back: dict[int, int] = {}
        # into[i] is the output of y from which the search went back to i, which sends to it; None
        # if i has more to send itself.
        into: dict[int, int | None] = {i: None for i, more in enumerate(left) if more}
        queue = deque(into)
        end = None
        while queue and end is None:
            i = queue.popleft()
            for j in partners[i]:
                if j in back:
                    continue
                back[j] = i
                if room[j]:
                    end = j
                    break
                for other in flow[j]:
                    if other not in into:
                        into[other] = j
                        queue.append(other)
        if end is None:  # no path is left: what the search has reached is a minimum cut
            return sum(left), sorted(into)
        _push(end, back, into, left, room, flow)


def _push(
    end: int,
    back: dict[int, int],
    into: dict[int, int | None],
    left: list[int],
    room: list[int],
    flow: list[dict[int, int]],
) -> None:
    """Send as much as fits along the path that a search has found."""
    path: list[tuple[int, int]] = []  # (i, j): i sends more to j, and less to the next j
    at: int | None = end
    while at is not None:
        path.append((back[at], at))
        at = into[back[at]]
    first, _ = path[-1]
    kept = [flow[before][i] for (i, _), (_, before) in pairwise(path)]
    amount = min(room[end], left[first], *kept)
    # A sender in the middle of the path sends to j what it no longer sends to the output
    # before, so that only the first sender has less left, and only the end less room.
    left[first] -= amount
    room[end] -= amount
    for i, j in path:
        flow[j][i] = flow[j].get(i, 0) + amount
    for (i, _), (_, before) in pairwise(path):
        flow[before][i] -= amount
        if not flow[before][i]:
            del flow[before][i]


@dataclass(frozen=True)
class Coupled:
    """The places of two datasets, and the distance of their outputs under the best coupling."""

    x: int
    y: int
    truth: Any


def farthest(question: Question, outputs: Outputs, enumerated: bool) -> dict[Number, Coupled]:
    """Return, by limit, the pair of datasets at most so far apart whose outputs are farthest.

    Raises
    ------
    InputError
        If no two different datasets are within a limit above 0, so that nothing is compared.
    """
    measure = exact_distance if enumerated else sampled_distance
    known: dict[tuple[Distribution, Distribution], tuple[int, int]] = {}

    def gap(x: int, y: int, least: int) -> int:
        """Return how far apart two datasets' outputs are, or a bound that is at most `least`."""
        pair = outputs.distributions[x], outputs.distributions[y]
        found, above = known.get(pair, (-1, -1))
        if found < 0 or (found <= above and least < above):
            # What is found is exact if it is above `least`, and else a bound.
            found = measure(*pair, outputs.matrix, least)
            known[pair] = found, least
        return found

    best = {limit: Farthest() for limit in question.limits}
    for x, y, limits in question.neighbors(question.progress):
        for limit in limits:
            best[limit].see(np.array([gap(x, y, best[limit].gap or 0)]), [x], [y])
    return {
        limit: Coupled(one.x, one.y, outputs.distances.truth(one.gap or 0))
        for limit, one in best.items()
    }


def check_backward(
    source: Source, datasets: Sequence[Any], made: Sequence[Sequence[Any]], progress: bool | None
) -> None:
    """Call the function again with the same choices, on the datasets and choices in reverse order.

    If a function keeps state between calls, that state then comes from other calls.

    Raises
    ------
    QueryError
        If the same choice leads to another output.
    """
    if source.choices is None:
        return
    both = list(zip(datasets, made, strict=True))[::-1]
    for x, before in running.tracked(both, unit="datasets backward", progress=progress):
        _check_same_outputs(x, before, source.outputs(x, backward=True))


def _check_same_outputs(x: Any, before: Sequence[Any], now: Sequence[Any]) -> None:
    if key_of(list(map(plain, now))) != key_of(list(map(plain, before))):
        raise QueryError(
            f"two calls on {short_literal(x)} with the same choices differ; the choices must cover "
            "all randomness, and the function must keep no state between calls"
        )


def check_again(
    source: Source,
    pair: Coupled,
    datasets: Sequence[Any],
    made: Sequence[Sequence[Any]],
    metric: Metric,
    verdict: str,
) -> Any:
    """Call the function on a pair again.

    Returns
    -------
    Difference, math.inf or None
        The distance of newly drawn outputs, if a sample violates a claim; None if no new draws are
        needed.

    Raises
    ------
    QueryError
        If the same choice leads to another output.
    """
    if source.choices is not None:
        for place in {pair.x, pair.y}:
            _check_same_outputs(datasets[place], made[place], source.outputs(datasets[place]))
        return None
    if verdict != "violated":
        return None
    drawn = gathered([source.outputs(datasets[place]) for place in (pair.x, pair.y)], metric)
    x, y = drawn.distributions
    return drawn.distances.truth(sampled_distance(x, y, drawn.matrix, 0))


_SAMPLED = "the outputs are a sample, and others may be farther apart; give all choices="
"""Why a sample calls no claim large enough."""


def audit_coupling(question: Question, function: Callable[..., Any], choices: Any) -> AuditReport:
    """Compare the claims with how close the outputs of randomised code can stay.

    A shuffle, an imputation, a sample, or a truncation by random choice has a distribution of
    outputs on every dataset. It is stable if the outputs on two neighbors can be coupled: drawn
    together such that they are always close. The truth is the largest distance of two coupled
    outputs, under the best coupling, on the worst pair of neighbors.

    Parameters
    ----------
    question : Question
        The datasets, the metrics and the claims.
    function : callable
        Takes a dataset, and a random choice unless `choices` is a number.
    choices : callable, iterable or int
        All random choices, equally likely: the same for all datasets, or a function of the
        dataset. Or a number of draws: the function draws by itself, and is called so often.

    Raises
    ------
    InputError
        If an argument is invalid, or no two datasets are close.
    QueryError
        If the function fails, answers the same choice differently, or two outputs have no distance.
    TooLargeError
        If there are too many pairs, or different outputs.

    Notes
    -----
    Outputs at distance 0, such as two orders of a multiset, are one output, and so are 0.0 and
    -0.0. With choices, the smallest distance that allows a coupling is found by bisection; each
    step is a maximum flow between the outputs on x and on y. Every pair is exact.

    Draws are a sample: the truth is a distance that no coupling stays below, except with a
    probability of less than e**-25 per pair. It may be too small, so no claim is called tight or
    loose. A claim is "violated" only if new draws on the same two datasets confirm it. Outputs that
    never recur, such as floats from a continuous range, show nothing.
    """
    source, told = _source_of(function, choices)
    datasets, progress = question.datasets, question.progress
    check_pairs(len(datasets))
    tried = running.tracked(datasets, unit="datasets", progress=progress)
    made = [source.outputs(x) for x in tried]
    check_backward(source, datasets, made, progress)
    outputs = gathered(made, question.outputs)
    found = farthest(question, outputs, source.enumerated)
    rows = []
    for limit, (claimed, reason) in zip(question.limits, question.claims, strict=True):
        pair = found[limit]
        places = pair.x, pair.y
        answers = [outputs.shown(place, source.enumerated) for place in places]
        row = AuditRow(
            limit,
            claimed,
            pair.truth,
            Evidence(*(datasets[place] for place in places), *answers),
            rounded=holds_float(answers),
            tolerance_ulps=question.tolerance,
            reason=reason or ("" if source.enumerated else _SAMPLED),
            judged=source.enumerated,
        )
        truth = check_again(source, pair, datasets, made, question.outputs, row.verdict)
        rows.append(row if truth is None else replace(row, truth=min(pair.truth, truth)))
    return question.report(rows, f"{told}, under the best coupling; implementation")


def _source_of(function: Any, choices: Any) -> tuple[Source, str]:
    """Return where outputs come from, and what the setting says of it, or raise InputError."""
    if callable(choices):
        return Source(function, choices, 0), "all choices, equally likely"
    if isinstance(choices, int | np.integer):
        draws = check_whole("choices", choices, "all random choices, or a number of draws", 1)
        told = f"sampled, not enumerated: {draws:,} draws on each dataset"
        return Source(function, None, draws), told
    wrong = "choices must be all random choices, at least one, or a number of draws"
    found = listed(choices, wrong)
    if not found:
        raise InputError(f"{wrong}, got none")
    return Source(function, lambda _: found, 0), "all choices, equally likely"
