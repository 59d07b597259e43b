"""The answers of the page: numbers of the library, faults of a field, and code that gives both."""

from __future__ import annotations

import json
import re
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from command_line import PYTHON
from doses import shares

import sensitivity_lab as sl
from sensitivity_lab.csv_files import cells_of, read_cells
from sensitivity_lab.page.answer import FIRST, PARTS, QUERIES, RELATIONS, answer
from sensitivity_lab.page.universes import Given, given_of, given_of_file

ABSENCES = "1, 2, 3, 4, 5, 6, 7, 8, 15, 20"
RECORDS = {"kind": "records", "text": ABSENCES}
STATE = {**FIRST, "ask": "answer", "universe": RECORDS, "size": 6, "k": 2, "parts": list(PARTS)}
X = {"kind": "records", "text": "7, 2,3, 4,5,6"}


def ask(given: Given | None = None, **changed: Any) -> dict[str, Any]:
    """An answer, which has to be JSON as browsers read it."""
    found = answer({**STATE, **changed}, given)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    return found


def run(code: str, **given: Any) -> dict[str, Any]:
    """What the code of an answer computes, with what a caller of explore has."""
    names = dict(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.errors.DatasetUniverseWarning)
        warnings.simplefilter("ignore", sl.errors.PrivateSizeWarning)
        exec(code, names)
    return names


def code(given: Given | None = None, **changed: Any) -> str:
    found = answer({**STATE, "ask": "code", **changed}, given)
    assert found["ok"], found
    return found["code"]


def columns_of(text: str) -> dict[str, Any]:
    return answer({"ask": "columns", "text": text, "name": "a file.csv"})


FIRST_OF_FILE = {"first": "age", "told": "Read: a file.csv, 2 rows."}


def test_all_of_an_answer():
    """Two of six records replaced move the mean from (1+2+3+4+15+20)/6 to (1+...+6)/6."""
    found = ask(parts=["sensitivity", "curve"])
    assert (found["state"], found["most"]) == ({"size": 6, "k": 2}, {"size": 9, "k": 4})
    number = found["sensitivity"]
    assert number["text"] == "5.33334"
    assert number["value"] == pytest.approx(32 / 6)
    assert number["claim"] == (
        "global sensitivity of mean, L1 norm, exact; bounded, at most 2; n = 6; "
        "universe of 10 records"
    )
    assert [one["k"] for one in found["curve"]] == [1, 2, 3, 4]
    assert found["curve"][1]["value"] == number["value"]
    assert [one["part"] for one in found["strip"]] == ["B", "C", "O", "A"]
    assert found["witness"] == {
        "x": ["3", "4", "5", "6", "15", "20"],
        "y": ["1", "2", "3", "4", "5", "6"],
        "only_x": ["15", "20"],
        "only_y": ["1", "2"],
        "size_x": 6,
        "size_y": 6,
        "shared": 4,
        "answer_x": "8.833333333",
        "answer_y": "3.5",
        "value_x": 53 / 6,
        "value_y": 21 / 6,
    }
    assert found["noise"]["text"] == "5.33334"
    assert found["messages"] == []
    assert found["warnings"][0].startswith("The universe is the records themselves.")


def test_a_domain_has_no_warning_about_its_records():
    assert ask(universe=FIRST["universe"])["warnings"] == []
    assert not ask(universe={"kind": "interval", "text": "0:9"})["universe"]["records"]


def test_the_parts_of_a_dataset():
    """By hand: of 2, ..., 7, the records 2 and 3 give way to 15 and 20, or 7 to 1."""
    found = ask(x=X)
    fan, local = found["reach"], found["local"]
    assert (fan["least"], fan["greatest"], fan["down"], fan["up"]) == ("3.5", "9.5", "1", "5")
    assert (fan["lower"][:3], fan["upper"][:3]) == ([4.5, 3.5, 3.5], [4.5, 7.5, 9.5])
    assert (local["text"], local["answer"], local["size"]) == ("5", "4.5", 6)
    assert local["records"] == ["2", "3", "4", "5", "6", "7"]
    universe = sl.Universe.from_dataset([int(one) for one in ABSENCES.split(", ")])
    beta = sl.noise.smooth_beta(1, k=2)
    smooth = sl.smooth_sensitivity(
        universe, "mean", dataset=[2, 3, 4, 5, 6, 7], beta=beta, neighbors=sl.Bounded(2)
    )
    assert found["smooth"]["value"] == smooth.value


