"""The program ``sensitivity-lab``: parse, call, print; every outcome ends in an exit code.

The parser has the commands with their arguments and their help; an error is one line.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import warnings
from argparse import Namespace
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

from sensitivity_lab.checks import cut, did_you_mean, shown
from sensitivity_lab.errors import SensitivityLabError

from . import commands
from .commands import Session, complain

NAME = "sensitivity-lab"
DOES = (
    "Publish a table, or a query of a database, with differential privacy; open the calculator;\n"
    "reproduce the article. All else is a call in Python, such as sl.global_sensitivity."
)
_MORE = (
    f"Help for each command: {NAME} COMMAND --help\n\n"
    "Tab completion needs argcomplete (pip install '.[completion]'):\n"
    f'  bash, zsh: eval "$(register-python-argcomplete {NAME})"\n'
    f"  fish:      register-python-argcomplete --shell fish {NAME} | source\n\n"
    "Exit codes: 0; 2 bad input, or an output that cannot be written;\n"
    "70 an internal error, please report it; 130 after Ctrl-C."
)
_SCHOOL = "--table school=data/school_large.csv --person school.name"

EXAMPLES = {
    "release": (
        "release data/school_large.csv --domain absence_days=0:30 --person name "
        "--rows-per-person 2 --group-by school_year=1,2,3 --epsilon 1 --publish absences",
    ),
    "sql": (
        f"sql 'SELECT COUNT(*) FROM school' {_SCHOOL}",
        "sql 'SELECT school_year, SUM(absence_days) AS days FROM school GROUP BY school_year' "
        f"{_SCHOOL} --bounds school.absence_days=0:30 --groups 1,2,3 --json",
        "sql 'SELECT school_year, COUNT(*) AS n FROM school GROUP BY school_year ORDER BY n' "
        f"{_SCHOOL} --groups 1,2,3 --epsilon 1 --max-rows 2",
    ),
    "article": ("article", "article --output results"),
    "explore": ("explore", "explore data/school_large.csv --no-browser --port 8866"),
}
"""What follows ``sensitivity-lab`` in the examples of each command's help; the tests run them."""

_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)$")
"""How argparse refuses a choice; the quotes around the choices depend on Python's version."""


