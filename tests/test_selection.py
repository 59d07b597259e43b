"""What `make test` leaves out, `make check` or `make stress` runs; what stays represents it."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from paths import ROOT, TESTS

CONTRACT = TESTS / "search" / "test_contract.py"
METRICS = TESTS / "metrics" / "test_metrics.py"
MEMORY = TESTS / "search" / "test_memory.py"
NOBODY = TESTS / "search" / "test_nobody.py"
MARKERS = ("exhaustive", "further", "stress", "notebooks", "browser")

PLUGIN = """
def pytest_collection_finish(session):
    for item in session.items:
        print("case", item.nodeid, *{one.name for one in item.iter_markers()}, sep="\\t")
"""
"""Shows every case with its markers."""


def expression(path: str, before: str) -> str:
    """What a file passes to `pytest -m`, or to make for it."""
    found = re.search(f"{re.escape(before)}(.*)$", (ROOT / path).read_text("utf-8"), re.MULTILINE)
    assert found
    return found[1].split('"')[0].strip()


def collected(tmp_path) -> dict[str, set[str]]:
    """The cases of some files of tests, with their markers."""
    (tmp_path / "shows_markers.py").write_text(PLUGIN)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "", "-p"]
    done = subprocess.run(
        [*command, "shows_markers", str(CONTRACT), str(METRICS), str(MEMORY), str(NOBODY)],
        cwd=ROOT,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    told = [line.split("\t") for line in done.stdout.splitlines() if line.startswith("case\t")]
    return {name: set(markers) for _, name, *markers in told}


def run_by(expression: str, cases: dict[str, set[str]]) -> set[str]:
    """The cases that an expression of `pytest -m` selects."""
    return {
        case
        for case, markers in cases.items()
        if not expression or eval(expression, {one: one in markers for one in MARKERS})
    }


@pytest.mark.exhaustive
def test_every_case_runs_somewhere_and_what_stays_represents_the_rest(tmp_path):
    cases = collected(tmp_path)
    quick = run_by(expression("Makefile", "SOME := "), cases)
    later = run_by(expression(".ci/run", 'check ALL="'), cases)
    checked = run_by(expression("Makefile", "ALL := "), cases)
    # CI runs what `make check` runs, in two parts; no case is for nobody, or for two.
    assert quick | later == checked
    assert not quick & later
    stress = run_by("stress", cases)
    assert checked | stress == set(cases)
    assert not checked & stress

    test = "::test_agrees_with_the_definition["
    named = [[case.split(test)[1] for case in some if test in case] for some in (quick, checked)]
    assert 0 < len(named[0]) < len(named[1])
    # Of a test that says which arguments matter, most of what is left out is for `make stress`.
    for place in (0, 1):  # engine and query; relation and meaning
        kept, everything = ({case.split(",")[place] for case in some} for some in named)
        assert kept == everything
    # With `quick`, one case per value of those is quick, and what else stays is for `make check`.
    test = "::test_nobody_by_definition["
    named = [[case.split(test)[1] for case in some if test in case] for some in (quick, checked)]
    assert [len({case.split("-")[0] for case in some}) for some in named] == [len(named[0])] * 2
    assert len(named[1]) >= 4 * len(named[0])
    # Of another one, an eighth of the cases stays, and another eighth is `further`.
    plain = [case for case in cases if f"{METRICS.name}::test_a_detour_is_no_shorter[" in case]
    assert len(plain) >= 20
    assert len(quick & set(plain)) == pytest.approx(len(plain) / 8, abs=1)
    assert len(later & set(plain)) == pytest.approx(len(plain) / 8, abs=1)
    # Of one that only `make check` runs, too.
    slow = [case for case in cases if f"{MEMORY.name}::test_a_plan_changes_on_purpose" in case]
    assert len(slow) >= 20
    assert not quick & set(slow)
    assert len(later & set(slow)) == pytest.approx(len(slow) / 8, abs=1)
