"""Functions of the sums of powers of the records, which formulas are proved for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import check_callable, check_text, whole_kind
from sensitivity_lab.errors import InputError

_check_powers = whole_kind("the largest power of the records, from 1 to 4", most=4)


@dataclass(frozen=True)
class SumsQuery:
    """A rational function of the sums of powers of records in [0, 1]; make it with `sums`.

    Attributes
    ----------
    function : callable
        ``function(p, n)``, where ``p[j]`` is the sum of the j-th powers and n, or ``p[0]``, the
        number of records.
    powers : int
        The largest j.
    name : str

    Examples
    --------
    >>> squares = sums(lambda p, n: p[2] / n)
    >>> squares.on([1, 0, 1, 0]), squares.powers
    (Fraction(1, 2), 2)
    """

    function: Callable[[Any, Any], Any]
    powers: int
    name: str

    def on(self, records: Sequence[Any]) -> Fraction:
        """Return the answer on a dataset, exactly.

        Examples
        --------
        >>> sums(lambda p, n: p[2] / (1 + p[1])).on([1, 0, Fraction(1, 2)])
        Fraction(1, 2)
        """
        numbers = [Fraction(one) for one in records]
        powers = [sum((x**j for x in numbers), Fraction(0)) for j in range(1 + self.powers)]
        return Fraction(self.of(powers, powers[0]))

    def of(self, powers: Sequence[Any], size: Any) -> Any:
        """Return the answer for sums of powers, numbers of any kind."""
        try:
            found = self.function(powers, size)
            return found + 0 * size  # also of a number that no sum is in; None raises
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"sums: the function cannot be computed with + - * / and whole powers alone "
                f"({type(error).__name__}: {error}); p[1] to p[{self.powers}] are the sums of "
                "powers, and n is the number of records"
            ) from error


def sums(
    function: Callable[[Any, Any], Any], powers: int = 2, name: str | None = None
) -> SumsQuery:
    """Make a query of the sums of powers of records in [0, 1], for `formula` and `prove`.

    Parameters
    ----------
    function : callable
        ``function(p, n)`` computes the answer with + - * / and whole powers from ``p[1]``, the sum
        of the records, ``p[2]``, that of their squares, and so on, and n, the number of records.
    powers : int, default 2
        The largest power, from 1 to 4.
    name : str, optional
        Stands in texts.

    Returns
    -------
    SumsQuery

    Raises
    ------
    InputError
        If an argument is not acceptable.

    Examples
    --------
    >>> ratio = sums(lambda p, n: p[2] / (1 + p[1]), name="p2 / (1 + p1)")
    >>> ratio.on([1, 1])
    Fraction(2, 3)
    """
    check_callable("function", function, "a function of the sums of powers p and of n")
    most = _check_powers("powers", powers)
    told = "" if name is None else check_text("name", name, "a text")
    return SumsQuery(function, most, told or "a function of power sums")
