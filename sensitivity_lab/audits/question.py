"""The question of an audit: of what, which datasets, which of them are close, and the claims."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from math import comb
from pathlib import PurePath
from typing import Any

import pandas as pd

from sensitivity_lab.checks import (
    check_flag,
    check_rational,
    check_text,
    check_whole,
    listed,
    magnitude,
    named,
    one_or_several,
    plainest,
    shown,
)
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics import Metric, as_metric
from sensitivity_lab.metrics.cells import signed_key
from sensitivity_lab.results.literals import brief, literal, one_line, short_literal
from sensitivity_lab.universes.relations import RELATIONS, Relation, as_relation, show
from sensitivity_lab.universes.universe import Universe

from .claims import Claim, check_claim, check_tolerance, claims_of
from .pairs import check_comparable, neighbors
from .report import AuditReport
from .row import AuditRow


def name_of(function: Any) -> str:
    """Return the name of a function: that of what a partial wraps, the place of a lambda.

    Examples
    --------
    >>> name_of(sum), name_of(partial(partial(round), ndigits=2))
    ('sum', 'round')
    >>> name_of(lambda x: x)
    '<lambda> (<doctest sensitivity_lab.audits.question.name_of[1]>:1)'
    """
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        return type(function).__name__
    code = getattr(function, "__code__", None)
    if name != "<lambda>" or code is None:
        return named(name)
    return f"{named(name)} ({PurePath(code.co_filename).name}:{code.co_firstlineno})"


def misfit(function: Any, *given: Any) -> inspect.Signature | None:
    """Return the signature of a function that does not take some arguments; None if it may.

    Examples
    --------
    >>> print(misfit(lambda data: data, 1, 2), misfit(lambda data: data, 1))
    (data) None
    """
    with suppress(TypeError, ValueError):  # the parameters of some functions cannot be read
        signature = inspect.signature(function)
        try:
            signature.bind(*given)
        except TypeError:
            return signature
    return None


def subject_named(subject: str) -> str:
    """Return what a report calls its subject: on one line, as a name is shown.

    Examples
    --------
    >>> subject_named("mean of" + chr(10) + "ages")
    'mean of ages'
    """
    return named(one_line(subject))


def check_subject(subject: Any, function: Any) -> str:
    """Return what a report calls a function: what the caller says, or its own name.

    Examples
    --------
    >>> check_subject(None, sum), check_subject("my sum", sum)
    ('sum', 'my sum')
    """
    if subject is not None:
        check_text("subject", subject, "a text")
    return subject_named(subject or name_of(function))


_LONGEST = 100_000
"""The number of entries of the longest vectors that are tried."""

VECTOR_LIMIT = 200_000
"""The largest number of vectors that an implementation is called on."""


NOTHING_DIFFERS = (
    "no pair of neighbors has different answers: perhaps the code reads something else than its "
    "argument, such as a context variable, an environment variable, or an attribute of a module, "
    "which are not seen as state"
)


@dataclass(frozen=True)
class Question:
    """The question of an audit of code that is called on listed datasets.

    Attributes
    ----------
    subject : str
        The name of the code in the report.
    datasets : list
        The datasets to try.
    among : str
        The same in words.
    inputs, outputs : Metric
        The metrics on datasets and on answers.
    metrics : str
        The same in words.
    limits : sequence of number
        The largest distances of neighbors; the report has a row for each.
    claims : sequence of Claim
        The claim at each limit; empty if the code states its claims when it runs.
    tolerance : number
        The largest difference that counts as rounding, in units in the last place of the truth.
    progress : bool, optional
        Whether to show progress bars.
    one_size : bool, default False
        Whether the code accepts datasets of one size only: if no two of that size are close, no
        datasets that it accepts are.
    """

    subject: str
    datasets: list[Any]
    among: str
    inputs: Metric
    outputs: Metric
    metrics: str
    limits: Sequence[Number]
    claims: Sequence[Claim]
    tolerance: Number
    progress: bool | None
    one_size: bool = False

    def neighbors(self, progress: bool | None = False) -> Iterator[tuple[int, int, list[Number]]]:
        """Yield the places of two neighbors, and the limits that they are within; see `pairs`."""
        return neighbors(self.inputs, self.datasets, self.limits, progress)

    def report(
        self,
        rows: Sequence[AuditRow],
        how: str,
        notes: tuple[str, ...] = (),
        unjudged: tuple[str, ...] = (),
        assumed: tuple[str, ...] = (),
    ) -> AuditReport:
        """Return the report of some rows; `how` says what was run."""
        setting = f"{self.metrics}; {self.among}; {how}"
        if self.claims and all(row.says_nothing for row in rows):
            notes = (*notes, NOTHING_DIFFERS)
        return AuditReport(self.subject, tuple(rows), setting, notes, unjudged, assumed)


def question_about(
    function: Any,
    universe: Any,
    size: Any,
    datasets: Any,
    *,
    neighbors: Any,
    distances: Any,
    every_order: Any,
    subject: Any,
    tolerance_ulps: Any,
    progress: bool | None,
    outputs: Any = None,
    claim: Any = None,
) -> Question:
    """Return the question about a function that is called on listed datasets, or raise InputError.

    Without `outputs`, what it returns has no metric, and `claim` is judged elsewhere.
    """
    name = check_subject(subject, function)
    tried, among = datasets_of(universe, size, datasets, every_order)
    near, words, limits = _neighbors(neighbors, distances)
    far, claims = near, list[Claim]()
    metrics = f"{words} of at most k"
    if outputs is not None:
        far = as_metric("outputs", outputs)
        metrics += f" to {outputs if isinstance(outputs, str) else name_of(outputs)}"
        if not callable(claim):
            check_claim(claim, limits[0])
        claims = claims_of(claim if callable(claim) else lambda _: claim, limits)
    return Question(
        subject=name,
        datasets=tried,
        among=among,
        inputs=near,
        outputs=far,
        metrics=metrics,
        limits=limits,
        claims=claims,
        tolerance=check_tolerance(tolerance_ulps),
        progress=progress,
    )


def _neighbors(neighbors: Any, distances: Any) -> tuple[Metric, str, tuple[Number, ...]]:
    """Return the metric of neighbors, its name, and the distances, or raise InputError.

    Neighbors are a relation, whose k is the default distance, or a metric on datasets.
    """
    named = isinstance(neighbors, str) and neighbors.replace(" ", "_") in RELATIONS
    if named or isinstance(neighbors, Relation | type):
        relation = as_relation_of_at_most(neighbors)
        given = relation.k if distances is None else distances
        return relation.metric, type(relation).__name__, check_distances(given, real=False)
    if neighbors is None:
        raise InputError(
            'neighbors must be given: "bounded" if a record is replaced, "unbounded" if one is '
            "added or removed, or a metric"
        )
    near = as_metric("neighbors", neighbors)
    words = neighbors if isinstance(neighbors, str) else name_of(neighbors)
    return near, words, check_distances(1 if distances is None else distances, near.real)


def as_relation_of_at_most(neighbors: Any) -> Relation:
    """Return the relation that is given or named, or raise InputError."""
    relation = as_relation(neighbors)
    if relation.exactly:
        raise InputError(f"neighbors must be a relation of at most k, got {relation}")
    return relation


@contextmanager
def naming(text: str, *items: Any) -> Iterator[None]:
    """Make any error of a caller's code a QueryError that names what the code was called on.

    Parameters
    ----------
    text : str
        How the message begins, with ``{}`` in the place of each item.
    *items : Any
        A dataset, and what else is to be shown as a literal; only if there is an error.

    Examples
    --------
    >>> with naming("the query fails on {}:", [1, 2]):
    ...     raise ValueError("too short")
    Traceback (most recent call last):
    sensitivity_lab.errors.QueryError: the query fails on [1, 2]: ValueError: too short
    """
    try:
        yield
    except Exception as error:
        told = text.format(*map(short_literal, items))
        raise QueryError(f"{told} {type(error).__name__}: {error}") from error


def check_values(universe: Iterable[Any] | Universe) -> tuple[Any, ...]:
    """Return the values of a universe, each once, or raise InputError."""
    if isinstance(universe, Universe):
        universe = universe.values
    wrong = "universe must be the entries that datasets are made of, at least one"
    if isinstance(universe, str):
        raise InputError(
            f"{wrong}, got {shown(universe)}; pass a list of values, such as ['a', 'b']"
        )
    given = listed(universe, wrong)
    if not given:
        raise InputError(f"{wrong}, got {shown(universe)}")
    for value in given:
        if _is_table(value):
            raise InputError(
                "universe must be the values of records, got a table; write datasets= for tables, "
                "instead of universe and size"
            )
        check_comparable("universe", value)
    # Code can tell 1 from 1.0, which have one key; texts alone are cut where numbers are very long.
    return tuple({(signed_key(value), literal(value)): value for value in given}.values())


def check_several(name: str, given: Any, meaning: str, least: int = 0) -> tuple[int, ...]:
    """Return whole numbers, ascending and distinct, or raise InputError."""
    wrong = f"{name} must be a whole number or several of them"
    numbers = {check_whole(name, one, meaning, least) for one in one_or_several(given, wrong)}
    if not numbers:
        raise InputError(f"{wrong}, got none")
    return tuple(sorted(numbers))


def check_datasets(datasets: Any) -> list[Any]:
    """Return the datasets that a caller gives, or raise InputError.

    Parameters
    ----------
    datasets : iterable or callable
        The datasets; a callable takes nothing and returns an iterable.

    Raises
    ------
    InputError
        If it is neither, is empty, or raises.
    TooLargeError
        If there are more than `VECTOR_LIMIT`.

    Examples
    --------
    >>> check_datasets(lambda: ([n] for n in range(3)))
    [[0], [1], [2]]
    """
    wrong = "datasets must be the datasets to try, or a function that returns them, at least one"
    if callable(datasets):
        try:
            datasets = datasets()
        except Exception as error:
            raise InputError(f"{wrong}; it raised {type(error).__name__}: {error}") from error
    given = listed(datasets, wrong)
    if not given:
        raise InputError(f"{wrong}, got none")
    if len(given) > VECTOR_LIMIT:
        raise TooLargeError(
            f"there are {len(given):,} datasets, more than the {VECTOR_LIMIT:,} that are tried; "
            "give fewer"
        )
    for dataset in given:
        # Tables are compared as what they hold.
        if not _is_table(dataset):
            check_comparable("datasets", dataset)
    return given


def _is_table(given: Any) -> bool:
    return isinstance(given, pd.DataFrame | pd.Series) or hasattr(given, "lazy")


def check_one_source(universe: Any, size: Any, datasets: Any) -> None:
    """Raise InputError unless there is a universe, or datasets without universe and size."""
    if (universe is None) == (datasets is None):
        got = "neither" if universe is None else "both"
        raise InputError(f"give a universe and a size, or datasets, got {got}")
    if datasets is not None and size is not None:
        raise InputError("size must be left out: datasets have their own")


def check_order(function: Any, other: Any, names: str, order: str) -> None:
    """Raise InputError if a function, or the name of a query, stands in another argument's place.

    Examples
    --------
    >>> check_order([0, 1], sum, "function and universe", "audit_mechanism(function, universe)")
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: function and universe seem to be swapped; write ...
    """
    if not _is_called(function) and _is_called(other):
        raise InputError(f"{names} seem to be swapped; write {order}")


def _is_called(given: Any) -> bool:
    return callable(given) or isinstance(given, str)


def check_left_out(given: dict[str, Any], why: str) -> None:
    """Raise InputError if an argument was given that does not apply; `why` says what it is for.

    Examples
    --------
    >>> check_left_out({"size": 2}, "has no meaning for texts; leave it out")
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: size has no meaning for texts; leave it out, got 2
    """
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} {why}, got {shown(value)}")


def datasets_of(universe: Any, size: Any, datasets: Any, every_order: Any) -> tuple[list[Any], str]:
    """Return the datasets to try and their description, or raise InputError."""
    check_one_source(universe, size, datasets)
    every_order = check_flag("every_order", every_order)
    if datasets is not None:
        tried = check_datasets(datasets)
        return tried, f"{len(tried):,} datasets"
    if size is None:
        check_values(universe)
        raise InputError(
            "size must be given with a universe: the lengths of the lists to try; for datasets of "
            "your own, write datasets= instead of both"
        )
    return vectors_over(universe, size, every_order)


def vectors_over(universe: Any, size: Any, every_order: Any) -> tuple[list[Any], str]:
    """Return the vectors of some sizes over some values and their description, or raise InputError.

    Examples
    --------
    >>> vectors_over([0, 1], 1, True)
    ([[0], [1]], 'values (0, 1), sizes (1,) in every order')
    """
    every_order = check_flag("every_order", every_order)
    values = check_values(universe)
    wanted = check_several("size", size, "a number of records, at least 0")
    return (
        vectors(values, wanted, every_order),
        f"values {brief(values)}, {sizes_in_words(wanted, every_order)}",
    )


def sizes_in_words(sizes: tuple[int, ...], every_order: bool) -> str:
    """Return what a setting says of the sizes of vectors, and of their order.

    Examples
    --------
    >>> sizes_in_words((1, 2), every_order=False)
    'sizes (1, 2) in one order'
    """
    return f"sizes {show(sizes)} in {'every' if every_order else 'one'} order"


def check_distances(given: Any, real: bool) -> tuple[Number, ...]:
    """Return distances of datasets, ascending and distinct, or raise InputError.

    Parameters
    ----------
    given : number or iterable of numbers
        The distances, at least 0.
    real : bool
        Whether they may be other than whole numbers.

    Examples
    --------
    >>> check_distances([2, 0.5, 2.0], real=True), check_distances(1, real=False)
    ((0.5, 2), (1,))
    """
    if not real:
        return check_several("distances", given, "a distance of datasets, at least 0")
    wrong = "distances must be a number or several of them"
    numbers = {}
    for one in one_or_several(given, wrong):
        number = check_rational("distances", one, "a distance of datasets, finite and at least 0")
        if number < 0:
            raise InputError(f"distances must be at least 0, got {shown(one)}")
        if number >= 2**62:
            raise InputError(f"distances must be below 2**62, got {shown(one)}")
        numbers[number] = plainest(number)
    if not numbers:
        raise InputError(f"{wrong}, got none")
    return tuple(numbers[number] for number in sorted(numbers))


def vectors(
    values: tuple[Any, ...], sizes: tuple[int, ...], every_order: bool = True
) -> list[list[Any]]:
    """Return the vectors of some sizes over some values.

    Parameters
    ----------
    values : tuple
        The values that entries can have.
    sizes : tuple of int
        The lengths of the vectors.
    every_order : bool, default True
        Whether every order of the same entries is a vector of its own, or only the order of
        `values`.

    Returns
    -------
    list of lists
        Sorted by size, then in the order of `values`, where the last entry changes fastest.

    Raises
    ------
    TooLargeError
        If there are more than `VECTOR_LIMIT` vectors, or one has more than 100,000 entries.

    Examples
    --------
    >>> vectors((0, 1), (2,))
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> vectors((0, 1), (2,), every_order=False)
    [[0, 0], [0, 1], [1, 1]]
    """
    m = len(values)
    if max(sizes) > _LONGEST:
        raise TooLargeError(
            f"vectors of {max(sizes):,} entries are not tried, only those of up to {_LONGEST:,}; "
            "take smaller sizes"
        )
    number = sum(m**size if every_order else comb(m + size - 1, size) for size in sizes)
    if number > VECTOR_LIMIT:
        ways = " or every_order=False" if every_order else ""
        count = f"{number:,}" if number < 10**15 else f"about {magnitude(number)}"
        raise TooLargeError(
            f"{m} values make {count} vectors of sizes {_text(sizes)}, more than the "
            f"{VECTOR_LIMIT:,} that are tried; take fewer values, smaller sizes{ways}"
        )
    return [
        list(vector)
        for size in sizes
        for vector in (
            itertools.product(values, repeat=size)
            if every_order
            else itertools.combinations_with_replacement(values, size)
        )
    ]


def _text(sizes: tuple[int, ...]) -> str:
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
