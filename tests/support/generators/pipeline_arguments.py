"""Good values for parameters of the public functions of pipelines."""

from __future__ import annotations

from typing import Any

from sensitivity_lab import pipelines as pl

PIPELINE_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("keep_first", "keep_ids", "public_universe"), (False, True)),
    "Groups.data": (pl.Numbers(), pl.Table()),
}
