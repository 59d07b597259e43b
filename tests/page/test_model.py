"""The views of a state: numbers, pictures' data, messages, and code that gives the same numbers."""

from __future__ import annotations

import warnings
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest

import sensitivity_lab as sl
from sensitivity_lab.checks import rounded_up
from sensitivity_lab.cli.explore import read_source
from sensitivity_lab.explorer import shown
from sensitivity_lab.explorer.model import View, views
from sensitivity_lab.explorer.pair import Pair
from sensitivity_lab.explorer.source import Source, as_source
from sensitivity_lab.explorer.state import QUERIES, RELATIONS, State

ABSENCES = [1, 2, 3, 4, 5, 6, 7, 8, 15, 20]
SOURCE = as_source(sl.Universe.from_dataset(ABSENCES))
STATE = State("records", "mean", size=6, k=2)


def last(source: Source, state: State) -> View:
    *_, view = views(source, state)
    assert view.done
    return view


@pytest.mark.parametrize("size", [3, 6])
def test_the_largest_distance_is_that_of_the_farthest_neighbor(size):
    """Of adding and removing the longer way counts; the mean needs a record."""
    farthest = {
        "bounded: replace records": min(size, 10 - size),
        "unbounded: add or remove": max(10 - size, size - 1),
        "unbounded: add only": 10 - size,
        "unbounded: remove only": size - 1,
        "symmetric difference: add and remove": 10,
        "edit: replace, add or remove": max(size, 10 - size),
    }
    states = {name: replace(STATE, relation=name, size=size) for name in RELATIONS}
    assert {name: last(SOURCE, one).largest_k for name, one in states.items()} == farthest


def test_all_of_a_view():
    """Two of six records replaced move the mean from (1+2+3+4+15+20)/6 to (1+...+6)/6."""
    view = last(SOURCE, STATE)
    assert (view.largest_size, view.largest_k) == (9, 4)
    assert (view.text, view.method, view.messages) == ("5.33334", "monotone", ())
    assert view.value == pytest.approx(32 / 6)
    assert view.curve[1] == (2, view.value)
    assert [k for k, _ in view.curve] == [1, 2, 3, 4]
    assert [block[0] for block in view.blocks] == ["B", "C", "O", "A"]
    assert view.pair == Pair(
        x=("3", "4", "5", "6", "15", "20"),
        y=("1", "2", "3", "4", "5", "6"),
        only_x=("15", "20"),
        only_y=("1", "2"),
        size_x=6,
        size_y=6,
        shared=4,
        answer_x=53 / 6,
        answer_y=21 / 6,
    )
    assert view.scale == pytest.approx(32 / 6)
    assert view.local is None
    assert view.dataset


def test_each_view_has_more_than_the_one_before():
    known = [
        [bool(view.code), *map(bool, (view.text, view.pair, view.curve, view.local, view.reach))]
        for view in views(SOURCE, replace(STATE, dataset="2, 3, 4, 5, 6, 7"))
    ]
    assert known[0] == [True, *[False] * 5]
    assert known[-1] == [True] * 6
    assert known == sorted(known)


def run(code: str, **given: Any) -> dict[str, Any]:
    """What the code of a view computes, with what a caller of explore has."""
    names = dict(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.errors.DatasetUniverseWarning)
        warnings.simplefilter("ignore", sl.errors.PrivateSizeWarning)
        exec(code, names)
    return names


STATES = [
    STATE,
    replace(STATE, query="median", relation="unbounded: add or remove", k=1),
    replace(STATE, query="std", relation="unbounded: add only", epsilon=0.1),
    replace(STATE, query="percentile_25", relation="unbounded: remove only"),
    replace(STATE, query="sum", relation="symmetric difference: add and remove", domain="0:10:0.5"),
    replace(STATE, query="max", domain="1, 2.5, 7", dataset="1, 2.5, 2.5"),
    replace(STATE, query="iqr", k=1, dataset="7, 3, 8, 15, 1, 2"),
]


@pytest.mark.parametrize("state", STATES, ids=lambda state: f"{state.query}, {state.relation}")
def test_the_code_gives_the_same_numbers(capsys, state):
    view = last(SOURCE, state)
    assert view.messages == ()
    names = run(view.code)
    assert names["result"].value == view.value
    assert names["scale"] == view.scale
    assert names["curves"].to_frame()["sensitivity"].tolist() == [value for _, value in view.curve]
    assert (view.local is None) == (state.dataset == "")
    if view.local:
        assert names["local"].value == view.local.value
        assert f"{names['beta']:.3g}" == f"{view.local.beta:.3g}"
        assert names["cauchy"] == view.local.scale
        ends = names["reach"].to_frame()
        assert tuple(ends["lower"]) == view.reach.lower
        assert tuple(ends["upper"]) == view.reach.upper
    assert capsys.readouterr().out


