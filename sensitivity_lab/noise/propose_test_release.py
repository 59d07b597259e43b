"""Propose-test-release: noise for a bound that holds near the data, and no answer where it may not.

Somebody proposes a bound b of the local sensitivity, without looking at the data. The mechanism
tests privately how many records have to change until the bound fails. If these are many, it
releases the answer with noise for b, which can be far less than the worst case needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sensitivity_lab.boundary import public_call
from sensitivity_lab.calls.smooth_sensitivity import Instability, distance_to_instability
from sensitivity_lab.checks import (
    check_flag,
    check_positive,
    number_text,
    rounded_up,
    whole_kind,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import round_up
from sensitivity_lab.exact.enclosures import Enclosure, nearest_bounds
from sensitivity_lab.queries import Query, as_query
from sensitivity_lab.results.measure import exact_answer
from sensitivity_lab.results.noise_context import NoiseContext, of_datasets
from sensitivity_lab.results.pairs import changes, in_short
from sensitivity_lab.results.reach import Bound, as_bound
from sensitivity_lab.results.reprs import Facts, rounded_down
from sensitivity_lab.search.engine import Options
from sensitivity_lab.search.run import Run, check_run
from sensitivity_lab.universes.finite import check_universe
from sensitivity_lab.universes.multiplicities import Multiplicities
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.relations import (
    Dataset,
    Relation,
    as_relation,
    check_dataset,
)

from .context import check_public
from .decay import decay
from .mechanism import DELTAS, Mechanism, check_delta, epsilon_for, root_up
from .smooth import share_of_delta

_DIGITS_OF_LOGARITHMS = 60
"""Digits of the two logarithms of an integer threshold, before it is rounded up."""


@dataclass(frozen=True)
class PrivateTest:
    """The private test, with the losses of one of k steps.

    Attributes
    ----------
    epsilon : Fraction
        The privacy loss.
    delta : Fraction
        The probability of an answer where the bound fails; rounded down.
    decay : Fraction or None
        Of integer noise, the rational in the place of exp(-epsilon); None for Laplace noise.
    threshold : float or int
        The test is passed if the distance plus noise is above it; with integer noise, at least it.
    """

    epsilon: Fraction
    delta: Fraction
    decay: Fraction | None
    threshold: float | int

    @classmethod
    def of(cls, epsilon: Fraction, delta: Fraction, *, integer: bool) -> PrivateTest:
        """Return the test with the smallest threshold."""
        if not integer:
            return cls(epsilon, delta, None, _threshold(epsilon, delta))
        a = decay(epsilon)
        return cls(epsilon, delta, a, _whole_threshold(a, delta))

    @property
    def far_enough(self) -> int:
        """A public distance at which the test fails with a probability of at most delta."""
        return math.ceil(2 * self.threshold) + 1

    def chance(self, distance: int) -> float:
        """Return the probability that the test is passed at a distance, in floats."""
        if self.decay is None:
            steps = float(self.epsilon) * (distance - self.threshold)
            return math.exp(steps) / 2 if steps < 0 else 1 - math.exp(-steps) / 2
        # P(G >= m) of two-sided geometric noise G is a**m / (1 + a) for m >= 1.
        a, m = float(self.decay), int(self.threshold) - distance
        log = math.log(self.decay.numerator) - math.log(self.decay.denominator)
        return math.exp(m * log) / (1 + a) if m >= 1 else 1 - math.exp((1 - m) * log) / (1 + a)


def _threshold(epsilon: Fraction, delta: Fraction) -> float:
    """Return ln(1 / (2 delta)) / epsilon, rounded up."""
    if 2 * delta == 1:
        return 0.0
    steps = 1 / (2 * delta)
    return nearest_bounds(lambda digits: Enclosure.of(steps, digits).log() * (1 / epsilon))[1]


def _whole_threshold(a: Fraction, delta: Fraction) -> int:
    """Return the least T with ``a**T / (1 + a) <= delta``."""
    steps = Enclosure.of(1 / (delta * (1 + a)), _DIGITS_OF_LOGARITHMS).log()
    exact = steps * Enclosure.of(1 / a, _DIGITS_OF_LOGARITHMS).log().inverse()
    low, high = math.ceil(exact.low), math.ceil(exact.high)
    # They differ only if the number is whole, or whole but for 50 digits; then it is small, or the
    # larger one does as well.
    small = low < 10_000 and a**low <= delta * (1 + a)
    return low if low == high or small else high


@dataclass(frozen=True, repr=False)
class ProposeTestRelease(Facts):
    """What propose-test-release does on one dataset: the chance of an answer, and its noise.

    All of it depends on the data but `bound`, `epsilon`, `delta`, `scale` and the test's threshold.

    Attributes
    ----------
    answer : Fraction or Root
        The exact answer on the dataset, in its unit.
    bound : Fraction
        The proposed bound of the local sensitivity, in the unit of the answer.
    distance : int
        How many records have to change until a dataset is reached whose local sensitivity is above
        the bound, 0 for the dataset itself; at most `cap`.
    cap : int
        Distances are searched, and counted, up to here; public.
    test : PrivateTest
        Its threshold, and the losses of one of k steps.
    epsilon, delta : float
        The privacy loss of test and answer together, and the chance of a larger one, rounded up.
    scale : float
        The scale of the noise on an answer, in its unit: ``k * bound / noise_epsilon``, rounded up.
    noise_decay : Fraction or None
        With integer noise, how much less likely noise is that is larger by 1; else None.
    instability : Instability
        The nearest dataset z whose local sensitivity is above the bound, if it is within the cap.
    x : tuple of records
        The dataset, ascending.
    neighbors : Relation
        At a distance of at most k, the most rows of one person.
    query : Query
    universe : Universe or TableUniverse

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(101))
    >>> found = sl.noise.propose_test_release(
    ...     scores,
    ...     "median",
    ...     dataset=[50] * 101,
    ...     bound=1,
    ...     test_epsilon=0.5,
    ...     noise_epsilon=0.5,
    ...     delta=1e-6,
    ...     neighbors="bounded",
    ... )
    >>> found.distance, found.test.threshold > 26, round(found.chance_of_answer, 6)
    (50, True, 0.999997)
    """

    answer: Bound
    bound: Fraction
    distance: int
    cap: int
    test: PrivateTest
    epsilon: float
    delta: float
    scale: float
    noise_decay: Fraction | None
    instability: Instability
    x: Dataset
    neighbors: Relation
    query: Query
    universe: FiniteUniverse

    @property
    def chance_of_answer(self) -> float:
        """The probability of an answer, to about 15 digits."""
        return self.test.chance(self.distance)

    @property
    def expected_error(self) -> float:
        """The expected distance of an answer, if there is one, from the exact one, in its unit."""
        if self.noise_decay is None:
            return self.scale
        a = self.noise_decay
        return round_up(2 * a / (1 - a * a))

    @property
    def upper(self) -> float | None:
        """No bound of all local sensitivities: None."""
        return None

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs: they are about one dataset."""
        return of_datasets(self, "local", None, len(self.x))

    @property
    def _title(self) -> str:
        return (
            f"Propose-test-release of {self.query.name}: an answer with probability "
            f"{float(rounded_down(self.chance_of_answer, 6)):g}"
        )

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        local, bound = self.instability.local, number_text(self.bound)
        far = f"no dataset within {self.cap - 1} has a larger local sensitivity"
        if local is not None and self.distance < self.cap:
            z = changes(self.x, local.witness.x, "x")
            far = f"{self.distance}, to {z}, whose local sensitivity is {local:.6g}"
        integer = self.test.decay is not None
        kind = "integer" if integer else "Laplace"
        compared = "at least" if integer else "above"
        limit = rounded_up(self.test.threshold)
        k = self.neighbors.k
        rows = [("rows", f"{k} per person: each step may lose epsilon / {k}")] if k > 1 else []
        return [
            ("bound", f"{bound}, which must be public"),
            ("neighbors", f"{self.neighbors}; size {len(self.x)}; {self.universe.extent}"),
            *rows,
            ("dataset x", in_short(self.x)),
            ("distance", far),
            ("answer if", f"distance + {kind} noise is {compared} {limit}"),
            ("noise", f"{kind}, scale {rounded_up(self.scale)}"),
            ("guarantee", f"epsilon {rounded_up(self.epsilon)}, delta {rounded_up(self.delta)}"),
            ("method", f"{self.instability.method}, exact arithmetic"),
        ]


