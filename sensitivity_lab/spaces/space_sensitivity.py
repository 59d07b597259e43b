"""The sensitivity over all neighbors of a space, of one dataset, and over distances.

One search over all pairs of neighbors, many at a time, serves every space. A query is a function of
one dataset, a caller's or one that the space has a name for. Its answers are kept as integers over
one denominator, so comparing them rounds nothing. The result has the sensitivity, and two
neighboring datasets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import (
    Norm,
    check_kind,
    check_norm,
    check_running,
    did_you_mean,
    one_or_several,
    shown,
)
from sensitivity_lab.errors import InputError, QueryError, VerificationError
from sensitivity_lab.exact.difference import Difference, common_integers, root_difference
from sensitivity_lab.metrics.vectors import distance, powered
from sensitivity_lab.queries.returned_numbers import Answers, NoNumbersError, are_exact, numbers_of
from sensitivity_lab.results.literals import brief
from sensitivity_lab.results.noise_context import NoiseContext, Things
from sensitivity_lab.results.result import Found, Stated
from sensitivity_lab.running import counter, tracked
from sensitivity_lab.search.asked_again import check_calls
from sensitivity_lab.search.farthest import Farthest

from .nearness import Number, Places, in_parts
from .space import Space, SpaceWitness, Within, name_of, own

Answer = Number | tuple[Number, ...]
"""What a query answers on one dataset."""

_INT64 = 2**62
"""Sums of squares below it are computed in int64; larger ones in Python's integers."""


@dataclass(frozen=True)
class Table:
    """The answers on some datasets, as integers over one denominator.

    Attributes
    ----------
    counts : ndarray, shape (datasets of the space, d)
        The answers times the denominator; 0 where the query was not evaluated.
    denominator : int
        Common to all answers.
    arithmetic : {"exact", "float"}
        "float" where a function returned floats.
    vector : bool
        Whether an answer is a vector; if not, d is 1.
    """

    counts: NDArray[Any]
    denominator: int
    arithmetic: Literal["exact", "float"]
    vector: bool

    def answer(self, place: int) -> Answer:
        """Return the answer on one dataset as it was given: a number, or a tuple of them."""
        exact = [Fraction(int(one), self.denominator) for one in self.counts[place]]
        given: list[Number] = [one.numerator if one.denominator == 1 else one for one in exact]
        if self.arithmetic == "float":
            given = [float(one) for one in exact]
        return tuple(given) if self.vector else given[0]


def difference_of(query_x: Answer, query_y: Answer, norm: Norm) -> Difference:
    """Return how far two answers are apart, exactly.

    Examples
    --------
    >>> difference_of((4, 0), (2, 2), "L1").nearest(), difference_of(3, 1, "L2").nearest()
    (4.0, 2.0)
    """
    first, second = (
        [Fraction(one) for one in (answer if isinstance(answer, tuple) else (answer,))]
        for answer in (query_x, query_y)
    )
    used: Norm = norm if isinstance(query_x, tuple) else "L1"  # of numbers, all norms are one
    apart = distance(first, second, used)
    return root_difference(apart.first) if apart.root else apart


def evaluate(
    query: str | Callable[[Any], Any], space: Space, places: Places, progress: bool | None = False
) -> Table:
    """Return the answers on some datasets, each evaluated once.

    Parameters
    ----------
    query : str or callable
        The name of a query of the space, or a function of a dataset.
    space : Space
        That of the datasets.
    places : ndarray of int
        Which datasets.
    progress : bool, optional
        Whether to show how many calls of a function are done.

    Raises
    ------
    QueryError
        If a function raises, or does not return finite numbers of one shape.
    """
    function = space._queries[query] if isinstance(query, str) else query
    name = f"the function {name_of(function)}"

    def where(at: int) -> str:
        return f"{name} on {brief(space.datasets[places[at]])}"

    def call(at: int) -> Answers:
        return _answer_of_call(function, own(space.datasets[places[at]]), where, at)

    answers = [call(at) for at in tracked(range(len(places)), unit="datasets", progress=progress)]
    check_calls(answers, call, where)
    shape, width = answers[0].shape, answers[0].size
    if any(answer.shape != shape for answer in answers):
        raise QueryError(
            f"{name} returned answers of different shapes; it returns a number, or an array of one "
            "fixed length"
        )
    flat = [one for answer in answers for one in answer.ravel().tolist()]
    integers, denominator = common_integers(flat)
    largest = max(map(abs, integers), default=0)
    small = width * (2 * largest) ** 2 < _INT64
    counts = np.zeros((len(space), width), dtype=np.int64 if small else object)
    counts[places] = integers.reshape(len(answers), width)
    exact = all(map(are_exact, answers))
    return Table(counts, denominator, "exact" if exact else "float", bool(shape))


