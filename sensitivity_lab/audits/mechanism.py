"""Audits of mechanisms as they are: code that gets its generator, and the law of its releases."""

from __future__ import annotations

import inspect
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import pandas as pd

from sensitivity_lab import running
from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import (
    check_callable,
    check_flag,
    check_number,
    check_running,
    check_seconds,
    check_whole,
    choice_kind,
    named,
    number_kind,
    one_or_several,
    shown,
)
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.exact.difference import Difference, Number, round_down, round_up
from sensitivity_lab.exact.roots import as_fraction
from sensitivity_lab.metrics.cells import signed_key
from sensitivity_lab.results.literals import brief
from sensitivity_lab.universes.universe import Universe

from .driven.generator import GENERATORS, elsewhere, played, playing
from .driven.handed import Handed, handed_on
from .driven.kept import changed, first_calls, kept
from .driven.laws import Atom, Divergence, NoisyEvent, ReleaseLaw, chances, compared
from .driven.refuter import HELPERS, Tried, refute
from .driven.runs import (
    BRANCHES,
    check_some_succeed,
    explore,
    explore_in_fresh_process,
    rerun,
)
from .driven.script import script_of, told_of_outcomes, told_of_sample
from .driven.stops import SECONDS, LimitError, OutsideError, budget, budgeted, line_of
from .pairs import check_pairs, neighbors, records_of
from .question import NOTHING_DIFFERS, Question, check_order, misfit, question_about
from .report import AuditReport
from .row import HOLDS, NO_EVIDENCE, NOT_JUDGED, NOT_REFUTED, SAMPLED, AuditRow, Evidence, Finding

CHANCE_ULPS = 32
"""The default tolerance: probabilities that are floats, such as p = e^eps / (1 + e^eps)."""

_SHOWN = 4
"""How many outcomes of an event a report shows."""

_check_probability = number_kind("a number from 0 to 1", lambda given: 0 <= given <= 1)

_check_generator = choice_kind(GENERATORS)

_check_loss = number_kind("a number from 0 to 700", lambda given: 0 <= given <= 700)
"""Of a larger epsilon, e ** epsilon is no float."""

_check_claim = number_kind("a number above 0, at most 700", lambda given: 0 < given <= 700)
"""A claimed epsilon, or rho."""

_DELTAS = ("1e-10", "1e-8", "1e-6", "1e-4", "0.01")
"""Deltas to claim where a law is cut, which proves no epsilon with delta 0."""

_UNCUT = "rho is judged only for continuous noise that is not cut; claim epsilon and delta"

AN_EPSILON, RHO = "an epsilon", "a rho"
"""Quantities of claims."""

_NO_LESS, _LESS = 1e-9, 1e-4
"""By how little, in proportion, an epsilon is no smaller one: with delta 0, and with a delta."""

_FAR_ULPS = Fraction(_NO_LESS) / Fraction(math.ulp(1.0))
"""The first of these in units in the last place: what floats may round far from 1."""

_OPEN = Fraction(1, 10**9)
"""Bounds of delta or rho that differ by less, in proportion, are one number."""


@dataclass(frozen=True)
class Worst:
    """The two datasets whose releases are farthest apart, at one input distance.

    Attributes
    ----------
    x, y : Any
        The datasets, in the order in which the event is likelier on x.
    divergence : Divergence
        The laws of both releases, outcome by outcome.
    divergences : sequence of Divergence
        Those of all neighbors in both orders, equal ones once: at another loss than that of the
        claim, another pair can be the worst.
    """

    x: Any
    y: Any
    divergence: Divergence
    divergences: Sequence[Divergence] = ()


