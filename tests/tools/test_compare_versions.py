"""The comparison of two versions: rows by key, what differs, and what is too slow."""

from __future__ import annotations

import json
import random
import sys

import pytest
from paths import ROOT, TESTS

import sensitivity_lab as sl


@pytest.fixture
def tool(monkeypatch):
    """The tool as a module; it finds its own files and the corpus by `sys.path`."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT / "tools"), str(TESTS / "corpus")])
    import compare_versions

    return compare_versions


def row(key, family="a", **told):
    return {"family": family, "key": key, "seconds": 0.5, "status": "exact", **told}


def write(path, *rows):
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def test_rows_are_compared_by_key(tool, tmp_path, capsys):
    before = write(
        tmp_path / "before",
        *(row("0", value="1"), row("1", value="2", witness="x y"), row("2", value="3")),
        row("gone", family="b"),
    )
    after = write(
        tmp_path / "after",
        row("new", family="b"),
        row("2", value="4"),
        *(row("1", value="2", witness="u v"), row("0", value="1", more="told")),
    )
    assert tool.main(["compare", str(before), str(after)]) == 1
    assert capsys.readouterr().out == (
        "a 2 {'value': ('3', '4')}\n"
        "a: 3 compared, 2 equal, 0 too slow, 1 different, 0 only before, 0 only after; 1 witness; "
        "2 s before, 2 s after\n"
        "b: 0 compared, 0 equal, 0 too slow, 0 different, 1 only before, 1 only after; "
        "0 s before, 0 s after\n"
    )
    assert tool.main(["compare", str(before), str(before)]) == 0


@pytest.mark.parametrize(
    ("seconds", "status", "differs"), [(15, "exact", 0), (5, "exact", 1), (20, "too slow", 0)]
)
def test_a_problem_that_gets_too_slow_differs_unless_it_nearly_was(
    tool, tmp_path, seconds, status, differs
):
    known = write(tmp_path / "known", row("0") | {"seconds": seconds, "status": status})
    slow = write(tmp_path / "slow", row("0") | {"seconds": 20.0, "status": "too slow"})
    assert tool.compare(known, slow) == tool.compare(slow, known) == differs


@pytest.mark.parametrize(
    ("family", "key"), [("variance", "3"), ("groups", "5"), ("noise", "0"), ("sql", "1")]
)
def test_a_problem_is_drawn_the_same_again(tool, family, key):
    if family == "sql":
        pytest.importorskip("duckdb", reason="needs the extra `sql`")
    draw, _ = tool.DRAWN[family]
    first, again = (tool.answer(draw, f"{family} {key}", tool.ATTEMPTS) for _ in range(2))
    assert first == again
    assert first.keys() > {"refusals", "messages"}
    assert "failed" not in str(first.get("status"))


def test_command_lines_print_what_they_print(tool):
    problems = tool.LISTED["commands"]()
    assert len(problems) >= 30
    line = "release --help"
    told = tool.answer(problems[line], line, 1)
    assert (told["code"], told["messages"]) == (0, "")
    assert told["out"].startswith("usage: sensitivity-lab release ")


def test_a_mechanism_is_audited(tool):
    name = "response in floats small"
    told = tool.answer(tool.LISTED["mechanisms"]()[name], name, 1)
    assert (told["refusals"], told["verdict"]) == ([], "tight up to rounding")


def test_a_refused_problem_is_drawn_again(tool):
    seen = []

    def solve(draw: random.Random):
        seen.append(draw.random())
        if len(seen) < 3:
            raise sl.errors.InputError("no")
        return {"value": "7"}

    expected = {"refusals": ["InputError"] * 2, "messages": ["no"] * 2, "value": "7"}
    assert tool.answer(solve, "a 0", 12) == expected
    assert len(set(seen)) == 3


def test_what_is_too_slow_or_fails_is_told(tool, monkeypatch):
    def endless(_):
        while True:
            pass

    def broken(_):
        raise ValueError("a mistake")

    monkeypatch.setattr(tool, "SECONDS", 0.05)
    assert tool.answer(endless, "a 0", 1) == {"status": "too slow"}
    assert tool.answer(broken, "a 0", 1)["status"] == "failed: ValueError('a mistake')"


def test_families_are_selected_by_name(tool, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(tool.DRAWN, "chain", (tool.DRAWN["chain"][0], 2))
    path = tmp_path / "rows"
    assert tool.main(["record", str(path), "chain"]) == 0
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(one["family"], one["key"]) for one in rows] == [("chain", "0"), ("chain", "1")]
    assert tool.main(["record", str(path), "chains"]) == 2
    assert "Families: mechanisms, " in capsys.readouterr().out
