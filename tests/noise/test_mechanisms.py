"""Each mechanism of noise accepts the results that its theorem is about, and no others.

What is expected is written here from the theorems, and from how the cases are made; nothing of it
is asked of the results.

- Laplace noise (Dwork, McSherry, Nissim, Smith 2006, Proposition 1): a bound in L1 for *all* pairs
  of neighbors. Gaussian noise (Bun, Steinke 2016, Proposition 1.6; Balle, Wang 2018, Theorem 8):
  the same in L2. A local sensitivity is no such bound, nor is one for neighbors at exactly some
  distance, nor one that may be exceeded.
- Noise for a smooth bound (Nissim, Raskhodnikova, Smith 2007, section 2): beta at most
  epsilon / (2 (gamma + 1)), or epsilon / (2 ln(2 / delta)) for Laplace noise; numbers only.
- The inverse sensitivity mechanism (Asi, Duchi 2020): the reach of one dataset.
  Propose-test-release (Dwork, Lei 2009): a public bound, and no result.
- All of it holds among the datasets of the universe: listed records, a limit of copies and a number
  of records that neighbors do not share have to be public.
"""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from strategies import BY_NAME as RELATIONS

import sensitivity_lab as sl
from sensitivity_lab import noise, spaces

EPSILON, DELTA, RHO = 0.5, 1e-6, 0.25


@dataclass(frozen=True)
class Case:
    """A result, and what its maker knows of it."""

    name: str
    result: Any
    kind: str = "global"
    norm: str | None = None  # None: the answer is a number, for which all norms are one
    exactly: bool = False
    bounded: bool = True
    beta: float = math.inf
    k: int = 1
    private_records: bool = False
    private_size: bool = False


@dataclass(frozen=True)
class Theorem:
    """A mechanism, as a function of a result, with the results that its theorem is about."""

    scale: Any
    kind: str
    norms: tuple[str | None, ...]
    beta: Any = None  # the largest one for neighbors at distance k
    factor: float = math.nan  # the scale over the bound; for a smooth one, over k times it


def in_a_table(**losses):
    def scale(result, **options):
        table = noise.noise_table({"a": result, "b": result}, **losses, **options)
        return table.rows[0].scale

    return scale


TWICE = {"epsilon": 2 * EPSILON}

THEOREMS = {
    "Laplace": Theorem(
        lambda result, **o: noise.laplace_scale(result, EPSILON, **o),
        *("global", (None, "L1")),
        factor=1 / EPSILON,
    ),
    "Laplace, loss": Theorem(
        lambda result, **o: noise.laplace_epsilon(result, 2, **o),
        *("global", (None, "L1")),
        factor=1 / 2,
    ),
    "Laplace, table": Theorem(in_a_table(**TWICE), *("global", (None, "L1")), factor=1 / EPSILON),
    "Gaussian": Theorem(
        lambda result, **o: noise.gaussian_scale(result, RHO, **o),
        *("global", (None, "L2")),
        factor=1 / math.sqrt(2 * RHO),
    ),
    "Gaussian, loss": Theorem(
        lambda result, **o: math.sqrt(2 * noise.gaussian_rho(result, 2, **o)),
        *("global", (None, "L2")),
        factor=1 / 2,
    ),
    "Gaussian, delta": Theorem(
        lambda result, **o: noise.analytic_gaussian_scale(result, EPSILON, DELTA, **o),
        *("global", (None, "L2")),
        # As for a sensitivity of 1, whose scale has tests of its own.
        factor=noise.analytic_gaussian_scale(1, EPSILON, DELTA),
    ),
    "Gaussian, table": Theorem(
        in_a_table(**TWICE, delta=2 * DELTA),
        *("global", (None, "L2")),
        factor=noise.analytic_gaussian_scale(1, EPSILON, DELTA),
    ),
    "smooth, Cauchy": Theorem(
        lambda result, **o: noise.smooth_cauchy_scale(result, EPSILON, **o),
        *("smooth", (None,)),
        beta=lambda k: EPSILON / k / 6,
        factor=6 / EPSILON,
    ),
    "smooth, Laplace": Theorem(
        lambda result, **o: noise.smooth_laplace_scale(result, EPSILON, DELTA, **o),
        *("smooth", (None,)),
        beta=lambda k: (
            EPSILON
            / k
            / (2 * math.log(2 / (DELTA * math.expm1(EPSILON / k) / math.expm1(EPSILON))))
        ),
        factor=2 / EPSILON,
    ),
    # A law on a grid, whose scale is in records and the same for every reach.
    "inverse sensitivity": Theorem(
        lambda result, **o: (
            noise.inverse_sensitivity(result, epsilon=EPSILON, grid=[0, 9], **o).epsilon
        ),
        *("reach", (None,)),
    ),
}


