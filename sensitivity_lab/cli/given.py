"""A command's arguments as the library takes them: a universe, a dataset, a relation."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sensitivity_lab.checks import named, names_of, shown
from sensitivity_lab.csv_files import STANDARD_INPUT, exact_number, read_table
from sensitivity_lab.errors import InputError
from sensitivity_lab.problem import Kind
from sensitivity_lab.queries import as_query
from sensitivity_lab.search import check_method
from sensitivity_lab.search.run import Run
from sensitivity_lab.universes.columns import as_universes
from sensitivity_lab.universes.finite import AnyUniverse
from sensitivity_lab.universes.relations import RELATIONS, Relation
from sensitivity_lab.universes.universe import Universe

from .arguments import (
    COLUMN,
    COPIES,
    DATA,
    DATASET,
    DIRECTED,
    DIRECTION,
    DISTANCE,
    DOMAIN,
    EMPTY,
    EXACTLY,
    JOBS,
    MEMORY_LIMIT,
    METHOD,
    NEIGHBORS,
    PUBLIC_UNIVERSE,
    SCRATCH,
    WITH_COMMAS,
    Argument,
)
from .output import Session


class Given:
    """The arguments of a command: ``given[SIZE]`` is one; methods combine several.

    Attributes
    ----------
    session : Session
        The session that prints, and that knows what the command is doing.
    """

    def __init__(self, parsed: argparse.Namespace, session: Session) -> None:
        self._written = vars(parsed)
        self.session = session

    def has(self, argument: Argument) -> bool:
        """Return whether an argument has a value: it was given, or has a default."""
        return self._written.get(argument.word) is not None

    def __getitem__(self, argument: Argument) -> Any:
        """Return an argument's value, or a list if several are given; None if there is none.

        An argument that the command does not take has its default. Variants of an argument share
        one name: the variant that you pass says how to read the text.
        """
        written = self._written.get(argument.word, argument.default)
        if written is None or isinstance(argument.read, type):  # argparse has read it
            return written
        if isinstance(written, list):
            return [argument.read(one) for one in written]
        return argument.read(written)

    def chose(self, argument: Argument) -> bool:
        """Return whether an argument has another value than its default."""
        return self._written.get(argument.word) not in (None, False, argument.default)

    def need(self, *arguments: Argument) -> None:
        """Raise InputError, in the parser's words, for missing arguments."""
        missing = [one.name for one in arguments if not self.has(one)]
        if missing:
            raise InputError(f"the following arguments are required: {', '.join(missing)}")

    def doing(self, what: str) -> None:
        """Note what the command does from here on, for the message if it is interrupted."""
        self.session.doing = what

    def asked(self, argument: Argument) -> Any:
        """Return a query, or a list of some, with the answer of --empty on too few records."""
        names, empty = self[argument], self[EMPTY]
        if empty is None:
            return names
        queries = [as_query(name) for name in ([names] if isinstance(names, str) else names)]
        if not any(query.takes_empty for query in queries):
            raise InputError(
                "--empty is the answer of a query on too few records, and "
                f"{', '.join(query.name for query in queries)} has an answer for any number of "
                "them; leave it out"
            )
        made = [replace(one, empty=empty) if one.takes_empty else one for one in queries]  # type: ignore[type-var]
        return made[0] if isinstance(names, str) else made

    # Sources of records.

    def start_reading(self) -> None:
        """Note that the file or the domains are read; raise InputError unless there is one."""
        self.doing(f"reading {_named(self[DATA]) if self.has(DATA) else 'the domains'}")
        self.check_source()

    def check_source(self) -> None:
        """Raise InputError unless there is either a file or a domain."""
        if self.has(DATA) and str(self[DATA]).isdecimal() and not self[DATA].exists():
            raise InputError(
                f"there is no file {shown(str(self[DATA]))}; {WITH_COMMAS}, such as --distances 1,2"
            )
        if self.has(DATA) == self.has(DOMAIN):
            raise InputError(
                "give either a CSV file (scenario a), before the options that take several words, "
                "or --domain NAME=VALUES (scenario b)"
            )
        if self.has(DATA) and self[COPIES] is not None:
            raise InputError("--copies goes with --domain; each record of a file occurs once")

    def check_public(self) -> None:
        """Raise InputError if noise is scaled to a file's rows that are not declared public."""
        self.check_source()
        if self.has(DATA) and not self[PUBLIC_UNIVERSE]:
            raise InputError(
                "the rows of a file are private unless you say otherwise, and noise scaled to a "
                "universe of them protects nobody; give the possible values with --domain "
                "NAME=SMALLEST:LARGEST, chosen without looking at the data (such as the ends of a "
                "scale or a legal limit), or, if these very rows are public, --public-universe"
            )

    def by_name(self, argument: Argument) -> dict[str, Any]:
        """Return what is given for each name; raise InputError for a name that is given twice."""
        found: dict[str, Any] = {}
        for name, value in self[argument] or ():
            if name in found:
                raise InputError(
                    f"{argument.name}: {shown(name)} is given twice; give each name once"
                )
            found[name] = value
        return found

    def universes(self, columns: Sequence[str] | None) -> dict[str, AnyUniverse]:
        """Return a universe per column of the file, or per domain."""
        self.start_reading()
        if self.has(DOMAIN):
            domains = self.by_name(DOMAIN).items()
            made = {name: Universe.from_domain(one, self[COPIES]) for name, one in domains}
            return as_universes(made, columns)
        return as_universes(read_table(self[DATA]), columns)

    def universe(self) -> AnyUniverse:
        """Return the universe of the one chosen column."""
        return self._column()[1]

    def _column(self) -> tuple[str, AnyUniverse]:
        found = self.universes([self[COLUMN]] if self[COLUMN] else None)
        if len(found) > 1:
            raise InputError(f"choose one column with --column: {names_of(found, named)}")
        ((column, universe),) = found.items()
        return column, universe

    def dataset(self) -> tuple[AnyUniverse, list[Any]]:
        """Return the universe of the one column, and the records of the given dataset."""
        where = Path(self[DATASET])
        if where == self[DATA] == STANDARD_INPUT:
            raise InputError(
                "standard input can be read only once; with --dataset -, give a file or --domain"
            )
        column, universe = self._column()
        self.doing(f"reading {_named(where)}")
        return universe, _records(self[DATASET], column)

    # Neighbors, and the search.

    def distance(self) -> int:
        """Return the one distance that the command takes."""
        found: list[int] = self[DISTANCE]
        if len(found) > 1:
            raise InputError(
                f"{self._written['command']} takes one distance, got "
                f"{shown(self._written[DISTANCE.word])}; choose one; `sensitivity-lab curves` "
                "takes several, for all datasets"
            )
        return found[0]

    def relation(self, k: int) -> Relation:
        """Return the one chosen relation, at a distance."""
        return self._relations([self[NEIGHBORS]], k)[0]

    def relations(self) -> list[Relation]:
        """Return the chosen relations."""
        return self._relations(self[NEIGHBORS], 1)

    def _relations(self, names: list[str], k: int) -> list[Relation]:
        direction = self[DIRECTION]
        if direction != DIRECTION.default and not set(DIRECTED) & set(names):
            raise InputError(
                f"--direction goes with --neighbors {' or '.join(DIRECTED)}, not {', '.join(names)}"
            )
        return [RELATIONS[name].towards(direction, k, self[EXACTLY]) for name in names]

    def search(self, kind: Kind = "global") -> dict[str, Any]:
        """Return the settings of the search, as arguments of a call.

        Of methods, engines alone: what others take is a function, which no command has.
        """
        run = Run(memory_limit=self[MEMORY_LIMIT], scratch=self[SCRATCH])
        method = check_method(self[METHOD], kind)
        return {"method": method, "n_jobs": self[JOBS], "run": run}


def _named(path: Path) -> str:
    """Return the name of a file in messages."""
    return "standard input" if path == STANDARD_INPUT else str(path)


def _records(text: str, name: str) -> list[Any]:
    """Return the records of a dataset: numbers that are listed, or the column of a file."""
    listed = [exact_number(part) for part in text.split(",")]
    if None not in listed:
        return listed
    if "," in text:
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
        f"{names_of(table.columns)}; give the domain one of these names"
    )
