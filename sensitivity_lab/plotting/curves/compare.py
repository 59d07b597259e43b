"""Curves of a dataset and of what is known of it beforehand, one table: empirical and theory."""

from __future__ import annotations

from typing import Any

import pandas as pd

from sensitivity_lab.errors import InputError

_PANEL = ["column", "neighbors", "meaning"]


def overlaid(empirical: pd.DataFrame, theory: Any) -> tuple[pd.DataFrame, str]:
    """Return one table with the source of every row as its kind, and the name of the y axis.

    Parameters
    ----------
    empirical, theory : pandas.DataFrame
        As `SensitivityCurves.to_frame` gives them.

    Raises
    ------
    InputError
        If `theory` has a column or a relation that `empirical` lacks, or another size.
    """
    drawn = set(map(tuple, empirical[_PANEL].to_numpy()))
    for column, neighbors, meaning in map(tuple, theory[_PANEL].drop_duplicates().to_numpy()):
        if (column, neighbors, meaning) not in drawn:
            listed = "; ".join(sorted({f"{one}, {two}, {three}" for one, two, three in drawn}))
            raise InputError(
                f"compare: {column}, {neighbors}, {meaning} is not among the curves ({listed}); "
                "give both the same column names and relations"
            )
    sizes = [sorted(set(map(str, table["size"]))) for table in (empirical, theory)]
    if sizes[0] != sizes[1]:
        raise InputError(
            f"compare: the curves are for size {', '.join(sizes[0])}, those to compare with for "
            f"size {', '.join(sizes[1])}; compute both for one size"
        )
    both = pd.concat(
        [_with_kind(empirical, "empirical"), _with_kind(theory, "theory")], ignore_index=True
    )
    kinds = both["of"].unique()
    if len(kinds) == 1:
        return both.assign(kind=both["source"]), f"{kinds[0]} sensitivity"
    return both.assign(kind=both["of"] + ", " + both["source"]), "sensitivity"


def _with_kind(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return a table with the kind of sensitivity of every row, and its source."""
    if "kind" not in table.columns:
        return table.assign(of="global", source=source)
    return table.assign(of=table["kind"].fillna("global").astype(str), source=source)
