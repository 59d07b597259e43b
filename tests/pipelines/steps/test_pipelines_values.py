"""What functions of rows see of a value does not depend on other rows."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import oracle_pipelines as oracle
import pandas as pd
import pytest
from doses import dose, for_long
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sensitivity_lab import pipelines as pl
from sensitivity_lab.metrics.cells import encode

ROWS = pl.SymmetricDistance()
TABLES = pl.Start(pl.Table(), ROWS)
VALUES = pl.Start(pl.Values(), ROWS)

CELLS = [0, 0.0, -0.0, 1, 1.0, True, 2, 2.0, 0.5, 2**53 + 1, float(2**60), 1e300, math.inf, None]
OTHERS = ["a", "1", "1.0", Fraction(1, 3), Decimal("0.1"), Decimal(2), 10**30]
UNIVERSES = st.one_of(
    st.lists(st.sampled_from(CELLS), min_size=1, max_size=5),
    st.lists(st.sampled_from([*CELLS, *OTHERS]), min_size=1, max_size=5),
)
LEAKY = {
    "str": str,
    "repr": repr,
    "type": lambda value: type(value).__name__,
    "isinstance": lambda value: f"{isinstance(value, int)}{isinstance(value, float)}",
    "sign": lambda value: "-" if str(value).startswith("-") else "+",
    "half": lambda value: str(value / 2) if isinstance(value, int | float) else "",
}


def frame_of(cells) -> pd.DataFrame:
    """A table as a caller makes it, with the types that pandas finds for these rows."""
    return pd.DataFrame({"c": list(cells)})


def texts_of(table: pd.DataFrame) -> list[str]:
    return table["c"].tolist()


def map_of(function) -> pl.Step:
    return pl.map_(lambda row: {"c": function(row["c"])}, columns=["c"])


def flat_map_of(function) -> pl.Step:
    def rows(row):
        return [{"c": text} for text in twice_if_short(function(row["c"]))]

    return pl.flat_map(rows, 2, columns=["c"])


def twice_if_short(text: str) -> list[str]:
    return [text] * (1 + (len(text) == 1))


def has_point(text: str) -> bool:
    return "." in text or "float" in text or text.startswith("F")


def held(cells) -> list:
    """The cells as a table holds them: beside a float, pandas rounds what is above 2**53."""
    return frame_of(cells)["c"].tolist()


@pytest.mark.parametrize("leak", LEAKY)
@given(cells=UNIVERSES)
@example(cells=[1, 2, 0.5])
@example(cells=[1, 2, None])
@example(cells=[True, 2, None])
def test_functions_of_rows_see_what_the_cell_alone_says(leak, cells):
    function, table, known = LEAKY[leak], frame_of(cells), held(cells)
    mapped = oracle.images(lambda value: [function(value)], known)
    assert texts_of((TABLES >> map_of(function))(table)) == mapped
    flat = oracle.images(lambda value: twice_if_short(function(value)), known)
    assert texts_of((TABLES >> flat_map_of(function))(table)) == flat
    kept = (TABLES >> pl.filter_(lambda row: has_point(function(row["c"]))))(table)
    assert oracle.images(lambda value: [function(value)], texts_of(kept)) == [
        text for text in mapped if has_point(text)
    ]
    listed = (VALUES >> pl.map_(function))(cells)
    assert listed == oracle.images(lambda value: [function(value)], cells)


EXACT = [cell for cell in CELLS if cell not in (2**53 + 1, math.inf)]
CASES = [
    (step, leak, metric)
    for step in ("map_", "filter_", "flat_map")
    for leak in ("str", "type", "sign")
    for metric in (ROWS, pl.ChangeOneDistance())
]


def step_of(step: str, function) -> pl.Step:
    if step == "filter_":
        return pl.filter_(lambda row: has_point(function(row["c"])))
    return map_of(function) if step == "map_" else flat_map_of(function)


def check_tables_made_apart(cells, d_in, step, leak, metric) -> None:
    """Measured is what tables made of each input's rows alone give, and not above the map."""
    t = pl.Start(pl.Table(), metric) >> step_of(step, LEAKY[leak])
    change = oracle.symmetric_difference if metric == ROWS else oracle.change_one
    expected, _, _ = oracle.measure(
        [cells],
        [change],
        [d_in],
        lambda drawn: [none_if_missing(text) for text in texts_of(t(frame_of(drawn)))],
        change if step == "map_" else oracle.symmetric_difference,
    )
    result = pl.measured_stability(t, frame_of(cells), d_in)
    assert result.measured == expected <= result.bound == t.map(d_in)


