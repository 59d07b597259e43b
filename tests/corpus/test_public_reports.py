"""Public reports of mistakes in privacy libraries, each found by the first call that one writes.

Where a library is installed, its own code is called, as the report has it. The others are written
out in the shape that they have in the library.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_opendp, audit_recorded

dp = pytest.importorskip("opendp.prelude", reason="needs the extra `opendp`")

pytestmark = [pytest.mark.opendp, pytest.mark.usefixtures("opendp_features", "few_histories")]

INTEGERS = dp.vector_domain(dp.atom_domain(T="i32"))
TEXTS = dp.vector_domain(dp.atom_domain(T=str))
SYMMETRIC = dp.symmetric_distance()


def integers(size, kind="i32"):
    return dp.vector_domain(dp.atom_domain(T=kind), size=size)


def sized_sum():
    """The stability constant is a quotient of whole numbers, (5 - 0) / 2."""
    return audit_opendp(
        dp.t.make_user_transformation(
            dp.vector_domain(dp.atom_domain(bounds=(0, 5)), size=3), SYMMETRIC,
            dp.atom_domain(T=int), dp.absolute_distance(T=int), sum, lambda d_in: d_in * (5 // 2),
        ),
        [0, 5],
    )  # fmt: skip


def laplace_threshold():
    counts = (TEXTS, SYMMETRIC) >> dp.t.then_count_by(TV=dp.i32)
    above = counts >> dp.m.then_laplace_threshold(1.0, threshold=5)
    return audit_opendp(above, ["a"], range(3), distances=1)


def gaussian_threshold():
    """A mechanism of the same kind, with counts of the caller."""
    domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=dp.i32))
    counts = dp.t.make_user_transformation(
        TEXTS, SYMMETRIC, domain, dp.l02inf_distance(dp.absolute_distance(T=dp.i32)),
        Counter, lambda d_in: (d_in, d_in, d_in),
    )  # fmt: skip
    return audit_opendp(counts >> dp.m.then_gaussian_threshold(1.0, 5), ["a"], range(3))


def squared_deviations():
    large = 2.0**50
    domain = dp.vector_domain(dp.atom_domain(bounds=(large, large + 1), nan=False), size=1024)
    made = dp.t.make_sum_of_squared_deviations(domain, SYMMETRIC)
    return audit_opendp(made, extremes=True)


def wide_tree():
    metric = dp.l2_distance(T="i32")
    made = dp.t.make_b_ary_tree(integers(4), metric, leaf_count=4, branching_factor=4)
    return audit_opendp(made, [0, 1])


def tree_of_large_counts():
    metric = dp.l1_distance(T="i32")
    made = dp.t.make_b_ary_tree(integers(2), metric, leaf_count=2, branching_factor=2)
    return audit_opendp(made, extremes=True)


def shifted_by_one_place():
    made = dp.t.make_metric_bounded(integers(3), dp.insert_delete_distance())
    return audit_opendp(made, range(3))


def shuffled_or_cut():
    given = INTEGERS, dp.insert_delete_distance()
    resize = dp.t.make_resize(*given, size=3, constant=0, MO="InsertDeleteDistance")
    return audit_opendp(resize, [0, 1], [3, 4])


def series(name, kind):
    return dp.series_domain(name, dp.atom_domain(T=kind))


def sum_by_group():
    pl = pytest.importorskip("polars", reason="needs OpenDP's extra `polars`")
    schema = {"A": pl.String, "B": pl.Int32}

    def grouped_sum(scale):
        total = pl.col("B").dp.sum((-10, 10), scale=scale)
        return dp.m.make_private_lazyframe(
            dp.with_margin(
                dp.lazyframe_domain([series("A", str), series("B", "i32")]),
                dp.polars.Margin(by=["A"], max_length=3, max_groups=1, invariant="keys"),
            ),
            SYMMETRIC,
            dp.max_divergence(),
            pl.LazyFrame(schema=schema).group_by("A").agg(total),
        )

    tables = [pl.LazyFrame({"A": ["a"] * 3, "B": [b] * 3}, schema=schema) for b in (10, -10)]
    return audit_opendp(grouped_sum, datasets=tables, distances=6)


@pytest.mark.filterwarnings("ignore:The default value is currently signed:FutureWarning")
def groups_merged_after_truncation():
    """Two persons with a row in each of four groups, which are one group in the end."""
    pl = pytest.importorskip("polars", reason="needs OpenDP's extra `polars`")

    def noisy_count(scale):
        counts = (
            pl.LazyFrame(schema={"id": pl.Int64, "g": pl.Int64})
            .filter(pl.int_range(pl.len()).over("id", "g") < 1)
            .filter(pl.struct("g").rank("dense").over("id") < 5)
            .with_columns(g=pl.lit(0, dtype=pl.Int64))
            .group_by("g")
            .agg(dp.len(scale=scale, signed=False))
        )
        return dp.m.make_private_lazyframe(
            dp.lazyframe_domain([series("id", "i64"), series("g", "i64")]),
            dp.symmetric_id_distance(identifier=pl.col("id")),
            dp.zero_concentrated_divergence(),
            pl.LazyFrame({"g": [0]}).join(counts, on="g", how="left"),
        )

    def persons(x, y):
        first, second = (set(table.collect()["id"]) for table in (x, y))
        return len(first ^ second)

    both = pl.LazyFrame({"id": [0] * 4 + [1] * 4, "g": [*range(4)] * 2})
    one = pl.LazyFrame({"id": [1] * 4, "g": [*range(4)]})
    return audit_opendp(noisy_count, datasets=[both, one], neighbors=persons, distances=1)


def pairs_of_an_odd_number():
    from opendp.extras.sklearn.linear_model._make_private_theil_sen import make_pairwise_predict

    x = np.array([[1.0, 1.0], [2.0, 3.0]])
    y = np.array([[9.0, 3.0], [1.0, 1.0], [2.0, 3.0]])
    return audit_opendp(make_pairwise_predict(np.array([25.0, 75.0]), runs=1), datasets=[x, y])


def eigenvalues_around_another_origin():
    dp.enable_features("idealized-numerics")
    from opendp.extras.numpy._make_np_sscp import make_np_sscp
    from opendp.extras.sklearn._make_eigenvalues import then_eigenvalues

    domain = dp.numpy.array2_domain(
        norm=1.0, p=2, origin=np.array([10.0, 0.0]), num_columns=2, size=6, nan=False, T=float
    )
    rows = [(10.0, 0.0), (9.0, 0.0), (11.0, 0.0)]
    made = make_np_sscp(domain, SYMMETRIC) >> then_eigenvalues()
    return audit_opendp(made, rows, every_order=False)


def range_by_one_end():
    library = pytest.importorskip("diffprivlib", reason="needs the extra `diffprivlib`")

    def fit(data):
        x, y = [[one] for one, _ in data], [other for _, other in data]
        library.models.LinearRegression(
            fit_intercept=False, bounds_X=(0, 1), bounds_y=(0, 2)
        ).fit(x, y)  # fmt: skip

    mechanisms = library.mechanisms.Laplace, library.mechanisms.LaplaceFolded
    records = [(0, 0), (0, 2), (1, 0), (1, 2)]
    return audit_recorded(fit, records, 2, *mechanisms, neighbors="bounded")


class LaplaceMechanism:
    """As in PipelineDP's `dp_computations`."""

    def __init__(self, epsilon, sensitivity):
        self.epsilon, self.sensitivity = epsilon, sensitivity

    def add_noise(self, value):
        raise NotImplementedError("the audit replaces the noise")


