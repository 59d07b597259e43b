"""The command line: parse, call, print."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from sensitivity_lab.article import UNITS, checks, experiments
from sensitivity_lab.audits.call import audit
from sensitivity_lab.calls.curves import sensitivity_curves
from sensitivity_lab.calls.global_sensitivity import global_sensitivity
from sensitivity_lab.checks import cut, shown
from sensitivity_lab.errors import InputError, SensitivityLabError
from sensitivity_lab.queries import DEFAULT_QUERIES

from .arguments import (
    add_checkpoint,
    add_columns_and_queries,
    add_direction,
    add_distances,
    add_exactly,
    add_json,
    add_neighbors,
    add_relation,
    add_search,
    add_table,
    add_universe,
    check_files,
    check_writable,
    read_claim,
    read_distance,
    read_families,
    read_relation,
    read_universe,
    read_universes,
    searching,
    source,
)
from .completion import complete
from .explore import add_explore
from .one_dataset import add_local, add_smooth
from .output import Session, draw, in_options, with_numbers, with_options
from .parser import Commands, Parser
from .releases import add_histogram, add_noise
from .written import read_distances

_PROGRAM = "sensitivity-lab"

_FAULT = 70
"""The exit code of a fault of the program: EX_SOFTWARE of sysexits.h."""


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
        acceptable or the output cannot be written (said in one line); 70 for an error of the
        program itself, which nobody foresaw; 130 after Ctrl-C.
    """
    session = Session(_PROGRAM)
    code: Any = 0
    try:
        try:
            parser = make_parser()
            complete(parser)
            parsed = parser.parse_args(arguments)
            session.command = f"{parser.prog} {parsed.command}"
            session.as_json = getattr(parsed, "json", False)
            code = parsed.run(parsed, session)
        finally:
            session.flush()
    except SystemExit as stopped:
        code = stopped.code
    except KeyboardInterrupt as interruption:
        if arguments is None:
            # The process ends; a second Ctrl-C must not bring the traceback after all.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        done = f": {interruption}" if str(interruption) else ""
        session.complain(in_options(f"interrupted while {session.doing}{done}"))
        return 130
    except MemoryError:
        session.complain(f"not enough memory while {session.doing}; take fewer records")
        return 2
    except SensitivityLabError as error:
        session.complain(in_options(str(error)))
        return 2
    except OSError as error:
        file = "" if error.filename is None else f": {shown(error.filename)}"
        why = f"{error.strerror}{file}" if error.strerror else str(error)
        session.complain(f"the system refuses, while {session.doing}: {cut(why)}")
        return 2
    except Exception as error:  # noqa: BLE001 - a traceback would end in 1, which is for violations
        what = f"{type(error).__name__}: {cut(str(error))}".removesuffix(": ")
        session.complain(
            in_options(
                f"a fault of {_PROGRAM}, met while {session.doing}: {what}; please report it"
            )
        )
        return _FAULT
    if session.failure:
        session.complain(f"cannot write to standard output: {session.failure}")
        return 2
    return code or 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = Parser(prog=_PROGRAM)
    parser.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_curves(commands)
    _add_sensitivity(commands)
    add_local(commands)
    add_smooth(commands)
    add_histogram(commands)
    add_noise(commands)
    _add_audit(commands)
    _add_article(commands)
    add_explore(commands)
    return parser


def _add_curves(commands: Commands) -> None:
    curves = commands.add_parser(
        "curves", help="sensitivity of several queries against the distance"
    )
    add_universe(curves)
    add_columns_and_queries(curves, DEFAULT_QUERIES)
    add_distances(curves, default=None)
    add_relation(curves, several=True)
    add_direction(curves)
    curves.add_argument("--output", type=Path, metavar="PLOT.png", help="draw the curves there")
    add_table(curves)
    add_exactly(curves)
    add_search(curves)
    add_json(curves)
    add_checkpoint(curves)
    curves.set_defaults(run=_curves)


def _add_sensitivity(commands: Commands) -> None:
    one = commands.add_parser(
        "sensitivity", help="sensitivity of one query, with the two datasets that prove it"
    )
    add_universe(one)
    add_neighbors(one)
    add_distances(one, several=False)
    one.add_argument("--output", type=Path, metavar="PLOT.png", help="draw the two datasets there")
    add_exactly(one)
    add_search(one)
    add_json(one)
    add_checkpoint(one)
    one.set_defaults(run=_sensitivity)


