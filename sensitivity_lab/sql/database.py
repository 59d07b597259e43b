"""The database of a query: connections of every kind, read by DuckDB; its errors in our words.

A connection of DuckDB is read where it is. All else (a database of SQLite, tables of pandas,
Polars or Arrow, Parquet and CSV files) is copied into a database of DuckDB in memory: the columns
that the query uses. Every statement is of the lab's own making, and runs in a session: a cursor of
its own, in one transaction that sees one state of the data and is rolled back at the end.
"""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sensitivity_lab.checks import (
    as_pandas,
    did_you_mean,
    is_hashable,
    named,
    names_of,
    shown,
    text_of,
)
from sensitivity_lab.errors import InputError, MissingExtraError, QueryError, TooLargeError

from .normal_form import Table, alike, literal, quoted

ACCEPTED = (
    "a connection of DuckDB or SQLite, the path of a database file of one of them, or a mapping of "
    "table names to DataFrames, Arrow tables, and paths of Parquet or CSV files"
)
"""What a connection can be, in words."""

_FILES = {".parquet": "read_parquet", ".pq": "read_parquet", ".csv": "read_csv"}
"""How DuckDB reads a file, by the end of its name."""

_FULL = re.compile(r"no space left|disk (is )?full|max_temp_directory_size|could not write", re.I)

_KIND = re.compile(r"[A-Z][A-Za-z ]* Error:")
"""How DuckDB begins the text of an error."""

_HIDDEN = "; what DuckDB says can quote the data, and is not shown"

_BY_ZERO = re.compile(r"division by zero", re.I)

_LOCKED = re.compile(r"lock|different configuration", re.I)

_SQLITE = b"SQLite format 3\0"
"""How a database file of SQLite begins."""

_SETTINGS = {
    "default_collation": "",
    "integer_division": "false",
    "ieee_floating_point_ops": "true",
    "old_implicit_casting": "false",
}
"""Settings of DuckDB that change what = and / mean, and their values here."""

_COLLATED = re.compile(r"\bCOLLATE\s+(?!BINARY\b)\w+", re.I)
"""A column whose texts are compared in another way than byte by byte."""

_NAMES_AND_TEXTS = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
"""What can hold any words: texts, quoted names and comments."""

_WHOSE_NAME_IS = (
    "concat('\"', replace(database_name, '\"', '\"\"'), '\".\"', replace(schema_name, '\"', "
    "'\"\"'), '\".\"', replace(table_name, '\"', '\"\"'), '\"') = ?"
)
"""The condition on DuckDB's lists that a table has a full name."""

_SEVERAL = "values of several types"
"""How the type of a column of SQLite begins that has no type of DuckDB."""

_ROWS_AT_ONCE = 100_000
"""Rows of SQLite that are copied in one go."""


def duckdb_module() -> Any:
    """Return DuckDB, or raise MissingExtraError."""
    try:
        import duckdb
    except ImportError as error:
        raise missing("DuckDB") from error
    return duckdb


def missing(library: str) -> MissingExtraError:
    """Return the error for a library of the extra that is not installed."""
    return MissingExtraError(
        f"sensitivity_lab.sql needs {library}, which is not installed; install the extra: "
        "pip install '.[sql]' in a checkout"
    )


@contextmanager
def naming(doing: str) -> Iterator[None]:
    """Turn the errors of DuckDB into those of the lab, which say what was being done."""
    duckdb = duckdb_module()
    with _renaming(duckdb.Error, lambda error: _named(duckdb, doing, error)):
        yield


@contextmanager
def _renaming(kind: type[Exception], renamed: Callable[[Exception], Exception]) -> Iterator[None]:
    """Raise other errors in place of some, which are not kept: they can quote cells."""
    try:
        yield
    except kind as error:
        told = renamed(error)
        # `from None` hides the cause but keeps it as the context, which a debugger shows; so the
        # context goes, too.
        try:
            raise told from None
        finally:
            told.__context__ = None