@dataclass(frozen=True, repr=False)
class MechanismReport(AuditReport):
    """The report of `audit_mechanism`: the rows, and the laws of the worst pairs.

    Attributes
    ----------
    worst : dict
        By input distance, the pair that decides the row.
    sampled : Tried or None
        The runs that were counted, where no law is known.
    function : callable
        The audited function.
    claim : tuple
        epsilon and delta, as exact numbers.
    generator : str or None
        The class that the function's generator has, if the caller said which.

    Notes
    -----
    See `AuditReport` for the rest.

    Examples
    --------
    >>> def noisy_count(data, rng):
    ...     return len(data) + rng.geometric(0.5) - rng.geometric(0.5)
    >>> report = audit_mechanism(noisy_count, [1], [1, 2], epsilon=0.5, neighbors="unbounded")
    >>> report.curve([0, 0.5]).round(4).to_string(index=False).splitlines()
    [' epsilon  delta_lower  delta_upper', '     0.0       0.3333       0.3333', \
'     0.5       0.1171       0.1171']
    """

    worst: dict[Number, Worst] = field(default_factory=dict, compare=False)
    sampled: Tried | None = field(default=None, compare=False)
    function: Callable[..., Any] | None = field(default=None, compare=False)
    claim: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    generator: str | None = None

    def _at(self, distance: Number | None) -> Worst:
        if not self.worst:
            raise InputError(f"no law of {self.subject} is known: {self.decisive.reason}")
        if distance is None:
            return self.worst[max(self.worst)]
        at = check_number("distance", distance)
        if at not in self.worst:
            known = ", ".join(map(str, sorted(self.worst)))
            raise InputError(f"distance must be one of the report ({known}), got {shown(distance)}")
        return self.worst[at]

    def delta(self, epsilon: Any, distance: Number | None = None) -> tuple[float, float]:
        """Return the least delta at an epsilon, for all neighbors: bounds, rounded outward.

        Parameters
        ----------
        epsilon : int, float, Fraction or Decimal
            The privacy loss, from 0 to 700.
        distance : number, optional
            The distance of the datasets; by default the largest of the report.

        Returns
        -------
        tuple of two floats
            Both bounds are the same number, up to the rounding to floats, where the law is known
            whole.
        """
        at = _check_loss("epsilon", epsilon)
        found = (one.delta(at) for one in self._at(distance).divergences)
        least, most = map(max, zip(*found, strict=True))
        return max(0.0, round_down(least)), round_up(most)

    def epsilon(self, delta: Any = 0, distance: Number | None = None) -> tuple[float, float]:
        """Return bounds on the least epsilon at a delta, for all neighbors.

        Parameters
        ----------
        delta : int, float, Fraction or Decimal, default 0
            From 0 to 1.
        distance : number, optional
            The distance of the datasets; by default the largest of the report.
        """
        allowed = _check_probability("delta", delta)
        found = (one.epsilon(allowed) for one in self._at(distance).divergences)
        least, most = map(max, zip(*found, strict=True))
        return least, most

    def curve(self, epsilons: Iterable[Any], distance: Number | None = None) -> pd.DataFrame:
        """Return delta for several epsilons.

        Returns
        -------
        pandas.DataFrame
            Columns: epsilon, delta_lower, delta_upper.
        """
        wrong = "epsilons must be numbers from 0 to 700, or one of them"
        bounds = [
            (float(_check_loss("epsilon", epsilon)), *self.delta(epsilon, distance))
            for epsilon in one_or_several(epsilons, wrong)
        ]
        return pd.DataFrame(bounds, columns=["epsilon", "delta_lower", "delta_upper"])

    def event(self, distance: Number | None = None) -> list[Atom]:
        """Return the outcomes of the event that attains delta, those that count most first."""
        return self._at(distance).divergence.event(self.claim[0])

    @property
    def script(self) -> str:
        """A script that shows the violation, with NumPy and without this library.

        It runs the function many times on both datasets, and counts how often the event happens.

        Raises
        ------
        InputError
            If nothing is violated, a rho is claimed, or the event cannot be written as a short
            program.
        """
        row, function = self.decisive, self.function
        name = getattr(function, "__name__", "function")
        call = name if name.isidentifier() else "function"
        claim = float(self.claim[0]), float(self.claim[1])
        found = self.sampled and self.sampled.found
        if found and function:
            told = told_of_sample(found.shares, found.event.source, HELPERS)
            return script_of(function, call, found.x, found.y, claim, told, self.generator)
        if row.verdict != "violated" or row.distance not in self.worst or function is None:
            raise InputError(f"script is for a violation, and the verdict is {self.verdict!r}")
        if row.quantity == RHO:
            raise InputError(
                "script shows the probabilities of an event, which prove nothing about rho; audit "
                "epsilon and delta for a script"
            )
        worst = self.worst[row.distance]
        with playing(self.generator):
            told = told_of_outcomes(function, claim, *_seen(worst, self.claim[0]))
        return script_of(function, call, worst.x, worst.y, claim, told, self.generator)


