"""From a table to numbers that may be published: plan, rehearse, publish.

`plan` says which numbers to publish, about which people, with how much noise; it sees no data. Its
`Plan.rehearse` and `Plan.errors` show on made-up rows what will come, and `Plan.publish` measures
the table, adds OpenDP's noise and can be called once.

Examples
--------
>>> import pandas as pd
>>> import sensitivity_lab as sl
>>> plan = sl.releases.plan(
...     sl.releases.Person("id", max_rows=2),
...     epsilon=1,
...     groupby={"ward": ["a", "b"]},
...     bounds={"days": range(31)},
...     agg={"n": "count", "mean": ("days", "mean")},
... )
>>> made_up = pd.DataFrame({"id": range(400), "ward": ["a", "b"] * 200, "days": 5})
>>> plan.rehearse(made_up, seed=1).to_frame().columns.tolist()
['n', 'n_low', 'n_high', 'mean', 'mean_low', 'mean_high']
"""

from .person import Person
from .planning import Plan, load, plan
from .published import Checked, Errors, Released
from .publishing import Ledger, ledger

__all__ = [
    "Checked",
    "Errors",
    "Ledger",
    "Person",
    "Plan",
    "Released",
    "ledger",
    "load",
    "plan",
]

__dir__ = __all__.copy  # for tab completion
