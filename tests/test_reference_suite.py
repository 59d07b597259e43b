"""The reference suite is what it says: recomputed in plain Python, entry by entry.

Nothing but the last two tests asks the library: the file is read as another language would read it.
"""

from __future__ import annotations

import copy
import json
import math
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import jsonschema
import oracle
import oracle_records
import pytest
from paths import ROOT

FILE = ROOT / "data" / "reference_sensitivities.json"
TEXT = FILE.read_text("utf-8")
SUITE = json.loads(TEXT)
ENTRIES = SUITE["entries"]
SCHEMA = json.loads(FILE.with_suffix(".schema.json").read_text("utf-8"))

LISTED = 20_000
"""The oracle lists all datasets of labeled records: at most so many."""
FEW = 100
"""More datasets than these are listed by the exhaustive tests only."""

each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=[entry["id"] for entry in ENTRIES])


# Reading the file


def records_of(entry: dict[str, Any], written: list[Any]) -> list[Any]:
    """Records as the oracles take them: fractions, or tuples of cells."""
    universe = entry["universe"]
    if "values" in universe:
        return [Fraction(value) for value in written]
    numeric = [column["type"] == "number" for column in universe["columns"]]
    return [
        tuple(
            Fraction(cell) if number and cell is not None else cell
            for number, cell in zip(numeric, row, strict=True)
        )
        for row in written
    ]


def universe_of(entry: dict[str, Any]) -> dict[Any, int]:
    """How often each record of the universe is there, as far as neighbors can hold it."""
    universe = entry["universe"]
    records = records_of(entry, universe.get("values") or universe["rows"])
    most = entry["size"] + entry["neighbors"]["k"]
    counts = universe["counts"] or [most] * len(records)
    return dict(zip(records, counts, strict=True))


def query_on_rows(entry: dict[str, Any]) -> oracle_records.Query:
    asked = entry["query"]
    names = [column["name"] for column in entry["universe"]["columns"]]
    at = {key: names.index(asked[key]) for key in ("column", "a", "b", "of") if key in asked}
    match asked["name"]:
        case "count":
            return oracle_records.count
        case "count_if":
            value, least = asked["value"], asked["operator"] == ">="
            return oracle_records.count_if(
                lambda row: (
                    row[at["column"]] is not None
                    and (row[at["column"]] >= value if least else row[at["column"]] == value)
                )
            )
        case "sum_of":
            return oracle_records.total(at["column"], asked["clip"])
        case "mean_of":
            return oracle_records.mean(at["column"], asked["empty"])
        case "covariance":
            return oracle_records.covariance(at["a"], at["b"], asked["ddof"])
        case "histogram":
            return oracle_records.histogram_of_categories(at["column"], asked["categories"])
        case "histogram_of_bins":
            return oracle_records.histogram_of_bins(at["column"], asked["edges"])
        case "group_counts":
            counted = oracle_records.count
            return oracle_records.group_by(at["column"], counted, asked["groups"])
        case "group_sums":
            total = oracle_records.total(at["of"], asked["clip"])
            return oracle_records.group_by(at["column"], total, asked["groups"])
    raise AssertionError(asked)


def query_on_numbers(entry: dict[str, Any]) -> tuple[Any, ...]:
    name, *parameters = entry["query"].values()
    return (
        name,
        *(
            Fraction(one) if name == "percentile" and one == parameters[0] else one
            for one in parameters
        ),
    )


def answer_of(entry: dict[str, Any], records: list[Any]) -> Any:
    """The oracle's answer; of a standard deviation, its square."""
    if "rows" in entry["universe"]:
        return query_on_rows(entry)(tuple(records))
    name, *parameters = query_on_numbers(entry)
    return oracle.evaluate(("var" if name == "std" else name, *parameters), records)


def roots_of(written: Any) -> tuple[Fraction, Fraction]:
    """A stated value or answer as (a, b), where it is sqrt a - sqrt b."""
    if isinstance(written, str):
        return Fraction(written) ** 2, Fraction(0)
    if "root" in written:
        return Fraction(written["root"]), Fraction(0)
    a, b = map(Fraction, written["root_difference"])
    return a, b


def is_at_least(bound: Fraction, roots: tuple[Fraction, Fraction]) -> bool:
    """Whether bound >= sqrt a - sqrt b, for bound >= 0 and a >= b, without rounding."""
    a, b = roots
    rest = a - b - bound * bound
    return rest <= 0 or 4 * bound * bound * b >= rest * rest


def difference_as_roots(entry: dict[str, Any], first: Any, second: Any) -> Any:
    """The norm of a difference of answers as sqrt a - sqrt b."""
    if entry["query"]["name"] == "std":
        return max(first, second), min(first, second)
    distance = oracle_records.distances(first, second)[entry["norm"]]
    return (distance if entry["norm"] == "L2" else distance**2), Fraction(0)


def same_number(one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction]) -> bool:
    """Whether two differences of roots agree; to 50 digits, if they are written differently."""
    if one == other:
        return True
    first, second = oracle.root_difference(*one), oracle.root_difference(*other)
    return abs(first - second) <= Decimal(10) ** -50 * max(first, second)


def relation_of(entry: dict[str, Any]) -> tuple[Any, ...]:
    near = entry["neighbors"]
    return near["relation"], near["k"], near["exactly"], near["direction"]


# The witnesses