def none_if_missing(value):
    return value if value == value else None


@pytest.mark.representative("step", "leak", quick=("leak",))
@pytest.mark.parametrize(("step", "leak", "metric"), CASES)
@given(
    cells=st.lists(st.sampled_from([*EXACT, "a"]), min_size=2, max_size=4), d_in=st.integers(1, 2)
)
@example(cells=[1, 2, 0.5], d_in=1)
@example(cells=[1, 2, None], d_in=1)
@example(cells=[0.0, -0.0, None], d_in=1)
def test_no_map_is_exceeded_by_tables_made_apart(step, leak, metric, cells, d_in):
    assume(len({encode(cell) for cell in cells}) > 1)
    check_tables_made_apart(cells, d_in, step, leak, metric)


test_no_map_is_exceeded_by_many_tables_made_apart = for_long(
    test_no_map_is_exceeded_by_tables_made_apart,
    dose(100),
    cells=st.lists(st.sampled_from([*EXACT, "a", "1"]), min_size=2, max_size=5),
    d_in=st.integers(1, 3),
)


ID_STEPS = {
    "map_": pl.map_(lambda row: {**row, "c": str(row["c"])}, {"id": object, "c": "str"}),
    "filter_": pl.filter_(lambda row: "." in f"{row['id']} {row['c']}"),
    "flat_map": pl.flat_map(lambda row: [row] * (1 + isinstance(row["id"], float)), 2),
    "max_rows_per_id": pl.max_rows_per_id(1),
    "max_groups_per_id": pl.max_groups_per_id(1, "c"),
}


@pytest.mark.parametrize("step", ID_STEPS)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from([1, 2.0, 0.5, True, "1", None]), st.sampled_from([1, 1.5, None])),
        min_size=1,
        max_size=4,
    )
)
def test_no_map_is_exceeded_by_tables_with_ids_made_apart(step, rows):
    """An id is one id, whatever the type of its column is beside other ids."""
    t = pl.start(pl.AddRowsWithID("id")) >> ID_STEPS[step]

    def evaluate(drawn):
        made = t(pd.DataFrame(drawn, columns=["id", "c"]))
        cells = made.itertuples(index=False, name=None)
        return [tuple(map(none_if_missing, row)) for row in cells]

    out = oracle.symmetric_difference if step == "max_rows_per_id" else oracle.ids(0)
    expected, _, _ = oracle.measure([rows], [oracle.ids(0)], [1], evaluate, out)
    result = pl.measured_stability(t, pd.DataFrame(rows, columns=["id", "c"]), 1)
    assert result.measured == expected <= result.bound == t.map(1)


def test_tables_are_drawn_apart():
    """A leak in a caller's own transformation is seen: five rows move where one was added."""
    t = pl.Transformation(
        "texts",
        lambda table: [str(value) for value in table["c"].tolist()],
        pl.Table(),
        ROWS,
        pl.Values(),
        ROWS,
        lambda d_in: d_in,
    )
    result = pl.measured_stability(t, pd.DataFrame({"c": [1, 2, 0.5]}), 1)
    assert (result.measured, result.verdict) == (5, "exceeds the map")
    assert {tuple(result.witness.output_x), tuple(result.witness.output_y)} == {
        ("1", "2"),
        ("1.0", "2.0", "0.5"),
    }
    missing = pl.measured_stability(t, pd.DataFrame({"c": [1, 2, None]}), 1)
    assert (missing.measured, missing.verdict) == (5, "exceeds the map")


def test_a_drawn_table_has_the_types_of_its_own_values():
    table = pd.DataFrame(
        {
            "f": [1, 2, 0.5],
            "o": pd.Series([True, 3, "a"], dtype=object),
            "k": pd.Categorical(["x", "y", "x"]),
            "b": [True, False, True],
            "i": pd.Series([1, 2, None], dtype="Int64"),
        }
    )
    seen = {}

    def types(data):
        seen[tuple(data["f"])] = {name: str(dtype) for name, dtype in data.dtypes.items()}
        return len(data)

    t = pl.Transformation(
        "types", types, pl.Table(), ROWS, pl.Scalar(), pl.AbsoluteDistance(), lambda d_in: d_in
    )
    pl.measured_stability(t, table, 1)
    chosen = {"k": "category", "b": "bool", "i": "Int64"}
    assert seen[(1,)] == {"f": "int64", "o": "bool", **chosen}
    assert seen[(1, 2)] == {"f": "int64", "o": "object", **chosen}
    assert seen[(1, 0.5)] == {"f": "float64", "o": "object", **chosen}
