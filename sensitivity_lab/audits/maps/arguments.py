"""What callers of these audits pass: datasets, distances, and maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sensitivity_lab.audits.claims import check_claim
from sensitivity_lab.audits.inputs import VECTOR_LIMIT, check_several
from sensitivity_lab.checks import check_rational, listed, one_or_several, shown
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.results.literals import one_line

from .records import check_comparable

Claim = tuple[Number | None, str]
"""What a map promises at a distance, or None and the reason why it promises nothing."""


def check_datasets(datasets: Any) -> list[Any]:
    """Return the datasets that a caller gives, or raise InputError.

    Parameters
    ----------
    datasets : iterable or callable
        The datasets; a callable takes nothing and returns an iterable.

    Raises
    ------
    InputError
        If it is neither, is empty, or raises.
    TooLargeError
        If there are more than `inputs.VECTOR_LIMIT`.

    Examples
    --------
    >>> check_datasets(lambda: ([n] for n in range(3)))
    [[0], [1], [2]]
    """
    wrong = "datasets must be the datasets to try, or a function that returns them, at least one"
    if callable(datasets):
        try:
            datasets = datasets()
        except Exception as error:
            raise InputError(f"{wrong}; it raised {type(error).__name__}: {error}") from error
    given = listed(datasets, wrong)
    if not given:
        raise InputError(f"{wrong}, got none")
    if len(given) > VECTOR_LIMIT:
        raise TooLargeError(
            f"there are {len(given):,} datasets, more than the {VECTOR_LIMIT:,} that are tried; "
            "give fewer"
        )
    for dataset in given:
        check_comparable("datasets", dataset)
    return given


def check_one_source(values: Any, sizes: Any, datasets: Any) -> None:
    """Raise InputError unless there are values, or datasets without values and sizes."""
    if (values is None) == (datasets is None):
        got = "neither" if values is None else "both"
        raise InputError(f"give values, or datasets, got {got}")
    if datasets is not None and sizes is not None:
        raise InputError("sizes must be left out: datasets have their own")


def check_distances(d_in: Any, real: bool) -> tuple[Number, ...]:
    """Return input distances, ascending and distinct, or raise InputError.

    Parameters
    ----------
    d_in : number or iterable of numbers
        The distances, at least 0.
    real : bool
        Whether they may be other than whole numbers.

    Examples
    --------
    >>> check_distances([2, 0.5, 2.0], real=True), check_distances(1, real=False)
    ((0.5, 2), (1,))
    """
    if not real:
        return check_several("d_in", d_in, "an input distance, at least 0")
    wrong = "d_in must be a number or several of them"
    numbers = {}
    for one in one_or_several(d_in, wrong):
        number = check_rational("d_in", one, "an input distance, finite and at least 0")
        if number < 0:
            raise InputError(f"d_in must be an input distance, at least 0, got {shown(one)}")
        if number >= 2**62:
            raise InputError(f"d_in must be below 2**62, got {shown(one)}")
        whole = number.denominator == 1
        numbers[number] = int(number) if whole else float(one) if float(one) == number else number
    if not numbers:
        raise InputError(f"{wrong}, got none")
    return tuple(numbers[number] for number in sorted(numbers))


def claims_of(claim: Callable[[Number], Any], limits: Sequence[Number]) -> list[Claim]:
    """Return what a map promises at each distance; None where it fails or promises no distance.

    Examples
    --------
    >>> claims_of(lambda d_in: [0, 3, float("nan")][d_in], [1, 2, 3])
    [(3, ''), (None, 'the map returned nan'), (None, 'IndexError: list index out of range')]
    """
    return [_claim(claim, limit) for limit in limits]


def _claim(claim: Callable[[Number], Any], limit: Number) -> Claim:
    try:
        given = claim(limit)
    except Exception as error:  # noqa: BLE001 - the row reports whatever the map does
        return None, reason_of(error)
    try:
        return check_claim(given, limit), ""
    except InputError:
        return None, f"the map returned {one_line(shown(given))}"


def reason_of(error: Exception) -> str:
    """Return the message of an error on one line, without a traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(' ")')]
    if not lines:
        return type(error).__name__
    if type(error).__module__.partition(".")[0] != "opendp":
        return one_line(f"{type(error).__name__}: {error}")[:200]
    return one_line(lines[-1 if "Traceback" in str(error) else 0])[:200]
