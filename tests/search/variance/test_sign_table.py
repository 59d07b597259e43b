"""The sign table and the rules behind the words of a variance, certified by an SMT solver.

`z3` shows that what would contradict a row or a rule is impossible, for all real records, sizes and
ddof at once. What it is told are the definitions: what a dataset's variance is, and that no
exchange of two records makes a best pair better.
"""

from __future__ import annotations

import pytest

from sensitivity_lab.search.variance.words import LARGER, REPLACED, SMALLER

z3 = pytest.importorskip("z3")

pytestmark = pytest.mark.exhaustive

IN_X, IN_Y = "AC", "BC"
M, N, D, U, S, Q = z3.Reals("m n d u s q")
"""Two sizes, ddof, a record, and the sum and sum of squares of the others."""


def proves(claim, *given) -> bool:
    """Whether a claim holds wherever all that is given does."""
    solver = z3.Solver()
    solver.add(*given, z3.Not(claim))
    return solver.check() == z3.unsat


def scaled(size, total, squares):
    """The variance of a set, times ``size * (size - ddof)``."""
    return size * squares - total * total


def inside(size):
    """h: what a record inside a set of so many records contributes to u**2, in its variance."""
    return (size - 1) / (size * (size - D))


def left_out(size):
    """g: the same for a record that a set leaves out, with the sign changed."""
    return (size + 1) / (size * (size - D))


def test_the_two_coefficients():
    moved = scaled(M, S + U, Q + U * U) - scaled(M, S, Q)
    assert proves(moved == (M - 1) * U * U - 2 * S * U)
    without = scaled(M, S - U, Q - U * U) - scaled(M, S, Q)
    assert proves(without == -(M + 1) * U * U + 2 * S * U)


def coefficient(row):
    """The coefficient of u**2 in V(x) - V(y), read off the labels that each set has."""
    of_x, of_y = ((row.mover in members) - (row.among in members) for members in (IN_X, IN_Y))
    parts = {1: inside, -1: lambda size: -left_out(size), 0: lambda _: z3.RealVal(0)}
    return parts[of_x](M) - parts[of_y](N)


SIZES = [M > D, N > D, D >= 0, M >= 2, N >= 2]


@pytest.mark.parametrize("row", REPLACED[:-1], ids="".join)
def test_rows_where_the_sizes_are_equal(row):
    assert proves(coefficient(row) > 0, *SIZES, M == N)


def test_o_among_c_where_the_sizes_are_equal():
    """u**2 cancels, and what is left is convex: the root of a set that leaves u out is concave."""
    assert REPLACED[-1] == ("O", "C")
    assert proves(-left_out(M) + left_out(N) == 0, *SIZES, M == N)
    assert proves(-left_out(N) < 0, *SIZES)


def test_rows_where_x_is_larger():
    for row in LARGER[:-1]:
        assert proves(coefficient(row) > 0, *SIZES, M > N)
    assert LARGER[-1] == ("O", "C")
    assert proves(-left_out(M) + left_out(N) > 0, *SIZES, M > N)


def test_rows_where_y_is_larger():
    for row in SMALLER[:-1]:
        assert proves(coefficient(row) > 0, *SIZES, N > M)
    assert SMALLER[-1] == ("C", "O")
    assert proves(inside(M) - inside(N) > 0, *SIZES, N >= M + 1)


def test_the_solver_notices_a_row_that_is_false():
    """C among O has the other sign where x is larger, and A among B none at all without y."""
    assert not proves(inside(M) - inside(N) > 0, *SIZES, M >= N + 1)
    assert not proves(inside(M) - inside(N) > 0, M > D, N > D, N >= M + 1, M >= 1)


A, B, C, O = z3.Reals("a b c o")  # noqa: E741 - the labels
MEAN_X, MEAN_Y, RHO, G = z3.Reals("mean_x mean_y rho g")
PAIR = [M >= 2, RHO >= 1]
"""Of x and y with m records each; rho is sd(x) / sd(y), or 1 for the variance."""


def change(old, new, mean):
    """The change of ``m`` times the squared deviations when a record becomes another (Fact 4)."""
    return (new - old) * (M * (new + old) - 2 * M * mean - (new - old))


def along(old, new, mean):
    """The change of V to first order, times ``m - ddof``."""
    return (new - old) * (new + old - 2 * mean)


def optimal(*pairs):
    """What a best pair satisfies: no exchange of two of its labels makes it better."""
    exchanges = {
        "AC": change(C, A, MEAN_Y) >= 0,
        "AO": change(A, O, MEAN_X) <= 0,
        "BO": change(B, O, MEAN_Y) >= 0,
        "BC": change(C, B, MEAN_X) <= 0,
        "AB": along(A, B, MEAN_X) - RHO * along(B, A, MEAN_Y) <= 0,
        "CO": along(C, O, MEAN_X) - RHO * along(C, O, MEAN_Y) <= 0,
    }
    return [*PAIR, *(exchanges[pair] for pair in pairs)]


IMPOSSIBLE = z3.BoolVal(False)


def test_rule_1():
    assert proves(IMPOSSIBLE, *optimal("AC", "AO", "AB"), B < A, A < C, A < O)


def test_rule_2():
    assert proves(IMPOSSIBLE, *optimal("AC", "BO"), C < A, A < O, O < B)


def test_rule_3():
    assert proves(IMPOSSIBLE, *optimal("AO", "AB", "BO", "CO"), C < O, O < A, A < B)


def test_rule_4():
    """`c < o < b` only if fewer are kept than replaced."""
    kept, replaced, below, above = z3.Reals("kept replaced below above")
    given = [*optimal("BO"), C < O, O < B, G == MEAN_Y - O]
    assert proves(z3.And(G > 0, B - MEAN_Y < G, MEAN_Y - C > G), *given)
    sums = [G > 0, kept >= 1, replaced >= 1, below > kept * G, above < replaced * G, below == above]
    assert proves(kept < replaced, *sums)


def test_rule_5():
    """`c < a < b` only if more are kept than replaced, and not where one is replaced."""
    kept, replaced, below, above = z3.Reals("kept replaced below above")
    given = [*optimal("AC"), C < A, A < B, G == A - MEAN_Y]
    assert proves(z3.And(G > 0, MEAN_Y - C < G, B - MEAN_Y > G), *given)
    sums = [G > 0, kept >= 1, replaced >= 1, below < kept * G, above > replaced * G, below == above]
    assert proves(kept > replaced, *sums)
    # One replaced: y is C + b and x is C + a, and b is farther from the mean of C than a.
    mean = z3.Real("mean_of_c")
    assert proves((B - mean) ** 2 > (A - mean) ** 2, mean < A, A < B)


def test_the_solver_notices_what_the_rules_need():
    assert not proves(IMPOSSIBLE, *optimal("AC", "AO"), B < A, A < C, A < O)
    assert not proves(IMPOSSIBLE, *optimal("AO", "AB", "BO"), C < O, O < A, A < B)
