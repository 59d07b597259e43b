"""Inputs that users bring to an audit of OpenDP: texts, arrays, own domains, own neighbors."""

from __future__ import annotations

import importlib
import itertools

import numpy as np
import pytest
from checks import refused
from opendp_cases import clamped_sum, dp, integers

import sensitivity_lab as sl

pytestmark = [pytest.mark.opendp, pytest.mark.usefixtures("opendp_features", "few_calls")]


def arrays(function, outputs=None, answers=None, claim=1.0, inputs=None):
    """A transformation of arrays, which are a domain of the user."""
    return dp.t.make_user_transformation(
        dp.user_domain("arrays", lambda x: isinstance(x, np.ndarray)),
        inputs or dp.symmetric_distance(),
        answers or dp.atom_domain(T=float),
        outputs or dp.absolute_distance(T=float),
        function,
        lambda d_in: claim * d_in,
    )


def rows(most):
    """All arrays of at most so many rows over two rows."""
    for n in range(most + 1):
        for chosen in itertools.product([(0.0, 1.0), (4.0, 0.5)], repeat=n):
            yield np.array(chosen).reshape(-1, 2)


def test_arrays_of_a_domain_of_the_user():
    total = arrays(lambda x: float(x[:, 0].clip(0, 1).sum()))
    report = sl.audits.audit_opendp(total, datasets=lambda: [*rows(2), "no array"])
    assert repr(report) == (
        "Audit of make_user_transformation: tight\n"
        "  setting  SymmetricDistance() of at most k to AbsoluteDistance(f64); 7 datasets, 1 "
        "outside the domain left out; implementation\n"
        "  k  claimed  truth  verdict\n"
        "  1  1        1      tight\n"
        "  2  2        2      tight\n"
        "  x  ()  ->  0.0\n"
        "  y  ((4.0, 0.5),)  ->  1.0"
    )
    unclipped = arrays(lambda x: float(x[:, 0].sum()))
    assert sl.audits.audit_opendp(unclipped, datasets=rows(1), distances=1).verdict == "violated"


def test_neighbors_come_from_the_caller_where_the_metric_is_own():
    total = arrays(lambda x: float(x.sum()), inputs=dp.user_distance("sup"), claim=4.0)
    datasets = [np.array(x) for x in itertools.product([0.0, 1.0, 2.0], repeat=2)]
    refused(
        lambda: sl.audits.audit_opendp(total, datasets=datasets),
        "the input metric sup is not covered; those that are: SymmetricDistance, "
        "InsertDeleteDistance, ChangeOneDistance, HammingDistance, DiscreteDistance, "
        "AbsoluteDistance, L1Distance, L2Distance, LInfDistance; give neighbors=, a function of "
        "two inputs",
    )
    report = sl.audits.audit_opendp(
        total, datasets=datasets, neighbors=lambda x, y: float(abs(x - y).max())
    )
    assert [(row.claimed, row.exact) for row in report.rows] == [(4, 2), (8, 4)]


def test_chains_from_text_take_lines_as_records():
    lines = dp.t.make_split_lines() >> dp.t.then_count()
    report = sl.audits.audit_opendp(lines, ["a", "long line", ""], range(3))
    assert repr(report) == (
        "Audit of make_split_lines >> make_count: tight\n"
        "  setting  SymmetricDistance() of at most k to AbsoluteDistance(i32); texts of lines with "
        "values ('a', 'long line', ''), sizes (0, 1, 2) in every order; implementation\n"
        "  k  claimed  truth  verdict\n"
        "  1  1        1      tight\n"
        "  2  2        2      tight\n"
        "  x  ''  ->  0\n"
        "  y  'a\\n'  ->  1"
    )
    given = sl.audits.audit_opendp(lines, datasets=["", "a", "long line\na\n", "a\nlong line"])
    assert [row.exact for row in given.rows] == [1, 2]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_table_of_text_takes_lines_as_records():
    column = (
        dp.t.make_split_dataframe(",", ["a", "b"])
        >> dp.t.make_select_column("b", TOA=str)
        >> dp.t.then_cast_default(int)
        >> dp.t.then_clamp((0, 3))
        >> dp.t.then_sum()
    )
    report = sl.audits.audit_opendp(column, ["x,1", "x,9", "y,"], range(3))
    assert [(row.claimed, row.exact) for row in report.rows] == [(3, 3), (6, 6)]


def test_distances_of_floats_are_floats():
    doubled = dp.t.make_lipschitz_float_mul(
        dp.atom_domain(T=float, nan=False),
        dp.absolute_distance(T=float),
        constant=2.0,
        bounds=(0.0, 10.0),
    )
    report = sl.audits.audit_opendp(doubled, [0.0, 0.25, 1.0], distances=[0.25, 0.75])
    assert [(row.distance, row.exact) for row in report.rows] == [(0.25, 0.5), (0.75, 1.5)]
    assert report.sound
    refused(
        lambda: sl.audits.audit_opendp(clamped_sum(), [0, 1], 1, distances=0.5),
        "distances must be a whole number (a distance of datasets, at least 0), got 0.5 (float)",
    )


def test_a_distance_that_opendp_would_round_has_no_claim():
    """As a float of 32 bits, 0.7 is smaller, so the map would answer for fewer pairs."""
    identity = dp.t.make_identity(dp.atom_domain(T="f32", nan=False), dp.absolute_distance(T="f32"))
    rows = sl.audits.audit_opendp(identity, [0.0, 0.5], distances=[0.5, 0.7]).rows
    assert [(row.claimed, row.verdict, row.reason) for row in rows] == [
        (0.5, "tight", ""),
        (None, "no claim", "InputError: 0.7 is no f32 of OpenDP; the nearest is 0.699999988079071"),
    ]


