"""What a sweep audits and what it finds: settings, lines of the table, and a library of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sensitivity_lab.errors import MissingExtraError
from sensitivity_lab.results.literals import one_line

REFUSED, FAILED, LATE = "not constructed", "error", "timeout"
"""In the place of a verdict: the library refuses the setting, the audit ends, or time is up."""

_SEED = 20_261_122
"""The order of settings is drawn once, the same in every sweep."""

_LONGEST = 200


@dataclass(frozen=True)
class Setting:
    """A constructor and its arguments, as source that makes or calls it anywhere.

    Attributes
    ----------
    constructor : str
        The name, such as "make_sum".
    source : str
        The Python that makes a transformation, or that is called on a dataset `x`.
    values : tuple
        The universe of entries.
    sizes : tuple of int or None
        The numbers of records; None where the input is a single value.
    options : tuple of pairs
        More about the audit, by name, such as ``(("neighbors", "bounded"),)``.
    """

    constructor: str
    source: str
    values: tuple[Any, ...]
    sizes: tuple[int, ...] | None
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """The source with the options: no two settings share it."""
        return "; ".join([self.source, *(f"{name} {value}" for name, value in self.options)])

    @property
    def file_name(self) -> str:
        """The name of the script that reproduces a finding."""
        return f"{self.constructor}-{sha256(self.name.encode()).hexdigest()[:8]}.py"

    def option(self, name: str) -> Any:
        """Return an option, or None."""
        return dict(self.options).get(name)


@dataclass(frozen=True)
class Judged:
    """What came out of a setting.

    Attributes
    ----------
    verdict : str
        That of the audit, or one of `REFUSED`, `FAILED` and `LATE`.
    slack : str, default ""
        The claim over the truth in the decisive row; empty without a verdict.
    remark : str, default ""
        Why there is no verdict; for a finding the two datasets.
    script : str, default ""
        For a finding: Python that reproduces it without the lab.
    """

    verdict: str
    slack: str = ""
    remark: str = ""
    script: str = ""


@dataclass(frozen=True)
class Line:
    """A line of the table; all of it is text, as it stands in the file.

    Attributes
    ----------
    constructor, setting : str
        The constructor, and the name of the setting.
    verdict, slack, remark : str
        See `Judged`.
    seconds : str
        The time it took.
    script : str
        The file that reproduces a finding, in the folder of the sweep.
    """

    constructor: str
    setting: str
    verdict: str
    slack: str
    seconds: str
    remark: str
    script: str

    @classmethod
    def of(cls, setting: Setting, found: Judged, seconds: float, script: str) -> Line:
        """Return the line of a setting."""
        remark = one_line(found.remark)[:_LONGEST]
        verdict, slack = found.verdict, found.slack
        return cls(
            setting.constructor, setting.name, verdict, slack, f"{seconds:.2f}", remark, script
        )


@dataclass(frozen=True)
class Library:
    """A library that can be swept. Workers take it by pickle, so its functions are of modules.

    Attributes
    ----------
    name : str
        The name of the package, such as "opendp".
    version : callable
        Returns the version that is installed, or raises MissingExtraError.
    settings : callable
        Yields the settings.
    judge : callable
        Returns what comes out of a setting; it may raise, hang, or end the process.
    constructors : callable
        Returns the constructors that are installed.
    """

    name: str
    version: Callable[[], str]
    settings: Callable[[], Iterator[Setting]]
    judge: Callable[[Setting], Judged]
    constructors: Callable[[], list[str]]

    def in_order(self) -> list[Setting]:
        """Return the settings in the order of a sweep: drawn, so that its first ones are a sample.

        The order is the same in every sweep.
        """
        drawn = list(self.settings())
        random.Random(_SEED).shuffle(drawn)
        return drawn


def version_of(package: str, extra: str) -> str:
    """Return the version of a package, or raise MissingExtraError."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        raise MissingExtraError(
            f"a sweep of {package} needs it; install the extra: pip install "
            f"'.[{extra}]' in a checkout"
        ) from None


def last_line(error: BaseException) -> str:
    """Return the last line of an error that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
