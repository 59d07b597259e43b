"""Sensitivity of SQL: what one person changes in a query over joined tables, exactly.

`Query` reads a query of a database, never executes its text, and answers with the numbers of the
data at hand: what would vanish with each person (`contributions`), and how far removing or adding
persons or rows can move the answer (`local_sensitivity`). All of these are private, since they
depend on the data.

Needs the extra: ``pip install '.[sql]'``.
"""

from .contributions import Contributions
from .query import Query
from .result import DatabaseNeighbors, DatabaseSensitivity, DatabaseWitness

__all__ = [
    "Contributions",
    "DatabaseNeighbors",
    "DatabaseSensitivity",
    "DatabaseWitness",
    "Query",
]

__dir__ = __all__.copy  # for tab completion
