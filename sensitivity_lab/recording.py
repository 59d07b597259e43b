"""Audits of any library that adds noise: watch the call of its mechanism, and compare.

A library computes an answer and hands it to a mechanism together with the sensitivity that it
claims. `recording` replaces the mechanism by a recorder of both, which adds no noise.
"""

from __future__ import annotations

import functools
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, Literal

import numpy as np

from .arithmetic import Difference, Number
from .distances import entries
from .errors import InputError, QueryError
from .neighbors import Bounded, SymmetricDifference, Unbounded, as_relation, show
from .pairs import Answered, WorstPair, worst_pairs
from .vectors import check_several, check_values, vectors
from .verdicts import AuditReport, AuditRow, check_claim, literal

_METRIC_OF = {
    Bounded: "change_one",
    Unbounded: "add_or_remove",
    SymmetricDifference: "symmetric",
}


@dataclass(frozen=True)
class Call:
    """What a mechanism was handed.

    Attributes
    ----------
    target : str
        The mechanism's name.
    sensitivity : Any
        The sensitivity that the library claims.
    value : Any
        The answer before any noise, which the recorder also returned in place of a noisy one.
    """

    target: str
    sensitivity: Any
    value: Any


@contextmanager
def recording(
    *targets: Any,
    method: str = "randomise",
    sensitivity: str | Callable[[Any], Any] = "sensitivity",
    value: str | None = None,
) -> Iterator[list[Call]]:
    """Replace mechanisms by recorders of the claimed sensitivity and the true value.

    Parameters
    ----------
    *targets : str, class or function
        The mechanisms: a dotted name such as "library.mechanisms.Laplace", or what it names. Of a
        class, the method is replaced on the class itself, so that every name it was imported under
        sees the recorder. A function is replaced in every loaded module that holds it.
    method : str, default "randomise"
        The method of a class that takes the true value and returns a noisy one.
    sensitivity : str or callable, default "sensitivity"
        Where the claim is: for a class the name of an attribute of the instance, for a function the
        name of a parameter; or a function of the instance, or of the dict of arguments.
    value : str, optional
        The parameter that takes the true value; by default the first one (of a method: after
        ``self``).

    Yields
    ------
    list of Call
        The calls made so far, in order.

    Raises
    ------
    InputError
        If a target cannot be found, or is neither a class with the method nor a function.

    Notes
    -----
    On leaving, also by an error, everything is put back. The recorder is in place for the whole
    process: calls that other threads make meanwhile are recorded too and lose their noise, so do
    not serve anybody with that process. Calls in other processes are not seen.

    Examples
    --------
    >>> class Mechanism:
    ...     def __init__(self, sensitivity):
    ...         self.sensitivity = sensitivity
    ...
    ...     def randomise(self, value):
    ...         raise NotImplementedError("no noise in an example")
    >>> with recording(Mechanism) as calls:
    ...     Mechanism(0.5).randomise(7)
    7
    >>> [(call.sensitivity, call.value) for call in calls]
    [(0.5, 7)]
    """
    found = [_resolve(target) for target in targets]
    if not found:
        raise InputError("targets must name at least one mechanism, got none")
    calls: list[Call] = []
    with ExitStack() as undo:
        for target in found:
            if inspect.isclass(target):
                _record_class(target, method, sensitivity, value, calls, undo)
            else:
                _record_function(target, sensitivity, value, calls, undo)
        yield calls


def _resolve(target: Any) -> Any:
    """Return what a dotted name names, or raise InputError."""
    if not isinstance(target, str):
        if inspect.isclass(target) or inspect.isfunction(target):
            return target
        raise InputError(
            f"a target must be a class, a function or the dotted name of one, got {target!r}"
        )
    parts = target.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            found: Any = import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for name in parts[length:]:
            found = getattr(found, name, None)
        if inspect.isclass(found) or inspect.isfunction(found):
            return found
        break
    raise InputError(
        f"target {target!r} names no class and no function; write it as package.module.Name, with "
        "the package installed"
    )


