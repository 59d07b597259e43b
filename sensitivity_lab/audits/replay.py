"""Replay: every dataset's releases, and drawn ones, are fed to the runs on its neighbors.

After the same releases, neighbors must make the same calls and return the same. Runs on one dataset
that differ then would make a verdict a matter of chance. A function may draw at random before its
mechanism, as a sum of some records drawn at random does: its sensitivity is that of a coupling,
which two runs cannot show.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab import running
from sensitivity_lab.checks import check_whole, listed, shown
from sensitivity_lab.errors import InputError, QueryError, SensitivityLabError, TooLargeError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics.cells import key_of
from sensitivity_lab.results.literals import short_literal

from .driven.stops import Stopwatch
from .maps import PROBES, RANDOM, probes
from .pairs import entries
from .question import Question
from .recording import NO_CALL, Recorder, Run, Step, Untouched
from .returned import AGAIN, Chance, Path, bare, whole_key
from .row import FAILING, LEAK, RETURNED, AuditRow, Evidence
from .steps import Worst

SEED = 20_261_122
"""The seed of drawn histories: they are the same in every audit."""

CHOICES = 64
"""So many combinations of what the selections of a run can choose are all fed."""

_RUNS, LEAST, MOST, SECONDS = 4_000, 16, 1_000, 10.0
"""About so many runs are fed drawn histories, the fewest and the most of these, and the CPU time
after which no more than the fewest are fed."""

_FIRST = ("between", "zero", "above", "below")
_LATER = ("near", "near", "near", "between", "zero", "above", "below")
"""What a drawn release is: by the number of its history, and drawn from then on."""

_FAR, _NEAR_0 = (0.5, 2.0), 0.01
"""How far out the tails are, as powers of 10, and how near 0 a release is; in scales."""


def drawn_around(center: float, width: float, kind: str, source: random.Random) -> float:
    """Return a number as noise around another one gives it: near, near 0, or far out.

    Parameters
    ----------
    center, width : float
        The other number, and the scale of the noise.
    kind : {"near", "zero", "above", "below"}
        Where to draw it.
    source : random.Random
        Where randomness comes from.
    """
    if kind == "zero":  # no release of continuous noise is 0 itself
        return width * source.uniform(-_NEAR_0, _NEAR_0)
    if kind == "near":
        return center + width * source.choice((-1, 1)) * source.expovariate(1)
    sign = {"above": 1, "below": -1}[kind]
    return center + sign * width * 10 ** source.uniform(*_FAR)


Histories = int | list[tuple[Any, ...]] | None
"""A number of histories to draw, or histories that were given; or None."""


def check_histories(given: Any) -> Histories:
    """Return the number of histories to draw, or the histories given, or raise InputError."""
    if given is None:
        return None
    if isinstance(given, int):
        return check_whole("histories", given, "a number of histories to draw, at least 0", 0)
    wrong = "histories must be a number of histories to draw, or lists of releases"
    found = listed(given, wrong)
    if not all(isinstance(one, list | tuple) for one in found):
        raise InputError(f"{wrong}, got {shown(given)}")
    return [tuple(one) for one in found]


def number_of(wanted: Histories, runs: Sequence[Run]) -> int | None:
    """Return how many histories to draw: as many as wanted, or as few datasets allow."""
    if wanted is None:
        # Runs of several steps are made twice, and compared step by step.
        cost = len(runs) * (4 if max(len(run.sites) for run in runs) > 1 else 1)
        return min(max(_RUNS // cost, LEAST), MOST)
    return wanted if isinstance(wanted, int) else None


def histories_of(wanted: Histories, runs: Sequence[Run]) -> list[tuple[Any, ...]]:
    """Return the histories to feed: a number of drawn ones, or those given."""
    number = number_of(wanted, runs)
    if not isinstance(number, int):
        return list(wanted or ())  # type: ignore[arg-type]
    source = random.Random(SEED)
    made = [drawn(runs, source, place) for place in range(number)]
    if not number:
        return made
    start = drawn(runs, source, 0)
    return made + [
        tuple(chosen.get(at, one) for at, one in enumerate(start))
        for chosen in all_choices(runs) or ()
        if chosen
    ]


def all_choices(runs: Sequence[Run]) -> list[dict[int, Any]] | None:
    """Return every combination of what selections can choose, by step; None if these are many.

    What is returned after a choice that no dataset makes by itself would not be seen otherwise.
    """
    steps = max((len(run.choices) for run in runs), default=0)
    options = {
        place: {
            whole_key(one): one
            for run in runs
            if place < len(run.choices)
            for one in run.choices[place] or ()
        }
        for place in range(steps)
    }
    options = {place: option for place, option in options.items() if option}
    if math.prod(map(len, options.values())) > CHOICES:
        return None
    return [
        dict(zip(options, chosen, strict=True))
        for chosen in itertools.product(*(option.values() for option in options.values()))
    ]


def drawn(runs: Sequence[Run], source: random.Random, number: int) -> tuple[Any, ...]:
    """Return a history drawn at random, for the steps that all runs make in the same place.

    Parameters
    ----------
    runs : sequence of Run
        The runs on all datasets, each with its true values as releases.
    source : random.Random
        Where randomness comes from.
    number : int
        The number of the history: the first one lies between the true values of each step, the
        second one is 0, and the next two are far out to either side.

    Returns
    -------
    tuple
        By step, a number as the noise could give it: around the true value on one of the datasets,
        or in its tails. Where values are not all finite numbers, or arrays of one shape, it is one
        of them. A selection releases what it can choose in any run.
    """
    releases: list[Any] = []
    for step in range(max((len(run.releases) for run in runs), default=0)):
        reached = [run for run in runs if step < len(run.releases)]
        # From here on runs make other calls, which are no steps to compare.
        if len({run.sites[step] for run in reached}) > 1:
            break
        choices = [one for run in reached for one in run.choices[step] or ()]
        if choices:
            releases.append(source.choice(choices))
            continue
        values = [run.releases[step] for run in reached]
        one = source.choice(reached)
        releases.append(_drawn(values, one.steps[step], _width(one, step), source, number))
    return tuple(releases)


def _width(run: Run, step: int) -> float:
    """Return the scale of noise at a step: its claim over its epsilon, if both are known."""
    try:
        epsilon = run.steps[step].epsilon or run.seen[step] or 1
        width = float(run.steps[step].claim) / float(epsilon)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        return 1.0
    return width if 0 < width < math.inf else 1.0


def _drawn(values: list[Any], step: Step, width: float, source: random.Random, number: int) -> Any:
    """Return a value as noise around one of some values gives it, of the type of the first one."""
    try:
        arrays = [np.asarray(value) for value in values]
        shape = arrays[0].shape
        plain = all(
            array.shape == shape and array.dtype.kind in "iuf" and np.isfinite(array).all()
            for array in arrays
        )
    except (TypeError, ValueError):
        plain = False
    if not plain:
        return source.choice(values)
    rows = np.array([array.ravel() for array in arrays])
    center = rows[source.randrange(len(rows))].astype(float)
    kind = _FIRST[number] if number < len(_FIRST) else source.choice(_LATER)
    if kind == "between":
        entries = [source.uniform(*ends) for ends in zip(rows.min(0), rows.max(0), strict=True)]
    else:
        entries = [drawn_around(one, width, kind, source) for one in center]
    low, high = (end if isinstance(end, int | float) else None for end in step.ends)
    dtype = np.result_type(*arrays)
    # Whole numbers may have whole noise, or noise that is no whole number.
    whole = dtype.kind in "iu" and (number % 2 == 0 if step.whole is None else step.whole)
    if whole:
        limits = np.iinfo(dtype)
        low = limits.min if low is None else math.ceil(max(limits.min, low))
        high = limits.max if high is None else math.floor(min(limits.max, high))
        made = np.clip(np.rint(entries), low, high).astype(dtype).reshape(shape)
    else:
        entries = [_off_the_ends(one, low, high, width, source) for one in entries]
        made = np.array(entries, dtype if dtype.kind == "f" else float).reshape(shape)
    first = values[0]
    if isinstance(first, np.ndarray):
        return made
    return made[()] if isinstance(first, np.generic) else made.tolist()


def _off_the_ends(number: float, low: Any, high: Any, width: float, source: random.Random) -> float:
    """Return a number between two ends, where there are any: another one for one beyond."""
    if low is not None and number <= low:
        number = low + width * source.expovariate(1)
    elif high is not None and number >= high:
        number = high - width * source.expovariate(1)
    inside = (low is None or low < number) and (high is None or number < high)
    return number if inside else source.uniform(low, high)


SEEDED = (
    "what is returned is compared after equal releases; if a mechanism or a sampler that is not "
    "recorded draws noise with a fixed seed, name it too"
)

NOT_ALL = (
    "what is returned is not compared on all neighbors: some runs make other calls than others, or "
    "fail, after the same releases"
)

_MOVE = 1.5
"""By how much a release is moved, to see what moves with it."""


@dataclass
class Beside:
    """Compares what is returned by runs that release the same, pair by pair.

    Attributes
    ----------
    recorder : Recorder
    runs : sequence of Run
        The runs on all datasets, with their true values as releases.
    all_compared : bool
        Whether all neighbors could be compared.
    leak : tuple of Run, or None
        The first pair whose returned values differ, after the same releases.
    """

    recorder: Recorder
    runs: Sequence[Run]
    all_compared: bool = True
    leak: tuple[Run, Run] | None = None
    _chance: Chance = field(default_factory=Chance)

    def see(self, x: Run, y: Run) -> bool:
        """Compare two runs with the same releases; tell whether anything new was learned."""
        if self.leak is not None or x.returned == y.returned or x.sites != y.sites:
            return False
        if not self._chance.differing(x.returned, y.returned) or x.released != y.released:
            return False
        # Neighbors differ: by chance, where two runs on one dataset differ, or else by their data.
        known = len(self._chance.paths)
        for run in [x] * AGAIN + [y] * AGAIN:
            again = self.recorder.run(run.dataset, x.releases)
            self._chance.learn(run.returned, again.returned)
        found = self._chance.differing(x.returned, y.returned)
        if found:
            self._check_recorded(x, found)
            self.leak = x, y
        return bool(found) or len(self._chance.paths) > known

    def sees_all_left_alone(self, near: Sequence[Sequence[int]]) -> bool:
        """Tell whether the function hands all releases on, and does nothing else with them.

        Then what it returns, and what its mechanisms get, is the same after every release. What
        selections choose is tried in all combinations, if these are few.

        Parameters
        ----------
        near : sequence of list of int
            By run, the places of its neighbors.
        """
        longest = max(len(run.sites) for run in self.runs)
        combinations = all_choices(self.runs)
        if combinations is None:
            return False
        for chosen in combinations:
            history = [chosen.get(place, Untouched(place)) for place in range(longest)]
            made: dict[int, Run] = {}
            for place, one in enumerate(self.runs):
                run = fed(self.recorder, one, history)
                if run is None or (not chosen and run.sites != one.sites):
                    return False
                made[place] = run
            for run, other in _differing(made, near):
                # Selections that cannot choose this choose something else.
                if other.released == run.released:
                    return False
        return True

    def row(self, k: Number) -> tuple[AuditRow, ...]:
        """Return the row of the leak, if there is one."""
        if self.leak is None:
            return ()
        x, y = self.leak
        seen = Evidence(x.dataset, y.dataset, x.answer, y.answer)
        return (AuditRow(k, None, math.inf, seen, step=RETURNED, history=x.releases, finding=LEAK),)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a report says of the comparison."""
        seeded = () if self.leak is None else (SEEDED,)
        left_out = () if self.all_compared or self.leak is not None else (NOT_ALL,)
        return (*seeded, *self._chance.note(), *left_out)

    def _check_recorded(self, x: Run, found: set[Path]) -> None:
        """Raise QueryError if noise around a constant hides what differs: it was not recorded.

        A step whose true value is the same on all datasets protects nothing. If what differs moves
        with its release (by the same amount, or in any way where the true value is 0), the noise is
        added to an answer that the recorder does not see.
        """
        for step in x.steps:
            true = {
                key_of(entry)
                for run in self.runs
                for other in run.steps
                if other.place == step.place
                for entry in entries(other.value)
            }
            moved = _moved(x.releases[step.place])
            if step.candidates is not None or len(true) != 1 or moved is None:
                continue
            history = [*x.releases[: step.place], moved, *x.releases[step.place + 1 :]]
            again = fed(self.recorder, x, history)
            if again is None:
                continue
            moving = found & self._chance.differing(x.returned, again.returned)
            if moving and (true == {0} or any(_along(x, again, path) for path in moving)):
                raise QueryError(
                    f"what reaches {x.sites[step.place]} is {true.pop()} on every dataset, and "
                    "what is returned depends on the data and moves with the noise: the noise is "
                    f"added to an answer that was not recorded; give a mechanism that takes "
                    "the answer, or audit the draws by audit_mechanism"
                )


