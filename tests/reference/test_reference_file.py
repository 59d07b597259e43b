"""The file of the reference suite: where its values come from, what it covers, and its schema."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from fractions import Fraction
from itertools import product

import oracle
import pytest
from paths import ROOT
from reference_entries import (
    ENTRIES,
    FILE,
    SUITE,
    TEXT,
    is_at_least,
    relation_of,
    roots_of,
    same_number,
)

SCHEMA = json.loads(FILE.with_suffix(".schema.json").read_text("utf-8"))


KNOWN = [entry for entry in ENTRIES if entry["source"] != "enumerated"]


def test_values_known_from_elsewhere_agree():
    for entry in KNOWN:
        source = entry["source"]
        assert source["from"] in SUITE["sources"]
        digits = len(source["says"].partition(".")[2])
        allowed = Fraction(1, 10**digits) if digits else 0
        says, roots = Fraction(source["says"]), roots_of(entry["exact"])
        assert is_at_least(says + allowed, roots), entry["id"]
        lowest = max(says - allowed, Fraction(0))
        agrees = not is_at_least(lowest, roots) or same_number((lowest**2, Fraction(0)), roots)
        assert agrees, entry["id"]


@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("school of four, absence days | n = 3 | mean | unbounded, at most 1 | L1", "17/6"),
        ("school of four, absence days | n = 3 | median | unbounded, at most 1 | L1", "4"),
        ("school of five | n = 3 | median | unbounded, at most 1 | L1", "9/2"),
        ("[5, 10] | n = 4 | sum | unbounded (remove), at most 1 | L1", "10"),
        ("[0, 1] | n = 24 | var (ddof 0) | bounded, at most 1 | L1", "23/576"),
        ("[0, 1] | n = 4 | var (ddof 1) | bounded, at most 2 | L1", "1/3"),
        ("people | n = 3 | histogram (column sex, categories f/m) | bounded, at most 1 | L1", "2"),
        (
            "people | n = 3 | histogram (column sex, categories f/m) | bounded, at most 1 | L2",
            {"root": "2"},
        ),
    ],
)
def test_values_that_everybody_knows(name, exact):
    (entry,) = (entry for entry in ENTRIES if entry["id"] == name)
    assert entry["exact"] == exact
    assert entry["source"] != "enumerated"


# The file


def test_the_file_is_small_and_its_entries_differ():
    assert len({entry["id"] for entry in ENTRIES}) == len(ENTRIES)
    problems = {
        json.dumps([entry[key] for key in ("universe", "size", "neighbors", "query", "norm")])
        for entry in ENTRIES
    }
    assert len(problems) == len(ENTRIES)
    assert 300 <= len(ENTRIES) <= 1000
    assert len(TEXT.encode()) < 400_000


def test_what_is_covered():
    relations = {relation_of(entry) for entry in ENTRIES}
    for relation, exactly in product(("bounded", "unbounded", "symmetric_difference"), (0, 1)):
        assert {(relation, k, bool(exactly), "both") for k in (1, 2)} <= relations
    for direction, exactly in product(("add", "remove"), (False, True)):
        assert ("unbounded", 2, exactly, direction) in relations
    asked = [entry["query"] for entry in ENTRIES]
    assert {query["name"] for query in asked} == set(SUITE["queries"])
    methods = {query["method"] for query in asked if query["name"] == "percentile"}
    assert methods == set(SUITE["percentile_methods"]) == set(oracle.METHODS)
    for name, ddof in product(("var", "std", "covariance"), (0, 1)):
        assert any(query["name"] == name and query["ddof"] == ddof for query in asked)
    for query, norm in product(("histogram", "group_sums"), ("L1", "L2", "Linf")):
        assert any(e["query"]["name"] == query and e["norm"] == norm for e in ENTRIES)
    known = {e["source"]["from"] for e in ENTRIES if e["source"] != "enumerated"}
    assert known == set(SUITE["sources"])
    assert any("root_difference" in entry["exact"] for entry in ENTRIES)


@pytest.fixture(scope="module")
def validator():
    """What judges a file by the schema; its import alone takes two seconds."""
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(SCHEMA)
    return Draft202012Validator(SCHEMA)


@pytest.mark.exhaustive
def test_the_file_is_valid_by_its_schema(validator):
    assert [error.json_path for error in validator.iter_errors(SUITE)] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("universe", "values"), [0.1, 0.2]),
        (("universe", "values"), [2**53]),
        (("universe", "counts"), [0]),
        (("neighbors", "k"), 0),
        (("neighbors", "direction"), "add"),
        (("query", "name"), "var"),
        (("exact",), 0.5),
        (("exact",), "0.5"),
        (("exact",), {"root": 2}),
        (("value",), "1/2"),
        (("witness", "x"), []),
        (("source",), None),
        (("extra",), 1),
    ],
)
def test_the_schema_refuses(validator, path, value):
    entry = copy.deepcopy(next(e for e in ENTRIES if e["neighbors"]["relation"] == "bounded"))
    assert "values" in entry["universe"]
    *parents, last = path
    place = entry
    for parent in parents:
        place = place[parent]
    place[last] = value
    assert not validator.is_valid({**SUITE, "entries": [entry]})


@pytest.mark.stress
def test_the_file_is_what_the_script_makes():
    command = [sys.executable, "tools/make_reference.py", "--check"]
    ran = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"{FILE} is up to date\n", "")


def test_the_check_says_what_is_wrong(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    from make_reference import difference

    assert difference("a\nb\n", "a\nb\n") is None
    assert difference("a\nb\n", "a\nc\n") == "line 2 should be\nb\nand is\nc"
    assert difference("a\nb\n", "a\n") == "it has 1 lines and should have 2"
