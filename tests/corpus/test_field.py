"""Mistakes, and what is right, in libraries that need another environment: `make audit-field`.

PipelineDP 0.3.1, SmartNoise SQL 1.0.10, JAX Privacy 2.0.0 and dp-accounting 0.6.0. Each finding is
run once more in plain Python.
"""

from __future__ import annotations

import itertools
import math
import subprocess
import sys

import pytest

import sensitivity_lab as sl
from sensitivity_lab.audits import audit, audit_recorded

pytestmark = pytest.mark.exhaustive

RIGHT = {"tight", "tight up to rounding", "loose"}


def rerun(script):
    """Run plain Python, in which nothing of the lab is loaded."""
    end = '\nimport sys\nassert "sensitivity_lab" not in sys.modules\n'
    done = subprocess.run([sys.executable, "-c", script + end], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def pipeline():
    """A function of a metric and two bounds that returns a function of a dataset."""
    library = pytest.importorskip("pipeline_dp", reason="needs pipeline-dp")

    def aggregate(metric, bounds, **options):
        given = {"min_value": bounds[0], "max_value": bounds[1], **options}

        def run(x):
            accountant = library.NaiveBudgetAccountant(total_epsilon=1, total_delta=0)
            params = library.AggregateParams(
                metrics=[getattr(library.Metrics, metric)],
                noise_kind=library.NoiseKind.LAPLACE,
                max_partitions_contributed=1,
                max_contributions_per_partition=1,
                **given,
            )
            extract = library.DataExtractors(
                privacy_id_extractor=lambda row: row[0],
                partition_extractor=lambda _: "all",
                value_extractor=lambda row: row[1],
            )
            engine = library.DPEngine(accountant, library.LocalBackend())
            rows = engine.aggregate(list(enumerate(x)), params, extract, public_partitions=["all"])
            accountant.compute_budgets()
            return list(rows)

        return run

    return aggregate


@pytest.mark.parametrize("metric", ["SUM", "MEAN", "VARIANCE"])
def test_a_missing_value_passes_through_the_clipping_of_pipeline_dp(pipeline, metric):
    """No thread was found here; github.com/google/differential-privacy/pull/405 is alike.

    The release itself says it: it is not a number, whatever the noise.
    """
    run, name = pipeline(metric, (0, 1)), metric.lower()
    (released,) = run([0.5, math.nan])
    assert math.isnan(getattr(released[1], name))
    (released,) = run([0.5, 0.5])
    assert math.isfinite(getattr(released[1], name))


SQL = {
    "max_ids": 1,
    "row_privacy": True,
    "censor_dims": False,
    "clamp_columns": True,
    "i": {"type": "int", "lower": -3, "upper": 2},
    "f": {"type": "float", "lower": 0.0, "upper": 2.5},
}


@pytest.mark.parametrize("query", ["COUNT(*)", "SUM(i)", "AVG(i)", "VAR(i)", "SUM(f)", "STDDEV(f)"])
@pytest.mark.filterwarnings("ignore")
def test_smartnoise_sql_is_right(query):
    """Each column of the subquery has the epsilon of the call, as `get_privacy_cost` says."""
    library = pytest.importorskip("snsql", reason="needs smartnoise-sql")
    import pandas as pd
    from snsql.sql._mechanisms.laplace import Laplace

    def run(x):
        table = pd.DataFrame({"i": [one for one, _ in x], "f": [two for _, two in x]})
        reader = library.from_df(
            table, metadata={"": {"S": {"T": SQL}}}, privacy=library.Privacy(epsilon=1)
        )
        reader.execute(f"SELECT {query} AS n FROM S.T")

    report = audit_recorded(
        run,
        list(itertools.product([-9, 1, 9], [0.5, 7.0])),
        [1, 2],
        Laplace,
        method="release",
        # What its scale is made of: a sum of values from 0 to `upper`, of so many records.
        sensitivity=lambda mechanism: mechanism.upper * mechanism.max_contrib,
        neighbors="unbounded",
        every_order=False,
        histories=1,
    )
    assert {row.verdict for row in report.rows} <= RIGHT


CLIPPING = """
import jax.numpy as jnp
from jax_privacy import clipping

half = clipping.clipped_fun(lambda x: x, l2_clip_norm=1e-5, keep_batch_dim=False)
assert half.l2_norm_bound == 1e-5
out = half(jnp.full((1, 4), 1e-4, "float16")).astype("float32")
assert sum(float(one) ** 2 for one in out) ** 0.5 > 1.9e-4

unit = clipping.clipped_fun(lambda x: x, l2_clip_norm=1.0, keep_batch_dim=False)
out = unit(jnp.array([[2, 10, 19]], "bfloat16")).astype("float32")
assert sum(float(one) ** 2 for one in out) ** 0.5 > 1.006
"""


def clipped(kind, bound):
    """A sum of clipped records, and the claim of the library."""
    clipping = pytest.importorskip("jax_privacy.clipping", reason="needs jax-privacy")
    import jax.numpy as jnp

    function = clipping.clipped_fun(lambda x: x, l2_clip_norm=bound, keep_batch_dim=False)

    def total(x):
        if not x:
            return [0.0] * 3
        return function(jnp.array(x, kind)).astype("float32").tolist()

    return total, function.l2_norm_bound


@pytest.mark.filterwarnings("ignore")
def test_the_clipping_of_jax_privacy_rounds_in_the_type_of_the_records():
    """github.com/google-deepmind/jax_privacy/pull/309 names the underflow of float16."""
    records = [(0.0, 0.0, 0.0), (2.0, 10.0, 19.0), (14.0, 19.0, 7.0)]
    small = [tuple(one / 2e5 for one in record) for record in records]
    found = {}
    for kind, bound, values in [
        ("float32", 1.0, records),
        ("bfloat16", 1.0, records),
        ("float16", 1.0, records),
        ("float16", 1e-5, small),
    ]:
        total, claim = clipped(kind, bound)
        report = audit(
            values,
            total,
            claim,
            size=[0, 1],
            neighbors="symmetric",
            outputs="L2",
            distances=1,
            tolerance_ulps=2**32,
            every_order=False,
        )
        (row,) = report.rows
        found[kind, bound] = report.verdict, float(f"{row.value / claim:.3g}")
    # Of doubles 2**32 units are about 1e-6, the rounding of float32, which all of this runs in.
    assert found["float32", 1.0][0] in RIGHT
    assert found["bfloat16", 1.0] == ("violated", 1.01)
    assert found["float16", 1.0] == ("violated", 1.0)
    assert found["float16", 1e-5][0] == "violated"
    assert found["float16", 1e-5][1] > 10
    rerun(CLIPPING)


ACCOUNTING = """
import math
import dp_accounting
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

def delta(epsilon, ratio):  # of the Gaussian mechanism; ratio: sensitivity over deviation
    cdf = lambda t: math.erfc(-t / math.sqrt(2)) / 2
    return cdf(ratio / 2 - epsilon / ratio) - math.exp(epsilon) * cdf(-ratio / 2 - epsilon / ratio)

event = dp_accounting.GaussianDpEvent(4.0)  # the deviation over the largest norm of a value
relation = dp_accounting.NeighboringRelation.REPLACE_ONE
rdp = RdpAccountant(neighboring_relation=relation).compose(event).get_epsilon(1e-5)
pld = PLDAccountant(neighboring_relation=relation).compose(event).get_epsilon(1e-5)
# The values -C and C are neighbors: 2 C apart, 2 / 4 of the deviation.
assert delta(rdp, 2 / 4) > 600 * 1e-5
assert math.isclose(delta(pld, 2 / 4), 1e-5, rel_tol=1e-3)
assert delta(rdp, 1 / 4) < 1e-5
"""


def test_the_renyi_accountant_forgets_that_a_replaced_record_moves_twice():
    """github.com/google/differential-privacy/issues/378, with the pull request 464.

    A sum of values of norm at most C has sensitivity 2 C where a record is replaced, and the other
    accountant of the library says so. The audit of the sum tells which of them is right.
    """
    pytest.importorskip("dp_accounting", reason="needs dp-accounting")
    report = sl.audit(
        sl.Universe.from_domain([-1, 0, 1]), "sum", 1, size=2, neighbors="bounded", distances=1
    )
    assert (report.verdict, report.rows[0].exact) == ("violated", 2)
    rerun(ACCOUNTING)
