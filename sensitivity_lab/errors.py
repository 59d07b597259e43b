"""The few exceptions of the package.

All derive from `SensitivityLabError`, so one ``except`` catches them. Errors that a caller's
argument can cause are also `ValueError`.
"""

from __future__ import annotations

import unicodedata

__all__ = [
    "DatasetUniverseWarning",
    "InputError",
    "MissingExtraError",
    "NoEngineError",
    "PrivateSizeWarning",
    "QueryError",
    "SensitivityLabError",
    "SensitivityViolation",
    "TooLargeError",
    "VerificationError",
    "WorkerError",
]

__dir__ = __all__.copy  # for tab completion


def printable(text: str, *, lines: bool = False) -> str:
    r"""Return a text with invisible and control characters escaped as in Python.

    These are control characters, marks that turn the direction of writing or join characters
    without a width, halves of surrogate pairs, and characters that Unicode does not define.

    Parameters
    ----------
    text : str
        Any text.
    lines : bool, default False
        Whether a line may break.

    Examples
    --------
    >>> print(printable("red: \x1b[31m, backwards: \u202e"))
    red: \x1b[31m, backwards: \u202e
    """
    if text.isprintable():
        return text
    return "".join(
        one if _is_shown(one) or (lines and one == "\n") else repr(one)[1:-1] for one in text
    )


def _is_shown(one: str) -> bool:
    """Tell whether a character is safe to show, as wide and narrow spaces are, which repr hides."""
    return one.isprintable() or unicodedata.category(one) == "Zs"


def kind_of(value: object) -> str:
    """Return a value's type as errors name it: with its package, and how to convert it to pandas.

    Examples
    --------
    >>> from fractions import Fraction
    >>> kind_of([1, 2]), kind_of(Fraction(1, 2))
    ('list', 'fractions.Fraction')
    """
    if value is ...:
        return "Ellipsis (replace the dots)"  # an exercise that is not solved
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    named = kind.__name__ if package in ("builtins", "__main__") else f"{package}.{kind.__name__}"
    return f"{named}; convert it with .to_pandas()" if hasattr(kind, "to_pandas") else named


class SensitivityLabError(Exception):
    """Base class of every error that this package raises on purpose.

    Its text has no control characters, even where the names and values in it do.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> try:
    ...     sl.Percentile(101)
    ... except sl.errors.SensitivityLabError as error:
    ...     print(type(error).__name__)
    InputError
    """

    def __str__(self) -> str:
        return printable(super().__str__(), lines=True)


def about(what: str, error: SensitivityLabError) -> SensitivityLabError:
    """Return an error again, its message after what it is about."""
    told = type(error)(f"{what}: {error}")
    vars(told).update(vars(error))
    return told


class InputError(SensitivityLabError, ValueError):
    """An argument is invalid; the message says what came and what is accepted.

    Examples
    --------
    >>> from sensitivity_lab import Bounded
    >>> Bounded(0)
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: k must be a whole number (a Hamming distance, at least 1),
    got 0, below 1
    """


class MissingExtraError(InputError, ImportError):
    """A module needs an optional package; the message names the extra that installs it.

    Examples
    --------
    >>> issubclass(MissingExtraError, ImportError)
    True
    """


class QueryError(SensitivityLabError, ValueError):
    """A query raised an error or returned no finite number; the message names the dataset.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain([0, 1])
    >>> sl.global_sensitivity(universe, lambda x: 1 / int(x[0]), size=1, neighbors="bounded")
    Traceback (most recent call last):
    sensitivity_lab.errors.QueryError: query 'function' on the dataset (0,) raised ...
    """


class NoEngineError(SensitivityLabError, ValueError):
    """No engine accepts the problem; the message says why, and what to change.

    A line per engine that covers the query comes first. The others are only named there.

    Attributes
    ----------
    reasons : dict of str to str
        Why each engine does not accept the problem, by its name; empty if none was asked.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain([0, 1])
    >>> sl.global_sensitivity(universe, "mean", size=2, neighbors="bounded", method="variance")
    Traceback (most recent call last):
    sensitivity_lab.errors.NoEngineError: no engine accepts mean here: variance covers var and std,
      not mean
    """

    def __init__(self, *told: object) -> None:
        super().__init__(*told)
        self.reasons: dict[str, str] = {}


