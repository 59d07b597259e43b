"""The facts about a result that decide how noise can be scaled to it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from sensitivity_lab.checks import Norm
from sensitivity_lab.queries import Query
from sensitivity_lab.universes.relations import Relation
from sensitivity_lab.universes.universe import AnyUniverse, FiniteUniverse

from .reprs import show_sizes

Kind = Literal["global", "local", "smooth", "reach"]
"""What a result bounds; see `NoiseContext`."""


@dataclass(frozen=True)
class Things:
    """The words for the data, and the advice of warnings about them.

    Attributes
    ----------
    data, parts : str
        The whole, such as a dataset, and the things that a size counts, in the plural.
    room : str
        Where its `global_sensitivity` is.
    listed, domain, public : str
        Of a universe that can be private data: what it is, what to use instead, and what would have
        to be public.
    every_size : str
        How to compute the sensitivity over every size; {first} and {stop} stand for a range of
        feasible ones.
    instead : str
        What to scale noise to where a result is local, if it is no global sensitivity.
    """

    data: str
    parts: str
    room: str
    listed: str = ""
    domain: str = ""
    public: str = ""
    every_size: str = ""
    instead: str = ""


ROWS = Things(
    data="records",
    parts="records",
    room="sl",
    listed="the universe is a list of records (Universe.from_dataset, or a column), so the "
    "sensitivity holds only among datasets drawn from these records",
    domain="a record can be, TableUniverse.from_domain(values)",
    public="records",
    every_size="Pass every size that the data can have, such as size=range({first}, {stop})",
)

NUMBERS = replace(
    ROWS,
    domain="a record can be, Universe.from_domain(values) or Universe.from_interval(lower, upper)",
)


@dataclass(frozen=True)
class NoiseContext:
    """The facts about a result that decide how noise can be scaled to it.

    Attributes
    ----------
    query : str
        The query's name.
    kind : {"global", "local", "smooth", "reach"}
        Whether it bounds the answers of all neighbors, of the neighbors of one dataset, or of all
        of them damped; "reach": of the datasets near one, by their distance.
    norm : {"L1", "L2", "Linf"} or None
        The norm of the difference of two answers; None for numbers, for which all norms agree.
    neighbors : relation
        The relation with its `k`. At most k, unless `exactly`.
    exactly : bool
        Whether neighbors at distances below k are left out, and differ from these.
    sizes : tuple of int
        The sizes of x that the result is about.
    size : str
        The same in words.
    upper : float or None
        The bound of a sensitivity; None if unknown, or if the result is about no sensitivity.
    things : Things
        The words for the data.
    has_lower_bound_only : bool
        Whether an infinite `upper` means that no upper bound is known.
    listed : bool
        Whether the universe may be private data.
    copies : int or None
        How often some record can occur, if a dataset among x and y could hold more of it; else
        None.
    largest : int
        The most records of a dataset among x and y.
    private_size : bool
        Whether neighbors differ in size, and the result leaves out some of the sizes from where the
        query is defined, whose sensitivity may be larger.
    public : tuple of str
        What must be public, and is no choice of the analyst's: the number of records where
        neighbors keep it, records that a universe lists, group sizes that are given.
    group_sizes : bool
        Whether sizes of groups are among it.
    depends_on_order : bool
        Whether the answers depend on the order of the records, which is lost in a multiset.
    beta : Fraction
        The damping of a smooth sensitivity; else 0.
    left_out : tuple of (int, int or None), or None
        The smallest and the largest size of the datasets that a smooth sensitivity or reach covers,
        if it leaves out neighbors of other sizes.
    """

    query: str
    kind: Kind
    norm: Norm | None
    neighbors: Any
    exactly: bool
    sizes: tuple[int, ...]
    size: str
    upper: float | None
    things: Things
    has_lower_bound_only: bool = False
    listed: bool = False
    copies: int | None = None
    largest: int = 0
    private_size: bool = False
    beta: Fraction = Fraction(0)
    left_out: tuple[int, int | None] | None = None
    public: tuple[str, ...] = ()
    group_sizes: bool = False
    depends_on_order: bool = False


class NoiseSource(ABC):
    """Anything that noise can be scaled to, or is refused for: it says what it is for."""

    @abstractmethod
    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs."""


