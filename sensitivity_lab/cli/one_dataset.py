"""The commands about one dataset: its local and its smooth sensitivity."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sensitivity_lab.calls.local_sensitivity import local_curves, local_sensitivity
from sensitivity_lab.calls.smooth_sensitivity import smooth_sensitivity
from sensitivity_lab.checks import named, names_of, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.noise.smooth import (
    smooth_beta,
    smooth_cauchy_scale,
    smooth_laplace_scale,
)
from sensitivity_lab.results.smooth import SmoothSensitivity
from sensitivity_lab.universes.finite import AnyUniverse
from sensitivity_lab.universes.multiset import FiniteUniverse

from .arguments import (
    DIRECTIONS,
    add_distances,
    add_exactly,
    add_json,
    add_neighbors,
    add_public,
    add_query,
    add_relation,
    add_search,
    add_source,
    check_files,
    check_public_rows,
    check_source,
    read_distance,
    read_named_universe,
    read_relation,
    searching,
    source,
)
from .output import Session, draw, noting, with_numbers
from .parser import Commands
from .tables import STANDARD_INPUT, exact_number, read_table
from .written import read_distances, read_exact, read_sizes


def add_local(commands: Commands) -> None:
    """Add `local`."""
    local = commands.add_parser("local", help="local sensitivity of one dataset")
    add_source(local)
    _add_dataset(local)
    add_neighbors(local)
    add_distances(local)
    local.add_argument("--output", type=Path, metavar="PLOT.png", help="draw the result there")
    add_exactly(local)
    add_search(local)
    add_json(local)
    local.set_defaults(run=_local)


def add_smooth(commands: Commands) -> None:
    """Add `smooth`."""
    smooth = commands.add_parser(
        "smooth", help="smooth sensitivity of one dataset, and the noise for it"
    )
    add_source(smooth)
    _add_dataset(smooth)
    add_query(smooth)
    add_relation(smooth)
    add_distances(smooth, several=False)
    add_public(smooth)
    damping = smooth.add_mutually_exclusive_group(required=True)
    damping.add_argument(
        "--beta",
        metavar="B",
        help="how fast distant datasets fade: by exp(-B) per step; 2, 0.5 or 1/3",
    )
    damping.add_argument(
        "--epsilon",
        metavar="E",
        help="the privacy loss of the answer; it chooses the largest beta that fits",
    )
    smooth.add_argument(
        "--delta",
        metavar="D",
        help="with --epsilon: the chance of a larger loss; the noise is then Laplace, without it "
        "Cauchy",
    )
    smooth.add_argument(
        "--sizes",
        metavar="M-N",
        help="the smallest and the largest dataset, where neighbors add or remove; default: all",
    )
    smooth.add_argument(
        "--output", type=Path, metavar="PLOT.png", help="draw the sensitivity there"
    )
    add_search(smooth)
    add_json(smooth)
    smooth.set_defaults(run=_smooth, exactly=False, direction=DIRECTIONS[0])


def _add_dataset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dataset",
        required=True,
        metavar="X",
        help="the dataset at hand: records such as 20,35,35, or a CSV file; - reads standard input",
    )


def _local(parsed: argparse.Namespace, session: Session) -> None:
    name, universe, x = _read(parsed, session)
    distances = read_distances(parsed.distances)
    session.doing = f"searching the local sensitivity of {parsed.query}"
    search = searching(parsed)
    if len(distances) > 1:
        curves = local_curves(
            universe,
            parsed.query,
            dataset=x,
            distances=distances,
            neighbors=read_relation(parsed, 1),
            exactly=parsed.exactly,
            column=name,
            **search,
        )
        session.tell(curves, curves.to_dict)
        if parsed.output:
            draw(session, curves.plot, parsed.output)
        return
    result = local_sensitivity(
        universe, parsed.query, dataset=x, neighbors=read_relation(parsed, distances[0]), **search
    )
    session.tell(with_numbers(result), result.to_dict)
    if parsed.output:
        draw(session, lambda: result.plot("witness"), parsed.output)


def _smooth(parsed: argparse.Namespace, session: Session) -> None:
    if parsed.delta is not None and parsed.epsilon is None:
        raise InputError("--delta goes with --epsilon, not --beta")
    delta = None if parsed.delta is None else read_exact(parsed.delta, "--delta")
    epsilon = None if parsed.epsilon is None else read_exact(parsed.epsilon, "--epsilon")
    k = read_distance(parsed)
    if epsilon is None:
        beta: Any = read_exact(parsed.beta, "--beta")
    else:
        check_source(parsed)
        check_public_rows(parsed)
        beta = smooth_beta(epsilon, delta, k=k)
    _, universe, x = _read(parsed, session)
    if not isinstance(universe, FiniteUniverse):  # a file or a domain is always finite
        raise InputError("smooth sensitivity is computed over a file or a domain")
    session.doing = f"searching the smooth sensitivity of {parsed.query}"
    result = smooth_sensitivity(
        universe,
        parsed.query,
        dataset=x,
        beta=beta,
        neighbors=read_relation(parsed, k),
        sizes=None if parsed.sizes is None else read_sizes(parsed.sizes),
        **searching(parsed),
    )
    with noting(session):
        noise = {} if epsilon is None else _noise(result, epsilon, delta, parsed.public_universe)
        lines = [str(result), f"  upper      {result.upper!r}"]
        if noise:
            lines.append(f"  noise      {noise['noise']}, scale {noise['scale']!r}")
        session.tell("\n".join(lines), lambda: {**result.to_dict(), **noise})
    if parsed.output:
        draw(session, result.plot, parsed.output)


def _noise(result: SmoothSensitivity, epsilon: Any, delta: Any, public: bool) -> dict[str, Any]:
    """Return the noise that a privacy loss asks for, and its scale."""
    loss = {"epsilon": epsilon, "delta": delta}
    if delta is None:
        scale = smooth_cauchy_scale(result, epsilon, public_universe=public)
        return {"noise": "Cauchy", "scale": scale, **loss}
    scale = smooth_laplace_scale(result, epsilon, delta, public_universe=public)
    return {"noise": "Laplace", "scale": scale, **loss}


def _read(parsed: argparse.Namespace, session: Session) -> tuple[str, AnyUniverse, list[Any]]:
    """Return the column, its universe, and the records of the dataset."""
    check_files(parsed)
    session.doing = f"reading {source(parsed)}"
    piped = str(STANDARD_INPUT)
    if parsed.data == STANDARD_INPUT and parsed.dataset == piped:
        raise InputError(
            "standard input can be read once; give a file, or --domain, beside --dataset -"
        )
    name, universe = read_named_universe(parsed)
    session.doing = f"reading {'standard input' if parsed.dataset == piped else parsed.dataset}"
    return name, universe, _records(parsed.dataset, name)


def _exists(name: str) -> bool:
    """Tell whether there is a file of a name, which may be one that no file can have."""
    try:
        return Path(name).exists()
    except OSError:
        return False


def _records(text: str, name: str) -> list[Any]:
    """Return the records of a dataset: numbers that are listed, or the column of a file."""
    listed = [exact_number(part) for part in text.split(",")]
    if None not in listed:
        return listed
    if "," in text and not _exists(text):
        raise InputError(
            f"a dataset is written 20,35,35, or it is the name of a CSV file, got {shown(text)}"
        )
    table = read_table(Path(text))
    if name in table:
        return table[name].tolist()
    if len(table.columns) == 1:
        return table.iloc[:, 0].tolist()
    raise InputError(
        f"--dataset {named(text)} has no column {shown(name)}; its columns are "
        f"{names_of(table.columns)}, so name the domain like one of them"
    )