class Parser(argparse.ArgumentParser):
    """A parser of the program or of one of its commands."""

    def __init__(self, **options: Any) -> None:
        # The lines of descriptions and examples stay as they are.
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        """End with exit code 2 and one line, which proposes a similar choice."""
        refused = _CHOICE.search(message)
        if refused:
            choices = [choice.strip("'") for choice in refused[2].split(", ")]
            also = "; all else is a call in Python" if "COMMAND" in message else ""
            message += did_you_mean(refused[1], choices) or also
        message = " ".join(map(cut, message.split(" ")))
        complain(f"{self.prog}: {message}")
        self.exit(2)

    # Refuse an unknown option first: otherwise the message about required arguments comes before,
    # as if the option had not been given.
    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but refuse unknown options and propose a similar one."""
        if args is not None:
            self._refuse_unknown(args)
        return super().parse_known_args(args, namespace)

    def _refuse_unknown(self, words: Sequence[str]) -> None:
        known = self._option_string_actions
        for word in words:
            if word == "--" or (self._subparsers and not word.startswith("-")):
                return  # the rest is for another parser
            name = word.partition("=")[0]
            if name.startswith("--") and not any(option.startswith(name) for option in known):
                self.error(f"unrecognized argument: {name}{did_you_mean(name, known)}")

    def names(self) -> Iterator[tuple[str, str]]:
        """Yield the library's name of each option's value, and the option."""
        for action in dict.fromkeys(self._option_string_actions.values()):
            if action.option_strings[0].startswith("--"):
                yield action.dest, action.option_strings[0]


def make_parsers() -> tuple[Parser, dict[str, Parser]]:
    """Return the parser of all commands, and each command's by its name."""
    examples = "\n".join(f"  {NAME} {every[-1]}" for every in EXAMPLES.values())
    parser = Parser(prog=NAME, description=DOES, epilog=f"examples:\n{examples}\n\n{_MORE}")
    parser.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    group = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(call: Any, summary: str, does: str, more: str = "") -> Parser:
        name = call.__name__
        lines = "\n".join(f"  {NAME} {example}" for example in EXAMPLES[name])
        after = "\n\n".join(filter(None, (f"examples:\n{lines}", more)))
        made: Parser = group.add_parser(name, help=summary, description=does, epilog=after)
        made.set_defaults(call=call)
        return made

    release = command(
        commands.release,
        "publish counts, means, medians and histograms of a table",
        "Plan the release of numbers of a table, and with --publish, publish them with noise into\n"
        "a new folder: tables, the plan, and its statement of privacy.",
        "Publish once: a second release about the same people adds its epsilon to the first.\n"
        "It needs the extra: pip install '.[opendp]'",
    )
    sql = command(
        commands.sql,
        "publish a query over joined tables, or see what each person adds to it",
        "With --epsilon and --max-rows, plan the release of a SQL query over joined tables, "
        "and\nwith --publish, publish its answer. Without these, what each person adds to it, "
        "exactly;\nthat depends on the data: do not publish it.",
        "Nothing of the query is executed as it came: see docs/how_to/sql.md.\n"
        "It needs the extra: pip install '.[sql]'",
    )
    article = command(
        commands.article,
        "reproduce the article's figures and tables",
        'Reproduce the figures and tables of the article "Global Sensitivity From Scratch".',
    )
    explore = command(
        commands.explore,
        "the calculator on a page in the browser",
        "The calculator on a page in the browser: the sensitivity, the worst case,\n"
        "the noise, and the code for them. Without a file it takes what you type.",
        "Only this machine can open the page, and it needs no network. Ctrl-C ends it.",
    )
    _add_table(release)
    _add_loss(release, required=True)
    _add_query(sql)
    _add_loss(sql, required=False)
    article.add_argument(
        "--output",
        dest="folder",
        type=Path,
        default=Path("results"),
        metavar="FOLDER",
        help="the folder for figures and tables; default: results",
    )
    _add_json(article)
    _add_file(explore)
    return parser, {"release": release, "sql": sql, "article": article, "explore": explore}


def _add_table(parser: Parser) -> None:
    """Add the arguments that say what is published of a table."""
    add = parser.add_argument
    add("data", type=Path, metavar="DATA.csv", help="the table: a CSV or a Parquet file")
    add(
        "--domain",
        action="append",
        metavar="NAME=VALUES",
        help="the possible values of a column, chosen without looking at the data: 1,2,3 or "
        "first:last:step, including the last; can be given several times",
    )
    add("--person", metavar="COLUMN", help="the column that identifies the person of each row")
    add(
        "--rows-per-person",
        type=int,
        metavar="K",
        help="the most rows that one person can have, chosen without looking at the data; with "
        "--person, further rows are dropped",
    )
    add(
        "--group-by",
        action="append",
        metavar="COLUMN=NAMES",
        help="numbers per group, such as plan=a,b,c; the list of names is public, and rows of "
        "other groups are dropped; can be given for several columns",
    )
    add(
        "--queries",
        "--query",
        nargs="+",
        metavar="QUERY",
        help="count, sum, mean, var, std, median, percentile_90 or histogram; default: count, "
        "mean, median, std and histogram",
    )


