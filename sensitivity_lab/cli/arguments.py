"""The arguments of the command line: universes, distances, claims and files, read exactly."""

from __future__ import annotations

import argparse
import os
import warnings
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from sensitivity_lab.checks import named, names_of, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.files import destination, is_stream
from sensitivity_lab.search.run import Run
from sensitivity_lab.universes.columns import as_universes
from sensitivity_lab.universes.finite import AnyUniverse
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.relations import RELATIONS, Relation
from sensitivity_lab.universes.universe import Universe

from .completion import columns, completed, files, queries
from .output import complain
from .tables import STANDARD_INPUT, read_table
from .written import read_distances, read_exact, split_domain, values_of

_DIRECTED = [name for name, relation in RELATIONS.items() if relation.directions]
"""The relations that --direction goes with."""

DIRECTIONS = tuple(dict.fromkeys(one for name in _DIRECTED for one in RELATIONS[name].directions))
"""What --direction can be, the default first."""


def add_universe(parser: argparse.ArgumentParser, *, several_sizes: bool = False) -> None:
    """Add where the records come from, and how many a dataset has."""
    add_source(parser)
    what = "how many records a dataset has"
    parser.add_argument(
        "--size",
        type=str if several_sizes else int,
        required=True,
        metavar="N",
        help=f"{what}: 100, or 2-1000 or 2,5,9 where that is private" if several_sizes else what,
    )


def add_public(parser: argparse.ArgumentParser) -> None:
    """Add the words that make a file the universe of a release."""
    parser.add_argument(
        "--public-universe",
        action="store_true",
        help="the rows of DATA.csv, or the limit of --copies, are public: noise may be scaled to "
        "them",
    )


def check_public_rows(parsed: argparse.Namespace) -> None:
    """Raise InputError if noise is asked for over the rows of a file that are not called public."""
    if parsed.data and not parsed.public_universe:
        raise InputError(
            "the rows of a file are private unless you say otherwise, and noise scaled to a "
            "universe of them protects nobody; give what a value can be with --domain NAME=VALUES, "
            "or, if these very rows are public, --public-universe"
        )


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add where the records come from."""
    completed(
        parser.add_argument(
            "data",
            nargs="?",
            type=Path,
            metavar="DATA.csv",
            help="a table whose own rows are the universe, scenario (a): for what may be public; "
            "- reads standard input",
        ),
        files,
    )
    parser.add_argument(
        "--domain",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="what a value can be, scenario (b): for a release; 1,2,3 or first:last:step, with the "
        "last one; may be given several times",
    )
    parser.add_argument(
        "--copies",
        type=int,
        metavar="M",
        help="how often each value of a domain can occur; default: any number of times",
    )


def add_columns_and_queries(parser: argparse.ArgumentParser, default: Sequence[str] | None) -> None:
    """Add several columns and several queries; without default queries they are required."""
    completed(
        parser.add_argument(
            "--columns", nargs="+", metavar="COLUMN", help="the columns; default: all numeric ones"
        ),
        columns,
    )
    completed(
        parser.add_argument(
            "--queries",
            *(["--query"] if default is None else []),
            nargs="+",
            metavar="QUERY",
            required=default is None,
            default=default,
            help="statistics such as median, var or percentile_90"
            + ("" if default is None else f"; default: {', '.join(default)}"),
        ),
        queries,
    )


def add_neighbors(parser: argparse.ArgumentParser) -> None:
    """Add one column, one query and one neighbor relation."""
    add_query(parser)
    add_relation(parser)
    add_direction(parser)


def add_query(parser: argparse.ArgumentParser) -> None:
    """Add one column and one query."""
    completed(parser.add_argument("--column", help="the column; default: the only one"), columns)
    completed(
        parser.add_argument(
            "--query", required=True, help="a statistic such as median, var or percentile_90"
        ),
        queries,
    )


def add_relation(parser: argparse.ArgumentParser, more: str = "", *, several: bool = False) -> None:
    """Add one neighbor relation, or several."""
    parser.add_argument(
        "--neighbors",
        nargs="+" if several else None,
        choices=RELATIONS,
        required=True,
        help="what a neighbor does: "
        + "; ".join(f"{name}: {relation().does}" for name, relation in RELATIONS.items())
        + more,
    )


def add_direction(parser: argparse.ArgumentParser) -> None:
    """Add whether a relation that has a direction adds records, removes them, or both."""
    parser.add_argument(
        "--direction",
        choices=DIRECTIONS,
        default=DIRECTIONS[0],
        help=f"with {' or '.join(_DIRECTED)}: what the neighbor does to the dataset; default: "
        f"{DIRECTIONS[0]}",
    )


def add_distances(
    parser: argparse.ArgumentParser, default: str | None = "1", *, several: bool = True
) -> None:
    """Add the Hamming distance, or several; without a default they are required."""
    parser.add_argument(
        "--distances",
        "--distance",
        required=default is None,
        default=default,
        metavar="K",
        help="neighbors differ in at most K records, as many as one person owns; "
        f"{'2, 1-4 or 1,2,5' if several else 'such as 2'}"
        f"{'' if default is None else f'; default: {default}'}",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the form of what is printed."""
    parser.add_argument(
        "--json", action="store_true", help="print one line of JSON, with the datasets in full"
    )


