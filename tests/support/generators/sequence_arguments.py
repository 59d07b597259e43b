"""Good arguments of what is public in `sequences`."""

from __future__ import annotations

from typing import Any

from sensitivity_lab import sequences

DAYS = sequences.SequenceUniverse(["home", "work"], longest=3)
_NUMBERS = sequences.SequenceUniverse([0, 0.5, 2], longest=2)
_RELATIONS = (sequences.InsertDelete(), sequences.Hamming(2))

SEQUENCE_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "sequences.SequenceUniverse.code.sequence": (["home", "work"], ()),
    "sequences.SequenceUniverse.sequence.size": (2, 3),
    "sequences.SequenceUniverse.sequence.number": (1, 3),
    "sequences.SequenceUniverse.values": (["home", "work"], [0, 1.5], "ab"),
    "longest": (3, 4),
    "shortest": (1, 0),
    "sequences.local_sensitivity.x": (["home", "home"], ["home"]),
    "sequences.local_sensitivity.universe": (DAYS,),
    "sequences.local_sensitivity.query": ("changes", "counts", len),
}
for _name in ("global_sensitivity", "known_sensitivity"):
    SEQUENCE_ARGUMENTS[f"sequences.{_name}.universe"] = (_NUMBERS,)
    SEQUENCE_ARGUMENTS[f"sequences.{_name}.query"] = ("path_length", "counts")
for _name in ("global_sensitivity", "known_sensitivity", "local_sensitivity"):
    SEQUENCE_ARGUMENTS[f"sequences.{_name}.neighbors"] = _RELATIONS