@public_call
def propose_test_release(
    universe: FiniteUniverse,
    query: Any,
    *,
    dataset: Any,
    bound: Any,
    test_epsilon: Any,
    noise_epsilon: Any,
    delta: Any,
    neighbors: Any,
    integer: bool = False,
    farthest: int | None = None,
    public_universe: bool = False,
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = Run(),  # noqa: B008 - frozen
) -> ProposeTestRelease:
    """Return the chance of an answer of propose-test-release on one dataset, and its noise.

    Let D be the distance from x to the nearest dataset whose local sensitivity is strictly above
    the bound. The test is passed if D, with Laplace noise of scale ``1 / test_epsilon``, is above
    ``ln(1 / (2 delta)) / test_epsilon``. If so, the answer is released with Laplace noise of scale
    ``bound / noise_epsilon``, else nothing but that the test failed.

    Parameters
    ----------
    universe : Universe or TableUniverse
        The records that datasets are drawn from.
    query : str, Query or callable
        See `global_sensitivity`; its answers are numbers, and exact.
    dataset : iterable of records, shape (n,), or DataFrame
        x, a sub-multiset of the universe, in any order.
    bound : int, float, Fraction or Decimal
        The proposed bound of the local sensitivity, above 0, in the unit of the answer; a whole
        number for integer noise. It must be public: choose it without looking at the data.
    test_epsilon, noise_epsilon : int, float, Fraction or Decimal
        The privacy losses of the test and of an answer, each from k times 1e-9 to k times 100.
    delta : int, float, Fraction or Decimal
        The probability of a larger loss, from 1e-100 to 1/2.
    neighbors : Relation or str
        The relation, at a distance of at most k, the most rows of one person; see
        `smooth_sensitivity`. D counts single records.
    integer : bool, default False
        Whether both noises are whole numbers, and the answer is rounded to one.
    farthest : int, optional
        D is searched up to here, and larger ones count as one more; public. By default twice the
        threshold, where the test fails with a probability of at most `delta`.
    public_universe : bool, default False
        As for `laplace_scale`.
    n_jobs, progress, run
        See `smooth_sensitivity`.

    Returns
    -------
    ProposeTestRelease
        The distance D with a dataset that proves it, the chance of an answer and its noise. The lab
        draws nothing.

    Raises
    ------
    InputError
        If an argument is invalid, the answers are vectors or floats of a caller's function, or x is
        not a dataset of the universe.
    NoEngineError
        If no engine knows the local sensitivities around x; see `smooth_sensitivity`.

    Warns
    -----
    DatasetUniverseWarning
        As for `laplace_scale`.

    Notes
    -----
    The release is (test_epsilon + noise_epsilon, delta)-differentially private. D changes by at
    most 1 per record. Where it is 0, the bound may fail, and there is an answer with probability
    delta at most. Where it is above 0 for one of two neighbors, their answers differ by at most the
    bound.

    With integer noise, P(G = g) is proportional to ``a**abs(g)``, a being exp(-test_epsilon)
    rounded up to a short rational, the test is passed if ``D + G >= T``, and T is the least number
    with ``a**T / (1 + a) <= delta``.

    If a person has up to k rows, each of k steps loses ``1 / k`` of both epsilons, and delta times
    ``(exp(epsilon / k) - 1) / (exp(epsilon) - 1)``, where epsilon is their sum.

    References
    ----------
    Dwork, Lei, "Differential Privacy and Robust Statistics" (STOC 2009). Vadhan, "The Complexity of
    Differential Privacy" (2017), section 3.2.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(101))
    >>> x = [48, 49, 50] * 9
    >>> propose_test_release(
    ...     scores,
    ...     "median",
    ...     dataset=x,
    ...     bound=5,
    ...     test_epsilon=1,
    ...     noise_epsilon=1,
    ...     delta=0.01,
    ...     neighbors="bounded",
    ... )
    Propose-test-release of median: an answer with probability 0.998865
      bound      5, which must be public
      neighbors  bounded, at most 1; size 27; domain of 101 values, unlimited copies
      dataset x  48 (x9), 49 (x9), 50 (x9)
      distance   no dataset within 9 has a larger local sensitivity
      answer if  distance + Laplace noise is above 3.912023006
      noise      Laplace, scale 5
      guarantee  epsilon 2, delta 0.01
      method     monotone, exact arithmetic
    """
    relation = as_relation(neighbors)
    k = relation.k
    losses = [
        epsilon_for(k)(name, given)
        for name, given in (("test_epsilon", test_epsilon), ("noise_epsilon", noise_epsilon))
    ]
    chance = check_delta("delta", delta)
    whole = check_flag("integer", integer)
    proposed = (
        Fraction(whole_kind("a bound of whole answers, at least 1")("bound", bound))
        if whole
        else check_positive("bound", bound)
    )
    run = check_run(run, "propose_test_release", "checkpoint", "scratch")
    universe, asked = check_universe(universe), as_query(query)
    test = private_test(relation, sum(losses, Fraction(0)), losses[0], chance, whole)
    last = test.far_enough
    asked_for = check_farthest.or_none("farthest", farthest)
    if asked_for is not None:
        last = asked_for
    x = check_dataset(dataset, universe)
    answer = _answer_on(universe, asked, x)
    options = Options(n_jobs, progress, run)
    instability = distance_to_instability(
        universe, asked, x, proposed, neighbors=relation, farthest=last, options=options
    )
    step = losses[1] / k
    noise = decay(step / proposed) if whole else None
    made = ProposeTestRelease(
        answer=answer,
        bound=proposed,
        distance=last + 1 if instability.distance is None else instability.distance,
        cap=last + 1,
        test=test,
        epsilon=round_up(sum(losses, Fraction(0))),
        delta=round_up(chance),
        scale=PROPOSE_TEST_RELEASE.scale(proposed**2, step),
        noise_decay=noise,
        instability=instability,
        x=universe.dataset(x),
        neighbors=relation,
        query=asked,
        universe=universe,
    )
    check_public({"dataset": made.noise_context()}, public_universe)
    return made