def test_parts_without_an_answer_have_a_message():
    found = ask(x={"kind": "records", "text": "9"}, k=1)
    assert (found["local"], found["reach"]) == (None, None)
    assert {one["part"] for one in found["messages"]} == {"local", "smooth", "reach"}
    assert "the record 9 is not in the universe" in found["messages"][0]["text"]
    without = ask()
    assert [one["text"] for one in without["messages"]] == ["it needs a dataset x"] * 3
    interval = {"kind": "interval", "text": "0:120"}
    [message] = ask(universe=interval, x=X, size=3)["messages"]
    assert message == {"part": "smooth", "text": "its universe is an interval; type a domain"}


UNLIKE_N = (
    "Your dataset x has 6 records, but n is 7. The number is not for it, so no noise is given."
)
OUTSIDE = (
    "Your dataset x has records that are not in the universe: 2.5, 60, 61, …. The number is not "
    "for it, so no noise is given."
)
UNREAD = (
    "Your dataset x cannot be read: a number is written 20, 0.5 or 1e-3, got 'b'. The number is "
    "not for it, so no noise is given."
)


@pytest.mark.parametrize(
    ("x", "size", "told", "records"),
    [
        (None, 7, [UNREAD.replace("a number is written 20, 0.5 or 1e-3, got 'b'", "too large")], 0),
        ("1 2 3 4 5 6", 7, [UNLIKE_N], 6),
        ("61 60 2.5 62", 4, [OUTSIDE], 4),
        ("61 60 2.5 62 5 5", 7, [UNLIKE_N, OUTSIDE], 6),
        ("1, b", 7, [UNREAD], 0),
        ("9", 7, [UNLIKE_N.replace("6 records", "1 record")], 1),
    ],
)
def test_without_noise_where_x_is_no_dataset_of_the_number(x, size, told, records):
    state = {"universe": {"kind": "domain", "text": "0:50"}, "parts": ["sensitivity"], "size": size}
    without = ask(**state)
    assert (without["withheld"], without["size_of_x"]) == ([], 0)
    state["x"] = {"kind": "records", "text": x} if x else {"kind": "unread", "text": "too large"}
    found = ask(**state)
    assert found["sensitivity"] == without["sensitivity"]
    assert (found["withheld"], found["size_of_x"], found["noise"]) == (told, records, None)
    lines = code(**state).splitlines()
    assert sum(one.startswith("x = [") for one in lines) == (records > 0)
    remarks = " ".join(one.removeprefix("# ") for one in lines if one.startswith("# "))
    assert remarks == " ".join(told)
    assert "laplace_scale" not in code(**state)
    assert "laplace_scale" in code(**{**state, "x": None})


def test_x_is_no_mismatch_where_it_is_a_dataset_of_the_universe():
    for universe in ({"kind": "interval", "text": "0:9"}, {"kind": "domain", "text": "0:9:0.5"}):
        x = {"kind": "records", "text": "0.5, 3, 9"}
        found = ask(universe=universe, x=x, size=3, parts=["sensitivity"])
        assert found["withheld"] == []
        assert found["noise"]


def test_the_records_as_the_universe_are_private_without_noise_too():
    found = ask(epsilon="1e-400", parts=["sensitivity"])
    assert found["noise"] is None
    assert found["warnings"][0].startswith("The universe is the records themselves.")


MEDIAN = "The median's sensitivity is larger than the mean's:"
EQUAL = "For the mean, bounded and unbounded neighbors give the same number at k = 1:"


@pytest.mark.parametrize("size", [1, 2, 3, 20])
@pytest.mark.parametrize("kind", ["domain", "interval"])
def test_notes_are_true(kind, size):
    """They say how the numbers of two queries, or of two relations, compare."""
    state = {"universe": {"kind": kind, "text": "-5:60"}, "size": size, "parts": ["sensitivity"]}
    bounded, unbounded = [*RELATIONS][:2]

    def asked(query, relation=bounded, k=1):
        found = ask(**state, query=query, relation=relation, k=k)
        return found["sensitivity"]["value"], found["notes"]

    (mean, equal), (other, too) = asked("mean"), asked("mean", unbounded)
    assert equal == too
    assert (mean == other) == bool(equal) == (size > 1)
    median, larger = asked("median")
    assert (median > mean) == bool(larger) == (size > 2)
    assert all(one.startswith(EQUAL) for one in equal)
    assert all(one.startswith(MEDIAN) for one in larger)
    assert asked("mean", k=2)[1] == []
    assert ask(universe=RECORDS, query="median", size=6, parts=["sensitivity"])["notes"] == []