def _moved(release: Any) -> Any:
    """Return another release, or None where it is not made of numbers."""
    try:
        return (np.asarray(release) + _MOVE)[()]
    except (TypeError, ValueError):
        return None


def _along(x: Run, again: Run, path: Path) -> bool:
    """Tell whether a part of what is returned moves as the release does."""
    one, two = bare(x.returned.get(path)), bare(again.returned.get(path))
    if not isinstance(one, int | float) or not isinstance(two, int | float):
        return False
    return math.isclose(two - one, _MOVE, rel_tol=1e-6)


def compare_after_histories(beside: Beside, near: Sequence[Sequence[int]], number: int) -> int:
    """Compare what all neighbors return after the same releases; return after how many histories.

    Runs that make the same calls are fed the same histories, drawn around their true values. A
    function may fail on one after its last call, which says nothing if it fails on all datasets.

    Parameters
    ----------
    beside : Beside
        The runs, and what was learned of them.
    near : sequence of list of int
        By run, the places of its neighbors.
    number : int
        The most histories.
    """
    alike: dict[tuple[Hashable, Hashable], list[int]] = {}
    for place, run in enumerate(beside.runs):
        shapes = tuple(np.shape(release) for release in run.releases)
        alike.setdefault((run.sites, shapes), []).append(place)
    beside.all_compared = len({sites for sites, _ in alike}) == 1
    source, watch = random.Random(SEED), Stopwatch()
    compared = 0
    for round_ in range(number):
        if beside.leak is not None or (round_ >= LEAST and watch.over(SECONDS)):
            break
        fed_all = [_fed_alike(beside, near, one, source, round_) for one in alike.values()]
        compared += all(fed_all)
    beside.all_compared &= compared > 0
    return compared


