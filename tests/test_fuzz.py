"""Garbage in every argument of every public callable and of the methods of what they return.

Only documented errors come of it, and none late.

The callables are those of `__all__`, with the methods that callers use, so a new one is tested as
soon as it is public. A call has good arguments but for one or two. numpy is set to raise on every
floating-point event: what a caller sets must not change what comes out.
"""

from __future__ import annotations

import inspect
import itertools
import random
import re
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from doses import dose
from garbage import GARBAGE, RECORDS, ROWS, TABLE, UNIVERSE, VALID, endless, valid
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import instances, methods
from public_calls import (
    ABSTRACT,
    CALLABLES,
    MADE_BY_THE_LIBRARY,
    NAMES,
    SEVERAL,
    arguments,
    arranged,
    named,
    parameters_of,
)

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl
from sensitivity_lab import plotting
from sensitivity_lab.checks import shown
from sensitivity_lab.queries import DEFAULT_QUERIES, Query

resource = pytest.importorskip("resource", reason="limits of memory are those of Unix")

SECONDS = 5.0
"""Of processor time, which a busy machine does not change; most calls take a thousandth of it."""

MEMORY = 6 * 2**30
"""The address space of the process while it is fuzzed."""


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path, monkeypatch):
    """A text of garbage may be the path of a folder, which is made then."""
    monkeypatch.chdir(tmp_path)


def test_every_argument_has_good_values():
    """Random calls would find out late."""
    for call in NAMES:
        for parameter in parameters_of(call):
            assert valid(call, parameter)


class TooSlow(BaseException):
    """A call took too long."""


@contextmanager
def guarded() -> Iterator[None]:
    """Limit the time of a call, and the memory of the process."""

    def stop(*_: Any) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, limits[1]))
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, limits)
        signal.signal(signal.SIGVTALRM, before)


def use(result: Any) -> None:
    """Do with a result what callers do first: print it, iterate over it, ask with it, call it."""
    repr(result)
    if isinstance(result, AbstractContextManager):
        with result:
            pass
    elif isinstance(result, Iterator):
        list(itertools.islice(result, 50))
    elif isinstance(result, sl.Universe | sl.IntervalUniverse):
        sl.global_sensitivity(result, "count", size=1, neighbors=sl.Unbounded(1, direction="add"))
    elif isinstance(result, Query):
        universe = UNIVERSE if result.on_numbers else ROWS
        sl.global_sensitivity(universe, result, size=2, neighbors="bounded")
        result(RECORDS if result.on_numbers else TABLE)
    elif isinstance(result, pl.Step):
        chain(result)
    elif isinstance(result, pl.Metric):
        result.check(1)
    elif isinstance(result, pl.Domain):
        result.read(RECORDS)


def chain(step: pl.Step) -> None:
    """Build a step on numbers and on tables, where it fits, and use what is built."""
    for start in (pl.Start(pl.Numbers(), pl.SymmetricDistance()), pl.start(pl.AddMaxRows(1))):
        try:
            made = start >> step
        except sl.errors.InputError:
            continue
        made.map(1)
        made(RECORDS if isinstance(start.domain, pl.Numbers) else TABLE)


def call_is_fine(name: str, positional: list[Any], named: dict[str, Any]) -> None:
    """Make a call and use what it returns; documented errors are fine, others are raised."""
    with guarded(), np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # such as of a list that is a universe
        try:
            use(CALLABLES[name](*positional, **named))
        except sl.errors.SensitivityLabError:
            return
        except Exception as error:
            # The errors of a swept function are the caller's own; they say where they came up.
            if not any("in the sweep over" in note for note in getattr(error, "__notes__", ())):
                raise


Call = tuple[str, list[Any], dict[str, Any]]