def test_records_that_are_fractions_are_shown_as_decimals():
    given = given_of(sl.Universe.from_domain([Fraction(one, 8) for one in range(9)]))
    universe = {"kind": "given", "column": "records"}
    found = ask(given, universe=universe, query="sum", size=2, k=1, x=None)
    assert (found["witness"]["x"], found["strip"][0]["first"]) == (["0", "1"], "0")
    x = {"kind": "records", "text": "0.125, 0.5"}
    assert ask(given, universe=universe, size=2, x=x)["local"]["records"] == ["0.125", "0.5"]
    third = given_of(sl.Universe.from_domain([0, Fraction(1, 3)]))
    assert ask(third, universe=universe, size=2, k=1)["witness"]["only_x"] == ["0.3333333333"]


def test_the_worst_case_of_an_interval_is_not_checked_record_by_record(monkeypatch):
    seen = []
    checked = sl.IntervalUniverse.__contains__
    monkeypatch.setattr(
        sl.IntervalUniverse, "__contains__", lambda *of: seen.append(of) or checked(*of)
    )
    found = ask(universe={"kind": "interval", "text": "0:9"}, size=500, parts=["sensitivity"])
    assert found["witness"]["size_x"] == 500
    assert len(seen) < 50


NUMBER_IS_PRIVATE = (
    "The number is for n = 20 alone, but these neighbors differ in n, so n is private: noise for "
    "one n would reveal it, and be too small for others. No noise is given. If n is public, choose "
    "bounded neighbors; else publish a sum and a count, whose noise is the same at every n "
    "(sl.noise.noise_table gives it). In Python, pass every size that the data can have, "
    "size=range({}, 1001)."
)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("query", ["mean", "median", "var", "std", "sum", "count"])
def test_no_noise_where_n_is_private(query, relation):
    """As the warning of the noise itself says, which the library gives."""
    state = {**FIRST, "query": query, "relation": relation, "parts": ["sensitivity"]}
    found = ask(**state)
    universe = sl.Universe.from_domain(range(61))
    result = sl.global_sensitivity(universe, query, size=20, neighbors=RELATIONS[relation])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sl.noise.laplace_scale(result, epsilon=1)
    told = [NUMBER_IS_PRIVATE.format(1)] * len(caught)
    assert bool(told) == (query not in ("sum", "count") and relation != "bounded: replace records")
    assert (found["withheld"], found["warnings"]) == (told, [])
    assert (found["noise"] is None) == ("laplace_scale" not in code(**state)) == bool(told)
    remarks = " ".join(one[2:] for one in code(**state).splitlines() if one.startswith("# "))
    assert remarks == " ".join(told)


def test_messages_are_in_words_of_the_page():
    """No Python where a field is wrong or empty, nor where a part has no answer."""
    state = {**FIRST, "parts": ["sensitivity"]}
    for name in ("size", "k", "epsilon"):
        assert ask(**{**state, name: ""})["message"] == "type a number, such as 20"
    empty = {"kind": "domain", "text": ""}
    assert ask(**{**state, "universe": empty})["message"] == "type a number, such as 20"
    assert ask(**{**state, "epsilon": "-0.5"})["message"].endswith("above 0, got -0.5")
    assert "from 1 to 1,000,000,000,000), got 0" in ask(**{**state, "size": 0})["message"]
    x = {"kind": "records", "text": "2.5"}
    [told] = ask(**{**state, "size": 1, "x": x, "parts": ["local"]})["messages"]
    assert told["text"].startswith("the record 2.5 is not in the universe")
    interval = {"kind": "interval", "text": "0:60"}
    [told] = ask(**{**state, "universe": interval, "query": "count_distinct"})["messages"]
    assert told["text"].endswith("for a lower bound use a grid, as a domain")


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("query", ["mean", "var", "count_distinct", "gini_mean_difference"])
def test_messages_about_parts_are_in_words_of_the_page(query, relation):
    """Python only where a message says that it is."""
    for kind, text in (("domain", "0:2:0.5"), ("interval", "0:60"), ("records", "1 2 2.5 4")):
        state = {"universe": {"kind": kind, "text": text}, "query": query, "relation": relation}
        for x in ("3.25", "61, 61"):
            found = ask(**state, x={"kind": "records", "text": x}, size=2, k=1)
            for told in found["messages"]:
                said = re.split("in Python", told["text"])[0]
                assert not re.search(r"\w=\S|='|\w\(\w|\w\.\w+\(|column 'records'|;$", said), said
                assert not PYTHON.search(said.replace("Universe of", ""))


