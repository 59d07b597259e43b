"""What several tests of measured stability use."""

from __future__ import annotations

import pandas as pd

from sensitivity_lab import pipelines as pl


def rows_of(table: pd.DataFrame) -> list[tuple]:
    return list(table.itertuples(index=False, name=None))


JOIN = pl.start(pl.AddMaxRows(1), pl.AddMaxRows(1)) >> pl.join_private(
    "key", left=pl.DropExcess(1), right=pl.DropExcess(1)
)
