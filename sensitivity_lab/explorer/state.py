"""What a user of the explorer has chosen."""

from __future__ import annotations

from dataclasses import dataclass

from sensitivity_lab.queries import NAMED
from sensitivity_lab.universes import relations
from sensitivity_lab.universes.relations import Relation

QUERIES = (
    *NAMED,
    *(f"percentile_{q}" for q in (5, 10, 25, 75, 90, 95, 99) if f"percentile_{q}" not in NAMED),
)
"""The queries to choose from, by name."""

RELATIONS: dict[str, Relation] = {
    f"{relation.name}: {variant.does}": variant
    for relation in relations.RELATIONS.values()
    for variant in relation.variants()
}
"""The relations to choose from, by what the page calls them; all mean at most k."""

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
"""The privacy losses to choose from."""


@dataclass(frozen=True)
class State:
    """What a user has chosen.

    Attributes
    ----------
    column : str
        The name of a column; "records" where there is only one universe.
    query : str
        The name of a query.
    relation : str
        A key of `RELATIONS`.
    size : int
        The number n of records of x, at least 1; more than the universe allows means the most.
    k : int
        The Hamming distance, at least 1; more than is feasible means the most.
    epsilon : float
        The privacy loss that noise is scaled to.
    domain : str
        A public domain that takes the place of the records, as typed; "" for the records.
    record : int
        Which record of x is changed, from 1 on, in ascending order.
    value : str
        What it is changed to, as typed; "" for no change.
    """

    column: str
    query: str = "mean"
    relation: str = next(iter(RELATIONS))
    size: int = 1
    k: int = 1
    epsilon: float = 1
    domain: str = ""
    record: int = 1
    value: str = ""

    @property
    def neighbors(self) -> Relation:
        """The relation at distance k."""
        return RELATIONS[self.relation].at(self.k)
