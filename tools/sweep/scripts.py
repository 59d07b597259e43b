"""Plain scripts that reproduce findings: they need the library, and nothing of the lab."""

from __future__ import annotations

import atexit
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache

from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.audits.row import FAILING, AuditRow

from . import plain
from .setting import Judged

UNCONFIRMED = "not reproduced"
"""In the place of a verdict: plain Python does not say what the audit says."""

_SECONDS = 120


def script_of(title: str, library: str, body: str) -> str:
    """Return a script.

    Parameters
    ----------
    title : str
        What it shows, in one line.
    library : str
        What it needs, as pip takes it.
    body : str
        Python that may call what `plain` defines, and that ends in an error if nothing is wrong.
    """
    functions = inspect.getsource(plain).split('"""\n\n', 1)[1].rstrip()
    return (
        f'"""{title}\n\nNeeds: pip install {library}\n'
        'It ends with "reproduced", or with an error if nothing is wrong.\n"""\n\n'
        f"{functions}\n\n{body.strip()}\n\nprint('reproduced')\n"
    )


def judged(report: AuditReport, row: AuditRow, finding: Callable[[], tuple[str, str]]) -> Judged:
    """Return the line of a setting that was audited.

    Parameters
    ----------
    report : AuditReport
        What the audit says.
    row : AuditRow
        The row that the line tells.
    finding : callable
        The pair in words, and the script that reproduces it, if something is wrong.
    """
    slack = f"{row.factor:.6g}"
    if report.verdict not in FAILING:
        return Judged(report.verdict, slack, row.reason or "; ".join(report.unjudged))
    pair, script = finding()
    return confirmed(Judged(row.verdict, slack, pair, script))


def confirmed(found: Judged) -> Judged:
    """Return a finding if its script reproduces it, in a Python without the lab; else say so."""
    told = _checker().check(found.script)
    if told == "reproduced":
        return found
    remark = f"{found.verdict}, {found.remark}; but the script: {told}"
    return Judged(UNCONFIRMED, found.slack, remark, found.script)


_LOADED = "it loads the lab"

_LOOP = f"""
import contextlib, io, json, signal, sys
sys.path.pop(0)
for line in sys.stdin:
    signal.alarm({_SECONDS})
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            exec(compile(json.loads(line), "finding.py", "exec"), {{"__name__": "__main__"}})
        told = said.getvalue().strip().splitlines()[-1]
    except BaseException as error:
        told = type(error).__name__ + ": " + str(error)
    signal.alarm(0)
    if "sensitivity_lab" in sys.modules:
        told = {_LOADED!r}
    print(json.dumps(told), flush=True)
"""
"""Runs scripts one after the other, each with names of its own; a library is loaded only once."""


class _Checker:
    """A Python in a process of its own, which ends with this one and never loads the lab."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LOOP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def check(self, script: str) -> str:
        """Return the last line that a script prints, or its error."""
        into, out = self._process.stdin, self._process.stdout
        if into is None or out is None:
            raise TypeError("the process has pipes")
        try:
            into.write(json.dumps(script) + "\n")
            into.flush()
            answer = out.readline()
        except OSError:
            answer = ""
        told = json.loads(answer) if answer else f"no answer in {_SECONDS} seconds"
        if told == _LOADED or not answer:
            self.end()
            _checker.cache_clear()
        return str(told)

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


@cache
def _checker() -> _Checker:
    found = _Checker()
    atexit.register(found.end)
    return found
