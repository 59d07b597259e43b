"""What a sweep of PipelineDP audits, and the scripts of its findings."""

from __future__ import annotations

import math

import pytest

from findings import assert_reproduces
from tools.sweep import pipeline_dp, plain
from tools.sweep.pipeline_dp_settings import settings

LIMITS = "max_partitions_contributed={}, max_contributions_per_partition={}"
STRATEGY = "partition_selection_strategy=PartitionSelectionStrategy."


def sum_of_squares(low, high):
    return (
        f"aggregate(rows, Metrics.VARIANCE, noise_kind=NoiseKind.LAPLACE, {LIMITS.format(1, 1)}, "
        f'min_value={low}, max_value={high}, public=["a", "b"])'
    )


def enforced(metric, rest):
    return (
        f"aggregate(rows, Metrics.{metric}, noise_kind=NoiseKind.LAPLACE, {LIMITS.format(1, 2)}, "
        f"{rest}, contribution_bounds_already_enforced=True"
    )


VECTOR = "vector_norm_kind=NormKind.L1, vector_max_norm=2.0, vector_size=2"
CASES = {
    sum_of_squares(0, 1): ("tight", "1"),
    sum_of_squares(-1, 2): ("violated", "0.888889"),
    enforced("SUM, Metrics.COUNT", "min_sum_per_partition=0, max_sum_per_partition=1")
    + ', public=["a", "b"])': ("violated", "0.5"),
    enforced("VECTOR_SUM", VECTOR) + ")": ("violated", "0.5"),
    f"select(rows, total=(1.0, 0.001), max_partitions_contributed=2, {STRATEGY}"
    "TRUNCATED_GEOMETRIC)": ("tight up to rounding", "1"),
    f"select(rows, total=(5.0, 0.001), max_partitions_contributed=2, {STRATEGY}"
    "WEIGHTED_GAUSSIAN_THRESHOLDING)": ("violated", "0.379173"),
}


def test_the_settings_are_distinct_and_many():
    names = [one.name for one in settings()]
    assert len(set(names)) == len(names) > 500


def test_the_delta_of_two_laws_is_that_of_closed_forms():
    """Balle and Wang (2018), theorem 5; and chances by hand, in both directions."""
    sure = {(): 1.0}
    gaussian = [(0.5, sure, {(): [mean, 1.0]}) for mean in (0.0, 0.7)]
    cdf = (1 + math.erf((0.35 - 0.5 / 0.7) / math.sqrt(2))) / 2
    other = (1 + math.erf((-0.35 - 0.5 / 0.7) / math.sqrt(2))) / 2
    assert plain.delta(*gaussian) == pytest.approx(cdf - math.exp(0.5) * other, rel=1e-12)
    none = {(): [], ("a",): []}
    one, two = ((0.0, chances, none) for chances in ({(): 0.75, ("a",): 0.25}, {(): 1.0}))
    assert plain.delta(one, two) == plain.delta(two, one) == 0.25
    assert plain.delta((math.log(2), *one[1:]), (math.log(2), *two[1:])) == 0.25
    halves = {(): 0.5, ("a",): 0.5}
    assert plain.delta((0.0, halves, none), (0.0, {(): 0.25, ("a",): 0.75}, none)) == 0.25


@pytest.mark.exhaustive
@pytest.mark.parametrize("source", CASES)
def test_a_setting_has_a_verdict(source, monkeypatch, tmp_path):
    pytest.importorskip("pipeline_dp", reason="needs pipeline-dp: make .venv-field/installed")
    monkeypatch.setattr(pipeline_dp, "confirmed", lambda found: found)
    (given,) = (one for one in settings() if one.source == source)
    found = pipeline_dp.judge(given)
    assert (found.verdict, found.slack) == CASES[source], found.remark
    assert bool(found.script) == (found.verdict == "violated")
    if found.script:
        assert_reproduces(found.script, tmp_path)


@pytest.mark.exhaustive
def test_the_settings_are_of_what_is_installed():
    pytest.importorskip("pipeline_dp", reason="needs pipeline-dp: make .venv-field/installed")
    names = {one.constructor.partition(",")[0] for one in settings()}
    accountants = {"NaiveBudgetAccountant", "PLDBudgetAccountant"}
    assert set(pipeline_dp.PIPELINE_DP.constructors()) == names - accountants


@pytest.mark.exhaustive
def test_selections_keep_partitions_as_often_as_they_say():
    """The law of a selection is what the library says; 40,000 draws, six standard deviations."""
    selections = pytest.importorskip(
        "pydp.algorithms.partition_selection", reason="needs python-dp"
    )
    for name in ("truncated_geometric", "laplace", "gaussian"):
        for more in ((), (2,)):
            one = selections.create_partition_strategy(name, 1.0, 0.2, 1, *more)
            for number in (0.9, 1, 1.7, 2, 4):
                chance, draws = one.probability_of_keep(number), 40_000
                kept = sum(one.should_keep(number) for _ in range(draws))
                assert abs(kept - chance * draws) <= 6 * math.sqrt(draws * chance * (1 - chance))
