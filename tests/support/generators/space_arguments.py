"""Good arguments of what is public in `spaces`."""

from __future__ import annotations

from typing import Any

from sensitivity_lab import spaces
from sensitivity_lab.spaces import graphs, sequences

FOUR_NODES = graphs.GraphUniverse(4)
DAYS = sequences.SequenceUniverse(["home", "work"], longest=3)
_PATH = [(0, 1), (1, 2)]
_BASKETS = [set(), {"tea"}, {"milk"}, {"tea", "milk"}]


def _apart(a: Any, b: Any) -> int:
    return len(set(a) ^ set(b))


FOUR_BASKETS = spaces.Space(_BASKETS, _apart)

SPACE_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "nodes": (3, 4, 100),
    "graph": (_PATH, []),
    "mask": (3, 5),
    "edges": (_PATH, ((2, 0), (1, 2))),
    "graphs.NodeNeighbors.change": ("replace", "remove"),
    "sequences.SequenceUniverse.code.sequence": (["home", "work"], ()),
    "sequences.SequenceUniverse.sequence.size": (2, 3),
    "sequences.SequenceUniverse.sequence.number": (1, 3),
    "sequences.SequenceUniverse.values": (["home", "work"], [0, 1.5], "ab"),
    "longest": (3, 4),
    "shortest": (1, 0),
    "spaces.Space.datasets": (_BASKETS, ["a", "ab"], [(1, 2), (2, 1)]),
    "spaces.Space.metric": (_apart, lambda a, b: abs(len(a) - len(b))),
    "spaces.local_sensitivity.dataset": (_PATH, []),
    "spaces.sensitivity_curve.dataset": (None, _PATH),
    "spaces.sensitivity_curve.distances": ([1, 2], 1),
    "spaces.known_sensitivity.query": ("edges", "triangles"),
}
for _name in ("global_sensitivity", "local_sensitivity", "sensitivity_curve", "known_sensitivity"):
    SPACE_ARGUMENTS[f"spaces.{_name}.universe"] = (
        *(FOUR_NODES, graphs.GraphUniverse(5), graphs.GraphUniverse.subgraphs(_PATH)),
        *(DAYS, FOUR_BASKETS),
    )
    SPACE_ARGUMENTS[f"spaces.{_name}.neighbors"] = (
        *(graphs.EdgeNeighbors(), graphs.NodeNeighbors(change="remove")),
        *(sequences.InsertDelete(), sequences.Hamming(2), spaces.Within(1)),
    )
    if _name != "known_sensitivity":
        SPACE_ARGUMENTS[f"spaces.{_name}.query"] = (
            *("triangles", "degree_histogram", lambda adjacency: adjacency.sum()),
            *("changes", "counts", len),
        )
