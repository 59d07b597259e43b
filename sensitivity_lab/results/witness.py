"""The pair of datasets that proves a sensitivity: shown, measured, and listed when first used.

`measure` says how far a query's answers on two datasets are apart: it is the source of every value.
As text a pair has the records that change first, then what they share, shortened. It is checked
twice: `Unlisted.listed` checks a pair as it lists it, and `Result.verify` in `result.py` checks any
result's pair again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, Protocol

from sensitivity_lab.checks import Norm, text_of
from sensitivity_lab.errors import VerificationError
from sensitivity_lab.exact.difference import Difference, rational_of
from sensitivity_lab.metrics.vectors import distance
from sensitivity_lab.queries import Answer, Answered, Query
from sensitivity_lab.queries.base import as_floats
from sensitivity_lab.universes.relations import (
    SHOWN,
    Dataset,
    Multiplicities,
    Relation,
    check_related,
    show,
)
from sensitivity_lab.universes.universe import FiniteUniverse

from .literals import short, short_ends
from .reprs import Facts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 12
"""Of more distinct records than that, the middle is left out."""

_ENDS = 4
"""So many of the first ones are shown then, and of the last."""

_ALIGNED = 40
"""Longer texts are not aligned."""


def in_short(records: Sequence[Any]) -> str:
    """Return ascending records as text: equal ones once, of many the first and the last ones.

    Examples
    --------
    >>> in_short((0, 0, 0, 7)), in_short(())
    ('0 (x3), 7', 'none')
    >>> in_short(range(5000))
    '0, 1, 2, 3, ..., 4996, 4997, 4998, 4999; 5,000 records'
    """
    runs = [(record, sum(1 for _ in equal)) for record, equal in groupby(records)]
    if len(runs) <= _MOST:
        return ", ".join(map(_run, runs)) or "none"
    texts = [*map(_run, runs[:_ENDS]), "...", *map(_run, runs[-_ENDS:])]
    return f"{', '.join(texts)}; {len(records):,} records"


def _run(run: tuple[Any, int]) -> str:
    """Return a record and how often it occurs as text."""
    record, count = run
    return f"{text_of(record)} (x{count:,})" if count > 1 else text_of(record)


def show_answer(answer: Answer) -> str:
    """Return an answer as text, the middle of a long vector left out."""
    if not isinstance(answer, tuple):
        return f"{answer:.10g}"
    return show([f"{number:.10g}" for number in answer], "numbers")


def pair_facts(witness: Any) -> list[tuple[str, str]]:
    """Return the facts that a repr shows of a witness: records only in x, only in y, in both.

    Parameters
    ----------
    witness : Witness
        Anything with only_x, only_y, shared, query_x and query_y.
    """
    texts = [in_short(witness.only_x), in_short(witness.only_y)]
    width = max(map(len, texts))
    width = width if width <= _ALIGNED else 0
    answers = (("x", witness.query_x), ("y", witness.query_y))
    return [
        *(
            (f"only in {name}", f"{text:<{width}}  f({name}) = {show_answer(answer)}")
            for text, (name, answer) in zip(texts, answers, strict=True)
        ),
        ("in both", in_short(witness.shared)),
    ]


def changes(first: Iterable[Any], second: Iterable[Any], name: str) -> str:
    """Return a dataset as the changes that lead to it from another one.

    Parameters
    ----------
    first, second : iterable of records
        The dataset before and after the changes; ascending.
    name : str
        The name of the first.

    Examples
    --------
    >>> changes((1, 2, 2), (1, 2, 5), "x"), changes((1, 2), (1,), "x"), changes((1,), (1,), "x")
    ('x without 2, with 5', 'x without 2', 'x')
    """
    before, after = Counter(first), Counter(second)
    parts = [
        f"{word} {in_short(tuple(records.elements()))}"
        for word, records in (("without", before - after), ("with", after - before))
        if records
    ]
    return " ".join([name, ", ".join(parts)]).rstrip()


ExactAnswer = Fraction | tuple[Fraction, ...]
"""An answer as a rational number (its square, if the query is a root), or a tuple of several."""


@dataclass(frozen=True)
class Measurement:
    """The answers of a query on a pair of datasets, and how far apart they are.

    `arithmetic` is "exact" if no answer is a float that a caller's function returned.
    """

    query_x: Answer
    query_y: Answer
    value: float
    exact: Fraction | None
    upper: float | None
    arithmetic: Literal["exact", "float"]


def measure(
    query: Query,
    universe: FiniteUniverse,
    x: Multiplicities,
    y: Multiplicities,
    norm: Norm = "L1",
    answers: tuple[Answered, Answered] | None = None,
) -> Measurement:
    """Return how far a query's answers on x and y are apart.

    Parameters
    ----------
    query : Query
        The query.
    universe : FiniteUniverse
        The records that x and y are drawn from.
    x : ndarray of int64, shape (m,)
        A dataset, by multiplicities.
    y : ndarray of int64, shape (m,)
        Another.
    norm : {"L1", "L2", "Linf"}, default "L1"
        For answers that are vectors.
    answers : tuple of two answers, optional
        The answers of a caller's function if they are known, to save the calls.
    """
    first, second = query.exactly(universe, x), query.exactly(universe, y)
    if first is None or second is None:
        returned = answers or (query.answered(universe, x), query.answered(universe, y))
        first, second = map(rationals_of, returned)
        if not all(map(_is_exact, returned)):
            floats = as_floats(first, False), as_floats(second, False)
            gap = difference_of(first, second, norm).nearest()
            return Measurement(*floats, gap, None, None, "float")
    difference = difference_of(first, second, norm, query.root)
    return Measurement(
        as_floats(first, query.root),
        as_floats(second, query.root),
        difference.nearest(),
        difference.exact,
        difference.upper(),
        "exact",
    )


def difference_of(
    first: ExactAnswer, second: ExactAnswer, norm: Norm, root: bool = False
) -> Difference:
    """Return how far two answers are apart; numbers are the squares of the answers if `root`."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        return distance(first, second, norm, root)
    if isinstance(first, Fraction) and isinstance(second, Fraction):
        return Difference(first, second, root)
    raise TypeError(f"{first!r} and {second!r} are no answers of one query")


