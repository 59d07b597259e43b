"""In which entries two sequences differ: the fewest edits between them, or place by place."""

from __future__ import annotations

from collections.abc import Sequence

from sensitivity_lab.metrics.lists import common_places

Places = tuple[int, ...]
"""Where entries of a sequence stand, ascending from 0."""


def fewest_edits(x: Sequence[object], y: Sequence[object]) -> tuple[Places, Places]:
    """Return the fewest places of x and of y without which the two are the same.

    Without them, what is left is a longest common subsequence: ``len(x) + len(y)`` less twice its
    length is the insert-delete distance. It takes ``len(x) * len(y)`` steps.

    Examples
    --------
    >>> fewest_edits("abab", "baa")
    ((0, 3), (2,))
    """
    stay_x, stay_y = map(set, common_places(x, y))
    deleted = tuple(place for place in range(len(x)) if place not in stay_x)
    return deleted, tuple(place for place in range(len(y)) if place not in stay_y)


def replaced_places(x: Sequence[object], y: Sequence[object]) -> Places:
    """Return where two sequences of one length differ; their Hamming distance is how many.

    Examples
    --------
    >>> replaced_places("abab", "abba")
    (2, 3)
    """
    return tuple(place for place, (a, b) in enumerate(zip(x, y, strict=False)) if a != b)
