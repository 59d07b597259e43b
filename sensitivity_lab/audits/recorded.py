"""Audits of any library that adds noise: the claims it hands to its mechanisms, and the truth."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import (
    Norm,
    check_callable,
    check_flag,
    check_norm,
    check_running,
    shown,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics import METRICS

from .claims import ROUNDING_ULPS, check_amount, check_tolerance
from .driven.kept import judged_by_first_calls
from .question import (
    Question,
    as_relation_of_at_most,
    check_order,
    check_subject,
    naming,
    vectors_over,
)
from .recording import Glimpse, Recorder, Run, recording, resolved, run_here
from .replay import Beside, Histories, check_again, check_histories, replayed
from .report import AuditReport
from .returned import parts
from .row import UNSOUND


@public_call
def audit_recorded(
    function: Callable[[list[Any]], Any],
    universe: Iterable[Any],
    size: int | Iterable[int],
    *targets: Any,
    neighbors: Any,
    norm: Norm = "L1",
    every_order: bool = True,
    where: Callable[[list[Any]], bool] | None = None,
    scores: str | None = None,
    histories: int | Iterable[Sequence[Any]] | None = None,
    budget: int | float | Fraction | Decimal | None = None,
    fresh: bool = False,
    subject: str | None = None,
    tolerance_ulps: int | float | Fraction = ROUNDING_ULPS,
    progress: bool | None = None,
    **options: Any,
) -> AuditReport:
    """Compare the sensitivity that a library claims with the exact one of what it computes.

    Parameters
    ----------
    function : callable
        Takes a dataset, which is a list of records, and calls the library on it. It returns only
        the release.
    universe : iterable or Universe
        The values of records; include NaN if records can be missing.
    size : int or iterable of int
        The numbers of records; both datasets of a pair have one of these sizes.
    *targets : str, class or function
        The library's mechanisms, as `recording` takes them.
    neighbors : Relation or str
        The neighbor relation, at a distance of at most k; a name means k = 1. The claims of a
        library are for k = 1, so at k they count k times; a note says so. A `budget` is what a run
        may lose between these neighbors: pass it to protect people who have k records.
    norm : {"L1", "L2", "Linf"}, default "L1"
        The norm of the difference of two answers, where the library hands over several values.
    every_order : bool, default True
        Whether to try datasets in every order of their records, or only in the order of `universe`.
    where : callable, optional
        Returns whether the function is defined on a dataset; other datasets are left out.
    scores : str, optional
        For mechanisms that select a candidate by scores, as the exponential mechanism,
        permute-and-flip and report-noisy-max do: the attribute or parameter that holds the scores.
        A function may make several selections, also beside mechanisms that add noise, which have
        no scores.
    histories : int or iterable of sequences, optional
        Releases to feed to runs, since a claim must hold for every history: the number of histories
        to draw, the same in every audit, by default up to 1,000 as datasets are few (3 with
        `fresh`); or the histories themselves. Steps beyond the end of a history release their true
        values. A selection that cannot choose what a history says chooses its best candidate; if
        there are at most 64 combinations of choices, each is a history.
    budget : int, float, Fraction or Decimal, optional
        The epsilon that a whole run may spend between these neighbors, for any k. The report then
        has a row for it: the truth is the largest loss, the sum over the steps of epsilon times
        difference over claim. The option `epsilon` finds each epsilon, and is then "epsilon" by
        default. Without either, epsilons are not compared; if a mechanism has one under that name
        and it changes with the data, a note says so. For selections, epsilon times difference
        over claim is the most that they lose: if the sum exceeds the budget, it is "not judged".
    fresh : bool, default False
        Whether each run gets a process of its own, in which the function was not called before, as
        for `audit_mechanism`: code that keeps state by design, such as an accountant, is then
        judged on its first calls. A process takes about a second to start, so each run is repeated
        only once, instead of up to 32 times.
    subject : str, optional
        The name of the function in the report; by default its own name.
    tolerance_ulps : int, float or Fraction, default 4
        The largest difference that counts as rounding, where the claim or the answers are floats,
        in units in the last place of the truth; see `audit`.
    progress : bool, optional
        Whether to show progress bars; by default on a terminal, after one second.
    **options
        The options of `recording`: `method`, `sensitivity`, `value` and `epsilon`; of selections
        also `monotonic` and `candidates`.

    Returns
    -------
    AuditReport
        It has a row per step, that is per call of a mechanism in a run: the pair of neighbors with
        the largest ratio of truth to claim. If the claims on both neighbors differ, the smaller one
        counts. Such a pair is reported even if no truth exceeds a claim, as a "data-dependent
        claim": a release shows the scale of its noise, and so distinguishes the neighbors. So noise
        scaled to the local sensitivity is never sound. If every truth is 0 and no claim is, the
        setting says that perhaps the wrong thing was recorded.

        Of several steps, a row names the mechanism, where it was called, and what was released
        before: the releases of each dataset are fed to the runs on its neighbors. If two neighbors,
        after the same releases, call mechanisms in different places or a different number of times,
        or mechanisms with other ends (`lower` and `upper`), a row says so: "not aligned", which is
        not sound.
        A function that only hands its releases on, as they are, is judged for every release. What
        else is done with releases is compared after the histories: at best, the verdict is "holds
        if post-processed", which is `held` and not `sound`.
        Without a `budget`, a note says what the steps spend together; the verdict is "not judged"
        if that is more than one step may.

        If two neighbors, after the same releases, return different values, a row says so: the
        return value depends on the data besides the releases, which is "violated". Values are
        compared part by part, in sequences, mappings, arrays, tables and dataclasses, with their
        types, dtypes, names, categories and the order of a mapping. Parts that differ between two
        runs on one dataset are not compared, and a note says so.

        Of a selection, the truth is the largest change of a score; if the mechanism is for
        monotonic scores, it is the largest increase plus the largest decrease. Neighbors must have
        the same candidates: a row, "violated", says if they do not.

    Raises
    ------
    InputError
        If an argument is invalid.
    QueryError
        If the function fails on a dataset, calls no mechanism, or draws at random outside the
        recorded mechanisms; or if a mechanism gets 0 on every dataset, and its release is added to
        an answer that was not recorded.
    TooLargeError
        If there are too many datasets or pairs; the message says how many.

    Notes
    -----
    With m values there are ``m**s`` datasets of size s, and the function is called once on each. To
    see whether it draws at random, it is called again with the same releases: once more on each
    dataset, or on 2,048 of them if there are more, and up to 32 times in total if there are few.
    The datasets of a row are run 8 more times.

    Return values are compared after the same releases: in the runs that are fed those of a
    neighbor, and after drawn histories. A drawn release is a true value of its step on some dataset
    with noise, 0, or far out to either side; it is a whole number where the mechanism's are (a copy
    of it releases a few), and stays between `lower` and `upper` of a mechanism that has these. A
    mechanism that is not among the targets and draws with a fixed seed cannot be distinguished from
    data.

    With N datasets of at most p neighbors, several steps and H further histories, there are at most
    ``N (p + 1) (H + 1)`` more runs, and fewer where datasets release the same; with one step ``N
    H``. A violation after some history is final, if the mechanism can release that.

    Examples
    --------
    >>> class Mechanism:
    ...     def __init__(self, sensitivity):
    ...         self.sensitivity = sensitivity
    ...
    ...     def randomise(self, value):
    ...         raise NotImplementedError("no noise in an example")
    >>> def mean(x):
    ...     return Mechanism(1 / len(x)).randomise(sum(x) / len(x))
    >>> audit_recorded(mean, [0, 1], 2, Mechanism, neighbors="bounded")
    Audit of mean: tight
      setting  bounded, at most 1; norm L1; values (0, 1), sizes (2,) in every order; implementation
      k  claimed  truth      verdict
      1  0.5      1/2 = 0.5  tight
      x  (0, 0)  ->  0.0
      y  (0, 1)  ->  0.5

    A selection, whose scores are an attribute of the mechanism:

    >>> class Exponential:
    ...     def __init__(self, utility, sensitivity):
    ...         self.utility, self.sensitivity = utility, sensitivity
    ...
    ...     def randomise(self):
    ...         raise NotImplementedError("no randomness in an example")
    >>> def mode(x):
    ...     return Exponential([x.count(0), 2 * x.count(1)], sensitivity=1).randomise()
    >>> report = audit_recorded(
    ...     mode, [0, 1], [1, 2], Exponential, neighbors="unbounded", scores="utility"
    ... )
    >>> report.verdict, report.rows[0].claimed, report.rows[0].exact
    ('violated', 1, Fraction(2, 1))
    """
    order = "audit_recorded(function, universe, size, *targets, ...)"
    check_order(function, universe, "function and universe", order)
    check_callable("function", function, "a function of a list")
    fresh = check_flag("fresh", fresh)
    relation = as_relation_of_at_most(neighbors)
    check_norm(norm)
    if where is not None:
        check_callable("where", where, "a function of a dataset, or None")
    name = check_subject(subject, function)
    check_running(None, progress)
    tolerance = check_tolerance(tolerance_ulps)
    datasets, among = vectors_over(universe, size, every_order)
    if where is not None:
        datasets = [x for x in datasets if _accepted(where, x)]
        among += f", {len(datasets):,} datasets that `where` accepts"
        if not datasets:
            raise InputError("where must accept at least one dataset, but it accepts none")
    question = Question(
        subject=name,
        datasets=datasets,
        among=among,
        inputs=relation.metric,
        outputs=METRICS[norm],
        metrics=f"{relation}; norm {norm}",
        limits=(relation.k,),
        claims=(),
        tolerance=tolerance,
        progress=progress,
    )
    budget = None if budget is None else _check_budget(budget, norm)
    fed = check_histories(3 if histories is None and fresh else histories)
    if budget is not None:
        options.setdefault("epsilon", "epsilon")
    _check_parameters(targets, options)
    # Calls that tell their shares of a budget are judged one by one, each with its claim.
    shared = budget is not None or options.get("epsilon") is not None
    if not shared:
        options["epsilon"] = Glimpse.of
    options["scores"] = scores
    with recording(*targets, **options) as tape:
        tape.asks = True
        there = partial(running.in_fresh_process, run_here, function, targets, options)

        def judge(called: Callable[[list[Any]], Any]) -> AuditReport:
            recorder = Recorder(called, tape, there if fresh else None)
            return reported(question, recorder, fed, budget)

        return judge(function) if fresh else judged_by_first_calls(function, judge)


def _check_parameters(targets: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Raise InputError without a mechanism, or if one lacks a parameter that is looked up."""
    if not targets:
        raise InputError(
            "targets must name at least one mechanism, got none; name one, as in "
            'sl.audits.audit_recorded(function, values, 3, Mechanism, neighbors="bounded")'
        )
    sought = {"sensitivity": "sensitivity", **options}
    for target in targets:
        found = resolved(target)
        if inspect.isclass(found):
            continue
        try:
            signature = inspect.signature(found)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"a target must have a signature, and that of {found.__qualname__} cannot be read: "
                f"{error}; give what it wraps"
            ) from error
        for option in ("sensitivity", "value", "epsilon"):
            name = sought.get(option)
            if isinstance(name, str) and name not in signature.parameters:
                raise InputError(
                    f"{option} must name a parameter of {found.__qualname__}{signature}, got "
                    f"{shown(name)}; pass {option}= with its name, or with a function of the dict "
                    "of "
                    "arguments"
                )


