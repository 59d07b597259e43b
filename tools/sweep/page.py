"""The page of a sweep: what came out by constructor, the findings, and every setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sensitivity_lab.audits.row import FAILING, VERDICTS
from sensitivity_lab.checks import html_text

from .setting import FAILED, LATE, REFUSED, Line

_ORDER = (*reversed(VERDICTS), FAILED, LATE, REFUSED)
"""The verdicts, the worst ones first."""

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0;
  border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.code { font-family: ui-monospace, monospace; font-size: .8125rem; min-width: 24rem;
  overflow-wrap: anywhere; }
"""


@dataclass(frozen=True)
class Summary:
    """What came out of a constructor.

    Attributes
    ----------
    constructor : str
    settings : int
        The number of its settings.
    verdicts : dict
        How many settings have each verdict, the worst verdicts first.
    slack : tuple of float
        The smallest and the largest claim over truth; empty if there is none.
    seconds : float
        The time of all settings together.
    """

    constructor: str
    settings: int
    verdicts: dict[str, int]
    slack: tuple[float, ...]
    seconds: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of a table."""
        told = ", ".join(f"{number:,} {verdict}" for verdict, number in self.verdicts.items())
        slack = " to ".join(f"{one:.4g}" for one in dict.fromkeys(self.slack))
        return self.constructor, f"{self.settings:,}", told, slack, f"{self.seconds:.1f}"


def summaries(lines: Iterable[Line]) -> list[Summary]:
    """Return what came out by constructor, in alphabetical order."""
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.constructor, []).append(line)
    return [_summary(name, groups[name]) for name in sorted(groups)]


def _summary(name: str, lines: Sequence[Line]) -> Summary:
    counts = Counter(line.verdict for line in lines)
    verdicts = {verdict: counts[verdict] for verdict in _ORDER if counts[verdict]}
    known = [float(line.slack) for line in lines if line.slack not in ("", "nan")]
    slack = (min(known), max(known)) if known else ()
    return Summary(name, len(lines), verdicts, slack, sum(float(line.seconds) for line in lines))


def page_of(library: str, lines: Sequence[Line], left: int, missing: Sequence[str]) -> str:
    """Return the page as HTML that needs no other file.

    Examples
    --------
    >>> line = Line("make_sum", "dp.t.make_sum()", "tight", "1", "0.02", "", "")
    >>> "<p>1 setting of 3." in page_of("opendp 0.16.0", [line], 2, [])
    True
    """
    found = [line for line in lines if line.verdict in FAILING]
    total = len(lines) + left
    told = f"{len(lines):,} setting{'' if len(lines) == 1 else 's'} of {total:,}."
    told += f" {len(found):,} of them with a claim that fails." if found else " No claim fails."
    if missing:
        told += f" No settings: {', '.join(missing)}."
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        f"<title>Sweep of {html_text(library)}</title>",
        "<meta name=viewport content='width=device-width, initial-scale=1'>",
        f"<style>{_STYLE}</style><h1>Sweep of {html_text(library)}</h1><p>{html_text(told)}</p>",
        "<h2>By constructor</h2>",
        _table(
            ("constructor", "settings", "verdicts", "claim / truth", "seconds"),
            [one.cells for one in summaries(lines)],
        ),
    ]
    if found:
        parts += ["<h2>Findings</h2>", _lines(found, "script")]
    parts += ["<h2>All settings</h2>", _lines(lines)]
    return "\n".join(parts) + "\n"


def _lines(lines: Iterable[Line], *more: str) -> str:
    """Return a table of settings, for findings with their scripts."""
    names = ("constructor", "setting", "verdict", "slack", "seconds", "remark", *more)
    rows = [tuple(str(getattr(line, name)) for name in names) for line in lines]
    return _table(["claim / truth" if name == "slack" else name for name in names], rows)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; settings and remarks are code, numbers stand at the right."""
    kinds = {"setting": " class=code", "remark": " class=code"}
    kinds |= dict.fromkeys(("settings", "seconds"), " class=number")
    head = "".join(f"<th>{html_text(name)}" for name in header)
    body = "\n".join(
        "<tr>"
        + "".join(
            f"<td{kinds.get(name, '')}>{_link(cell) if name == 'script' else html_text(cell)}"
            for name, cell in zip(header, row, strict=True)
        )
        for row in rows
    )
    return f"<div><table><thead><tr>{head}</thead><tbody>\n{body}\n</tbody></table></div>"


def _link(path: str) -> str:
    """Return a link to a file beside the page."""
    return f"<a href='{html_text(path)}'>script</a>" if path else ""