@pytest.mark.representative("query")
@pytest.mark.exhaustive
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("query", QUERIES)
def test_every_choice_has_a_view_and_its_code(capsys, query, relation):
    spare = as_source(sl.Universe.from_dataset([1, 2, 5, 8, 8, 8, 8, 20]))
    view = last(spare, State("records", query, relation, size=3, k=1, dataset="8, 1, 2"))
    one_way = relation in ("unbounded: add only", "unbounded: remove only")
    refused = ["no smooth sensitivity of x", "no reach of x"] if one_way else []
    assert [message.partition(":")[0] for message in view.messages] == refused
    assert bool(view.local.smooth) == bool(view.reach) != one_way
    if view.reach:  # one step moves the answer by the local sensitivity
        assert view.local.text in (view.reach.down, view.reach.up)
    names = run(view.code)
    assert (names["result"].value, names["local"].value) == (view.value, view.local.value)
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("universes", "name", "column"),
    [
        (pd.DataFrame({"age": [*ABSENCES, *ABSENCES, *ABSENCES, 9]}), "frame", "age"),
        (sl.Universe.from_dataset(range(1000)), "universe", "records"),
        ({"age": sl.Universe.from_dataset(range(1000))}, "universes", "age"),
        (sl.Universe.from_domain([0, 1, Decimal("2.5")]), "", "records"),
        (sl.Universe.from_interval(0, 120), "", "records"),
    ],
)
def test_the_code_begins_with_what_the_caller_has(capsys, universes, name, column):
    view = last(as_source(universes), replace(STATE, column=column, size=3, k=1))
    names = run(view.code, **({name: universes} if name else {}))
    assert names["result"].value == view.value
    assert capsys.readouterr().out


def test_the_code_of_a_file_reads_it_as_exactly(tmp_path, capsys):
    """0.1 + 0.2 is 0.3 in the file's decimals, and is not in floats."""
    path = tmp_path / "a file.csv"
    path.write_text("name,x\na,0.1\nb,0.2\nc,0.3\nd,10\n", "utf-8")
    view = last(read_source(path), State("x", "sum", size=2))
    names = run(view.code)
    assert (
        names["result"].exact
        == sl.global_sensitivity(
            sl.Universe.from_dataset([Decimal(t) for t in ("0.1", "0.2", "0.3", "10")]),
            "sum",
            size=2,
            neighbors="bounded",
        ).exact
    )
    assert view.value == names["result"].value
    assert capsys.readouterr().out


def test_a_typed_dataset_has_its_local_sensitivity_beside_the_global_one(capsys):
    """It is no worst case, so less can change."""
    view = last(SOURCE, replace(STATE, k=1, dataset=" 7, 2,3, 4,5,6 "))
    assert (view.local.records, view.text) == (("2", "3", "4", "5", "6", "7"), "3.16667")
    smooth = sl.smooth_sensitivity(
        sl.Universe.from_dataset(ABSENCES),
        "mean",
        dataset=[2, 3, 4, 5, 6, 7],
        beta=1 / 6,
        neighbors="bounded",
    )
    assert (view.local.beta, view.local.smooth) == (1 / 6, rounded_up(smooth.upper, digits=6))
    assert view.local.value <= smooth.value < view.value
    x = [2, 3, 4, 5, 6, 7]
    expected = sl.local_sensitivity(
        sl.Universe.from_dataset(ABSENCES), "mean", dataset=x, neighbors=sl.Bounded(1)
    )
    assert view.local.value == expected.value < view.value
    assert run(view.code)["x"] == x
    assert "Local sensitivity of mean" in capsys.readouterr().out


def test_without_a_smooth_sensitivity_or_reach_the_local_one_stays(capsys):
    adding = replace(STATE, relation="unbounded: add only", k=1, dataset="9", domain="0:30")
    view = last(SOURCE, adding)
    smooth, reach = view.messages
    assert smooth.startswith("no smooth sensitivity of x: ")
    assert reach.startswith("no reach of x: reach needs a distance between all datasets, which ")
    assert view.local.text in shown.pair(view)
    assert shown.reach(view) == ""
    assert "smooth" not in view.code
    assert "reach" not in view.code
    assert run(view.code)["local"].value == view.local.value
    interval = as_source(sl.Universe.from_interval(0, 120))
    view = last(interval, State("records", size=3, dataset="7, 2"))
    (message,) = view.messages
    assert message == "no smooth sensitivity of x: its universe is an interval; type a domain"
    assert (view.reach.lower, view.reach.upper) == ((4.5, 1, 0, 0), (4.5, 63.5, 120, 120))
    names = run(view.code)
    assert float(names["reach"].upper[1]) == 63.5
    assert "smooth" not in names
    assert capsys.readouterr().out


