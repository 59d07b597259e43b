"""Discrete draws, and the joint tables of draws that a run has compared.

A draw has a law: a table of whole numbers with weights. What a run learns about its draws are
events: a whole-number combination of them is between two numbers, or is not. The probability
of all events together is a sum over a joint table. Products of the probabilities of the single
events would be wrong, since two events about one draw depend on each other.

Weights are whole numbers over a denominator, so all sums are exact. A law with endless support is
cut, and small weights are rounded down: what is left out has a known mass, see `Law.total`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import comb, gcd, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.enclosures import Enclosure

from .stops import LimitError

_WEIGHT_BITS = 320
"""Weights that have no shorter denominator are rounded down to multiples of 2 ** -_WEIGHT_BITS."""

_TAIL = 60
"""An endless law is cut where less than 2 ** -_TAIL of it is left."""

_SUPPORT = 100_000
"""The largest number of values of a law."""

_RANKS = 3
"""Draws take the likeliest value, the second or the third, in turn."""

GOLDEN = Fraction(89, 144)
"""Nearly the golden ratio: multiples of it, less their whole parts, are far from each other."""

_CELLS = 2_000_000
"""The largest number of cells of a joint table."""

_PRODUCTS = 50_000_000
"""The largest number of products that the law of a sum takes; of long numbers, one counts more."""

_BITS_OF_ONE = 128
"""A product counts once more for so many bits beyond those of one draw."""

_KEPT = 64
"""Sums of so many draws begin with the law of all but the last: a loop that adds draws has all."""


@dataclass(frozen=True)
class Law:
    """The law of one draw, by its name and parameters.

    Attributes
    ----------
    kind : {"integers", "geometric", "binomial", "poisson", "table"}
        "integers": uniform from the first parameter to the second, inclusive. "geometric": the
        number of trials until the first success of probability p, from 1. "binomial": the number of
        successes in n trials. "poisson": of events, with their mean. "table": the values from
        `low`, with the weights that follow.
    parameters : tuple
        Whole numbers and Fractions.

    Examples
    --------
    >>> die = Law("integers", (1, 6))
    >>> die.low, die.weights.tolist(), die.denominator, die.total
    (1, [1, 1, 1, 1, 1, 1], 6, 6)
    >>> coin = Law("geometric", (Fraction(1, 2),))
    >>> 0 < 1 - Fraction(coin.total, coin.denominator) < Fraction(1, 2**59)
    True
    """

    kind: str
    parameters: tuple[Any, ...]

    @property
    def low(self) -> int:
        """The smallest value."""
        return _table(self)[0]

    @property
    def weights(self) -> NDArray[np.object_]:
        """The weights of the values from `low`; shape (values,)."""
        return _table(self)[1]

    @property
    def denominator(self) -> int:
        """What the weights are divided by."""
        return _table(self)[2]

    @property
    def total(self) -> int:
        """The sum of all weights; what it lacks of the denominator is left out."""
        return _table(self)[3]


@lru_cache(maxsize=10_000)
def _table(law: Law) -> tuple[int, NDArray[np.object_], int, int]:
    low, weights, denominator = _TABLES[law.kind](*law.parameters)
    table = np.empty(len(weights), dtype=object)
    table[:] = weights
    return low, table, denominator, sum(weights)


def _integers(low: int, high: int) -> tuple[int, list[int], int]:
    number = high - low + 1
    if number > _SUPPORT:
        raise LimitError(
            f"a draw has {number:,} values, more than the {_SUPPORT:,} that are listed; draw from "
            "fewer"
        )
    return low, [1] * number, number


def _geometric(p: Fraction) -> tuple[int, list[int], int]:
    one = 1 << _WEIGHT_BITS
    weights: list[int] = []
    left = one
    if p == 1:
        return 1, [1], 1
    # At least 2 ** -_TAIL is left.
    while left >> (_WEIGHT_BITS - _TAIL):
        if len(weights) == _SUPPORT:
            raise LimitError(
                f"geometric noise with p = {float(p):.3g} has more than {_SUPPORT:,} values that "
                "count; take a larger p (a larger epsilon, or a smaller sensitivity)"
            )
        # Rounded down: `left` is at most (1 - p) ** k, and so is the weight made of it.
        weights.append(left * p.numerator // p.denominator)
        left = left * (p.denominator - p.numerator) // p.denominator
    return 1, weights, one


_TRIALS = 2_000
"""The most trials of a binomial draw: its weights take long."""


def _binomial(n: int, p: Fraction) -> tuple[int, list[int], int]:
    if n > _TRIALS:
        raise LimitError(f"binomial draws have at most {_TRIALS:,} trials, got {n:,}")
    above, below = p.numerator, p.denominator
    left = below - above
    if below == 1 or n * below.bit_length() <= 2 * _WEIGHT_BITS:
        made = [comb(n, k) * above**k * left ** (n - k) for k in range(n + 1)]
        return 0, made, below**n
    # Each weight from the one before, as an exact whole number over below**n: of two trials with
    # p = 1/3, the weights 4, 4 and 1 follow by * 2 * 1 / (1 * 2) and by * 1 * 1 / (2 * 2).
    weights, exact, whole = [], left**n, below**n
    for k in range(n + 1):
        weights.append((exact << _WEIGHT_BITS) // whole)  # rounded down
        exact = exact * (n - k) * above // ((k + 1) * left)
    return 0, weights, 1 << _WEIGHT_BITS


def _poisson(mean: Fraction) -> tuple[int, list[int], int]:
    if mean > _TRIALS:
        raise LimitError(
            f"Poisson draws have a mean of at most {_TRIALS:,}, got {float(mean):g}; pass "
            "sampled=True, which needs no law"
        )
    # exp(-mean) is so small that it takes more bits than the weights: 1.5 of them per unit of mean.
    more = _WEIGHT_BITS + 2 * math.ceil(mean)
    first = Enclosure.of(-mean, more // 3).exp().low
    term = math.floor(Fraction(first) * 2 ** (_WEIGHT_BITS + more))
    weights: list[int] = []
    left = 1 << _WEIGHT_BITS
    # Until the mean the weights grow; they may be 0 at first.
    while len(weights) <= mean or left >> (_WEIGHT_BITS - _TAIL):
        weights.append(term >> more)  # rounded down
        left -= weights[-1]
        term = term * mean.numerator // (mean.denominator * len(weights))
    return 0, weights, 1 << _WEIGHT_BITS


def _listed(low: int, *weights: int) -> tuple[int, list[int], int]:
    return low, list(weights), sum(weights)


_TABLES: dict[str, Callable[..., tuple[int, list[int], int]]] = {
    "integers": _integers,
    "geometric": _geometric,
    "binomial": _binomial,
    "poisson": _poisson,
    "table": _listed,
}

Form = tuple[int, ...]
"""A combination of draws with whole coefficients, one for each draw of a component."""


@dataclass(frozen=True)
class Event:
    """What a run has learned about a combination of draws.

    Attributes
    ----------
    form : tuple of int
        The coefficients of the draws.
    least, most : int or None
        The bounds of the combination; None where there is none.
    holds : bool
        Whether it is between them, or is not.
    """

    form: Form
    least: int | None
    most: int | None
    holds: bool

    def on(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for which values of the combination this is so."""
        found = np.ones(np.shape(values), dtype=bool)
        if self.least is not None:
            found &= values >= self.least
        if self.most is not None:
            found &= values <= self.most
        return found if self.holds else ~found


