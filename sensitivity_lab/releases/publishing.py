"""Publish once, whatever happens: in this process, in a folder, and in a ledger for all processes.

A publication is begun before its noise is drawn and finished when its numbers are kept, each by one
file that appears at once. Whatever ends a process leaves one of three states: nothing, which costs
nothing; begun, which counts as spent, since the numbers may have been seen; finished, whose numbers
are given back. Only the noisy whole numbers that were measured are kept: tables follow from these.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.boundary import warn_caller
from sensitivity_lab.checks import check_path, number_text, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.results.reprs import Tabled

from .grid import as_text
from .measurements import Measured, Numbers

Noisy = dict[Measured, Numbers]

_BYTES = 24
"""No noisy number, which has at most 63 bits, is longer as text."""

_SPENT = (
    "its epsilon counts as spent, since numbers may have been seen; to publish again, and pay "
    "again, make the plan with another name="
)


@dataclass
class _Process:
    """What was published in this process. A child of it that was forked begins anew.

    Attributes
    ----------
    token : str
        Which process this is.
    ids : set of str
        Of plans that were published; copies of a plan share its id.
    contents : set of str
        What was published, whoever planned it.
    """

    token: str
    ids: set[str]
    contents: set[str]
    lock: Any

    def check(self, made_in: str, own: str, epsilon: Fraction, *, known: bool = False) -> None:
        """Raise InputError for a plan that cannot be published here without a ledger."""
        if known or own in self.ids:
            raise InputError(
                "this plan was published before. To publish it again would cost its epsilon "
                f"again, {as_text(2 * epsilon)} in all: if that is what you want, make a new plan"
            )
        # A plan that came here by pickle or fork has another process's token.
        if made_in != self.token:
            raise InputError(
                "this plan was made in another process, and two processes could publish it twice: "
                "make or load it here, or give a ledger=, a folder that they share"
            )

    def begin(self, made_in: str, own: str, content: str, epsilon: Fraction) -> None:
        """Let one call of all threads go on; raise InputError for all others."""
        if content in self.contents:  # told first: who makes errors of warnings publishes nothing
            warn_caller(
                "an equal plan was published before in this process; the privacy losses add up, "
                f"epsilon {as_text(2 * epsilon)} or more in all. With a ledger= the numbers that "
                "were published are given back instead"
            )
        # Asked and noted under one lock: of four threads that call at once, one passes.
        with self.lock:
            self.check(made_in, own, epsilon)
            self.ids.add(own)
            self.contents.add(content)


def _begun() -> _Process:
    return _Process(secrets.token_hex(8), set(), set(), threading.Lock())


PROCESS = [_begun()]
"""The one process that runs; in a list, so that a forked child can put its own there."""


def _renew() -> None:
    PROCESS[0] = _begun()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def digest_of(plan: Mapping[str, Any], name: str) -> str:
    """Return what a ledger knows a plan by: its content, and the name that it was given."""
    # Whether it was published is no part of what a plan is.
    content = {key: value for key, value in plan.items() if key != "published"}
    text = json.dumps([name, content], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True)
class Record:
    """One publication in a folder: the file that says it was begun, and the one of its numbers.

    Attributes
    ----------
    begun, finished : Path
    """

    begun: Path
    finished: Path

    @classmethod
    def of(cls, folder: Path, stem: str) -> Record:
        """Return the files of a publication."""
        return cls(folder / f"{stem}.json", folder / f"{stem}.numbers.json")

    def published(self, measured: Mapping[str, Measured]) -> tuple[Noisy, str] | None:
        """Return the numbers of a finished publication and its date; None if there is none.

        InputError for one that was begun and not finished, or that does not fit.
        """
        if not self.begun.exists():
            return None
        try:
            # An empty file: the process ended while it was written. It counts as begun.
            told = json.loads(self.begun.read_text(encoding="utf-8") or "{}")
            date = told.get("begun", "an unknown date")
            if self.finished.exists():
                kept = json.loads(self.finished.read_text(encoding="utf-8"))
                return {
                    one: np.array(kept[name], dtype=object) for name, one in measured.items()
                }, date
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(
                f"a publication of this plan was begun, and {shown(str(self.begun))} or the file "
                f"of its numbers cannot be read ({error}): {_SPENT}"
            ) from error
        raise InputError(f"a publication of this plan was begun on {date}, not finished: {_SPENT}")

    def publish(
        self, told: Mapping[str, Any], cells: int, draw: Callable[[], Noisy]
    ) -> Noisy | None:
        """Begin, draw and finish; None if another process began first.

        Parameters
        ----------
        told : mapping
            What the first file says.
        cells : int
            How many numbers there will be: room for them is made first.
        draw : callable
            Draws the noise.
        """
        # A name of its own for each attempt: two processes that begin at once do not share a part.
        part = self.finished.with_name(f"{self.finished.name}.{secrets.token_hex(4)}.part")
        date = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M:%S} UTC"
        begun = json.dumps({"begun": date, **told}, indent=1, default=str)
        # The order makes a crash safe: room for the numbers, then the file that says "begun", then
        # the draw. Whatever stops it, no number is on the disk without "begun" beside it.
        with _disk("nothing was drawn, and nothing is spent"):
            try:
                # A full disk is found here, while nothing is spent.
                _write(part, b" " * (_BYTES * cells + 4096))
                # A new file or an error (O_EXCL): of two processes one goes on.
                _write(self.begun, begun.encode())
                _flush(self.begun.parent)
            except FileExistsError:
                part.unlink()
                return None
            except OSError:
                with suppress(OSError):
                    part.unlink(missing_ok=True)
                raise
        noisy = draw()
        kept = json.dumps({one.name: of.tolist() for one, of in noisy.items()})
        with _disk(f"the noise was drawn; {_SPENT}"):
            with part.open("r+b") as file:
                file.write(kept.encode())
                file.truncate()
                file.flush()
                os.fsync(file.fileno())
            # Whole or not at all: a rename is one step for whoever reads.
            part.replace(self.finished)
            _flush(self.finished.parent)
        return noisy


def _write(path: Path, content: bytes) -> None:
    """Write a new file, to the disk; FileExistsError if there is one."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _flush(folder: Path) -> None:
    """Write the names of a folder's files to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _disk(spent: str) -> Iterator[None]:
    """Tell an error of the disk as what it is, with what is spent."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileExistsError):
            raise
        raise InputError(
            f"the disk refuses: {error.strerror or error} ({error.filename or 'a file'}); {spent}"
        ) from error


