"""Exact search by enumeration: any real-valued query, each distinct dataset evaluated once.

For a core C let hi_t(C) and lo_t(C) be the largest and smallest answers over the datasets of size
t that contain C. For x of size n with i records removed and j added, y has m = n - i + j records
and the sensitivity is the maximum over |C| = n - i of hi_n(C) - lo_m(C) and hi_m(C) - lo_n(C). No
pair is listed: hi and lo come down the lattice one level at a time. See docs/proofs.md, "Lattice:
the downward recursion".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter

import numpy as np

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.problem import Kind, Problem
from sensitivity_lab.queries import Answered
from sensitivity_lab.queries.returned_numbers import Answers
from sensitivity_lab.running import tracked
from sensitivity_lab.running.machine import Machine, in_pages
from sensitivity_lab.search.asked_again import SAMPLE, check_again
from sensitivity_lab.search.engine import Finding, Findings, Options, Plan, Refusal
from sensitivity_lab.search.lattice import Floats
from sensitivity_lab.universes.datasets import iter_neighbors
from sensitivity_lab.universes.relations import Multiplicities, Relation

from .answers_in_floats import Searched
from .core_pairs import Family, FoundPair, PairFinder, best_pair
from .evaluate import evaluate_levels
from .number_pairs import NumberFinder
from .too_large import Levels, levels_of
from .vector_pairs import VectorFinder


class Enumeration:
    """The engine: exact for every query, at the cost of listing every dataset once.

    Notes
    -----
    Time: one evaluation per distinct dataset of the sizes of x and y, then about 2 comparisons per
    core, addable value and level. Memory: 8 bytes per dataset and query, and as much again for a
    few levels. Threads share a pass by blocks.
    """

    name = "enumeration"
    kind: Kind = "global"
    covers = "any query"
    reach = "every relation"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse what would not fit into memory, or would take too many steps."""
        levels = levels_of(problem, options)
        if isinstance(levels, Refusal):
            return levels
        return Plan(partial(_solve, problem, levels, options), levels.cost(options))


def _solve(problem: Problem, levels: Levels, options: Options) -> Findings:
    """Return a finding for every query and every relation, some queries at a time."""
    together = levels.together(options)
    findings: list[list[Finding]] = []
    for first in range(0, len(problem.queries), together):
        findings += _solve_group(problem, first, together, levels, options)
    return findings


def _solve_group(
    problem: Problem, first: int, number: int, levels: Levels, options: Options
) -> list[list[Finding]]:
    """Solve a problem for some of its queries, evaluated together where memory allows it."""
    group = problem.only(problem.queries[first : first + number])
    limit = options.memory_limit

    def check(widths: Sequence[int | None]) -> None:
        needed = levels.bytes_of(widths, problem.norm)
        if needed > limit and len(widths) > 1:
            raise _OneByOne
        if needed > limit:
            raise TooLargeError(
                levels.too_wide(group.queries[0].name, widths[0] or 1, needed, options)
            )

    machine = options.machine
    try:
        evaluator = levels.evaluator(group)
        answers = evaluate_levels(evaluator, levels.sizes, options, machine, check)
    except _OneByOne:
        alone = range(first, first + len(group.queries))
        return [found for one in alone for found in _solve_group(problem, one, 1, levels, options)]
    return _solve_evaluated(group, levels, answers, machine, options)


class _OneByOne(Exception):  # noqa: N818 - not an error: the queries are evaluated in turn
    """The answers of several queries do not fit into memory together."""


def _solve_evaluated(
    problem: Problem,
    levels: Levels,
    given: list[dict[int, Answers]],
    machine: Machine,
    options: Options,
) -> list[list[Finding]]:
    """Solve a problem whose queries are evaluated: all that answer numbers in one pass."""
    evaluator, lattice = levels.evaluator(problem), levels.lattice
    answers = [Searched.of(given.pop(0), machine) for _ in problem.queries]
    vectors = [place for place, one in enumerate(answers) if one.floats[levels.sizes[0]].ndim == 2]
    numbers = [place for place in range(len(answers)) if place not in vectors]
    findings: dict[int, list[Finding]] = {}
    if numbers:
        together = _together([answers[place] for place in numbers], levels.sizes, machine)
        finders = [
            NumberFinder(
                problem, problem.queries[place], lattice, answers[place], machine, evaluator, column
            )
            for column, place in enumerate(numbers)
        ]
        findings |= zip(numbers, _found(finders, together, levels, options), strict=True)
    for place in vectors:
        finder = VectorFinder(problem, problem.queries[place], lattice, answers[place], machine)
        (findings[place],) = _found([finder], finder.columns(), levels, options)
    return [findings[place] for place in range(len(answers))]


def _together(
    searched: Sequence[Searched], sizes: Sequence[int], machine: Machine
) -> dict[int, Floats]:
    """Return the answers of queries as columns, by size; the queries' own become views of these.

    The answers of a single query are its only column.
    """
    columns = {}
    for size in sizes:
        alone = [of_one.floats[size] for of_one in searched]
        if len(alone) == 1:
            columns[size] = alone[0]
            continue
        columns[size] = machine.map(_stacked, *alone, width=len(alone))
        for column, of_one in enumerate(searched):
            of_one.floats[size] = columns[size][:, column]
    return columns


