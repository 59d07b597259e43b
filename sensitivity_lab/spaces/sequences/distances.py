"""In which entries two sequences differ: the fewest edits between them, or place by place."""

from __future__ import annotations

from collections.abc import Sequence

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
    common = [[0] * (len(y) + 1) for _ in range(len(x) + 1)]  # of x[i:] and y[j:]
    for i in reversed(range(len(x))):
        for j in reversed(range(len(y))):
            longer = max(common[i + 1][j], common[i][j + 1])
            common[i][j] = 1 + common[i + 1][j + 1] if x[i] == y[j] else longer
    i = j = 0
    stay_x, stay_y = set(), set()
    while i < len(x) and j < len(y):
        if x[i] == y[j]:
            stay_x.add(i)
            stay_y.add(j)
            i, j = i + 1, j + 1
        elif common[i + 1][j] >= common[i][j + 1]:
            i += 1
        else:
            j += 1
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