def _fed_alike(
    beside: Beside,
    near: Sequence[Sequence[int]],
    places: Sequence[int],
    source: random.Random,
    number: int,
) -> bool:
    """Feed one history to runs that make the same calls, and compare; tell whether all were fed."""
    history = drawn([beside.runs[place] for place in places], source, number)
    made: dict[int, Run] = {}
    for place in places:
        again = fed(beside.recorder, beside.runs[place], history)
        # Without the same calls, such as those of a function that keeps its answers, nothing was
        # released that could be the same.
        if again is not None and again.sites == beside.runs[place].sites:
            made[place] = again
    beside.all_compared &= len(made) in (0, len(places))
    for run, other in _differing(made, near):
        beside.see(run, other)
    return len(made) == len(places)


def _differing(made: Mapping[int, Run], near: Sequence[Sequence[int]]) -> Iterator[tuple[Run, Run]]:
    """Yield the pairs of neighbors that make other calls, or return other parts."""
    kinds = {place: (run.sites, frozenset(run.returned.items())) for place, run in made.items()}
    if len(set(kinds.values())) > 1:
        for x, run in made.items():
            yield from ((run, made[y]) for y in near[x] if y in made and kinds[y] != kinds[x])


def fed(recorder: Recorder, run: Run, history: Sequence[Any]) -> Run | None:
    """Return a run with a history, or None if it fails, or claims what is no claim."""
    try:
        return recorder.run(run.dataset, history)
    except (SensitivityLabError, TypeError):
        return None


