"""The refuter: code whose law is not known runs many times, and a test tells whether it breaks.

It proves no claim. A violation that it finds is one with a probability of error of at most 1e-6 in
all, over every pair, direction and event that was tested: an event is chosen by some runs, and
judged once by others.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import math
import operator
import re
import sys
from ast import literal_eval
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.audits.returned import Parts, Path, bare, parts, place_of
from sensitivity_lab.errors import QueryError
from sensitivity_lab.results.literals import literal

from .generator import LikePythons, misuse
from .runs import RAISED, check_some_succeed
from .script import parts as parts_of_script
from .stops import LimitError, OwnGeneratorError, Stopwatch, budget

ERROR = 1e-6
"""The probability that a mechanism which keeps its claim is called violated."""

RUNS, SECONDS = 90_000, 4.0
"""The most runs of an audit, and the CPU seconds after which no more begin."""

_PAIRS, _CHOSEN, _TESTED = 48, 6, 3
"""So many pairs are tried, so many of them looked at closely, and so many events judged."""

_ROUNDS = (0.1, 1, 0.1), (1, 1, 1.0), (1, 8, 4.0)
"""By round: which part of the runs chooses events, how many times the others judge them, and until
which part of the seconds. Few runs show what is far from a claim; the last round judges events
again that look like violations and may be none."""

_LEAST, _KEPT = 40, 6_000
"""The fewest runs on a dataset before it is judged, and the most that choose an event."""

_CUTS, _VALUES, _NUMBERS = 256, 24, 6
"""The most thresholds of a number, values of a part, and numbers that are compared in pairs."""

_SUMS_ARE_OFF = 1 + 1e-9
"""What sums of floats are off by, at most, in proportion."""

_Floats = NDArray[np.float64]
_Counts = NDArray[np.intp]

_Function = Callable[[Parts], Any]


@dataclass(frozen=True)
class Event:
    """A set of releases, as an expression of Python over `found`, their parts by place.

    Attributes
    ----------
    source : str
        With the functions of `HELPERS`.
    inside : callable
        Tells whether the parts of a release are in it.
    """

    source: str
    inside: Callable[[Parts], bool] = field(compare=False, repr=False)

    @property
    def text(self) -> str:
        """The event in the words of a report."""
        told = re.sub(
            r"(?:number\(found, |found\.get\()(\(.*?\))\)",
            lambda one: place_of(literal_eval(one[1])),
            self.source,
        )
        return told.replace("(found)", "(release)")


class Sample(list[Parts]):
    """What a function released on a dataset, run by run, and what events ask of each release."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, list[Any]] = {}

    def each(self, source: str, of: _Function) -> list[Any]:
        """Return what a function that has this source tells of each release; it is kept."""
        known = self._known.setdefault(source, [])
        # Releases are only added, so what is known belongs to the first ones.
        known += map(of, self[len(known) :])
        return known


def numbers(found: Any) -> Any:
    """Return the numbers of a release, in order."""
    return [one for one in found.values() if isinstance(one, (int, float)) and one == one]


def number(found: Any, path: Any) -> Any:
    """Return a number of a release; no number where there is none."""
    one = found.get(path)
    return one if isinstance(one, (int, float)) else float("nan")


def most(found: Any) -> Any:
    """Return the largest number of a release."""
    return max(numbers(found), default=float("nan"))


def least(found: Any) -> Any:
    """Return the least number of a release."""
    return min(numbers(found), default=float("nan"))


def place(found: Any) -> Any:
    """Return the place of the largest number of a release."""
    all_of = numbers(found)
    return all_of.index(max(all_of)) if all_of else -1


def kinds(found: Any) -> Any:
    """Return what a release holds beside numbers with a fraction."""
    return tuple((path, one) for path, one in found.items() if not isinstance(one, float))


HELPERS = "\n\n".join(
    inspect.getsource(one).replace(": Any", "").replace(" -> Any", "")
    for one in (numbers, number, most, least, place, kinds)
)
"""What the expressions of events name, for scripts."""