def _answer_of_call(
    function: Callable[[Any], Any], dataset: Any, where: Callable[[int], str], place: int
) -> Answers:
    """Return a caller's function of one dataset as an array of no or one dimension.

    Raises
    ------
    QueryError
        If it raises, or does not return a finite number or a vector of them; `where` begins the
        message.
    """
    try:
        returned = function(dataset)
    except Exception as error:
        raise QueryError(
            f"{where(place)} raised {type(error).__name__}: {shown(str(error))}"
        ) from error
    try:
        numbers = numbers_of(returned)
    except NoNumbersError as error:
        reason = f" ({error})" if str(error) else ""
        raise QueryError(
            f"{where(place)} returned {shown(returned)}{reason}; it returns a finite number, or an "
            "array of them of one fixed length"
        ) from None
    if numbers.ndim > 1:
        raise QueryError(
            f"{where(place)} returned an array of shape {numbers.shape}; it returns a number, or "
            "an array of one fixed length, such as .ravel() gives"
        )
    return numbers


@dataclass(frozen=True, repr=False)
class SpaceSensitivity(Found):
    """The sensitivity of a query over a space of datasets, with its proof.

    Attributes
    ----------
    value : float
        The sensitivity in the query's unit.
    exact : Fraction or None
        The value as a rational; None if it is a root (L2) or a function returned floats.
    upper : float or None
        The smallest float that is not below it; None if a function returned floats.
    witness : SpaceWitness
        Two neighbors that attain it.
    arithmetic : {"exact", "float"}
        "float" where a function returned floats, which it may have rounded itself.
    datasets_evaluated : int
        The number of datasets that the query was evaluated on.
    pairs : int
        The number of pairs of neighbors, all of which were compared.
    query : str
        The query's name.
    space : Space
    neighbors : Within
    norm : {"L1", "L2", "Linf"}
        How to measure the difference of two vector answers; for numbers, all three agree.
    kind : {"global", "local"}
    definition : str or callable
        The query as it was passed.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> one = spaces.Within(1)
    >>> spaces.global_sensitivity(spaces.graphs(4, "node"), "max_degree", neighbors=one)
    Sensitivity of max_degree: 3 (exact)
      neighbors  node neighbors, edges of at most 1 node replaced; all 64 graphs on 4 nodes
      x          no edges  f(x) = 0
      y          0-1, 0-2, 0-3  f(y) = 3
      changed    0-1, 0-2, 0-3
      method     enumeration: 64 graphs evaluated, 704 pairs of neighbors compared
    >>> readings = spaces.sequences([0, 1, 2], 4, "hamming")
    >>> spaces.global_sensitivity(readings, "sum", neighbors=one)
    Sensitivity of sum: 2 (exact)
      neighbors  at most 1 entry replaced; all 81 sequences of 4 of 3 values
      x          (0, 0, 0, 0)  f(x) = 0
      y          (0, 0, 0, 2)  f(y) = 2
      method     enumeration: 81 sequences evaluated, 324 pairs of neighbors compared
    """

    value: float
    exact: Fraction | None
    upper: float | None
    witness: SpaceWitness
    arithmetic: Literal["exact", "float"]
    datasets_evaluated: int
    pairs: int
    query: str
    space: Space
    neighbors: Within
    norm: Norm
    kind: Literal["global", "local"]
    definition: str | Callable[[Any], Any]

    def again(self) -> list[Stated]:
        """Evaluate x and y again."""
        witness, space = self.witness, self.space
        try:
            x, y = space._place(witness.x, "x"), space._place(witness.y, "y")
        except InputError as error:
            raise VerificationError(f"the witness is not of the space: {error}") from error
        if not space._relates(x, y, self.neighbors):
            told = " and ".join(f"{one} = {brief(data)}" for one, data in self._pair.items())
            raise VerificationError(f"{told} are not neighbors: {space._told(self.neighbors)}")
        table = evaluate(self.definition, space, np.unique([x, y]))
        again = table.answer(x), table.answer(y)
        difference = difference_of(*again, self.norm)
        rounded = self.arithmetic == "float"
        return [
            ("answer on x", witness.query_x, again[0]),
            ("answer on y", witness.query_y, again[1]),
            ("value", self.value, difference.nearest()),
            ("exact value", self.exact, None if rounded else difference.exact),
            ("upper bound", self.upper, None if rounded else difference.upper()),
        ]

    def _shown(self, dataset: Any) -> str:
        return brief(dataset)

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs."""
        space, relation = self.space, self.neighbors
        return NoiseContext(
            query=self.query,
            kind=self.kind,
            norm=self._norm,
            neighbors=space._in(relation),
            exactly=False,
            sizes=space._sizes,
            size=space._size,
            upper=self.upper,
            things=Things(data=space._noun, parts=space._parts, room="sl.spaces"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain Python objects."""
        return {
            "query": self.query,
            "kind": self.kind,
            "neighbors": self.space._family,
            "meaning": "at most",
            "distance": self.neighbors.k,
            "size": self.space._size,
            "norm": self.norm,
            "sensitivity": self.value,
            "exact": None if self.exact is None else str(self.exact),
            "upper": self.upper,
            "arithmetic": self.arithmetic,
            "datasets_evaluated": self.datasets_evaluated,
            "pairs": self.pairs,
            **vars(self.witness),
        }

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        witness, space = self.witness, self.space
        compared = f"{self.pairs:,} pairs of neighbors compared"
        facts = [
            ("neighbors", f"{space._told(self.neighbors)}; {space}"),
            ("x", f"{space._text(witness.x)}  f(x) = {brief(witness.query_x)}"),
            ("y", f"{space._text(witness.y)}  f(y) = {brief(witness.query_y)}"),
            ("changed", space._changed(witness.x, witness.y)),
            (
                "method",
                f"enumeration: {self.datasets_evaluated:,} {space._noun}s evaluated, {compared}",
            ),
        ]
        return [(fact, text) for fact, text in facts if text is not None]


