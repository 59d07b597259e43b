"""The sign table and the rules behind the words of a variance, certified by an SMT solver.

`z3` shows that what would contradict a row or a rule is impossible, for all real records, sizes and
ddof at once. What it is told are the definitions: what a dataset's variance is, and which sign its
slope has in a best pair as a record moves ("One mover" in docs/proofs.md).
"""

from __future__ import annotations

import pytest
from sign_table import O_OUTSIDE, OWN

z3 = pytest.importorskip("z3")

pytestmark = pytest.mark.exhaustive

IN_X, IN_Y = "AC", "BC"
M, N, D, U, S, Q, STEP = z3.Reals("m n d u s q step")
"""Two sizes, ddof, a record, the sum and sum of squares of the others, and how far it moves."""


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


def test_fact_1():
    """V is a quadratic in one record: its slope is 2 (u - mean), and h or -g come before u**2."""
    moved = scaled(M, S + U + STEP, Q + (U + STEP) ** 2) - scaled(M, S + U, Q + U * U)
    assert proves(moved == 2 * (M * U - (S + U)) * STEP + (M - 1) * STEP * STEP)
    moved = scaled(M, S - U - STEP, Q - (U + STEP) ** 2) - scaled(M, S - U, Q - U * U)
    assert proves(moved == -2 * (M * U - (S - U)) * STEP - (M + 1) * STEP * STEP)


def coefficient(row):
    """The coefficient of u**2 in V(x) - V(y), read off the labels that each set has."""
    of_x, of_y = ((row.mover in members) - (row.among in members) for members in (IN_X, IN_Y))
    parts = {1: inside, -1: lambda size: -left_out(size), 0: lambda _: z3.RealVal(0)}
    return parts[of_x](M) - parts[of_y](N)


SIZES = [M > D, N > D, D >= 0, M >= 2, N >= 2]


@pytest.mark.parametrize("row", OWN, ids="".join)
def test_rows_where_both_have_records_of_their_own(row):
    """Whatever the sizes."""
    assert proves(coefficient(row) > 0, *SIZES)


def test_o_among_c_where_the_sizes_are_equal():
    """u**2 cancels, and what is left is convex: the root of a set that leaves u out is concave."""
    assert (*OWN, O_OUTSIDE[-1]) == O_OUTSIDE
    assert O_OUTSIDE[-1] == ("O", "C")
    assert proves(-left_out(M) + left_out(N) == 0, *SIZES, M == N)
    assert proves(-left_out(N) < 0, *SIZES)


def test_rows_where_x_is_larger():
    assert O_OUTSIDE[-1] == ("O", "C")
    assert proves(-left_out(M) + left_out(N) > 0, *SIZES, M > N)


def test_rows_where_y_is_larger():
    """Then C moves among O."""
    assert proves(inside(M) - inside(N) > 0, *SIZES, N >= M + 1)


def test_o_among_c_where_y_is_larger_and_the_roots_are_far_apart():
    """A best pair maximises V(x) - rho V(y): sd(y) is at most (V(y) / v + v) / 2 for any v."""
    of_x, of_y, here, apart = z3.Reals("v_x v_y sd_y t")
    other = z3.Real("other_sd_y")
    given = [here > 0, other >= 0, apart > 0, RHO * here == here + apart, of_y == other * other]
    below = of_x - RHO * of_y - apart * here - apart * apart
    assert proves(below <= of_x - of_y - 2 * apart * other - apart * apart, *given)
    assert proves(below == of_x - of_y - 2 * apart * other - apart * apart, *given, other == here)
    larger = [*SIZES, N >= M + 1, RHO * left_out(N) > left_out(M)]
    assert proves(-left_out(M) + RHO * left_out(N) > 0, *larger)
    # What the rules need: rho (n_x - d) / (n_y - d), with which slopes of V(y) weigh, is above 1.
    assert proves(RHO * (M - D) > N - D, *larger)
    assert not proves(-left_out(M) + RHO * left_out(N) > 0, *SIZES, N >= M + 1, RHO >= 1)


def test_the_solver_notices_a_row_that_is_false():
    """C among O has the other sign where x is larger, and A among B none at all without y."""
    assert not proves(inside(M) - inside(N) > 0, *SIZES, M >= N + 1)
    assert not proves(inside(M) - inside(N) > 0, M > D, N > D, N >= M + 1, M >= 1)


CORE, THETA, T, W = z3.Reals("c theta t w")
PART = [CORE > D, D >= 0, N >= CORE + 1, THETA > 0, THETA * THETA * (N - D) == CORE - D]
"""C is c of the n records of y; W is what D(y) has more than D(C)."""