def test_what_only_python_can_do_is_said_to_be_in_python():
    [told] = ask(query="gini_mean_difference", size=1, k=1, parts=["sensitivity"])["messages"]
    assert told["text"].endswith(
        "leave out smaller sizes, or in Python say the answer for fewer, empty=, which is then "
        "public"
    )


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
    found = {one: ask(relation=one, size=size, parts=[])["most"]["k"] for one in RELATIONS}
    assert found == farthest


WRONG = [
    ({"ask": "more"}, "ask", "ask must be one of 'choices', 'columns', 'answer', 'code', got"),
    ({"parts": ["all"]}, "parts", "parts must be one of 'sensitivity', 'curve'"),
    ({"parts": None}, "parts", "parts must be a list of"),
    ({"query": "mena"}, "query", "did you mean 'mean'?"),
    ({"query": 5}, "query", "query must be the name of a query, got 5"),
    ({"relation": "bounded"}, "relation", "relation must be one of 'bounded: replace records'"),
    (
        {"size": 0},
        "size",
        "size must be a whole number (a number of records, from 1 to 1,000,000,000,000)",
    ),
    ({"size": 2.5}, "size", "got 2.5"),
    ({"size": True}, "size", "got True"),
    ({"k": "1"}, "k", "k must be a whole number (a distance from 1 to 50), got '1'"),
    ({"k": 51}, "k", "(a distance from 1 to 50), got 51"),
    ({"epsilon": "0"}, "epsilon", "epsilon must be a finite number above 0, got 0"),
    ({"epsilon": None}, "epsilon", "a number is written 20, 0.5 or 1e-3, got 'None'"),
    ({"epsilon": "inf"}, "epsilon", "a number is written 20, 0.5"),
    ({"universe": "0:9"}, "universe", "universe must be an object with a kind, got '0:9'"),
    ({"universe": {"kind": "list"}}, "universe", "kind must be one of 'domain', 'interval'"),
    ({"universe": {"kind": "domain"}}, "universe", "text must be a text, got None"),
    (
        {"universe": {"kind": "domain", "text": "3:1"}},
        "universe",
        "first:last:step with a positive step",
    ),
    ({"universe": {"kind": "domain", "text": "0:10:3"}}, "universe", "end it at 9 or 12"),
    ({"universe": {"kind": "domain", "text": "0:1e9"}}, "universe", "more than 1,000,000"),
    ({"universe": {"kind": "interval", "text": "3"}}, "universe", "written lower:upper"),
    (
        {"universe": {"kind": "records", "text": "1 x"}},
        "universe",
        "a number is written 20, 0.5 or 1e-3, got 'x'",
    ),
    ({"universe": {"kind": "given", "column": "a"}}, "universe", "unknown column 'a'"),
    ({"x": "1, 2"}, "x", "x must be an object with a kind, got '1, 2'"),
    ({"x": {"kind": "domain", "text": "0:9"}}, "x", "kind must be one of 'records', 'csv'"),
    (
        {"x": {"kind": "csv", "text": "a\n1\n", "column": "b", "name": "f"}},
        "x",
        "unknown column 'b'",
    ),
]


@pytest.mark.parametrize(("changed", "name", "told"), WRONG)
def test_a_wrong_field_is_named(changed, name, told):
    found = ask(**changed)
    assert (found["ok"], found["field"]) == (False, name)
    assert told in found["message"]


def test_a_domain_of_few_numbers_that_are_far_apart_is_not_listed_between():
    far = {"kind": "domain", "text": "0:10000000000000:1000000000000"}
    assert "[0, 1000000000000," in code(universe=far, parts=[])


def test_what_is_no_object_is_refused():
    for request in (None, [], "ask", 3, {}):
        assert answer(request)["field"] == "ask"


