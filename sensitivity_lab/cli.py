"""The command line: parse, call, print."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from .article import UNITS, experiments
from .audit import audit
from .checks import number_text
from .cli_arguments import (
    add_neighbors,
    add_search,
    add_universe,
    check_writable,
    read_claim,
    read_distances,
    read_relation,
    read_universe,
    read_universes,
)
from .curves import SensitivityCurves, sensitivity_curves
from .errors import InputError, SensitivityLabError
from .neighbors import RELATIONS
from .queries import DEFAULT_QUERIES
from .sensitivity import global_sensitivity
from .verdicts import AuditReport


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default the process's own.

    Returns
    -------
    int
        The exit code: 0; 1 where an audit finds a claim violated; 2 where the input is not
        acceptable (said in one line).
    """
    parser = _make_parser()
    parsed = parser.parse_args(arguments)
    code = 0
    try:
        code = parsed.run(parsed) or 0
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough; spare it the interpreter's complaint.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except MemoryError:
        message = "not enough memory; take fewer records"
        print(f"{parser.prog} {parsed.command}: {message}", file=sys.stderr)
        return 2
    except SensitivityLabError as error:
        print(f"{parser.prog} {parsed.command}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return code


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="sensitivity-lab",
        description="Exact global sensitivity of queries over finite universes.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    curves = commands.add_parser("curves", help="sensitivity of several queries against distance")
    add_universe(curves)
    curves.add_argument("--columns", nargs="+", metavar="COLUMN", help="default: all numeric ones")
    curves.add_argument(
        "--queries",
        nargs="+",
        metavar="QUERY",
        default=DEFAULT_QUERIES,
        help="default: ten of them",
    )
    curves.add_argument("--distances", required=True, metavar="K", help="such as 1-4 or 1,2,5")
    curves.add_argument("--neighbors", nargs="+", choices=RELATIONS, required=True)
    curves.add_argument("--output", type=Path, metavar="PLOT.png", help="where to draw the curves")
    curves.add_argument("--table", type=Path, metavar="TABLE.csv", help="where to write the table")
    add_search(curves)
    curves.set_defaults(run=_curves)

    one = commands.add_parser("sensitivity", help="sensitivity of one query, with its witness")
    add_universe(one)
    add_neighbors(one)
    one.add_argument("--distance", type=int, default=1, metavar="K", help="default: 1")
    one.add_argument("--output", type=Path, metavar="PLOT.png", help="where to draw the witness")
    add_search(one)
    one.set_defaults(run=_sensitivity)

    claim = commands.add_parser("audit", help="is a claimed sensitivity right?")
    add_universe(claim)
    add_neighbors(claim)
    claimed = claim.add_mutually_exclusive_group(required=True)
    claimed.add_argument("--claim", metavar="C", help="at every distance: 2, 0.5 or 1/3, exactly")
    claimed.add_argument("--claim-per-k", metavar="C", help="C times k at distance k")
    claim.add_argument("--distances", default="1", metavar="K", help="such as 1-4; default: 1")
    claim.add_argument("--output", type=Path, metavar="PLOT.png", help="where to draw the audit")
    claim.add_argument("--table", type=Path, metavar="TABLE.csv", help="where to write the table")
    add_search(claim)
    claim.set_defaults(run=_audit)

    article = commands.add_parser("article", help="reproduce the article's figures and tables")
    article.add_argument("--output", type=Path, default=Path("results"), metavar="FOLDER")
    article.set_defaults(run=_article)
    return parser


def _curves(parsed: argparse.Namespace) -> None:
    check_writable(parsed.output, picture=True)
    check_writable(parsed.table)
    curves = sensitivity_curves(
        read_universes(parsed, parsed.columns),
        parsed.queries,
        size=parsed.size,
        distances=read_distances(parsed.distances),
        neighbors=parsed.neighbors,
        exactly=parsed.exactly,
        method=parsed.method,
        n_jobs=parsed.jobs,
        memory_limit=parsed.memory_limit,
    )
    print(curves)
    _write(curves, parsed.output, parsed.table)


def _sensitivity(parsed: argparse.Namespace) -> None:
    check_writable(parsed.output, picture=True)
    result = global_sensitivity(
        read_universe(parsed),
        parsed.query,
        size=parsed.size,
        neighbors=read_relation(parsed, parsed.distance),
        method=parsed.method,
        n_jobs=parsed.jobs,
        memory_limit=parsed.memory_limit,
    )
    print(result)
    print(f"  value      {result.value!r}")
    exact = "none: not a rational number" if result.exact is None else number_text(result.exact)
    print(f"  exact      {exact}")
    print(f"  upper      {result.upper!r}")
    if parsed.output:
        from .plotting import save

        save(result.plot("witness"), parsed.output)


def _audit(parsed: argparse.Namespace) -> int:
    check_writable(parsed.output, picture=True)
    check_writable(parsed.table)
    report = audit(
        parsed.query,
        read_claim(parsed),
        read_universe(parsed),
        size=parsed.size,
        neighbors=read_relation(parsed, 1),
        distances=read_distances(parsed.distances),
        method=parsed.method,
        n_jobs=parsed.jobs,
        memory_limit=parsed.memory_limit,
    )
    print(report)
    _write(report, parsed.output, parsed.table)
    if report.sound:
        return 0
    print(f"\n{report.counterexample(report.decisive)}")
    return 1


def _article(parsed: argparse.Namespace) -> None:
    folder: Path = parsed.output
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {str(folder)!r}: {error.strerror}") from error
    planned = [
        (experiment, folder / f"{experiment.name}.png", folder / f"{experiment.name}.csv")
        for experiment in experiments()
    ]
    for _, picture, table in planned:
        check_writable(picture, picture=True)
        check_writable(table)
    for experiment, picture, table in planned:
        curves = experiment.run()
        print(f"{experiment.title}\n{curves}\n")
        _write(curves, picture, table, units=UNITS, title=experiment.title)
    print(f"four figures and four tables are in {folder}")


def _write(
    result: SensitivityCurves | AuditReport,
    picture: Path | None,
    table: Path | None,
    **options: Any,
) -> None:
    if table:
        result.to_csv(table)
    if picture:
        from .plotting import save

        save(result.plot(**options), picture)