def _add_query(parser: Parser) -> None:
    """Add the arguments that say what is asked of which tables, and whose their rows are."""
    add = parser.add_argument
    add(
        "sql",
        metavar="SELECT",
        help="the query: COUNT, SUM, AVG or COUNT(DISTINCT) over joined tables; it is read, never "
        "executed as it is",
    )
    either = parser.add_mutually_exclusive_group(required=True)
    either.add_argument(
        "--table",
        dest="connection",
        action="append",
        metavar="NAME=FILE",
        help="a table of the query: orders=orders.parquet, or a CSV file; can be given several "
        "times",
    )
    either.add_argument(
        "--database",
        type=Path,
        metavar="FILE",
        help="a database file of DuckDB or SQLite with all tables",
    )
    add(
        "--person",
        action="append",
        required=True,
        metavar="TABLE.COLUMN",
        help="the column that says whose row it is, such as customer.custkey; once per private "
        "table",
    )
    add(
        "--foreign-key",
        dest="foreign_keys",
        action="append",
        metavar="TABLE.COLUMN=PARENT.COLUMN",
        help="a column whose values occur in another table, such as "
        "orders.custkey=customer.custkey: so persons are found who own no row of a table "
        "themselves",
    )
    add(
        "--public",
        metavar="TABLES",
        help="tables of which everybody may know all rows, such as nation,region",
    )
    add(
        "--null-person",
        choices=("refuse", "public"),
        default="refuse",
        help="what rows without a person are: refused, or public; default: refuse",
    )
    add(
        "--bounds",
        action="append",
        metavar="TABLE.COLUMN=LOWER:UPPER",
        help="public bounds of a column that is added up, such as lineitem.quantity=1:50; values "
        "beyond them are clipped",
    )
    add(
        "--groups",
        metavar="KEYS",
        help="the public keys of GROUP BY, chosen without looking at the data: north,south, or of "
        "two columns 'north,1;south,1', with NULL for none; or 'public tables' for those that "
        "occur there",
    )
    add(
        "--max-rows",
        type=int,
        metavar="M",
        help="with --epsilon: at most so many results of the join count of one person, chosen "
        "without looking at the data",
    )


def _add_loss(parser: Parser, *, required: bool) -> None:
    """Add the arguments of a release: its privacy loss, and where it is published."""
    add = parser.add_argument
    add(
        "--epsilon",
        required=required,
        metavar="E",
        help="the privacy loss of all answers together: 1, 0.5 or 1/3",
    )
    add(
        "--delta",
        metavar="D",
        help="the chance of a larger loss: with it the noise is Gaussian, without it Laplace",
    )
    add(
        "--split",
        nargs="+",
        metavar="WEIGHT",
        help="weights of the answers' shares of epsilon, one for each row of the printed table, "
        "in its order; default: equal ones",
    )
    add(
        "--publish",
        type=Path,
        metavar="FOLDER",
        help="publish into this new folder: the tables, the plan and the privacy statement; "
        "without it the plan is printed",
    )
    add(
        "--ledger",
        type=Path,
        metavar="FOLDER",
        help="with --publish: a folder that knows all that was published about these people; what "
        "it has is given back and not published again",
    )
    add(
        "--name",
        default="",
        metavar="NAME",
        help="with --ledger: tells releases of one plan apart, such as 2026-11",
    )
    _add_json(parser)


def _add_json(parser: Parser) -> None:
    text = "print one line of JSON, with the datasets in full"
    parser.add_argument("--json", action="store_true", help=text)


def _add_file(parser: Parser) -> None:
    """Add the arguments of the page."""
    add = parser.add_argument
    add(
        "data",
        type=Path,
        nargs="?",
        metavar="DATA.csv",
        help="a table with a header; its numeric columns can be datasets",
    )
    add("--port", type=int, metavar="P", help="the port to listen on; default: any free one")
    add("--no-browser", action="store_true", help="print the address without opening a browser")


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell's request for completions, if argcomplete is installed, and end the process.

    It proposes commands, options, choices and files.
    """
    if "_ARGCOMPLETE" not in os.environ:
        return
    try:
        import argcomplete
    except ImportError:
        return
    argcomplete.autocomplete(parser)


def _version() -> str:
    try:
        return metadata.version("sensitivity_lab")
    except metadata.PackageNotFoundError:
        return "of a checkout that is not installed"


_ADVICE = (
    (
        r"^bounds names (.*), of which agg asks for nothing$",
        r"--domain names \1, of which --queries asks for nothing",
    ),
    (
        r"^agg\[.*?\]: a statistic is (.*?) or sl\.Percentile\(90\)",
        r"--queries: a statistic is \1",
    ),
    (r"^Person without a column, and", "without --person; but"),
    (r"\bas in Person\('(.*?)', max_rows=\d+\); without it", r"as in --person \1; without it"),
    (r"^Person\('(.*?)'\): a column", r"--person \1: a column"),
    (r"\bpass null_person='public'", "pass --null-person public"),
    (r"\bpass it in connection=\{'name': \.\.\.\}", "give it as --table NAME=FILE"),
    (r"\bforeign_keys=\{'(.*?)': '(.*?)'\}", r"--foreign-key \1=\2"),
    (r"\bforeign_keys=\{\.\.\.\}", "--foreign-key TABLE.COLUMN=PARENT.COLUMN"),
    (r"\bpass public=\['(.*?)'\]", r"give --public \1"),
    (
        r"\bname both columns of persons, person=\{'(.*?)': '(.*?)', '(.*?)': '(.*?)'\}",
        r"name both columns of persons, --person \1.\2 --person \3.\4",
    ),
    (r"\bbounds=\{'(.*?)': \((.*?), (.*?)\)\}", r"--bounds \1=\2:\3"),
    (
        r"\blist the public keys, such as (groups=\['north', 'south'\]|'north' and 'south')",
        "list the public keys, as in --groups north,south",
    ),
    (
        r": each is a tuple of (\d+) values, got .*$",
        r": each has \1 values, as in --groups 'north,1;south,1'",
    ),
    (r"(give|choose another) (epsilon|delta) or split$", r"\1 --\2 or --split"),
    (r"\bgot Decimal\('(.*?)'\)", r"got \1"),
    (r"(^--split .*), or a mapping of their names to such numbers", r"\1"),
    (r"^split\['(.*?)'\] must", r"--split: the share of '\1' must"),
)
"""Patterns of phrases in the library's messages, and what `re.sub` makes of them in turn."""

