"""Audits of any library that adds noise: the claims it hands to its mechanisms, and the truth."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from pkgutil import resolve_name
from typing import Any

from sensitivity_lab.checks import check_callable, check_flag, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics.norms import Norm
from sensitivity_lab.numpy_state import with_numpy_defaults

from .claims import ROUNDING_ULPS, check_claim, check_tolerance
from .recording import Call, recording
from .replay.histories import check_histories
from .replay.question import Replay, answered, check_question
from .replay.runs import Glimpse, Recorder
from .report import AuditReport
from .subjects import name_of, subject_named

_NOT_RECORDED = (
    "give a mechanism that takes the answer, or audit the sampler by audit_sampled with "
    "value='returns'"
)


@with_numpy_defaults
def audit_recorded(
    function: Callable[[list[Any]], Any],
    values: Iterable[Any],
    sizes: int | Iterable[int],
    *targets: Any,
    neighbors: Any,
    norm: Norm = "L1",
    every_order: bool = True,
    where: Callable[[list[Any]], bool] | None = None,
    select: Callable[[list[Call]], list[Call]] = list,
    replay: bool | None = None,
    histories: int | Iterable[Sequence[Any]] = 3,
    budget: int | float | Fraction | Decimal | None = None,
    subject: str | None = None,
    tolerance_ulps: int | float | Fraction = ROUNDING_ULPS,
    progress: bool | None = None,
    **options: Any,
) -> AuditReport:
    """Compare the sensitivity that a library claims with the exact one of what it computes.

    Parameters
    ----------
    function : callable
        Takes a dataset, which is a list of records, and calls the library on it. It returns what is
        released, and nothing else.
    values : iterable
        The universe of records; include NaN if records can be missing.
    sizes : int or iterable of int
        The numbers of records; both datasets of a pair have one of these sizes.
    *targets : str, class or function
        The library's mechanisms, as `recording` takes them.
    neighbors : Relation or str
        Which datasets are neighbors, at a distance of at most k; a name means k = 1. What a library
        claims is for k = 1, so its claim at k is k times as large; a note says so. A `budget` is
        what a run may lose between these neighbors: say it to protect people who have k records.
    norm : {"L1", "L2", "Linf"}, default "L1"
        The norm of the difference of two answers, where the library hands over several values.
    every_order : bool, default True
        Whether to try datasets in every order of their records, or only in the order of `values`.
    where : callable, optional
        Tells whether the function is defined on a dataset; other datasets are left out.
    select : callable, optional
        Returns which of the calls made on a dataset to audit, for a library that hands over several
        answers with different claims; by default all calls.
    replay : bool, optional
        Whether to feed the releases of each dataset to the runs on its neighbors, and to compare
        step by step, each with its own claim. If not, all values of a run are one vector beside one
        claim. By default it depends on the function: a replay where a run claims several
        sensitivities, where a later step depends on an earlier release, or where the shares of a
        budget are known, by `epsilon` or by `budget`. One vector is right where each call of a run
        spends the whole budget. If the calls share one budget, give it as `budget`.
    histories : int or iterable of sequences, default 3
        Further releases that are fed to all runs of a replay, since a claim must hold for every
        history: the number of histories to draw, the same in every audit, or the histories
        themselves. Steps beyond the end of a history release their true values.
    budget : int, float, Fraction or Decimal, optional
        The epsilon that a whole run may spend between these neighbors, whatever their k. The report
        then has a row for it: the truth is the largest loss, the sum over the steps of epsilon
        times difference over claim. Each epsilon is found by the option `epsilon`, which is then
        "epsilon" by default. Without either, epsilons are not compared; where a mechanism has one
        under that name and it changes with the data, a note says so.
    subject : str, optional
        The name of the function in the report; by default its own name.
    tolerance_ulps : int, float or Fraction, default 4
        The largest difference that counts as rounding, where the claim or the answers are floats,
        in units in the last place of the truth; see `audit`.
    progress : bool, optional
        Whether to show progress bars; by default on a terminal, after one second.
    **options
        The options of `recording`: `method`, `sensitivity`, `value` and `epsilon`.

    Returns
    -------
    AuditReport
        It has one row: the pair of neighbors with the largest ratio of truth to claim. If the
        claims on both neighbors differ, the smaller one counts. Such a pair is reported even where
        no truth exceeds a claim, as a "data-dependent claim": the scale of the noise can be seen in
        a release, and tells the neighbors apart. So noise scaled to the local sensitivity is never
        sound. If every truth is 0 and no claim is, the setting says that perhaps the wrong thing
        was recorded.

        A replay has a row per step, which names the mechanism, where it was called, and what was
        released before. If two neighbors, after the same releases, call mechanisms in other places
        or another number of times, a row says so: "not aligned", which is not sound. Without a
        `budget`, a note says what the steps spend together.

        If two neighbors, after the same releases, return different values, a row says so: the
        return value depends on the data beside the releases, which is "violated". Values are
        compared part by part, in sequences, mappings, arrays, tables and dataclasses, with their
        types, dtypes, names, categories and the order of a mapping. Parts that differ between two
        runs on one dataset are not compared, and a note says so.

    Raises
    ------
    InputError
        If an argument is not acceptable.
    QueryError
        If the function fails on a dataset, calls no mechanism, draws at random beside the recorded
        mechanisms, or, with ``replay=False``, claims several sensitivities on one dataset (choose
        some of the calls with `select`). If a mechanism gets 0 on every dataset, and what it
        releases is added to an answer that was not recorded.
    TooLargeError
        If there are too many datasets or pairs; the message says how many.

    Notes
    -----
    With m values there are ``m**s`` datasets of size s, and the function is called once on each,
    and again with the same releases, to see whether it draws at random: once more on each dataset,
    or on 2,048 of them if there are more, and up to 32 times in all if there are few. The datasets
    of a row are run 8 times more.
    All values that reach the mechanism on a dataset form one vector, because the scale of noise
    that is added to each entry is calibrated to the norm of the difference of such vectors. Whether
    later steps depend on earlier releases is found out with two more runs on each dataset with
    several calls.

    What is returned is compared in the runs of a replay; without one, in one more run on each
    dataset, where all release the same values, drawn between the true ones. A mechanism that is not
    among the targets and draws with a fixed seed cannot be told from data.

    With N datasets of at most p neighbors, H further histories and a replay, there are at most
    ``N (p + 1) (H + 1)`` more runs, and fewer where datasets release the same. A drawn release lies
    between the smallest and the largest true value of its step, which truncated noise reaches as
    well; pass `histories` of your own for releases beyond (`audit_sampled` takes none). A violation
    after some history is final.

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
    """
    question = check_question(
        function, values, sizes, neighbors, norm, every_order, where, subject, progress
    )
    check_callable("select", select, "a function of a list of calls")
    replay = None if replay is None else check_flag("replay", replay)
    budget = None if budget is None else _check_budget(budget, replay, norm)
    fed = check_histories(histories)
    tolerance = check_tolerance(tolerance_ulps)
    if budget is not None:
        options.setdefault("epsilon", "epsilon")
    _check_parameters(targets, options)
    # Calls that tell their shares of a budget are judged one by one, each with its claim.
    shared = budget is not None or options.get("epsilon") is not None
    if not shared:
        options["epsilon"] = Glimpse.of
    with recording(*targets, **options) as tape:
        return answered(
            question,
            Recorder(function, tape, select),
            Replay(True if replay is None and shared else replay, fed, budget),
            tolerance,
            subject_named(subject or name_of(function)),
            _NOT_RECORDED,
        )


def _check_parameters(targets: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Raise InputError if a mechanism that is a function lacks a parameter that is looked up."""
    sought = {"sensitivity": "sensitivity", **options}
    for target in targets:
        try:
            found = resolve_name(target) if isinstance(target, str) else target
        except (ImportError, AttributeError, ValueError):
            continue  # `recording` says what is wrong with it
        if not inspect.isfunction(found):
            continue
        signature = inspect.signature(found)
        for option in ("sensitivity", "value", "epsilon"):
            name = sought.get(option)
            if isinstance(name, str) and name not in signature.parameters:
                raise InputError(
                    f"{option} must name a parameter of {found.__qualname__}{signature}, got "
                    f"{shown(name)}; pass {option}= with its name, or with a function of the dict "
                    "of "
                    "arguments"
                )


def _check_budget(budget: Any, replay: bool | None, norm: Norm) -> Any:
    """Return a budget, or raise InputError."""
    if replay is False:
        raise InputError("budget is for a replay; leave out replay=False, or the budget")
    if norm == "L2":
        raise InputError("budget adds losses of noise for norm 'L1' or 'Linf', got norm 'L2'")
    try:
        return check_claim(budget, 1)
    except InputError as error:
        raise InputError(str(error).replace("the claim at distance 1", "budget")) from None