LEAST_AGAIN = 32
"""At least so many runs are made again, unless there are few datasets."""

EVIDENCE_AGAIN = 8
"""How often the runs of the evidence are made again at the end."""


NOT_AGAIN = (
    "some runs make no calls or fail when they are made again, as with a cache or an accountant, "
    "so what is kept between runs is not judged"
)


def check_again(recorder: Recorder, runs: Sequence[Run], progress: bool | None) -> tuple[str, ...]:
    """Raise QueryError if a dataset's run, made again with the same releases, is another one.

    Return a note if some runs could not be compared. The runs are made again backward first, so
    that what is kept between runs comes from other runs. Each dataset is run again if there are at
    most `PROBES`, and `LEAST_AGAIN` runs are made if there are fewer datasets. They are the same in
    every audit.
    """
    # A run in a process of its own is the first one there: once more is all that can be seen.
    most = len(runs) if recorder.there else min(PROBES, max(LEAST_AGAIN, len(runs)))
    places = list(probes([run.dataset for run in runs], most))
    again = running.tracked(places, unit="probes", progress=progress)
    compared = [_check(recorder, runs[place]) for place in again]
    return () if all(compared) else (NOT_AGAIN,)


def check_evidence(recorder: Recorder, rows: Iterable[AuditRow], runs: Sequence[Run]) -> None:
    """Run the datasets of all rows again, several times, with the releases of the finding.

    Sound steps of a replay are left out: their runs were made again after each history.
    """
    of = {key_of(run.dataset): run for run in runs}
    for row in rows:
        if row.step and row.verdict not in FAILING:
            continue
        for side in (row.evidence.x, row.evidence.y):
            run = of[key_of(side)]
            if row.history:
                run = recorder.run(run.dataset, row.history)
            for _ in range(1 if recorder.there else EVIDENCE_AGAIN):
                _check(recorder, run)