@public_call
def audit_mechanism(
    function: Callable[..., Any],
    universe: Iterable[Any] | Universe | None = None,
    size: int | Iterable[int] | None = None,
    *,
    datasets: Any = None,
    epsilon: Any = None,
    delta: Any = 0,
    rho: Any = None,
    neighbors: Any,
    distances: Any = None,
    every_order: bool = True,
    fresh: bool = False,
    branches: int = BRANCHES,
    time_limit: float | None = SECONDS,
    sampled: bool = False,
    generator: Literal["Generator", "Random", "RandomState"] | None = None,
    subject: str | None = None,
    tolerance_ulps: int | float | Fraction = CHANCE_ULPS,
    progress: bool | None = None,
) -> MechanismReport:
    """Compare the privacy that a mechanism claims with the exact law of its releases.

    The audit passes a generator to the mechanism and decides its draws. So it finds the probability
    of everything that the mechanism can release on every dataset tried, and the delta that every
    epsilon needs on the worst pair of neighbors.

    Parameters
    ----------
    function : callable
        ``function(data, rng)`` releases something about a dataset, with draws from ``rng``, a
        generator like that of ``np.random.default_rng``. It returns all that it releases: numbers,
        texts, or these in lists, tuples, mappings, arrays and tables. An error that it raises is a
        release, too.
    universe : iterable or Universe, optional
        The values of records: the datasets are all lists of the given sizes over these.
    size : int or iterable of int, optional
        The lengths of the lists; needed with `universe`.
    datasets : iterable or callable, optional
        The datasets instead of `universe` and `size`; see `audit`.
    epsilon : int, float, Fraction or Decimal, optional
        The claimed privacy loss between two neighbors, above 0, at most 700.
    delta : int, float, Fraction or Decimal, default 0
        The claimed probability of a larger loss, from 0 to 1.
    rho : int, float, Fraction or Decimal, optional
        The claimed rho of zero-concentrated differential privacy, at most 700, instead of
        `epsilon` and `delta`; for continuous noise.
    neighbors : Relation, str or callable
        The neighbor relation, at most k apart; or a metric on datasets as for `audit`, such as
        "hamming", which distinguishes the places of records.
    distances : number or iterable of numbers, optional
        The distances k of neighbors; the claim is for each of them. By default the k of the
        relation, or 1.
    every_order : bool, default True
        Whether to try lists in every order of their records, or only in the order of `universe`.
    fresh : bool, default False
        Whether each dataset gets its own process, in which every run finds the function's state as
        it was before. Code that keeps state by design, such as an accountant, is then judged on its
        first call. Default arguments and attributes of modules are not put back.
    branches : int, default 10,000
        The largest number of runs on one dataset; together they may make 20 times as many draws
        and decisions.
    time_limit : float or None, default 60
        The most seconds; None for no limit. An audit that takes longer, or more than 2 GiB of
        memory, is refused.
    sampled : bool, default False
        Whether to run the function many times and test its releases, instead of computing their
        law. The function may then have its own generator: it takes the dataset, and `rng`, or
        `seed`, a whole number, or nothing else.
    generator : {"Generator", "Random", "RandomState"}, optional
        The class of the function's generator: NumPy's, Python's ``random.Random``, or NumPy's
        ``RandomState``. It is needed if a call means something else in another class: only `Random`
        draws the last number of ``randint``.
    subject : str, optional
        The name in the report; by default that of the function.
    tolerance_ulps : int, float or Fraction, default 32
        The largest difference that counts as rounding, in units in the last place of the truth, or
        of 1 for an epsilon below 1. Float probabilities are seldom exactly those of the claim.
    progress : bool, optional
        Whether to show progress bars; by default on a terminal, after one second.

    Returns
    -------
    MechanismReport
        A row per input distance. Claim and truth are rhos where `rho` is given, epsilons where
        `delta` is 0, else deltas at `epsilon`; epsilons, too, where `delta` is only room for the
        tails of draws, and no smaller epsilon would do. "tight", "loose" and "violated" are exact,
        for the datasets tried. "holds if post-processed": the function converts numbers with noise,
        which together keep the claim, and returned the same on neighbors after equal values of
        them; it is `held`, and not `sound`. "not refuted": the function has no law that can be
        listed, and many runs found no violation. "violated (sampled)": of those runs, so many more
        were in an event on one of two neighbors that the probability of an error is at most 1e-6,
        over all that was tested. "not judged": a law with endless support was cut, and the claim
        has no delta for what is left; `reason` says which. Methods `delta`, `epsilon` and `curve`
        give the rest of the curve, `event` the event that attains it, and `script` a script that
        shows a violation.

    Raises
    ------
    InputError
        If an argument is invalid, or no two datasets are neighbors.
    QueryError
        If the function fails in every run, draws from a generator of its own or from the operating
        system, or releases two things after the same draws.
    TooLargeError
        If its draws lead to more paths than `branches` or to longer ones, or depend on each other
        in tables that are too large, or the audit takes longer than `time_limit`; the message says
        what to make smaller.

    Notes
    -----
    Covered are ``integers``, ``choice``, ``permutation``, ``shuffle``, ``binomial``,
    ``multinomial``, ``geometric``, ``poisson``, and ``random`` and ``uniform`` compared with
    numbers or rounded down. A draw is a symbol. Sums of draws with whole or rational factors stay
    symbols; a comparison splits a run in two, and whatever needs the value of a draw (an index, a
    text, a key, a product of two draws) takes a run per value. ``laplace`` and ``normal`` noise
    that is added and returned has an affine law. ``laplace`` and ``exponential`` noise that is only
    compared, at most two draws at a time, splits runs, too, with exact probabilities: sums of
    exponentials. So does a single number with ``laplace`` noise that is clipped and released alone.
    The logarithm of a uniform draw, by ``np.log`` or ``math.log``, is exponential noise; with a
    random sign it is Laplace noise. All runs on a dataset are repeated with numbers for the draws,
    in the opposite order.

    Arithmetic is that of real numbers: the rounding of floats is no part of the law, and releases
    in floats that are rounded noticeably are refused. A law with endless support is cut where
    2**-60 is left, and runs of all kinds that are together less likely than 1e-12 are left out.
    Their probability is part of the bounds: no cut law proves a pure epsilon.

    With N datasets, each with B paths, the function runs ``2 N B`` times; `branches` limits B. If
    these are few, runs are repeated until 64 were, for at most a second; if the function makes no
    draw from `rng`, 2048. A function whose repeats differ has randomness of its own. A progress bar
    counts the runs.
    A loop that draws again takes the fewest paths if it rejects by one comparison, such as
    ``abs(y - 1.5) > 1.5``: ``y < 0 or y > 3`` is two ways to go on, and 2**k paths after k of them.

    Examples
    --------
    Randomised response that tells the truth with probability 3/4 has epsilon log(3):

    >>> def respond(data, rng):
    ...     return data[0] if rng.random() < 0.75 else 1 - data[0]
    >>> import math
    >>> report = audit_mechanism(respond, [0, 1], 1, epsilon=1.0, neighbors="bounded")
    >>> report.verdict, round(report.epsilon()[1], 6), round(math.log(3), 6)
    ('violated', 1.098612, 1.098612)
    """
    order = "audit_mechanism(function, universe, size, ...)"
    check_order(function, universe, "function and universe", order)
    check_callable("function", function, "a function of a dataset and a generator")
    check_running(None, progress)
    claim = _claimed(epsilon, delta, rho)
    fresh, sampled = check_flag("fresh", fresh), check_flag("sampled", sampled)
    if not sampled:
        _check_takes_generator(function)
    branches = check_whole("branches", branches, "a number of runs, at least 1", 1)
    question = question_about(
        function, universe, size, datasets, neighbors=neighbors, distances=distances,
        every_order=every_order, subject=subject, tolerance_ulps=tolerance_ulps, progress=progress,
    )  # fmt: skip
    check_pairs(len(question.datasets))
    stands_for = _check_generator.or_none("generator", generator)
    limit = check_seconds.or_none("time_limit", time_limit)
    with playing(stands_for), budgeted(None if limit is None else float(limit)):
        if sampled:
            why = "sampled=True: no law was looked for"
            return _sampled(question, _with_own_draws(function), claim, why, fresh)
        before = {} if fresh else kept(function)
        report = judged(question, function, claim, fresh=fresh, branches=branches)
    left = [] if fresh else changed(before, kept(function))
    return _with_state(report, left) if left else report


