"""The command ``python -m tools.sweep``: every constructor of a library in many settings."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sensitivity_lab.audits.row import FAILING
from sensitivity_lab.errors import InputError

from .diffprivlib import DIFFPRIVLIB
from .opendp import OPENDP
from .opendp_rows import EXTRAS, PLANS
from .page import summaries
from .pipeline_dp import PIPELINE_DP
from .sweep import TIMEOUT, Sweep, sweep

LIBRARIES = {library.name: library for library in (OPENDP, EXTRAS, PLANS, DIFFPRIVLIB, PIPELINE_DP)}
"""By name, also for parts of a library; a library is imported when it is swept."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Sweep, print the table by constructor and the findings, and return the exit code.

    It is 0; 1 where a claim fails; 2 where an argument is not acceptable; 130 after Ctrl-C.
    """
    parser = _parser()
    parsed = parser.parse_args(arguments)
    try:
        result = sweep(
            LIBRARIES[parsed.library],
            parsed.output,
            limit=parsed.limit,
            timeout=parsed.timeout,
            n_jobs=parsed.jobs,
        )
    except InputError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print(f"{parser.prog}: interrupted; the same command goes on", file=sys.stderr)
        return 130
    print("\n".join(_report(result)))
    return 1 if result.findings else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.sweep",
        description="Audit all constructors of a library in many settings. The library is an extra "
        "of sensitivity_lab, or needs an environment of its own: see docs/sweep.md.",
        epilog="Example: python -m tools.sweep opendp --output sweep --jobs 2 --limit 100",
    )
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
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="J",
        help="worker processes, -1 for all cores; default: 1",
    )
    return parser


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


if __name__ == "__main__":
    raise SystemExit(main())