def exact_answer(query: Query, universe: FiniteUniverse, data: Multiplicities) -> ExactAnswer:
    """Return what `difference_of` compares: the exact answer, or what the answer's floats are."""
    exact = query.exactly(universe, data)
    return rationals_of(query.answered(universe, data)) if exact is None else exact


def answer_of(
    query: Query, universe: FiniteUniverse, data: Multiplicities
) -> tuple[Answer, ExactAnswer]:
    """Return the answer in floats, and as what differences are measured between."""
    exact = exact_answer(query, universe, data)
    return as_floats(exact, query.root), exact


def rationals_of(answer: Answered) -> ExactAnswer:
    """Return the rational numbers that an answer is, floats included."""
    if isinstance(answer, tuple):
        return tuple(map(rational_of, answer))
    return rational_of(answer)


def _is_exact(answer: Answered) -> bool:
    """Tell whether an answer of a caller's function holds no float."""
    numbers = answer if isinstance(answer, tuple) else (answer,)
    return all(isinstance(number, Fraction) for number in numbers)


@dataclass(frozen=True, repr=False)
class Witness(Facts):
    """A pair of neighboring datasets that attains the sensitivity.

    Attributes
    ----------
    x, y : tuple of records
        The datasets, ascending; rows of a table in the order of their universe.
    query_x, query_y : float or tuple of float
        The query's answers on them, in the query's unit; a tuple where the answer is a vector.

    Examples
    --------
    >>> Witness((2, 3, 10), (1, 2, 3), 3.0, 2.0)
    Neighbors x of 3 records and y of 3
      only in x  10  f(x) = 3
      only in y  1   f(y) = 2
      in both    2, 3
    """

    x: Dataset
    y: Dataset
    query_x: Answer
    query_y: Answer

    @property
    def shared(self) -> Dataset:
        """The records of the core: those of x that are in y too."""
        return tuple((Counter(self.x) & Counter(self.y)).elements())

    @property
    def only_x(self) -> Dataset:
        """The records of x that are not in y."""
        return tuple((Counter(self.x) - Counter(self.y)).elements())

    @property
    def only_y(self) -> Dataset:
        """The records of y that are not in x."""
        return tuple((Counter(self.y) - Counter(self.x)).elements())

    def to_dict(self) -> dict[str, Any]:
        """Return the datasets and the answers on them, by the names of the attributes."""
        return {"x": self.x, "y": self.y, "query_x": self.query_x, "query_y": self.query_y}

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        return pair_facts(self)

    @property
    def _title(self) -> str:
        return f"Neighbors x of {len(self.x):,} records and y of {len(self.y):,}"

    def plot(self, **options: Any) -> Axes:
        """Draw the pair on a number line.

        Parameters
        ----------
        **options
            `query`, `neighbors` and `gap`, texts for the labels and the title; `unit` of the
            records; `ax`, where to draw, by default on a new figure.
        """
        from sensitivity_lab.plotting.pair import plot_witness

        return plot_witness(self, **options)