def _named(duckdb: Any, doing: str, error: Exception) -> Exception:
    # DuckDB goes on with the line of the statement, which is not the text that the user wrote.
    told = " ".join(re.split(r"\\n|\n", text_of(error).partition("LINE ")[0])).strip()
    told = " ".join(told.split())
    if _BY_ZERO.search(told):
        return QueryError(
            f"{doing} divides by 0 in some result; write NULLIF(..., 0) around the divisor, which "
            "leaves such results out of SUM, COUNT(expression) and WHERE"
        )
    if isinstance(error, duckdb.InterruptException):
        return QueryError(f"{doing} was interrupted before it ended; call again to start anew")
    is_of_machine = isinstance(error, duckdb.OperationalError)
    if isinstance(error, duckdb.OutOfMemoryException) or (is_of_machine and _FULL.search(told)):
        return TooLargeError(
            f"{doing} needs more memory or disk than there is: {told}; raise DuckDB's "
            "memory_limit, or set its temp_directory to a disk with more room, and pass that "
            "connection"
        )
    if is_of_machine:
        locked = _LOCKED.search(told)
        way = "; close the other connection, or pass it as connection" if locked else ""
        return InputError(f"{doing} failed: {told}{way}")
    # What follows the kind of any other error can quote cells.
    kind = told.partition(":")[0] if _KIND.match(told) else type(error).__name__
    if isinstance(error, duckdb.OutOfRangeException | duckdb.ConversionException):
        return QueryError(
            f"{doing} failed on the data: {kind}, of values that are not shown here; mend them in "
            "the table, or use TRY_CAST, which is NULL where CAST fails"
        )
    of_types = duckdb.BinderException | duckdb.CatalogException | duckdb.NotSupportedError
    if isinstance(error, of_types):
        return InputError(f"{doing} is not possible: {told}")
    if isinstance(error, duckdb.ProgrammingError):
        return InputError(f"{doing} is not possible: {kind}{_HIDDEN}")
    return QueryError(f"{doing} failed: {kind}{_HIDDEN}")


class Session:
    """A transaction of the database's own cursor, which sees one state of the data.

    Its temporary tables are gone at the end, and never seen by other connections.
    """

    def __init__(self, cursor: Any) -> None:
        self.cursor = cursor

    def rows(
        self, sql: str, parameters: Sequence[Any] = (), doing: str = "the query"
    ) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows, with values of Python."""
        with naming(doing):
            found: list[tuple[Any, ...]] = self.cursor.execute(sql, list(parameters)).fetchall()
        return found

    def arrays(self, sql: str, doing: str = "the query") -> dict[str, Any]:
        """Run a statement and return its columns as arrays of NumPy, masked where NULL."""
        with naming(doing):
            found: dict[str, Any] = self.cursor.execute(sql).fetchnumpy()
        return found

    def run(self, sql: str, parameters: Sequence[Any] = (), doing: str = "the query") -> None:
        """Run a statement that returns nothing."""
        with naming(doing):
            self.cursor.execute(sql, list(parameters))

    def types(self, sql: str) -> list[str]:
        """Return the types of a statement's columns, without running it."""
        with naming("the query"):
            rows = self.cursor.execute(f"DESCRIBE {sql}").fetchall()
        return [str(row[1]) for row in rows]