def add_exactly(parser: argparse.ArgumentParser) -> None:
    """Add whether a distance is a limit."""
    parser.add_argument(
        "--exactly",
        action="store_true",
        help="neighbors differ in exactly K records, not in at most K",
    )


def add_search(parser: argparse.ArgumentParser) -> None:
    """Add how to search."""
    parser.add_argument(
        "--method", default="auto", help="the name of an engine; default: auto, the best that fits"
    )
    parser.add_argument(
        "--memory-limit",
        type=int,
        default=Run.memory_limit,
        metavar="BYTES",
        help="the most memory that a search may plan for; default: 4 GiB",
    )
    parser.add_argument(
        "--jobs", type=int, metavar="J", help="how many processes search; default: 1"
    )


def searching(parsed: argparse.Namespace) -> dict[str, Any]:
    """Return how to search, as arguments of a call; a checkpoint where the command takes one."""
    run = Run(
        memory_limit=parsed.memory_limit,
        checkpoint=getattr(parsed, "checkpoint", None),
        scratch=getattr(parsed, "scratch", None),
    )
    return {"method": parsed.method, "n_jobs": parsed.jobs, "run": run}


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Add where finished work is kept, and where large arrays live."""
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FOLDER",
        help="keep finished work there; the same command goes on from it",
    )
    parser.add_argument(
        "--scratch",
        type=Path,
        metavar="FOLDER",
        help="keep large arrays there, in files; default: in memory",
    )


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add where to write a table, and whether to shorten its datasets."""
    parser.add_argument("--table", type=Path, metavar="TABLE.csv", help="write the table there")
    parser.add_argument(
        "--witness",
        choices=("short", "full"),
        default="short",
        help="how the table shows datasets of more than 16 records; default: short",
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
    if parsed.direction != DIRECTIONS[0] and not set(_DIRECTED) & set(asked):
        raise InputError(
            f"--direction goes with --neighbors {' or '.join(_DIRECTED)}, not {', '.join(asked)}"
        )
    return [RELATIONS[name].towards(parsed.direction, k, parsed.exactly) for name in asked]


def read_universe(parsed: argparse.Namespace) -> AnyUniverse:
    """Return the universe of the one column that was asked for."""
    return read_named_universe(parsed)[1]


def read_named_universe(parsed: argparse.Namespace) -> tuple[str, AnyUniverse]:
    """Return the one column that was asked for, and its universe."""
    found = read_universes(parsed, [parsed.column] if parsed.column else None)
    if len(found) != 1:
        raise InputError(f"choose one column with --column: {names_of(found, named)}")
    (only,) = found.items()
    return only


def check_source(parsed: argparse.Namespace) -> None:
    """Raise InputError unless there is either a file or a domain."""
    if (parsed.data is None) == (not parsed.domain):
        raise InputError(
            "give either a CSV file (scenario a), before the options that take several words, or "
            "--domain NAME=VALUES (scenario b)"
        )
    if parsed.data and parsed.copies is not None:
        raise InputError("--copies goes with --domain; each record of a file occurs once")


def source(parsed: argparse.Namespace) -> str:
    """Return where the records come from, for messages."""
    if parsed.data is None:
        return "the domains"
    return "standard input" if parsed.data == STANDARD_INPUT else str(parsed.data)


def read_universes(
    parsed: argparse.Namespace, columns: Sequence[str] | None
) -> dict[str, AnyUniverse]:
    """Return a universe per column of the file, or per domain."""
    check_source(parsed)
    if parsed.domain:
        domains = [read_domain(text, parsed.copies) for text in parsed.domain]
        names = [name for name, _ in domains]
        for name in names:
            if names.count(name) > 1:
                raise InputError(
                    f"the domain {shown(name)} is given twice; give each column one domain"
                )
        return as_universes(dict(domains), columns)
    with warnings.catch_warnings(record=True) as left_out:
        warnings.simplefilter("always")
        universes = as_universes(read_table(parsed.data), columns)
    for one in left_out:
        complain(f"sensitivity-lab: {one.message}")
    return universes


def read_domain(text: str, copies: int | None) -> tuple[str, FiniteUniverse]:
    """Parse NAME=1,2,3 or NAME=first:last:step, exactly; an error names the domain."""
    name, written = split_domain(text)
    values = values_of(written, text)
    for value, times in Counter(values).items():
        if times > 1:
            raise InputError(f"the domain {shown(name)} lists {value} twice; list every value once")
    return name, Universe.from_domain(values, copies)


def read_distance(parsed: argparse.Namespace) -> int:
    """Return the one distance that a command takes."""
    found = read_distances(parsed.distances)
    if len(found) > 1:
        raise InputError(
            f"{parsed.command} takes one distance, got {shown(parsed.distances)}; choose one, or "
            "ask "
            "`sensitivity-lab curves` for several"
        )
    return found[0]


def read_claim(parsed: argparse.Namespace) -> Any:
    """Return what --claim or --claim-per-k says, exactly: a number, or a function of k."""
    if parsed.claim is not None:
        return read_exact(parsed.claim, "a claim")
    slope = Fraction(read_exact(parsed.claim_per_k, "a claim"))
    return lambda k: slope * k


def check_files(parsed: argparse.Namespace) -> None:
    """Raise InputError, before any work, if a file could not be written or would be overwritten."""
    output, table = getattr(parsed, "output", None), getattr(parsed, "table", None)
    check_writable(output, picture=True)
    check_writable(table)
    read = None if parsed.data == STANDARD_INPUT else parsed.data
    names = {"the data": read, "--output": output, "--table": table}
    known: dict[Path, str] = {}
    for name, path in names.items():
        if path is None or "\0" in str(path) or is_stream(path):
            continue
        other = known.setdefault(Path(os.path.realpath(path)), name)
        if other != name:
            raise InputError(
                f"{other} and {name} are one file, {shown(str(path))}; choose another name"
            )


def check_writable(path: Path | None, *, picture: bool = False) -> None:
    """Raise InputError, before any work, if a file could not be written."""
    if path is None:
        return
    try:
        target = destination(path)
    except IsADirectoryError:
        raise InputError(f"cannot write {shown(str(path))}: it is a folder") from None
    except OSError as error:
        raise InputError(f"cannot write {shown(str(path))}: {error.strerror}") from error
    folder = target.parent
    if not (is_stream(target) or (folder.is_dir() and os.access(folder, os.W_OK))):
        where = folder if path.is_symlink() else path.parent
        raise InputError(
            f"cannot write {shown(str(path))}: {shown(str(where))} is not a folder that can be "
            "written to"
        )
    if picture:
        from sensitivity_lab.plotting import check_path

        check_path(path)
