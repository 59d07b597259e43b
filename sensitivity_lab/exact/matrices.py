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


def least_absolute(
    matrix: Sequence[Sequence[Fraction]], target: Sequence[Fraction]
) -> tuple[Vector, Vector] | None:
    """Find the solution of linear equations with the least sum of absolute values.

    Parameters
    ----------
    matrix : sequence of rows, shape (m, n)
        One equation per row.
    target : sequence of Fraction, shape (m,)
        What ``matrix @ solution`` is.

    Returns
    -------
    solution : list of Fraction, shape (n,)
        With at most m entries that are not 0.
    prices : list of Fraction, shape (m,)
        The proof: every column has a product of at most 1 with the prices, in absolute value, and
        ``dot(prices, target)`` is the sum. So no solution has a smaller one.
    None
        If there is no solution.

    Notes
    -----
    The simplex method, with Bland's rule against cycles. A basic solution of any signs is a start,
    since each unknown may be positive or negative.

    Examples
    --------
    >>> rows = [[Fraction(1), Fraction(2), Fraction(0)], [Fraction(0), Fraction(1), Fraction(1)]]
    >>> solution, prices = least_absolute(rows, [Fraction(2), Fraction(1)])
    >>> [str(entry) for entry in solution], str(dot(prices, [2, 1]))
    (['0', '1', '0'], '1')
    """
    prices, rank = reduced(matrix)
    rows = [
        [*row, dot(combination, target)]
        for row, combination in zip(product(prices, matrix), prices, strict=True)
    ]
    if any(row[-1] for row in rows[rank:]):
        return None
    rows, prices = rows[:rank], prices[:rank]
    # Row i reads off the unknown basis[i], which is on the side signs[i] of 0, or at 0.
    basis = [next(j for j, entry in enumerate(row) if entry) for row in rows]
    signs = [-1 if row[-1] < 0 else 1 for row in rows]
    number = len(matrix[0]) if matrix else 0
    while True:
        worth = [sum((s * row[j] for s, row in zip(signs, rows, strict=True)), Fraction(0))
                 for j in range(number)]  # fmt: skip
        enters = next((j for j, entry in enumerate(worth) if abs(entry) > 1), None)
        if enters is None:
            break
        sign = 1 if worth[enters] > 0 else -1
        # The first unknown that reaches 0 leaves; of several, the one that comes first.
        _, _, leaves = min(
            (row[-1] / (sign * row[enters]), basis[i], i)
            for i, row in enumerate(rows)
            if signs[i] * sign * row[enters] > 0
        )
        _clear(rows, prices, leaves, enters)
        basis[leaves], signs[leaves] = enters, sign
    solution = [Fraction(0)] * number
    for place, row in zip(basis, rows, strict=True):
        solution[place] = row[-1]
    proof = [
        sum((s * row[i] for s, row in zip(signs, prices, strict=True)), Fraction(0))
        for i in range(len(matrix))
    ]
    return solution, proof


def _less(row: Vector, factor: Fraction, other: Vector) -> Vector:
    return [a - factor * b if b else a for a, b in zip(row, other, strict=True)]


def inverse(matrix: Sequence[Sequence[Fraction]]) -> Matrix:
    """Return the inverse of a square matrix that has one."""
    return reduced(matrix)[0]


def determinant(matrix: Sequence[Sequence[Fraction]]) -> Fraction:
    """Return the determinant of a square matrix.

    Examples
    --------
    >>> str(determinant([[Fraction(0), Fraction(2)], [Fraction(3), Fraction(1)]]))
    '-6'
    """
    rows, found = [list(row) for row in matrix], Fraction(1)
    while rows:
        pivot = next((i for i, row in enumerate(rows) if row[0]), None)
        if pivot is None:
            return Fraction(0)
        # Moving row i to the top passes i others, each of which turns the sign.
        first = rows.pop(pivot)
        found *= -first[0] if pivot % 2 else first[0]
        rows = [_less(row, row[0] / first[0], first)[1:] for row in rows]
    return found


def components(size: int, links: Iterable[Iterable[int]]) -> list[list[int]]:
    """Split 0..size - 1 into the parts that links hold together.

    Examples
    --------
    >>> components(4, [(0, 2), (2, 3)])
    [[0, 2, 3], [1]]
    """
    part = list(range(size))
    for link in links:
        named = {part[i] for i in link}
        part = [min(named) if name in named else name for name in part]
    return [[i for i in range(size) if part[i] == name] for name in sorted(set(part))]