@pytest.mark.parametrize(("monotonic", "sound"), [(False, True), (True, False)])
def test_scores_that_are_called_monotonic_must_be(monotonic, sound):
    """A record moves one score up and the other down."""
    scores = dp.t.make_user_transformation(
        integers(),
        dp.symmetric_distance(),
        integers(),
        dp.linf_distance(T=int, monotonic=monotonic),
        lambda x: [sum(x), -sum(x)],
        lambda d_in: d_in,
    )
    report = sl.audits.audit_opendp(scores, [0, 1], range(3))
    assert report.sound is sound
    assert [row.exact for row in report.rows] == ([1, 2] if sound else [2, 4])


def test_counts_are_monotonic_scores_at_every_distance():
    """At distance 2 one score goes up and the other down, by records of their own."""
    counts = dp.t.make_user_transformation(
        integers(),
        dp.symmetric_distance(),
        integers(),
        dp.linf_distance(T=int, monotonic=True),
        lambda x: [x.count(0), x.count(1)],
        lambda d_in: d_in,
    )
    report = sl.audits.audit_opendp(counts, [0, 1], range(3))
    assert [(row.claimed, row.exact) for row in report.rows] == [(1, 1), (2, 2)]


REFUSED = {
    "an own domain": (
        lambda: sl.audits.audit_opendp(arrays(len), [0], 1),
        "the input domain arrays is not covered; vectors, atoms and arrays of rows are, and so is "
        "any other domain with datasets=",
    ),
    "neither": (
        lambda: sl.audits.audit_opendp(clamped_sum()),
        "give a universe and a size, or datasets, got neither",
    ),
    "no dataset of the domain": (
        lambda: sl.audits.audit_opendp(clamped_sum(), datasets=["ab", [0.5]]),
        "VectorDomain(AtomDomain(T=i32)) accepts none of the 2 datasets",
    ),
    "two lines": (
        lambda: sl.audits.audit_opendp(dp.t.make_split_lines(), ["a\nb"], 1),
        "universe has the lines of texts, so none has a line break: 'a\\nb'",
    ),
    "texts without sizes": (
        lambda: sl.audits.audit_opendp(dp.t.make_split_lines(), ["a"]),
        "size must be given: the numbers of lines of the texts",
    ),
    "neighbors": (
        lambda: sl.audits.audit_opendp(clamped_sum(), [0], 1, neighbors="bounded"),
        "neighbors must be a function of two inputs, or left out for OpenDP's own metric, got "
        "'bounded'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, message = REFUSED[case]
    refused(call, message)


ROWS = [(0.0, 0.0), (1.0, 0.0), (0.0, -1.0), (3.0, 3.0)]


def of_extras(name, *arguments):
    """What OpenDP's extras make; they are not public yet."""
    made = importlib.import_module(f"opendp.extras.numpy._make_np_{name}")
    return vars(made)[f"make_np_{name}"](*arguments)


def np_sum(**given):
    domain = dp.numpy.array2_domain(num_columns=2, nan=False, T=float, **given)
    return of_extras("sum", domain, dp.symmetric_distance())


@pytest.mark.parametrize(
    ("given", "size", "truths", "left"),
    [
        ({"norm": 1.0, "p": 1}, [1, 2], [1, 2], 8),
        ({"norm": 1.0, "p": 1, "size": 2}, None, [0, 2], 7),
        ({"norm": 1.0, "p": 1, "origin": np.array([1.0, 0.0])}, [1, 2], [1, 1], 14),
    ],
)
def test_arrays_of_opendps_extras_are_made_of_rows(given, size, truths, left):
    dp.enable_features("idealized-numerics")
    report = sl.audits.audit_opendp(np_sum(**given), ROWS, size)
    assert [row.exact for row in report.rows] == truths
    assert report.held
    assert f"{left} outside the domain left out" in report.setting
    assert "arrays of rows ((0.0, 0.0), (1.0, 0.0)" in report.setting


@pytest.mark.parametrize(
    ("rows", "size", "told"),
    [
        ([1.0, 2.0], 1, "must have the rows of arrays, with 2 numbers each, got (1.0, 2.0)"),
        ([(1.0,), (2.0, 3.0)], 1, "must have the rows of arrays, with 2 numbers each, got"),
        ([(3.0, 3.0)], 1, "accepts no array of the rows ((3.0, 3.0),)"),
        (ROWS, None, "size must be given: NPArray2Domain("),
    ],
)
def test_rows_that_make_no_arrays_are_refused(rows, size, told):
    with pytest.raises(sl.errors.InputError) as caught:
        sl.audits.audit_opendp(np_sum(norm=1.0, p=1), rows, size)
    assert told in str(caught.value)


def test_a_matrix_of_sums_is_audited_with_what_follows():
    domain = dp.numpy.array2_domain(norm=1.0, p=2, num_columns=2, size=2, nan=False, T=float)
    refused(
        lambda: sl.audits.audit_opendp(of_extras("sscp", domain, dp.symmetric_distance()), ROWS),
        "the output metric counts the rows that a matrix of sums was made of, which the matrix "
        "does not show; audit it with the transformation that follows",
    )


def test_rows_that_are_chosen_at_random_are_coupled():
    """As `make_resize` does where the order counts; the truth at distance 1 is 4 for 2."""
    space = integers(), dp.insert_delete_distance()
    resize = dp.t.make_resize(*space, size=3, constant=0, MO="InsertDeleteDistance")
    report = sl.audits.audit_opendp(resize, [0, 1], [3, 4])
    assert [(row.verdict, row.claimed, row.exact) for row in report.rows] == [
        ("violated", 2, 4),
        ("not judged", 4, 4),
    ]
    assert "400 draws on each dataset, under the best coupling" in report.setting
