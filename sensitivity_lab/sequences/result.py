"""What a search over sequences returns: the sensitivity and two neighboring sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sensitivity_lab.graphs.enumerated import Enumerated
from sensitivity_lab.graphs.known import ClosedForm
from sensitivity_lab.graphs.search import Answer, answer_of
from sensitivity_lab.metrics.norms import Norm
from sensitivity_lab.results.literals import brief
from sensitivity_lab.results.release import Release, Things

from .queries import SequenceFunction, SequenceQuery, evaluate
from .relations import Hamming, Places, SequenceRelation
from .universe import Entries, SequenceUniverse

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SEQUENCES = Things(
    data="sequence",
    parts="entries",
    room="sequences",
    listed="",  # no universe of sequences lists them
    domain="",
    public="",
    every_size="Use a universe of every length that the data can have, "
    "SequenceUniverse(values, longest, shortest)",
)


@dataclass(frozen=True)
class SequenceWitness:
    """Two neighboring sequences that attain a sensitivity.

    Attributes
    ----------
    x, y : tuple of number or str
        Their entries, in their order.
    query_x, query_y : int, float, Fraction or tuple of such
        The query's answers on them.
    deleted, inserted : tuple of int
        The places of x, from 0, whose entries y does not have, and the places of y whose entries x
        does not have; without them, the two are the same. Under `Hamming`, both are the places
        where the two differ.

    Examples
    --------
    >>> from sensitivity_lab import sequences
    >>> universe = sequences.SequenceUniverse([0, 5], longest=3)
    >>> found = sequences.global_sensitivity(
    ...     universe, "path_length", neighbors=sequences.InsertDelete()
    ... )
    >>> found.witness.x, found.witness.y, found.witness.deleted, found.witness.inserted
    ((0, 0), (0, 5, 0), (), (1,))
    """

    x: Entries
    y: Entries
    query_x: Answer
    query_y: Answer
    deleted: Places
    inserted: Places


@dataclass(frozen=True, repr=False)
class SequenceSensitivity(Enumerated):
    """The sensitivity of a query of sequences, with its proof.

    Attributes
    ----------
    value : float
        The sensitivity in the query's unit: entries, values, changes, or the unit of the values for
        the sum and the length of the path.
    exact : Fraction or None
        As a rational; None where it is a root (L2) and for functions that return floats.
    upper : float or None
        The smallest float that is not below it; None for functions that return floats.
    witness : SequenceWitness
        Two neighbors that attain it.
    known : ClosedForm or None
        The formula that is known (`known_sensitivity`); None for a local sensitivity, for functions
        and where there is none.
    arithmetic : {"exact", "float"}
        "float" where a function returned floats, which it may have rounded itself.
    sequences_evaluated : int
        On how many sequences the query was evaluated.
    edits : int
        How many ways to change a sequence into a neighbor were compared: all that there are. Two
        sequences are compared once for each way to make one of the other.
    query : str
        The query's name.
    universe : SequenceUniverse
    neighbors : InsertDelete or Hamming
    norm : {"L1", "L2", "Linf"}
        Of the difference of two answers that are vectors; for numbers, all three are one.
    kind : {"global", "local"}
    definition : SequenceQuery or SequenceFunction
        What was evaluated.

    Examples
    --------
    >>> from sensitivity_lab import sequences
    >>> readings = sequences.SequenceUniverse([0, 1, 2], longest=4, shortest=4)
    >>> sequences.global_sensitivity(readings, "sum", neighbors=sequences.Hamming())
    Sensitivity of sum: 2 (exact)
      neighbors  at most 1 entry replaced; all 81 sequences of 4 of 3 values
      x          (0, 0, 0, 0)  f(x) = 0
      y          (2, 0, 0, 0)  f(y) = 2
      changed    y has 2 for 0 at 0
      method     enumeration: 81 sequences evaluated, 972 edits compared
    """

    value: float
    exact: Fraction | None
    upper: float | None
    witness: SequenceWitness
    known: ClosedForm | None
    arithmetic: Literal["exact", "float"]
    sequences_evaluated: int
    edits: int
    query: str
    universe: SequenceUniverse
    neighbors: SequenceRelation
    norm: Norm
    kind: Literal["global", "local"]
    definition: SequenceQuery | SequenceFunction

    def _answers(self) -> Sequence[Answer]:
        codes = self.universe.code(self.witness.x), self.universe.code(self.witness.y, "y")
        jobs = [(size, np.array([number])) for size, number in codes]
        tables = evaluate(self.definition, self.universe, jobs)
        return [answer_of(counts[0], tables) for counts in tables.counts]

    def _are_neighbors(self) -> bool:
        return self.neighbors._relates(self.witness.x, self.witness.y)

    def release(self) -> Release:
        """Return what noise has to know of it."""
        sizes = tuple(self.universe.sizes)
        several = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0])
        entries = "entry" if sizes == (1,) else "entries"
        keeps_size = isinstance(self.neighbors, Hamming)
        return self._about(sizes, f"{several} {entries}", _SEQUENCES, keeps_size=keeps_size)

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain Python objects."""
        witness = self.witness
        return {
            **self._common(),
            "sequences_evaluated": self.sequences_evaluated,
            "edits": self.edits,
            "x": witness.x,
            "y": witness.y,
            "deleted": witness.deleted,
            "inserted": witness.inserted,
            "query_x": witness.query_x,
            "query_y": witness.query_y,
        }

    def plot(self, **options: Any) -> Axes:
        """Draw the two sequences, one above the other, with the changed entries marked.

        Parameters
        ----------
        **options
            Of `sensitivity_lab.plotting.plot_sequences`: `ax`.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from sensitivity_lab.plotting import plot_sequences

        return plot_sequences(self.witness, **{**self._labels(), **options})

    def facts(self) -> list[tuple[str, str]]:
        """Return what both reprs tell, in order."""
        witness = self.witness
        facts = [
            ("neighbors", f"{self.neighbors}; {self.universe}"),
            ("x", f"{brief(witness.x)}  f(x) = {brief(witness.query_x)}"),
            ("y", f"{brief(witness.y)}  f(y) = {brief(witness.query_y)}"),
            ("changed", self._changed),
            (
                "method",
                f"enumeration: {self.sequences_evaluated:,} sequences evaluated, "
                f"{self.edits:,} edits compared",
            ),
        ]
        if self.known is not None:
            facts.insert(1, ("known", str(self.known)))
        return facts

    @property
    def _changed(self) -> str:
        """The difference of x and y in words."""
        x, y = self.witness.x, self.witness.y
        deleted, inserted = self.witness.deleted, self.witness.inserted
        if isinstance(self.neighbors, Hamming):
            parts = [f"{brief(y[place])} for {brief(x[place])} at {place}" for place in inserted]
        else:
            parts = [f"{brief(x[place])} deleted at {place} of x" for place in deleted]
            parts += [f"{brief(y[place])} inserted at {place}" for place in inserted]
        return f"y has {', '.join(parts)}" if parts else "nothing"