def ledger_folder(path: Any) -> Path:
    """Return the folder of a ledger, made if need be; raise InputError if it cannot be."""
    where = check_path("ledger", path)
    try:
        where.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(
            f"ledger: cannot make the folder {shown(str(where))}: {error.strerror or error}; name "
            "a folder, the same for all that is published about these people"
        ) from error
    return where


@dataclass(frozen=True, repr=False, eq=False)
class Ledger(Tabled):
    """What was published, from a folder that all processes share; `ledger` reads it.

    Attributes
    ----------
    publications : DataFrame
        Columns: name, about (whose rows), epsilon, delta, begun, finished (bool).

    Examples
    --------
    >>> import tempfile
    >>> import sensitivity_lab as sl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sl.releases.ledger(folder).total
    {}
    """

    publications: pd.DataFrame

    @property
    def total(self) -> dict[str, tuple[Fraction, Fraction]]:
        """By whose rows, the sums of epsilon and of delta, unfinished publications included."""
        found: dict[str, tuple[Fraction, Fraction]] = {}
        columns = (self.publications[name] for name in ("about", "epsilon", "delta"))
        # Losses of different people do not add up, so sums are by whose rows.
        for about, *loss in zip(*columns, strict=True):
            epsilon, delta = found.get(about, (Fraction(0), Fraction(0)))
            found[about] = epsilon + Fraction(loss[0]), delta + Fraction(loss[1])
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the publications.

        Returns
        -------
        pandas.DataFrame
        """
        return self.publications.copy()

    @property
    def _title(self) -> str:
        lines = []
        for about, (epsilon, delta) in self.total.items():
            number = int((self.publications["about"] == about).sum())
            more = f" and delta {as_text(delta)}" if delta else ""
            plural = "s" * (number != 1)
            loss = f"epsilon {as_text(epsilon)}{more} in all"
            lines.append(f"{number} publication{plural} about {about}: {loss}")
        return "\n".join(lines) or "No publications"

    def _table(self) -> pd.DataFrame:
        return self.publications.set_index("name").rename_axis(None)


def ledger(path: Any) -> Ledger:
    """Read from a ledger which plans were published, and what they cost together.

    Parameters
    ----------
    path : str or path
        The folder that was given to `Plan.publish` as ``ledger=``.

    Returns
    -------
    Ledger
        Its `total` adds up epsilon and delta for each `about`, the people whose rows were used.
        Publications that began but did not finish count. It refuses nothing: you keep the budget.

    Raises
    ------
    InputError
        If the folder cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(ledger(folder).to_frame().columns.tolist())
    ['name', 'about', 'epsilon', 'delta', 'begun', 'finished']
    """
    where = check_path("path", path)
    rows = []
    try:
        if not where.is_dir():
            raise NotADirectoryError(20, "it is no folder", str(where))
        for begun in sorted(where.glob("*.json")):
            if begun.name.endswith(".numbers.json"):
                continue
            told = json.loads(begun.read_text(encoding="utf-8") or "{}")
            finished = Record.of(where, begun.stem).finished.exists()
            texts = [told.get(key) or "" for key in ("name", "about", "epsilon", "delta", "begun")]
            texts[2:4] = [number_text(Fraction(one or 0)) for one in texts[2:4]]
            rows.append((*texts, finished))
    except (OSError, ValueError, AttributeError, ZeroDivisionError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read the ledger {shown(str(where))}: {why}") from error
    columns = ["name", "about", "epsilon", "delta", "begun", "finished"]
    return Ledger(pd.DataFrame(rows, columns=columns).sort_values("begun", ignore_index=True))
