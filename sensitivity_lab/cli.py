"""The command line: parse, call, print."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from .article import UNITS, experiments
from .columns import as_universes
from .curves import SensitivityCurves, sensitivity_curves
from .errors import InputError, SensitivityLabError
from .neighbors import RELATIONS, Relation, Unbounded
from .queries import DEFAULT_QUERIES
from .search.engine import Options
from .sensitivity import global_sensitivity
from .universe import Universe

_MOST = 1_000_000
"""A range may have at most so many values."""

_LARGEST_EXPONENT = 400
"""Numbers may be as large or as small as this power of ten, somewhat beyond floats."""


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
        The exit code: 0, or 2 where the input is not acceptable (said in one line).
    """
    parser = _make_parser()
    parsed = parser.parse_args(arguments)
    try:
        parsed.run(parsed)
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
    return 0


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="sensitivity-lab",
        description="Exact global sensitivity of queries over finite universes.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    curves = commands.add_parser("curves", help="sensitivity of several queries against distance")
    _add_universe(curves)
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
    _add_search(curves)
    curves.set_defaults(run=_curves)

    one = commands.add_parser("sensitivity", help="sensitivity of one query, with its witness")
    _add_universe(one)
    one.add_argument("--column", help="may be left out if there is only one")
    one.add_argument("--query", required=True, help="such as median, var or percentile_90")
    one.add_argument("--distance", type=int, default=1, metavar="K", help="default: 1")
    one.add_argument("--neighbors", choices=RELATIONS, required=True)
    one.add_argument(
        "--direction", choices=("both", "add", "remove"), default="both", help="for unbounded"
    )
    one.add_argument("--output", type=Path, metavar="PLOT.png", help="where to draw the witness")
    _add_search(one)
    one.set_defaults(run=_sensitivity)

    article = commands.add_parser("article", help="reproduce the article's figures and tables")
    article.add_argument("--output", type=Path, default=Path("results"), metavar="FOLDER")
    article.set_defaults(run=_article)
    return parser


def _add_universe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "data", nargs="?", type=Path, metavar="DATA.csv", help="scenario (a): a dataset"
    )
    parser.add_argument(
        "--domain",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="scenario (b): values such as 1,2,3 or first:last:step, last included; repeatable",
    )
    parser.add_argument("--copies", type=int, help="of each value of a domain; default: unlimited")
    parser.add_argument("--size", type=int, required=True, metavar="N", help="records of a dataset")


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--exactly", action="store_true", help="exactly k records, not at most k")
    parser.add_argument("--method", default="auto", help="an engine; default: auto")
    parser.add_argument(
        "--memory-limit",
        type=int,
        default=Options.memory_limit,
        metavar="BYTES",
        help="largest memory that a search may plan for; default: 4 GiB",
    )
    parser.add_argument("--jobs", type=int, metavar="J", help="worker processes; default: 1")


def _curves(parsed: argparse.Namespace) -> None:
    _check_writable(parsed.output, picture=True)
    _check_writable(parsed.table)
    curves = sensitivity_curves(
        _universes(parsed, parsed.columns),
        parsed.queries,
        size=parsed.size,
        distances=_distances(parsed.distances),
        neighbors=parsed.neighbors,
        exactly=parsed.exactly,
        method=parsed.method,
        n_jobs=parsed.jobs,
        memory_limit=parsed.memory_limit,
    )
    print(curves)
    _write(curves, parsed.output, parsed.table)


def _sensitivity(parsed: argparse.Namespace) -> None:
    _check_writable(parsed.output, picture=True)
    universes = _universes(parsed, [parsed.column] if parsed.column else None)
    if len(universes) != 1:
        raise InputError(f"choose one column with --column: {', '.join(universes)}")
    (universe,) = universes.values()
    result = global_sensitivity(
        universe,
        parsed.query,
        size=parsed.size,
        neighbors=_relation(parsed),
        method=parsed.method,
        n_jobs=parsed.jobs,
        memory_limit=parsed.memory_limit,
    )
    print(result)
    print(f"  value      {result.value!r}")
    print(f"  exact      {'none: not a rational number' if result.exact is None else result.exact}")
    print(f"  upper      {result.upper!r}")
    if parsed.output:
        from .plotting import save

        save(result.plot("witness"), parsed.output)


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
        _check_writable(picture, picture=True)
        _check_writable(table)
    for experiment, picture, table in planned:
        curves = experiment.run()
        print(f"{experiment.title}\n{curves}\n")
        _write(curves, picture, table, units=UNITS, title=experiment.title)
    print(f"four figures and four tables are in {folder}")


def _write(
    curves: SensitivityCurves, picture: Path | None, table: Path | None, **options: Any
) -> None:
    if table:
        curves.to_csv(table)
    if picture:
        from .plotting import save

        save(curves.plot(**options), picture)