@each_entry
def test_x_and_y_are_neighbors(entry):
    """By the rule that the file's header states."""
    copies = universe_of(entry)
    x, y = (Counter(records_of(entry, entry["witness"][side])) for side in "xy")
    assert x.total() == entry["size"]
    assert y.total() > 0
    for data in (x, y):
        assert all(data[record] <= copies.get(record, 0) for record in data)
    unlimited = entry["universe"]["counts"] is None
    i, j = (x - y).total(), (y - x).total()
    s = sum(min(x[v], y[v], math.inf if unlimited else copies[v] - max(x[v], y[v])) for v in copies)
    relation, k, exactly, direction = relation_of(entry)
    allowed = []
    for d in [k] if exactly else range(1, k + 1):
        if relation == "bounded":
            allowed.append((d, d))
        elif relation == "symmetric_difference":
            allowed.extend((removed, d - removed) for removed in range(d + 1))
        else:
            allowed.extend([(d, 0)] * (direction != "add") + [(0, d)] * (direction != "remove"))
    assert any(0 <= a - i == b - j <= s for a, b in allowed)


@each_entry
def test_the_witness_attains_the_value(entry):
    answers = []
    for side in "xy":
        answer = answer_of(entry, records_of(entry, entry["witness"][side]))
        stated = entry["witness"][f"query_{side}"]
        if entry["query"]["name"] == "std":
            assert roots_of(stated) == (answer, 0)
        elif isinstance(answer, tuple):
            assert tuple(map(Fraction, stated)) == answer
        else:
            assert Fraction(stated) == answer
        answers.append(answer)
    assert same_number(difference_as_roots(entry, *answers), roots_of(entry["exact"]))


@each_entry
def test_value_and_upper_are_the_floats_that_they_say(entry):
    roots = roots_of(entry["exact"])
    value, upper = entry["value"], entry["upper"]
    assert is_at_least(Fraction(upper), roots)
    below = math.nextafter(upper, -math.inf)
    assert upper == 0 or not is_at_least(Fraction(below), roots)
    middle = (Fraction(upper) + Fraction(below)) / 2
    if upper == 0 or not is_at_least(middle, roots):
        assert value == upper
    else:
        assert value in (
            (below, upper) if same_number((middle**2, Fraction(0)), roots) else (below,)
        )


@each_entry
def test_exact_is_written_in_one_way(entry):
    """Fractions in lowest terms, roots only where they are irrational, the larger first."""

    def check_root(radicand: str) -> None:
        value = Fraction(radicand)
        assert str(value) == radicand
        assert value > 0

    def irrational(radicand: str) -> bool:
        value = Fraction(radicand)
        return Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator)) ** 2 != value

    exact = entry["exact"]
    if isinstance(exact, str):
        assert str(Fraction(exact)) == exact
        return
    radicands = exact.get("root_difference") or [exact["root"]]
    for radicand in radicands:
        check_root(radicand)
    assert any(map(irrational, radicands))
    assert list(map(Fraction, radicands)) == sorted(map(Fraction, radicands), reverse=True)


# The maxima


def listed(entry: dict[str, Any]) -> int:
    return math.comb(sum(universe_of(entry).values()), entry["size"])


SMALL = [entry for entry in ENTRIES if listed(entry) <= LISTED]


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(
            entry, id=entry["id"], marks=[pytest.mark.exhaustive] if listed(entry) > FEW else []
        )
        for entry in SMALL
    ],
)
def test_no_other_pair_differs_more(entry):
    """All datasets and all their neighbors, in rational arithmetic."""
    copies = universe_of(entry)
    universe = oracle.universe_of(copies, copies.values())
    stated = roots_of(entry["exact"])
    if "rows" in entry["universe"]:
        found = oracle_records.global_sensitivity(
            universe, entry["size"], query_on_rows(entry), *relation_of(entry)
        )
        largest = found[entry["norm"]][0]
        assert stated == ((largest if entry["norm"] == "L2" else largest**2), 0)
        return
    largest, _ = oracle.global_sensitivity(
        universe, entry["size"], query_on_numbers(entry), *relation_of(entry)
    )
    if entry["query"]["name"] == "std":
        assert abs(oracle.root_difference(*stated) - largest) <= Decimal(10) ** -50 * largest
    else:
        assert stated == (largest**2, 0)


def test_nearly_all_entries_are_recomputed():
    """Left are the datasets of 24 records, whose values are closed forms."""
    left = [entry for entry in ENTRIES if listed(entry) > LISTED]
    assert {entry["size"] for entry in left} == {24}
    assert {entry["source"]["from"] for entry in left} == {"derived", "dppack"}


# The sources


KNOWN = [entry for entry in ENTRIES if entry["source"] != "enumerated"]


@pytest.mark.parametrize("entry", KNOWN, ids=[entry["id"] for entry in KNOWN])
def test_values_known_from_elsewhere_agree(entry):
    source = entry["source"]
    assert source["from"] in SUITE["sources"]
    digits = len(source["says"].partition(".")[2])
    allowed = Fraction(1, 10**digits) if digits else 0
    says, roots = Fraction(source["says"]), roots_of(entry["exact"])
    assert is_at_least(says + allowed, roots)
    lowest = max(says - allowed, Fraction(0))
    assert not is_at_least(lowest, roots) or same_number((lowest**2, Fraction(0)), roots)


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


VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.mark.exhaustive
def test_the_file_is_valid_by_its_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert [error.json_path for error in VALIDATOR.iter_errors(SUITE)] == []


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
def test_the_schema_refuses(path, value):
    entry = copy.deepcopy(next(e for e in ENTRIES if e["neighbors"]["relation"] == "bounded"))
    assert "values" in entry["universe"]
    *parents, last = path
    place = entry
    for parent in parents:
        place = place[parent]
    place[last] = value
    assert not VALIDATOR.is_valid({**SUITE, "entries": [entry]})


@pytest.mark.exhaustive
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