def call_with(name: str, bad: dict[int, Callable[[], Any]], choose: Callable[[int], int]) -> Call:
    """Choose the arguments of a call, those at `bad` places excepted; `choose(n)` is below n."""
    parameters = parameters_of(name)
    values = {}
    for place, one in enumerate(parameters):
        good = valid(name, one)
        value = bad[place]() if place in bad else good[choose(len(good))]
        before_several = any(after.kind is SEVERAL for after in parameters[place:])
        if place in bad or one.default is one.empty or before_several or choose(3) == 0:
            values[one.name] = value
    return name, *arranged(parameters, values)


def call_of(choose: Callable[[int], int]) -> Call:
    """Choose a callable and its arguments.

    One call in eight has good arguments only, the others one or two that are not.
    """
    name = NAMES[choose(len(NAMES))]
    bad = {
        choose(len(parameters_of(name)) or 1): GARBAGE[choose(len(GARBAGE))]
        for _ in range(2 if choose(8) else 0)
    }
    return call_with(name, bad, choose)


@settings(max_examples=15 * settings.default.max_examples)
@given(st.randoms(use_true_random=True))
def test_garbage(numbers):
    call_is_fine(*call_of(numbers.randrange))


@pytest.mark.stress
@settings(max_examples=dose(20_000))
@given(st.randoms(use_true_random=True))
def test_much_garbage(numbers):
    call_is_fine(*call_of(numbers.randrange))


@pytest.mark.stress
@pytest.mark.parametrize("name", NAMES)
def test_every_garbage_in_every_argument(name):
    """One at a time, which random calls take long to find."""
    numbers = random.Random(name)
    for place, parameter in enumerate(parameters_of(name)):
        for garbage in GARBAGE:
            call = call_with(name, {place: garbage}, numbers.randrange)
            try:
                call_is_fine(*call)
            except BaseException as error:
                error.add_note(f"of the argument {parameter.name} in {shown(call)}")
                raise


OPTIONS = sorted(
    {
        name
        for plot in plotting.__all__
        for name, one in inspect.signature(getattr(plotting, plot)).parameters.items()
        if one.kind is one.KEYWORD_ONLY
    }
)
"""What the options of a method `plot` can be."""


def good_for(name: str, one: inspect.Parameter, choose: Callable[[int], int]) -> Any:
    """A good value for a parameter of a method, if one is known; else its default, else garbage."""
    for key in (f"{name}.{one.name}", one.name):
        if key in VALID:
            return VALID[key][choose(len(VALID[key]))]
    return GARBAGE[choose(len(GARBAGE))]() if one.default is one.empty else one.default


def call_of_a_method(choose: Callable[[int], int]) -> tuple[Any, list[Any], dict[str, Any]]:
    """Choose a method of something that the library makes, and its arguments, as `call_of` does."""
    bound = methods()
    name = sorted(bound)[choose(len(bound))]
    method = bound[name][choose(len(bound[name]))]
    parameters = list(inspect.signature(method).parameters.values())
    bad = {choose(len(parameters) or 1), choose(len(parameters) or 1)}
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for place, one in enumerate(parameters):
        value = GARBAGE[choose(len(GARBAGE))]()
        if one.kind is one.VAR_KEYWORD:
            named |= {OPTIONS[choose(len(OPTIONS))]: value for _ in range(choose(3))}
        elif one.kind is SEVERAL:
            positional += [value] * (1 + choose(2))
        elif one.kind is one.KEYWORD_ONLY or len(positional) < place:
            if one.default is one.empty or place in bad:
                named[one.name] = value if place in bad else good_for(name, one, choose)
        else:
            positional.append(value if place in bad else good_for(name, one, choose))
    return method, positional, named


def method_is_fine(method: Any, positional: list[Any], named: dict[str, Any]) -> None:
    """Call a method; documented errors are fine, and that of an option that a plot has not."""
    with guarded(), np.errstate(all="raise"):
        try:
            made = method(*positional, **named)
            if type(made).__module__.startswith("sensitivity_lab"):
                repr(made)
        except sl.errors.SensitivityLabError:
            return
        except TypeError as error:
            if not re.search("unexpected keyword argument|multiple values for", str(error)):
                raise