def variance_around_the_middle(low=-1, high=2):
    """Squares of distances from the middle of the bounds are summed; the claim has x * x."""

    def variance(x):
        middle = (low + high) / 2
        moved = [min(max(value, low), high) - middle for value in x]
        squares = [0, low**2, high**2] if low <= 0 <= high else [low**2, high**2]
        count = LaplaceMechanism(1 / 3, 1).add_noise(len(x))
        total = LaplaceMechanism(1 / 3, (high - low) / 2).add_noise(sum(moved))
        half = (max(squares) - min(squares)) / 2
        of_squares = LaplaceMechanism(1 / 3, half).add_noise(sum(value**2 for value in moved))
        mean = total / max(1, count)
        return count, mean + middle, of_squares / max(1, count) - mean**2

    return audit_recorded(
        variance, [-1, 0, 2], [1, 2], LaplaceMechanism, method="add_noise", neighbors="unbounded"
    )


def clipping_in_half_precision():
    """The squares of small entries are 0, so a record is not scaled."""
    norm = np.float16(1e-5)

    def total(x):
        clipped = np.zeros(3)
        for record in np.array(x, np.float16):
            length = np.sqrt((record * record).sum())
            clipped += record * (norm / length if length > norm else 1)
        return clipped.tolist()

    records = [(0.0, 0.0, 0.0), (1e-4, 1e-4, 1e-4)]
    return sl.audit(records, total, 1e-5, size=[0, 1], neighbors="unbounded", outputs="L2")


