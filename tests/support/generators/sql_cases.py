"""Random databases of 1 to 4 small tables, and random queries over their joins.

Every table has the columns of `COLUMNS`: an id, a person, two columns to join by, a group and a
value. Values are few, so that rows join, repeat and tie; a third of the cells to join by can be
NULL. Some tables have a key, some have equal rows, some are empty. A case says in words that share
nothing with the package what its query consists of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from oracle_sql import Asked, Row, Table

COLUMNS = {
    "id": "INTEGER",
    "person": "INTEGER",
    "x": "INTEGER",
    "y": "INTEGER",
    "area": "TEXT",
    "value": "INTEGER",
}
AREAS = ("north", "south", "o'east")
LEAST, MOST = -2, 3
"""The bounds of `value`."""


@dataclass(frozen=True)
class SqlCase:
    """A database, a query, and what the query consists of."""

    database: dict[str, Table]
    text: str
    aliases: dict[str, str]  # the table of each alias
    aggregates: tuple[str, ...]  # "COUNT(*)", "COUNT", "SUM" or "DISTINCT"
    groups: int
    persons: dict[str, str]
    bounds: dict[str, tuple[int, int]] = field(default_factory=dict)
    left: bool = False
    null_person: str = "refuse"

    @property
    def asked(self) -> Asked:
        """The query as the oracle takes it: what is added up is clipped to its bounds."""
        clipped = rf"SUM(MAX(MIN(\1, {MOST}), {LEAST}))"
        return Asked(re.sub(r"SUM\((\w+\.value)\)", clipped, self.text), self.groups, self.persons)

    @property
    def joins_itself(self) -> bool:
        """Whether a table stands under two aliases."""
        return len(set(self.aliases.values())) < len(self.aliases)

    def candidates(self, table: str) -> dict[str, list[Any]]:
        """Return the values that a new row of a table can take in each column.

        Those are all values that occur or are compared, and values below, between and above them. A
        column that the query does not read of this table has one value.
        """
        place = list(COLUMNS).index
        occurring = {
            row[place(name)]
            for one in self.database.values()
            for row in one.rows
            for name in ("id", "person", "x", "y")
        }
        numbers: list[Any] = [None, *sorted({-3, -1, 9, *range(4), *(occurring - {None})})]
        found = {
            "id": numbers,
            "person": numbers,
            "x": numbers,
            "y": numbers,
            "area": [None, *AREAS, "elsewhere"],
            "value": [None, *range(LEAST - 1, MOST + 3), 9],
        }
        text = self.text.replace(f"SELECT {', '.join(COLUMNS)} FROM", "")
        read = re.findall(r"\b(\w+)\.(\w+)\b", text)
        shared = re.findall(r"\w+", " ".join(re.findall(r"USING \(([^)]*)\)", text)))
        for name in list(found):
            here = {table, *(alias for alias, of in self.aliases.items() if of == table)}
            if name not in shared and not any((alias, name) in read for alias in here):
                found[name] = [77] if name != "area" else ["north"]
        if table in self.persons and self.null_person == "refuse":
            found["person"] = [one for one in found["person"] if one is not None]
        return found


def drawn_table(random: Random, most_rows: int, *, nulls: bool, nobody: bool) -> Table:
    """Draw a table of at most so many rows; rows can be nobody's."""
    key = random.choice([None, None, "id"])
    size = random.choice([0, *range(1, most_rows + 1), *(3 * [*range(3, most_rows + 1)])])
    empty = 0.1 if nulls else 0.0

    def cell(choices: Sequence[Any]) -> Any:
        return None if random.random() < empty else random.choice(choices)

    rows: list[Row] = []
    for place in range(size):
        row = (
            place if key else random.choice((0, 1, 1, 1)),
            random.choice((None, 1, 1, 2, 3) if nobody else (1, 1, 1, 2, 3)),
            cell((0, 1, 1, 1, 1, 2)),
            cell((0, 1, 1, 1, 1, 2)),
            cell(AREAS),
            cell(range(LEAST, MOST + 1)),
        )
        rows.append(row)
        if not key and random.random() < 0.2 and len(rows) < size:
            rows.append(row)  # the same row twice
    return Table(COLUMNS, tuple(rows[:size]), key)


def drawn_predicate(random: Random, aliases: Sequence[str]) -> str:
    """Draw a condition on one or two aliases."""
    one, other = random.choice(aliases), random.choice(aliases)
    if len(aliases) > 1 and one == other:
        other = next(alias for alias in aliases if alias != one)
    return random.choice(
        [
            f"{one}.value > {random.randrange(-1, 3)}",
            f"{one}.value BETWEEN {random.randrange(-2, 1)} AND {random.randrange(0, 4)}",
            f"{one}.x <> {other}.y",
            f"{one}.x <= {other}.x",
            f"{one}.y IS NOT NULL",
            f"{one}.area IS NULL",
            f"{one}.area IN ('north', 'o''east')",
            f"{one}.area <> {other}.area",
            f"{one}.x + {other}.y >= 2",
            f"({one}.value = 1 OR {other}.x = 2)",
            f"NOT ({one}.y = 1 AND {other}.value < 2)",
            f"COALESCE({one}.x, 1) = 1",
        ]
    )