def of_datasets(
    result: Any,
    kind: Kind,
    norm: Norm | None,
    sizes: int | Iterable[int],
) -> NoiseContext:
    """Return the facts for noise about a result on datasets of records."""
    relation: Relation = result.neighbors
    universe: AnyUniverse = result.universe
    several = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    # At distance 1, "exactly" and "at most" are the same relation.
    exactly = relation.exactly and relation.k > 1
    least = _least(result.query)
    largest = max(several) + relation.growth
    listed, copies, public = False, None, []
    if relation.keeps_size:
        public.append(f"the number of records, {show_sizes(several)}")
    words = NUMBERS if universe.numeric else ROWS
    if isinstance(universe, FiniteUniverse):
        listed = universe.lists_records
        fewest = min(universe.counts or (largest,))
        copies = fewest if fewest < largest and not listed else None
    if listed:
        public.append(f"the {universe.size} records of the universe")
    groups = getattr(result.query, "public_sizes", "")
    if groups:
        public.append(groups)
    return NoiseContext(
        query=result.query.name,
        kind=kind,
        norm=norm,
        neighbors=relation if exactly else replace(relation, exactly=False),
        exactly=exactly,
        sizes=several,
        size=f"size {show_sizes(several)}",
        upper=result.upper,
        things=_with_sizes(words, least, relation, universe),
        listed=listed,
        copies=copies,
        largest=largest,
        private_size=kind == "global"
        and has_private_size(result.query, relation, universe, several),
        public=tuple(public) if kind == "global" else (),
        group_sizes=bool(groups),
        depends_on_order=getattr(result, "depends_on_order", False),
    )


def has_private_size(
    query: Any, relation: Relation, universe: AnyUniverse, sizes: tuple[int, ...]
) -> bool:
    """Return whether neighbors differ in size, and other sizes may have a larger sensitivity."""
    return not (
        relation.keeps_size
        or sizes[0] <= _least(query) < sizes[-1] == sizes[0] + len(sizes) - 1
        or _is_one_for_all_sizes(query, relation, universe, sizes[-1])
    )


def _least(query: Any) -> int:
    return getattr(query, "least_size", 1)


def setting(result: Any) -> str:
    """Return the relation, the sizes and the universe of a result, and which of them is public."""
    context: NoiseContext = result.noise_context()
    fixed = context.kind == "global" and context.neighbors.keeps_size
    sizes = f"size {show_sizes(result.size)}{' (public)' * fixed}"
    listed = context.kind == "global" and context.listed
    return f"{result.neighbors}; {sizes}; {result.universe.extent}{' (public)' * listed}"


def left_out(result: Any) -> tuple[int, int | None] | None:
    """Return the sizes of datasets that a result covers, if steps lead to others; else None.

    Steps that keep the size stay at one. Others need all sizes for which the query is defined.
    """
    least, most = result.sizes
    whole = result.query.least_size, result.universe.size
    some = least != most and (least, math.inf if most is None else most) != whole
    return result.sizes if some else None


def _with_sizes(words: Things, least: int, relation: Relation, universe: AnyUniverse) -> Things:
    """Name all sizes from where a query is defined: exactly k apart, those that are feasible."""
    last = int(min(max(1000, 2 * relation.k), universe.size - relation.growth * relation.exactly))
    first = min(least + relation.k * relation.exactly, last)
    return replace(words, every_size=words.every_size.format(first=first, stop=last + 1))


def _is_one_for_all_sizes(query: Any, relation: Relation, universe: AnyUniverse, size: int) -> bool:
    """Tell whether no other size is known to have a larger sensitivity than this one.

    Let f(x) be the sum of g(r) over the records r of x. With x = C + A and y = C + B, f(x) - f(y)
    depends on A and B only. If changes only add, or only remove, every choice of up to k records is
    possible at every size. If they do both, but every record can occur any number of times, then
    more than k records are enough for every change of up to k. If no more than k records change in
    all, any number is: the record with the largest norm of g, added k times, is a worst case, since
    another change moves the sum by at most that for each of its k records.
    """
    if not (isinstance(query, Query) and query.adds_up(universe)):
        return False
    if universe.size < math.inf:
        return not relation.exchanges
    return relation.counts_each_record or size > relation.k
