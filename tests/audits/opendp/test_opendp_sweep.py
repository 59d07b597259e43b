"""A sweep of OpenDP: a line per setting, whatever happens, and on from where it was."""

from __future__ import annotations

import csv
import itertools

import pytest
from opendp_cases import dp

import sensitivity_lab as sl
from sensitivity_lab.audits.opendp import sweep
from sensitivity_lab.audits.opendp.sweep import sweep_opendp
from sensitivity_lab.audits.opendp.sweep_settings import Setting, settings

pytestmark = [pytest.mark.opendp, pytest.mark.usefixtures("opendp_features", "few_calls")]

VECTORS = "dp.vector_domain(dp.atom_domain(T='i32', bounds=(0, 2000000000)))"

CHOSEN = [
    Setting("make_count", f"dp.t.make_count({VECTORS}, dp.symmetric_distance())", (0, 9), (0, 1)),
    Setting("make_sum", f"dp.t.make_sum({VECTORS}, dp.hamming_distance())", (0, 9), (1,)),
    Setting("make_sum", f"dp.t.make_sum({VECTORS}, dp.symmetric_distance())", (), (1,)),
    Setting(
        "make_sum",
        f"dp.t.make_sum({VECTORS}, dp.symmetric_distance( ))",
        (0, 2_000_000_000),
        (0, 1),
    ),
]


def untimed(lines):
    return [(line.constructor, line.verdict, line.slack, line.remark) for line in lines]


def test_no_setting_ends_the_sweep(tmp_path):
    lines = sweep_opendp(tmp_path / "table.csv", chosen=CHOSEN)
    refused = lines[1].remark
    assert "HammingDistance" in refused
    assert untimed(lines) == [
        ("make_count", "loose", "2", ""),
        ("make_sum", "not constructed", "", refused),
        (
            "make_sum",
            "error",
            "",
            "InputError: values must be the entries that datasets are made of, at least one, got "
            "()",
        ),
        (
            "make_sum",
            "no claim",
            "nan",
            'Overflow("2 * 2000000000 overflows. Consider tightening your parameters.")',
        ),
    ]
    with (tmp_path / "table.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["constructor", "setting", "verdict", "slack", "seconds", "remark"]
    assert [row[:4] for row in rows] == [
        [line.constructor, line.setting, line.verdict, line.slack] for line in lines
    ]


def test_a_sweep_goes_on_where_it_was(tmp_path, monkeypatch):
    judged = []

    def judge(setting, _):
        judged.append(setting.source)
        if len(judged) == 3:
            raise KeyboardInterrupt
        return "tight", "1", ""

    monkeypatch.setattr(sweep, "_judge", judge)
    path = tmp_path / "table.csv"
    with pytest.raises(KeyboardInterrupt):
        sweep_opendp(path, chosen=CHOSEN)
    assert len(path.read_text().splitlines()) == 3
    lines = sweep_opendp(path, chosen=CHOSEN, limit=1)
    assert [line.setting for line in lines] == [one.source for one in CHOSEN[:3]]
    lines = sweep_opendp(path, chosen=CHOSEN)
    assert [line.setting for line in lines] == [one.source for one in CHOSEN]
    assert judged == [one.source for one in (*CHOSEN[:3], *CHOSEN[2:])]


def test_a_violation_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(dp, "half", lambda: of_half(), raising=False)
    setting = Setting("half", "dp.half()", (0, 4), (0, 1))
    (line,) = sweep_opendp(tmp_path / "table.csv", chosen=[setting])
    assert (line.verdict, line.slack) == ("violated", "0.5")
    assert line.remark == "d_in = 1: [] and [4]"


def of_half():
    return dp.t.make_user_transformation(
        dp.vector_domain(dp.atom_domain(T=int)),
        dp.symmetric_distance(),
        dp.atom_domain(T=int),
        dp.absolute_distance(T=int),
        sum,
        lambda d_in: 2 * d_in,
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n", "{} is not the table of a sweep; name another file"),
        (
            "constructor,setting,verdict,slack,seconds,remark\nmake_sum,dp\n",
            "{} has a line that is cut off; remove it, and the sweep goes on",
        ),
    ],
)
def test_other_files_are_left_alone(tmp_path, content, message):
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(sl.InputError) as caught:
        sweep_opendp(path, chosen=CHOSEN)
    assert str(caught.value) == message.format(path)
    assert path.read_text() == content


def test_the_settings_are_distinct_and_many():
    sources = [one.source for one in settings()]
    assert len(set(sources)) == len(sources) > 1000
    assert {one.constructor for one in itertools.islice(settings(), 200)} >= {
        "make_sum",
        "make_mean",
        "make_variance",
        "make_clamp",
    }
