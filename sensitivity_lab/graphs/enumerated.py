"""What results of an enumeration have in common, whether of graphs or of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

from sensitivity_lab.errors import InputError, VerificationError
from sensitivity_lab.metrics.norms import Norm
from sensitivity_lab.results.release import Release, Things
from sensitivity_lab.results.result import Found, Stated

from .known import ClosedForm
from .search import Answer, difference_of


class Enumerated(Found):
    """A sensitivity found by enumeration, with two neighbors that attain it as its `witness`."""

    value: float
    exact: Fraction | None
    upper: float | None
    witness: Any
    known: ClosedForm | None
    arithmetic: Literal["exact", "float"]
    query: str
    neighbors: Any
    norm: Norm
    kind: Literal["global", "local"]

    def _answers(self) -> Sequence[Answer]:
        """Evaluate the query on x and y; InputError if one of them is not of the universe."""
        raise NotImplementedError

    def _are_neighbors(self) -> bool:
        """Tell whether x and y are neighbors, by the definition."""
        raise NotImplementedError

    def again(self) -> list[Stated]:
        """Evaluate x and y again."""
        witness = self.witness
        try:
            again = self._answers()
        except InputError as error:
            raise VerificationError(f"the witness is not of the universe: {error}") from error
        if not self._are_neighbors():
            raise VerificationError(
                f"x = {witness.x} and y = {witness.y} are not neighbors: {self.neighbors}"
            )
        difference = difference_of(again[0], again[1], self.norm)
        exact = None if self.arithmetic == "float" else difference.exact
        upper = None if self.arithmetic == "float" else difference.upper()
        return [
            ("answer on x", witness.query_x, again[0]),
            ("answer on y", witness.query_y, again[1]),
            ("value", self.value, difference.nearest()),
            ("exact value", self.exact, exact),
            ("upper bound", self.upper, upper),
        ]

    def _about(
        self,
        sizes: tuple[int, ...],
        size: str,
        things: Things,
        *,
        listed: bool = False,
        keeps_size: bool,
    ) -> Release:
        """Return what noise has to know, given the sizes and whether neighbors share theirs."""
        return Release(
            query=self.query,
            kind=self.kind,
            norm=self._norm,
            neighbors=self.neighbors,
            exactly=False,
            sizes=sizes,
            size=size,
            upper=self.upper,
            things=things,
            listed=listed,
            private_size=not keeps_size and len(sizes) == 1,
        )

    def _common(self) -> dict[str, Any]:
        """Return what every result states of the search, as plain Python objects."""
        return {
            "query": self.query,
            "kind": self.kind,
            "neighbors": str(self.neighbors),
            "norm": self.norm,
            "sensitivity": self.value,
            "exact": None if self.exact is None else str(self.exact),
            "upper": self.upper,
            "known": None if self.known is None else self.known.formula,
            "arithmetic": self.arithmetic,
        }

    def _labels(self) -> dict[str, str]:
        """Return what a picture says of the witness."""
        norm = "" if self._norm is None else f" in {self._norm}"
        return {
            "query": self.query,
            "neighbors": str(self.neighbors),
            "gap": f"{self._text()}{norm}",
        }
