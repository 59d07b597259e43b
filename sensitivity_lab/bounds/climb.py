"""Local search for neighbors that are far apart: from many starts, a better pair step by step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice, takewhile

import numpy as np

from sensitivity_lab.problem import Problem
from sensitivity_lab.running import bar
from sensitivity_lab.universes.relations import Relation

from .answers import Answers
from .moves import Moves, blocks_of
from .pairs import Pair, Shape, shapes_of
from .starts import starts, worst_cases

_ROUNDS = (32, 64, 128)
"""How many steps are tried at once; the next number after a round without a better pair.

After the last one, the search starts elsewhere.
"""

_AT_ONCE = 1 / 20
"""The part of the time that is left for which answers are asked at once."""

_KNOWN = 0.3
"""The part of the time that worst pairs of built-in queries take at most."""

_FIRST = 64
"""So many starts are compared before the search climbs from the best of them."""

_CLIMBED = 8
"""From how many of these the search climbs."""

Start = tuple[Shape, Pair]


@dataclass(frozen=True)
class Limit:
    """When a search ends: at a time, or after so many answers.

    Attributes
    ----------
    deadline : float
        Of `time.monotonic`; math.inf for none.
    answers : float
        Including remembered ones, since a small universe has few datasets; math.inf for no limit.
    """

    deadline: float
    answers: float

    def reached(self, answers: Answers) -> bool:
        """Tell whether a search must end."""
        return answers.asked >= self.answers or time.monotonic() >= self.deadline

    @contextmanager
    def shown(self, answers: Answers, progress: bool | None) -> Iterator[Callable[[], object]]:
        """Show how much of the limit is used, by what is said to it whenever something is done."""
        if self.deadline < math.inf:
            begun, total, unit = time.monotonic(), self.deadline - time.monotonic(), "seconds"
        else:
            begun, total, unit = 0.0, self.answers, "answers"
        done = 0
        with bar(unit, progress, max(1, math.ceil(total))) as told:

            def tell() -> None:
                nonlocal done
                so_far = time.monotonic() - begun if unit == "seconds" else answers.asked
                step = min(int(so_far), math.ceil(total)) - done
                done += step
                told.update(step)

            yield tell

    def room(self, answers: Answers) -> int:
        """Return how many pairs take about a twentieth of the time that is left; at least 1."""
        left = self.deadline - time.monotonic()
        if left == math.inf:
            return _ROUNDS[-1]
        return int(min(max(_AT_ONCE * left / answers.seconds, 1), _ROUNDS[-1]))


@dataclass
class Best:
    """The pair that is furthest apart so far, and the number of starts."""

    pair: Pair | None = None
    shape: Shape | None = None
    gap: float = -1.0
    starts: int = 0

    def offer(self, shape: Shape, pair: Pair, gap: float) -> None:
        """Keep a pair if it is further apart."""
        if gap > self.gap:
            self.shape, self.pair, self.gap = shape, pair, gap


def climb(
    problem: Problem,
    relation: Relation,
    answers: Answers,
    limit: Limit,
    random: np.random.Generator,
    progress: Callable[[], object] = lambda: None,
) -> Best:
    """Return the pair that is furthest apart among all that a local search visits.

    Many starts are compared, and the search climbs from the best of them: a pair is replaced by the
    best of some random steps away from it as long as one is better. Then it continues, in turn,
    from new starts and from the best pair after some random steps.
    """
    limits = problem.universe.multiplicities(problem.largest)
    best = Best()
    new = _in_turn(problem, relation, random)
    until = time.monotonic() + _KNOWN * (limit.deadline - time.monotonic())
    known = takewhile(lambda _: time.monotonic() < until, worst_cases(problem, relation))
    compared = _compared(chain(known, islice(new, _FIRST)), answers, limit, best)
    progress()
    for shape, pair in chain(compared[:_CLIMBED], _afterwards(best, new, limits, random)):
        if limit.reached(answers):
            break
        _climb_from(pair, Moves(limits, shape, random), answers, limit, best)
        progress()
    return best


def _compared(starts: Iterator[Start], answers: Answers, limit: Limit, best: Best) -> list[Start]:
    """Return starts, the furthest apart first, as many as the limit allows; offer them."""
    found: list[tuple[float, Start]] = []
    while some := list(islice(starts, limit.room(answers))):
        gaps = answers.gaps([pair.x for _, pair in some], [pair.y for _, pair in some])
        for gap, (shape, pair) in zip(gaps.tolist(), some, strict=True):
            best.offer(shape, pair, gap)
            found.append((gap, (shape, pair)))
        if limit.reached(answers):
            break
    best.starts = len(found)
    return [start for _, start in sorted(found, key=lambda one: -one[0])]


def _climb_from(pair: Pair, moves: Moves, answers: Answers, limit: Limit, best: Best) -> None:
    """Go from a pair to better ones until no step is better; offer each.

    Of pairs that are as far apart, the one of fewer blocks is better: on a plateau, steps would
    fray the blocks of a pair, and from many small blocks few steps lead on.
    """
    gap = float(answers.gaps([pair.x], [pair.y])[0])
    blocks = int(blocks_of(pair.parts[:, None])[0])
    best.offer(moves.shape, pair, gap)
    failures = 0
    while failures < len(_ROUNDS) and not limit.reached(answers):
        steps = moves.steps(pair, min(_ROUNDS[failures], limit.room(answers)))
        failures += 1
        if not steps.shape[1]:
            continue
        core, only_x, only_y = steps
        gaps, every = answers.gaps(core + only_x, core + only_y), blocks_of(steps)
        place = int(np.lexsort((every, -gaps))[0])
        found = float(gaps[place]), -int(every[place])
        if found > (gap, -blocks):
            failures = 0
        # An equally good step is taken too, to get across a plateau.
        if found >= (gap, -blocks):
            pair, gap, blocks = Pair(*steps[:, place]), found[0], -found[1]
            best.offer(moves.shape, pair, gap)


def _afterwards(
    best: Best,
    new: Iterator[Start],
    limits: np.ndarray[tuple[int], np.dtype[np.int64]],
    random: np.random.Generator,
) -> Iterator[Start]:
    """Yield the best pair after some random steps, and new starts, in turn and without end."""
    while True:
        if best.pair is not None and best.shape is not None:
            moves = Moves(limits, best.shape, random)
            yield best.shape, moves.shaken(best.pair, int(random.integers(2, 12)))
        start = next(new, None)
        if start is not None:
            best.starts += 1
            yield start


def _in_turn(problem: Problem, relation: Relation, random: np.random.Generator) -> Iterator[Start]:
    """Yield starts without end: of every shape one, then of the furthest shapes more often."""
    shapes = shapes_of(problem, relation)
    given = {
        shape: starts(
            problem.universe.multiplicities(shape.core + shape.only_x + shape.only_y),
            shape,
            random,
        )
        for shape in shapes
    }
    while given:
        for place, shape in enumerate(shapes):
            # Most of all, the largest changes move an answer furthest.
            if shape in given and (place < 2 or random.random() < 2 / (place + 1)):
                pair = next(given[shape], None)
                if pair is None:
                    del given[shape]
                else:
                    yield shape, pair
