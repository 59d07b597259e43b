"""The few exceptions of the package.

All derive from `SensitivityLabError`, so one ``except`` catches them; those that a caller's
argument can cause are also `ValueError`.
"""

from __future__ import annotations


def kind_of(value: object) -> str:
    """Return a value's type as errors name it: with its package, and how pandas can have it.

    Examples
    --------
    >>> from fractions import Fraction
    >>> kind_of([1, 2]), kind_of(Fraction(1, 2))
    ('list', 'fractions.Fraction')
    """
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    named = kind.__name__ if package in ("builtins", "__main__") else f"{package}.{kind.__name__}"
    return f"{named}; convert it with .to_pandas()" if hasattr(kind, "to_pandas") else named


class SensitivityLabError(Exception):
    """Base class of every error that this package raises on purpose."""


class InputError(SensitivityLabError, ValueError):
    """An argument is not acceptable; the message says what came and what is accepted."""


class MissingExtraError(InputError, ImportError):
    """A module needs an optional package; the message names the extra that installs it."""


class QueryError(SensitivityLabError, ValueError):
    """A query raised an error or did not return finite numbers; the message names the dataset."""


class NoEngineError(SensitivityLabError, ValueError):
    """No engine accepts the problem; the message lists each engine's reason."""


class TooLargeError(NoEngineError):
    """The search would need more than its limit; the message gives the numbers and ways out."""


class VerificationError(SensitivityLabError):
    """A result does not hold when it is recomputed from its witness."""


class SensitivityViolation(SensitivityLabError, AssertionError):  # noqa: N818 - it fails a test, as AssertionError does
    """A claimed sensitivity is not the truth; the message holds two datasets that prove it."""


class WorkerError(SensitivityLabError, RuntimeError):
    """A worker process or a cluster ended during a search; the message names what it worked on."""


class CheckpointError(SensitivityLabError, OSError):
    """A checkpoint folder cannot be used; the message names the folder and the reason."""