def _with_state(report: MechanismReport, left: Sequence[str]) -> MechanismReport:
    """Return a report that leaves open what the runs of a function with state do not prove."""
    reason = f"the function keeps {', '.join(left)} from one call to the next"
    state = f"{reason}; pass fresh=True, which gives each dataset a process of its own"
    # Runs that depend on each other are no sample.
    rows = tuple(
        row
        if row.verdict == "violated" or (row.truth is None and row.verdict != SAMPLED)
        else replace(
            row, truth=None, judged=False, reason=reason, evidence=NO_EVIDENCE, finding=None
        )
        for row in report.rows
    )
    notes = (*report.notes, state)
    return replace(report, rows=rows, notes=notes, unjudged=(state,), sampled=None)


def judged(
    question: Question,
    function: Callable[..., Any],
    claim: PrivacyClaim,
    *,
    fresh: bool = False,
    branches: int = BRANCHES,
) -> MechanismReport:
    """Compare a claim with the laws of what a function of a dataset and a generator releases.

    The function is taken to keep nothing from one call to the next.

    Raises
    ------
    QueryError, TooLargeError
        See `audit_mechanism`.
    """
    check_pairs(len(question.datasets))
    try:
        # How many runs a dataset takes is not known before: the bar counts them.
        with elsewhere(), running.counter("runs", question.progress) as ran:
            run = explore_in_fresh_process if fresh else explore
            found = [run(function, x, branches, ran) for x in question.datasets]
            if not fresh:
                rerun(function, found, ran)
        laws = [ReleaseLaw(one) for one in found]
        _check_releases(laws, claim)
        worst = _worst_pairs(question, laws, claim)
    except OutsideError as error:
        also = f"; {_UNCUT}" if claim.rho is not None else ""
        why = f"the function {error}{line_of(error)}{also}"
        report, cost = (None, "") if fresh else _handed_on(question, function, claim)
        if report is not None:
            return report
        return _sampled(question, function, claim, why + cost, fresh)
    except LimitError as error:
        raise TooLargeError(str(error)) from None
    rows = [_row_of_law(question, limit, worst[limit], claim) for limit in question.limits]
    known = "exact law of all runs"
    if unknown := worst[max(worst)].divergence.unknown:
        known = "the law is not known for all pairs"
        if all(row.verdict == NOT_JUDGED for row in rows):
            return _sampled(question, function, claim, unknown, fresh)
    # Where nothing is known of the truth, no event tells anything.
    known_at_most = rows[-1].truth is not None
    notes = _notes(worst[max(worst)], claim.epsilon) if known_at_most else ()
    if question.limits[-1] and not _differ(question, laws):
        notes = (NOTHING_DIFFERS,)
    return MechanismReport(
        question.subject,
        tuple(rows),
        claim.setting(question, rows, known),
        notes,
        worst=worst,
        function=function,
        claim=(claim.epsilon, claim.delta),
        generator=played(),
    )


