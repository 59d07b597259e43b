"""Every argument of the command line, declared once: its name, its help and how it is read.

`option_values.py` reads the text of an argument, such as that of ``--domain``. An argument that
commands take in different forms has variants; each command uses one of them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sensitivity_lab.queries import DEFAULT_QUERIES
from sensitivity_lab.search.run import Run
from sensitivity_lab.universes.relations import RELATIONS, Unbounded

from .option_values import (
    exact,
    read_bounds,
    read_claim_per_k,
    read_distances,
    read_domain,
    read_foreign_key,
    read_groups,
    read_keys,
    read_size_list,
    read_source,
)

Replacement = str | Callable[[re.Match[str]], str]
"""What `re.sub` puts in place of a match."""


@dataclass(frozen=True, kw_only=True)
class Argument:
    """One argument of a command.

    Attributes
    ----------
    name : str
        As it is written: an option begins with dashes, any other argument has a position.
    help : str
        Its text in ``--help``.
    read : callable
        Turns the written text into a value, or each text if several are given. A type runs while
        argparse parses, and argparse words its error; a function runs when a command reads the
        value, and words its own.
    becomes : str
        The library's argument that it becomes, and its name in the library's messages; by default
        its own name.
    advice : tuple of pairs
        Patterns of other phrases in the library's messages, and their replacements on the command
        line, as `re.sub` takes them.
    alias, metavar, nargs, action, default, choices, required
        As argparse has them.
    """

    name: str
    help: str
    read: Callable[[str], Any] = str
    becomes: str = ""
    advice: tuple[tuple[str, Replacement], ...] = ()
    alias: str = ""
    metavar: str | None = None
    nargs: str | None = None
    action: str | None = None
    default: Any = None
    choices: Collection[str] | None = None
    required: bool = False

    @property
    def word(self) -> str:
        """Its name in the library."""
        return self.becomes or self.name.lstrip("-").replace("-", "_")

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        """Add the argument to a parser, or to a group of a parser's arguments."""
        options = {
            "type": None if self.read is str or not isinstance(self.read, type) else self.read,
            "dest": self.becomes,
            "metavar": self.metavar,
            "nargs": self.nargs,
            "action": self.action,
            "default": self.default,
            "choices": self.choices,
            "required": self.required,
        }
        parser.add_argument(
            *filter(None, (self.name, self.alias)),
            help=self.help,
            # Some actions refuse options even with their default values.
            **{name: value for name, value in options.items() if value},
        )