def replaced_record_moves_twice():
    """An accountant takes the norm of a record for the sensitivity of a sum."""
    signs = sl.Universe.from_domain([-1, 0, 1])
    return sl.audit(signs, "sum", 1, size=2, neighbors="bounded")


OPENDP = "opendp/opendp/issues"

REPORTS = [
    (f"{OPENDP}/314", sized_sum, 2, 4, 5),
    (f"{OPENDP}/2922", laplace_threshold, 1, 0.004926, 0.01339),
    (f"{OPENDP}/2922 is near, of Gaussian noise", gaussian_threshold, 1, 3.167e-5, 1.353e-4),
    (f"{OPENDP}/2923", squared_deviations, 2, 40.6, 64.1875),
    (f"{OPENDP}/2924", wide_tree, 2, 4, 20**0.5),
    (f"{OPENDP}/2925", tree_of_large_counts, 1, 2, 2**32),
    (f"{OPENDP}/2926", shifted_by_one_place, 2, 1, 3),
    (f"{OPENDP}/2927", shuffled_or_cut, 1, 2, 4),
    (f"{OPENDP}/2945", sum_by_group, 6, 30, 60),
    (f"{OPENDP}/2949", groups_merged_after_truncation, 1, 1, 4),
    (f"{OPENDP}/2950", pairs_of_an_odd_number, 1, 1, 2),
    (f"{OPENDP}/2952", eigenvalues_around_another_origin, 2, 2, 40),
    ("IBM/differential-privacy-library/issues/105", range_by_one_end, 1, 0, 1),
    ("OpenMined/PipelineDP/pull/301 is near", variance_around_the_middle, 1, 2, 2.25),
    ("google-deepmind/jax_privacy/pull/309", clipping_in_half_precision, 1, 1e-5, 3**0.5 * 1e-4),
    ("google/differential-privacy/issues/378", replaced_record_moves_twice, 1, 1, 2),
]
"""On github.com: a report, its audit, a distance, the claim there and the truth."""


@pytest.mark.parametrize(
    ("audit", "distance", "claimed", "truth"), [one[1:] for one in REPORTS],
    ids=[one[0] for one in REPORTS],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Privacy leak|.*accountant:UserWarning")
def test_a_report_is_found_by_its_first_call(audit, distance, claimed, truth):
    report = audit()
    assert report.verdict == "violated"
    found = [
        (row.claimed, row.value)
        for row in report.rows
        if (row.verdict, row.distance) == ("violated", distance)
    ]
    assert found == [pytest.approx((claimed, truth), rel=1e-3)]