@dataclass(frozen=True)
class PrivacyClaim:
    """A claim: epsilon and delta, or rho; each exactly, and `given` as the caller wrote it.

    With a rho, `epsilon` is only where events are looked for. `instead` says what to do where a law
    is cut, which proves no pure epsilon; it is empty for the advice to claim a delta.
    """

    epsilon: Fraction
    delta: Fraction
    rho: Fraction | None
    given: Any
    words: str
    quantity: str
    instead: str = ""

    @property
    def for_samples(self) -> tuple[float, float]:
        """The epsilon and the delta that samples are compared with, as floats.

        A rho has a delta at every epsilon; at a hundredth, few runs are needed to show a violation.
        """
        if self.rho is None:
            return float(self.epsilon), float(self.delta)
        rho = float(self.rho)
        return rho + 2 * math.sqrt(rho * math.log(100)), 0.01

    @classmethod
    def of(cls, epsilon: Any, delta: Any = 0, rho: Any = None) -> PrivacyClaim:
        """Return a claim of numbers that are known to be in range."""
        if rho is not None:
            words = f"rho {brief(rho)}"
            return cls(Fraction(1), Fraction(0), as_fraction(rho, RHO), rho, words, RHO)
        at, allowed = as_fraction(epsilon, AN_EPSILON), as_fraction(delta, "delta")
        words = f"epsilon {brief(epsilon)}, delta {brief(delta)}"
        if allowed:
            quantity = f"a delta at epsilon {brief(epsilon)}"
            return cls(at, allowed, None, delta, words, quantity)
        return cls(at, allowed, None, epsilon, words, AN_EPSILON)

    def setting(self, question: Question, rows: Sequence[AuditRow], known: str) -> str:
        """Return what a report says was compared, and how the laws are known."""
        kinds = dict.fromkeys(row.quantity.split()[1] + "s" for row in rows)
        compared = f"{self.words}; claimed and truth are {' and '.join(kinds)}"
        return f"{question.metrics}; {question.among}; {compared}; {known}"


def _claimed(epsilon: Any, delta: Any, rho: Any) -> PrivacyClaim:
    """Return the claim, or raise InputError."""
    allowed = _check_probability("delta", delta)
    if rho is None:
        _check_claim("epsilon", epsilon)
        return PrivacyClaim.of(epsilon, delta)
    _check_claim("rho", rho)
    if epsilon is not None or allowed:
        raise InputError("rho takes the place of epsilon and delta; leave these out")
    return PrivacyClaim.of(None, rho=rho)


def _check_takes_generator(function: Callable[..., Any]) -> None:
    """Raise InputError unless a function takes a dataset and a generator."""
    if (signature := misfit(function, None, None)) is not None:
        raise InputError(
            f"function must take a dataset and a generator, as in def function(data, rng), got "
            f"{named(getattr(function, '__name__', 'one'))}{signature}"
        )


