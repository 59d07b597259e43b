"""Which release of a statistic, on data like these, is how wrong: all mechanisms side by side."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from sensitivity_lab.boundary import public_call
from sensitivity_lab.calls.global_sensitivity import global_sensitivity
from sensitivity_lab.calls.reach import reach
from sensitivity_lab.calls.smooth_sensitivity import (
    Instability,
    distance_to_instability,
    smooth_sensitivity,
)
from sensitivity_lab.checks import (
    check_bounds,
    check_flag,
    check_positive,
    check_records,
    number_text,
    shown,
)
from sensitivity_lab.errors import InputError, NoEngineError
from sensitivity_lab.exact.difference import round_up
from sensitivity_lab.interval_problem import in_order, read_dataset
from sensitivity_lab.queries import Query, as_query
from sensitivity_lab.results.measure import exact_answer
from sensitivity_lab.results.noise_context import of_datasets
from sensitivity_lab.results.reach import Bound, Reach, as_bound
from sensitivity_lab.results.sensitivity import Sensitivity
from sensitivity_lab.results.smooth import SmoothSensitivity
from sensitivity_lab.search.engine import Options
from sensitivity_lab.search.run import Run, check_run
from sensitivity_lab.universes.finite import AnyUniverse, check_any_universe, finite
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.relations import (
    Dataset,
    Relation,
    as_relation,
    multiplicities_of,
)
from sensitivity_lab.universes.universe import Universe

from .analytic import ANALYTIC_GAUSSIAN, check_gaussian_epsilon
from .clipped_noise import ClippedNoise
from .clipping import printed
from .comparison_result import ErrorComparison, Errors, MechanismError
from .context import check_public
from .grid_law import Grid
from .inverse import (
    INVERSE_SENSITIVITY,
    MOST_POINTS,
    farthest_that_matters,
    grid_of,
    inverse_sensitivity_on,
)
from .mechanism import Mechanism, check_delta, epsilon_for
from .propose_test_release import (
    PROPOSE_TEST_RELEASE,
    PrivateTest,
    check_farthest,
    private_test,
)
from .scales import LAPLACE
from .smooth import (
    SMOOTH_CAUCHY,
    SMOOTH_LAPLACE,
    smooth_beta,
    smooth_cauchy_scale,
    smooth_laplace_scale,
)

_STEPS = 1000
"""By default a grid has so many steps."""

_MOST_DISTANCES = 1000
"""By default reach goes no farther, however small epsilon is."""

Ends = tuple[Fraction, Fraction]
"""The smallest and the largest output."""


@public_call
def compare(
    universe: AnyUniverse,
    query: Any,
    *,
    dataset: Any,
    epsilon: Any,
    delta: Any = None,
    neighbors: Any,
    range: Any,  # noqa: A002 - the mathematical word; the function is not used here
    step: Any = None,
    farthest: int | None = None,
    width: Any = 0,
    bound: Any = None,
    clip: Any = None,
    size: int | Iterable[int] | None = None,
    public_universe: bool = False,
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = Run(),  # noqa: B008 - frozen
) -> ErrorComparison:
    """Compare the errors that mechanisms make on one dataset, for one guarantee.

    All mechanisms protect the same neighbors, with the same epsilon and delta, and what they
    release is clipped to the same range. Errors are distances from the exact answer on the dataset.

    Choosing a mechanism, a bound, a range or a width by private data is itself a release that no
    epsilon covers. So compare on a public stand-in, such as data of an earlier year or of another
    place, and use what you chose on the private data.

    Parameters
    ----------
    universe : Universe, TableUniverse or IntervalUniverse
        The records that datasets are drawn from; public.
    query : str, Query or callable
        See `global_sensitivity`; its answers are numbers.
    dataset : iterable of records, shape (n,), or DataFrame
        x, a sub-multiset of the universe, in any order.
    epsilon : int, float, Fraction or Decimal, or several
        The privacy loss of a release, from 1e-9 * k to 100 * k if k is the distance of
        `neighbors`. With several, the frame has rows for each, and `plot` draws a line per
        mechanism.
    delta : number, optional
        The chance of a larger loss, from 1e-100 to 1/2. Without it, mechanisms that need one are
        left out.
    neighbors : Relation or str
        The relation, at a distance of at most k, the most rows of one person.
    range : tuple of two numbers
        The smallest and the largest output, in the unit of the answer; public.
    step : number, optional
        The distance between the outputs of the inverse sensitivity mechanism, of which the width of
        the range is a multiple; by default a thousandth of it.
    farthest : int, optional
        The largest distance that the inverse sensitivity mechanism counts, public. By default what
        is beyond is drawn with a probability below 1e-6, but at most 2,000.
    width : number, default 0
        See `inverse_sensitivity`.
    bound : number, optional
        The bound that propose-test-release proposes, public; without it, this row is left out. The
        test and the noise get half of epsilon each.
    clip : tuple of two numbers, optional
        Public bounds to clip the *records* to, for another row: the global sensitivity is then that
        of clipped records, and their answer differs from that of the dataset.
    size : int or iterable of int, optional
        For relations that add or remove: all sizes that the data can have, for the global
        sensitivity. Relations that replace have public sizes, and need none.
    public_universe : bool, default False
        As for `laplace_scale`.
    n_jobs, progress, run
        See `global_sensitivity`.

    Returns
    -------
    ErrorComparison
        A row per mechanism and epsilon: what must be public, the expected error, the median one,
        the error that nine of ten releases do not exceed, and the chance of an answer. A mechanism
        that cannot be used has a `reason` instead of numbers.

    Raises
    ------
    InputError
        If an argument is invalid, or the relation has no distance between all datasets.

    Warns
    -----
    DatasetUniverseWarning
        As for `laplace_scale`.

    Notes
    -----
    The mechanisms: Laplace noise, and with a delta Gaussian noise, scaled to the global
    sensitivity; Laplace noise scaled to that of clipped records; Cauchy noise, and with a delta
    Laplace noise, scaled to the smooth sensitivity; inverse sensitivity on the grid;
    propose-test-release, whose errors are those of an answer, given one. Errors of the law on the
    grid are exact and rounded up; those of continuous noise are floats, to about 14 digits. Their
    noise is clipped, so the expected error is finite for Cauchy noise, too.

    The cost is that of one global sensitivity, one reach, and one or two smooth sensitivities per
    epsilon.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(101))
    >>> last_year = [30 + i // 5 for i in range(201)]
    >>> sl.noise.compare(
    ...     scores,
    ...     "median",
    ...     dataset=last_year,
    ...     epsilon=1,
    ...     range=(0, 100),
    ...     step=1,
    ...     neighbors="bounded",
    ... )
    Errors of median = 50 on 201 records, epsilon 1, clipped to 0 to 100
                         expected_error  median_error  error_90
    global Laplace                39.35            50        50
    smooth Cauchy                 11.93             6     37.89
    inverse sensitivity           0.467             0         1
      neighbors  bounded, at most 1
      public     universe, relation, range; step, farthest, width (inverse sensitivity)
      left out   global Gaussian, smooth Laplace: needs a delta
      left out   clipped Laplace: needs clip=, public bounds of the records
      left out   propose-test-release: needs bound=, a public bound of the local sensitivity
      note       choosing a mechanism, a bound, a range or a width by private data is itself a
                 release that no epsilon covers: compare on a public stand-in
    """
    relation = as_relation(neighbors)
    if relation.single_step is None or (relation.exactly and relation.k > 1):
        raise InputError(
            f"neighbors: {relation} is not compared, because some mechanisms need the distance "
            "between all datasets, and all of them neighbors at most k apart; use a relation that "
            "replaces, or that adds and removes, with exactly=False"
        )
    losses = sorted(set(epsilon_for(relation.k).several("epsilon", epsilon)))
    run = check_run(run, "compare", "checkpoint", "scratch")
    universe = check_any_universe(universe)
    public = check_flag("public_universe", public_universe)
    ends = _ends("range", range)
    setting = _Setting(
        universe=universe,
        query=as_query(query),
        x=in_order(universe, read_dataset(universe, dataset)),
        neighbors=relation,
        ends=ends,
        grid=_grid(ends, step, width),
        losses=losses,
        delta=check_delta.or_none("delta", delta),
        farthest=check_farthest.or_none("farthest", farthest),
        bound=check_positive.or_none("bound", bound),
        clip=_clip(clip),
        size=_sizes(size, relation),
        options=Options(n_jobs, progress, run),
    )
    setting.check_answer()
    rows = tuple(_compared(row, setting, loss) for loss in losses for row in _ROWS)
    check_public({"universe": of_datasets(setting, "local", None, len(setting.x))}, public)
    return ErrorComparison(
        rows=rows,
        query=setting.query,
        answer=setting.answer,
        neighbors=relation,
        size=len(setting.x),
        range=(float(ends[0]), float(ends[1])),
        delta=0.0 if setting.delta is None else round_up(setting.delta),
    )


class _LeftOutError(Exception):
    """Why a mechanism is left out of a comparison."""


@dataclass(frozen=True)
class _Setting:
    """What all mechanisms share: the data, what is public, and what was found for several of them.

    Attributes
    ----------
    x : tuple of records
    ends : tuple of two Fractions
        The range of outputs.
    losses : list of Fraction
        All epsilons, ascending.
    size : list of int or None
        The sizes of data that relations which add or remove allow.
    """

    universe: AnyUniverse
    query: Query
    x: Dataset
    neighbors: Relation
    ends: Ends
    grid: Grid
    losses: list[Fraction]
    delta: Fraction | None
    farthest: int | None
    bound: Fraction | None
    clip: Ends | None
    size: list[int] | None
    options: Options
    upper: None = None

    def check_answer(self) -> None:
        """Raise InputError unless the query's answer is one number, and exact."""
        if self.query.arithmetic != "exact":
            raise InputError(
                f"query: {self.query.name} has answers in floats, whose rounding errors are not "
                "known; use a built-in query or an ExactQuery"
            )
        if isinstance(self._answer, tuple) and len(self._answer) > 1:
            raise InputError(
                f"query: {self.query.name} has {len(self._answer)} answers, and errors are "
                "compared of one number; take them one at a time"
            )

    @cached_property
    def _answer(self) -> Any:
        universe = finite(self.universe, self.x)
        return exact_answer(self.query, universe, multiplicities_of(self.x, universe))

    @cached_property
    def answer(self) -> Bound:
        """The exact answer on x."""
        return as_bound(self._answer, self.query)

    @property
    def _search(self) -> dict[str, Any]:
        options = self.options
        return {"n_jobs": options.n_jobs, "progress": options.progress, "run": options.run}

    @property
    def needed_delta(self) -> Fraction:
        """The delta, which some mechanisms need."""
        if self.delta is None:
            raise _LeftOutError("needs a delta")
        return self.delta

    def sensitivity(self, universe: AnyUniverse) -> Sensitivity:
        """Return the global sensitivity over all datasets that neighbors in x's place can be."""
        size = len(self.x) if self.size is None else self.size
        found: Sensitivity = global_sensitivity(
            universe, self.query, size=size, neighbors=self.neighbors, **self._search
        )
        if found.noise_context().private_size:
            raise _LeftOutError(
                "the number of records is private: pass size=, all sizes that the data can have"
            )
        return found

    @cached_property
    def everywhere(self) -> Sensitivity:
        """The global sensitivity."""
        return self.sensitivity(self.universe)

    @cached_property
    def clipped(self) -> tuple[Sensitivity, Bound]:
        """The global sensitivity for clipped records, and the answer on those of x."""
        if self.clip is None:
            raise _LeftOutError("needs clip=, public bounds of the records")
        if not self.universe.numeric:
            raise _LeftOutError("records are rows, which have no one number to clip")
        low, high = self.clip
        records = [min(max(record, low), high) for record in map(Fraction, self.x)]
        if isinstance(self.universe, Universe):
            universe: AnyUniverse = self.universe.clipped(low, high)
        else:
            universe = Universe.from_interval(low, high)
        on = finite(universe, tuple(records))
        answer = exact_answer(self.query, on, multiplicities_of(records, on))
        return self.sensitivity(universe), as_bound(answer, self.query)

    @cached_property
    def reach(self) -> Reach:
        """The reach as far as it matters for the smallest epsilon."""
        points, k = len(self.grid.points), self.neighbors.k
        most = farthest_that_matters(points, self.losses[0], k)
        distance = self.farthest or min(most, _MOST_DISTANCES)
        one = self.neighbors.at(1)
        return reach(
            self.universe,
            self.query,
            dataset=self.x,
            neighbors=one,
            distances=distance,
            **self._search,
        )

    def smooth(self, beta: float) -> SmoothSensitivity:
        """Return the smooth sensitivity."""
        if not isinstance(self.universe, FiniteUniverse):
            raise _LeftOutError("smooth sensitivity is for finite universes")
        return smooth_sensitivity(
            self.universe,
            self.query,
            dataset=self.x,
            beta=beta,
            neighbors=self.neighbors,
            **self._search,
        )

    @cached_property
    def tests(self) -> dict[Fraction, PrivateTest]:
        """By epsilon, the test that gets half of it."""
        return {
            loss: private_test(self.neighbors, loss, loss / 2, self.needed_delta, integer=False)
            for loss in self.losses
        }

    @cached_property
    def instability(self) -> Instability:
        """The distance to instability, as far as one of the tests counts it."""
        if self.bound is None:
            raise _LeftOutError("needs bound=, a public bound of the local sensitivity")
        if not isinstance(self.universe, FiniteUniverse):
            raise _LeftOutError("the distance to instability is for finite universes")
        farthest = max(test.far_enough for test in self.tests.values())
        x = multiplicities_of(self.x, self.universe)
        return distance_to_instability(
            self.universe,
            self.query,
            x,
            self.bound,
            neighbors=self.neighbors,
            farthest=farthest,
            options=self.options,
        )


Found = tuple[Errors, float]
"""The errors of a mechanism, and the chance of an answer."""


class _Row(NamedTuple):
    """A mechanism of the comparison.

    Attributes
    ----------
    name : str
    mechanism : Mechanism
        Its row in `MECHANISMS`.
    public : str
        What must be public, besides the universe, the relation and the range.
    errors : callable
        Takes the setting and epsilon; returns the errors, or raises what leaves the mechanism out.
    """

    name: str
    mechanism: Mechanism
    public: str
    errors: Callable[[_Setting, Fraction], Found]


def _compared(row: _Row, setting: _Setting, epsilon: Fraction) -> MechanismError:
    """Return the errors of a mechanism, or why it is left out."""
    facts = row.name, round_up(epsilon), row.mechanism.guarantee, row.public
    try:
        errors, chance = row.errors(setting, epsilon)
    except (_LeftOutError, NoEngineError, InputError) as reason:
        return MechanismError(*facts, None, math.nan, " ".join(str(reason).split()))
    return MechanismError(*facts, errors, chance, "")


def _with_noise(setting: _Setting, noise: str, scale: float, before: Bound) -> ClippedNoise:
    return ClippedNoise.of(noise, scale, before, setting.answer, setting.ends)


def _laplace(setting: _Setting, epsilon: Fraction) -> Found:
    scale = LAPLACE.scale(LAPLACE.square(setting.everywhere, "sensitivity"), epsilon)
    return _with_noise(setting, "Laplace", scale, setting.answer), 1.0


def _gaussian(setting: _Setting, epsilon: Fraction) -> Found:
    delta = setting.needed_delta
    square = ANALYTIC_GAUSSIAN.square(setting.everywhere, "sensitivity")
    scale = ANALYTIC_GAUSSIAN.scale(square, check_gaussian_epsilon("epsilon", epsilon), delta)
    return _with_noise(setting, "Gaussian", scale, setting.answer), 1.0


def _clipped(setting: _Setting, epsilon: Fraction) -> Found:
    sensitivity, before = setting.clipped
    scale = LAPLACE.scale(LAPLACE.square(sensitivity, "sensitivity"), epsilon)
    return _with_noise(setting, "Laplace", scale, before), 1.0


def _smooth_cauchy(setting: _Setting, epsilon: Fraction) -> Found:
    found = setting.smooth(smooth_beta(epsilon, k=setting.neighbors.k))
    scale = smooth_cauchy_scale(found, epsilon, public_universe=True)
    return _with_noise(setting, "Cauchy", scale, setting.answer), 1.0


def _smooth_laplace(setting: _Setting, epsilon: Fraction) -> Found:
    delta = setting.needed_delta
    found = setting.smooth(smooth_beta(epsilon, delta, k=setting.neighbors.k))
    scale = smooth_laplace_scale(found, epsilon, delta, public_universe=True)
    return _with_noise(setting, "Laplace", scale, setting.answer), 1.0


def _inverse(setting: _Setting, epsilon: Fraction) -> Found:
    return inverse_sensitivity_on(setting.reach, setting.grid, epsilon, setting.neighbors.k), 1.0


def _propose_test_release(setting: _Setting, epsilon: Fraction) -> Found:
    distance, bound = setting.instability.distance, setting.bound
    test = setting.tests[epsilon]
    # Farther than the test counts is one more than that, whatever the other tests count.
    counted = test.far_enough + 1 if distance is None else min(distance, test.far_enough + 1)
    half = epsilon / (2 * setting.neighbors.k)
    scale = PROPOSE_TEST_RELEASE.scale((bound or 0) ** 2, half)
    return _with_noise(setting, "Laplace", scale, setting.answer), test.chance(counted)


_ROWS = (
    _Row("global Laplace", LAPLACE, "", _laplace),
    _Row("global Gaussian", ANALYTIC_GAUSSIAN, "", _gaussian),
    _Row("clipped Laplace", LAPLACE, "clip", _clipped),
    _Row("smooth Cauchy", SMOOTH_CAUCHY, "", _smooth_cauchy),
    _Row("smooth Laplace", SMOOTH_LAPLACE, "", _smooth_laplace),
    _Row("inverse sensitivity", INVERSE_SENSITIVITY, "step, farthest, width", _inverse),
    _Row("propose-test-release", PROPOSE_TEST_RELEASE, "bound", _propose_test_release),
)
"""The mechanisms, in the order of the frame."""


def _ends(name: str, given: Any) -> Ends:
    """Return two different numbers in order, or raise InputError."""
    low, high = (printed(end, Fraction(end)) for end in check_bounds(name, given))
    if low == high:
        raise InputError(f"{name} must be two different numbers, got {shown(given)}")
    return low, high


def _sizes(size: Any, relation: Relation) -> list[int] | None:
    """Return the sizes of data under a relation that adds or removes, or raise InputError."""
    sizes = None if size is None else check_records.several("size", size)
    if sizes is not None and relation.keeps_size:
        raise InputError(
            f"size is for relations that add or remove; under {relation} it is the public number "
            "of records of the dataset: leave it out"
        )
    return sizes


def _clip(given: Any) -> Ends | None:
    """Return the bounds of records, which can be one number, or raise InputError."""
    bounds = check_bounds.or_none("clip", given)
    return None if bounds is None else (Fraction(bounds[0]), Fraction(bounds[1]))


def _grid(ends: Ends, step: Any, width: Any) -> Grid:
    """Return the outputs of the inverse sensitivity mechanism, or raise InputError."""
    low, high = ends
    apart = (high - low) / _STEPS
    if step is not None:
        apart = printed(step, check_positive("step", step))
    steps = (high - low) / apart
    if steps.denominator > 1 or steps >= MOST_POINTS:
        raise InputError(
            f"step must be a number of which the width of the range, {number_text(high - low)}, is "
            f"a multiple, and at most {MOST_POINTS - 1:,} times as large, got {shown(step)}"
        )
    return grid_of([low + i * apart for i in builtins.range(int(steps) + 1)], None, width)
