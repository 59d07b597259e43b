"""Linear algebra in fractions, without rounding; matrices are lists of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

Vector = list[Fraction]
Matrix = list[Vector]


def dot(one: Sequence[Fraction], two: Sequence[Fraction]) -> Fraction:
    """Return the inner product of two vectors of one length."""
    return sum((a * b for a, b in zip(one, two, strict=True) if a and b), Fraction(0))


def product(left: Sequence[Sequence[Fraction]], right: Sequence[Sequence[Fraction]]) -> Matrix:
    """Return the product of two matrices; `right` has at least one row, or `left` no row."""
    columns = transposed(right)
    return [[dot(row, column) for column in columns] for row in left]


def transposed(matrix: Sequence[Sequence[Fraction]]) -> Matrix:
    """Return the columns of a matrix as rows."""
    return [list(column) for column in zip(*matrix, strict=True)]


def identity(size: int) -> Matrix:
    """Return the identity of a size."""
    return [[Fraction(i == j) for j in range(size)] for i in range(size)]


def reduced(matrix: Sequence[Sequence[Fraction]]) -> tuple[Matrix, int]:
    """Bring a matrix to reduced row echelon form by Gauss-Jordan elimination.

    Parameters
    ----------
    matrix : sequence of rows, shape (m, n)
        Not changed.

    Returns
    -------
    change : matrix, shape (m, m)
        Invertible; ``product(change, matrix)`` has the reduced form. Its rows from `rank` on are a
        basis of the combinations of rows that are 0.
    rank : int
        The rank of `matrix`.

    Notes
    -----
    At most m m (m + n) operations on fractions, fewer where there are zeros.

    Examples
    --------
    >>> change, rank = reduced([[Fraction(1)], [Fraction(2)]])
    >>> rank, product(change, [[1], [2]]) == [[1], [0]]
    (1, True)
    """
    rows, change = [list(row) for row in matrix], identity(len(matrix))
    rank = 0
    for column in range(len(rows[0]) if rows else 0):
        # Rows before `rank` are done; of the others, one that has this column.
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        # What is done to the rows is done to the identity: change times the matrix is always
        # `rows`.
        for both in (rows, change):
            both[rank], both[pivot] = both[pivot], both[rank]
        _clear(rows, change, rank, column)
        rank += 1
    return change, rank


def _clear(rows: Matrix, change: Matrix, pivot: int, column: int) -> None:
    """Make a column 1 in a row and 0 in all others, and change another matrix alike."""
    scale = 1 / rows[pivot][column]
    for both in (rows, change):
        both[pivot] = [scale * entry for entry in both[pivot]]
    for i, row in enumerate(rows):
        if i != pivot and (factor := row[column]):
            for both in (rows, change):
                both[i] = _less(both[i], factor, both[pivot])


def _less(row: Vector, factor: Fraction, other: Vector) -> Vector:
    return [entry - factor * by for entry, by in zip(row, other, strict=True)]


def inverse(matrix: Sequence[Sequence[Fraction]]) -> Matrix:
    """Return the inverse of a square matrix that has one."""
    return reduced(matrix)[0]


def components(size: int, links: Iterable[Iterable[int]]) -> list[list[int]]:
    """Split 0..size - 1 into the parts that links hold together.

    Examples
    --------
    >>> components(4, [(0, 2), (2, 3)])
    [[0, 2, 3], [1]]
    """
    part = list(range(size))
    for link in links:
        # Each part has the name of its least member.
        named = {part[i] for i in link}
        part = [min(named) if name in named else name for name in part]
    return [[i for i in range(size) if part[i] == name] for name in sorted(set(part))]
