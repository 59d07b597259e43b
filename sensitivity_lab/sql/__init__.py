"""SQL: what one person adds to a query over joined tables, and its release with noise.

`Query` reads a query of a database, never executes its text, and plans its release (`plan`): what
everybody adds is cut to a public number of results, and the noise follows from it. What the data at
hand lose with each person it tells exactly (`contributions`); that is private.

Needs the extra: ``pip install '.[sql]'``.
"""

from .contributions import Contributions
from .query_plan import Query

__all__ = ["Contributions", "Query"]

__dir__ = __all__.copy  # for tab completion
