"""Data other than records: graphs, sequences, and a caller's own datasets.

A *space* is a finite set of datasets, and a relation defines which of them are neighbors. Spaces
are: the graphs on n nodes, whose neighbors differ in an edge or in a node (`graphs`); the sequences
over some values, whose neighbors differ in an entry (`sequences`); and any datasets that you list,
with a metric of their distance (`Space` and `Within`), such as rankings, sets or strings. One
search compares all pairs of neighbors (`global_sensitivity`), the neighbors of one dataset
(`local_sensitivity`), or neighbors at several distances (`sensitivity_curve`), and returns the pair
that proves its result. `known_sensitivity` returns closed forms.

Examples
--------
Sets of items, where a person adds or removes one, and the price of the dearest item:

>>> from itertools import chain, combinations
>>> from sensitivity_lab import spaces
>>> prices = {"tea": 3, "milk": 1, "bread": 2}
>>> baskets = map(set, chain.from_iterable(combinations(prices, n) for n in range(4)))
>>> space = spaces.Space(baskets, lambda a, b: len(a ^ b))
>>> def dearest(basket):
...     return max(map(prices.get, basket), default=0)
>>> found = spaces.global_sensitivity(space, dearest, neighbors=spaces.Within(1))
>>> found.value, found.witness.x, found.witness.y
(3.0, set(), {'tea'})
"""

from . import graphs, sequences
from .call import global_sensitivity, known_sensitivity, local_sensitivity, sensitivity_curve
from .closed_form import ClosedForm
from .listed import Space, Within
from .result import SpaceCurve, SpaceSensitivity
from .space import SpaceWitness

__all__ = [
    "ClosedForm",
    "Space",
    "SpaceCurve",
    "SpaceSensitivity",
    "SpaceWitness",
    "Within",
    "global_sensitivity",
    "graphs",
    "known_sensitivity",
    "local_sensitivity",
    "sensitivity_curve",
    "sequences",
]

__dir__ = __all__.copy  # for tab completion
