"""Exact local search by listing the neighbors: any query, each neighbor evaluated once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain, islice

from sensitivity_lab import running
from sensitivity_lab.checks import MORE_MEMORY, named, told_apart
from sensitivity_lab.errors import QueryError, TooLargeError
from sensitivity_lab.metrics.multisets import moved
from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.queries import Query
from sensitivity_lab.results.witness import ExactAnswer, difference_of, exact_answer, rationals_of
from sensitivity_lab.search.asked_again import answered_in_time, check_again, spread
from sensitivity_lab.search.engine import (
    BothEnds,
    Cost,
    End,
    Ends,
    Finding,
    Options,
    Plan,
    Refusal,
)
from sensitivity_lab.search.layouts import CALL, WORD, bytes_of_pairs
from sensitivity_lab.universes.datasets import (
    inside_and_outside,
    iter_neighbors,
    number_of_neighbors,
)
from sensitivity_lab.universes.relations import Multiplicities, RemovedAdded, show
from sensitivity_lab.universes.universe import FiniteUniverse

MAX_NEIGHBORS = 1_000_000
"""The most neighbors that are listed."""

_BYTES = 256
"""About how many bytes an answer needs."""

_BYTES_PER_NUMBER = 128
"""About how many bytes every further number of an answer needs, a Fraction."""

_CHUNK_BYTES = 2**22
"""About how many bytes a chunk of datasets takes; it has at most `_CHUNK` datasets."""

_CHUNK = 1024

_PROBE = 2
"""How many datasets are evaluated first, to see how long one takes."""

_BLOCK_SECONDS = 2.0
"""A chunk takes about so long, or less."""


class LocalEnumeration:
    """The engine: exact for every query, at the cost of listing every neighbor once.

    Notes
    -----
    Time: one evaluation per distinct neighbor, and O(m) for m distinct values to list it. Memory:
    about 256 bytes per neighbor.
    """

    name = "enumeration"
    kind: Kind = "local"
    covers = "any query"
    reach = "every relation"

    def plan(self, problem: LocalProblem, options: Options) -> Plan[Finding] | Refusal:
        """Plan the search; refuse where there are too many neighbors."""
        most = min(MAX_NEIGHBORS, options.memory_limit // _BYTES)
        number, all_of_them = _count(problem, most)
        if number > most:
            text = f"{number:,}" if all_of_them else f"at least {number:,}"
            return Refusal(
                f"enumeration would evaluate {text} neighbors, more than the limit of {most:,}; "
                "choose a smaller distance, or a coarser universe with fewer distinct values",
                too_large=True,
            )
        # A chunk of datasets, and the pair.
        listed = min(_CHUNK_BYTES, WORD * problem.universe.number * number) + bytes_of_pairs(
            problem
        )
        cost = Cost(CALL + _BYTES * (number + 1) + listed)
        arguments = problem, number, options
        return Plan(partial(_solve, *arguments), cost, partial(_both_ends, *arguments))


def _answers(
    problem: LocalProblem, number: int, options: Options
) -> tuple[ExactAnswer, list[ExactAnswer]]:
    """Return the answer on x, and those on its neighbors."""
    universe, query = problem.universe, problem.query
    of_x = exact_answer(query, universe, problem.x)
    check_width(of_x, number, query.name, options)
    neighbors = partial(_neighbors, problem)
    return of_x, answers_on(neighbors, number, query, universe, options)


def _both_ends(problem: LocalProblem, number: int, options: Options) -> BothEnds:
    """Return the answer on x, and the least and the greatest answer of every net change.

    Raises
    ------
    QueryError
        If the answers are several numbers.
    """
    universe, query = problem.universe, problem.query
    of_x, found = _answers(problem, number, options)
    numbers = [_one_number(query, answer) for answer in found]
    # Of every net change the places of the neighbors with the least and the greatest answer.
    ends: dict[RemovedAdded, tuple[int, int]] = {}
    for place, (y, answer) in enumerate(zip(_neighbors(problem), numbers, strict=True)):
        # The net change: a neighbor that has some records back counts as nearer.
        removed, added = moved(problem.x, y)
        change = int(removed), int(added)
        low, high = ends.setdefault(change, (place, place))
        ends[change] = (
            place if answer < numbers[low] else low,
            place if answer > numbers[high] else high,
        )
    wanted = sorted({place for both in ends.values() for place in both})
    datasets = dict(_at(_neighbors(problem), wanted))
    known = [(problem.x, of_x), *((y, found[place]) for place, y in datasets.items())]
    sample = [known[place] for place in spread(len(known))]
    check_again(query, universe, sample, options.timeout)

    def end(place: int) -> End:
        return End(numbers[place], partial(datasets.__getitem__, place))

    of_changes = [Ends(i, j, end(low), end(high)) for (i, j), (low, high) in ends.items()]
    answer = _one_number(query, of_x)
    return BothEnds(answer, of_changes, datasets_evaluated=number + 1)


def _one_number(query: Query, answer: ExactAnswer) -> Fraction:
    """Return an answer that is one number, or raise QueryError."""
    if not isinstance(answer, tuple):
        return answer
    if len(answer) == 1:
        return answer[0]
    raise QueryError(
        f"the least and the greatest answer are of one number, and {named(query.name)} returned "
        f"{len(answer)}; take them one at a time"
    )


def _solve(problem: LocalProblem, number: int, options: Options) -> Finding:
    """Return x and the first neighbor of those whose answer is furthest from that of x."""
    universe, query = problem.universe, problem.query
    of_x, found = _answers(problem, number, options)
    # Many neighbors share an answer; each distinct one is compared once.
    first_place: dict[ExactAnswer, int] = {}
    for place, answer in enumerate(found):
        first_place.setdefault(answer, place)
    furthest = max(
        first_place,
        key=lambda answer: difference_of(of_x, answer, problem.norm, query.root),
    )
    y = next(islice(_neighbors(problem), first_place[furthest], None))
    pair = [(problem.x, of_x), (y, furthest)]
    check_again(query, universe, pair, options.timeout)
    return Finding(problem.x, y, None, number + 1)


def _count(problem: LocalProblem, most: int) -> tuple[int, bool]:
    """Return the number of neighbors, and whether it is all, or some that are more than `most`."""
    inside, outside = inside_and_outside(problem.x, problem.universe, problem.changes)
    return number_of_neighbors(inside, outside, problem.changes, most)


def check_width(answer: ExactAnswer, number: int, name: str, options: Options) -> None:
    """Raise TooLargeError if `number` answers like this one need too much memory."""
    width = len(answer) if isinstance(answer, tuple) else 1
    needed = number * (_BYTES + _BYTES_PER_NUMBER * (width - 1))
    if width > 1 and needed > options.memory_limit:
        need, limit = told_apart(needed, options.memory_limit)
        raise TooLargeError(
            f"enumeration would need about {need} for {number:,} answers of {name}, each of "
            f"{width:,} numbers, more than the memory limit of {limit}; choose a smaller distance, "
            f"fewer answers, or {MORE_MEMORY}"
        )


def _neighbors(problem: LocalProblem) -> Iterator[Multiplicities]:
    return iter_neighbors(problem.x, problem.universe, problem.changes)


Chunk = tuple[Multiplicities, ...]
"""Consecutive datasets of a listing."""


@dataclass(frozen=True)
class _Answerer:
    """Answers a query on a chunk of datasets."""

    query: Query
    universe: FiniteUniverse
    timeout: float | None

    def __call__(self, chunk: Chunk) -> list[ExactAnswer]:
        return [self._answer(data) for data in chunk]

    def _answer(self, data: Multiplicities) -> ExactAnswer:
        if self.query.arithmetic == "exact":
            return exact_answer(self.query, self.universe, data)
        return rationals_of(answered_in_time(self.query, self.universe, data, self.timeout))


def answers_on(
    datasets: Callable[[], Iterable[Multiplicities]],
    number: int,
    query: Query,
    universe: FiniteUniverse,
    options: Options,
) -> list[ExactAnswer]:
    """Return the answers on `number` datasets, listed by multiplicities in one order always.

    Raises
    ------
    QueryError
        If the query answers a dataset in two ways.
    """
    answers: list[ExactAnswer] = []
    answerer = _Answerer(query, universe, options.timeout)
    left = iter(datasets())
    seconds, took = 0.0, running.Sample()
    for data in islice(left, _PROBE):
        # Only the last counts as a sample: the first may have to import, and to make tables.
        answered, took = running.timed(answerer, (data,), 1)
        answers += answered
        seconds = max(seconds, took.seconds)
    length = min(_CHUNK, max(1, _CHUNK_BYTES // (8 * len(universe.values))))
    if seconds:
        length = max(1, min(length, int(_BLOCK_SECONDS / seconds)))

    def blocks() -> Iterator[running.Block[Chunk]]:
        while chunk := tuple(islice(left, length)):
            first = show(universe.dataset(chunk[0]))
            label = f"{named(query.name)} on {len(chunk):,} datasets from {first} on"
            yield running.Block(chunk, len(chunk), label)

    done = running.run(
        answerer,
        blocks(),
        total=number - len(answers),
        n_jobs=options.n_jobs,
        progress=options.progress,
        sample=took,
        apart=options.timeout is not None,
    )
    answers += chain.from_iterable(done)
    if query.arithmetic == "float":
        known = [(data, answers[at]) for at, data in _at(datasets(), spread(number))]
        check_again(query, universe, known, options.timeout)
    return answers


def _at(
    datasets: Iterable[Multiplicities], places: Sequence[int]
) -> Iterator[tuple[int, Multiplicities]]:
    """Yield the datasets at some places, ascending, with these."""
    wanted = set(places)
    if places:
        numbered = islice(enumerate(datasets), places[-1] + 1)
        yield from ((at, data) for at, data in numbered if at in wanted)