def _check_budget(budget: Any, norm: Norm) -> Any:
    """Return a budget, or raise InputError."""
    if norm == "L2":
        raise InputError("budget adds losses of noise for norm 'L1' or 'Linf', got norm 'L2'")
    return check_amount("budget", budget)


_WRONG_VALUE = (
    "; the truth is 0 and the claim is not, so perhaps the wrong thing was recorded: see value="
)


def _accepted(where: Callable[[list[Any]], Any], x: list[Any]) -> bool:
    """Tell whether a function is defined on a dataset, or raise QueryError."""
    with naming("where, on {}, raised", x):
        return bool(where(copy.deepcopy(x)))


def reported(
    question: Question,
    recorder: Recorder,
    histories: Histories,
    budget: Number | None,
) -> AuditReport:
    """Run a function on all datasets, and return the report.

    Parameters
    ----------
    question : Question
        The datasets, and which of them are neighbors.
    recorder : Recorder
        The function and the tape; its mechanisms are recorded while this runs.
    histories : int, list of tuple, or None
        What is fed to them.
    budget : number, optional
        What a whole run may spend.

    Raises
    ------
    QueryError, TooLargeError
        See `audit_recorded`.
    """
    [k] = question.limits
    tried = running.tracked(question.datasets, unit="datasets", progress=question.progress)
    runs = [recorder.run(x) for x in tried]
    kept = check_again(recorder, runs, question.progress)
    beside = Beside(recorder, runs)
    rows, told, notes, spent, assumed = replayed(
        question, recorder, runs, histories, budget, beside
    )
    rows = (*rows, *beside.row(k))
    told += _WRONG_VALUE if all(row.says_nothing for row in rows) else ""
    unjudged = (*spent, *beside.notes, *kept)
    changing = _changing_epsilon(runs, question)
    left_open = (*unjudged, *changing)
    if left_open or any(row.verdict in UNSOUND for row in rows):
        assumed = ()  # something else decides the verdict
    return question.report(
        rows,
        f"implementation{told}",
        (*notes, *unjudged, *_told_of_distance(budget, k), *changing, *assumed),
        left_open,
        assumed,
    )


def _told_of_distance(budget: Number | None, k: Number) -> tuple[str, ...]:
    """Return what is promised at a distance above 1."""
    if k <= 1:
        return ()
    if budget is None:
        return (
            f"a claim is for k = 1, and counts {k} times: at this distance each step may lose {k} "
            "times its epsilon; pass budget= for what a run may lose between these neighbors",
        )
    return (
        f"a claim is for k = 1, and counts {k} times at a step; the budget is what the run may "
        "lose between these neighbors, and counts once",
    )


def _changing_epsilon(runs: Sequence[Run], question: Question) -> tuple[str, ...]:
    """Return a note if a mechanism shows another epsilon where perhaps a neighbor does not."""
    first: dict[Hashable, Any] = {}
    for run in runs:
        for place, seen in enumerate(run.seen):
            size = len(run.dataset) if question.inputs.resizes is False else None
            key = run.sites[place], place, size
            if parts(first.setdefault(key, seen)) != parts(seen):
                return (
                    f"the epsilon of {run.sites[place]} changes with the data, and is not "
                    "compared; pass budget= or epsilon= to compare it",
                )
    return ()
