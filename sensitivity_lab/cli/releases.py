"""The commands about releases: histograms, and the noise of several answers together."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sensitivity_lab.calls.curves import sensitivity_curves
from sensitivity_lab.calls.global_sensitivity import global_sensitivity
from sensitivity_lab.checks import did_you_mean, named, names_of, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.noise.table import noise_table
from sensitivity_lab.queries import Histogram
from sensitivity_lab.universes.table import TableUniverse

from .arguments import (
    add_columns_and_queries,
    add_direction,
    add_distances,
    add_exactly,
    add_json,
    add_public,
    add_relation,
    add_search,
    add_universe,
    check_files,
    check_public_rows,
    check_source,
    read_distance,
    read_relation,
    read_universes,
    searching,
    source,
)
from .completion import columns, completed
from .output import Session, draw, noting, with_numbers
from .parser import Commands
from .tables import exact_number, read_table
from .written import read_exact, read_size_list, split_domain, values_of


def add_histogram(commands: Commands) -> None:
    """Add `histogram`."""
    histogram = commands.add_parser("histogram", help="sensitivity of a histogram")
    add_universe(histogram)
    completed(histogram.add_argument("--column", help="the column; default: the only one"), columns)
    counted = histogram.add_mutually_exclusive_group()
    counted.add_argument(
        "--categories",
        nargs="+",
        metavar="VALUE",
        help="what is counted, chosen without a look at the data; default: the domain's values",
    )
    counted.add_argument(
        "--bins",
        nargs="+",
        metavar="EDGE",
        help="the edges of the bins, ascending; chosen without a look at the data",
    )
    add_relation(histogram)
    add_direction(histogram)
    add_distances(histogram, several=False)
    histogram.add_argument(
        "--norm",
        choices=("L1", "L2", "Linf"),
        default="L1",
        help="L1 for Laplace noise (default), L2 for Gaussian noise",
    )
    histogram.add_argument(
        "--output", type=Path, metavar="PLOT.png", help="draw both histograms there"
    )
    add_exactly(histogram)
    add_search(histogram)
    add_json(histogram)
    histogram.set_defaults(run=_histogram)


def add_noise(commands: Commands) -> None:
    """Add `noise`."""
    noise = commands.add_parser(
        "noise", help="noise scales for several answers that share one epsilon"
    )
    add_universe(noise, several_sizes=True)
    add_public(noise)
    add_columns_and_queries(noise, None)
    add_relation(noise)
    add_direction(noise)
    add_distances(noise, several=False)
    noise.add_argument(
        "--epsilon",
        required=True,
        metavar="E",
        help="the privacy loss of all answers together: 1, 0.5 or 1/3",
    )
    noise.add_argument(
        "--delta",
        metavar="D",
        help="the chance of a larger loss; the noise is then Gaussian, without it Laplace",
    )
    noise.add_argument(
        "--split",
        nargs="+",
        metavar="WEIGHT",
        help="weights of the answers' shares of epsilon, in the order of columns and queries; "
        "default: equal ones",
    )
    add_search(noise)
    add_json(noise)
    noise.set_defaults(run=_noise, exactly=False)


def _histogram(parsed: argparse.Namespace, session: Session) -> None:
    check_files(parsed)
    session.doing = f"reading {source(parsed)}"
    name, universe, kinds = _read(parsed)
    query = Histogram(
        name,
        None if parsed.bins else kinds,
        [read_exact(edge, "an edge of --bins") for edge in parsed.bins] if parsed.bins else None,
    )
    session.doing = f"searching the sensitivity of the histogram of {name}"
    result = global_sensitivity(
        universe,
        query,
        size=parsed.size,
        neighbors=read_relation(parsed, read_distance(parsed)),
        norm=parsed.norm,
        **searching(parsed),
    )
    session.tell(with_numbers(result), result.to_dict)
    if parsed.output:
        draw(session, result.plot, parsed.output)


def _read(parsed: argparse.Namespace) -> tuple[str, TableUniverse, list[Any] | None]:
    """Return the column, the universe of its values, and the categories."""
    check_source(parsed)
    if parsed.domain:
        named = {name: _texts(text) for name, text in map(split_domain, parsed.domain)}
        name = _chosen(parsed.column, list(named))
        universe = TableUniverse.from_domain({name: named[name]}, parsed.copies)
        return name, universe, _categories(parsed, named[name]) or named[name]
    table = read_table(parsed.data)
    name = _chosen(parsed.column, list(table.columns))
    given = _categories(parsed, table[name].tolist())
    if not given and not parsed.bins:
        raise InputError(
            "give what is counted with --categories or --bins; they must not depend on the data"
        )
    return name, TableUniverse.from_dataset(table[[name]]), given


def _texts(text: str) -> list[Any]:
    """Return the values of a domain: numbers, or, where one is none, texts."""
    try:
        return values_of(text)
    except InputError:
        if ":" in text:
            raise
        return text.split(",")


def _categories(parsed: argparse.Namespace, values: list[Any]) -> list[Any] | None:
    """Return the categories as what the column has: texts, or numbers."""
    given: list[str] | None = parsed.categories
    if not given or any(isinstance(value, str) for value in values):
        return given
    return [text if (number := exact_number(text)) is None else number for text in given]


def _chosen(asked: str | None, known: list[str]) -> str:
    """Return the column that was asked for, or the only one."""
    if asked in known:
        return str(asked)
    if asked:
        raise InputError(
            f"unknown column {shown(asked)}; the columns are {names_of(known)}"
            f"{did_you_mean(asked, known)}"
        )
    if len(known) > 1:
        raise InputError(f"choose one column with --column: {names_of(known, named)}")
    return known[0]


def _noise(parsed: argparse.Namespace, session: Session) -> None:
    epsilon = read_exact(parsed.epsilon, "--epsilon")
    delta = None if parsed.delta is None else read_exact(parsed.delta, "--delta")
    split = [read_exact(weight, "a weight of --split") for weight in parsed.split or ()] or None
    relation = read_relation(parsed, read_distance(parsed))
    sizes = read_size_list(parsed.size)
    check_source(parsed)
    check_public_rows(parsed)
    session.doing = f"reading {source(parsed)}"
    universes = read_universes(parsed, parsed.columns)
    session.doing = f"searching the sensitivities of {', '.join(parsed.queries)}"
    curves = sensitivity_curves(
        universes,
        parsed.queries,
        size=sizes,
        distances=[relation.k],
        neighbors=relation,
        **searching(parsed),
    )
    with noting(session):
        table = noise_table(
            curves,
            epsilon=epsilon,
            delta=delta,
            split=split,
            public_universe=parsed.public_universe,
        )
        session.tell(
            table,
            lambda: {
                "epsilon": table.epsilon,
                "delta": table.delta,
                "neighbors": relation.family,
                "distance": relation.k,
                "size": sizes[0] if len(sizes) == 1 else sizes,
                "rows": [vars(row) for row in table],
            },
        )