RECORDS = (0, 1, 1, 4, 9, 9, 20)
UNIVERSES = {  # and whether its records, or their limit, may be private
    "domain": (sl.Universe.from_domain([0, 4, 9]), False),
    "records": (sl.Universe.from_dataset(RECORDS), True),
    "copies": (sl.Universe.from_domain([0, 4, 9], copies=3), True),
    "enough copies": (sl.Universe.from_domain([0, 4, 9], copies=7), False),
}
SIZES = {"one": 4, "several": (1, 2, 3, 4, 5), "large": (3, 4, 5)}


def of_numbers():
    for (named, (universe, private)), (relation, kind), k, exactly in itertools.product(
        UNIVERSES.items(), RELATIONS.items(), (1, 2), (False, True)
    ):
        asked = {"neighbors": kind(k, exactly=exactly)}
        # At distance 1, "exactly" and "at most" are the same relation of multisets.
        facts = {"exactly": exactly and k > 1, "k": k, "private_records": private}
        for query, (several, size) in itertools.product(("median", "sum"), SIZES.items()):
            if several == "several" and exactly:
                continue  # a single record has no such neighbor in every direction
            # f(x) - f(y) of a sum is that of the records that change: with any number of copies,
            # or changes that only add or only remove, it is the same for every size.
            one_way = relation == "unbounded" or (relation == "symmetric_difference" and k == 1)
            sums = query == "sum" and (one_way or named == "domain")
            yield Case(
                f"{named}, {asked}, {query}, {several}",
                sl.global_sensitivity(universe, query, size=size, **asked),
                # Nobody has a sum, so that sizes from 1 on leave one out.
                private_size=relation != "bounded"
                and not sums
                and (several != "several" or query == "sum"),
                **facts,
            )
        local = sl.local_sensitivity(universe, "median", dataset=[0, 4, 9, 9], **asked)
        if named != "records":
            yield Case(f"{named}, {asked}, local", local, kind="local", **facts)


def of_vectors():
    rows = sl.TableUniverse.from_domain({"sex": ["f", "m"]})
    query = sl.Histogram("sex", categories=["f", "m"])
    for norm, exactly in itertools.product(("L1", "L2", "Linf"), (False, True)):
        relation = sl.Bounded(2, exactly=exactly)
        result = sl.global_sensitivity(rows, query, size=4, neighbors=relation, norm=norm)
        yield Case(f"histogram, {norm}, {relation}", result, norm=norm, exactly=exactly, k=2)


def of_smooth():
    for theorem, k, share in itertools.product(
        ("smooth, Cauchy", "smooth, Laplace"), (1, 2), (0.9, 1.1)
    ):
        beta = share * THEOREMS[theorem].beta(k)
        for named in ("domain", "records", "copies"):
            universe, private = UNIVERSES[named]
            result = (
                sl.smooth_sensitivity(
                    universe, "median", dataset=[0, 4, 9, 9], beta=beta, neighbors=sl.Bounded(k)
                )
                if named != "records"
                else sl.smooth_sensitivity(
                    universe, "median", dataset=[0, 1, 9, 9], beta=beta, neighbors=sl.Bounded(k)
                )
            )
            yield Case(
                f"smooth, {named}, k {k}, {share} of {theorem}",
                *(result, "smooth"),
                beta=beta,
                k=k,
                private_records=private,
            )


def of_reach():
    for named, (universe, private) in UNIVERSES.items():
        for name in ("bounded", "unbounded", "symmetric_difference"):
            result = sl.reach(universe, "sum", dataset=[0, 4, 9, 9], neighbors=name, distances=2)
            yield Case(f"{named}, {name}, reach", result, kind="reach", private_records=private)


def of_floats():
    """The floats of a function of one's own may be rounded; the same query by name is exact."""
    for query, bounded in ((lambda x: float(max(x)), False), ("max", True)):
        result = sl.global_sensitivity(
            UNIVERSES["domain"][0], query, size=4, neighbors=sl.Bounded(1)
        )
        yield Case(f"max, bounded={bounded}", result, bounded=bounded)


def of_graphs():
    for neighbors in ("edge", "node"):
        space = spaces.graphs(3, neighbors)
        result = spaces.global_sensitivity(space, "triangles", neighbors=spaces.Within(1))
        yield Case(f"graphs, {neighbors}", result)
    whole = spaces.graphs(3, "edge")
    for norm in ("L1", "L2", "Linf"):
        result = spaces.global_sensitivity(
            whole, "degree_histogram", norm=norm, neighbors=spaces.Within(1)
        )
        yield Case(f"graphs, {norm}", result, norm=norm)
    local = spaces.local_sensitivity(whole, "edges", dataset=[(0, 1)], neighbors=spaces.Within(1))
    yield Case("graphs, local", local, kind="local")


