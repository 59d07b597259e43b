"""Random chains on groups and ids, judged by the definition of stability in plain Python.

Nothing here uses `measured_stability`, a metric or a domain of the library. A table is a sorted
tuple of rows (id, group, value), a limit keeps the first rows in that order, and distances are
counted by hand. Three things are compared: the map with the largest distance of outputs by these
definitions; what each step makes of a table with its definition; and the distance of the library's
own outputs with the map.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations_with_replacement

import pandas as pd
import pytest

from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import InputError

pytestmark = pytest.mark.exhaustive

COLUMNS = ("id", "g", "v")
NORMS = {1: pl.L1Distance(), 2: pl.L2Distance()}
KINDS = [("a", -3), ("a", 2), ("b", -3), ("b", 2)]
OF_AN_ID = [rows for n in range(4) for rows in combinations_with_replacement(KINDS, n)]


def owned(owner, rows):
    return tuple((owner, *row) for row in rows)


def ordered(rows):
    return tuple(sorted(rows))


def by(rows, *places):
    parts = {}
    for row in sorted(rows):
        parts.setdefault(tuple(row[place] for place in places), []).append(row)
    return parts


# Limits per id: what is kept, and whether a choice of rows is one that the limit allows.


def first_rows(most, *places):
    return lambda rows: ordered(row for part in by(rows, *places).values() for row in part[:most])


def first_groups(most, place):
    def keep(rows):
        groups = {owner: sorted({row[place] for row in of}) for (owner,), of in by(rows, 0).items()}
        return ordered(row for row in rows if row[place] in groups[row[0]][:most])

    return keep


def is_choice_of_rows(most, *places):
    def allowed(before, after):
        parts, kept = by(before, *places), by(after, *places)
        numbers = {key: min(most, len(part)) for key, part in parts.items()}
        return Counter(after) <= Counter(before) and numbers == {k: len(r) for k, r in kept.items()}

    return allowed


def is_choice_of_groups(most, place):
    def allowed(before, after):
        parts, kept = by(before, 0, place), by(after, 0, place)
        groups, left = (Counter(owner for owner, _ in some) for some in (parts, kept))
        whole = all(parts.get(key) == rows for key, rows in kept.items())
        return whole and left == {owner: min(most, n) for owner, n in groups.items()}

    return allowed


# Distances, squared so that the L2 norm needs no root.


def rows_apart(x, y):
    return sum(((Counter(x) - Counter(y)) + (Counter(y) - Counter(x))).values())


def ids_apart(x, y):
    x, y = by(x, 0), by(y, 0)
    return sum(
        1 if owner not in x or owner not in y else 2
        for owner in x.keys() | y.keys()
        if x.get(owner) != y.get(owner)
    )


def square(norm, changes):
    return sum(map(abs, changes)) ** 2 if norm == 1 else sum(change**2 for change in changes)


@dataclass
class Chain:
    """A chain, the functions that define it, and the kind of its output."""

    built: pl.Transformation | pl.Start
    kind: str
    norm: int = 1
    bounds: tuple | None = None
    columns: tuple = COLUMNS
    names: list = field(default_factory=list)
    steps: list = field(default_factory=list)  # (definition, allowed or None, kind of the output)

    def then(self, name, step, definition, allowed=None, **after):
        """Add a step; leave the chain as it is if the library refuses the step."""
        try:
            self.built = self.built >> step
        except InputError:
            return False
        for attribute, value in after.items():
            setattr(self, attribute, value)
        self.names.append(name)
        self.steps.append((definition, allowed, self.kind, self.columns))
        return True

    def defined(self, data):
        for definition, *_ in self.steps:
            data = definition(data)
        return data

    def moved(self, x, y):
        """The squared distance of two outputs; of two parts, of each."""
        if self.kind == "ids":
            return [ids_apart(x, y) ** 2]
        if self.kind in ("rows", "values"):
            return [rows_apart(x, y) ** 2]
        if self.kind in ("groups", "values of groups"):
            return [square(self.norm, [rows_apart(x[key], y[key]) for key in x])]
        if self.kind == "number":
            return [(x - y) ** 2]
        return [square(self.norm, [p - q for p, q in zip(x, y, strict=True)])]

    def allowed(self, d_in):
        """The squared value of the map."""
        bound = self.built.map(d_in)
        bounds = bound if isinstance(bound, tuple) else (bound,)
        return [each.square if isinstance(each, pl.Root) else each**2 for each in bounds]

    def plain(self, out, kind, columns):
        """An output of the library as plain Python."""
        if kind in ("ids", "rows"):
            return ordered(out[list(columns)].itertuples(index=False, name=None))
        if kind == "values":
            return ordered((value,) for value in out)
        if kind.endswith("groups"):
            inner = "rows" if kind == "groups" else "values"
            return {key: self.plain(part, inner, columns) for key, part in out.items()}
        return out


def each_group(kind, definition):
    if kind in ("groups", "values of groups"):
        return lambda groups: {key: definition(rows) for key, rows in groups.items()}
    return definition


def limit(chain, rng):
    most, place = rng.randint(1, 2), rng.randint(1, len(chain.columns) - 1)
    column, kind = chain.columns[place], rng.choice(["rows", "groups", "rows of groups", "last"])
    if kind == "groups":
        step, keep, allowed = pl.max_groups_per_id(most, column), first_groups, is_choice_of_groups
        return chain.then(step.name, step, keep(most, place), allowed(most, place))
    if kind == "rows of groups":
        places, step = (0, place), pl.max_rows_per_group_per_id(most, column)
    else:
        most += 1
        places, step = (0,), pl.max_rows_per_id(most, keep_ids=kind == "rows")
    after = "rows" if kind == "last" else "ids"
    definition, allowed = first_rows(most, *places), is_choice_of_rows(most, *places)
    return chain.then(step.name, step, definition, allowed, kind=after)


def on_rows(chain, rng):
    """A filter, a map of rows or a flat map, of a table or of each group."""
    name, step, images = rng.choice([
        ("v > 0", pl.filter_(lambda row: row["v"] > 0), lambda g, v: [(g, v)] * (v > 0)),
        ("v = -v", pl.map_(lambda row: {**row, "v": -row["v"]}), lambda g, v: [(g, -v)]),
        (
            "g by v",
            pl.map_(lambda row: {**row, "g": "a" if row["v"] > 0 else "b"}),
            lambda _, v: [("a" if v > 0 else "b", v)],
        ),
        ("twice", pl.flat_map(lambda row: [row, row], 2), lambda g, v: [(g, v)] * 2),
        (
            "in both groups",
            pl.flat_map(lambda row: [{**row, "g": g} for g in "abc"], 2, keep_first=True),
            lambda _, v: [("a", v), ("b", v)],
        ),
    ])  # fmt: skip

    def definition(rows):
        return ordered((i, *new, *rest) for i, g, v, *rest in rows for new in images(g, v))

    return chain.then(name, step, each_group(chain.kind, definition))


def join(chain, _):
    """A public join: rows of group a become two, with a new column that can be grouped."""
    if len(chain.columns) > 3:
        return False
    public = [("a", 7), ("a", 8), ("b", 7)]
    step = pl.join_public(pd.DataFrame(public, columns=["g", "w"]), on="g")
    return chain.then(
        "join",
        step,
        lambda rows: ordered((*row, w) for row in rows for g, w in public if row[1] == g),
        columns=(*chain.columns, "w"),
    )


def group(chain, rng):
    place = rng.randint(1, len(chain.columns) - 1)
    keys = {"g": ["a", "b", "z"], "v": [2, -3], "w": [7, 8]}[chain.columns[place]]
    norm = rng.choice([1, 2])
    step = pl.group_by(chain.columns[place], keys, NORMS[norm])
    return chain.then(
        f"{step.name} in L{norm}",
        step,
        lambda rows: {key: tuple(row for row in rows if row[place] == key) for key in keys},
        kind="groups",
        norm=norm,
    )


def select(chain, _):
    kind = "values of groups" if chain.kind == "groups" else "values"
    definition = each_group(chain.kind, lambda rows: ordered((row[2],) for row in rows))
    return chain.then("select", pl.select("v"), definition, kind=kind)


def clamp(chain, rng):
    low, high = bounds = rng.choice([(-2, 1), (-3, 2), (1, 4)])
    definition = each_group(
        chain.kind, lambda values: ordered((max(low, min(high, value)),) for (value,) in values)
    )
    return chain.then(f"clamp{bounds}", pl.clamp(low, high), definition, bounds=bounds)


def count(chain, _):
    if chain.kind in ("groups", "values of groups"):
        return chain.then("count", pl.count(), lambda x: [*map(len, x.values())], kind="vector")
    return chain.then("count", pl.count(), len, kind="number")


def add_up(chain, _):
    if not chain.bounds or chain.kind != "values of groups":
        return False

    def sums(groups):
        return [sum(value for (value,) in values) for values in groups.values()]

    return chain.then("sum", pl.sum_(*chain.bounds), sums, kind="vector")


NEXT = {
    "ids": [limit, limit, limit, on_rows, on_rows, join, group, group, select, count],
    "rows": [on_rows, join, group, group, select, count],
    "groups": [on_rows, select, select, count],
    "values": [clamp, count],
    "values of groups": [clamp, add_up, add_up, count],
}


def random_chain(rng):
    chain = Chain(pl.start(pl.AddRowsWithID("id")), "ids")
    for _ in range(rng.randint(3, 12)):
        if chain.kind in NEXT:
            rng.choice(NEXT[chain.kind])(chain, rng)
    return chain


def table_of(rows, rng):
    return pd.DataFrame(rng.sample(rows, len(rows)), columns=COLUMNS)


def check_steps(chain, rows, rng):
    """Compare each step of the library with its definition; return the last output."""
    out, before = table_of(rows, rng), ordered(rows)
    for step, (definition, allowed, *kind) in zip(chain.built.each_step, chain.steps, strict=True):
        out = step(out)
        after = chain.plain(out, *kind)
        assert allowed(before, after) if allowed else after == definition(before), (
            chain.names, step, before, after,
        )  # fmt: skip
        before = after
    return before


@pytest.mark.parametrize("seed", range(6))
def test_maps_and_steps_of_random_chains_agree_with_their_definitions(seed):
    rng = random.Random(seed)
    for chain in (random_chain(rng) for _ in range(25)):
        if not chain.steps:
            continue
        outputs = [chain.defined(ordered(owned(1, rows))) for rows in OF_AN_ID]
        at = {d_in: chain.allowed(d_in) for d_in in (0, 1, 2)}
        assert not any(at[0])
        pairs = [(1, outputs[0], output) for output in outputs]
        pairs += [(2, *rng.sample(outputs, 2)) for _ in range(100)]
        for _ in range(30):
            place, others = rng.randrange(len(OF_AN_ID)), rng.choice(OF_AN_ID)
            two = chain.defined(ordered(owned(1, OF_AN_ID[place]) + owned(2, others)))
            pairs += [(2, outputs[0], two), (1, outputs[place], two)]
        rows, others = owned(1, rng.choice(OF_AN_ID)), owned(2, rng.choice(OF_AN_ID))
        theirs = [check_steps(chain, some, rng) for some in (rows, rows + others)]
        for d_in, x, y in [*pairs, (1, *theirs)]:
            moves = chain.moved(x, y)
            assert all(m <= most for m, most in zip(moves, at[d_in], strict=True)), (
                chain.names, d_in, x, y,
            )  # fmt: skip
