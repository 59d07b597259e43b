"""Evaluating queries on whole levels of the lattice, each dataset once, in parallel.

Workers get recipes (a level and a range of positions), never arrays of datasets. Answers on
finished blocks are held until all blocks are there.

A function may get a universe as integers in floats (`Scale`), with the error of rounding them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab import running
from sensitivity_lab.checks import named, shown
from sensitivity_lab.errors import QueryError
from sensitivity_lab.queries import ExactQuery, Query
from sensitivity_lab.queries.returned_numbers import Answers, alike
from sensitivity_lab.running.machine import Machine, in_pages
from sensitivity_lab.running.time_limits import TimeUpError, in_time
from sensitivity_lab.search.asked_again import agree, largest_of, no_function, spread
from sensitivity_lab.search.engine import Options
from sensitivity_lab.search.lattice import Lattice
from sensitivity_lab.universes.listing import Rows
from sensitivity_lab.universes.relations import show
from sensitivity_lab.universes.universe import FiniteUniverse, of_numbers


def hold(every: Any) -> list[Answers]:
    """Return answers, by query, in memory of their own."""
    return [_held(answers) for answers in every]


def _held(answers: Answers) -> Answers:
    # What a worker sent was put into memory by another thread, to which it would go back.
    copied = in_pages(answers.shape, answers.dtype)
    copied[...] = answers
    return copied


def level_of(
    lengths: Sequence[int], blocks: list[Answers], like: Answers, machine: Machine
) -> Answers:
    """Return the answers on all blocks of a level as one array of a type; empty the list."""
    starts = np.cumsum([0, *lengths]).tolist()
    level = in_pages((starts[-1], *like.shape[1:]), like.dtype)

    def fill(block: int) -> None:
        level[starts[block] : starts[block + 1]] = blocks[block]
        blocks[block] = np.empty(0)  # its memory is free

    machine.run(fill, range(len(blocks)))
    return level


def ends_of(held: Answers) -> Answers:
    """Return a few answers that fit into a type exactly if all of them do."""
    if held.dtype == np.int64:
        return np.stack([held.min(axis=0), held.max(axis=0)])
    return held[:1].copy()


_CHUNKS = 48
"""The least number of blocks, about, that work is cut into, for any number of workers."""

_SECONDS_LOST = 2.0
"""About how long a block takes at most: what is lost when the search is killed."""

_BATCH_ROWS = 16384
"""The most datasets that a vectorized query gets at once: with fewer, threads wait for Python."""

_BATCH_RECORDS = 1 << 22
"""The most records that all datasets of such a batch have together."""

_EVALUATED_FIRST = 4
"""How many datasets are evaluated first, to see how long one takes."""

_PROBE_ROWS = 1000
"""The same for vectorized queries: with what `answer_together` asks for, at most 1,024."""

_TOGETHER = 8
"""How many datasets of a size a vectorized function gets at once, to see what it returns."""

_MEASURED_SECONDS = 0.1
"""How long a measurement takes at least, where there are enough datasets."""


@dataclass(frozen=True)
class Recipe:
    """Datasets `first` to `last` - 1 of the level `size`."""

    size: int
    first: int
    last: int

    @property
    def number(self) -> int:
        """How many datasets these are."""
        return self.last - self.first


@dataclass(frozen=True)
class Evaluator:
    """Evaluates queries on datasets of a universe.

    Parameters
    ----------
    universe : FiniteUniverse
    queries : tuple of Query
    largest_size : int
        The largest size of a dataset.
    smallest_size : int, default 0
        The smallest size that the search needs.
    timeout : float or None, default None
        The most seconds that a caller's function may take for one dataset.
    """

    universe: FiniteUniverse
    queries: tuple[Query, ...]
    largest_size: int
    smallest_size: int = 0
    timeout: float | None = None

    @cached_property
    def scales(self) -> dict[bool, Scale]:
        """The universe's values as floats, by whether they are centred."""
        return {centred: Scale.of(self.universe, centred=centred) for centred in (False, True)}

    def __call__(self, recipe: Recipe) -> list[Answers]:
        """Return the answers on a range of datasets.

        Returns
        -------
        list of ndarray, shape (last - first,) or (last - first, d)
            By query. For exact queries on numbers their numerators on the scaled values; for other
            queries their answers, of a caller's function without rounding any.
        """
        batch = _batch(recipe.size)
        listings = [self._listing_for(query) for query in self.queries]
        parts: list[list[Answers]] = [[] for _ in self.queries]
        first = recipe.first
        while first < recipe.last:
            # Batches end at multiples of their length: they are the same wherever blocks begin.
            last = min((first // batch + 1) * batch, recipe.last)
            some = Recipe(recipe.size, first, last)
            for part, query, listing in zip(parts, self.queries, listings, strict=True):
                part.append(self._answers(query, listing.rows(recipe.size, first, last), some))
            first = last
        return [joined(query, part) for query, part in zip(self.queries, parts, strict=True)]

    def _answers(self, query: Query, rows: NDArray[Any], batch: Recipe) -> Answers:
        """Return the answers of one query on a batch of datasets, given as rows too."""
        if query.arithmetic == "exact":
            return self._evaluated(query, rows).astype(np.float64, copy=False)
        if self.timeout is None or query.vectorized:
            return self._in_time(query, rows, batch)
        alone = [
            self._in_time(query, rows[at : at + 1], Recipe(batch.size, batch.first + at, 0))
            for at in range(len(rows))
        ]
        return joined(query, alone)

    def _evaluated(self, query: Query, rows: NDArray[Any]) -> Answers:
        if query.by_place(self.universe):
            return query.on_rows(self.universe, rows)
        return query.evaluate(rows)

    def _in_time(self, query: Query, rows: NDArray[Any], batch: Recipe) -> Answers:
        """Return answers, or raise QueryError if they take more time than all rows may take."""
        try:
            limit = None if self.timeout is None else self.timeout * len(rows)
            return in_time(limit, self._evaluated, query, rows)
        except TimeUpError:
            beside = f" and {len(rows) - 1:,} others" if len(rows) > 1 else ""
            raise QueryError(
                f"query {shown(query.name)} on the dataset {show(self.dataset(batch))}{beside} "
                f"took longer than {self.timeout} seconds for each dataset, the limit of "
                f"run=Run(timeout={self.timeout})"
            ) from None

    def answer_together(self, sizes: Sequence[int]) -> None:
        """Let vectorized functions answer a few datasets of each size together.

        They compare some of the answers with those on single datasets, and raise QueryError where
        these differ. Chunks of small levels hold one dataset each, and would show nothing.
        """
        for query in self.queries:
            if query.arithmetic == "exact" or not query.vectorized:
                continue
            listing = self._listing_for(query)
            for size in sizes:
                last = self._lattice.number(size) - 1
                places = sorted({last * part // (_TOGETHER - 1) for part in range(_TOGETHER)})
                rows = [listing.rows(size, place, place + 1) for place in places]
                self._in_time(query, np.concatenate(rows), Recipe(size, 0, 0))

    def dataset(self, recipe: Recipe) -> tuple[Any, ...]:
        """Return the records of the first dataset of a recipe."""
        return self.universe.dataset(self._lattice.multiplicities(recipe.size, recipe.first))

    def label(self, recipe: Recipe) -> str:
        """Return what errors call the datasets of a recipe."""
        first = self.dataset(recipe)
        names = ", ".join(named(query.name) for query in self.queries)
        return (
            f"{names} on {recipe.number:,} datasets of {recipe.size} records, the "
            f"first of which is {show(first)}"
        )

    @property
    def _lattice(self) -> Lattice:
        return lattice_of(self.universe, self.largest_size, self.smallest_size)

    def _listing_for(self, query: Query) -> Rows:
        """Return what lists datasets as this query is to see them: by values, or by positions."""
        if query.by_place(self.universe):
            return self._lattice.listing
        if query.arithmetic == "exact":
            return self._lattice.listing.labelled(self.scales[query.centred].floats)
        return self._lattice.listing.labelled(of_numbers(self.universe).array)


@lru_cache(maxsize=4)
def lattice_of(universe: FiniteUniverse, largest_size: int, smallest_size: int = 0) -> Lattice:
    """Return the lattice of a universe; a worker process builds it once."""
    return Lattice(universe.multiplicities(largest_size).tolist(), largest_size, smallest_size)


def joined(query: Query, parts: Sequence[Answers]) -> Answers:
    """Return answers on several batches as one array, or raise QueryError if they do not fit."""
    shapes = list(dict.fromkeys(part.shape[1:] for part in parts))
    if len(shapes) > 1:
        one, other = ("a number" if not shape else f"{shape[0]} numbers" for shape in shapes[:2])
        raise QueryError(
            f"query {shown(query.name)} returned {one} on some datasets and {other} on others; a "
            "query "
            "returns a number, or an array of one fixed length"
        )
    return parts[0] if len(parts) == 1 else np.concatenate(alike(parts))


def evaluate_levels(
    evaluator: Evaluator,
    sizes: Sequence[int],
    options: Options,
    machine: Machine,
    check: Callable[[Sequence[int | None]], None],
) -> list[dict[int, Answers]]:
    """Evaluate every dataset of the given sizes once.

    After a few datasets, `check` gets how many numbers each query answers (None: a single number).
    It raises if the answers on all datasets would be too many.

    Returns
    -------
    list of dict of ndarray, shape (datasets of the size,) or (datasets of the size, d)
        By query, then by size. The same for every number of
        workers, as the chunks are.
    """
    done, new = _evaluate_all(evaluator, sizes, options, check)
    levels = _joined_levels(evaluator, done, machine)
    _check_new(evaluator, new, levels, options)
    return levels


def seconds_each(evaluator: Evaluator, size: int) -> tuple[float, int]:
    """Return how many seconds a dataset of a size takes, and how many of them were measured."""
    number = lattice_of(evaluator.universe, evaluator.largest_size).number(size)
    evaluator(Recipe(size, 0, 1))  # which may have to import, and to make tables
    measured, seconds = 1, 0.0
    # Ever more, until they take so long that a moment of the system's own does not count.
    while seconds < _MEASURED_SECONDS:
        started = time.perf_counter()
        evaluator(Recipe(size, 0, measured))
        seconds = time.perf_counter() - started
        if seconds >= _MEASURED_SECONDS or measured == number:
            break
        measured = min(4 * measured, number)
    return seconds / measured, measured


def _evaluate_all(
    evaluator: Evaluator,
    sizes: Sequence[int],
    options: Options,
    check: Callable[[Sequence[int | None]], None],
) -> tuple[dict[Recipe, list[Answers]], list[Recipe]]:
    """Return the answers on every block, by query; and the ranges that the blocks are cut from."""
    lattice = lattice_of(evaluator.universe, evaluator.largest_size, evaluator.smallest_size)
    evaluator.answer_together(sizes)
    found = ((size, lattice.number(size)) for size in sizes)
    every = [Recipe(size, 0, number) for size, number in found if number]
    missing = list(every)
    widths: list[Answers] = []
    done: dict[Recipe, list[Answers]] = {}
    took = running.Sample()
    if missing:
        # A few datasets first, to see how long one takes, and how many numbers an answer has.
        probe = _probe(evaluator, missing[0])
        widths, took = _timed(evaluator, probe)
        done[probe] = hold(widths)
        missing[0] = Recipe(probe.size, probe.last, missing[0].last)
    check([None if batch.ndim == 1 else batch.shape[1] for batch in widths])
    recipes = _cut_ranges(evaluator, missing, took.each)
    answers = _evaluate(evaluator, recipes, took, options)
    done |= zip(recipes, answers, strict=True)
    return done, every


def _check_new(
    evaluator: Evaluator,
    new: Sequence[Recipe],
    levels: list[dict[int, Answers]],
    options: Options,
) -> None:
    """Evaluate some datasets again, last to first; raise QueryError if an answer is another one."""
    lengths = np.cumsum([0] + [recipe.number for recipe in new])
    own = [place for place, query in enumerate(evaluator.queries) if query.arithmetic == "float"]
    if not own or not lengths[-1]:
        return
    asked = replace(evaluator, queries=tuple(evaluator.queries[place] for place in own))
    recipes = []
    for number in spread(int(lengths[-1])):
        block = int(np.searchsorted(lengths, number, side="right")) - 1
        at = new[block].first + number - int(lengths[block])
        recipes.append(Recipe(new[block].size, at, at + 1))
    recipes.reverse()
    again = _evaluate_again(asked, recipes, options)
    records = largest_of(evaluator.universe)
    for column, place in enumerate(own):
        first: list[Answers] = [np.empty(0)] * len(recipes)
        for size in {recipe.size for recipe in recipes}:
            of_size = [at for at, recipe in enumerate(recipes) if recipe.size == size]
            taken = levels[place][size][np.array([recipes[at].first for at in of_size])]
            for at, answer in zip(of_size, taken, strict=True):
                first[at] = np.asarray(answer)
        others = max(map(_largest_answer, first))
        for recipe, one, now in zip(recipes, first, again, strict=True):
            if not agree(asked.queries[column], one, now[column], others, records):
                data = evaluator.dataset(recipe)
                raise no_function(asked.queries[column], data, one, now[column])


def _evaluate_again(
    evaluator: Evaluator, recipes: Sequence[Recipe], options: Options
) -> list[list[Answers]]:
    """Return the answers on datasets by themselves, in the order given."""
    if not recipes:
        return []
    first, took = running.timed(evaluator, recipes[0], 1)
    rest = recipes[1:]
    others: list[list[Answers]] = running.run(
        evaluator,
        [running.Block(one, 1, evaluator.label(one)) for one in rest],
        total=len(rest),
        n_jobs=options.n_jobs,
        progress=options.progress,
        sample=took,
        apart=evaluator.timeout is not None,
    )
    return [first, *others]


def _largest_answer(answers: Answers) -> float:
    """Return the largest absolute value of some answers."""
    return max((float(abs(one)) for one in answers.ravel().tolist()), default=0.0)


def _evaluate(
    evaluator: Evaluator,
    recipes: list[Recipe],
    sample: running.Sample,
    options: Options,
) -> list[list[Answers]]:
    """Return the answers on blocks of datasets, by block."""
    total = sum(recipe.number for recipe in recipes)
    return running.run(
        evaluator,
        [running.Block(one, one.number, evaluator.label(one)) for one in recipes],
        total=total,
        n_jobs=options.n_jobs,
        progress=options.progress,
        arrived=hold,
        sample=sample,
        apart=evaluator.timeout is not None,
    )


def _joined_levels(
    evaluator: Evaluator, done: dict[Recipe, list[Answers]], machine: Machine
) -> list[dict[int, Answers]]:
    """Return the answers on every level, by query and size; empty `done`, whose memory is freed."""
    recipes = sorted(done, key=lambda recipe: (-recipe.size, recipe.first))
    levels: list[dict[int, Answers]] = []
    for place, query in enumerate(evaluator.queries):
        # All levels are of one type.
        some = joined(query, [ends_of(done[recipe][place]) for recipe in recipes])
        levels.append({})
        for size, of_size in groupby(recipes, attrgetter("size")):
            ranges = list(of_size)
            blocks = [done[recipe][place] for recipe in ranges]
            for recipe in ranges:
                done[recipe][place] = np.empty(0)
            lengths = [recipe.number for recipe in ranges]
            levels[-1][size] = level_of(lengths, blocks, some, machine)
    return levels


def _probe(evaluator: Evaluator, missing: Recipe) -> Recipe:
    """Return the first few datasets of a range."""
    stop = _PROBE_ROWS if _vectorized(evaluator) else _EVALUATED_FIRST
    return Recipe(missing.size, 0, min(stop, missing.last))


def _timed(evaluator: Evaluator, probe: Recipe) -> tuple[list[Answers], running.Sample]:
    """Return the answers on a few datasets, and how long they took but for the first.

    A function may have to import and to make tables at first. A vectorized one has answered some
    datasets before, and gets its rows together.
    """
    alone = Recipe(probe.size, probe.first, probe.first + 1)
    if _vectorized(evaluator) or alone == probe:
        return running.timed(evaluator, probe, probe.last - probe.first)
    first = evaluator(alone)
    others = Recipe(probe.size, alone.last, probe.last)
    later, sample = running.timed(evaluator, others, others.number)
    every = zip(evaluator.queries, first, later, strict=True)
    return [joined(query, [one, other]) for query, one, other in every], sample


def _vectorized(evaluator: Evaluator) -> bool:
    return all(query.vectorized for query in evaluator.queries)


def _cut_ranges(evaluator: Evaluator, missing: list[Recipe], seconds: float) -> list[Recipe]:
    """Cut ranges of datasets into blocks that take about `_SECONDS_LOST` or less."""
    total = sum(recipe.number for recipe in missing)
    length = max(1, -(-total // _CHUNKS))
    if seconds:
        length = max(1, min(length, int(_SECONDS_LOST / seconds)))
    together = _vectorized(evaluator)
    blocks = []
    for recipe in missing:
        # Blocks of vectorized queries end where batches do, so that no batch is cut.
        step = (
            length if not together else max(1, length // _batch(recipe.size)) * _batch(recipe.size)
        )
        first = recipe.first
        while first < recipe.last:
            last = min(first + step, recipe.last)
            if together:
                last = min((first // step + 1) * step, recipe.last)
            blocks.append(Recipe(recipe.size, first, last))
            first = last
    return blocks


def _batch(size: int) -> int:
    """Return how many datasets of a size a query gets at once."""
    return max(1, min(_BATCH_ROWS, _BATCH_RECORDS // max(size, 1)))


_WHOLE_FLOATS = 2**53
"""Floats hold all integers up to this one."""


@dataclass(frozen=True)
class Scale:
    """The values of a universe as integers, perhaps centred: ``value = centre + integer * unit``.

    Attributes
    ----------
    floats : ndarray of float64, shape (m,)
        ``integers / 2**shift``, rounded to floats; the integers themselves where that is possible.
    largest : int
        The largest absolute value among the integers.
    shift : int
        0 where floats can hold all the integers.
    """

    floats: NDArray[np.float64]
    largest: int
    shift: int

    @classmethod
    def of(cls, universe: FiniteUniverse, *, centred: bool) -> Scale:
        """Scale a universe, moving its middle to zero if `centred`.

        A common factor of all the integers is divided out, so 1e9 + {0, 2, 4} becomes {-1, 0, 1}.
        """
        integers, _ = of_numbers(universe).integers
        if centred:
            integers = integers - integers[len(integers) // 2]
        integers = integers // (math.gcd(*integers) or 1)
        largest = int(abs(integers).max())
        shift = 0 if largest <= _WHOLE_FLOATS else largest.bit_length() - 53
        return cls((integers / (1 << shift)).astype(np.float64), largest, shift)

    def error(self, query: ExactQuery, size: int, factor: int) -> float:
        """Bound the error of ``factor * query.evaluate`` on datasets of a size, in these floats.

        Notes
        -----
        Zero where every intermediate result is an integer that floats hold. Otherwise a sum of n
        terms is off by at most n units in the last place of the largest possible sum, each term by
        a few units of its own; the constants are generous.
        """
        largest = query.magnitude(size, self.largest) * factor
        if self.shift == 0 and largest <= _WHOLE_FLOATS // 2:
            return 0.0
        scaled = float(largest / (1 << self.shift * query.degree))
        return (4 * size + 16) * float(np.finfo(np.float64).eps) * scaled
