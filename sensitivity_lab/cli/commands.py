"""The four commands: each takes what was given, and prints its answer.

Answers are printed and written to an output that may be full or closed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import webbrowser
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from sensitivity_lab.article import checks, experiments
from sensitivity_lab.checks import no_column, shown, whole_kind
from sensitivity_lab.csv_files import read_cells
from sensitivity_lab.errors import InputError, printable
from sensitivity_lab.files import destination, is_stream
from sensitivity_lab.page.server import serving
from sensitivity_lab.page.universes import Given, given_of_file
from sensitivity_lab.releases import Person, Plan, plan
from sensitivity_lab.results.literals import json_ready
from sensitivity_lab.sql import Contributions, Query

from .option_values import (
    by_name,
    grid_of,
    read_bounds,
    read_domain,
    read_exact,
    read_foreign_key,
    read_groups,
    read_keys,
    read_persons,
    read_source,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Session:
    """A run of a command. Once standard output fails, it prints nothing more; the work goes on.

    Attributes
    ----------
    command : str
        The program and its command, such as "sensitivity-lab sql".
    as_json : bool
        Whether answers are printed as JSON.
    doing : str
        What the command is doing, for the message if it is interrupted.
    failure : str or None
        Why standard output cannot be written to. None also if a reader, such as ``head``, left.
    """

    def __init__(self, program: str) -> None:
        self.command = program
        self.as_json = False
        self.doing = "reading the arguments"
        self.failure = None if sys.stdout else "it is closed"
        self._open = self.failure is None

    def say(self, text: str) -> None:
        """Write lines, without control characters and characters that the terminal lacks."""
        lines = "\n".join(map(printable, text.split("\n")))
        if self._open:
            self._try(lambda: _write(lines, sys.stdout))

    def tell(self, answer: object, data: Callable[[], Any]) -> None:
        """Write an answer as text, or its data as JSON: in ASCII, on one line."""
        self.say(json.dumps(json_ready(data()), allow_nan=False) if self.as_json else str(answer))

    def comment(self, text: str) -> None:
        """Write lines that accompany an answer; JSON has no place for them."""
        if not self.as_json:
            self.say(text)

    def flush(self) -> None:
        """Flush the buffer."""
        if self._open:
            self._try(sys.stdout.flush)

    def complain(self, message: str) -> None:
        """Write one line that begins with the command to standard error."""
        complain(f"{self.command}: {message}")

    def _try(self, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            self._open = False
            if not isinstance(error, BrokenPipeError):
                self.failure = error.strerror or str(error)
            # The interpreter flushes when it exits; this keeps it from raising another error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_writable(path: Path) -> None:
    """Raise InputError, before any work, if a file could not be written."""
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


def draw(session: Session, plot: Callable[[], Figure | Axes], path: Path) -> None:
    """Draw a picture into a file."""
    session.doing = f"drawing {path}"
    from sensitivity_lab.plotting import off_screen, save

    with off_screen():
        save(plot(), path)


def complain(line: str) -> None:
    """Write a line to standard error; if that fails, only the exit code reports the error."""
    if sys.stderr:
        with suppress(OSError):
            _write(printable(line), sys.stderr)


def _write(lines: str, stream: TextIO) -> None:
    encoding = stream.encoding or "utf-8"
    stream.write(lines.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()


STANDARD_INPUT = Path("-")
"""What other programs take for standard input, which no command here reads."""

ASKED = ("count", "mean", "median", "std", "histogram")
"""What is released of a column where nothing else is asked for."""

_check_rows = whole_kind("the most rows that count of one person, at least 1")

_WITHOUT_PERSON = (
    " If no column identifies people, leave out --person; then something else must limit the rows "
    "of each, as the design of a study can"
)


def release(given: Namespace, session: Session) -> None:
    """Publish numbers of a table, or plan it; the names of its columns are read before."""
    if given.rows_per_person is None:
        raise InputError(
            "give the most rows that one person can have, chosen without looking at the data: "
            "--person COLUMN --rows-per-person 5 keeps at most five rows of each person; "
            "--rows-per-person 1 alone states that every row is another person's"
        )
    asked = given.queries or ASKED
    if not given.domain and set(asked) != {"count"}:
        raise InputError(
            "give the domain of each column, chosen without looking at the data, such as --domain "
            "visits=0:24; only --queries count needs none"
        )
    domains = by_name("--domain", given.domain, read_domain)
    groups = by_name("--group-by", given.group_by, read_groups)
    person = Person(given.person, max_rows=_check_rows("rows_per_person", given.rows_per_person))
    person.warn_of(_other_columns(given, session, [*domains, *groups]))
    grids = {column: grid_of(column, domain) for column, domain in domains.items()}
    several = len(domains) > 1
    made = plan(
        person,
        **_loss(given),
        bounds={column: bounds for column, (bounds, _) in grids.items()},
        step={column: step for column, (_, step) in grids.items()},
        groupby=groups,
        agg={
            **({"count": "count"} if "count" in asked else {}),
            **{
                f"{one} of {column}" if several else one: (column, one)
                for column in domains
                for one in dict.fromkeys(asked)
                if one != "count"
            },
        },
    )
    _publish(given, session, made, given.data)


def _loss(given: Namespace) -> dict[str, Any]:
    """Return epsilon, delta and the shares of epsilon, as arguments of a plan."""
    weights = given.split
    return {
        "epsilon": read_exact(given.epsilon, "--epsilon"),
        "delta": None if given.delta is None else read_exact(given.delta, "--delta"),
        "split": weights and [read_exact(one, "a weight of --split") for one in weights],
    }


def _publish(given: Namespace, session: Session, made: Plan, table: Path | None = None) -> None:
    """Publish into a new folder what is planned; without a folder, print the plan."""
    where = given.publish
    if where is None:
        session.tell(
            made,
            lambda: {
                **made.to_dict(),
                "rows": made.to_frame().to_dict("records"),
                "statement": made.facts(),
            },
        )
        return
    session.doing = "publishing"
    found = made.publish(table, where, ledger=given.ledger, name=given.name)
    files = sorted(where.iterdir())
    session.tell(
        "\n".join([str(found), *(str(path) for path in files), made.statement]),
        lambda: {
            "statistics": found.to_frame().reset_index().to_dict("records"),
            "files": list(map(str, files)),
            "plan": made.to_dict(),
            "statement": made.facts(),
        },
    )


def _other_columns(given: Namespace, session: Session, columns: list[str]) -> list[str]:
    """Return a file's other columns; InputError if it cannot be read again, or lacks one."""
    file: Path = given.data
    if file == STANDARD_INPUT:
        raise InputError("give the name of a file, not -, because it is read twice")
    session.doing = f"reading {file}"
    if file.suffix.lower() in (".parquet", ".pq"):
        return []  # its columns are read with its rows
    known = list(read_cells(file).columns)
    for name in filter(None, (*columns, given.person)):
        if name not in known:
            advice = _WITHOUT_PERSON if name == given.person else ""
            raise InputError(f"{no_column(name, known)}{advice}")
    return [one for one in known if one not in columns]


