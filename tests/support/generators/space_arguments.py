"""Good arguments of what is public in `spaces` and in `streams`."""

from __future__ import annotations

import math
from typing import Any

from sensitivity_lab import spaces

FOUR_NODES = spaces.graphs(4, "edge")
DAYS = spaces.sequences(["home", "work"], 3, "insert_delete")
_PATH = [(0, 1), (1, 2)]
_BASKETS = [set(), {"tea"}, {"milk"}, {"tea", "milk"}]


def _apart(a: Any, b: Any) -> int:
    return len(set(a) ^ set(b))


def _changed(basket: set[str]) -> list[set[str]]:
    return [basket ^ {item} for item in ("tea", "milk")]


FOUR_BASKETS = spaces.Space(_BASKETS, _apart)

SPACE_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "nodes": (3, 4, 6),
    "spaces.graphs.neighbors": ("edge", "node"),
    "spaces.sequences.values": (["home", "work"], [0, 1.5], "ab"),
    "spaces.sequences.metric": ("insert_delete", "hamming"),
    "spaces.sequences.length": (3, 4),
    "spaces.Space.datasets": (_BASKETS,),
    "spaces.Space.metric": (None,),
    "spaces.Space.neighbors": (_changed,),
    "space": (FOUR_NODES, spaces.graphs(3, "node"), DAYS, FOUR_BASKETS),
    "spaces.local_sensitivity.dataset": (_PATH, []),
    "spaces.sensitivity_curve.dataset": (None, _PATH),
    "spaces.sensitivity_curve.distances": ([1, 2], 1),
}
for _name in ("global_sensitivity", "local_sensitivity"):
    SPACE_ARGUMENTS[f"spaces.{_name}.neighbors"] = (spaces.Within(1), spaces.Within(2))
for _name in ("global_sensitivity", "local_sensitivity", "sensitivity_curve"):
    SPACE_ARGUMENTS[f"spaces.{_name}.query"] = (
        *("triangles", "degree_histogram", lambda graph: len(graph)),
        *("changes", "counts", len),
    )
for _name in ("participation_sensitivity", "audit"):
    SPACE_ARGUMENTS |= {
        f"streams.{_name}.matrix": ([1, 1, 1], [[2, -1], [-1, 2]]),
        f"streams.{_name}.k": (1, 2),
        f"streams.{_name}.separation": (1, 2),
        f"streams.{_name}.pattern": ("at least", "fixed"),
        f"streams.{_name}.contribution": ("number", "one", 2),
        f"streams.{_name}.neighbors": ("zero-out", "replace"),
        f"streams.{_name}.gram": (False,),
        f"streams.{_name}.time_limit": (1, None),
        f"streams.{_name}.claim": (2, math.sqrt),
    }