_BLOCK = 2**16
"""So many numbers of answers at a time, to keep what is compared in the processor's cache."""


def farthest_neighbors(
    space: Space,
    table: Table,
    places: Places,
    relation: Within,
    norm: Norm,
    progress: bool | None,
) -> Farthest:
    """Return the neighbors whose answers are farthest apart, by their numbers in the space.

    All pairs are compared, in integers, which rounds nothing.

    Parameters
    ----------
    space : Space
        The datasets.
    table : Table
        The answers on these.
    places : ndarray of int
        All datasets, or one, for its neighbors only.
    relation : Within
        Which are neighbors.
    norm : {"L1", "L2", "Linf"}
        The norm of the difference of vector answers.
    progress : bool, optional
        Whether to show how many datasets are done.

    Returns
    -------
    Farthest
        The first of tied pairs; if one dataset has no neighbors, it twice.
    """
    farthest = Farthest(x=int(places[0]), y=int(places[0]))
    size = max(1, _BLOCK // max(table.counts.shape[1], 1))
    with counter("datasets", progress, len(places)) as done:
        for number, xs, ys in space._near.around(places, relation.k):
            # Over all datasets, each pair comes both ways.
            once = np.flatnonzero(xs < ys) if len(places) > 1 else np.arange(len(xs))
            for part in in_parts(once, size):
                of_x, of_y = xs[part], ys[part]
                apart = table.counts[of_x] - table.counts[of_y]
                gaps = powered(apart, norm) if table.vector else np.abs(apart[:, 0])
                farthest.see(gaps, of_x, of_y)
            done(number)
    return farthest


QueryLike = str | Callable[[Any], Any]
"""The name of a query, or a function of a dataset."""

_SPACE = "a space: Space(...), graphs(...) or sequences(...)"


@public_call
def global_sensitivity(
    space: Space,
    query: QueryLike,
    *,
    neighbors: Within,
    norm: Norm = "L1",
    progress: bool | None = None,
) -> SpaceSensitivity:
    """Return the largest difference between a query's answers over all neighbors in a space.

    Parameters
    ----------
    space : Space
        The datasets x and y: a `Space`, or what `graphs` or `sequences` returns.
    query : str or callable
        The name of a query, or a function of a dataset.

        Of `graphs`: "edges", "triangles", "max_degree", or "degree_histogram" (how many nodes have
        the degrees 0 to n - 1). A function takes the edges of a graph, a tuple of pairs of nodes.

        Of `sequences`: "length", "sum", "distinct" (how many different values occur), "counts" (how
        often each of the values occurs, a vector), "changes" (how many entries differ from the one
        before), "path_length" (the sum of the absolute differences from the one before) or
        "longest_run" (the largest number of equal entries in a row). A function takes a tuple of
        values.

        A function returns a number or an array of one fixed length.
    neighbors : Within
        How far apart neighbors are at most: Within(1) is one step.
    norm : {"L1", "L2", "Linf"}, default "L1"
        How to measure the difference of two vector answers.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after one second.

    Returns
    -------
    SpaceSensitivity
        The value, and two datasets that attain it.

    Raises
    ------
    InputError
        If an argument is invalid, or no two datasets are neighbors.
    QueryError
        If a function raises, or does not return finite numbers of one shape.

    Notes
    -----
    The query is evaluated once on every dataset, and all pairs are compared in integers, which
    rounds nothing. The 32,768 graphs on six nodes have 245,760 pairs of edge neighbors
    and 2.8 million pairs of node neighbors.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> friends = spaces.graphs(5, "edge")
    >>> spaces.global_sensitivity(friends, "triangles", neighbors=spaces.Within(1)).value
    3.0

    A function, here of how many people have no friend:

    >>> def alone(graph):
    ...     return 5 - len({node for edge in graph for node in edge})
    >>> spaces.global_sensitivity(spaces.graphs(5, "node"), alone, neighbors=spaces.Within(1)).value
    5.0

    Events in the hours of a morning. One event is in one hour, and a person has at most three:

    >>> events = spaces.sequences(["8h", "9h", "10h"], 5, "insert_delete")
    >>> for k in (1, 3):
    ...     print(spaces.global_sensitivity(events, "counts", neighbors=spaces.Within(k)).value)
    1.0
    3.0
    """
    [found] = _sensitivities(space, query, [neighbors], norm, progress)
    return found


@public_call
def local_sensitivity(
    space: Space,
    query: QueryLike,
    *,
    dataset: Any,
    neighbors: Within,
    norm: Norm = "L1",
    progress: bool | None = None,
) -> SpaceSensitivity:
    """Return how much a query's answer can change between one dataset and its neighbors.

    Parameters
    ----------
    space, query, neighbors, norm, progress
        As for `global_sensitivity`.
    dataset : sequence of (int, int), sequence of number or str, or one of the datasets
        The edges of a graph, in any order; the entries of a sequence, in order; or one of the
        datasets that the space lists.

    Returns
    -------
    SpaceSensitivity
        The value and the neighbor that attains it; the x of its witness is this dataset. If the
        dataset has no neighbor, the value is 0 and y is x.

    Raises
    ------
    InputError
        If an argument is invalid, or the space has no such dataset.
    QueryError
        If a function raises, or does not return finite numbers of one shape.

    Examples
    --------
    A cycle of five nodes has no triangle, and one edge makes at most one:

    >>> from sensitivity_lab import spaces
    >>> cycle = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
    >>> one = spaces.Within(1)
    >>> friends = spaces.graphs(5, "edge")
    >>> found = spaces.local_sensitivity(friends, "triangles", dataset=cycle, neighbors=one)
    >>> found.value, found.witness.y
    (1.0, ((0, 1), (0, 2), (0, 4), (1, 2), (2, 3), (3, 4)))

    One entry splits the long run of a quiet week:

    >>> week = spaces.sequences([0, 1], 8, "insert_delete")
    >>> found = spaces.local_sensitivity(week, "longest_run", dataset=[0] * 7, neighbors=one)
    >>> found.value, found.witness.y
    (3.0, (0, 0, 0, 0, 1, 0, 0, 0))
    """
    [found] = _sensitivities(space, query, [neighbors], norm, progress, [dataset])
    return found


@public_call
def sensitivity_curve(
    space: Space,
    query: QueryLike,
    *,
    distances: Any,
    dataset: Any = None,
    norm: Norm = "L1",
    progress: bool | None = None,
) -> list[SpaceSensitivity]:
    """Return the sensitivities over the distance k of neighbors.

    Parameters
    ----------
    space, query, norm, progress
        As for `global_sensitivity`.
    distances : number, or sequence of number
        The distances k, such as ``range(1, 4)`` or, with a metric, ``space.distances``.
    dataset : optional
        A dataset, for its local sensitivities; by default they are global.

    Returns
    -------
    list of SpaceSensitivity
        One per distance, in the order in which they were asked for.

    Raises
    ------
    InputError
        If an argument is invalid, or no two datasets are so near.
    QueryError
        If a function raises, or does not return finite numbers of one shape.

    Notes
    -----
    The query is evaluated once on each dataset, for all distances.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> curve = spaces.sensitivity_curve(spaces.graphs(5, "edge"), "triangles", distances=[1, 2, 3])
    >>> [result.value for result in curve]
    [3.0, 6.0, 8.0]
    """
    wrong = "distances must be one or several distances k, such as [1, 2, 3]"
    several = one_or_several(distances, wrong)
    if not several:
        raise InputError(f"{wrong}, got none")
    relations = list(map(Within, several))
    some = [] if dataset is None else [dataset]
    return _sensitivities(space, query, relations, norm, progress, some)


def _sensitivities(
    space: Any,
    query: Any,
    relations: Sequence[Any],
    norm: Any,
    progress: Any,
    some: Sequence[Any] = (),
) -> list[SpaceSensitivity]:
    check_kind("space", space, Space, _SPACE)
    _check_query(query, space)
    for relation in relations:
        check_kind("neighbors", relation, Within, "Within(...)")
        space._near.check(relation.k)
    check_norm(norm)
    check_running(None, progress)
    places = np.array([space._place(one, "dataset") for one in some] or range(len(space)))
    asked = places
    for relation in relations if some else ():
        for _, _, others in space._near.around(places, relation.k):
            asked = np.union1d(asked, others)
    table = evaluate(query, space, asked, progress)

    def result(relation: Within) -> SpaceSensitivity:
        found = farthest_neighbors(space, table, places, relation, norm, progress)
        answers = table.answer(found.x), table.answer(found.y)
        difference = difference_of(*answers, norm)
        exact = table.arithmetic == "exact"
        return SpaceSensitivity(
            value=difference.nearest(),
            exact=difference.exact if exact else None,
            upper=difference.upper() if exact else None,
            witness=SpaceWitness(space.datasets[found.x], space.datasets[found.y], *answers),
            arithmetic=table.arithmetic,
            datasets_evaluated=len(asked),
            pairs=found.pairs,
            query=query if isinstance(query, str) else name_of(query),
            space=space,
            neighbors=relation,
            norm=norm,
            kind="local" if some else "global",
            definition=query,
        )

    return list(map(result, relations))


def _check_query(query: Any, space: Space) -> None:
    """Raise InputError unless a query is a name of the space's, or a function."""
    if callable(query):
        return
    if isinstance(query, str) and query in space._queries:
        space._check_named(query)
        return
    names = ", ".join(map(repr, space._queries))
    accepted = f"one of {names}, or a" if names else "a"
    raise InputError(
        f"query must be {accepted} function of {space._takes}, got {shown(query)}"
        f"{did_you_mean(query, space._queries)}"
    )
