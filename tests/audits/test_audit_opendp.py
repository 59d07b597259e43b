"""The OpenDP adapter: what it reads from a transformation, tries, compares and refuses."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import naive_distances as naive
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab.audits import inputs as vectors
from sensitivity_lab.audits import randomness
from sensitivity_lab.audits import worst_pair as pairs
from sensitivity_lab.audits.opendp import audit_opendp
from sensitivity_lab.exact.difference import Difference

dp = pytest.importorskip("opendp.prelude", reason="needs the extra `opendp`")

pytestmark = pytest.mark.opendp

INPUTS = {
    "symmetric": "symmetric_distance",
    "insert_delete": "insert_delete_distance",
    "change_one": "change_one_distance",
    "hamming": "hamming_distance",
}
SIZED = {"change_one", "hamming"}


@pytest.fixture(autouse=True)
def few_calls(monkeypatch, request):
    """Deterministic transformations are not asked for random answers so often."""
    if "randomised" not in request.node.name:
        monkeypatch.setattr(randomness, "PROBES", 8)
        monkeypatch.setattr(randomness, "WITNESS", 2)


@pytest.fixture(autouse=True)
def features():
    """Constructors need "contrib", those of Python functions "honest-but-curious"."""
    dp.enable_features("contrib", "honest-but-curious")
    yield
    dp.disable_features("contrib", "honest-but-curious")


def integers(size=None, **options):
    return dp.vector_domain(dp.atom_domain(**{"T": int, **options}), size)


def clamped_sum():
    return (integers(), dp.symmetric_distance()) >> dp.t.then_clamp((0, 3)) >> dp.t.then_sum()


def of_function(function, inputs=None, outputs=None, domain=None, answers=None, claim=7):
    """A transformation of a Python function, which OpenDP does not serialise."""
    return dp.t.make_user_transformation(
        domain or integers(),
        inputs or dp.symmetric_distance(),
        answers or dp.atom_domain(T=int),
        outputs or dp.absolute_distance(T=int),
        function,
        lambda _: claim,
    )


def squared(outputs):
    return outputs == "L2"


OUTPUTS = {
    "absolute": (lambda: (dp.atom_domain(T=int), dp.absolute_distance(T=int)), st.integers(-9, 9)),
    **{
        name: (
            lambda metric=metric: (integers(), getattr(dp, metric)(T=int)),
            st.lists(st.integers(-9, 9), min_size=2, max_size=2),
        )
        for name, metric in [
            ("L1", "l1_distance"),
            ("L2", "l2_distance"),
            ("Linf", "linf_distance"),
        ]
    },
    **{
        name: (
            lambda metric=metric: (integers(), getattr(dp, metric)()),
            st.lists(st.integers(0, 2), min_size=2, max_size=2),
        )
        for name, metric in INPUTS.items()
    },
}


@pytest.mark.representative("inputs")
@pytest.mark.parametrize("outputs", OUTPUTS)
@pytest.mark.parametrize("inputs", INPUTS)
@settings(max_examples=4)
@given(data=st.data())
def test_the_truth_is_that_of_the_definition(inputs, outputs, data):
    sizes = [3] if inputs in SIZED else [0, 1, 2, 3]
    datasets = [list(x) for n in sizes for x in itertools.product([0, 1], repeat=n)]
    kind, answer = OUTPUTS[outputs]
    table = data.draw(st.lists(answer, min_size=len(datasets), max_size=len(datasets)))
    answers, metric = kind()
    transformation = of_function(
        lambda x: table[datasets.index(list(x))],
        getattr(dp, INPUTS[inputs])(),
        metric,
        integers(3 if inputs in SIZED else None),
        answers,
    )
    report = audit_opendp(transformation, [0, 1], sizes, d_in=range(4))
    assert [row.distance for row in report.rows] == [0, 1, 2, 3]
    for row in report.rows:
        most = naive.farthest(datasets, table, inputs, outputs, row.distance)
        assert row.truth == Difference(Fraction(most), Fraction(0), root=squared(outputs))
        assert row.claimed == 7
        seen = row.evidence
        assert naive.within(inputs, seen.x, seen.y, row.distance)
        assert transformation(seen.x) == seen.answer_x
        assert transformation(seen.y) == seen.answer_y


@pytest.mark.parametrize("metric", ["L1", "L2", "Linf"])
def test_vectors_of_numbers_have_the_distances_of_numbers(metric):
    name = {"L1": "l1_distance", "L2": "l2_distance", "Linf": "linf_distance"}[metric]
    values = [-1, 0, 2]
    datasets = [list(x) for x in itertools.product(values, repeat=3)]

    def partial_sums(x):
        return list(itertools.accumulate(x))

    transformation = of_function(
        partial_sums, getattr(dp, name)(T=int), dp.l1_distance(T=int), integers(3), integers()
    )
    report = audit_opendp(transformation, values, d_in=range(5))
    for row in report.rows:
        assert row.exact == naive.farthest(
            datasets, [partial_sums(x) for x in datasets], metric, "L1", row.distance
        )


def test_a_report_says_what_was_audited():
    report = audit_opendp(clamped_sum(), [-1, 0, 2, 9], range(3), d_in=[0, 1, 2])
    assert repr(report) == (
        "Audit of make_clamp >> make_sum: tight\n"
        "  setting  SymmetricDistance() of at most k to AbsoluteDistance(i32); "
        "values (-1, 0, 2, 9), sizes (0, 1, 2) in every order; implementation\n"
        "  k  claimed  truth  verdict\n"
        "  0  0        0      tight\n"
        "  1  3        3      tight\n"
        "  2  6        6      tight\n"
        "  x  ()  ->  0\n"
        "  y  ()  ->  0"
    )
    assert report.rows[1].evidence == sl.Evidence([], [9], 0, 3)


def test_what_it_costs_to_see_whether_it_is_randomised():
    """Of size 0 one vector, 32 times; of size 4 all 256, 4 times; then the witness, 256 times."""
    asked = Counter()

    def first(x):
        asked[tuple(x)] += 1
        return max(x, default=0)

    (row,) = audit_opendp(of_function(first), range(4), [0, 4], d_in=1).rows
    witness = Counter(map(tuple, (row.evidence.x, row.evidence.y)))
    assert asked.pop(()) == 1 + 32 + 256 * (() in witness)
    assert set(asked) == set(itertools.product(range(4), repeat=4))
    assert set(asked.values()) <= {5, 5 + 256}
    assert sum(times > 5 for times in asked.values()) == sum(map(bool, witness))


@pytest.mark.parametrize("size", [5, 8])
def test_inputs_that_are_asked_again_come_from_everywhere_if_randomised(size, monkeypatch):
    """A share for every size; of too many inputs of a size, different ones with all entries."""
    inputs = vectors.vectors((0, 1, 2), tuple(range(size)))
    monkeypatch.setattr(randomness, "PROBES", 40 * size)
    probes = list(randomness.probes(inputs))
    assert probes == list(randomness.probes(inputs))
    seen = Counter(probes)
    for length in range(size):
        chosen = {place: seen[place] for place, x in enumerate(inputs) if len(x) == length}
        assert sum(chosen.values()) == min(40, 32 * 3**length)
        assert max(chosen.values()) - min(chosen.values()) <= 1
    last = [inputs[place] for place in probes if len(inputs[place]) == size - 1]
    for position in range(size - 1):
        assert {x[position] for x in last} == {0, 1, 2}


def test_one_order_is_enough_where_it_is_asked_for():
    asked = set()

    def count(x):
        asked.add(tuple(x))
        return len(x)

    report = audit_opendp(of_function(count), [1, 0], 3, d_in=2, every_order=False)
    assert asked == {(1, 1, 1), (1, 1, 0), (1, 0, 0), (0, 0, 0)}
    assert "values (1, 0), sizes (3,) in one order" in report.setting


def test_workers_give_the_same_report():
    here = audit_opendp(clamped_sum(), [0, 1, 5], range(4), n_jobs=1)
    assert audit_opendp(clamped_sum(), [0, 1, 5], range(4), n_jobs=2) == here


def test_what_does_not_serialise_is_called_in_one_process():
    report = audit_opendp(of_function(len), [0, 1], range(3), n_jobs=2)
    assert report.subject == "make_user_transformation"
    assert report.setting.endswith(
        "implementation, called in one process as OpenDP cannot serialise it"
    )


def test_mappings_are_compared_with_absent_keys_as_zero():
    counts = dp.t.make_count_by(dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance())
    for component in ("L0", "L1", "Linf"):
        report = audit_opendp(counts, ["a", "b"], range(4), d_in=[1, 2], component=component)
        assert [row.exact for row in report.rows] == [1, 2], component
        assert report.verdict == "tight"
        assert f"L01InfDistance(AbsoluteDistance(i32)) ({component})" in report.setting


def test_single_values_are_inputs_too():
    doubled = dp.t.make_lipschitz_float_mul(
        dp.atom_domain(T=float, nan=False),
        dp.absolute_distance(T=float),
        constant=2.0,
        bounds=(0.0, 10.0),
    )
    report = audit_opendp(doubled, [0.0, 1.0, 3.0, 20.0], d_in=range(4))
    assert [row.exact for row in report.rows] == [0, 2, 4, 6]
    assert report.sound


def test_answers_are_taken_as_returned_however_large():
    huge = dp.vector_domain(dp.atom_domain(T="u64"))
    total = of_function(
        lambda x: sum(x) % 2**64,
        domain=huge,
        answers=dp.atom_domain(T="u64"),
        outputs=dp.absolute_distance(T="u64"),
    )
    report = audit_opendp(total, [0, 2**63, 2**64 - 1], 1, d_in=2)
    assert report.rows[0].exact == 2**64 - 1


@pytest.mark.parametrize("size", [None, 3])
def test_what_the_domain_does_not_accept_is_left_out(size):
    total = dp.t.make_sum(integers(size, bounds=(0, 3), T=None), dp.symmetric_distance())
    report = audit_opendp(total, [-1, 0, 3, 4, 1.5, None, "a"], range(1, 4))
    sizes = "(1, 2, 3)" if size is None else "(3,)"
    assert f"values (0, 3), 5 outside the domain left out, sizes {sizes}" in report.setting
    assert report.sound


def test_rounding_that_depends_on_the_order_is_seen_at_distance_0():
    mean = dp.t.make_mean(
        dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=3),
        dp.symmetric_distance(),
    )
    report = audit_opendp(mean, [0.0, 0.1, 1.0], d_in=[0, 2])
    assert report.rows[0].truth > Difference(Fraction(0), Fraction(0))
    assert sorted(report.rows[0].evidence.x) == sorted(report.rows[0].evidence.y)
    assert report.sound


def test_randomised_transformations_are_refused():
    """A resize shuffles what it gets: github.com/opendp/opendp/issues/2927."""
    for size, values, sizes in [(2, [1, 2], [1, 2, 3]), (2, range(3), range(5)), (3, [0, 1], 2)]:
        resize = dp.t.make_resize(
            integers(),
            dp.insert_delete_distance(),
            size=size,
            constant=0,
            MO="InsertDeleteDistance",
        )
        for _ in range(10):
            with pytest.raises(sl.InputError) as caught:
                audit_opendp(resize, values, sizes)
            message = str(caught.value)
            start = "transformation must be a function, but it is randomised: two calls on ["
            assert message.startswith(start)
            assert message.endswith("]; an audit needs the part that adds no randomness")
    impute = dp.t.make_impute_uniform_float(
        dp.vector_domain(dp.atom_domain(T=float, nan=True)),
        dp.symmetric_distance(),
        bounds=(0.0, 1.0),
    )
    # Only missing values are replaced at random, and there are more values than a vector holds.
    with pytest.raises(sl.InputError, match="it is randomised"):
        audit_opendp(impute, [0.0, 0.25, 0.5, math.nan, 0.75, 1.0], 2)


def test_a_randomised_witness_is_not_reported(monkeypatch):
    """Nothing asks again but for the evidence: one call of 100 tells that it is random."""
    monkeypatch.setattr(randomness, "PROBES", 0)
    asked = Counter()

    def answer(x):
        asked[tuple(x)] += 1
        return 5 if list(x) == [1, 0, 1, 0] and asked[tuple(x)] % 100 else 0

    with pytest.raises(sl.InputError) as caught:
        audit_opendp(of_function(answer), [0, 1], 4, d_in=2)
    assert str(caught.value) == (
        "transformation must be a function, but it is randomised: two calls on [1, 0, 1, 0] "
        "returned 5 and 0; an audit needs the part that adds no randomness"
    )


def test_missing_answers_are_not_randomised():
    """NaN is the same answer as NaN: also alone, where Python says that it differs from itself."""
    for missing in (math.nan, float("nan")):
        identity = dp.t.make_identity(
            dp.atom_domain(T=float, nan=True), dp.absolute_distance(T=float)
        )
        with pytest.raises(sl.QueryError) as caught:
            audit_opendp(identity, [0.0, missing])
        assert str(caught.value) == (
            "on the dataset float('nan'), an answer holds nan, which is not a finite number"
        )
    vector = dp.t.make_identity(
        dp.vector_domain(dp.atom_domain(T=float, nan=True)), dp.symmetric_distance()
    )
    report = audit_opendp(vector, [0.0, math.nan], range(3))
    assert [(row.claimed, row.exact) for row in report.rows] == [(1, 1), (2, 2)]


def measurement():
    return clamped_sum() >> dp.m.then_laplace(1.0)


REFUSED = {
    "a measurement": (
        lambda: audit_opendp(measurement(), [0], 1),
        "transformation must be an OpenDP Transformation, got Measurement; measurements add noise "
        "and have no exact answer",
    ),
    "no component": (
        lambda: audit_opendp(dp.t.make_count_by(integers(), dp.symmetric_distance()), [0], 1),
        "L01InfDistance(AbsoluteDistance(i32)) measures three numbers; component must be one of "
        "'L0', 'L1', 'Linf', got None",
    ),
    "a component too many": (
        lambda: audit_opendp(clamped_sum(), [0], 1, component="L1"),
        "component is for metrics of three numbers, not for AbsoluteDistance(i32)",
    ),
    "a metric that is not covered": (
        lambda: audit_opendp(
            of_function(list, outputs=dp.linf_distance(T=int, monotonic=True), answers=integers()),
            [0],
            1,
        ),
        "the output metric LInfDistance(monotonic, T=i32) is not covered; those that are: "
        "SymmetricDistance, InsertDeleteDistance, ChangeOneDistance, HammingDistance, "
        "DiscreteDistance, AbsoluteDistance, L1Distance, L2Distance, LInfDistance, "
        "L01InfDistance, L02InfDistance",
    ),
    "no value in the domain": (
        lambda: audit_opendp(clamped_sum(), [0.5, "a"], 1),
        "AtomDomain(T=i32) accepts none of the values (0.5, 'a')",
    ),
    "no values": (
        lambda: audit_opendp(clamped_sum(), "abc", 1),
        "values must be the entries that datasets are made of, at least one, got 'abc'",
    ),
    "no size": (
        lambda: audit_opendp(clamped_sum(), [0]),
        "sizes must be given: VectorDomain(AtomDomain(T=i32)) has vectors of every size",
    ),
    "no size in the domain": (
        lambda: audit_opendp(dp.t.make_count(integers(3), dp.symmetric_distance()), [0], [2, 4]),
        "VectorDomain(AtomDomain(T=i32), size=3) accepts none of the sizes (2, 4)",
    ),
    "sizes of a value": (
        lambda: audit_opendp(
            dp.t.make_identity(dp.atom_domain(T=int), dp.absolute_distance(T=int)), [0], 3
        ),
        "sizes must be left out: AtomDomain(T=i32) holds single values",
    ),
    "a negative distance": (
        lambda: audit_opendp(clamped_sum(), [0], 1, d_in=[-1]),
        "d_in must be an input distance, at least 0, got -1",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(sl.InputError) as caught:
        call()
    assert str(caught.value) == message


def test_failures_name_the_input():
    def fragile(x):
        if list(x) == [1, 0]:
            raise ArithmeticError("no answer here")
        return 0

    with pytest.raises(
        sl.QueryError, match=r"(?s)the transformation fails on \[1, 0\]: .*no answer"
    ):
        audit_opendp(of_function(fragile), [0, 1], 2)


def of_map(stability_map):
    """The size, with a map of Python."""
    return dp.t.make_user_transformation(
        integers(),
        dp.symmetric_distance(),
        dp.atom_domain(T=int),
        dp.absolute_distance(T=int),
        len,
        stability_map,
    )


def test_a_map_that_fails_at_one_distance_claims_nothing_there():
    def odd_only(d_in):
        if d_in % 2 == 0:
            raise ArithmeticError("no claim here")
        return d_in

    report = audit_opendp(of_map(odd_only), [0, 1], range(4), d_in=[1, 2, 3])
    assert [(row.distance, row.claimed, row.exact) for row in report.rows] == [
        *((1, 1, 1), (2, None, 2), (3, 3, 3))
    ]
    assert [row.verdict for row in report.rows] == ["tight", "no claim", "tight"]
    assert repr(report).splitlines()[2:] == [
        "  k  claimed  truth  verdict",
        "  2  none     2      no claim (ArithmeticError: no claim here)",
        "  1  1        1      tight",
        "  3  3        3      tight",
        "  x  ()  ->  0",
        "  y  (0, 0)  ->  2",
    ]


def test_a_map_of_opendp_that_overflows_claims_nothing():
    total = dp.t.make_sum(integers(bounds=(0, 2**30), T=None), dp.symmetric_distance())
    rows = audit_opendp(total, [0, 2**30], range(2), d_in=[1, 2]).rows
    assert [(row.claimed, row.verdict) for row in rows] == [(2**30, "tight"), (None, "no claim")]
    assert rows[1].reason == (
        'Overflow("2 * 1073741824 overflows. Consider tightening your parameters.")'
    )


def test_a_map_that_fails_everywhere_is_named():
    def no_claim(_):
        raise ArithmeticError("no claim here")

    with pytest.raises(
        sl.QueryError,
        match=r"^the map of make_user_transformation fails at d_in = 1: ArithmeticError: no claim",
    ):
        audit_opendp(of_map(no_claim), [0, 1], 2)


def test_the_tolerance_is_for_floats_alone():
    """A float sum of three tenths is an ulp above the claim; whole numbers have no tolerance."""
    total = dp.t.make_user_transformation(
        dp.vector_domain(dp.atom_domain(T=float, nan=False), size=3),
        dp.change_one_distance(),
        dp.atom_domain(T=float),
        dp.absolute_distance(T=float),
        sum,
        lambda _: 0.3,
    )
    assert audit_opendp(total, [0.0, 0.1], d_in=3).verdict == "tight up to rounding"
    assert audit_opendp(total, [0.0, 0.1], d_in=3, tolerance_ulps=0).verdict == "violated"
    whole = of_function(lambda x: (2**30 + 1) * len(x), claim=2**30)
    assert audit_opendp(whole, [0], [0, 1], d_in=1).verdict == "violated"


def test_too_much_work_is_refused_before_any_call(monkeypatch):
    def never(_):
        raise AssertionError("called")

    with pytest.raises(sl.TooLargeError) as caught:
        audit_opendp(of_function(never), range(10), 9)
    assert str(caught.value) == (
        "10 values make 1,000,000,000 vectors of sizes 9, more than the "
        f"{vectors.VECTOR_LIMIT:,} that are tried; take fewer values, smaller sizes or "
        "every_order=False"
    )
    monkeypatch.setattr(pairs, "PAIR_LIMIT", 100)
    with pytest.raises(sl.TooLargeError) as caught:
        audit_opendp(of_function(never, dp.insert_delete_distance()), range(4), 2)
    assert str(caught.value) == (
        "16 datasets with answers of their own make 120 pairs, more than the 100 that are "
        "compared; take fewer values or smaller sizes"
    )