def test_the_reach_of_a_typed_dataset_has_its_answers_within_every_distance(capsys):
    """By hand: of 2, ..., 7, the records 2 and 3 give way to 15 and 20, or 7 to 1."""
    view = last(SOURCE, replace(STATE, dataset="2, 3, 4, 5, 6, 7"))
    fan = view.reach
    assert (fan.least, fan.greatest, fan.down, fan.up) == ("3.5", "9.5", "1", "5")
    assert (fan.lower[0], fan.upper[0], view.local.text) == (4.5, 4.5, "5")
    # Only one record, 1, is below those of x, so a second step downward does not help.
    assert (fan.lower[1:3], fan.upper[1:3]) == ((3.5, 3.5), (7.5, 9.5))
    assert len(fan.lower) == len(fan.upper) == 5
    told = shown.reach(view)
    assert "Within distance k = 2 of your x, the answer is at least 3.5 and at most 9.5" in told
    assert "down by 1 and up by 5 from f(x) = 4.5. The larger move is the local sensitivity" in told
    run(view.code)
    assert "within 2   3.5 to 9.5" in capsys.readouterr().out


def test_a_reach_that_mixes_additions_and_removals_is_told_from_the_local_sensitivity():
    mixing = replace(
        STATE, relation="unbounded: add or remove", domain="0:20", dataset="0, 10, 10, 10"
    )
    view = last(SOURCE, mixing)
    # From 30/4: 0 removed and 20 added gives 50/4, and 20 added twice gives 70/6 only.
    assert (view.reach.up, view.local.text) == ("5", "4.16667")
    assert "The local sensitivity, 4.16667, is for records that are only added" in shown.reach(view)
    assert "The larger move is the local" in shown.reach(last(SOURCE, replace(mixing, k=1)))


def test_ends_of_a_reach_are_rounded_outward():
    """A tenth is no float, and a third has no end."""
    view = last(SOURCE, State("records", size=3, domain="0, 0.1, 1", dataset="0.1, 0.1, 0.1"))
    assert (view.reach.least, view.reach.greatest) == ("0.06666666666", "0.4")
    assert (view.reach.down, view.reach.up) == ("0.0333334", "0.3")
    root = last(SOURCE, State("records", "std", size=2, domain="0:9", dataset="0, 2"))
    assert (root.reach.least, root.reach.greatest, root.reach.up) == ("0", "4.5", "3.5")


def test_every_view_but_the_last_says_what_is_computed_next():
    *before, whole = views(SOURCE, replace(STATE, dataset="2, 3, 4, 5, 6, 7"))
    assert [view.computing for view in before] == [
        "the sensitivity of mean at n = 6 and k = 2",
        "the curve of mean up to k = 4",
        "the local sensitivity of x",
        "the smooth sensitivity of x",
        "the reach of x",
        "",
    ]
    assert whole.computing == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"dataset": "1, x"},
            "no local sensitivity of x: a record of the dataset x must be a finite number such as "
            "20 or 0.5, got ' x'",
        ),
        (
            {"dataset": "9"},
            "no local sensitivity of x: the record 9 is not in the universe: Universe of 10 "
            "records: 1, 2, 3, 4, 5, 6, 7, 8, 15, 20",
        ),
        (
            {"domain": "3:1"},
            "the domain '3:1' is not a range with a positive step; write the values, 1,2,3, or a "
            "range, first:last or first:last:step, such as 0:120",
        ),
        (
            {"domain": "0:10:3"},
            "the domain '0:10:3' ends at 10, which steps of 3 from 0 do not meet; end it at 9 or "
            "12",
        ),
        (
            {"relation": "unbounded: remove only", "size": 1},
            "unbounded (remove), at most 1 is not feasible for datasets of size 1 in a universe of "
            "10 records: removing needs k <= size - 1; no distance is feasible; choose another "
            "size or a larger universe, or choose direction='add', "
            "which leaves out removals and can give a smaller sensitivity",
        ),
    ],
)
def test_bad_input_has_a_message_and_no_code(change, message):
    view = last(SOURCE, replace(STATE, **change))
    (shown,) = view.messages
    assert shown == message
    assert "dataset=x" not in view.code


@pytest.mark.exhaustive
def test_a_search_that_no_engine_takes_has_the_reasons_as_its_message():
    source = as_source(sl.Universe.from_dataset([i**2 for i in range(100_000)]))
    view = last(source, State("records", "iqr", size=50_000, k=4))
    (message,) = view.messages
    assert message.startswith("no engine accepts iqr here: ")
    assert (view.value, view.pair, view.curve) == (None, None, ())
    assert "sl.global_sensitivity" in view.code