def _with_own_draws(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a dataset and a generator: what the given one takes is seen here."""
    try:
        names = [*inspect.signature(function).parameters]
    except (TypeError, ValueError):
        return function
    if "seed" in names[1:]:
        return lambda data, rng: function(data, seed=int(rng.integers(2**31)))
    return function if len(names) > 1 else lambda data, _: function(data)


def _check_releases(laws: Sequence[ReleaseLaw], claim: PrivacyClaim) -> None:
    """Raise QueryError if every run on every dataset raises: that is a mistake in the code.

    Raise OutsideError if a rho is claimed of compared noise.
    """
    leaves = [(law, leaf) for law in laws for leaf in law.explored.leaves]
    if claim.rho is not None and any(leaf.run.compares for _, leaf in leaves):
        raise OutsideError("compares continuous noise")
    check_some_succeed([(law.dataset, leaf.parts) for law, leaf in leaves])


def _differ(question: Question, laws: Sequence[ReleaseLaw]) -> bool:
    """Tell whether the laws of two neighbors differ, or may differ."""
    return any(
        laws[x].key != laws[y].key and compared(laws[x], laws[y]).explored(Fraction(0))[1]
        for x, y, _ in question.neighbors()
    )


def _worst_pairs(
    question: Question, laws: Sequence[ReleaseLaw], claim: PrivacyClaim
) -> dict[Number, Worst]:
    """Return, by input distance, the pair of neighbors that decides the verdict.

    If a pair violates the claim, it is the one that needs most. If none does, a pair whose upper
    bound exceeds the claim leaves it open, however much others need: it comes first then.
    """
    # A dataset beside itself, where nothing else is compared.
    same = Worst(laws[0].dataset, laws[0].dataset, compared(laws[0], laws[0]))
    best: dict[Number, tuple[Any, Worst]] = dict.fromkeys(question.limits, ((), same))
    # By what decides their curve, so that laws that are cut, of which none equals another, do not
    # count for each pair of datasets.
    near: dict[Number, dict[Any, Any]] = {limit: {} for limit in question.limits}
    ranks: dict[Any, Any] = {}
    seen: set[Any] = set()
    places = _one_of_each(question, laws)
    datasets = [question.datasets[place] for place in places]
    for a, b, limits in neighbors(question.inputs, datasets, question.limits, question.progress):
        budget().check()
        x, y = laws[places[a]], laws[places[b]]
        pair = x.key, y.key, *limits
        if pair in seen:
            continue
        seen.add(pair)
        for order, (key, rank, found) in enumerate(_both_orders(x, y, claim, ranks)):
            for limit in limits:
                near[limit].setdefault(key or (order, pair), found.divergence)
                if rank > best[limit][0]:
                    best[limit] = rank, found
    return {
        limit: replace(found, divergences=[found.divergence, *near[limit].values()])
        for limit, (_, found) in best.items()
    }


def _one_of_each(question: Question, laws: Sequence[ReleaseLaw]) -> list[int]:
    """Return the places of datasets, one for all that differ in their order alone, if that is none.

    Those have the same neighbors, and here the same law.
    """
    found: dict[Any, int] = {}
    for place, law in enumerate(laws):
        own: Any = place
        if question.inputs.unordered:
            own = question.inputs.form_by(signed_key, records_of(law.dataset)), law.key
        found.setdefault(own, place)
    return [*found.values()] if len(found) > 1 else [*range(len(laws))]


def _both_orders(
    first: ReleaseLaw, second: ReleaseLaw, claim: PrivacyClaim, ranks: dict[Any, Any]
) -> list[tuple[Any, Any, Worst]]:
    """Return both orders of a pair, each with what ranks it: larger decides before smaller.

    Pairs of laws with the same probabilities, of whatever outcomes, have one of the `ranks`: its
    key comes first, and is None where there is continuous noise.
    """
    divergence = compared(first, second)
    found = []
    for x, y, one in ((first, second, divergence), (second, first, divergence.swapped())):
        pairs = frozenset(Counter((atom.p, atom.q) for atom in one.atoms).items())
        key = None if one.noisy else (pairs, one.left)
        if key is None or key not in ranks:
            ranks[key] = _rank(one, claim)
        found.append((key, ranks[key], Worst(x.dataset, y.dataset, one)))
    return found


def _rank(divergence: Divergence, claim: PrivacyClaim) -> tuple[Any, ...]:
    """Rank an order of a pair: by whether it violates the claim, leaves it open, or neither."""
    at = claim.epsilon
    # Of pairs that decide alike, the one with the larger delta elsewhere.
    curve = [divergence.delta(epsilon)[1] for epsilon in (at / 2, Fraction(0))]
    if claim.rho is not None:
        low, high = divergence.rho or (Fraction(0), math.inf)
        violates = low > claim.rho
        return violates, high > claim.rho, low if violates else high, low, *curve
    if claim.delta:
        least, most = divergence.delta(at)
        violates = least > claim.delta
        return violates, most > claim.delta, least if violates else most, *curve
    low, high = divergence.pure or (0.0, math.inf)
    # At a cut law, any event that is likelier than the claim allows is a violation.
    least = divergence.delta(at)[0]
    violates = low > at or least > 0
    return violates, high > at, (low, high), least, *curve


def _row_of_claim(
    question: Question,
    limit: Number,
    claim: PrivacyClaim,
    truth: Difference | float | None,
    **facts: Any,
) -> AuditRow:
    """Return the row of a claim and a truth."""
    return AuditRow(
        limit,
        claim.given,
        truth,
        rounded=True,
        tolerance_ulps=question.tolerance,
        quantity=claim.quantity,
        # An epsilon is the logarithm of a ratio of chances, which floats round near 1.
        coarsest=0.0 if claim.delta or claim.rho is not None else 1.0,
        **facts,
    )


def _row_of_law(question: Question, limit: Number, worst: Worst, claim: PrivacyClaim) -> AuditRow:
    """Compare the claim with the law of the deciding pair."""
    divergence = worst.divergence
    evidence = _evidence(worst, claim.epsilon)
    row = partial(_row_of_claim, question, limit, claim, evidence=evidence)
    if claim.rho is not None:
        return _row_of_rho(row, divergence, claim.rho)
    least, most = divergence.delta(claim.epsilon)
    if claim.delta:
        # Above the claim, or below it, or open because of what was not explored.
        near = most - least <= _OPEN * claim.delta
        if least > claim.delta or most < claim.delta or near:
            found = row(_number(least if least > claim.delta else most))
            return _in_epsilon(found, divergence, claim) if found.verdict == "loose" else found
        needed = least
    else:
        low, high = divergence.epsilon(Fraction(0))
        if divergence.pure is not None or math.isinf(low):
            return row(_number(high))
        needed = Fraction(low)
    # So much is needed at least; whether more is, only what is not known could tell.
    return _open_row(row, needed, divergence.unknown or _cut(claim, least, most))


def _in_epsilon(row: AuditRow, divergence: Divergence, claim: PrivacyClaim) -> AuditRow:
    """Return a row that compares epsilons, if delta is only room for the tails of the draws.

    A smaller delta would do then, but no smaller epsilon: none with delta 0, and with this delta
    none that is smaller by a ten thousandth.
    """
    low, _ = divergence.epsilon(Fraction(0))
    at = float(claim.epsilon)
    if abs(low - at) > _NO_LESS * at or divergence.epsilon(claim.delta)[0] < (1 - _LESS) * at:
        return row
    quantity = f"{AN_EPSILON} at delta {brief(claim.given)}"
    # A claim in floats is as fine as these; the tails that are cut move the truth by less.
    return replace(row, claimed=at, truth=_number(low), tolerance_ulps=_FAR_ULPS, quantity=quantity)


def _open_row(row: Callable[..., AuditRow], least: Fraction, reason: str) -> AuditRow:
    """Return a row that is not judged: of the truth a lower bound is known, or nothing."""
    found = row(_number(least), reason=reason, judged=False)
    return found if least > 0 else replace(found, truth=None, evidence=NO_EVIDENCE)


def _row_of_rho(
    row: Callable[..., AuditRow], divergence: Divergence, claimed: Fraction
) -> AuditRow:
    """Compare a claimed rho with that of the worst pair."""
    bounds = divergence.rho
    if bounds is None:
        reason = divergence.unknown or (
            f"{_UNCUT}, and draw discrete Gaussian noise with rng.choice(values, p=weights)"
        )
        return _open_row(row, Fraction(0), reason)
    low, high = bounds
    if math.inf in bounds:
        return row(math.inf)
    known = low > claimed or high < claimed or high - low <= _OPEN * claimed
    truth = Fraction(high if known and low <= claimed else low)
    reason = "" if known else f"rho is between {float(low):.6g} and {float(high):.6g}"
    return row(Difference(truth, Fraction(0)), reason=reason, judged=known)


def _cut(claim: PrivacyClaim, least: Fraction, most: Fraction) -> str:
    """Return why bounds of delta leave a claim open, and which claim is decided instead."""
    at = f"delta at epsilon {float(claim.epsilon):.6g} is"
    if not claim.delta and not least:
        # A tenth of the delta to claim is room enough for what floats round.
        delta = next((one for one in _DELTAS if 10 * most <= Fraction(one)), "")
        way_out = claim.instead or (
            f"pass delta={delta} to judge the claim" if delta else "pass a larger branches="
        )
        return f"the tails of the draws are cut, and {at} at most {round_up(most):.3g}; {way_out}"
    return (
        f"not all draws can be explored, and {at} between {float(least):.3g} and "
        f"{round_up(most):.3g}; claim a larger or a smaller delta, or pass a larger branches="
    )


def _number(truth: Fraction | float) -> Difference | float:
    """Return a truth as the float above it."""
    return (
        math.inf
        if math.isinf(truth)
        else Difference(Fraction(round_up(Fraction(truth))), Fraction(0))
    )


def _seen(worst: Worst, epsilon: Fraction) -> tuple[list[Atom], list[NoisyEvent]]:
    """Return the event that tells the pair apart: outcomes, and ranges of noisy numbers."""
    found = [one.event(epsilon) for one in worst.divergence.noisy]
    noisy = [one for one in found if one is not None]
    event = worst.divergence.event(epsilon)
    return (event if event or noisy else worst.divergence.telling()), noisy


def _shown(data: Any) -> Any:
    """Return a dataset as evidence has it."""
    return tuple(data) if isinstance(data, list) else data


def _evidence(worst: Worst, epsilon: Fraction) -> Evidence:
    """Return the pair, each with the probability of the event that tells them apart."""
    p, q = chances(*_seen(worst, epsilon))
    return Evidence(_shown(worst.x), _shown(worst.y), {"P(event)": p}, {"P(event)": q})


def _notes(worst: Worst, epsilon: Fraction) -> tuple[str, ...]:
    """Return what a report says of the event."""
    event, noisy = _seen(worst, epsilon)
    told = [atom.told for atom in itertools.islice(event, _SHOWN)]
    if len(event) > len(told):
        told.append(f"{len(event) - len(told):,} more outcomes")
    told += [one.text for one in noisy]
    return (f"event: {'; or '.join(told)}", *worst.divergence.dtypes(event)) if told else ()


def _handed_on(
    question: Question, function: Callable[..., Any], claim: PrivacyClaim
) -> tuple[MechanismReport | None, str]:
    """Return the report on code that does no more than process noisy numbers; else why not."""
    near = {(x, y): limits for x, y, limits in question.neighbors()}
    try:
        with elsewhere():
            found = handed_on(function, question.datasets, list(near))
    except OutsideError:
        found = None
    except LimitError as error:
        raise TooLargeError(str(error)) from None
    if found is None:
        return None, ""
    number, costs = found
    worst = dict.fromkeys(question.limits, 0.0)
    for pair, limits in near.items():
        cost = _cost(costs[pair], claim)
        for limit in limits:
            worst[limit] = max(worst[limit], cost)
    most = max(worst.values())
    if most > float(claim.given) * (1 + _NO_LESS):
        told = f"; its noisy numbers cost {most:.6g} if all are released"
        return None, told if most < math.inf else ""
    tried = (
        f"after {number:,} vectors of values of its noisy numbers, the function returned the same "
        f"on all neighbors; what it does once in {number:,} may escape them"
    )
    rows = [
        _row_of_claim(
            question,
            limit,
            claim,
            _number(cost),
            evidence=NO_EVIDENCE,
            finding=Finding(HOLDS, f"{claim.words} is claimed", f"{cost:.6g} is enough if the "
                            f"noisy numbers are all that is released"),
        )
        for limit, cost in worst.items()
    ]  # fmt: skip
    known = claim.setting(question, rows, "the law of its noisy numbers")
    return MechanismReport(question.subject, tuple(rows), known, (tried,)), ""


def _cost(cost: Handed, claim: PrivacyClaim) -> float:
    """Return what numbers cost that are shifted, in the quantity of a claim; rounded up."""
    if claim.rho is not None:
        return float(cost.loss.rho[1])
    if claim.delta:
        return cost.loss.delta(claim.epsilon)[1]
    return round_up(Fraction(cost.epsilon)) if cost.epsilon < math.inf else math.inf


def _sampled(
    question: Question,
    function: Callable[..., Any],
    claim: PrivacyClaim,
    why: str,
    fresh: bool,
) -> MechanismReport:
    """Return the report on a function whose law is not known: it runs many times."""
    pairs = {(x, y): min(limits) for x, y, limits in question.neighbors()}
    epsilon, delta = claim.for_samples
    run = partial(refute, datasets=question.datasets, epsilon=epsilon, delta=delta)
    if fresh:
        given = run, function, list(pairs), played()
        tried: Tried = running.in_fresh_process(_first_calls, *given)
    else:
        try:
            tried = run(function, pairs=list(pairs))
        except LimitError as error:
            raise TooLargeError(str(error)) from None
    number = f"{tried.runs:,} runs in {tried.seconds:.1f} s"
    row = partial(
        AuditRow,
        claimed=claim.given,
        truth=None,
        reason=why,
        judged=False,
        quantity=claim.quantity,
    )
    setting = f"{question.metrics}; {question.among}; no law is known"
    found = tried.found
    if found is None:
        finding = Finding(NOT_REFUTED, f"{number} found no violation", why)
        rows = (row(question.limits[0], evidence=NO_EVIDENCE, finding=finding),)
        return MechanismReport(question.subject, rows, setting)
    hits = [f"{a:,} of {b:,} runs" for a, b in zip(found.hits, found.runs, strict=True)]
    finding = Finding(
        SAMPLED,
        f"an event is likelier than {claim.words} allows",
        f"{hits[0]} on x, and {hits[1]} on y, where {found.event.text}; the probability of error "
        f"is at most {found.error:.1g}",
    )
    p, q = found.shares
    evidence = Evidence(_shown(found.x), _shown(found.y), {"P(event)": p}, {"P(event)": q})
    distance = pairs[min(found.places), max(found.places)]
    return MechanismReport(
        question.subject,
        (row(distance, evidence=evidence, finding=finding),),
        setting,
        notes=(f"event: {found.event.text}", f"no law is known: {why}"),
        sampled=tried,
        function=function,
        claim=(Fraction(epsilon), Fraction(delta)),
        generator=played(),
    )


def _first_calls(
    run: Callable[..., Tried],
    function: Callable[..., Any],
    pairs: list[tuple[int, int]],
    generator: str | None,
) -> Tried:
    with playing(generator):
        return run(first_calls(function), pairs=pairs)