@dataclass(frozen=True)
class Refuted:
    """A violation by a test.

    Attributes
    ----------
    x, y : Any
        The datasets; the event is likelier on x.
    places : (int, int)
        Theirs among all datasets.
    event : Event
    hits, runs : (int, int)
        Of the runs that judged it: how many are in the event, and how many there were, on each.
    error : float
        The probability of at least so many hits, had the claim held; times the number of tests.
    """

    x: Any
    y: Any
    places: tuple[int, int]
    event: Event
    hits: tuple[int, int]
    runs: tuple[int, int]
    error: float

    @property
    def shares(self) -> tuple[float, float]:
        """The shares of runs in the event, on each."""
        return self.hits[0] / self.runs[0], self.hits[1] / self.runs[1]


@dataclass(frozen=True)
class Tried:
    """What a search for violations did.

    Attributes
    ----------
    runs : int
    seconds : float
        CPU seconds.
    found : Refuted or None
    """

    runs: int
    seconds: float
    found: Refuted | None


@dataclass(frozen=True)
class _Candidate:
    """Two datasets, by their places, in the order in which the first is likelier in an event."""

    x: int
    y: int
    score: float
    event: Event | None = None


def refute(
    function: Callable[..., Any],
    datasets: Sequence[Any],
    pairs: Sequence[tuple[int, int]],
    epsilon: float,
    delta: float,
    *,
    seed: int = 0,
    runs: int = RUNS,
    seconds: float = SECONDS,
    error: float = ERROR,
) -> Tried:
    """Search for a violation of epsilon and delta, and judge what is found.

    Parameters
    ----------
    function : callable
        ``function(data, rng)`` releases something about a dataset.
    datasets : sequence
        All that are tried.
    pairs : sequence of (int, int)
        Neighbors, by their places in `datasets`.
    epsilon, delta : float
        The claim.
    seed : int
        Of all generators: the same search again, where it ends by `runs` and not by `seconds`.
    runs, seconds : number
        The most runs, and CPU seconds.
    error : float
        The probability of a false violation, over everything that is judged.

    Notes
    -----
    With delta 0 a fair coin picks the dataset of each run that judges: of the runs in the event,
    each is on x with probability at most e^epsilon / (1 + e^epsilon). With a delta, the probability
    of the event on x has a lower bound, and on y an upper one, each by Clopper and Pearson.
    """
    search = _Search(function, datasets, seed, seconds)
    chosen = list(pairs)
    if len(chosen) > _PAIRS:
        random = np.random.default_rng([seed, 0])
        chosen = [chosen[place] for place in random.permutation(len(chosen))[:_PAIRS]]
    tried = sorted({place for pair in chosen for place in pair})
    found = None
    for part, times, until in _ROUNDS:
        third = round(part * runs / 3)
        if times == 1:
            # A third of the runs finds pairs, a third chooses events, and a third judges them.
            for place in tried:
                search.run(place, third // len(tried), 0.3 * until)
            kept = search.kept.items()
            check_some_succeed([(datasets[place], one) for place, sample in kept for one in sample])
            scored = [one for x, y in chosen for one in _scored(x, y, search, epsilon, delta)]
            best = sorted(scored, key=lambda one: -one.score)[:_CHOSEN]
            for one in best:
                for place in (one.x, one.y):
                    search.run(place, third // 2 // len(best), 0.5 * until)
            # The first of both orders is that of the candidate. More runs choose its event anew.
            again = [_scored(one.x, one.y, search, epsilon, delta)[0] for one in best]
            # Less than two standard deviations are mostly chance, and a proof takes about five.
            tested = [one for one in again if one.event is not None and one.score > 2]
            tested = sorted(tested, key=lambda one: -one.score)[:_TESTED]
        for one in tested:
            number = times * third // len(tested)
            # Where the audit's time ends in the last round, the answer of those before stays.
            with suppress(*[LimitError] * (times > 1)):
                # The tests of all rounds share the error.
                given = number, until, epsilon, delta, error / len(_ROUNDS) / len(tested)
                found = found or search.judged(one, *given)
        if found is not None:
            break
    return Tried(search.runs, search.watch.seconds, found)


@dataclass
class _Search:
    """Runs a function, within a time, and keeps what it released."""

    function: Callable[..., Any]
    datasets: Sequence[Any]
    seed: int
    seconds: float
    watch: Stopwatch = field(default_factory=Stopwatch)
    runs: int = 0
    calls: int = 0
    kept: dict[int, Sample] = field(default_factory=dict)

    def released(self, places: Sequence[int], until: float) -> Iterator[tuple[int, Parts]]:
        """Yield releases on datasets until a share of the time is over; at least a few."""
        self.calls += 1
        for number, place in enumerate(places):
            if number >= _LEAST and self.watch.over(until * self.seconds):
                return
            self.runs += 1
            budget().check()
            # One generator a run: code that copies its generator may leave it as it was.
            rng = LikePythons(np.random.PCG64([self.seed, 1, self.calls, number]))
            yield place, _released(self.function, self.datasets[place], rng)

    def run(self, place: int, number: int, until: float) -> None:
        """Run on a dataset, and keep what it releases for the choice of events."""
        kept = self.kept.setdefault(place, Sample())
        number = min(max(_LEAST - len(kept), number), _KEPT - len(kept))
        kept += [one for _, one in self.released([place] * number, until)]

    def judged(
        self,
        pair: _Candidate,
        number: int,
        until: float,
        epsilon: float,
        delta: float,
        error: float,
    ) -> Refuted | None:
        """Judge the event of a pair by new runs; a coin picks the dataset of each."""
        if pair.event is None:
            return None
        # Drawn before the runs: no release can have an influence on the dataset of a later one.
        coins = np.random.default_rng([self.seed, 2, self.calls]).random(number) < 0.5
        told: dict[int, list[bool]] = {pair.x: [], pair.y: []}
        for place, one in self.released([pair.x if coin else pair.y for coin in coins], until):
            told[place].append(pair.event.inside(one))
        on_x, on_y = told[pair.x], told[pair.y]
        hits = sum(on_x), sum(on_y)
        if delta:
            # Each bound is wrong with a probability of at most half of the error.
            low = lower_end(hits[0], len(on_x), error / 2)
            high = 1 - lower_end(len(on_y) - hits[1], len(on_y), error / 2)
            chance = error if low > math.exp(epsilon) * high + delta else 1.0
        else:
            # If the claim holds, each hit is on x with at most this probability, whatever came
            # before it.
            share = 1 / (1 + math.exp(-epsilon))
            chance = binomial_tail(hits[0], sum(hits), share)
        if chance > error or not sum(hits):
            return None
        x, y = self.datasets[pair.x], self.datasets[pair.y]
        chance = max(chance, sys.float_info.min)  # it is rounded up
        return Refuted(x, y, (pair.x, pair.y), pair.event, hits, (len(on_x), len(on_y)), chance)


def _released(function: Callable[..., Any], dataset: Any, rng: LikePythons) -> Parts:
    """Return what a run releases, part by part; an error is released, too."""
    try:
        released = function(copy.deepcopy(dataset), rng)
    except OwnGeneratorError as error:
        raise QueryError(str(error)) from None
    except Exception as error:
        if told := misuse(error, rng):
            raise QueryError(told) from error
        released = {RAISED: (type(error).__name__, str(error))}
    found = dict(parts_of_script(released))
    if all(_is_told(part) for part in found.values()):
        return found
    # Tables and objects, whose parts no short script names.
    return {path: bare(part) for path, part in parts(released).items()}


# Events.


def _scored(
    x: int, y: int, search: _Search, epsilon: float, delta: float
) -> tuple[_Candidate, _Candidate]:
    """Return a pair in both orders, each with the event in which it is farthest beyond the claim.

    What is counted are the kept runs, on x and on y.
    """
    best = [_Candidate(x, y, -math.inf), _Candidate(y, x, -math.inf)]
    n, m = len(search.kept[x]), len(search.kept[y])
    for event, values, a, b in _events(search.kept[x], search.kept[y]):
        for order, counted in enumerate(((a, n, b, m), (b, m, a, n))):
            scores = _score(*counted, epsilon, delta)
            at = int(scores.argmax())
            if scores[at] > best[order].score:
                best[order] = replace(best[order], score=float(scores[at]), event=event(values[at]))
    return best[0], best[1]


def _score(a: _Counts, n: int, b: _Counts, m: int, epsilon: float, delta: float) -> _Floats:
    """Return by how many of its standard deviations each event is beyond the claim."""
    # One more run on y: an event that was never seen there may be there, too.
    p, q, factor = a / n, (b + 1) / (m + 1), math.exp(epsilon)
    beyond = p - factor * q - delta
    scores: _Floats = beyond / np.sqrt((p + 1 / n) / n + factor**2 * q / m)
    return scores


_Family = tuple[Callable[[Any], Event], list[Any], _Counts, _Counts]
"""What makes an event of a value, the values, and how often each event is in both samples."""


def _events(on_x: Sample, on_y: Sample) -> Iterator[_Family]:
    """Yield families of events with their hits on both samples."""
    for source, of, x, y in _columns(on_x, on_y):
        yield from _of_column(source, of, x, y)
    for source, of in _discrete(on_x, on_y):
        counted = [Counter(one.each(source, of)) for one in (on_x, on_y)]
        values = [value for value, _ in (counted[0] + counted[1]).most_common(_VALUES)]
        a, b = (_hits(one, values) for one in counted)
        yield _where(source, of, "==", operator.eq), values, a, b


def _hits(counted: Counter[Any], values: Sequence[Any]) -> _Counts:
    return np.array([counted[value] for value in values], dtype=np.intp)


def _where(
    source: str, of: _Function, sign: str, compares: Callable[[Any, Any], Any]
) -> Callable[[Any], Event]:
    """Return what makes the event that a function compares so with a value."""
    return lambda value: Event(
        f"{source} {sign} {literal(value)}", lambda found: bool(compares(of(found), value))
    )


def _several(found: Parts) -> int:
    return len(set(numbers(found)))


def _apart(one: Path, other: Path, sign: int, found: Parts) -> Any:
    # Sums that are equal as real numbers differ in their last digits as floats.
    return round(number(found, one) + sign * number(found, other), 9)


def _columns(on_x: Sample, on_y: Sample) -> Iterator[tuple[str, _Function, _Floats, _Floats]]:
    """Yield numbers of each release, with their expressions and the functions that these are."""
    asked: list[tuple[str, _Function]] = []
    for path in _most_common(64, on_x, on_y):
        source, of = f"number(found, {path!r})", partial(number, path=path)
        # Only nan is not equal to itself: it stands where a release has no number.
        if any(one == one for sample in (on_x, on_y) for one in sample.each(source, of)):
            asked.append((source, of))
    paths = [of.keywords["path"] for _, of in asked if isinstance(of, partial)]
    if len(paths) > 1:
        asked += [("most(found)", most), ("least(found)", least), ("place(found)", place)]
        asked += [("len(set(numbers(found)))", _several)]
    first = sorted(paths, key=repr)[:_NUMBERS]
    for one, other in itertools.combinations(first, 2):
        for sign, word in ((-1, "-"), (1, "+")):
            names = (f"number(found, {path!r})" for path in (one, other))
            source = f"round({f' {word} '.join(names)}, 9)"
            asked.append((source, partial(_apart, one, other, sign)))
    for source, tells in asked:
        x, y = (np.array(sample.each(source, tells), dtype=float) for sample in (on_x, on_y))
        yield source, tells, x, y


def _most_common(most: int, *samples: Sample) -> list[Path]:
    """Return where parts of the releases stand, those that most of these have first."""
    seen = Counter(path for one in samples for keys in one.each("*", tuple) for path in keys)
    return [path for path, _ in seen.most_common(most)]


def _of_column(source: str, of: _Function, x: _Floats, y: _Floats) -> Iterator[_Family]:
    """Yield ranges of a number, and values that it has often."""
    x, y = (np.sort(one[~np.isnan(one)]) for one in (x, y))
    values, counts = np.unique(np.concatenate([x, y]), return_counts=True)
    if not len(values):
        return
    cuts = values
    if len(values) > _CUTS:
        cuts = np.unique(np.quantile(values, np.linspace(0, 1, _CUTS), method="nearest"))
    # Entry i counts the numbers up to cuts[i].
    a, b = (np.searchsorted(one, cuts, side="right") for one in (x, y))
    yield _where(source, of, "<=", operator.le), cuts.tolist(), a, b
    # And here those from cuts[i] on.
    a, b = (len(one) - np.searchsorted(one, cuts, side="left") for one in (x, y))
    yield _where(source, of, ">=", operator.ge), cuts.tolist(), a, b
    often = np.argsort(-counts)[:_VALUES]
    if len(often := often[counts[often] > 1]):
        found = values[often].tolist()
        a, b = (_hits(Counter(one.tolist()), found) for one in (x, y))
        yield _where(source, of, "==", operator.eq), found, a, b


def _discrete(on_x: Sample, on_y: Sample) -> Iterator[tuple[str, _Function]]:
    """Yield what releases hold beside numbers: each part, all of them, and where parts stand."""
    for path in _most_common(32, on_x, on_y):
        source, of = f"found.get({path!r})", operator.methodcaller("get", path)
        kinds_of = {
            (isinstance(cell, float), _is_told(cell))
            for sample in (on_x, on_y)
            for cell in sample.each(source, of)
        }
        if all(told for _, told in kinds_of) and not all(real for real, _ in kinds_of):
            yield source, of
    yield "tuple(found)", tuple
    if all(all(sample.each("told", _all_told)) for sample in (on_x, on_y)):
        yield "kinds(found)", kinds


def _all_told(found: Parts) -> bool:
    return all(_is_told(one) for _, one in kinds(found))


def _is_told(cell: Any) -> bool:
    """Return whether a part is one that a script can write."""
    return cell is None or isinstance(cell, str | bool | bytes | int | float | tuple)


# Tests.


def binomial_tail(hits: int, number: int, share: float) -> float:
    """Return the probability of at least so many hits of a binomial number, rounded up.

    Each term follows from the one before by a factor: (number - i) / (i + 1) times the odds.
    """
    if hits <= 0:
        return 1.0
    if hits > number or share <= 0:
        return 0.0
    # Up to the mean the probability is about a half or more, so 1 is close enough.
    if share >= 1 or hits <= number * share:
        return 1.0
    first = (
        math.lgamma(number + 1)
        - math.lgamma(hits + 1)
        - math.lgamma(number - hits + 1)
        + hits * math.log(share)
        + (number - hits) * math.log1p(-share)
    )
    at = np.arange(hits, number, dtype=float)
    factors = (number - at) / (at + 1) * (share / (1 - share))
    total = 1.0 + float(np.cumprod(factors).sum())
    # A logarithm of a factorial is off by a few units in its last place.
    slack = 1e-14 * number * math.log(number + 2)
    return min(1.0, math.exp(min(0.0, first + slack)) * total * _SUMS_ARE_OFF)


def lower_end(hits: int, number: int, error: float) -> float:
    """Return Clopper and Pearson's lower bound of a probability, rounded down."""
    # Always, so many hits have a probability of at most `error` at `low`, and a larger one at
    # `high`.
    low, high = 0.0, hits / max(1, number)
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if binomial_tail(hits, number, middle) <= error else (low, middle)
        )
    return low
