"""The definition of reach, in plain Python: a breadth-first search in single steps from x.

A step replaces a record (bounded), adds or removes one (unbounded, symmetric difference), or does
either (edit); no dataset on the way may have a size that is not allowed. It imports nothing that it
judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Dataset = tuple[Any, ...]


def steps(records: Counter[Any], x: Dataset, relation: str) -> Iterator[Dataset]:
    """The datasets one step from x; records says how often each value is in the universe.

    >>> sorted(steps(Counter([1, 2, 3]), (1, 2), "bounded"))
    [(1, 3), (2, 3)]
    >>> sorted(steps(Counter([1, 2, 3]), (1, 2), "symmetric_difference"))
    [(1,), (1, 2, 3), (2,)]
    """
    outside = records - Counter(x)
    fewer = {x[:at] + x[at + 1 :] for at in range(len(x))}
    if relation in ("bounded", "edit"):
        yield from (tuple(sorted((*rest, new))) for rest in fewer for new in outside)
    if relation != "bounded":
        yield from fewer
        yield from (tuple(sorted((*x, new))) for new in outside)


def balls(
    records: Iterable[Any], x: Iterable[Any], relation: str, sizes: tuple[int, float]
) -> list[set[Dataset]]:
    """Entry k: the datasets within k steps of x; the last entry is the first that has them all.

    Of `sizes` the smallest is 0 if nobody has an answer, else at least 1.

    >>> [len(ball) for ball in balls([1, 2, 3, 4], (1, 2), "bounded", (2, 2))]
    [1, 5, 6]
    """
    universe, lowest, highest = Counter(records), *sizes
    found = [{tuple(sorted(x))}]
    last = found[0]
    while last:
        near = {y for one in last for y in steps(universe, one, relation)}
        last = {y for y in near - found[-1] if lowest <= len(y) <= highest}
        if last:
            found.append(found[-1] | last)
    return found


def reach(found: list[set[Dataset]], answer: Callable[[Dataset], Any]) -> list[tuple[Any, Any]]:
    """Entry k: the least and the greatest answer on the datasets within k steps.

    >>> reach(balls([1, 2, 3, 4], (1, 2), "bounded", (2, 2)), sum)
    [(3, 3), (3, 6), (3, 7)]
    """
    answers = {y: answer(y) for y in found[-1]}
    return [
        (min(map(answers.__getitem__, ball)), max(map(answers.__getitem__, ball))) for ball in found
    ]
