"""The sweep of a library: a line per setting, whatever happens, and on from where it was."""

from __future__ import annotations

import csv
import itertools

import pytest
from checks import refused
from swept_library import LIBRARY, PAIR, SOUND

import sensitivity_lab as sl
from tools.sweep import sweep as module
from tools.sweep.page import summaries
from tools.sweep.setting import Judged
from tools.sweep.sweep import sweep


@pytest.fixture
def here(monkeypatch):
    """Judge in this process, without workers; return which settings were judged."""
    seen = []

    def judged(library, settings, *_):
        for one in settings:
            seen.append(one.constructor)
            yield one, library.judge(one), 0.25

    monkeypatch.setattr(module, "judged", judged)
    return seen


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


@pytest.mark.exhaustive
def test_no_setting_ends_the_sweep(tmp_path):
    """With two processes: one of them dies, one hangs, and both are replaced."""
    found = sweep(LIBRARY, tmp_path, timeout=1, n_jobs=2, progress=False)
    assert [(one.constructor, one.verdict, one.slack, one.remark) for one in found.lines] == [
        ("make_tight", "tight", "1", ""),
        ("make_refused", "not constructed", "", "no such type"),
        ("make_raises", "error", "", "ValueError: of two"),
        ("make_dies", "error", "", "the process ended: 3"),
        ("make_hangs", "timeout", "", "no verdict in 1 seconds"),
        ("make_violated", "violated", "0.5", PAIR),
    ]
    assert (found.left, found.missing) == (0, ("make_another",))
    (finding,) = found.findings
    assert (tmp_path / finding.script).read_text() == "print('reproduced')\n"
    assert found.table == tmp_path / "swept-1.0.csv"
    header, *rows = rows_of(found.table)
    assert header == ["constructor", "setting", "verdict", "slack", "seconds", "remark", "script"]
    assert [row[:4] for row in rows] == [
        [one.constructor, one.setting, one.verdict, one.slack] for one in found.lines
    ]
    page = found.page.read_text()
    assert "6 settings of 6. 1 of them with a claim that fails. No settings: make_another." in page
    assert page.count("<tr>") == 3 + 6 + 1 + 6
    assert page.count(f"<a href='{finding.script}'>script</a>") == 1


def test_a_sweep_goes_on_where_it_was(tmp_path, here):
    first = sweep(SOUND, tmp_path, limit=4, progress=False)
    assert (len(first.lines), first.left, len(here)) == (4, 2, 4)
    table = first.table
    # Killed while it wrote: the line is begun, and has no end.
    table.write_text(table.read_text() + "make_tight_5,tight_")
    second = sweep(SOUND, tmp_path, progress=False)
    assert (len(second.lines), second.left) == (6, 0)
    assert len(here) == len(set(here)) == 6
    assert [row[0] for row in rows_of(table)[1:]] == [one.constructor for one in SOUND.settings()]
    assert [one.verdict for one in second.lines] == ["tight"] * 6


def test_the_first_settings_are_a_sample_and_the_same_each_time():
    orders = [[one.constructor for one in SOUND.in_order()] for _ in range(2)]
    assert orders[0] == orders[1] != sorted(orders[0])


@pytest.mark.parametrize("content", ["", "constructor,sett"])
def test_a_sweep_that_was_killed_before_its_first_line_begins_anew(tmp_path, here, content):
    path = tmp_path / "swept-1.0.csv"
    path.write_text(content)
    assert len(sweep(SOUND, tmp_path, limit=2, progress=False).lines) == len(here) == 2
    assert rows_of(path)[0][0] == "constructor"


@pytest.mark.parametrize("content", ["a,b\n", "a", "constructor,setting\nmake_sum,dp\n"])
def test_other_files_are_left_alone(tmp_path, here, content):
    path = tmp_path / "swept-1.0.csv"
    path.write_text(content)
    refused(
        lambda: sweep(SOUND, tmp_path, progress=False),
        f"{path} is not the table of a sweep; name another folder",
    )
    assert path.read_text() == content
    assert here == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": 0}, "timeout must be a number of seconds above 0, got 0"),
        ({"timeout": "1"}, "timeout must be a number of seconds above 0, got '1'"),
        (
            {"limit": -1},
            "limit must be a whole number (a number of settings, at least 1), got -1, below 1",
        ),
    ],
)
@pytest.mark.usefixtures("here")
def test_arguments(tmp_path, options, message):
    with pytest.raises(sl.errors.InputError) as caught:
        sweep(SOUND, tmp_path, **options)
    assert message in str(caught.value)


@pytest.mark.usefixtures("here")
def test_a_summary_counts_the_worst_verdicts_first(tmp_path):
    several = itertools.cycle([Judged("tight", "1"), Judged("violated", "0.5"), Judged("error")])
    library = type(SOUND)("swept", SOUND.version, SOUND.settings, lambda _: next(several), list)
    found = sweep(library, tmp_path, progress=False)
    merged = summaries([type(line)("make_any", *line_rest(line)) for line in found.lines])
    assert [one.cells for one in merged] == [
        ("make_any", "6", "2 violated, 2 tight, 2 error", "0.5 to 1", "1.5")
    ]


def line_rest(line):
    return line.setting, line.verdict, line.slack, line.seconds, line.remark, line.script