def _add_audit(commands: Commands) -> None:
    claim = commands.add_parser("audit", help="is a claimed sensitivity right?")
    add_universe(claim)
    add_neighbors(claim)
    claimed = claim.add_mutually_exclusive_group(required=True)
    claimed.add_argument(
        "--claim", metavar="C", help="the claim at every distance, taken exactly: 2, 0.5 or 1/3"
    )
    claimed.add_argument("--claim-per-k", metavar="C", help="the claim is C times k at distance k")
    add_distances(claim)
    claim.add_argument("--output", type=Path, metavar="PLOT.png", help="where to draw the audit")
    add_table(claim)
    add_exactly(claim)
    add_search(claim)
    add_json(claim)
    claim.set_defaults(run=_audit)


def _add_article(commands: Commands) -> None:
    article = commands.add_parser("article", help="reproduce the article's figures and tables")
    article.add_argument(
        "--output",
        type=Path,
        default=Path("results"),
        metavar="FOLDER",
        help="the folder for figures and tables; default: results",
    )
    add_json(article)
    article.set_defaults(run=_article)


def _version() -> str:
    try:
        return metadata.version("sensitivity_lab")
    except metadata.PackageNotFoundError:
        return "of a checkout that is not installed"


def _curves(parsed: argparse.Namespace, session: Session) -> None:
    check_files(parsed)
    session.doing = f"reading {source(parsed)}"
    universes = read_universes(parsed, parsed.columns)
    session.doing = f"searching the curves of {', '.join(parsed.queries)}"
    curves = sensitivity_curves(
        universes,
        parsed.queries,
        size=parsed.size,
        distances=read_distances(parsed.distances),
        neighbors=read_families(parsed),
        **searching(parsed),
    )
    session.tell(curves, curves.to_dict)
    if parsed.table:
        session.doing = f"writing {parsed.table}"
        curves.to_csv(parsed.table, witness=parsed.witness)
    if parsed.output:
        draw(session, curves.plot, parsed.output)


def _sensitivity(parsed: argparse.Namespace, session: Session) -> None:
    check_files(parsed)
    session.doing = f"reading {source(parsed)}"
    universe = read_universe(parsed)
    session.doing = f"searching the sensitivity of {parsed.query}"
    result = global_sensitivity(
        universe,
        parsed.query,
        size=parsed.size,
        neighbors=read_relation(parsed, read_distance(parsed)),
        **searching(parsed),
    )
    session.tell(with_numbers(result), result.to_dict)
    if parsed.output:
        draw(session, lambda: result.plot("witness"), parsed.output)


def _audit(parsed: argparse.Namespace, session: Session) -> int:
    check_files(parsed)
    session.doing = f"reading {source(parsed)}"
    universe = read_universe(parsed)
    session.doing = f"auditing {parsed.query}"
    report = audit(
        universe,
        parsed.query,
        read_claim(parsed),
        size=parsed.size,
        neighbors=read_relation(parsed, 1),
        distances=read_distances(parsed.distances),
        **searching(parsed),
    )
    session.tell(report, report.to_dict)
    if parsed.table:
        session.doing = f"writing {parsed.table}"
        report.to_csv(parsed.table, witness=parsed.witness)
    if parsed.output:
        draw(session, report.plot, parsed.output)
    if report.sound:
        return 0
    session.comment(with_options(f"\n{report.counterexample(report.decisive)}"))
    return 1


def _article(parsed: argparse.Namespace, session: Session) -> None:
    folder: Path = parsed.output
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make the folder {shown(str(folder))}: {error.strerror}"
        ) from error
    planned = [
        (experiment, folder / f"{experiment.name}.png", folder / f"{experiment.name}.csv")
        for experiment in experiments()
    ]
    for _, picture, table in planned:
        check_writable(picture, picture=True)
        check_writable(table)
    made = []
    for experiment in checks():
        session.doing = f"searching {experiment.title}"
        session.comment(f"{experiment.title}\n{experiment.run()}\n")
    for experiment, picture, table in planned:
        session.doing = f"searching {experiment.title}"
        curves = experiment.run()
        made.append(
            {"name": experiment.name, "title": experiment.title, "curves": curves.to_dict()}
        )
        session.comment(f"{experiment.title}\n{curves}\n")
        session.doing = f"writing {table}"
        curves.to_csv(table)
        draw(session, partial(curves.plot, units=UNITS, title=experiment.title), picture)
    session.tell(f"four figures and four tables are in {folder}", lambda: made)