@lru_cache(maxsize=20_000)
def joint(
    laws: tuple[Law, ...], events: tuple[Event, ...], targets: tuple[Form, ...] = ()
) -> Mapping[tuple[int, ...], int]:
    """Return the weights of the values of some combinations of draws, where all events hold.

    Parameters
    ----------
    laws : tuple of Law
        Of independent draws.
    events : tuple of Event
        What is known of them.
    targets : tuple of tuples of int
        The combinations whose values are wanted.

    Returns
    -------
    mapping
        By the values of the targets, the weight, of the product of all denominators. Without
        targets, the weight of the events stands under ``()``. Values without weight are left out.

    Raises
    ------
    LimitError
        If a joint table has too many cells.

    Notes
    -----
    Draws that enter every event and target in the same proportion, such as the two of a two-sided
    geometric, are one block: their sum has a law of its own. Blocks are then summed out one by one,
    those with the fewest neighbors first. A block that is compared with single other blocks takes
    cumulative sums only.

    Examples
    --------
    Three coins rho, v1, v2; v1 = 1, v1 >= rho, v2 >= rho has probability 3/8:

    >>> coin = Law("integers", (0, 1))
    >>> events = (
    ...     Event((0, 1, 0), 1, 1, True),
    ...     Event((-1, 1, 0), 0, None, True),
    ...     Event((-1, 0, 1), 0, None, True),
    ... )
    >>> joint((coin, coin, coin), events)
    {(): 3}
    """
    # The column of a block has an entry for each event, and then one for each target.
    blocks, scale = _blocks(laws, [event.form for event in events], targets)
    factors: list[_Factor] = []
    tables = {place: block.weights for place, block in enumerate(blocks)}
    for number, event in enumerate(events):
        inside = [place for place, block in enumerate(blocks) if block.column[number]]
        if not inside:
            # All coefficients are 0, and so is the combination.
            if not event.on(np.zeros(1, dtype=np.int64))[0]:
                return {}
        elif len(inside) == 1:
            (place,) = inside
            values = blocks[place].values * blocks[place].column[number]
            # An event about one block leaves a part of its table.
            tables[place] = np.where(event.on(values), tables[place], 0)
        else:
            factors.append(_Compared(tuple(inside), event, number))
    wanted = range(len(events), len(events) + len(targets))
    kept = {
        place
        for place, block in enumerate(blocks)
        if any(block.column[number] for number in wanted)
    }
    # Now the joint weight of some values of all blocks is the product of the factors.
    factors += [_Dense((place,), table) for place, table in tables.items()]
    factors = _summed_out(factors, blocks, set(tables) - kept)
    places, table = _whole(factors, blocks)
    return _by_targets(places, table * scale, blocks, wanted)


