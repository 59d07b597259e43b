"""The choices of a user of the explorer."""

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
"""The relations to choose from, by their names on the page; all mean at most k."""

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
"""The privacy losses to choose from."""


@dataclass(frozen=True)
class State:
    """A user's choices.

    Attributes
    ----------
    column : str
        The name of a column; "records" if there is only one universe.
    query : str
        The name of a query.
    relation : str
        A key of `RELATIONS`.
    size : int
        The number n of records of x, at least 1; a larger one than the universe allows is reduced.
    k : int
        The Hamming distance, at least 1; a larger one than is feasible is reduced.
    epsilon : float
        The privacy loss for scaling noise.
    domain : str
        A public domain that takes the place of the records, as typed; "" for the records.
    dataset : str
        The records of a dataset x for the local and the smooth sensitivity and the reach, as typed;
        "" for none.
    """

    column: str
    query: str = "mean"
    relation: str = next(iter(RELATIONS))
    size: int = 1
    k: int = 1
    epsilon: float = 1
    domain: str = ""
    dataset: str = ""

    @property
    def neighbors(self) -> Relation:
        """The relation at distance k."""
        return RELATIONS[self.relation].at(self.k)