@settings(max_examples=15 * settings.default.max_examples)
@given(st.randoms(use_true_random=True))
def test_garbage_in_methods(numbers):
    method_is_fine(*call_of_a_method(numbers.randrange))


@pytest.mark.stress
@settings(max_examples=dose(20_000))
@given(st.randoms(use_true_random=True))
def test_much_garbage_in_methods(numbers):
    method_is_fine(*call_of_a_method(numbers.randrange))
    plt.close("all")  # many calls draw, and pyplot warns of more than 20 figures


def test_methods_of_every_public_class_are_fuzzed():
    """All but errors, abstract classes, and what has no methods of its own."""
    for name, made in named():
        if inspect.isclass(made) and not issubclass(made, Exception) and name not in ABSTRACT:
            has_methods = any(
                not method.startswith("_") and callable(getattr(made, method))
                for method in dir(made)
            )
            assert made.__name__ in instances() or not has_methods, name


ENDLESS = (itertools.count, endless, lambda: itertools.repeat("a"))


@pytest.mark.representative
@pytest.mark.parametrize("made", ENDLESS)
def test_what_has_no_end_is_refused(made):
    given = made()
    with pytest.raises(sl.errors.InputError) as caught:
        sl.Universe.from_dataset(given)
    assert str(caught.value) == (
        "records must be a sequence of numbers, such as [0, 1, 2], range(21) or a column of a "
        f"table, got more than 10,000,000 items of {given!r}, which may have no end; give a list "
        "or an array"
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
def test_no_argument_may_have_no_end(name, monkeypatch):
    """Each argument in turn has no end, the others are good; fewer items are enough to tell."""
    monkeypatch.setattr("sensitivity_lab.checks.MOST_UNSIZED", 10_000)
    for bad, made in itertools.product(parameters_of(name), ENDLESS):
        call_is_fine(name, *arguments(name, {bad.name: made()}))


@pytest.mark.parametrize("name", NAMES)
def test_good_arguments_are_accepted(name):
    """The fuzz means something only if calls get past the first check."""
    positional, named = arguments(name, {})
    # A folder of tests called opendp is a package without an origin.
    opendp = find_spec("opendp")
    if name.startswith("audit_opendp") and (opendp is None or opendp.origin is None):
        with pytest.raises(sl.errors.MissingExtraError):
            CALLABLES[name](*positional, **named)
    else:
        repr(CALLABLES[name](*positional, **named))


EXTREME = [5e-324, 1e-308, 1.5e-300, 0.1, 1e300, 1.7e308]


@pytest.mark.parametrize("neighbors", [sl.Bounded(1), sl.Unbounded(1), sl.SymmetricDifference(2)])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_what_a_caller_sets_in_numpy_changes_nothing(neighbors, scale):
    """Tiny and huge records underflow and overflow on the way; the answers are the same."""
    universe = sl.Universe.from_dataset(
        [value * scale for value in EXTREME if value * scale < 1e308]
    )
    options = {"size": 3, "neighbors": neighbors}
    for query in (*DEFAULT_QUERIES, "min", "max", np.ptp):
        answers = []
        for state in ("ignore", "raise"):
            with np.errstate(all=state):
                try:
                    found = sl.global_sensitivity(universe, query, **options)
                    answers.append((found.value, found.exact, found.upper, found.witness))
                except sl.errors.SensitivityLabError as error:
                    answers.append(str(error))
                assert np.geterr() == dict.fromkeys(("divide", "over", "under", "invalid"), state)
        assert answers[0] == answers[1]


def test_every_public_callable_is_fuzzed():
    """Of `__all__` only errors, abstract classes and results are left out."""
    for name, made in named():
        left_out = not callable(made) or name in MADE_BY_THE_LIBRARY | ABSTRACT
        left_out |= inspect.isclass(made) and issubclass(made, Exception)
        assert left_out != (name in NAMES), name
