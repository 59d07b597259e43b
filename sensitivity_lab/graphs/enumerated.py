"""What results of an enumeration have in common, whether of graphs or of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

from sensitivity_lab.errors import InputError, VerificationError
from sensitivity_lab.exact.norms import Norm
from sensitivity_lab.results.release import Release, Things
from sensitivity_lab.results.reprs import Facts, Rounded, certainty, rounded_up

from .known import ClosedForm
from .search import Answer, difference_of


class Enumerated(Rounded, Facts):
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

    def __float__(self) -> float:
        return self.value

    def _answers(self) -> Sequence[Answer]:
        """Evaluate the query on x and y; InputError if one of them is not of the universe."""
        raise NotImplementedError

    def _are_neighbors(self) -> bool:
        """Tell whether x and y are neighbors, by the definition."""
        raise NotImplementedError

    def verify(self) -> None:
        """Recompute everything from the witness.

        Raises
        ------
        VerificationError
            If x or y is not of the universe, they are not neighbors, or the answers or the value
            are not those of x and y.

        Notes
        -----
        Evaluates the query twice. That no other pair differs more is the search's claim, not
        something that the witness can show.
        """
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
        for name, stated, computed in (
            ("answer on x", witness.query_x, again[0]),
            ("answer on y", witness.query_y, again[1]),
            ("value", self.value, difference.nearest()),
            ("exact value", self.exact, exact),
            ("upper bound", self.upper, upper),
        ):
            if stated != computed:
                raise VerificationError(
                    f"the {name} of {self.query} is stated as {stated}, but the witness gives "
                    f"{computed}; x = {witness.x}, y = {witness.y}"
                )

    def _release(self) -> Release:
        """Return what noise has to know of it."""
        raise NotImplementedError

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
            norm=self.norm if isinstance(self.witness.query_x, tuple) else None,
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
        norm = f" in {self.norm}" if isinstance(self.witness.query_x, tuple) else ""
        return {
            "query": self.query,
            "neighbors": str(self.neighbors),
            "gap": f"{self._text}{norm}",
        }

    @property
    def _text(self) -> str:
        """The value, rounded up where it is rounded."""
        return rounded_up(self.value if self.upper is None else self.upper, self.exact)

    @property
    def _title(self) -> str:
        local = "Local sensitivity" if self.kind == "local" else "Sensitivity"
        norm = f", {self.norm} norm" if isinstance(self.witness.query_x, tuple) else ""
        how = certainty(self._text, self.arithmetic, self.exact)
        return f"{local} of {self.query}{norm}: {self._text} ({how})"
