"""What a sweep of diffprivlib audits, and the scripts of its findings."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace

import pytest

from findings import assert_reproduces
from tools.sweep import diffprivlib_models, scripts
from tools.sweep.diffprivlib import DIFFPRIVLIB, judge
from tools.sweep.diffprivlib_settings import settings

SOUND = [
    "tools.mean(np.array(x, dtype=float), bounds=(0, 1), **spent); neighbors bounded; size 2",
    "tools.mean(np.array(x, dtype=float), axis=0, bounds=(0, 1), **spent); neighbors bounded; "
    "size 2",
    "tools.histogram(np.array(x), range=(0, 3), bins=2, density=False, **spent); "
    "neighbors unbounded",
    "models.DecisionTreeClassifier(max_depth=1, bounds=(0, 1), classes=[0, 1], **spent); "
    "audit leaves; neighbors unbounded",
    "LogisticRegression(data_norm=2, fit_intercept=True); audit gradient; neighbors bounded; "
    "size 2",
    "(models.PCA(data_norm=1.5, centered=True, **spent).fit(np.array(x, float)), None)[1]; "
    "neighbors bounded; size 2",
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
    "models.RandomForestClassifier(2, max_depth=1, bounds=(0, 1), classes=[0, 1], **spent); "
    "audit leaves; neighbors unbounded": "violated",
    "LogisticRegression(data_norm=10, fit_intercept=False); audit curvature; neighbors bounded; "
    "size 2": "violated",
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
    assert set(DIFFPRIVLIB.constructors()) == {one.constructor for one in settings()}


@pytest.mark.diffprivlib
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", SOUND)
def test_a_sound_call(name):
    pytest.importorskip("diffprivlib", reason="needs the extra `diffprivlib`")
    assert judge(named(name)).verdict in {
        *("tight", "tight up to rounding", "loose", "holds if post-processed"),
    }


@pytest.mark.representative
@pytest.mark.diffprivlib
@pytest.mark.stress
@pytest.mark.parametrize("name", WRONG)
def test_the_script_of_a_finding_runs_without_the_lab(name, tmp_path, monkeypatch):
    monkeypatch.setattr(scripts, "confirmed", lambda found: found)
    pytest.importorskip("diffprivlib", reason="needs the extra `diffprivlib`")
    found = judge(named(name))
    assert found.verdict == WRONG[name]
    assert_reproduces(found.script, tmp_path)


@pytest.mark.diffprivlib
@pytest.mark.stress
def test_the_script_of_data_that_is_returned_runs_without_the_lab(tmp_path, monkeypatch):
    monkeypatch.setattr(scripts, "confirmed", lambda found: found)
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


@pytest.mark.diffprivlib
@pytest.mark.exhaustive
@pytest.mark.parametrize(("norm", "least"), [(2, 0.64), (10, 1.22), (100, 3.25)])
def test_the_curvature_that_logistic_regression_claims_costs_privacy(norm, least):
    """The density of the fitted coefficient at 0, by hand, from what the mechanism is told.

    The search ends where the noise is minus the gradient, so the density there is that of the noise
    times the second derivative. With epsilon = 1 the second and third norm lose more than 1.
    """
    pytest.importorskip("diffprivlib", reason="needs the extra `diffprivlib`")
    names = {"__name__": "finding"}
    with diffprivlib_models.MechanismsKept():
        exec(diffprivlib_models.HEAD, names)
        densities = []
        for x in ([(0, 0), (0, 1)], [(0, 0), (norm, 1)]):
            model = f"LogisticRegression(data_norm={norm}, fit_intercept=False)"
            told = names["fitted"](x, model)["loss"][0]
            bound = told.function_sensitivity * told.data_sensitivity
            share, more = told.epsilon - 2 * math.log(1 + bound / told.alpha), 0.0
            if share <= 0:
                more = bound / math.expm1(told.epsilon / 4) - told.alpha
                share = told.epsilon / 2
            slope = sum((0.5 - label) * one for one, label in x)
            steepness = sum(one * one / 4 for one, _ in x) + told.alpha + more
            scale = 2 * told.data_sensitivity / share
            densities.append(math.log(steepness) - abs(slope) / scale)
    assert densities[1] - densities[0] == pytest.approx(least, abs=0.01)
