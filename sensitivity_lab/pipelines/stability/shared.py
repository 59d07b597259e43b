"""Pairs of tables that share their privacy ids, and which of them are neighbors."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from sensitivity_lab.pipelines.encoding import encode_keys, encode_rows
from sensitivity_lab.pipelines.metrics import IdDistance, SharedIdDistance

from .inputs import Drawn, draw, places_by_owner


@dataclass(frozen=True)
class DrawnTables(Drawn):
    """Pairs of tables, as datasets of the rows of both universes, where each id is a coordinate.

    Parameters
    ----------
    sides : tuple of Drawn
        The universe of each table, which makes tables of its rows.
    """

    sides: tuple[Drawn, Drawn]

    @property
    def rows(self) -> tuple[int, ...]:
        """The number of rows of each universe."""
        return tuple(len(side.data) for side in self.sides)

    def dataset(self, index: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return two tables."""
        first, second = self.sides
        chosen, split = self.chosen(index), len(first.data)
        return (
            first.table([place for place in chosen if place < split]),
            second.table([place - split for place in chosen if place >= split]),
        )


def draw_tables(data: tuple[pd.DataFrame, pd.DataFrame], metric: SharedIdDistance) -> DrawnTables:
    """Return the pairs of tables of two universes."""
    ids = IdDistance(metric.column)
    first, second = (draw(table, ids, None) for table in data)
    owners = [owner for table in data for owner in encode_keys(table, [metric.column])]
    # Equal rows of the two tables are different rows.
    rows = [(side, row) for side, table in enumerate(data) for row in encode_rows(table)]
    places, first_rows = places_by_owner(owners, rows)
    sizes = tuple(range(len(rows) + 1))
    return DrawnTables(data, places, first_rows, ids, sizes, (first, second))
