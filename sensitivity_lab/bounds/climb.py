"""Local search for neighbors that are far apart: from many starts, a better pair step by step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from sensitivity_lab.problem import Problem
from sensitivity_lab.universes.relations import Relation

from .answers import Answers
from .pairs import Moves, Pair, Shape, shapes_of
from .starts import starts, worst_cases

_TOGETHER = 24
"""How many steps are tried at once."""

_FAILURES = 8
"""After so many rounds without a better pair, the search starts elsewhere."""

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
        Those that were remembered included, since a small universe has few datasets; math.inf for
        no limit.
    """

    deadline: float
    answers: float

    def reached(self, answers: Answers) -> bool:
        """Tell whether a search has to end."""
        return answers.asked >= self.answers or time.monotonic() >= self.deadline


@dataclass
class Best:
    """The pair that is furthest apart so far, and from how many starts it was looked for."""

    pair: Pair | None = None
    shape: Shape | None = None
    gap: float = -1.0
    starts: int = 0

    def offer(self, shape: Shape, pair: Pair, gap: float) -> None:
        """Take a pair if it is further apart."""
        if gap > self.gap:
            self.shape, self.pair, self.gap = shape, pair, gap


def climb(
    problem: Problem,
    relation: Relation,
    answers: Answers,
    limit: Limit,
    random: np.random.Generator,
    progress: Callable[[int], object] = lambda _: None,
) -> Best:
    """Return the pair that is furthest apart of all that a local search comes by.

    Many starts are compared, and the search climbs from the best of them: a pair is replaced by the
    best of some random steps away from it for as long as one is better. Then it goes on, in turn,
    from new starts and from the best pair after some random steps.
    """
    limits = problem.universe.multiplicities(problem.largest)
    best = Best()
    new = _in_turn(problem, relation, random)
    first = list(chain(worst_cases(problem, relation), islice(new, _FIRST)))
    gaps = answers.gaps([(pair.x, pair.y) for _, pair in first])
    for place in np.argsort(-gaps, kind="stable")[:_CLIMBED]:
        shape, pair = first[place]
        best.offer(shape, pair, float(gaps[place]))
    promising = (first[place] for place in np.argsort(-gaps, kind="stable")[:_CLIMBED])
    best.starts = len(first)
    for shape, pair in chain(promising, _afterwards(best, new, limits, random)):
        if limit.reached(answers):
            break
        before = answers.asked
        _climb_from(pair, Moves(limits, shape, random), answers, limit, best)
        progress(answers.asked - before)
    return best


def _climb_from(pair: Pair, moves: Moves, answers: Answers, limit: Limit, best: Best) -> None:
    """Go from a pair to better ones until no step is better; offer each."""
    gap = float(answers.gaps([(pair.x, pair.y)])[0])
    best.offer(moves.shape, pair, gap)
    failures = 0
    while failures < _FAILURES and not limit.reached(answers):
        steps = list(moves.steps(pair, _TOGETHER))
        gaps = answers.gaps([(step.x, step.y) for step in steps]) if steps else np.array([-1.0])
        place = int(gaps.argmax())
        # An equally good step is taken too: answers that count or round have plateaus.
        failures = 0 if gaps[place] > gap else failures + 1
        if gaps[place] >= gap:
            pair, gap = steps[place], float(gaps[place])
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
            shaken = best.pair
            for _ in range(int(random.integers(2, 12))):
                shaken = next(Moves(limits, best.shape, random).steps(shaken, 1), shaken)
            yield best.shape, shaken
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