def possible(laws: tuple[Law, ...], events: tuple[Event, ...], turn: int = 0) -> list[int]:
    """Return values of some draws, one after another, such that all events hold.

    In the first turn they are likely, but not all the likeliest: the two of a two-sided geometric
    would always cancel. Later turns spread over all values. The combination of each block is
    decided first, then the draws in it: so no joint table is larger than those that decided the
    events.

    Examples
    --------
    >>> die = Law("integers", (1, 6))
    >>> possible((die, die), (Event((1, 1), 12, None, True),))
    [6, 6]
    """
    found = [0] * len(laws)
    known = list(events)
    for members in _members(len(laws), [event.form for event in events]).values():
        places = [place for place, _ in members]
        if not members[0][1]:  # in no event
            for place in places:
                alone = joint((laws[place],), (), ((1,),))
                found[place] = _ranked(alone, place, turn)
            continue
        form = [0] * len(laws)
        for place, factor in members:
            form[place] = factor
        # The events see this block by its combination alone: once that has a value, no event
        # changes what the draws in it can be.
        whole = _ranked(joint(laws, tuple(known), (tuple(form),)), places[0], turn)
        known.append(Event(tuple(form), whole, whole, True))
        # `whole` is what the combination of the draws that are left has to be.
        while members:
            own = tuple(laws[place] for place, _ in members)
            factors = tuple(factor for _, factor in members)
            first = (1, *[0] * (len(members) - 1))
            given = (Event(factors, whole, whole, True),)
            (place, factor), *members = members
            found[place] = _ranked(joint(own, given, (first,)), place, turn)
            whole -= factor * found[place]
    return found