def _stacked(*alone: Floats) -> Floats:
    return np.column_stack(alone)


def _extremes(answers: Floats, machine: Machine, room: Floats | None) -> Floats:
    """Return answers as the extremes over their own datasets, columns [hi, -lo]."""
    return machine.map(_either_sign, answers, width=_width(answers), room=room)


def _width(answers: Floats) -> int:
    """Return how many columns the extremes of answers have."""
    return 2 * (1 if answers.ndim == 1 else answers.shape[1])


def _either_sign(answers: Floats) -> Floats:
    # -lo is the largest of the negated answers, so one maximum brings down hi and lo.
    columns = answers.reshape(len(answers), -1)
    return np.hstack([columns, -columns])


def _found(
    finders: Sequence[PairFinder], answers: dict[int, Floats], levels: Levels, options: Options
) -> list[list[Finding]]:
    """Return for every finder's query a finding for every relation."""
    pairs = _bring_down(finders, answers, levels, options.progress)
    return [
        _findings(finder, {of: found[column] for of, found in pairs.items()}, levels, options)
        for column, finder in enumerate(finders)
    ]


def _findings(
    finder: PairFinder, pairs: dict[Family, FoundPair], levels: Levels, options: Options
) -> list[Finding]:
    """Return a finding for every relation, from the best pairs of a query."""
    query, universe = finder.query, finder.problem.universe
    best = [
        best_pair([pairs[family] for family in families]) for families in levels.families.values()
    ]
    # Relations share pairs; each dataset is asked for once more, the furthest pairs first.
    found: dict[bytes, tuple[Multiplicities, Answered]] = {}
    for pair in sorted(best, key=attrgetter("difference"), reverse=True):
        for data, answer in zip((pair.x, pair.y), pair.answers or (), strict=False):
            found.setdefault(data.tobytes(), (data, answer))
    if not query.vectorized:  # a vectorized one is asked alone for each relation
        check_again(query, universe, list(found.values())[:SAMPLE], options.timeout)
    return [
        _finding(finder, relation, pair, levels)
        for relation, pair in zip(levels.families, best, strict=True)
    ]


def _bring_down(
    finders: Sequence[PairFinder],
    answers: dict[int, Floats],
    levels: Levels,
    progress: bool | None,
) -> dict[Family, list[FoundPair]]:
    """Bring the extremes of every level down to the cores, and find the best pairs there.

    Extremes are kept as columns [hi, -lo], so that both come down as maxima.
    """
    machine = finders[0].machine
    pairs: dict[Family, list[FoundPair]] = {}
    kept: dict[tuple[int, int], Floats] = {}

    def find(family: Family, big: Floats, small: Floats) -> None:
        pairs[family] = [finder.find(family, big, small) for finder in finders]

    rows = max(levels.lattice.number(level) for _, level in levels.steps_down)
    # Results go into two arrays in turn: new pages take the system time. What is never written
    # takes no memory.
    rooms = [in_pages((rows, _width(answers[levels.sizes[0]]))) for _ in range(2)]
    for size, level in tracked(levels.steps_down, unit="levels", progress=progress):
        # Always: the extremes are not in the first room, which the next ones take.
        keep = any(
            f.larger == size and f.smaller not in (size, level) for f in levels.at_core[level]
        )
        room = None if keep else rooms[0]
        if level == size:
            extremes = _extremes(answers[size], machine, room)
        else:
            extremes = levels.lattice.maximum_below(extremes, level, machine, room)
        if not keep:
            rooms.reverse()
        for family in levels.at_core[level]:
            mine = family.larger == size
            if mine and family.smaller == size:
                find(family, extremes, extremes)
            elif mine and family.smaller == level:
                find(family, extremes, answers[level])
            elif mine:
                kept[size, level] = extremes
            elif family.smaller == size and level < size:
                find(family, kept[family.larger, level], extremes)
    return pairs


def _finding(finder: PairFinder, relation: Relation, best: FoundPair, levels: Levels) -> Finding:
    """Return what the pair that is furthest apart is for a relation."""
    problem, query, y = finder.problem, finder.query, best.y
    if np.array_equal(best.x, y):
        # The query never changes: any neighbor of x proves it.
        changes = relation.changes(int(y.sum()), problem.universe, problem.least)
        y = next(iter_neighbors(y, problem.universe, changes))
    sizes = {size for f in levels.families[relation] for size in (f.of_x, f.of_y)}
    if best.answers is not None:
        for data, answer in zip((best.x, best.y), best.answers, strict=True):
            query.check_answer(problem.universe, data, answer)
    # What a function of many rows adds up in another order is stated as of one row.
    answers = None if query.vectorized else best.answers
    return Finding(best.x, y, answers, sum(map(levels.lattice.number, sizes)))
