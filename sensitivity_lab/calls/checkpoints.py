"""The folder where a search keeps finished blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sensitivity_lab.queries import Query
from sensitivity_lab.running.checkpoint import Checkpoint
from sensitivity_lab.universes.finite import AnyUniverse

_SHOWN = 16
"""So many digits of a hash are shown."""


def open_checkpoint(
    folder: Any,
    kind: str,
    universes: Mapping[str, AnyUniverse],
    queries: Iterable[Query],
    sizes: Sequence[int],
    **further: Any,
) -> Checkpoint | None:
    """Open the folder in which a search keeps its finished blocks; None if it keeps none.

    Raises
    ------
    InputError
        If a query is a caller's function without a name, or holds what is no plain data.
    CheckpointError
        If the folder cannot be used, or belongs to another search.
    """
    if folder is None:
        return None
    # What only a checkpoint needs is loaded for one.
    from sensitivity_lab.queries.identity import query_identity, universe_identity
    from sensitivity_lab.running.encoding import digest

    named = [f"{query.name} {query_identity(query)[:_SHOWN]}" for query in queries]
    given = [f"{name} {universe_identity(one)[:_SHOWN]}" for name, one in universes.items()]
    belongs = {
        "kind": f"{kind} sensitivity",
        "universe": ", ".join(given),
        "queries": ", ".join(named),
        "sizes": ", ".join(map(str, sizes)),
    }
    belongs |= {name: digest(value)[:_SHOWN] for name, value in further.items()}
    return Checkpoint.open(folder, belongs)