class Database:
    """Tables that a query can read.

    Parameters
    ----------
    connection : object
        See `ACCEPTED`.

    Attributes
    ----------
    dialect : {"duckdb", "sqlite"}
        The SQL that the owner of the data writes.
    """

    def __init__(self, connection: Any) -> None:
        duckdb = duckdb_module()
        self.dialect = "duckdb"
        self._sqlite: Any = None
        self._opened: sqlite3.Connection | None = None
        self._given: dict[str, Any] = {}
        self._own = not isinstance(connection, duckdb.DuckDBPyConnection)
        if not self._own:
            self._base = connection
        elif isinstance(connection, sqlite3.Connection):
            self._base = in_memory(duckdb)
            self._sqlite, self.dialect = connection, "sqlite"
        elif isinstance(connection, Mapping):
            self._base = in_memory(duckdb)
            self._given = _named_tables(connection)
            self._register()
        elif isinstance(connection, str | Path):
            self._open(duckdb, Path(connection))
        else:
            # A table's own text would show rows of persons.
            several = connection if isinstance(connection, list | tuple) else [connection]
            got = shown(connection)
            if any(hasattr(one, "columns") for one in several):
                got = "tables without names"
            raise InputError(f"connection must be {ACCEPTED}, got {got}")
        try:
            self._check_open()
            self._check_settings()
        except BaseException:
            self.close()
            raise

    def _open(self, duckdb: Any, path: Path) -> None:
        """Open a database file, of either kind, to read only."""
        try:
            with path.open("rb") as file:
                # The first bytes tell SQLite from DuckDB, whatever the name of the file ends in.
                beginning = file.read(len(_SQLITE))
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or text_of(error)
            raise InputError(
                f"connection: cannot read the database {shown(str(path))}: {why}"
            ) from error
        if path.suffix.lower() in _FILES:
            name = re.sub(r"\W", "_", path.stem)
            raise InputError(
                f"connection: {shown(str(path))} is a single table; give it a name, as in "
                f"connection={{{name!r}: {str(path)!r}}}"
            )
        if beginning == _SQLITE:
            self._base = in_memory(duckdb)
            uri = path.absolute().as_uri() + "?mode=ro"
            self._sqlite = self._opened = sqlite3.connect(uri, uri=True)
            self.dialect = "sqlite"
            return
        with naming(f"opening {shown(str(path))}"):
            self._base = duckdb.connect(str(path), read_only=True)
        self._own = False

    def close(self) -> None:
        """Close a database of SQLite that was opened here, once it is copied."""
        if self._opened is not None:
            self._opened.close()

    def _register(self) -> None:
        """Let DuckDB see the tables in memory and the files, each as a view of ours."""
        for name, given in self._given.items():
            view = quoted(f"given {name}")
            if isinstance(given, str | Path):
                reader = _FILES[Path(given).suffix.lower()]
                with naming(f"reading {shown(str(given))}"):
                    self._base.execute(
                        f"CREATE VIEW {view} AS SELECT * FROM {reader}({literal(str(given))})"
                    )
                continue
            with suppress(Exception):  # a table that DuckDB cannot read; pandas may
                self._base.register(f"given {name}", given)
                continue
            with naming(f"reading the table {shown(name)}"):
                self._base.register(f"given {name}", as_pandas(given))

    def _check_open(self) -> None:
        """Raise InputError if a connection is closed."""
        with naming("using the connection"):
            self._base.cursor().execute("SELECT 1").fetchall()
        if self._sqlite is not None:
            self._ask_sqlite("SELECT 1 FROM sqlite_master LIMIT 1")

    def _check_settings(self) -> None:
        """Raise InputError if the database's settings give expressions another meaning.

        What a connection sets for itself is not seen by the cursors that run here, and needs no
        check: they have the settings of the database.
        """
        with self.session() as session:
            found = dict(
                session.rows(
                    "SELECT name, value FROM duckdb_settings() WHERE name IN (SELECT UNNEST(?))",
                    [list(_SETTINGS)],
                )
            )
        for name, expected in _SETTINGS.items():
            if name in found and str(found[name] or "").lower() != expected:
                raise InputError(
                    f"connection: the database's setting {name} is {shown(found[name])}, which "
                    "changes what the query's expressions mean; the lab reads them with DuckDB's "
                    f"own setting: RESET GLOBAL {name}"
                )

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a transaction, and roll it back at the end."""
        with naming("using the connection"):
            cursor = self._base.cursor()
            cursor.execute("BEGIN TRANSACTION")
        try:
            yield Session(cursor)
        # Always rolled back: temporary tables go, and nothing is ever written.
        finally:
            with suppress(duckdb_module().Error):
                cursor.execute("ROLLBACK")
            cursor.close()

    def table(self, parts: Sequence[str], where: str) -> Table:
        """Return a table by the parts of its name; raise InputError if it is none.

        Parameters
        ----------
        parts : sequence of str
            Such as ("orders",) or ("main", "orders").
        where : str
            The place in the query, for messages.
        """
        name = ".".join(parts)
        if self._own:
            return self._of_ours(name, where)
        with self.session() as session:
            self._check_connection(session, [parts[-1]])
            found = session.rows(
                "SELECT database_name, schema_name, table_name, FALSE, sql FROM duckdb_tables() "
                "WHERE NOT internal UNION ALL SELECT database_name, schema_name, view_name, TRUE, "
                "'' FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
            )
            [here] = session.rows("SELECT current_database(), current_schema()")
            wanted = [part.lower() for part in parts]
            # A name of one, two or three parts is compared with as many last parts of each table's
            # name.
            alike = [
                row for row in found if [one.lower() for one in row[3 - len(wanted) : 3]] == wanted
            ]
            # Of tables that fit, the one in the current database and schema.
            best = [row for row in alike if row[: 3 - len(wanted)] == here[: 3 - len(wanted)]]
            if len(wanted) == 2:
                best = [row for row in alike if row[0] == here[0]]
            chosen = (best or alike)[:1]
            if not chosen or (not best and len(alike) > 1):
                known = sorted({row[2] for row in found if not row[3]})
                raise _no_table(name, known, where, several=len(alike) > 1)
            [(database, schema, table, is_view, made)] = chosen
            if is_view:
                raise _view(name, where)
            _check_collations(name, made, where)
            full = ".".join(map(quoted, (database, schema, table)))
            declared = session.rows(f"DESCRIBE {full}")
            filled = frozenset(str(row[0]) for row in declared if row[2] == "NO")
            return Table(table, full, self._columns(session, full), made, filled)

    def check(self, session: Session, tables: Iterable[Table]) -> None:
        """Raise InputError if tables are others than they were, or than the connection sees."""
        if self._sqlite is None and not self._given:
            _check_macros(session)
        if self._own:
            return
        self._check_connection(session, [table.name for table in tables])
        for table in tables:
            made = session.rows(
                f"SELECT sql FROM duckdb_tables() WHERE {_WHOSE_NAME_IS}", (table.sql,)
            )
            if made != [(table.made,)]:
                raise InputError(
                    f"connection: the table {table.name} was made anew, altered or dropped since "
                    "the query was made, and the query was read for what it was; make the query "
                    "again"
                )

    def _check_connection(self, session: Session, names: Sequence[str]) -> None:
        """Raise InputError if the caller's connection sees other tables than its cursors."""
        with naming("using the connection"):
            # Each statement is a transaction of its own, unless one is open.
            state = "SELECT current_database(), current_schema(), txid_current()"
            # Two statements with one number of transaction: the caller has one open.
            states = [self._base.sql(state).fetchall()[0] for _ in range(2)]
            temporary = self._base.sql(
                "SELECT table_name FROM duckdb_tables() WHERE temporary UNION ALL SELECT view_name "
                "FROM duckdb_views() WHERE temporary AND NOT internal"
            ).fetchall()
        if states[0] == states[1]:
            raise InputError(
                "connection: it has an open transaction, whose changes a query here does not see: "
                "it reads what is committed; commit() or rollback() the transaction first"
            )
        [here] = session.rows("SELECT current_database(), current_schema()")
        if states[0][:2] != here:
            raise InputError(
                f"connection: it is in the schema {'.'.join(states[0][:2])} by USE or search_path, "
                f"and a query here is in {'.'.join(here)}; run USE {'.'.join(here)}, and write the "
                "schema before the names of tables in others"
            )
        _check_temporary(names, [name for (name,) in temporary])

    def _of_ours(self, name: str, where: str) -> Table:
        """Return a table that is read into memory."""
        known = self._sqlite_tables() if self._sqlite is not None else dict.fromkeys(self._given)
        found = alike(name, known)
        if found is None:
            raise _no_table(name, list(known), where)
        if known[found] == "view":
            raise _view(name, where)
        if self._sqlite is not None:
            temporary = self._ask_sqlite("SELECT name FROM sqlite_temp_master")
            _check_temporary([name], [one for (one,) in temporary])
            _check_collations(name, self._sqlite_text(found), where)
            columns = self._sqlite_columns(found)
        else:
            # A registered table is seen by its own connection only.
            columns = self._columns(Session(self._base), quoted(f"given {found}"))
        return Table(found, f"memory.main.{quoted(found)}", columns)

    def _columns(self, session: Session, full: str) -> dict[str, str]:
        rows = session.rows(f"DESCRIBE SELECT * FROM {full}")
        return {str(row[0]): str(row[1]) for row in rows}

    def foreign_keys(self, table: Table) -> list[tuple[tuple[str, ...], Table, tuple[str, ...]]]:
        """Return the foreign keys that a database of DuckDB declares; of all others none.

        Each is its columns, the parent, and the columns of the parent.
        """
        if self._own:
            return []
        with self.session() as session:
            declared = session.rows(
                "SELECT constraint_column_names, database_name, schema_name, referenced_table, "
                "referenced_column_names FROM duckdb_constraints() WHERE constraint_type = "
                f"'FOREIGN KEY' AND {_WHOSE_NAME_IS}",
                (table.sql,),
            )
        return [
            (tuple(columns), self.table(parent, "in a foreign key"), tuple(theirs))
            for columns, *parent, theirs in declared
        ]

    def load(self, used: Mapping[Table, Sequence[str]]) -> None:
        """Copy the columns that a query uses, unless the database is DuckDB's own."""
        if not self._own:
            return
        for table, columns in used.items():
            # A query that reads no column, as COUNT(*), still needs the rows.
            kept = ", ".join(map(quoted, columns)) or "1 AS placeholder"
            doing = f"reading the table {shown(table.name)}"
            with naming(doing):
                cursor = self._base.cursor()
                if self._sqlite is None:
                    view = quoted(f"given {table.name}")
                    self._base.execute(f"CREATE TABLE {table.sql} AS SELECT {kept} FROM {view}")
                else:
                    self._copy(cursor, table, list(columns))
        for name in self._given:
            with suppress(duckdb_module().Error):
                self._base.unregister(f"given {name}")
        self._given = {}

    # SQLite, read by Python's module.

    def _ask_sqlite(self, text: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with _naming_sqlite():
            found: list[tuple[Any, ...]] = self._sqlite.execute(text, given).fetchall()
        return found

    def _sqlite_tables(self) -> dict[str, str]:
        rows = self._ask_sqlite(
            "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        )
        return {str(name): str(kind) for name, kind in rows}

    def _sqlite_text(self, table: str) -> str:
        """Return the statement that made a table of SQLite."""
        [(text,)] = self._ask_sqlite("SELECT sql FROM sqlite_master WHERE name = ?", (table,))
        return str(text)

    def _sqlite_columns(self, table: str) -> dict[str, str]:
        """Return the columns of a table of SQLite with the types of DuckDB that hold their values.

        A column of SQLite can hold values of any types; one that has several cannot be used.
        """
        found = {}
        for _, name, type_, *_ in self._ask_sqlite(f"PRAGMA table_info({quoted(table)})"):
            # SQLite types values and not columns, so all of them are asked.
            rows = self._ask_sqlite(f"SELECT DISTINCT typeof({quoted(name)}) FROM {quoted(table)}")
            found[str(name)] = _type_of(str(type_), {row[0] for row in rows})
        return found

    def _copy(self, cursor: Any, table: Table, columns: list[str]) -> None:
        """Copy columns of a table of SQLite."""
        import pandas as pd

        types = [table.columns[name] for name in columns] or ["INTEGER"]
        for name, type_ in zip(columns, types, strict=False):
            if type_.startswith(_SEVERAL):
                raise InputError(
                    f"connection: the column {table.name}.{name} of SQLite holds {type_}, and one "
                    "column has one type here; convert them in SQLite"
                )
        names = columns or ["placeholder"]
        declared = ", ".join(f"{quoted(n)} {t}" for n, t in zip(names, types, strict=True))
        cursor.execute(f"CREATE TABLE {table.sql} ({declared})")
        kept = ", ".join(map(quoted, columns)) or "1"
        dtypes: dict[str, Any] = {"BIGINT": "Int64", "DOUBLE": "Float64", "INTEGER": "Int64"}
        with _naming_sqlite():
            reader = self._sqlite.cursor().execute(f"SELECT {kept} FROM {quoted(table.name)}")
            while rows := reader.fetchmany(_ROWS_AT_ONCE):
                # Masked arrays keep whole numbers beside NULL whole.
                frame = pd.DataFrame(
                    {
                        name: pd.array(list(values), dtype=dtypes.get(type_, object))
                        for name, type_, values in zip(
                            names, types, zip(*rows, strict=True), strict=True
                        )
                    }
                )
                cursor.register("given rows", frame)
                cursor.execute(f'INSERT INTO {table.sql} SELECT * FROM "given rows"')
                cursor.unregister("given rows")


def _check_macros(session: Session) -> None:
    """Raise InputError for macros with names of functions, which would run in their place."""
    found = session.rows(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE NOT internal AND "
        "function_type IN ('macro', 'table_macro') AND schema_name = current_schema() "
        "AND function_name IN (SELECT function_name FROM duckdb_functions() WHERE internal) "
        "ORDER BY 1"
    )
    if found:
        names = [name for (name,) in found]
        raise InputError(
            "connection: macros of it have the names of DuckDB's functions "
            f"{names_of(names, named)}, and would run in their place, whatever they read; drop "
            f"them, as in DROP MACRO {named(names[0])}, or copy the tables to another database"
        )


def _check_temporary(names: Iterable[str], temporary: Sequence[str]) -> None:
    """Raise InputError if a table's name is that of a temporary one, which other sessions lack."""
    for name in names:
        if found := alike(name, temporary):
            raise InputError(
                f"connection: {found} is a temporary table or view of the connection, also if "
                "register made it, which a query here does not see; copy it to a table of another "
                f"name, CREATE TABLE {found}_rows AS SELECT * FROM {found}, or drop it"
            )


def _check_collations(table: str, made: str, where: str) -> None:
    """Raise InputError if a table's columns compare texts in a way of their own."""
    found = _COLLATED.search(_NAMES_AND_TEXTS.sub("", made))
    if found:
        raise InputError(
            f"sql: {table} ({where}) has a column with {found[0]}, which changes which texts are "
            "equal; copy the table without it, such as with LOWER(column)"
        )


def in_memory(duckdb: Any, *, alone: bool = False) -> Any:
    """Return a new database in memory, which spills to the system's folder for such files.

    One that is `alone` has no access to files, and never spills.
    """
    folder = Path(tempfile.gettempdir()) / "sensitivity_lab_duckdb"
    place = {"enable_external_access": "false"} if alone else {"temp_directory": str(folder)}
    settings = {**place, "python_enable_replacements": "false"}
    return duckdb.connect(":memory:", config=settings)


def _named_tables(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Return tables by name; raise InputError for what is no table and no file of one."""
    if not given:
        raise InputError("connection: got a mapping without tables; give at least one")
    found: dict[str, Any] = {}
    for name, table in given.items():
        if not isinstance(name, str) or not name or "\0" in name:
            raise InputError(f"connection: the name of a table must be a text, got {shown(name)}")
        if alike(name, found):
            raise InputError(
                f"connection: the names of tables are the same in capitals, got {shown(name)} twice"
            )
        if isinstance(table, str | Path):
            end = Path(table).suffix.lower()
            if end not in _FILES:
                raise InputError(
                    f"connection[{shown(name)}] must be a table, or the path of a file that ends "
                    f"in {' or '.join(_FILES)}, got {shown(str(table))}"
                )
            if not Path(table).is_file():
                raise InputError(f"connection[{shown(name)}]: there is no file {shown(str(table))}")
        elif not (hasattr(table, "columns") or hasattr(table, "schema")):
            kind = type(table).__name__ if is_hashable(type(table)) else "object"
            raise InputError(
                f"connection[{shown(name)}] must be a DataFrame, an Arrow table, or the path of a "
                f"Parquet or CSV file, got an object of the type {kind}"
            )
        found[name] = table
    return found


def _view(name: str, where: str) -> InputError:
    return InputError(
        f"sql: {name} ({where}) is a view, which can hold any statement; write its query into "
        f"WITH, or copy it to a table: CREATE TABLE {name}_rows AS SELECT * FROM {name}"
    )


def _no_table(name: str, known: Sequence[str], where: str, *, several: bool = False) -> InputError:
    if several:
        return InputError(
            f"sql: {name} ({where}) is in several schemas; write the schema before it"
        )
    return InputError(
        f"sql: there is no table {shown(name)} ({where}); the tables are {names_of(known)}"
        f"{did_you_mean(name, known)}"
    )


def _type_of(declared: str, kinds: set[str]) -> str:
    """Return the type of DuckDB for a column of SQLite, by those of its values, or these types."""
    kinds = kinds - {"null"}
    if kinds <= {"integer"}:
        # Without values the declared type decides.
        whole = bool(kinds) or "INT" in declared.upper()
        text = any(one in declared.upper() for one in ("CHAR", "TEXT", "CLOB"))
        return "BIGINT" if whole else "VARCHAR" if text else "DOUBLE"
    if kinds == {"real"}:
        return "DOUBLE"
    if kinds == {"text"}:
        return "VARCHAR"
    if kinds == {"blob"}:
        return "BLOB"
    return f"{_SEVERAL} ({names_of(sorted(kinds))})"


@contextmanager
def _naming_sqlite() -> Iterator[None]:
    """Turn the errors of SQLite into InputErrors, without the text that one cannot be decoded."""
    with _renaming(
        sqlite3.Error,
        lambda error: InputError(
            f"connection: SQLite refuses to read: {text_of(error).partition(' with text ')[0]}"
        ),
    ):
        yield