class Pair(Protocol):
    """A pair of datasets by multiplicities, made when first used."""

    @property
    def x(self) -> Multiplicities:
        """How often each distinct value of the universe occurs in x."""

    @property
    def y(self) -> Multiplicities:
        """How often each distinct value of the universe occurs in y."""

    def ends(self, most: int) -> tuple[Ends, Ends]:
        """Return some records of x and of y: half from the start, half from the end; or all."""


Ends = tuple[list[int], int]
"""The places of some records of a dataset among the values, and how many records it has."""


@dataclass(frozen=True, eq=False)
class Unlisted:
    """A witness that is not listed yet: the pair, and the stated values.

    Attributes
    ----------
    pair : Pair
    query : Query
    neighbors : Relation
    universe : FiniteUniverse
    stated : tuple of float, Fraction or None, and float
        The value, the exact value and the upper bound that the search gave.
    """

    pair: Pair
    query: Query
    neighbors: Relation
    universe: FiniteUniverse
    stated: tuple[float, Fraction | None, float]

    def listed(self) -> Witness:
        """List the pair, and check that its records are neighbors and as far apart as stated."""
        x, y = self.pair.x, self.pair.y
        check_related(x, y, self.universe, self.neighbors)
        measured = measure(self.query, self.universe, x, y)
        if (measured.value, measured.exact, measured.upper) != self.stated:
            raise VerificationError(
                f"the search gave {self.stated[0]} for {self.query.name}, {self.neighbors}, but "
                f"its witness gives {measured.value}; please report it"
            )
        datasets = self.universe.dataset(x), self.universe.dataset(y)
        return Witness(*datasets, measured.query_x, measured.query_y)

    def short(self) -> tuple[Dataset | str, Dataset | str]:
        """Return x and y, as text where they are long; no more of their records are listed."""
        values = self.universe.values
        first, second = (
            short_ends([values[place] for place in places], size)
            for places, size in self.pair.ends(SHOWN)
        )
        return first, second


class WhenAskedFor:
    """The attribute `witness`: a `Witness`, or an `Unlisted` one that is listed when first used."""

    def __get__(self, result: Any, owner: type | None = None) -> Any:
        if result is None:
            raise AttributeError("witness is an attribute of results")
        held = vars(result)["witness"]
        if isinstance(held, Unlisted):
            held = vars(result)["witness"] = held.listed()
        return held

    def __set__(self, result: Any, witness: Witness | Unlisted) -> None:
        vars(result)["witness"] = witness


def has_vectors(result: Any) -> bool:
    """Tell whether the answers of a result are vectors, without listing its witness."""
    held = vars(result)["witness"]
    return not isinstance(held, Unlisted) and isinstance(held.query_x, tuple)


def short_pair(result: Any) -> tuple[Dataset | str, Dataset | str]:
    """Return x and y of a result, as text where they are long; no more records are listed."""
    held = vars(result)["witness"]
    if isinstance(held, Unlisted):
        return held.short()
    return short(held.x), short(held.y)
