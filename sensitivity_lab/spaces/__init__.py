"""Data other than records: your own datasets, graphs and sequences.

A *space* lists all possible datasets, and says which of them are neighbors: by a function that
lists the neighbors of each, or by a metric (`Space`). Rankings, sets or strings are examples. The
graphs on a few nodes, whose neighbors differ in an edge or in a node, are a space that `graphs`
makes; `sequences` makes that of the sequences over some values. One search compares all pairs of
neighbors (`global_sensitivity`), the neighbors of one dataset (`local_sensitivity`), or neighbors
at several distances (`sensitivity_curve`), and returns the pair that proves its result.

Examples
--------
Sets of items, where a person adds or removes one, and the price of the dearest item:

>>> from itertools import chain, combinations
>>> from sensitivity_lab import spaces
>>> prices = {"tea": 3, "milk": 1, "bread": 2}
>>> baskets = map(set, chain.from_iterable(combinations(prices, n) for n in range(4)))
>>> def changed(basket):
...     return [basket ^ {item} for item in prices]
>>> space = spaces.Space(baskets, neighbors=changed)
>>> def dearest(basket):
...     return max(map(prices.get, basket), default=0)
>>> found = spaces.global_sensitivity(space, dearest, neighbors=spaces.Within(1))
>>> found.value, found.witness.x, found.witness.y
(3.0, set(), {'tea'})
"""

from .of_graphs import graphs
from .of_sequences import sequences
from .space import Space, SpaceWitness, Within
from .space_sensitivity import (
    SpaceSensitivity,
    global_sensitivity,
    local_sensitivity,
    sensitivity_curve,
)

__all__ = [
    "Space",
    "SpaceSensitivity",
    "SpaceWitness",
    "Within",
    "global_sensitivity",
    "graphs",
    "local_sensitivity",
    "sensitivity_curve",
    "sequences",
]

__dir__ = __all__.copy  # for tab completion