class TooLargeError(NoEngineError):
    """The search would exceed a limit; the message gives the numbers and ways out.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain(range(100))
    >>> sl.global_sensitivity(universe, max, size=50, neighbors="bounded")
    Traceback (most recent call last):
    sensitivity_lab.errors.TooLargeError: no engine accepts max (function) here: ...
    """


class VerificationError(SensitivityLabError):
    """A result does not hold when it is recomputed from its witness.

    Examples
    --------
    >>> import dataclasses
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3, 10])
    >>> result = sl.global_sensitivity(universe, "mean", size=3, neighbors=sl.Bounded(1))
    >>> dataclasses.replace(result, value=2.0).verify()
    Traceback (most recent call last):
    sensitivity_lab.errors.VerificationError: the value of mean is stated as 2.0, but ...
    """


class SensitivityViolation(SensitivityLabError, AssertionError):  # noqa: N818 - it fails a test, as AssertionError does
    """A claimed sensitivity is wrong; the message has two datasets that prove it.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> ages = sl.Universe.from_domain([20, 125])
    >>> sl.assert_sensitivity(ages, "sum", 100, size=2, neighbors="bounded", distances=1)
    Traceback (most recent call last):
    sensitivity_lab.errors.SensitivityViolation: sum, bounded: a sensitivity of 100 is claimed at
      distance 1, the truth is 105: violated (claim / truth = 0.9524)...
    """


class DatasetUniverseWarning(UserWarning):
    """Noise is scaled to a result that holds only among datasets drawn from listed records.

    That is enough only if these very records are public: say so with ``public_universe=True``. For
    private data, compute the sensitivity over a domain, with `Universe.from_domain` or
    `Universe.from_interval`. A domain with fewer `copies` of a value than a dataset can hold counts
    as a list, too.

    Examples
    --------
    >>> import warnings
    >>> import sensitivity_lab as sl
    >>> ages = sl.Universe.from_dataset([20, 30, 30, 30, 40])
    >>> median = sl.global_sensitivity(ages, "median", size=3, neighbors=sl.Bounded(1))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     scale = sl.noise.laplace_scale(median, epsilon=1)
    >>> scale, [warning.category.__name__ for warning in caught]
    (0.0, ['DatasetUniverseWarning'])
    >>> domain = sl.Universe.from_domain(range(18, 100))
    >>> median = sl.global_sensitivity(domain, "median", size=3, neighbors=sl.Bounded(1))
    >>> sl.noise.laplace_scale(median, epsilon=1)
    81.0
    """


class PrivateSizeWarning(UserWarning):
    """Noise is scaled to a result for some sizes only, and they are private; or to given groups.

    If records are added or removed, the number of records is private, and most sensitivities depend
    on it. Noise scaled to the sensitivity at some sizes reveals the number, and is too small for
    neighbors of other sizes. Pass every size that the data can have, from where the query is
    defined, such as ``size=range(1, 1001)``. Sums and counts have the same sensitivity at every
    size, so they get no warning. A result for groups of given sizes holds only for these sizes.

    Examples
    --------
    >>> import warnings
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(11))
    >>> mean = sl.global_sensitivity(scores, "mean", size=1000, neighbors=sl.Unbounded(1))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     scale = sl.noise.laplace_scale(mean, epsilon=1)
    >>> round(scale, 3), [warning.category.__name__ for warning in caught]
    (0.01, ['PrivateSizeWarning'])
    >>> mean = sl.global_sensitivity(scores, "mean", size=range(1, 1001), neighbors=sl.Unbounded(1))
    >>> sl.noise.laplace_scale(mean, epsilon=1)
    5.0
    """


class WorkerError(SensitivityLabError, RuntimeError):
    """A worker process or a cluster died during a search; the message names the work it had.

    Examples
    --------
    >>> issubclass(WorkerError, SensitivityLabError)
    True
    """