def _ranked(table: Mapping[tuple[int, ...], int], place: int, turn: int) -> int:
    """Return one of the likeliest values, by the place of a draw; in later turns, any other."""
    order = sorted(table, key=table.__getitem__, reverse=True)
    # Steps of the golden ratio spread over all ranks, however many turns there are.
    (value,) = order[(place % _RANKS + math.floor(turn * GOLDEN * len(order))) % len(order)]
    return value


_DECIMALS = (
    "a sum of draws with decimal weights, such as 0.3 and 0.7, has too many steps; take whole "
    "weights, such as 3 and 7, and divide what is released"
)


def _members(number: int, rows: Sequence[Form]) -> dict[tuple[int, ...], list[tuple[int, int]]]:
    """Return the places and factors of draws by the direction of their coefficients in some rows.

    Proportional columns have one direction, up to its sign. That of draws in no row is empty.
    """
    grouped: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for place in range(number):
        column = tuple(row[place] for row in rows)
        common = gcd(*column)
        if common == 0:
            grouped.setdefault((), []).append((place, 0))
            continue
        first = next(entry for entry in column if entry)
        common = common if first > 0 else -common
        # Of the rows x - y and 2 x - 2 y, the columns are (1, 2) and (-1, -2): one direction, (1,
        # 2), with the factors 1 and -1. So x - y is the combination of this block.
        direction = tuple(entry // common for entry in column)
        if max(map(abs, direction)) > 2**31:
            raise LimitError(_DECIMALS)
        grouped.setdefault(direction, []).append((place, common))
    return grouped


@lru_cache(maxsize=50_000)
def weight(laws: tuple[Law, ...], events: tuple[Event, ...]) -> int:
    """Return the weight of all events together, of the product of all denominators."""
    return joint(laws, events).get((), 0)


@dataclass(frozen=True)
class _Block:
    """Draws that always come in one combination: its values and their weights.

    Attributes
    ----------
    low : int
        The smallest value.
    weights : array of object, shape (values,)
        Of the values from `low`.
    column : tuple of int
        The coefficient of the block in every event, then in every target.
    """

    low: int
    weights: NDArray[np.object_]
    column: tuple[int, ...]

    @property
    def values(self) -> NDArray[np.int64]:
        """The values, ascending."""
        return np.arange(self.low, self.low + len(self.weights))


def _blocks(
    laws: Sequence[Law], forms: Sequence[Form], targets: Sequence[Form]
) -> tuple[list[_Block], int]:
    """Return the blocks, and the weight of the draws that are in no event and no target."""
    made = []
    rest = 1
    for direction, members in _members(len(laws), [*forms, *targets]).items():
        if not members[0][1]:
            rest = prod(laws[place].total for place, _ in members)
            continue
        low, weights = _summed(tuple((laws[place], factor) for place, factor in members))
        made.append(_Block(low, weights, direction))
    return made, rest


@lru_cache(maxsize=20_000)
def _summed(members: tuple[tuple[Law, int], ...]) -> tuple[int, NDArray[np.object_]]:
    """Return the law of a combination of independent draws: its least value, and weights."""
    products = span = bits = 0
    for law, factor in members:
        # Each convolution takes the values so far times the values of the next draw.
        times = 1 + max(0, bits - _WEIGHT_BITS) // _BITS_OF_ONE
        products += (span + 1) * len(law.weights) * times
        span += (len(law.weights) - 1) * abs(factor)
        bits += law.denominator.bit_length()
        if (len(law.weights) - 1) * abs(factor) > _PRODUCTS:
            raise LimitError(_DECIMALS)
    if products > _PRODUCTS:
        raise LimitError(
            f"a sum of {len(members):,} draws takes {products:,} products, more than "
            f"{_PRODUCTS:,}; add up fewer draws, draw from fewer values, or take a larger epsilon"
        )
    low, weights = 0, np.array([1], dtype=object)
    if 1 < len(members) <= _KEPT:
        (low, weights), members = _summed(members[:-1]), members[-1:]
    for law, factor in members:
        # Of 3 X, neighboring values are 3 apart, and there are zeros in between.
        own = law.weights[:: 1 if factor > 0 else -1]
        steps = abs(factor)
        spread = np.zeros((len(own) - 1) * steps + 1, dtype=object)
        spread[::steps] = own
        ends = law.low * factor, (law.low + len(own) - 1) * factor
        low, weights = low + min(ends), np.convolve(weights, spread)
    return low, weights


@dataclass(frozen=True)
class _Dense:
    """A table: axis i belongs to the block in ``places[i]``, which ascend."""

    places: tuple[int, ...]
    table: NDArray[np.object_]

    def dense(self, blocks: Sequence[_Block]) -> _Dense:
        """Return it as a table."""
        return self


@dataclass(frozen=True)
class _Compared:
    """An event about several blocks: 1 where it holds, else 0."""

    places: tuple[int, ...]
    event: Event
    number: int

    def dense(self, blocks: Sequence[_Block]) -> _Dense:
        """Return it as a table."""
        _check_cells([len(blocks[place].weights) for place in self.places])
        own = (blocks[place].values * blocks[place].column[self.number] for place in self.places)
        # Axis i of the sum belongs to the i-th block.
        values: Any = sum(np.ix_(*own))
        return _Dense(self.places, self.event.on(values).astype(object) * 1)


_Factor = _Dense | _Compared
"""A function of some blocks; all factors together multiply to the joint weights."""


def _check_cells(sizes: Sequence[int]) -> None:
    """Raise TooLargeError if a table of these sizes is too large."""
    if prod(sizes) > _CELLS:
        text = " x ".join(f"{size:,}" for size in sizes)
        raise LimitError(
            f"{len(sizes)} sums of draws that depend on each other have {text} values, more than "
            f"{_CELLS:,} together; draw from fewer values (a larger epsilon), release fewer "
            "numbers that depend on each other, or compare fewer"
        )


def _summed_out(factors: list[_Factor], blocks: Sequence[_Block], left: set[int]) -> list[_Factor]:
    """Return the factors once some blocks are summed out of them."""
    while left:
        # The block with the fewest others beside it makes the smallest new table.
        beside = {
            place: len({other for one in factors if place in one.places for other in one.places})
            for place in left
        }
        place = min(sorted(left), key=beside.__getitem__)
        # The product of all factors, summed over `left`, is the same after each turn.
        left = left - {place}
        own = [one for one in factors if place in one.places]
        factors = [one for one in factors if place not in one.places]
        factors.append(_message(own, blocks, place))
    return factors


def _message(own: list[_Factor], blocks: Sequence[_Block], place: int) -> _Factor:
    """Return the product of some factors, summed over one block."""
    # Only compared with single other blocks: cumulative sums are enough, and the table over all of
    # these blocks is never made.
    compared = [one for one in own if isinstance(one, _Compared)]
    alone = [one.table for one in own if isinstance(one, _Dense) and one.places == (place,)]
    if len(compared) + len(alone) == len(own) and all(len(one.places) == 2 for one in compared):
        weights: Any = prod(alone)
        return _by_intervals(compared, blocks, place, weights)
    places, table = _whole(own, blocks)
    axis = places.index(place)
    others = (*places[:axis], *places[axis + 1 :])
    # A table without axes stays one of Python's whole numbers, which never overflow.
    summed = np.empty(table.shape[:axis] + table.shape[axis + 1 :], dtype=object)
    summed[...] = np.add.reduce(table, axis=axis)
    return _Dense(others, summed)


def _by_intervals(
    compared: Sequence[_Compared],
    blocks: Sequence[_Block],
    place: int,
    weights: NDArray[np.object_],
) -> _Dense:
    """Sum out a block that is only compared with single other blocks: cumulative sums are enough.

    The event least <= a B + c R <= most holds for B from (least - c R) / a to (most - c R) / a. So
    where all events hold, B is in the intersection of intervals, each of which depends on one R.
    An event that does not hold is the whole less the event.
    """
    outside = next((one for one in compared if not one.event.holds), None)
    if outside is not None:
        rest = [one for one in compared if one is not outside]
        inside = replace(outside, event=replace(outside.event, holds=True))
        whole = _by_intervals(rest, blocks, place, weights)
        part = _by_intervals([*rest, inside], blocks, place, weights)
        return _Dense(part.places, _spread(whole, part.places) - part.table)
    others = tuple(sorted({other for one in compared for other in one.places if other != place}))
    _check_cells([len(blocks[other].weights) for other in others])
    low, number = blocks[place].low, len(weights)
    # B is from the place `first` to before the place `after`; axis i belongs to others[i].
    first: Any = np.zeros((1,) * len(others), dtype=np.int64)
    after: Any = np.full((1,) * len(others), number)
    for one in compared:
        (other,) = (each for each in one.places if each != place)
        shape = [1] * len(others)
        shape[others.index(other)] = -1
        a = blocks[place].column[one.number]
        beside = (blocks[other].values * blocks[other].column[one.number]).reshape(shape)
        least, most = (
            None if bound is None else bound - beside for bound in (one.event.least, one.event.most)
        )
        if a < 0:  # the same bounds of (-a) B, with their signs changed
            a = -a
            least, most = (None if bound is None else -bound for bound in (most, least))
        if least is not None:
            first = np.maximum(first, -(-least // a) - low)
        if most is not None:
            after = np.minimum(after, most // a - low + 1)
    below = np.empty(number + 1, dtype=object)  # below[i]: the weight of the first i values
    below[0], below[1:] = 0, np.cumsum(weights)
    # Bounds may be beyond the table, or crossed: then nothing is between them.
    first = np.clip(first, 0, number)
    found = below[np.maximum(np.clip(after, 0, number), first)] - below[first]
    table = np.empty([len(blocks[other].weights) for other in others], dtype=object)
    table[...] = found
    return _Dense(others, table)


def _spread(factor: _Dense, places: tuple[int, ...]) -> Any:
    """Return a table in the axes of more blocks, for NumPy to broadcast."""
    shape = [1] * len(places)
    for axis, place in enumerate(factor.places):
        shape[places.index(place)] = factor.table.shape[axis]
    return factor.table.reshape(shape)


def _whole(
    factors: Sequence[_Factor], blocks: Sequence[_Block]
) -> tuple[tuple[int, ...], NDArray[np.object_]]:
    """Return the product of all factors, as a table over all their blocks."""
    places = tuple(sorted({place for one in factors for place in one.places}))
    _check_cells([len(blocks[place].weights) for place in places])
    table: Any = np.ones((1,) * len(places), dtype=object)
    for one in factors:
        table = table * _spread(one.dense(blocks), places)
    return places, table


def _by_targets(
    places: Sequence[int], table: Any, blocks: Sequence[_Block], wanted: Sequence[int]
) -> dict[tuple[int, ...], int]:
    """Return the weights of a table by the values of the targets."""
    # Without places the table is one number, which stands for the empty product of the values.
    table = np.atleast_1d(np.asarray(table, dtype=object))
    at = np.nonzero(table)
    weights = table[at].tolist()
    keys = np.zeros((len(weights), len(wanted)), dtype=np.int64)  # a row per weight
    for axis, place in enumerate(places):
        # Axis `axis` of the table adds its value to each target by its coefficient there.
        factors = [blocks[place].column[number] for number in wanted]
        keys += np.outer(blocks[place].values[at[axis]], np.array(factors, dtype=np.int64))
    found: Counter[tuple[int, ...]] = Counter()
    for key, weight in zip(map(tuple, keys.tolist()), weights, strict=True):
        found[key] += weight
    return dict(found)
