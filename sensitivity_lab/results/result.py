"""The base of all results: the facts for noise, the proof, and what is shown."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sensitivity_lab.checks import rounded_up
from sensitivity_lab.metrics.norms import Norm
from sensitivity_lab.universes.relations import Dataset

from .noise_context import NoiseSource
from .reprs import Facts, certainty, format_up
from .verification import Proved
from .witness import has_vectors


class Result(NoiseSource, Proved, Facts):
    """A statement about the answers of a query, with datasets that prove it.

    A class of results defines four things, and everything else follows: `noise_context`, the facts
    that noise needs; `again`, which measures the witness again, for `verify`; `facts`, for text and
    HTML; and the datasets that a message of `verify` shows.
    """

    if TYPE_CHECKING:  # fields of the one class, properties of the other

        @property
        def query(self) -> Any:
            """The query, or its name."""


class Paired(Result):
    """A statement about a sensitivity, with a pair of neighbors that proves it as its `witness`."""

    if TYPE_CHECKING:

        @property
        def witness(self) -> Any:
            """Two neighbors."""

        @property
        def upper(self) -> float | None:
            """An upper bound of the sensitivity; None if unknown."""

        @property
        def norm(self) -> Norm:
            """The norm of the difference of two vector answers."""

        @property
        def kind(self) -> str:
            """Whether it is for all datasets or for one."""

    @property
    def _pair(self) -> dict[str, Dataset]:
        return {"x": self.witness.x, "y": self.witness.y}

    @property
    def _norm(self) -> Norm | None:
        """The norm of the difference of two answers; None if they are numbers."""
        return self.norm if has_vectors(self) else None

    @property
    def _in_norm(self) -> str:
        """The norm in a title."""
        return "" if self._norm is None else f", {self._norm} norm"


class Found(Paired):
    """A known sensitivity. It is formatted as a number, rounded up.

    Noise is scaled to a sensitivity, so the digits shown are never below it.
    """

    if TYPE_CHECKING:

        @property
        def value(self) -> float:
            """The float nearest to the sensitivity."""

        @property
        def exact(self) -> Fraction | None:
            """The sensitivity as a rational; None if it is irrational or unknown."""

        @property
        def arithmetic(self) -> str:
            """Whether the answers are exact, or floats."""

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format_up(self._bound, self.exact, spec) if spec else str(self)

    @property
    def _bound(self) -> float:
        return self.value if self.upper is None else self.upper

    def _text(self, digits: int = 10) -> str:
        """Return the sensitivity as text, rounded up."""
        return rounded_up(self._bound, self.exact, digits)

    @property
    def _what(self) -> str:
        """What was found, in words."""
        return "Local sensitivity" if self.kind == "local" else "Sensitivity"

    @property
    def _title(self) -> str:
        text = self._text()
        how = certainty(text, self.arithmetic, self.exact)
        return f"{self._what} of {self._name}{self._in_norm}: {text} ({how})"