def _record_class(
    target: type, method: str, claim: Any, value: str | None, calls: list[Call], undo: ExitStack
) -> None:
    """Put a recorder in the place of a class's method until `undo`."""
    original = getattr(target, method, None)
    if original is None:
        raise InputError(f"{target.__qualname__} has no method {method!r}; name it by method=")

    @functools.wraps(original)
    def record(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = _arguments(original, (self, *args), kwargs)
        taken = list(given.values())[1] if value is None else given[value]
        claimed = claim(self) if callable(claim) else getattr(self, claim)
        calls.append(Call(target.__qualname__, claimed, taken))
        return taken

    if method in vars(target):
        undo.callback(setattr, target, method, vars(target)[method])
    else:
        undo.callback(delattr, target, method)
    setattr(target, method, record)


def _record_function(
    target: Any, claim: Any, value: str | None, calls: list[Call], undo: ExitStack
) -> None:
    """Put a recorder in the place of a function, in every loaded module, until `undo`."""

    @functools.wraps(target)
    def record(*args: Any, **kwargs: Any) -> Any:
        given = _arguments(target, args, kwargs)
        taken = next(iter(given.values())) if value is None else given[value]
        calls.append(
            Call(target.__qualname__, claim(given) if callable(claim) else given[claim], taken)
        )
        return taken

    for module in list(sys.modules.values()):
        for name, held in list(getattr(module, "__dict__", {}).items()):
            if held is target:
                setattr(module, name, record)
                undo.callback(setattr, module, name, target)


def _arguments(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by the names of the parameters, defaults included."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def audit_recorded(
    function: Callable[[list[Any]], Any],
    values: Iterable[Any],
    sizes: int | Iterable[int],
    *targets: Any,
    neighbors: Any,
    norm: Literal["L1", "L2", "Linf"] = "L1",
    every_order: bool = True,
    where: Callable[[list[Any]], bool] | None = None,
    subject: str | None = None,
    **options: Any,
) -> AuditReport:
    """Compare the sensitivity that a library claims with the exact one of what it computes.

    Parameters
    ----------
    function : callable
        Takes a dataset, a list of records, and makes the library's call on it.
    values : iterable
        The universe of records, missing ones (NaN) included if they are meant.
    sizes : int or iterable of int
        The numbers of records; both datasets of a pair have one of these sizes.
    *targets : str, class or function
        The library's mechanisms, as `recording` takes them.
    neighbors : Relation or {"bounded", "unbounded", "symmetric_difference"}
        Which datasets are neighbors, at a distance of at most k; a name means k = 1. A library
        claims for k = 1: the claim at k is k times that.
    norm : {"L1", "L2", "Linf"}, default "L1"
        How far two answers are apart, where the library hands the mechanism several values.
    every_order : bool, default True
        Whether datasets are taken in every order of their records, or only in that of `values`.
    where : callable, optional
        Says of a dataset whether the function is defined on it; others are left out.
    subject : str, optional
        What the report calls the function; by default its name.
    **options
        Of `recording`: `method`, `sensitivity` and `value`.

    Returns
    -------
    AuditReport
        One row. If the claim changes with the dataset, a pair has the larger of its two claims, and
        the row is the pair with the largest truth in proportion to it.

    Raises
    ------
    InputError
        If an argument is not acceptable.
    QueryError
        If the function fails on a dataset, hands the mechanism nothing, or claims two sensitivities
        in one call: record one of its mechanisms alone then.
    TooLargeError
        If there are too many datasets or pairs; says the numbers.

    Notes
    -----
    With m values, ``m**s`` datasets per size s, the function called once on each. All values that
    reach the mechanism in a call are one vector, since a mechanism that adds noise of one scale to
    each entry is calibrated to the norm of their difference.

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
    relation = as_relation(neighbors)
    metric = _METRIC_OF.get(type(relation))
    if metric is None or relation.exactly:
        raise InputError(f"neighbors must be a relation of at most k, got {relation}")
    if norm not in ("L1", "L2", "Linf"):
        raise InputError(f"norm must be one of 'L1', 'L2', 'Linf', got {norm!r}")
    universe = check_values(values)
    wanted = check_several("sizes", sizes, "a number of records, at least 0")
    datasets = [x for x in vectors(universe, wanted, every_order) if where is None or where(x)]
    if not datasets:
        raise InputError("where must accept at least one dataset, but it accepts none")
    with recording(*targets, **options) as calls:
        claims, answers = zip(*(_observe(function, x, calls) for x in datasets), strict=True)
    distinct = sorted(set(claims))
    if distinct[-1] == math.inf:
        raise QueryError("the library claims an infinite sensitivity, which no truth exceeds")
    answered = [
        Answered(x, answer, distinct.index(claim))
        for x, answer, claim in zip(datasets, answers, claims, strict=True)
    ]
    found = worst_pairs(answered, metric, norm, [relation.k])
    pairs = [(relation.k * distinct[group], pair) for (_, group), pair in found.items()]
    claimed, worst = functools.reduce(_worse, pairs)
    order = "in every order" if every_order else "in one order"
    among = f"values {show(universe)}, sizes {show(wanted)} {order}"
    among += "" if where is None else f", {len(datasets):,} datasets that `where` accepts"
    varies = "" if len(distinct) == 1 else "; the claim changes with the dataset"
    return AuditReport(
        str(subject or getattr(function, "__name__", "function")),
        (AuditRow(relation.k, claimed, worst.truth, worst.evidence),),
        f"{relation}; norm {norm}; {among}; implementation{varies}",
    )


def _observe(function: Any, x: list[Any], calls: list[Call]) -> tuple[Number, Any]:
    """Return what is claimed and what reaches the mechanism on a dataset."""
    calls.clear()
    try:
        function(list(x))
    except Exception as error:
        raise QueryError(f"{literal(x)} raised {type(error).__name__}: {error}") from error
    claims = {check_claim(call.sensitivity, 1) for call in calls}
    if len(claims) != 1:
        seen = f"claimed {len(claims)} sensitivities" if claims else "called no recorded mechanism"
        raise QueryError(f"on {literal(x)} the library {seen}; choose other targets")
    if len(calls) == 1:
        return claims.pop(), _flat(calls[0].value)
    return claims.pop(), tuple(entry for call in calls for entry in entries(_flat(call.value)))


def _flat(value: Any) -> Any:
    """Return an array as the tuple of its entries, and anything else as it is."""
    return tuple(value.ravel().tolist()) if isinstance(value, np.ndarray) else value


def _worse(
    one: tuple[Number, WorstPair], two: tuple[Number, WorstPair]
) -> tuple[Number, WorstPair]:
    """Return the claim and pair of which the truth is the larger in proportion to the claim."""
    (first, a), (second, b) = one, two
    return two if _times(b.truth, first) > _times(a.truth, second) else one


def _times(truth: Difference, factor: Number) -> Difference:
    scale = Fraction(factor) ** (2 if truth.root else 1)
    return Difference(truth.first * scale, truth.second * scale, truth.root)