_FAULT = 70
"""The exit code of an internal error: EX_SOFTWARE of sysexits.h."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default the process's own.

    Returns
    -------
    int
        The exit code: 0; 2 if the input is not acceptable or the output cannot be written (a
        one-line message says why); 70 for an unexpected error of the program itself; 130 after
        Ctrl-C.
    """
    session = Session(NAME)
    code: Any = 0
    try:
        try:
            parser, _ = make_parsers()
            complete(parser)
            parsed = parser.parse_args(arguments)
            session.command = f"{parser.prog} {parsed.command}"
            session.as_json = getattr(parsed, "json", False)
            _run(parsed, session)
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
        session.complain(f"not enough memory while {session.doing}; use fewer records")
        return 2
    except SensitivityLabError as error:
        session.complain(in_options(str(error)))
        return 2
    except OSError as error:
        file = "" if error.filename is None else f": {shown(error.filename)}"
        why = f"{error.strerror}{file}" if error.strerror else str(error)
        session.complain(f"system error while {session.doing}: {cut(why)}")
        return 2
    except Exception as error:  # noqa: BLE001 - a user can do nothing with a traceback
        what = f"{type(error).__name__}: {cut(str(error))}".removesuffix(": ")
        session.complain(
            in_options(f"internal error while {session.doing}: {what}; please report it")
        )
        return _FAULT
    if session.failure:
        session.complain(f"cannot write to standard output: {session.failure}")
        return 2
    return code or 0


def _run(given: Namespace, session: Session) -> None:
    """Call a command, and print the library's warnings after its answer."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)  # those of the library
        given.call(given, session)
    for note in dict.fromkeys(in_options(str(one.message)) for one in caught):
        if session.as_json:
            session.complain(note)
        else:
            session.say(f"  note       {note}")


def in_options(message: str) -> str:
    """Return an error's message on one line, with options instead of arguments in its advice.

    Examples
    --------
    >>> in_options("for these foreign_keys={'w.id': 'v.id'} can stand")
    'for these --foreign-key w.id=v.id can stand'
    >>> in_options("epsilon must be None or a number, got 'two'")
    "--epsilon must be a number, got 'two'"
    """
    text = " ".join(message.split())
    names = {pair for parser in make_parsers()[1].values() for pair in parser.names()}
    for word, option in sorted(names):
        # None stands for an argument left out, so a message for the command line omits it.
        text = re.sub(
            rf"^(column '.*': )?{word} (must be|must|is|for)( None or)?\b", rf"\1{option} \2", text
        )
        text = re.sub(rf"^{word}: ", f"{option}: ", text)
    for pattern, said in _ADVICE:
        text = re.sub(pattern, said, text)
    return text