@pytest.mark.representative("query")
@pytest.mark.exhaustive
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("query", QUERIES)
def test_every_choice_has_an_answer_and_its_code(capsys, query, relation):
    state = {
        "universe": {"kind": "records", "text": "1 2 5 8 8 8 8 20"},
        "query": query,
        "relation": relation,
        "size": 3,
        "k": 1,
        "x": {"kind": "records", "text": "8, 1, 2"},
    }
    found = ask(**state)
    one_way = relation in ("unbounded: add only", "unbounded: remove only")
    missing = ["smooth", "reach"] if one_way else []
    assert [one["part"] for one in found["messages"] if one["part"] != "noise"] == missing
    if found["reach"]:  # one step moves the answer by the local sensitivity
        assert found["local"]["text"] in (found["reach"]["down"], found["reach"]["up"])
    names = run(code(**state, parts=[one for one in PARTS if one not in missing]))
    assert names["result"].value == found["sensitivity"]["value"]
    assert names["local"].value == found["local"]["value"]
    curve = names["curves"].to_frame()["sensitivity"].tolist()
    assert curve == [one["value"] for one in found["curve"]]
    if not one_way:
        assert tuple(names["reach"].to_frame()["lower"]) == tuple(found["reach"]["lower"])
    assert capsys.readouterr().out


def test_records_of_a_csv_file_are_read_exactly(tmp_path, capsys, monkeypatch):
    """0.1 + 0.2 is 0.3 in the file's decimals, and is not in floats."""
    text = "name,x\na,0.1\nb,0.2\nc,0.3\nd,10\n"
    (tmp_path / "a file.csv").write_text(text)
    monkeypatch.chdir(tmp_path)
    said = "Read: a file.csv, 4 rows. Not listed, since not all of their entries are numbers: name."
    assert columns_of(text) == {"ok": True, "records": ["x"], "first": "x", "told": said}
    rows = {"kind": "csv", "text": text, "column": "x", "name": "a file.csv"}
    state = {"universe": rows, "query": "sum", "size": 2, "k": 1, "parts": ["sensitivity"]}
    exact = sl.global_sensitivity(
        sl.Universe.from_dataset([Decimal(one) for one in ("0.1", "0.2", "0.3", "10")]),
        "sum",
        size=2,
        neighbors="bounded",
    ).exact
    assert ask(**state)["sensitivity"]["value"] == float(exact)
    assert run(code(**state))["result"].exact == exact
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("row,age\n1,5\n2,5\n", "age"),
        ("Student_ID,id,ids\n1,1.5,2\n1,2,2\n", "ids"),
        ("a,b\n1,2\n2,3\n", ""),
        ("valid,a\n1.5,1\n2,2\n", "valid"),
    ],
)
def test_no_identifier_is_chosen_for_anyone(text, first):
    assert columns_of(text)["first"] == first
    assert ("Choose a column: these look like" in columns_of(text)["told"]) == (not first)


@pytest.mark.parametrize("text", ["", "a\nx\n", "a\n1\nNA\n", "a,a\n1,2\n", "1,2\n3,4\n"])
def test_files_without_a_column_of_numbers_are_refused(text):
    found = columns_of(text)
    assert (found["ok"], found["field"]) == (False, "text")


def test_a_column_with_missing_cells_is_named_and_no_other_one_is_taken():
    found = columns_of("id,age,income\n1,30,\n2,,1.5\n3,40,\n")
    assert (found["records"], found["first"]) == (["id"], "")
    assert found["told"] == (
        "Read: a file.csv, 3 rows. Choose a column: cells are missing in age (1 of 3), income (2 "
        "of 3): drop these rows or fill them, then load the file again."
    )
    assert columns_of("a\n1\nNA\n")["message"] == (
        "no column of the file holds numbers alone; cells are missing in a (1 of 2): drop these "
        "rows or fill them, then load the file again"
    )


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("point", [".", ","])
def test_the_code_reads_the_file_as_the_page_does(tmp_path, capsys, separator, point):
    """With semicolons and decimal commas, too; the command explore writes the same code."""
    text = "name;x\na;0,1\nb;0,2\nc;3\n".replace(";", separator).replace(",", point)
    path = tmp_path / "a file.csv"
    path.write_text(text)
    given = given_of_file(read_cells(path), str(path))
    state = {"universe": {"kind": "domain", "text": "0:3:0.1"}, "size": 3, "k": 1}
    state |= {"parts": ["sensitivity", "local"]}
    x = {"kind": "csv", "text": text, "column": "x", "name": str(path)}
    for held, asked in ((None, x), (given, {"kind": "given", "column": "x"})):
        local = ask(held, x=asked, **state)["local"]
        assert local["answer"] == "1.1"
        names = run(code(held, x=asked, **state))
        assert names["x"].tolist() == [Decimal("0.1"), Decimal("0.2"), 3]
        assert names["local"].value == local["value"]
    assert capsys.readouterr().out