def of_sequences():
    for metric, k in (("hamming", 1), ("insert_delete", 2)):
        space = spaces.sequences([0, 1, 5], 3, metric)
        result = spaces.global_sensitivity(space, "sum", neighbors=spaces.Within(k))
        yield Case(f"sequences, {metric}", result)


MAKERS = {
    maker.__name__: maker
    for maker in (
        *(of_numbers, of_vectors, of_smooth, of_reach, of_floats, of_graphs),
        of_sequences,
    )
}

EACH = pytest.mark.parametrize(
    "maker", [pytest.param("of_numbers", marks=pytest.mark.exhaustive), *list(MAKERS)[1:]]
)
"""Those of numbers are hundreds."""


def is_accepted(case: Case, theorem: Theorem) -> bool:
    return (
        case.kind == theorem.kind
        and case.norm in theorem.norms
        and not case.exactly
        and case.bounded
        and (theorem.beta is None or case.beta <= theorem.beta(case.k))
    )


def scaled(case: Case, theorem: Theorem, **options: Any) -> tuple[float | None, set[Any]]:
    """The scale, None if it is refused, and the categories of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            scale = theorem.scale(case.result, **options)
        except sl.errors.InputError:
            scale = None
    return scale, {warning.category for warning in caught}


@pytest.mark.representative("maker")
@EACH
def test_a_mechanism_accepts_what_its_theorem_is_about_and_nothing_else(maker):
    seen = set()
    for case in MAKERS[maker]():
        for name, theorem in THEOREMS.items():
            accepted = is_accepted(case, theorem)
            scale, warned = scaled(case, theorem)
            assert (scale is not None) == accepted, (case.name, name)
            seen.add(accepted)
            if not accepted:
                continue
            expected = {sl.errors.DatasetUniverseWarning} if case.private_records else set()
            size = {sl.errors.PrivateSizeWarning} if case.private_size else set()
            assert warned == expected | size, (case.name, name)
            # The records can be said to be public; nobody can say that of the number of records.
            assert scaled(case, theorem, public_universe=True) == (scale, size), (case.name, name)
            if case.kind == "reach":
                assert scale == pytest.approx(EPSILON)
                continue
            steps = case.k if case.kind == "smooth" else 1
            exact = theorem.factor * steps * case.result.upper
            assert exact * (1 - 1e-12) <= scale <= exact * (1 + 1e-12), (case.name, name)
    assert seen == {True, False}


@pytest.mark.exhaustive
def test_scales_are_rounded_up_from_the_bound():
    for case in of_numbers():
        if is_accepted(case, THEOREMS["Laplace"]):
            scale, _ = scaled(case, THEOREMS["Laplace"])
            bound = Fraction(case.result.upper) / Fraction(EPSILON)
            assert Fraction(math.nextafter(scale, 0)) < bound <= Fraction(scale) or scale == 0


ROWS = {
    "Laplace": noise.MECHANISMS[0],
    "Gaussian": noise.MECHANISMS[1],
    "Gaussian, delta": noise.MECHANISMS[2],
    "smooth, Laplace": noise.MECHANISMS[3],
    "smooth, Cauchy": noise.MECHANISMS[4],
    "inverse sensitivity": noise.MECHANISMS[5],
}


def test_every_row_of_the_table_is_tried_and_names_its_source():
    assert list(ROWS.values()) == list(noise.MECHANISMS)
    for name, row in ROWS.items():
        assert row.name in ("Laplace", "Gaussian", "Cauchy", "exponential")
        assert row.guarantee.endswith(("DP", "zCDP"))
        assert row.source in (
            "Dwork, McSherry, Nissim, Smith (2006), Proposition 1",
            "Bun, Steinke (2016), Proposition 1.6",
            "Balle, Wang (2018), Theorem 8",
            "Nissim, Raskhodnikova, Smith (2007), section 2",
            "Asi, Duchi (2020); McSherry, Talwar (2007), Theorem 6",
            "Dwork, Lei (2009)",
        )
        assert row.norm in (*THEOREMS[name].norms, None)


@pytest.mark.representative("maker")
@EACH
def test_a_row_refuses_a_release_context_by_its_theorem(maker):
    """All that a row is told; whether a bound is finite and a beta small enough comes after it."""
    for case in MAKERS[maker]():
        for name, row in ROWS.items():
            theorem = THEOREMS[name]
            fits = case.kind == theorem.kind and case.norm in theorem.norms and not case.exactly
            assert (row.refuses(case.result.noise_context()) is None) == fits, (case.name, name)
