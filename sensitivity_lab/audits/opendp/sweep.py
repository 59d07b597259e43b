"""A sweep of OpenDP: each setting is audited, and its verdict is a line of a CSV file."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.checks import check_whole
from sensitivity_lab.errors import InputError, MissingExtraError
from sensitivity_lab.results.literals import one_line, short_literal

from .call import audit_opendp
from .sweep_settings import Setting, made_of, settings

REFUSED, FAILED = "not constructed", "error"
"""What stands in the place of a verdict: OpenDP refuses the setting, or the audit ends."""

_LONGEST = 200


@dataclass(frozen=True)
class Line:
    """A line of the table.

    Attributes
    ----------
    constructor, setting : str
        The constructor, and the source that makes the transformation.
    verdict : str
        That of the audit, or `REFUSED` or `FAILED`.
    slack : str
        The claim over the truth in the decisive row; empty without a verdict.
    seconds : str
        The time it took.
    remark : str
        Why there is no verdict; for a violation the two inputs.
    """

    constructor: str
    setting: str
    verdict: str
    slack: str
    seconds: str
    remark: str


def sweep_opendp(
    path: str | Path,
    *,
    limit: int | None = None,
    chosen: Iterable[Setting] | None = None,
    progress: bool | None = None,
) -> list[Line]:
    """Audit the settings that a CSV file does not have yet, and add a line for each.

    Parameters
    ----------
    path : str or Path
        The file; a new one gets a header. A line is written as soon as its setting is audited, so
        a sweep that was interrupted goes on where it was.
    limit : int, optional
        The largest number of settings to audit now.
    chosen : iterable of Setting, optional
        The settings; by default those of `settings`.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after one second.

    Returns
    -------
    list of Line
        All lines of the file, those of earlier sweeps first.

    Raises
    ------
    InputError
        If the file cannot be read or written, or is not of a sweep.
    MissingExtraError
        An InputError: OpenDP is not installed.

    Notes
    -----
    No setting ends the sweep: what OpenDP refuses, and what ends an audit, are lines of the table.
    """
    dp = _opendp()
    most = None if limit is None else check_whole("limit", limit, "a number of settings")
    table = Path(path)
    done = _read(table)
    known = {line.setting for line in done}
    given = settings() if chosen is None else chosen
    todo = list(islice((one for one in given if one.source not in known), most))
    try:
        with table.open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            if not done and not table.stat().st_size:
                writer.writerow(_HEADER)
            for setting in running.tracked(todo, unit="settings", progress=progress):
                done.append(_line(setting, dp))
                writer.writerow(astuple(done[-1]))
                file.flush()
    except OSError as error:
        raise InputError(f"{table} cannot be written: {error.strerror}") from error
    return done


_HEADER = [field.name for field in fields(Line)]


def _opendp() -> Any:
    """Return OpenDP's prelude with its features, or raise MissingExtraError."""
    try:
        import opendp.prelude as dp
    except ImportError:
        raise MissingExtraError(
            "a sweep of OpenDP needs OpenDP; install the extra: pip install "
            "'sensitivity_lab[opendp]'"
        ) from None
    dp.enable_features("contrib")
    return dp


def _read(table: Path) -> list[Line]:
    """Return the lines of earlier sweeps; a last line without its end is left for a new one."""
    if not table.exists():
        return []
    try:
        with table.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{table} cannot be read: {error}") from error
    if rows and rows[0] != _HEADER:
        raise InputError(f"{table} is not the table of a sweep; name another file")
    if any(len(row) != len(_HEADER) for row in rows):
        raise InputError(f"{table} has a line that is cut off; remove it, and the sweep goes on")
    return [Line(*row) for row in rows[1:]]


def _line(setting: Setting, dp: Any) -> Line:
    """Audit a setting."""
    started = time.perf_counter()
    verdict, slack, remark = _judge(setting, dp)
    seconds = f"{time.perf_counter() - started:.3f}"
    told = one_line(remark)[:_LONGEST]
    return Line(setting.constructor, setting.source, verdict, slack, seconds, told)


def _judge(setting: Setting, dp: Any) -> tuple[str, str, str]:
    """Return the verdict on a setting, its slack, and a remark."""
    try:
        made = made_of(setting.source, dp)
    except Exception as error:  # noqa: BLE001 - whatever OpenDP raises, the sweep goes on
        return REFUSED, "", _last(error)
    try:
        report: AuditReport = audit_opendp(
            made, setting.values, setting.sizes, n_jobs=1, progress=False
        )
    except Exception as error:  # noqa: BLE001 - the table says what ended the audit
        return FAILED, "", f"{type(error).__name__}: {_last(error)}"
    row = report.decisive
    seen = row.evidence
    pair = f"d_in = {row.distance}: {short_literal(seen.x)} and {short_literal(seen.y)}"
    remark = pair if report.verdict == "violated" else row.reason
    return report.verdict, f"{row.factor:.6g}", remark


def _last(error: Exception) -> str:
    """Return the last line of an error that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