def sql(given: Namespace, session: Session) -> None:
    """Publish a query or plan its release; without a budget, print what each person adds."""
    session.doing = "reading the tables"
    query = Query(
        given.sql,
        connection=given.database or by_name("--table", given.connection, read_source),
        person=read_persons(given.person),
        null_person=given.null_person,
        bounds=by_name("--bounds", given.bounds, read_bounds) or None,
        groups=None if given.groups is None else read_keys(given.groups),
        foreign_keys=by_name("--foreign-key", given.foreign_keys, read_foreign_key) or None,
        public=() if given.public is None else given.public.split(","),
    )
    budget = {"--epsilon": given.epsilon, "--max-rows": given.max_rows}
    if given.publish is None and set(budget.values()) == {None}:
        session.doing = "running the query"
        found = query.contributions()
        session.tell(found, lambda: _facts(found))
        return
    missing = [name for name, value in budget.items() if value is None]
    if missing:
        raise InputError(f"the following arguments are required: {', '.join(missing)}")
    _publish(given, session, query.plan(max_rows=given.max_rows, **_loss(given)))


def _facts(found: Contributions) -> dict[str, Any]:
    """Return the facts without persons."""
    table = found.distribution()
    return {
        "persons": found.everyone,
        "contributions": {name: table.loc[name].to_dict() for name in table.index},
    }


def article(given: Namespace, session: Session) -> None:
    """Print and write the article's tables and figures."""
    folder: Path = given.folder
    planned = _planned(folder)
    for check in checks():
        session.doing = f"searching {check.title}"
        session.comment(f"{check.title}\n{check.run()}\n")
    made = []
    for experiment, picture, table in planned:
        session.doing = f"searching {experiment.title}"
        found = experiment.run()
        made.append({"name": experiment.name, "title": experiment.title, "curves": found.to_dict()})
        session.comment(f"{experiment.title}\n{found}\n")
        session.doing = f"writing {table}"
        found.to_csv(table)
        draw(session, partial(experiment.plot, found), picture)
    session.tell(f"four figures and four tables are in {folder}", lambda: made)


def _planned(folder: Path) -> list[tuple[Any, Path, Path]]:
    """Return each experiment with the writable files of its picture and its table."""
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
        check_writable(picture)
        check_writable(table)
    return planned


def explore(given: Namespace, session: Session) -> None:
    """Serve the page until Ctrl-C."""
    file: Path | None = given.data
    columns = Given()
    if file is not None:
        if file == STANDARD_INPUT:
            raise InputError("explore needs a file, got '-'; its code reads the data again")
        session.doing = f"reading {file}"
        columns = given_of_file(read_cells(file), str(file.resolve()))
    session.doing = "starting the page"
    with serving(columns, given.port) as url:
        session.say(f"The page is at {url}\nCtrl-C ends it.")
        session.doing = "serving the page"
        if not given.no_browser:
            webbrowser.open(url)
        # It ends as with Ctrl-C, and with it the process that computes.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:  # as the line above says: no failure
            session.say("The page has ended.")
        finally:
            signal.signal(signal.SIGTERM, before)