def drawn_source(random: Random, table: str, alias: str, ctes: list[str]) -> str:
    """Draw how a table stands in FROM: by its name, in a subquery, or in WITH."""
    condition = drawn_predicate(random, [table])
    columns = ", ".join(COLUMNS)
    kind = random.random()
    if kind < 0.8:
        return table if table == alias else f"{table} AS {alias}"
    if kind < 0.9:
        return f"(SELECT {columns} FROM {table} WHERE {condition}) AS {alias}"
    name = f"chosen_{alias}"
    ctes.append(f"{name} AS (SELECT {columns} FROM {table} WHERE {condition})")
    return f"{name} AS {alias}"


def drawn_case(
    seed: int,
    *,
    most_tables: int = 4,
    most_rows: int = 8,
    self_joins: bool = True,
    left_joins: bool = True,
    counts_only: bool = False,
    grouped: bool = True,
    nulls: bool = True,
) -> SqlCase:
    """Draw a database and a query."""
    random = Random(seed)
    names = ["t", "u", "v", "w"][: random.randint(1, most_tables)]
    sizes = {1: most_rows, 2: most_rows, 3: most_rows, 4: 6}
    most = min(most_rows, sizes[len(names)])
    nobody = nulls and random.random() < 0.15
    database = {name: drawn_table(random, most, nulls=nulls, nobody=nobody) for name in names}

    uses = list(names)
    if self_joins and len(uses) < 4 and random.random() < 0.3:
        uses.append(random.choice(names))
    aliases = {}
    for place, name in enumerate(uses):
        alone = uses.count(name) == 1 and random.random() < 0.7
        aliases[name if alone else f"{name}{place + 1}"] = name

    left = left_joins and random.random() < 0.08
    source, wheres, ctes = drawn_join(random, aliases, left=left)
    order = list(aliases)
    persons = {name: "person" for name in names if random.random() < 0.6}
    if not persons:
        persons = {random.choice(names): "person"}
    groups = random.choice([0, 0, 1, 2]) if grouped else 0
    keys = random.sample([f"{alias}.{c}" for alias in order for c in ("area", "value")], groups)
    aggregates, bounds = drawn_aggregates(random, aliases, counts_only=counts_only)
    written = [f"{one} AS a{i}" for i, (_, one) in enumerate(aggregates)]
    text = f"SELECT {', '.join([*keys, *written])} FROM {source}"
    if wheres:
        text += f" WHERE {' AND '.join(wheres)}"
    if keys:
        text += f" GROUP BY {', '.join(keys)}"
    if ctes:
        text = f"WITH {', '.join(ctes)} {text}"
    kinds = tuple(kind for kind, _ in aggregates)
    return SqlCase(
        database,
        text,
        aliases,
        kinds,
        groups,
        persons,
        bounds,
        left=" LEFT JOIN " in source,
        null_person="public" if nobody else "refuse",
    )


def drawn_join(
    random: Random, aliases: dict[str, str], *, left: bool
) -> tuple[str, list[str], list[str]]:
    """Draw the FROM of a query, its conditions in WHERE, and its tables in WITH.

    The aliases are joined one after the other, each by one or two equalities with an earlier one
    (or, rarely, by none), in ON, with USING, or in WHERE. With `left`, those in ON are left joins.
    """
    ctes: list[str] = []
    order = list(aliases)
    wheres: list[str] = []
    source = drawn_source(random, aliases[order[0]], order[0], ctes)
    for place, alias in enumerate(order[1:], 1):
        right = drawn_source(random, aliases[alias], alias, ctes)
        before = random.choice(order[:place])
        pairs = random.sample(["x", "y", "person", "id"], random.choice([1, 1, 1, 1, 2]))
        equal = [
            f"{before}.{column} = {alias}.{random.choice([column, column, 'x', 'y'])}"
            for column in pairs
        ]
        kind = random.random()
        if kind < 0.1:
            source += f" CROSS JOIN {right}"
        elif kind < 0.25 and place == 1:
            source += f" JOIN {right} USING ({', '.join(pairs)})"
        elif kind < 0.45:
            source += f", {right}"
            wheres += equal
        else:
            more = [drawn_predicate(random, [before, alias])] if random.random() < 0.2 else []
            source += (
                f" {'LEFT' if left else 'INNER'} JOIN {right} ON {' AND '.join([*equal, *more])}"
            )
    wheres += [drawn_predicate(random, order) for _ in range(random.choice([0, 0, 0, 0, 1, 2]))]
    return source, wheres, ctes


def drawn_aggregates(
    random: Random, aliases: dict[str, str], *, counts_only: bool
) -> tuple[list[tuple[str, str]], dict[str, tuple[int, int]]]:
    """Draw one or two aggregates, with the bounds that they need."""
    order = list(aliases)
    found: list[tuple[str, str]] = []
    bounds: dict[str, tuple[int, int]] = {}
    for _ in range(1 if counts_only else random.choice([1, 1, 2])):
        alias = random.choice(order)
        kind = (
            "COUNT(*)" if counts_only else random.choice(["COUNT(*)", "COUNT", "SUM", "DISTINCT"])
        )
        text = {
            "COUNT(*)": "COUNT(*)",
            "COUNT": f"COUNT({alias}.{random.choice(['x', 'value'])})",
            "SUM": f"SUM({alias}.value)",
            "DISTINCT": f"COUNT(DISTINCT {alias}.{random.choice(['person', 'person', 'area'])})",
        }[kind]
        if kind == "SUM":
            bounds[f"{aliases[alias]}.value"] = (LEAST, MOST)
        found.append((kind, text))
    return found, bounds
