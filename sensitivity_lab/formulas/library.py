"""The library's queries as models, and what their sensitivities are: a query changes this file.

Values are in units of a scale, which is 1, U - L or its square; `witness` is a family of pairs of
neighbors with records at L and U alone: the number of records of x at U, and the size and the
number at U of y.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sensitivity_lab import queries as q
from sensitivity_lab.queries import Query

from .obligations import Added, Covariances, Layers, Model, Powers
from .symbolic import Expression, SumsQuery

WIDTH, SQUARE, NOTHING = "(U - L)", "(U - L)**2", "1"

REPLACED, GIVEN, BOTH = "bounded", "unbounded", "symmetric difference"

LAYERS = (
    "layers: an L-statistic is the integral over t of its answer on the records that say which are "
    "at least t, and a change moves the number of these by its own records alone"
)
BLOCKS = (
    "sums: a dataset counts by the sums of powers of its common and own records, and no sums that "
    "satisfy their inequalities are further apart"
)
CONVEX = (
    "range: the query is convex in each record, so it is largest at the ends, and no pair is "
    "further apart than its largest and its least answer"
)
ADDED = "sum: only own records count, and each adds between L and U"
ROOT = "; and roots: |sqrt(a) - sqrt(b)| <= sqrt(|a - b|), attained where one of the two is 0"


Witness = tuple[Expression, Expression, Expression]


@dataclass(frozen=True)
class Case:
    """What a sensitivity is, where a condition holds.

    Attributes
    ----------
    condition, value : Expression
        Of n and k.
    witness : tuple of Expression
        The records of x at U; the records of y, and those at U.
    rule : str
        Why no pair is further apart.
    """

    condition: Expression
    value: Expression
    witness: Witness
    rule: str


@dataclass(frozen=True)
class Known:
    """What is known of a query under a relation.

    Attributes
    ----------
    model : Model
    scale : str
        What values are in units of.
    cases : tuple of Case
        The first whose condition holds counts.
    """

    model: Model
    scale: str
    cases: tuple[Case, ...]


def _case(condition: str, value: str, witness: str, rule: str = LAYERS) -> Case:
    """Return a case; the witness is written "j; n_y, j_y"."""
    return Case(Expression(condition), Expression(value), witness_of(witness), rule)


def witness_of(text: str) -> Witness:
    """Return a witness that is written "j; n_y, j_y"."""
    high, _, of_y = text.partition(";")
    size, _, other = of_y.partition(",")
    return Expression(high), Expression(size), Expression(other)


def _text(number: Any) -> str:
    exact = Fraction(number)
    return f"({exact.numerator} / {exact.denominator})" if exact.denominator > 1 else str(exact)


def _layers(text: str, cases: dict[str, list[Case]], *, whole: bool = True) -> dict[str, Known]:
    model = Layers(text, whole)
    return {relation: Known(model, WIDTH, tuple(of)) for relation, of in cases.items()}


_ANY = "n >= 1"
_LEFT = "k <= n - 1"
"""A record is left, whatever is removed."""


def _count(_: Any) -> dict[str, Known]:
    model = Layers("n", whole=False, least=0)
    one = [_case(_ANY, "k", "0; n + k, 0")]
    return {
        REPLACED: Known(model, NOTHING, (_case("k <= n", "0", "0; n, 0"),)),
        GIVEN: Known(model, NOTHING, tuple(one)),
        BOTH: Known(model, NOTHING, tuple(one)),
    }


def _sum(_: Any) -> dict[str, Known]:
    either = (
        _case("abs(U) >= abs(L)", "k * abs(U)", "0; n + k, k", ADDED),
        _case("abs(U) < abs(L)", "k * abs(L)", "0; n + k, 0", ADDED),
    )
    replaced = (_case("k <= n", "k * (U - L)", "0; n, k", ADDED),)
    return {
        REPLACED: Known(Added(), NOTHING, replaced),
        GIVEN: Known(Added(), NOTHING, either),
        BOTH: Known(Added(), NOTHING, either),
    }


def _mean(_: Any) -> dict[str, Known]:
    removed = [_case(_LEFT, "k / n", "k; n - k, 0")]
    cases = {REPLACED: [_case("k <= n", "k / n", "0; n, k")], GIVEN: removed, BOTH: removed}
    return _layers("j / n", cases, whole=False)


def _least_or_largest(text: str) -> dict[str, Known]:
    """Return what is known of the smallest or the largest record."""
    largest = text == "min(1, j)"
    replaced = "0; n, 1" if largest else "n; n, n - 1"
    added = "0; n + 1, 1" if largest else "n; n + 1, n"
    cases = {REPLACED: [_case("k <= n", "1", replaced)]}
    return _layers(text, cases | {one: [_case(_ANY, "1", added)] for one in (GIVEN, BOTH)})


def _range(_: Any) -> dict[str, Known]:
    cases = {
        REPLACED: [_case("k <= n and n >= 2", "1", "0; n, 1"), _case("n == 1", "0", "0; n, 0")]
    }
    added = [_case(_ANY, "1", "0; n + 1, 1")]
    return _layers("min(1, j) - max(0, j - n + 1)", cases | {GIVEN: added, BOTH: added})


def _midrange(_: Any) -> dict[str, Known]:
    half = [_case("k <= n - 1", "1 / 2", "0; n, 1"), _case("k == n", "1", "0; n, n")]
    added = [_case(_ANY, "1 / 2", "0; n + 1, 1")]
    cases = {REPLACED: half, GIVEN: added}
    return _layers("(min(1, j) + max(0, j - n + 1)) / 2", cases)


def _median(_: Any) -> dict[str, Known]:
    # With j records at U and the others at L: the answer is L for 2 j < n, U for 2 j > n, and the
    # middle for 2 j = n.
    replaced = [
        _case("k <= n and n % 2 == 1", "1", "(n - 1) // 2; n, (n + 1) // 2"),
        _case("k == 1", "1 / 2", "n // 2; n, n // 2 + 1"),
        _case("k <= n", "1", "n // 2 - 1; n, n // 2 + 1"),
    ]
    added = [
        _case("n % 2 == 1 and k == 1", "1 / 2", "(n - 1) // 2; n + 1, (n + 1) // 2"),
        _case("n % 2 == 1", "1", "(n - 1) // 2; n + 2, (n + 3) // 2"),
        _case("k <= 2", "1 / 2", "n // 2; n + 1, n // 2 + 1"),
        _case(_ANY, "1", "n // 2 - 1; n + 3, n // 2 + 2"),
    ]
    cases = {REPLACED: replaced, GIVEN: added}
    return _layers("(1 + min(max(2 * j - n, -1), 1)) / 2", cases)


def _percentile(query: Any) -> dict[str, Known]:
    if query.method != "linear":
        return {}
    place = f"({_text(Fraction(query.q) / 100)} * (n - 1))"
    below = f"floor({place})"
    part = f"({place} - {below})"
    first = f"n - 1 - {below}"  # so many records at U leave the percentile at L, or nearly
    cases = [
        _case("n == 1", "1", "0; n, 1"),
        _case(f"k == 1 and {part} == 0", "1", f"{first}; n, {first} + 1"),
        _case(f"k == 1 and {part} >= 1 / 2", f"{part}", f"{first} - 1; n, {first}"),
        _case("k == 1", f"1 - {part}", f"{first}; n, {first} + 1"),
        _case(f"k <= n and {part} == 0", "1", f"{first}; n, {first} + 1"),
        _case("k <= n", "1", f"{first} - 1; n, {first} + 1"),
    ]
    # With j ones the first of them has the rank n - j. At the place h the answer is
    # h - (n - j - 1), cut to [0, 1].
    text = f"min(max(j - (n - 1) + {place}, 0), 1)"
    return _layers(text, {REPLACED: cases})


def _iqr(query: Any) -> dict[str, Known]:
    if query.method != "linear":
        return {}
    low, high = "(n - 1) / 4", "3 * (n - 1) / 4"
    part = f"({low} - floor({low}))"
    first = f"n - 1 - floor({high})"
    cases = [
        _case(f"n >= 3 and k == 1 and {part} == 0", "1", f"{first}; n, {first} + 1"),
        _case("n == 3 and k == 1", "1 / 2", "0; n, 1"),
        _case(f"n >= 4 and k == 1 and {part} >= 1 / 2", f"{part}", f"{first}; n, {first} + 1"),
        _case("n >= 3 and k == 1", f"1 - {part}", f"{first} - 1; n, {first}"),
        _case(f"n >= 4 and k <= n and {part} == 0", "1", f"{first}; n, {first} + 1"),
        _case("n >= 4 and k <= n", "1", f"{first} - 1; n, {first} + 1"),
        _case("n == 1", "0", "0; n, 0"),
        _case("n <= 3 and k <= n", "1 / 2", "0; n, 1"),
    ]
    of = [f"min(max(j - (n - 1) + {place}, 0), 1)" for place in (high, low)]
    return _layers(f"{of[0]} - {of[1]}", {REPLACED: cases})


def _trimmed(query: Any) -> dict[str, Known]:
    cut, left = _cut(query)
    # Of j ones up to `cut` are cut off at the top, and no more than `left` count.
    text = f"min(max(j - {cut}, 0), {left}) / {left}"
    return _layers(text, {REPLACED: _of_kept(cut, f"k <= {left}", f"k / {left}")})


def _winsorized(query: Any) -> dict[str, Known]:
    cut, left = _cut(query)
    # So many of n records are at least t once the ends are moved: j beyond `cut`, and n at the end.
    above = f"min(max(j - {cut}, 0), 1)"
    at_end = f"min(max(j - n + {cut} + 1, 0), 1)"
    text = f"(min(max(j - {cut}, 0), {left}) + {cut} * {above} + {cut} * {at_end}) / n"
    return _layers(text, {REPLACED: _of_kept(cut, f"k < {left}", f"({cut} + k) / n")})


def _cut(query: Any) -> tuple[str, str]:
    """Return how many records are cut at each end, and how many are left."""
    cut = f"floor({_text(query.fraction)} * n)"
    return cut, f"(n - 2 * {cut})"


def _of_kept(cut: str, few: str, value: str) -> list[Case]:
    """Return the cases of k records among those that are left, and of more."""
    return [
        _case(f"k <= n and {few}", value, f"{cut}; n, {cut} + k"),
        _case("k <= n", "1", f"{cut}; n, n - {cut}"),
    ]


def _variance(query: Any) -> dict[str, Known]:
    if query.ddof not in (0, 1):
        return {}
    below = "n**2" if query.ddof == 0 else "(n * (n - 1))"
    model = Powers(
        SumsQuery(
            (lambda p, n: p[2] / n - (p[1] / n) ** 2)
            if query.ddof == 0
            else (lambda p, n: p[2] / (n - 1) - p[1] ** 2 / n / (n - 1)),
            2,
            "variance",
        )
    )
    value = f"k * (n - k) / {below}"
    apart = f" and n >= {1 + query.ddof}"
    # j (n - j) is largest at n / 2, where it is n**2 / 4, or (n**2 - 1) / 4 if n is odd.
    even, odd = (f"(n**2{less}) / (4 * {below})" for less in ("", " - 1"))
    removed = f"2 * k <= n and n - k >= {1 + query.ddof}"
    return {
        REPLACED: Known(
            model,
            SQUARE,
            (
                _case(f"2 * k <= n{apart}", value, "0; n, k", BLOCKS),
                _case(f"k <= n and n % 2 == 0{apart}", even, "0; n, n // 2", CONVEX),
                _case(f"k <= n{apart}", odd, "0; n, n // 2", CONVEX),
            ),
        ),
        GIVEN: Known(model, SQUARE, (_case(removed, value, "k; n - k, 0", BLOCKS),)),
    }


def _deviation(query: Any) -> dict[str, Known]:
    of_variance = _variance(query)
    return {
        relation: replace(
            known,
            cases=tuple(
                replace(one, value=Expression(f"sqrt({one.value.text})"), rule=f"{one.rule}{ROOT}")
                for one in known.cases
            ),
        )
        for relation, known in of_variance.items()
    }


def _covariance(query: Any) -> dict[str, Known]:
    if query.ddof != 0:
        return {}
    case = _case("k == 1 and k <= n", "(n - 1) / n**2", "0; n, 1", BLOCKS)
    return {REPLACED: Known(Covariances(), SQUARE, (case,))}


_BY_TYPE: dict[type, Callable[[Any], dict[str, Known]]] = {
    q.Count: _count,
    q.Sum: _sum,
    q.Mean: _mean,
    q.Min: lambda _: _least_or_largest("max(0, j - n + 1)"),
    q.Max: lambda _: _least_or_largest("min(1, j)"),
    q.Range: _range,
    q.Midrange: _midrange,
    q.Median: _median,
    q.Percentile: _percentile,
    q.InterquartileRange: _iqr,
    q.TrimmedMean: _trimmed,
    q.WinsorizedMean: _winsorized,
    q.Var: _variance,
    q.Std: _deviation,
    q.Covariance: _covariance,
}


def known_of(query: Query) -> dict[str, Known]:
    """Return what is known of a query, by relation."""
    of = _BY_TYPE.get(type(query))
    return {} if of is None else of(query)


_CANDIDATES = {
    REPLACED: (
        *(f"{common}; n, {common} + k" for common in ("0", "n - k", "(n - k) // 2")),
        *(f"{common} + k; n, {common}" for common in ("0", "n - k")),
    ),
    GIVEN: (
        *(f"{common}; n + k, {common} + {own}" for common in "0n" for own in "0k"),
        *(f"n; n - k, n - {own}" for own in "0k"),
        "k; n - k, 0",
    ),
    BOTH: (),
}


def candidates(relation: str) -> Iterator[Witness]:
    """Yield families of witnesses of a function of sums: one of them may give its formula."""
    yield from map(witness_of, _CANDIDATES[relation])