def test_a_file_of_explore_begins_with_the_column_that_a_file_of_the_page_begins_with():
    text = "id,age\n1,30\n2,30\n"
    given = given_of_file(cells_of(text.encode(), "the file"), "a file.csv")
    choices = answer({"ask": "choices"}, given)
    assert choices["given"] == {"universes": [], "records": ["id", "age"], **FIRST_OF_FILE}
    assert columns_of(text) == {"ok": True, "records": ["id", "age"], **FIRST_OF_FILE}
    assert choices["first"] == FIRST


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (sl.Universe.from_dataset(range(1000)), "universe"),
        (sl.Universe.from_domain([0, 1, Decimal("2.5")]), ""),
        (sl.Universe.from_interval(0, 120), "universe"),
    ],
)
def test_the_code_begins_with_what_the_caller_has(capsys, data, name):
    given = given_of(data)
    choices = answer({"ask": "choices"}, given)
    state = {"universe": choices["first"]["universe"], "size": 3, "k": 1, "parts": ["sensitivity"]}
    assert state["universe"] == {"kind": "given", "column": "records"}
    names = run(code(given, **state), **({name: data} if name else {}))
    assert names["result"].value == ask(given, **state)["sensitivity"]["value"]
    assert capsys.readouterr().out


def test_a_table_opens_on_a_domain_and_offers_its_columns_as_datasets(capsys):
    frame = pd.DataFrame({"age": [30, 40, 50], "name": list("abc"), "ok": [True, False, True]})
    given = given_of(frame)
    choices = answer({"ask": "choices"}, given)
    assert choices["given"] == {"universes": [], "records": ["age"], "first": "", "told": ""}
    assert choices["first"] == FIRST
    column = {"kind": "given", "column": "age"}
    state = {"universe": FIRST["universe"], "x": column, "parts": ["local"]}
    assert ask(given, **state)["local"]["answer"] == "40"
    assert run(code(given, **state), frame=frame)["x"].tolist() == [30, 40, 50]
    rows = ask(given, universe=column, size=2, parts=["sensitivity"])
    assert rows["universe"]["records"]
    assert capsys.readouterr().out


def test_numeric_columns_of_all_types_are_offered():
    columns = {
        "whole": pd.array([1, None, 3], dtype="Int64"),
        "float32": np.array([1, 2.5, 3], dtype=np.float32),
        "exact": [Decimal(1), None, Fraction(1, 3)],
        "flag": [True, False, True],
        "day": pd.to_datetime(["2020-01-01"] * 3),
        "text": list("abc"),
    }
    assert list(given_of(pd.DataFrame(columns)).records) == ["whole", "float32", "exact"]


def test_what_has_no_numbers_cannot_be_explored():
    rows = sl.TableUniverse.from_dataset(pd.DataFrame({"a": [1, 2], "b": [3, 4]}))
    for data in (pd.DataFrame({"a": ["x"]}), rows):
        with pytest.raises(sl.errors.InputError):
            given_of(data)


@pytest.mark.parametrize("seed", shares(everyday=12, check=100, stress=400))
def test_answers_are_those_of_the_library(seed):
    """Random requests, whose numbers are those of a direct call."""
    random = np.random.default_rng(seed)
    query = str(random.choice(QUERIES))
    relation = str(random.choice(list(RELATIONS)))
    values = sorted(set(random.integers(0, 40, 7).tolist()))
    size, k = int(random.integers(3, 9)), int(random.integers(1, 3))
    universe = {"kind": "domain", "text": ",".join(map(str, values))}
    state = {"universe": universe, "query": query, "relation": relation, "size": size, "k": k}
    found = ask(**state, parts=["sensitivity"])
    expected = sl.global_sensitivity(
        sl.Universe.from_domain(values),
        query,
        size=size,
        neighbors=RELATIONS[relation].at(found["state"]["k"]),
    )
    assert found["sensitivity"]["value"] == expected.value
