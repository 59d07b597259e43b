"""The sweep of a library: a line per setting in a folder, from where an earlier sweep stopped."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from io import StringIO
from pathlib import Path
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.audits.row import FAILING
from sensitivity_lab.checks import check_running, check_whole, finite_number, shown, text_of
from sensitivity_lab.errors import InputError
from sensitivity_lab.files import written_whole

from .page import page_of
from .setting import Library, Line, Setting
from .workers import judged

TIMEOUT = 120.0
"""The default number of seconds for a setting."""

_HEADER = [field.name for field in fields(Line)]


@dataclass(frozen=True)
class Sweep:
    """The result of a sweep.

    Attributes
    ----------
    library : str
        The library and its version, such as "opendp 0.16.0".
    lines : tuple of Line
        A line per setting, in the order of the settings.
    left : int
        How many settings were not audited yet.
    missing : tuple of str
        Constructors of the library without any setting.
    table, page : Path
        The CSV file and the HTML file; the scripts of findings stand beside them.
    """

    library: str
    lines: tuple[Line, ...]
    left: int
    missing: tuple[str, ...]
    table: Path
    page: Path

    @property
    def findings(self) -> tuple[Line, ...]:
        """The lines whose verdict makes an audit fail."""
        return tuple(line for line in self.lines if line.verdict in FAILING)


def sweep(
    library: Library,
    folder: str | Path,
    *,
    limit: int | None = None,
    timeout: float = TIMEOUT,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Sweep:
    """Audit the settings of a library that a folder does not have yet.

    Parameters
    ----------
    library : Library
        What to sweep.
    folder : str or Path
        Where the table goes, named after the library and its version, with the scripts beside it; a
        new folder is made. A line is written as soon as its setting is audited, so a sweep that was
        killed goes on where it was.
    limit : int, optional
        The largest number of settings to audit now. They are drawn from all of them, the same ones
        each time.
    timeout : float, default 120
        Seconds after which a setting is given up.
    n_jobs : int, optional
        How many worker processes, as in joblib; None means 1.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after one second.

    Returns
    -------
    Sweep

    Raises
    ------
    InputError
        If an argument is not acceptable, or the table cannot be read or written, or is another one.
    MissingExtraError
        An InputError: the library is not installed.

    Notes
    -----
    No setting ends the sweep: what the library refuses, what ends an audit or its process, and what
    takes too long, are lines of the table.
    """
    most = (
        None if limit is None else check_whole("limit", limit, "a number of settings, at least 1")
    )
    seconds = finite_number(timeout)
    if seconds is None or seconds <= 0:
        raise InputError(f"timeout must be a number of seconds above 0, got {shown(timeout)}")
    check_running(n_jobs, progress)
    version = library.version()
    target = _folder(folder)
    table = target / f"{library.name}-{version}.csv"
    done = _read(table)
    known = {line.setting for line in done}
    settings = library.in_order()
    todo = [one for one in settings if one.name not in known][:most]
    try:
        done += _judge(library, todo, table, running.workers(n_jobs), float(seconds), progress)
        # Settings that this version of the lab no longer has stay, at the end.
        places = {one.name: place for place, one in enumerate(library.settings())}
        done.sort(key=lambda line: places.get(line.setting, len(places)))
        missing = sorted(set(library.constructors()) - {one.constructor for one in settings})
        left = len(settings) - len({line.setting for line in done} & set(places))
        page = table.with_suffix(".html")
        result = Sweep(f"{library.name} {version}", tuple(done), left, tuple(missing), table, page)
        _write(table, _text([_HEADER, *map(astuple, done)]))
        _write(page, page_of(result.library, result.lines, left, result.missing))
    except OSError as error:
        raise InputError(
            f"{error.filename or target} cannot be written: {error.strerror}"
        ) from error
    return result


def _judge(
    library: Library,
    todo: Sequence[Setting],
    table: Path,
    jobs: int,
    timeout: float,
    progress: bool | None,
) -> list[Line]:
    """Judge settings, and write each line as soon as it is known."""
    lines: list[Line] = []
    if not todo:
        return lines
    new = not table.exists() or not table.stat().st_size
    with (
        table.open("a", encoding="utf-8", newline="") as file,
        running.counter("settings", progress) as count,
    ):
        if new:
            file.write(_text([_HEADER]))
            file.flush()
        for setting, found, seconds in judged(library, todo, min(jobs, len(todo)), timeout):
            script = f"findings/{setting.file_name}" if found.script else ""
            if script:
                (table.parent / "findings").mkdir(exist_ok=True)
                _write(table.parent / script, found.script)
            lines.append(Line.of(setting, found, seconds, script))
            file.write(_text([astuple(lines[-1])]))
            file.flush()
            count(1)
    return lines


def _folder(folder: Any) -> Path:
    """Return the folder, made if need be, or raise InputError."""
    try:
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError, TypeError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"cannot make the folder {shown(text_of(folder))}: {why}") from error
    return target


def _read(table: Path) -> list[Line]:
    """Return the lines of earlier sweeps, without one that a killed sweep left unfinished."""
    if not table.exists():
        return []
    try:
        content = table.read_bytes()
        # A line is whole once its end is written; none has a line break inside.
        whole = content[: content.rfind(b"\n") + 1]
        rows = list(csv.reader(StringIO(whole.decode("utf-8"), newline="")))
        begun = _text([_HEADER]).startswith(content.decode("utf-8", "replace"))
        if whole != content and (begun or (rows and rows[0] == _HEADER)):
            os.truncate(table, len(whole))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{table} cannot be read: {error}") from error
    if not rows and begun:
        return []
    if not rows or rows[0] != _HEADER or any(len(row) != len(_HEADER) for row in rows):
        raise InputError(f"{table} is not the table of a sweep; name another folder")
    return [Line(*row) for row in rows[1:]]


def _text(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines of CSV."""
    made = StringIO(newline="")
    csv.writer(made, lineterminator="\n").writerows(rows)
    return made.getvalue()


def _write(path: Path, text: str) -> None:
    with written_whole(path) as part:
        part.write_text(text, encoding="utf-8")
