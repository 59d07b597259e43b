"""What a sweep of diffprivlib audits, and the scripts of its findings."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from tools.sweep import diffprivlib
from tools.sweep.diffprivlib import DIFFPRIVLIB, judge
from tools.sweep.diffprivlib_settings import settings

SOUND = [
    "tools.mean(np.array(x, dtype=float), bounds=(0, 1), **spent); neighbors bounded; size 2",
    "tools.mean(np.array(x, dtype=float), axis=0, bounds=(0, 1), **spent); neighbors bounded; "
    "size 2",
    "tools.histogram(np.array(x), range=(0, 3), bins=2, density=False, **spent); "
    "neighbors unbounded",
]
WRONG = {
    "tools.nanmean(np.array(x, dtype=float), bounds=(0, 1), **spent); values missing; "
    "neighbors bounded; size 3": "violated",
    "tools.histogram(np.array(x), range=(0, 3), bins=2, density=False, **spent); "
    "neighbors bounded; size 2": "violated",
    "models.KMeans(1, bounds=(1, 2), **spent).fit(np.c_[x]); neighbors unbounded": "violated",
    "models.GaussianNB(bounds=(0, 1), **spent).fit(np.c_[x][:, :1], np.array(x)[:, 1]); "
    "where both labels; neighbors bounded; size 3": "violated",
    "models.KMeans(2, bounds=(0, 1), **spent).fit(np.c_[x]); neighbors bounded; "
    "size 2": "not aligned",
    "tools.mean(np.array(x, dtype=float), bounds=(0, 1), **spent); "
    "neighbors unbounded": "data-dependent claim",
}


def named(name):
    (found,) = (one for one in settings() if one.name == name)
    return found


def test_the_settings_are_distinct_and_many():
    names = [one.name for one in settings()]
    assert len(set(names)) == len(names) > 500


@pytest.mark.diffprivlib
@pytest.mark.exhaustive
def test_the_settings_are_of_what_is_installed():
    pytest.importorskip("diffprivlib", reason="needs the extra `diffprivlib`")
    left = {"DecisionTreeClassifier", "LogisticRegression", "PCA", "RandomForestClassifier"}
    known = {one.constructor for one in settings()}
    assert set(DIFFPRIVLIB.constructors()) == known | left


@pytest.mark.diffprivlib
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", SOUND)
def test_a_sound_call(name):
    pytest.importorskip("diffprivlib", reason="needs the extra `diffprivlib`")
    assert judge(named(name)).verdict in {"tight", "tight up to rounding", "loose"}


@pytest.mark.diffprivlib
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", WRONG)
def test_the_script_of_a_finding_runs_without_the_lab(name, tmp_path, monkeypatch):
    monkeypatch.setattr(diffprivlib, "confirmed", lambda found: found)
    pytest.importorskip("diffprivlib", reason="needs the extra `diffprivlib`")
    found = judge(named(name))
    assert found.verdict == WRONG[name]
    path = tmp_path / "finding.py"
    path.write_text(found.script)
    done = subprocess.run(
        [sys.executable, "-I", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("reproduced\n")


@pytest.mark.diffprivlib
@pytest.mark.exhaustive
def test_the_script_of_data_that_is_returned_runs_without_the_lab(tmp_path, monkeypatch):
    monkeypatch.setattr(diffprivlib, "confirmed", lambda found: found)
    pytest.importorskip("diffprivlib", reason="needs the extra `diffprivlib`")
    right = named(SOUND[0])
    source = f"({right.source}, max(x))"
    found = judge(replace(right, source=source))
    assert (found.verdict, "at the return value" in found.remark) == ("violated", True)
    path = tmp_path / "finding.py"
    path.write_text(found.script)
    done = subprocess.run(
        [sys.executable, "-I", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "returns data without noise" in found.script