def check_same(run: Run, again: Run) -> None:
    """Raise QueryError if a run with its own releases is another one."""
    if run.key != again.key:
        raise QueryError(
            f"two runs on {short_literal(run.dataset)} with the same releases differ, so the "
            "function draws at random outside the recorded mechanisms, or keeps state between "
            "runs; fix its seed, name all of its mechanisms, pass fresh=True for what is kept, or "
            f"audit the part before the noise by {RANDOM}"
        )


def _check(recorder: Recorder, run: Run) -> bool:
    """Make a run again, compare, and tell whether that was possible.

    A function that keeps its answers makes no call in its second run, and one with an accountant
    may refuse it. Both say nothing of chance.
    """
    try:
        again = recorder.run(run.dataset, run.releases)
    except QueryError:
        return False
    if run.sites and not again.sites:
        return False
    check_same(run, again)
    return True


RUN_LIMIT = 1_000_000
"""The largest number of runs that are replayed."""


def replayed(
    question: Question,
    recorder: Recorder,
    runs: Sequence[Run],
    histories: Histories,
    budget: Number | None,
    beside: Beside,
) -> tuple[tuple[AuditRow, ...], str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the rows of a replay, what the setting says of it, notes, what is open and assumed.

    What is returned is compared by `beside`. A whole run may spend the `budget`, if there is one.
    Runs that only hand their releases on decide nothing by them, so that no history is needed. Of
    others, histories show what they show, and prove nothing of the rest.
    """
    if not any(run.steps for run in runs):
        raise QueryError(
            f"on {short_literal(runs[0].dataset)} the library called no recorded mechanism; "
            f"{NO_CALL}"
        )
    [k] = question.limits
    near = _places_of_neighbors(question)
    worst = Worst(question.outputs, int(k))
    selects = any(any(run.choices) for run in runs)
    several = selects or any(len(run.sites) > 1 for run in runs)
    number = number_of(histories, runs)
    settled = beside.sees_all_left_alone(near)
    if number is not None and (not several or (settled and histories is None and not selects)):
        for x, places in enumerate(near):
            for y in places:
                worst.see(runs[x], runs[y])
        # Code that hands releases on can tell their types, and so what stands for them.
        number = compare_after_histories(beside, near, 2 if settled else max(number, 1))
        text = ""
    else:
        text, number = _feed(question, recorder, runs, histories, near, worst, beside)
    rows = worst.rows(question.tolerance, budget)
    if not rows:  # only datasets without calls have neighbors: a step is shown beside itself
        alone = next(run for run in runs if run.steps)
        worst.see(alone, alone)
        rows = worst.rows(question.tolerance, budget)
    check_evidence(recorder, rows, runs)
    if worst.divided:
        text += "; the claim depends on the data"
    elif not several and len({Fraction(step.claim) for run in runs for step in run.steps}) > 1:
        text += "; the claim changes with the dataset"
    if worst.loss:
        bound = "at most " if worst.shares else ""  # of a selection, epsilon is a bound
        text += f"; the largest loss of a whole run is {bound}{worst.loss}"
    spent = (worst.unjudged,) if worst.unjudged and budget is None else ()
    notes, unjudged = ((), spent) if worst.overspent else (spent, ())
    return rows, text, (*worst.shares, *notes), unjudged, () if settled else (_assumed(number),)


def _assumed(number: int) -> str:
    """Return what so many histories leave open."""
    return (
        f"what is done with releases was the same on neighbors after {number:,} drawn or given "
        f"histories; what happens once in {max(number, 1):,} may escape them"
    )


def _feed(
    question: Question,
    recorder: Recorder,
    runs: Sequence[Run],
    histories: Histories,
    near: Sequence[Sequence[int]],
    worst: Worst,
    beside: Beside,
) -> tuple[str, int]:
    """Feed the releases of each dataset, and further ones, to its neighbors; say how many."""
    watch = Stopwatch()
    # What a selection can choose is a release; a drawn number may be one that no noise gives.
    strict = histories is not None or all(
        choice is not None for run in runs for choice in run.choices
    )
    starts = [(), *histories_of(histories, runs)]
    total, number = 0, -1
    for start in starts:
        if histories is None and number >= LEAST and watch.over(SECONDS):
            break
        own: list[Run | None] = [*runs]
        if start and strict:
            own = [recorder.run(run.dataset, start) for run in runs]
        elif start:
            own = [fed(recorder, run, start) for run in runs]
        made = [run for run in own if run is not None]
        if len(made) < len(runs):
            beside.all_compared &= not made
            continue
        total += _see_neighbors(recorder, made, near, worst, beside, question.progress) + len(own)
        number += 1
    drawn = f"{number} more {'history' if number == 1 else 'histories'}"
    return f"; replayed with the releases of each dataset and {drawn} ({total:,} runs)", number


def _places_of_neighbors(question: Question) -> list[list[int]]:
    """Return, by dataset, the places of the other datasets at most k apart from it."""
    found: list[list[int]] = [[] for _ in question.datasets]
    for x, y, _ in question.neighbors():
        found[x].append(y)
        found[y].append(x)
    return found


def _see_neighbors(
    recorder: Recorder,
    own: Sequence[Run],
    near: Sequence[Sequence[int]],
    worst: Worst,
    beside: Beside,
    progress: bool | None,
) -> int:
    """Run all neighbors of each dataset with its releases, compare, and return how many ran.

    Datasets that release the same are neighbors with a common history: each run is made once.
    """
    alike: dict[Any, list[int]] = {}
    for x, run in enumerate(own):
        alike.setdefault(run.released, []).append(x)
    needed = [{y for x in places for y in (x, *near[x])} for places in alike.values()]
    number = sum(map(len, needed))
    if number > RUN_LIMIT:
        raise TooLargeError(
            f"{len(own):,} datasets make {number:,} runs with the releases of others, more than "
            f"the {RUN_LIMIT:,} that are replayed; take fewer values, smaller sizes or "
            "every_order=False"
        )
    for places in running.tracked(list(alike.values()), unit="histories", progress=progress):
        history = own[places[0]].releases  # of all of these
        again: dict[int, Run] = {}
        for x in places:
            for y in (x, *near[x]):
                if y not in again:
                    again[y] = recorder.run(own[y].dataset, history)
            check_same(own[x], again[x])
            for y in near[x]:
                worst.see(own[x], again[y])
                beside.see(own[x], again[y])
    return number
