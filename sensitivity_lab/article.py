"""The experiments of the article "Global Sensitivity From Scratch", reproduced.

There are two scenarios, a table and a domain of values, each under two relations. As in the
article, unbounded means exactly k and bounded means at most k. They follow the example of Lee and
Clifton, with which the article checks itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from sensitivity_lab.results.curves_result import SensitivityCurves
from sensitivity_lab.universes.per_column import as_universes
from sensitivity_lab.universes.universe import AnyUniverse

from .calls.curves import sensitivity_curves
from .universes.relations import Bounded, Relation, Unbounded
from .universes.universe import Universe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HERE = Path(__file__).parent
DATA = next(path for path in (_HERE / "data", _HERE.parent / "data") if path.is_dir())
"""The folder of the article's datasets: inside an installed package, next to it in a checkout."""

UNITS = {
    "school_year": "years",
    "absence_days": "days",
    "mood": "points",
    "driving_proficiency": "points",
}
"""The unit of each column."""


@dataclass(frozen=True)
class Experiment:
    """One figure of the article.

    Attributes
    ----------
    name : str
        For files, such as "a_unbounded".
    title : str
    universes : dict of str to Universe
        By column.
    size : int
        The number of records in a release.
    distances : range
    neighbors : Relation
    """

    name: str
    title: str
    universes: Mapping[str, AnyUniverse]
    size: int
    distances: range
    neighbors: Relation

    def plot(self, curves: SensitivityCurves, **options: Any) -> Figure:
        """Draw curves of this experiment as in the article, a panel per column with all queries.

        Parameters
        ----------
        curves : SensitivityCurves
            The return value of `run`.
        **options
            Options of `SensitivityCurves.plot`.

        Examples
        --------
        >>> experiment = experiments()[1]
        >>> len(experiment.plot(experiment.run()).axes)
        2
        """
        drawn = {"units": UNITS, "title": self.title, "figsize": (15, 7), "subplots": False}
        return curves.plot(**{**drawn, **options})

    def run(self) -> SensitivityCurves:
        """Compute the ten queries at all distances.

        Examples
        --------
        >>> curves = experiments()[0].run()
        >>> curves.result("mean", column="absence_days", distance=1).value
        2.8333333333333335
        """
        return sensitivity_curves(
            self.universes, size=self.size, distances=self.distances, neighbors=self.neighbors
        )


def checks() -> tuple[Experiment, ...]:
    """Return the article's own check: Lee and Clifton's four students, both relations.

    References
    ----------
    Lee, Clifton: How Much Is Enough? Choosing epsilon for Differential Privacy. ISC 2011.

    Examples
    --------
    >>> unbounded, bounded = checks()
    >>> unbounded.run().result("median", column="absence_days", distance=1).value
    4.0
    """
    school = as_universes(pd.read_csv(DATA / "school_small.csv"))
    return tuple(
        Experiment(
            name=f"small_{relation.name}",
            title=f"Check, four students of Lee and Clifton (2011): {relation.name}",
            universes=school,
            size=3,
            distances=range(1, 2),
            neighbors=relation,
        )
        for relation in (Unbounded(1, exactly=True), Bounded(1))
    )


def experiments() -> tuple[Experiment, ...]:
    """Return the article's four experiments: scenario (a) and (b), unbounded and bounded."""
    school = as_universes(pd.read_csv(DATA / "school_large.csv"))
    domain = json.loads((DATA / "driver_domain.json").read_text(encoding="utf-8"))
    # As in the article, every value has as many copies as a release has records.
    driver = {name: Universe.from_domain(values, copies=4) for name, values in domain.items()}
    scenarios = (
        ("a", "a dataset of ten students", school, 6, range(1, 5)),
        ("b", "a domain of values", driver, 4, range(1, 4)),
    )
    return tuple(
        Experiment(
            name=f"{letter}_{relation.name}",
            title=f"Scenario ({letter}), {what}: {relation.name}",
            universes=universes,
            size=size,
            distances=distances,
            neighbors=relation,
        )
        for letter, what, universes, size, distances in scenarios
        for relation in (Unbounded(1, exactly=True), Bounded(1))
    )