check_farthest = whole_kind("a distance, at least 1")


def _answer_on(universe: FiniteUniverse, query: Query, x: Multiplicities) -> Bound:
    """Return the exact answer, or raise InputError unless it is one exact number."""
    if query.arithmetic != "exact":
        raise InputError(
            f"query: {query.name} has answers in floats, and rounding errors could exceed the "
            "bound; use a built-in query or an ExactQuery"
        )
    answer = exact_answer(query, universe, x)
    if isinstance(answer, tuple) and len(answer) > 1:
        raise InputError(
            f"query: {query.name} has {len(answer)} answers, and noise for a bound of the local "
            "sensitivity is for a number; release one of them"
        )
    return as_bound(answer, query)


def private_test(
    relation: Relation, total: Fraction, epsilon: Fraction, delta: Fraction, integer: bool
) -> PrivateTest:
    """Return the test of which k steps lose epsilon and delta, or raise InputError."""
    k = relation.k
    step = delta * share_of_delta(total, k)
    if step < DELTAS[0]:
        raise InputError(
            f"delta: of it, each of k = {k} steps may lose less than 1e-100 at this epsilon; "
            "choose a larger delta, a smaller epsilon or a smaller k"
        )
    return PrivateTest.of(epsilon / k, step, integer=integer)


def _only_a_bound(context: NoiseContext) -> str:
    """Refuse every result: the bound is proposed, and must not come from the data."""
    return (
        f"the result is a {context.kind} sensitivity, and propose-test-release takes a public "
        "bound; pass a number"
    )


PROPOSE_TEST_RELEASE = Mechanism(
    "Laplace",
    None,
    "(epsilon, delta)-DP",
    "Dwork, Lei (2009)",
    _only_a_bound,
    lambda square, epsilon: root_up(square / epsilon**2),
)