def _relation(parsed: argparse.Namespace) -> Relation:
    if parsed.neighbors == "unbounded":
        return Unbounded(parsed.distance, parsed.exactly, parsed.direction)
    if parsed.direction != "both":
        raise InputError(f"--direction goes with --neighbors unbounded, not {parsed.neighbors}")
    return RELATIONS[parsed.neighbors](parsed.distance, parsed.exactly)


def _universes(parsed: argparse.Namespace, columns: Sequence[str] | None) -> dict[str, Universe]:
    if (parsed.data is None) == (not parsed.domain):
        raise InputError(
            "give either a CSV file (scenario a), before the options that take several words, or "
            "--domain NAME=VALUES (scenario b)"
        )
    if parsed.domain:
        domains = [_domain(text, parsed.copies) for text in parsed.domain]
        names = [name for name, _ in domains]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"the domain {name!r} is given twice; give each column one domain")
        return as_universes(dict(domains), columns)
    if parsed.copies is not None:
        raise InputError("--copies goes with --domain; the records of a file are there once each")
    try:
        with warnings.catch_warnings():
            # Rows that are longer than the header are an error, not a column of labels.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # As text, because not every pandas reads decimal numbers as the nearest floats.
            table = pd.read_csv(parsed.data, index_col=False, dtype=str).map(_parsed)
    except (OSError, ValueError, pd.errors.ParserWarning) as error:  # ValueErrors are pandas's own
        raise InputError(f"cannot read {str(parsed.data)!r} as a CSV file: {error}") from error
    for name in table.columns:
        if _is_number(name):
            raise InputError(
                f"the first line of {str(parsed.data)!r} must name the columns, got {name!r}"
            )
    return as_universes(table, columns)


def _is_number(text: str) -> bool:
    return type(_parsed(text)) in (int, float)


def _parsed(text: Any) -> Any:
    """Return a table's entry as an int, a float or a bool if it reads as one, else as it is."""
    if str(text).lower() in ("true", "false"):
        return str(text).lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _domain(text: str, copies: int | None) -> tuple[str, Universe]:
    """Parse NAME=1,2,3 or NAME=first:last:step, exactly."""
    name, equals, values = text.partition("=")
    if not (name and equals and values):
        raise InputError(f"a domain is written NAME=1,2,3 or NAME=15:30:0.5, got {text!r}")
    if ":" not in values:
        return name, _make_domain(name, [_number(value) for value in values.split(",")], copies)
    parts = [_number(value) for value in values.split(":")]
    first, last, step = (*parts, 1)[:3] if len(parts) < 3 else parts[:3]
    if len(parts) > 3 or step <= 0 or last < first:
        raise InputError(f"a range is written first:last:step with a positive step, got {text!r}")
    count = (Fraction(last) - Fraction(first)) // Fraction(step) + 1
    if count > _MOST:
        raise InputError(f"the domain {text!r} has more than {_MOST:,} values; take a larger step")
    return name, _make_domain(name, [first + place * step for place in range(count)], copies)


def _make_domain(name: str, values: list[int | Decimal], copies: int | None) -> Universe:
    """Make the universe of a domain; an error names it."""
    for value in values:
        if values.count(value) > 1 and len(values) < _MOST // 1000:
            raise InputError(f"the domain {name!r} lists {value} twice; list every value once")
    return Universe.from_domain(values, copies)


def _number(text: str) -> int | Decimal:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        raise InputError(f"a domain has numbers, got {text!r}") from None
    if not number.is_finite() or abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise InputError(
            f"a domain has finite numbers with exponents up to {_LARGEST_EXPONENT}, got {text!r}"
        )
    return int(number) if number == number.to_integral_value() else number


def _distances(text: str) -> list[int]:
    """Parse 1-4 or 1,2,5."""
    try:
        found: list[int] = []
        for part in text.split(","):
            first, dash, last = part.partition("-")
            several = range(int(first), int(last if dash else first) + 1)
            if not 0 < len(several) <= _MOST:
                raise ValueError(part)
            found += several
    except (ValueError, OverflowError):
        raise InputError(
            f"distances are written 1-4 or 1,2,5, from small to large, got {text!r}"
        ) from None
    return found


def _check_writable(path: Path | None, *, picture: bool = False) -> None:
    """Raise InputError, before any work, if a file could not be written."""
    if path is None:
        return
    if "\0" in str(path):
        raise InputError(f"cannot write {str(path)!r}: the name has a NUL character")
    if not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        raise InputError(
            f"cannot write {str(path)!r}: {str(path.parent)!r} is no folder that can be written to"
        )
    if path.is_dir():
        raise InputError(f"cannot write {str(path)!r}: it is a folder")
    if picture:
        from .plotting import check_path

        check_path(path)
