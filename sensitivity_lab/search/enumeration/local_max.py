"""Exact local search by listing the neighbors: any query, each neighbor evaluated once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

from sensitivity_lab import _parallel
from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.queries import Query
from sensitivity_lab.results.measure import ExactAnswer, difference_of, exact_answer
from sensitivity_lab.search.engine import Cost, Finding, Options, Plan, Refusal
from sensitivity_lab.universes.datasets import inside_and_outside, iter_neighbors
from sensitivity_lab.universes.multiplicities import Multiplicities
from sensitivity_lab.universes.neighbor_counts import number_of_neighbors
from sensitivity_lab.universes.universe import Universe

MAX_NEIGHBORS = 1_000_000
"""The most neighbors that are listed."""

_BYTES = 512
"""About how many bytes an answer needs."""

_BYTES_PER_NUMBER = 128
"""About how many bytes every further number of an answer needs, a Fraction."""

_CHUNK_BYTES = 2**22
"""About how many bytes a chunk of datasets takes; it has at most `_CHUNK` datasets."""

_CHUNK = 1024


class LocalEnumeration:
    """The engine: exact for every query, at the cost of listing every neighbor once.

    Notes
    -----
    Time: an evaluation per distinct neighbor, and O(m) for m distinct values to list it. Memory:
    about 512 bytes per neighbor.
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
            told = f"{number:,}" if all_of_them else f"at least {number:,}"
            return Refusal(
                f"enumeration would evaluate {told} neighbors, more than the limit of {most:,}; "
                "choose a smaller distance, or a coarser universe with fewer distinct values",
                too_large=True,
            )
        cost = Cost(datasets=number + 1, bytes=_BYTES * (number + 1))
        return Plan(partial(_solve, problem, number, options), cost)


def _solve(problem: LocalProblem, number: int, options: Options) -> Finding:
    """Return x and the first neighbor of those whose answer is furthest from that of x."""
    universe, query = problem.universe, problem.query
    of_x = exact_answer(query, universe, problem.x)
    check_width(of_x, number, query.name, options)
    found = answers_on(_neighbors(problem), number, query, universe, options)
    # Many neighbors share an answer; each distinct one is compared once.
    first_place: dict[ExactAnswer, int] = {}
    for place, answer in enumerate(found):
        first_place.setdefault(answer, place)
    furthest = max(
        first_place,
        key=lambda answer: difference_of(of_x, answer, problem.norm, query.root),
    )
    y = next(islice(_neighbors(problem), first_place[furthest], None))
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
        raise TooLargeError(
            f"enumeration would need about {needed / 2**20:,.1f} MiB for {number:,} answers of "
            f"{name}, each of {width:,} numbers, more than the memory limit of "
            f"{options.memory_limit / 2**20:,.1f} MiB; choose a smaller distance, fewer answers, "
            "or a larger memory_limit"
        )


def _neighbors(problem: LocalProblem) -> Iterator[Multiplicities]:
    return iter_neighbors(problem.x, problem.universe, problem.changes)


@dataclass(frozen=True)
class _Answerer:
    """Answers a query on a chunk of datasets."""

    query: Query
    universe: Universe

    def __call__(self, chunk: list[Multiplicities]) -> list[ExactAnswer]:
        return [exact_answer(self.query, self.universe, data) for data in chunk]


def answers_on(
    datasets: Iterable[Multiplicities],
    number: int,
    query: Query,
    universe: Universe,
    options: Options,
) -> list[ExactAnswer]:
    """Return the answers on `number` datasets, given by multiplicities."""
    length = min(_CHUNK, max(1, _CHUNK_BYTES // (8 * len(universe.values))))
    lengths = [min(length, number - first) for first in range(0, number, length)]
    stream = iter(datasets)
    chunks = (list(islice(stream, size)) for size in lengths)
    done = _parallel.run(
        _Answerer(query, universe),
        chunks,
        lengths,
        n_jobs=options.n_jobs,
        progress=options.progress,
    )
    return [answer for part in done for answer in part]
