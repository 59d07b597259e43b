"""Exact local search by listing the neighbors: any query, each neighbor evaluated once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from sensitivity_lab import _parallel
from sensitivity_lab.listing import count_neighbors, iter_neighbors
from sensitivity_lab.measure import ExactAnswer, difference_of, exact_answer
from sensitivity_lab.neighbors import Multiplicities
from sensitivity_lab.problem import LocalProblem
from sensitivity_lab.queries import Query
from sensitivity_lab.universe import Universe

from .engine import Finding, Options, Refusal

_MOST = 1_000_000
"""At most so many neighbors are listed."""

_BYTES = 512
"""About what an answer needs, in memory."""

_CHUNK_BYTES = 2**22
"""A chunk of datasets for one worker takes about so much, and at most `_CHUNK` datasets."""

_CHUNK = 1024


class LocalEnumeration:
    """The engine: exact for every query, at the cost of listing every neighbor once.

    Notes
    -----
    Time: an evaluation per distinct neighbor, and O(m) for m distinct values to list it. Memory:
    about 512 bytes per neighbor.
    """

    name = "enumeration"

    def refusal(self, problem: LocalProblem, options: Options) -> Refusal | None:
        """Refuse where there are too many neighbors."""
        number = _count(problem)
        most = min(_MOST, options.memory_limit // _BYTES)
        if number <= most:
            return None
        return Refusal(
            f"enumeration would evaluate {number:,} neighbors, more than the limit of {most:,}; "
            "choose a smaller distance, or a coarser universe with fewer distinct values",
            too_large=True,
        )

    def solve(self, problem: LocalProblem, options: Options) -> Finding:
        """Return x and the first neighbor of those whose answer is furthest from that of x."""
        universe, query = problem.universe, problem.query
        number = _count(problem)
        of_x = exact_answer(query, universe, problem.x)
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


def _count(problem: LocalProblem) -> int:
    dataset = problem.universe.dataset(problem.x)
    return count_neighbors(dataset, problem.universe, problem.neighbors)


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
    """Return the answers on datasets, by multiplicities, of which there are so many."""
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