def test_size_and_distance_stay_within_what_is_feasible():
    view = last(SOURCE, replace(STATE, size=99, k=99))
    assert (view.state.size, view.state.k) == (9, 1)
    assert view.messages == ()


def test_noise_on_records_is_told_from_noise_on_a_domain():
    assert last(SOURCE, STATE).dataset
    assert not last(SOURCE, replace(STATE, domain="0:20")).dataset
    assert not last(as_source(sl.Universe.from_domain([1, 2])), replace(STATE, size=3)).dataset


def test_the_code_never_says_that_records_are_public():
    """Whoever runs it over listed records, or at one private size, is warned."""
    code = last(SOURCE, STATE).code
    assert "public_universe" not in code
    assert "# The universe is these very records. For private data, take what a record" in code
    with pytest.warns(sl.errors.DatasetUniverseWarning):
        exec(code, {})
    declared = as_source(sl.Universe.from_domain(ABSENCES, copies=1))
    code = last(declared, STATE).code
    assert "public_universe" not in code
    assert "from_dataset" not in code
    assert "these very records" not in code


@pytest.mark.exhaustive
def test_the_view_says_what_has_to_be_public():
    adding = replace(STATE, relation="unbounded: add or remove", k=1)
    assert last(SOURCE, STATE).cautions == ()  # told of as a dataset
    (size,) = last(SOURCE, adding).cautions
    assert size.startswith("neighbors (unbounded, at most 1) have different numbers of records")
    assert last(SOURCE, replace(adding, query="sum")).cautions == ()
    declared = as_source(sl.Universe.from_domain(ABSENCES, copies=1))
    (copies,) = last(declared, STATE).cautions
    assert copies.startswith("the universe has at most 1 copy of a record")
    assert "the universe has at most 1 copy of a record" in shown.warnings(last(declared, STATE))
    assert "type a public domain" in shown.warnings(last(SOURCE, STATE))
    assert shown.warnings(last(SOURCE, replace(STATE, domain="0:20"))) == ""


def test_a_table_opens_on_a_domain_that_does_not_depend_on_it(tmp_path):
    frame = pd.DataFrame({"age": ABSENCES})
    path = tmp_path / "a.csv"
    frame.to_csv(path, index=False)
    for source in (as_source(frame), read_source(path)):
        assert source.opens_on == "0:100"
        view = last(source, State("age", size=6, domain=source.opens_on))
        assert (view.dataset, view.messages) == (False, ())
        assert "sl.Universe.from_domain(range(0, 101))" in view.code
    assert SOURCE.opens_on == ""


def test_a_scale_is_rounded_up_as_the_sensitivity_beside_it_is():
    """With epsilon 1 they are one number, 16/3."""
    view = last(SOURCE, STATE)
    assert view.text == "5.33334"
    assert "Laplace noise of scale Δ/ε = 5.33334: half of the" in shown.noise(view)
    assert "Laplace noise of scale 5.33334 around" in shown.noise(view)
    assert "5.33333" not in shown.noise(view)


def test_a_column_with_missing_values_costs_that_column_only():
    frame = pd.DataFrame({"a": [1.0, None, 3.0], "b": [1, 2, 3], "c": ["x", "y", "z"]})
    source = as_source(frame)
    assert list(source.columns) == ["a", "b"]
    (message,) = last(source, State("a", size=2)).messages
    assert message.startswith("column 'a': ")
    assert last(source, State("b", size=2)).messages == ()


@pytest.mark.parametrize(
    ("universes", "message"),
    [
        (
            sl.TableUniverse.from_dataset(pd.DataFrame({"a": [1, 2]})),
            "explore takes universes of numbers, but 'records' is one of rows; explore one column, "
            "universe.column(name)",
        ),
        (pd.DataFrame({"a": ["x"]}), "no column is numeric; the columns are 'a'"),
    ],
)
def test_what_cannot_be_explored_is_refused(universes, message):
    with pytest.raises(sl.errors.InputError) as error:
        as_source(universes)
    assert str(error.value) == message


def test_a_million_records_need_no_listing_of_the_strip(monkeypatch):
    """The blocks come from multiplicities, not from records that are looked up one by one."""

    def never(*_):
        raise AssertionError("records are looked up")

    monkeypatch.setattr("sensitivity_lab.explorer.pair.multiplicities_of", never)
    source = as_source(sl.Universe.from_dataset([i**2 for i in range(20_000)]))
    view = last(source, State("records", "mean", size=10_000, k=3))
    assert (view.pair.size_x, view.pair.shared, len(view.pair.x)) == (10_000, 9_997, 17)
    assert {block[0] for block in view.blocks} == {"A", "B", "C", "O"}
