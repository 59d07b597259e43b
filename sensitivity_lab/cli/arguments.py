"""The arguments of the command line: universes, distances, claims and files, read exactly."""

from __future__ import annotations

import argparse
import os
import warnings
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, Inexact, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

from sensitivity_lab.errors import InputError
from sensitivity_lab.files import destination, is_stream
from sensitivity_lab.search.engine import Options
from sensitivity_lab.universes.columns import as_universes
from sensitivity_lab.universes.finite import AnyUniverse
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.relations import RELATIONS, Relation, Unbounded
from sensitivity_lab.universes.universe import Universe

from .output import complain
from .tables import LARGEST_EXPONENT, exact_number, in_range, read_table

_MOST = 1_000_000
"""The most values that a range may have."""


def add_universe(parser: argparse.ArgumentParser) -> None:
    """Add where the records come from, and how many a dataset has."""
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


def add_neighbors(parser: argparse.ArgumentParser) -> None:
    """Add one column, one query and one neighbor relation."""
    parser.add_argument("--column", help="may be left out if there is only one")
    parser.add_argument("--query", required=True, help="such as median, var or percentile_90")
    parser.add_argument("--neighbors", choices=RELATIONS, required=True)
    add_direction(parser)


def add_direction(parser: argparse.ArgumentParser) -> None:
    """Add whether the unbounded relation adds records, removes them, or both."""
    parser.add_argument(
        "--direction", choices=("both", "add", "remove"), default="both", help="for unbounded"
    )


def add_search(parser: argparse.ArgumentParser) -> None:
    """Add how to search."""
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


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Add where finished work is kept, and where large arrays live."""
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FOLDER",
        help="where finished work is kept; the same command goes on from there",
    )
    parser.add_argument(
        "--scratch",
        type=Path,
        metavar="FOLDER",
        help="where large arrays live, in files; default: in memory",
    )


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add where to write a table, and whether to shorten its datasets."""
    parser.add_argument("--table", type=Path, metavar="TABLE.csv", help="where to write the table")
    parser.add_argument(
        "--witness",
        choices=("short", "full"),
        default="short",
        help="datasets of more than 16 records in the table; default: short",
    )


def read_relation(parsed: argparse.Namespace, k: int) -> Relation:
    """Return the one relation that was asked for, at a distance."""
    (relation,) = read_families(parsed, [parsed.neighbors], k)
    return relation


def read_families(
    parsed: argparse.Namespace, names: Sequence[str] | None = None, k: int = 1
) -> list[Relation]:
    """Return the relations that were asked for, at a distance."""
    asked = parsed.neighbors if names is None else names
    if parsed.direction != "both" and "unbounded" not in asked:
        raise InputError(f"--direction goes with --neighbors unbounded, not {', '.join(asked)}")
    return [
        Unbounded(k, parsed.exactly, parsed.direction)
        if name == "unbounded"
        else RELATIONS[name](k, parsed.exactly)
        for name in asked
    ]


def read_universe(parsed: argparse.Namespace) -> AnyUniverse:
    """Return the universe of the one column that was asked for."""
    found = read_universes(parsed, [parsed.column] if parsed.column else None)
    if len(found) != 1:
        raise InputError(f"choose one column with --column: {', '.join(found)}")
    (universe,) = found.values()
    return universe


def read_universes(
    parsed: argparse.Namespace, columns: Sequence[str] | None
) -> dict[str, AnyUniverse]:
    """Return a universe per column of the file, or per domain."""
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
        raise InputError("--copies goes with --domain; each record of a file occurs once")
    with warnings.catch_warnings(record=True) as left_out:
        warnings.simplefilter("always")
        universes = as_universes(read_table(parsed.data), columns)
    for one in left_out:
        complain(f"sensitivity-lab: {one.message}")
    return universes


def _domain(text: str, copies: int | None) -> tuple[str, FiniteUniverse]:
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
    with localcontext() as context:
        # There are enough digits for every value. Rounding one would raise an error.
        context.prec = 2 * LARGEST_EXPONENT + len(text)
        context.traps[Inexact] = True
        listed = [first + place * step for place in range(count)]
    return name, _make_domain(name, listed, copies)


def _make_domain(name: str, values: list[int | Decimal], copies: int | None) -> FiniteUniverse:
    """Make the universe of a domain; an error names it."""
    for value, times in Counter(values).items():
        if times > 1:
            raise InputError(f"the domain {name!r} lists {value} twice; list every value once")
    return Universe.from_domain(values, copies)


def _number(text: str) -> int | Decimal:
    number = exact_number(text)
    if number is None:
        raise InputError(f"a domain has numbers, got {text!r}")
    if not in_range(number):
        raise InputError(
            f"a domain has finite numbers with exponents up to {LARGEST_EXPONENT}, got {text!r}"
        )
    return number


def read_distances(text: str) -> list[int]:
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


def read_claim(parsed: argparse.Namespace) -> Any:
    """Return what --claim or --claim-per-k says, exactly: a number, or a function of k."""
    if parsed.claim is not None:
        return _claimed(parsed.claim)
    slope = Fraction(_claimed(parsed.claim_per_k))
    return lambda k: slope * k


def _claimed(text: str) -> int | Decimal | Fraction:
    """Parse 2, 0.5 or 1/3."""
    above, slash, below = text.partition("/")
    try:
        if not slash:
            return _number(above)
        return Fraction(_number(above)) / Fraction(_number(below))
    except (InputError, ZeroDivisionError):
        raise InputError(f"a claim is written 2, 0.5 or 1/3, got {text!r}") from None


def check_files(parsed: argparse.Namespace) -> None:
    """Raise InputError, before any work, if a file could not be written or would be overwritten."""
    check_writable(parsed.output, picture=True)
    check_writable(getattr(parsed, "table", None))
    names = {"the data": parsed.data, "--output": parsed.output}
    names["--table"] = getattr(parsed, "table", None)
    known: dict[Path, str] = {}
    for name, path in names.items():
        if path is None or "\0" in str(path) or is_stream(path):
            continue
        other = known.setdefault(Path(os.path.realpath(path)), name)
        if other != name:
            raise InputError(f"{other} and {name} are one file, {str(path)!r}; choose another name")


def check_writable(path: Path | None, *, picture: bool = False) -> None:
    """Raise InputError, before any work, if a file could not be written."""
    if path is None:
        return
    try:
        target = destination(path)
    except IsADirectoryError:
        raise InputError(f"cannot write {str(path)!r}: it is a folder") from None
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from error
    folder = target.parent
    if not (is_stream(target) or (folder.is_dir() and os.access(folder, os.W_OK))):
        named = folder if path.is_symlink() else path.parent
        raise InputError(
            f"cannot write {str(path)!r}: {str(named)!r} is not a folder that can be written to"
        )
    if picture:
        from sensitivity_lab.plotting import check_path

        check_path(path)
