"""The command `sweep`: every constructor of an installed library in many settings."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from sensitivity_lab.audits.row import FAILING
from sensitivity_lab.audits.sweeps.libraries import LIBRARIES
from sensitivity_lab.audits.sweeps.page import summaries
from sensitivity_lab.audits.sweeps.sweep import TIMEOUT, Sweep, sweep

from .arguments import add_json
from .output import Session
from .parser import Commands


def add_sweep(commands: Commands) -> None:
    """Add the command to the parsers of the commands."""
    parser = commands.add_parser("sweep", help="audit a library's constructors in many settings")
    parser.add_argument("library", choices=sorted(LIBRARIES))
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="where the table, the page and the scripts go; an interrupted sweep in this folder is "
        "continued",
    )
    parser.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help="the largest number of settings to try; default: all",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=TIMEOUT,
        metavar="S",
        help=f"seconds for a setting; default: {TIMEOUT:g}",
    )
    parser.add_argument("--jobs", type=int, metavar="J", help="worker processes; default: 1")
    add_json(parser)
    parser.set_defaults(run=run_sweep)


def run_sweep(parsed: argparse.Namespace, session: Session) -> int:
    """Sweep, print the table by constructor and the findings, and return the exit code."""
    session.doing = f"sweeping {parsed.library}; the same command goes on"
    result = sweep(
        LIBRARIES[parsed.library],
        parsed.output,
        limit=parsed.limit,
        timeout=parsed.timeout,
        n_jobs=parsed.jobs,
    )
    session.tell(
        "\n".join(_report(result)),
        lambda: {
            "library": result.library,
            "left": result.left,
            "constructors": [vars(one) for one in summaries(result.lines)],
            "findings": [vars(line) for line in result.findings],
        },
    )
    return 1 if result.findings else 0


def _report(result: Sweep) -> list[str]:
    """Return what came out, in lines."""
    header = ("constructor", "settings", "verdicts", "claim / truth", "seconds")
    rows = [header, *(one.cells for one in summaries(result.lines))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    lines += [
        f"{line.verdict}: {line.setting} ({line.remark}); see {result.table.parent / line.script}"
        for line in result.findings
    ]
    total = len(result.lines) + result.left
    counts = Counter(line.verdict in FAILING for line in result.lines)
    lines.append(
        f"{result.library}: {len(result.lines):,} of {total:,} settings, {counts[True]:,} with a "
        f"claim that fails; see {result.page}"
    )
    return lines
