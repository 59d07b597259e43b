"""A sensitivity in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sensitivity_lab.exact.difference import Difference


@dataclass(frozen=True)
class ClosedForm:
    """A sensitivity as a formula, such as one of the number of nodes n and of k.

    Attributes
    ----------
    formula : str
        In the letters that `known_sensitivity` names.
    power : int or Fraction
        Its value, or the square of its value where `root` is True.
    root : bool
        Whether the value is the square root of `power`.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> from sensitivity_lab.spaces import graphs
    >>> form = spaces.known_sensitivity(
    ...     graphs.GraphUniverse(30), "triangles", neighbors=graphs.EdgeNeighbors()
    ... )
    >>> form
    ClosedForm(formula='n - 2', power=28, root=False)
    >>> float(form)
    28.0
    """

    formula: str
    power: int | Fraction
    root: bool = False

    def __float__(self) -> float:
        return self.difference.nearest()

    def __str__(self) -> str:
        value = f"{float(self):.10g}"
        return value if value == self.formula else f"{self.formula} = {value}"

    @property
    def difference(self) -> Difference:
        """The value, which compares exactly with others."""
        return Difference(Fraction(self.power), Fraction(0), self.root)