def test_fact_3():
    """How far the roots of a part and the whole are apart says where the root of the whole is."""
    of_c, of_y, root = z3.Reals("sd_c sd_y root")
    given = [*PART, T > 0, W >= 0, of_c >= 0, of_y >= 0, root >= 0]
    given.append((CORE - D) * of_c * of_c == (N - D) * of_y * of_y - W)
    assert proves(of_y >= THETA * of_c, *given)
    shift = T * (CORE - D) / (N - CORE)
    more = (CORE - D) * T * T + (N - CORE) * shift * shift
    given.append((N - CORE) * root * root == W + more)
    assert proves(root * THETA >= shift, *given)
    # The square of sd(C) >= sd(y) + t, and of sd(y) - shift >= root, which is above the shift.
    apart = (CORE - D) * (of_y + T) * (of_y + T) <= (N - D) * of_y * of_y - W
    beyond = (N - CORE) * (of_y - shift) * (of_y - shift) >= W + more
    assert proves(apart == beyond, *given)
    assert proves(shift < root, *given)


def test_fact_4():
    """What is not further from the mean makes the squared deviations fall."""
    old, new, mean = z3.Reals("old new mean")
    nearer = (new - mean) ** 2 <= (old - mean) ** 2
    assert proves(change(old, new, mean) < 0, M >= 1, old != new, nearer)


def test_a_record_of_the_core():
    """The second derivative of H is positive, unless two records are kept and theta is large."""
    positive = CORE * (N - 1) > (N - D) * (1 + THETA)
    assert proves(positive, *PART, CORE >= 3)
    assert proves(positive, *PART, CORE >= 2, D >= 1)
    assert proves(positive == (2 * THETA * (N - 1) < N), *PART, CORE == 2)
    assert not proves(positive, *PART, CORE == 2)


A, B, C, O, OTHER = z3.Reals("a b c o other")  # noqa: E741 - the labels
MEAN_X, MEAN_Y, RHO, G = z3.Reals("mean_x mean_y rho g")
PAIR = [M >= 2, RHO >= 1]
"""M is the size of y. Slopes of V(y) weigh rho times as much as those of V(x), at least 1."""


def change(old, new, mean):
    """The change of ``m`` times the squared deviations when a record becomes another (Fact 4)."""
    return (new - old) * (M * (new + old) - 2 * M * mean - (new - old))


def optimal(*pairs):
    """What a best pair satisfies: the slope at a mover falls off towards what it is among."""
    slopes = {
        "AO": (A - MEAN_X) * (O - A),
        "AC": RHO * (A - MEAN_Y) * (C - A),
        "AB": (A - MEAN_X + RHO * (A - MEAN_Y)) * (B - A),
        "OB": RHO * (O - MEAN_Y) * (B - O),
        "OC": (RHO * (O - MEAN_Y) - (O - MEAN_X)) * (C - O),
    }
    return [*PAIR, *(slopes[pair] < 0 for pair in pairs)]


IMPOSSIBLE = z3.BoolVal(False)


def test_rule_1():
    assert proves(IMPOSSIBLE, *optimal("AC", "AO", "AB"), B < A, A < C, A < O)


def test_rule_2():
    assert proves(IMPOSSIBLE, *optimal("AC", "OB"), C < A, A < O, O < B)


def test_rule_3():
    assert proves(IMPOSSIBLE, *optimal("AO", "AB", "OB", "OC"), C < O, O < A, A < B)


def test_rule_4():
    """`c < o < b` only if fewer are kept than replaced."""
    kept, replaced, below, above = z3.Reals("kept replaced below above")
    given = [*optimal("OB"), C < O, O < B, G == MEAN_Y - O]
    assert proves(z3.And(G > 0, MEAN_Y - C > G), *given)
    # Another record of B, wherever it is, does not become o without a loss either.
    assert proves(OTHER - MEAN_Y < G, *given, OTHER != O, change(OTHER, O, MEAN_Y) >= 0)
    sums = [G > 0, kept >= 1, replaced >= 1, below > kept * G, above < replaced * G, below == above]
    assert proves(kept < replaced, *sums)


def test_rule_5():
    """`c < a < b` only if more are kept than replaced, and not where one is replaced."""
    kept, replaced, below, above = z3.Reals("kept replaced below above")
    given = [*optimal("AC"), C < A, A < B, G == A - MEAN_Y]
    assert proves(z3.And(G > 0, B - MEAN_Y > G), *given)
    # Another record of C, wherever it is, does not become a without a loss either.
    assert proves(MEAN_Y - OTHER < G, *given, OTHER != A, change(OTHER, A, MEAN_Y) >= 0)
    sums = [G > 0, kept >= 1, replaced >= 1, below < kept * G, above > replaced * G, below == above]
    assert proves(kept > replaced, *sums)
    # One replaced: y is C + b and x is C + a, and b is farther from the mean of C than a.
    mean = z3.Real("mean_of_c")
    assert proves((B - mean) ** 2 > (A - mean) ** 2, mean < A, A < B)


def test_the_solver_notices_what_the_rules_need():
    assert not proves(IMPOSSIBLE, *optimal("AC", "AO"), B < A, A < C, A < O)
    assert not proves(IMPOSSIBLE, *optimal("AO", "AB", "OB"), C < O, O < A, A < B)
