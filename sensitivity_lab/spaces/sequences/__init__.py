"""Sequences as datasets: trajectories and time series, whose order matters.

A dataset is a sequence of values, such as the places that a person visits in turn, and a universe
holds all sequences over some values up to a length (`SequenceUniverse`). Neighbors differ
in entries that are inserted or deleted anywhere (`InsertDelete`), or replaced in place
(`Hamming`). The queries are the length, the sum, the number of distinct values, how often each
occurs, the number of changes, the length of the path, the longest run, and any function of a tuple.
The calls are those of `sensitivity_lab.spaces`.

Examples
--------
>>> from sensitivity_lab import spaces
>>> from sensitivity_lab.spaces import sequences
>>> days = sequences.SequenceUniverse(["home", "work", "gym"], longest=4)
>>> spaces.global_sensitivity(days, "changes", neighbors=sequences.InsertDelete())
Sensitivity of changes: 2 (exact)
  neighbors  at most 1 entry inserted or deleted; all 121 sequences of 0 to 4 of 3 values
  known      min(2 k, L - 1) = 2
  x          ('home', 'home')  f(x) = 0
  y          ('home', 'work', 'home')  f(y) = 2
  changed    y has 'work' inserted at 1
  method     enumeration: 121 sequences evaluated, 426 edits compared
"""

from .relations import Hamming, InsertDelete
from .universe import SequenceUniverse, SequenceWitness

__all__ = ["Hamming", "InsertDelete", "SequenceUniverse", "SequenceWitness"]

__dir__ = __all__.copy  # for tab completion