@dataclass(frozen=True)
class OneOf:
    """Arguments that exclude each other: exactly one is given."""

    arguments: tuple[Argument, ...]

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments to a parser."""
        group = parser.add_mutually_exclusive_group(required=True)
        for argument in self.arguments:
            argument.add_to(group)


# Sources of records.

DATA = Argument(
    name="data",
    read=Path,
    nargs="?",
    metavar="DATA.csv",
    help="a table whose rows are the universe, scenario (a): only if these rows may be public; "
    "- reads standard input",
    advice=((r"; pass allow_missing=True to make them ordinary values, or drop", "; drop"),),
)
FILE = replace(DATA, help="a table with a header; its numeric columns can be datasets")
DOMAIN = Argument(
    name="--domain",
    read=read_domain,
    action="append",
    metavar="NAME=VALUES",
    help="the possible values of a column, scenario (b): use it for a release; 1,2,3 or "
    "first:last:step, including the last; can be given several times",
    advice=(
        (r"\bUniverse\.from_domain\(values\)", "--domain NAME=VALUES"),
        (
            r"^bounds names (.*), of which agg asks for nothing$",
            r"--domain names \1, of which --queries asks for nothing",
        ),
    ),
)
COPIES = Argument(
    name="--copies",
    read=int,
    metavar="M",
    help="how often each value of a domain can occur; default: any number of times",
    advice=((r"\bleave out copies, or set copies=", "leave out --copies, or give --copies "),),
)
SIZE = Argument(
    name="--size",
    read=read_size_list,
    required=True,
    metavar="N",
    help="how many records a dataset has: 100, or 2-1000 or 2,5,9 if that number is private",
    advice=(
        (
            r"\bsize=range\((\d+), (\d+)\)",
            lambda found: f"--size {found[1]}-{int(found[2]) - 1}",
        ),
    ),
)
PUBLIC_UNIVERSE = Argument(
    name="--public-universe",
    action="store_true",
    help="the rows of DATA.csv, or the limit of --copies, are public: noise may be scaled to them",
    advice=((r"\bpass public_universe=True", "give --public-universe"),),
)
DATASET = Argument(
    name="--dataset",
    required=True,
    metavar="X",
    help="your dataset: records such as 20,35,35, or a CSV file; - reads standard input",
    advice=(
        (r"\ban int, float, Fraction or Decimal, got (.*) \(\w+\) at", r"a number, got \1 at"),
    ),
)
COLUMN = Argument(
    name="--column",
    alias="--columns",
    help="the column; default: the only one",
)
COLUMNS = Argument(
    name="--columns",
    alias="--column",
    nargs="+",
    metavar="COLUMN",
    help="the columns; default: all numeric ones",
)

PERSON = Argument(
    name="--person",
    metavar="COLUMN",
    help="with a table and a domain: the column that identifies the person of each row",
    advice=(
        (r"^Person without a column, and", "without --person; but"),
        (r"\bas in Person\('(.*?)', max_rows=\d+\); without it", r"as in --person \1; without it"),
        (r"^Person\('(.*?)'\): a column", r"--person \1: a column"),
    ),
)
ROWS_PER_PERSON = Argument(
    name="--rows-per-person",
    read=int,
    metavar="K",
    help="with a table and a domain: the most rows that one person can have, chosen without "
    "looking at the data; with --person, further rows are dropped",
)
GROUP_BY = Argument(
    name="--group-by",
    read=read_groups,
    action="append",
    metavar="COLUMN=NAMES",
    help="with a table and a domain: numbers per group, such as plan=a,b,c; the list of names is "
    "public, and rows of other groups are dropped; can be given for several columns",
)
PUBLISH = Argument(
    name="--publish",
    read=Path,
    metavar="FOLDER",
    help="publish into this new folder: the tables, the plan and the privacy statement",
)
LEDGER = Argument(
    name="--ledger",
    read=Path,
    metavar="FOLDER",
    help="with --publish: a folder that knows all that was published about these people; what it "
    "has is given back and not published again",
)
RELEASE_NAME = Argument(
    name="--name",
    read=str,
    metavar="NAME",
    help="with --ledger: tells releases of one plan apart, such as 2026-11",
)
MAX_ROWS = Argument(
    name="--max-rows",
    read=int,
    metavar="M",
    help="with --epsilon: at most so many results of the join count of one person, chosen without "
    "looking at the data",
)

# Queries of databases.

SQL = Argument(
    name="sql",
    metavar="SELECT",
    help="the query: COUNT, SUM, AVG or COUNT(DISTINCT) over joined tables; it is read, never "
    "executed as it is",
)
SOURCES = Argument(
    name="--table",
    becomes="connection",
    read=read_source,
    action="append",
    metavar="NAME=FILE",
    help="a table of the query: orders=orders.parquet, or a CSV file; can be given several times",
    advice=((r"\bpass it in connection=\{'name': \.\.\.\}", "give it as --table NAME=FILE"),),
)
DATABASE = Argument(
    name="--database",
    read=Path,
    metavar="FILE",
    help="a database file of DuckDB or SQLite with all tables",
)
PERSONS = replace(
    PERSON,
    action="append",
    required=True,
    metavar="TABLE.COLUMN",
    help="the column that says whose row it is, such as customer.custkey; once per private table",
    advice=((r"\bpass null_person='public'", "pass --null-person public"),),
)
PUBLIC_TABLES = Argument(
    name="--public",
    metavar="TABLES",
    help="tables of which everybody may know all rows, such as nation,region",
    advice=(
        (r"\bpass public=\['(.*?)'\]", r"give --public \1"),
        (
            r"\bname both columns of persons, person=\{'(.*?)': '(.*?)', '(.*?)': '(.*?)'\}",
            r"name both columns of persons, --person \1.\2 --person \3.\4",
        ),
    ),
)
NULL_PERSON = Argument(
    name="--null-person",
    choices=("refuse", "public"),
    default="refuse",
    help="what rows without a person are: refused, or public; default: refuse",
)
BOUNDS = Argument(
    name="--bounds",
    read=read_bounds,
    action="append",
    metavar="TABLE.COLUMN=LOWER:UPPER",
    help="public bounds of a column that is added up, such as lineitem.quantity=1:50; values "
    "beyond them are clipped",
    advice=((r"\bbounds=\{'(.*?)': \((.*?), (.*?)\)\}", r"--bounds \1=\2:\3"),),
)
KEYS = Argument(
    name="--groups",
    read=read_keys,
    metavar="KEYS",
    help="the public keys of GROUP BY, chosen without looking at the data: north,south, or of two "
    "columns 'north,1;south,1', with NULL for none; or 'public tables' for those that occur there",
    advice=(
        (
            r"\blist the public keys, such as (groups=\['north', 'south'\]|'north' and 'south')",
            "list the public keys, as in --groups north,south",
        ),
        (
            r": each is a tuple of (\d+) values, got .*$",
            r": each has \1 values, as in --groups "
            "'north,1;south,1'",
        ),
    ),
)
# Queries.

QUERY = Argument(
    name="--query",
    required=True,
    help="a statistic such as median, var or percentile_90",
    advice=(
        (r", a query such as Percentile\(25\), or a function of a 1-D array(?=$|; did)", ""),
        (r", or give functions names with from_function\(\.\.\., name=\.\.\.\)$", ""),
        (
            r"^unknown query 'histogram'; .*$",
            "unknown query 'histogram'; replacing a record moves two of its counts by 1, adding or "
            "removing one moves one; for its noise give `sensitivity-lab noise` a table and a "
            "domain",
        ),
    ),
)
OF_FORMULA = Argument(
    name="query",
    help="a statistic such as median, var or percentile_90",
)
REQUIRED_QUERIES = Argument(
    name="--queries",
    alias="--query",
    nargs="+",
    metavar="QUERY",
    required=True,
    help="statistics such as median, var or percentile_90",
)
PUBLISHED_QUERIES = replace(
    REQUIRED_QUERIES,
    required=False,
    help="count, sum, mean, var, std, median, percentile_90 or histogram; default: count, mean, "
    "median, std and histogram",
    advice=(
        (
            r"^agg\[.*?\]: a statistic is (.*?) or sl\.Percentile\(90\)",
            r"--queries: a statistic is \1",
        ),
    ),
)
QUERIES = replace(
    REQUIRED_QUERIES,
    alias="",
    required=False,
    default=DEFAULT_QUERIES,
    help=f"{REQUIRED_QUERIES.help}; default: {', '.join(DEFAULT_QUERIES)}",
)
EMPTY = Argument(
    name="--empty",
    read=exact("--empty"),
    metavar="VALUE",
    help="the answer of a query on too few records, such as a mean of none; public",
    advice=((r"\bempty=(?=,)", "--empty VALUE"),),
)
# Neighbors.

DIRECTED = tuple(name for name, relation in RELATIONS.items() if relation.directions)
"""The relations that --direction goes with."""

NEIGHBORS = Argument(
    name="--neighbors",
    choices=RELATIONS,
    required=True,
    help="how neighbors differ: "
    + "; ".join(f"{name}: {relation().does}" for name, relation in RELATIONS.items()),
)
SEVERAL_NEIGHBORS = replace(NEIGHBORS, nargs="+")
DIRECTION = Argument(
    name="--direction",
    choices=Unbounded.directions,
    default=Unbounded.directions[0],
    help=f"with {' or '.join(DIRECTED)}: how a neighbor changes the dataset; default: "
    f"{Unbounded.directions[0]}",
    advice=((r"\bdirection='remove'", "--direction remove"),),
)
_DISTANCE = "neighbors differ in at most K records; set K to the most records of one person"
WITH_COMMAS = "several distances or sizes are written with commas"
"""What to do where one stands alone, as if it were the file."""

DISTANCE = Argument(
    name="--distances",
    alias="--distance",
    read=read_distances,
    default="1",
    metavar="K",
    help=f"{_DISTANCE}; default: 1",
    advice=((r"^k must\b", "--distance must"),),
)
DISTANCES = replace(DISTANCE, help=f"{_DISTANCE}: 2, 1-4 or 1,2,5; default: 1")
REQUIRED_DISTANCES = replace(
    DISTANCE, default=None, required=True, help=f"{_DISTANCE}: 2, 1-4 or 1,2,5"
)
EXACTLY = Argument(
    name="--exactly",
    action="store_true",
    default=False,
    help="neighbors differ in exactly K records, not in at most K",
)

# The search.

METHOD = Argument(
    name="--method",
    default="auto",
    help="the name of an engine; default: auto, the best that fits",
    advice=((r" \(the error's `reasons` say why\)", ""),),
)
MEMORY_LIMIT = Argument(
    name="--memory-limit",
    read=int,
    default=Run.memory_limit,
    metavar="BYTES",
    help="the most memory that a search may plan for; default: 4 GiB",
    advice=((r"\brun=Run\(memory_limit=\.\.\.\)", "--memory-limit"),),
)
JOBS = Argument(
    name="--jobs",
    becomes="n_jobs",
    read=int,
    metavar="J",
    help="the number of processes that search; default: 1",
)
SCRATCH = Argument(
    name="--scratch",
    read=Path,
    metavar="FOLDER",
    help="keep large arrays in files in this folder; default: in memory",
    advice=(
        (r"\brun=Run\(scratch=\.\.\.\)", "--scratch"),
        (r"\brun=Run\(scratch=('.*?')\)", r"--scratch \1"),
    ),
)

# Noise, and claims.

_WRONG_SHARE = (r"(give|choose another) (epsilon|delta) or split$", r"\1 --\2 or --split")
EPSILON = Argument(
    name="--epsilon",
    read=exact("--epsilon"),
    required=True,
    metavar="E",
    help="the privacy loss of all answers together: 1, 0.5 or 1/3",
    advice=(_WRONG_SHARE, (r"\bgot Decimal\('(.*?)'\)", r"got \1")),
)
DELTA = Argument(
    name="--delta",
    read=exact("--delta"),
    metavar="D",
    help="the chance of a larger loss: with it the noise is Gaussian, without it Laplace",
    advice=(_WRONG_SHARE,),
)
SPLIT = Argument(
    name="--split",
    read=exact("a weight of --split"),
    nargs="+",
    metavar="WEIGHT",
    help="weights of the answers' shares of epsilon, one for each row of the printed table, in its "
    "order; default: equal ones",
    advice=(
        (r"(^--split .*), or a mapping of their names to such numbers", r"\1"),
        (r"^split\['(.*?)'\] must", r"--split: the share of '\1' must"),
    ),
)
CLAIM = Argument(
    name="--claim",
    read=exact("a claim"),
    metavar="C",
    help="the claim at every distance, compared exactly: 2, 0.5 or 1/3",
)
CLAIM_PER_K = Argument(
    name="--claim-per-k",
    read=read_claim_per_k,
    metavar="C",
    help="the claim is C times k at distance k",
)

FOREIGN_KEYS = Argument(
    name="--foreign-key",
    becomes="foreign_keys",
    read=read_foreign_key,
    action="append",
    metavar="TABLE.COLUMN=PARENT.COLUMN",
    help="a column whose values occur in another table, such as orders.custkey=customer.custkey: "
    "so persons are found who own no row of a table themselves",
    advice=(
        (r"\bforeign_keys=\{'(.*?)': '(.*?)'\}", r"--foreign-key \1=\2"),
        (r"\bforeign_keys=\{\.\.\.\}", "--foreign-key TABLE.COLUMN=PARENT.COLUMN"),
    ),
)

# Output.

JSON = Argument(
    name="--json",
    action="store_true",
    help="print one line of JSON, with the datasets in full",
    advice=(
        (
            r"`evidence\.lines` and `to_dict\(\)` have the datasets whole",
            "--json prints the datasets whole",
        ),
    ),
)
OUTPUT = Argument(
    name="--output",
    becomes="path",
    read=Path,
    metavar="PLOT.png",
    help="draw the result into this file",
)
FOLDER = Argument(
    name="--output",
    becomes="folder",
    read=Path,
    default=Path("results"),
    metavar="FOLDER",
    help="the folder for figures and tables; default: results",
)
TABLE = Argument(
    name="--table", read=Path, metavar="TABLE.csv", help="write the table to this file"
)
PORT = Argument(
    name="--port",
    read=int,
    metavar="P",
    help="the port to listen on; default: any free one",
)
NO_BROWSER = Argument(
    name="--no-browser", action="store_true", help="print the address without opening a browser"
)
