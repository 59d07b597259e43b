"""Record what a library hands to the mechanisms that add noise.

A library computes an answer and hands it to a mechanism together with the sensitivity that it
claims. `recording` replaces the mechanism by a recorder of both, which adds no noise. A `Run` has
what a function handed over on a dataset, and what its mechanisms released.
"""

from __future__ import annotations

import copy
import functools
import inspect
import math
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from numbers import Real
from pathlib import PurePath
from types import BuiltinMethodType, FrameType, FunctionType, MethodType
from typing import Any

import numpy as np

from sensitivity_lab.checks import as_python, check_text, shown, unboxed
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics.cells import key_of
from sensitivity_lab.results.literals import short_literal

from .claims import check_claim, holds_float
from .returned import Part, Parts, parts, whole_key


@dataclass(frozen=True)
class Call:
    """The arguments of one call of a mechanism.

    Attributes
    ----------
    target : str
        The mechanism's name.
    sensitivity : Any
        The sensitivity that the library claims.
    value : Any
        The answer before any noise; the recorder returned it instead of a noisy answer.
    epsilon : Any, default None
        The share of the privacy budget, if `recording` was told where to find it.
    site : str, default ""
        Where the mechanism was called: the function, the file and the line.
    candidates : tuple, optional
        What a selection chooses from; its `value` is their scores. None for any other mechanism.
    monotonic : bool, default False
        Whether a selection is for scores that all go one way.
    ends : tuple, default (None, None)
        The least and the largest number that the mechanism says it releases, where it has `lower`
        and `upper`.
    whole : bool, optional
        Of a whole number, whether the mechanism itself released whole numbers only.
    """

    target: str
    sensitivity: Any
    value: Any
    epsilon: Any = field(default=None, compare=False)
    site: str = field(default="", compare=False)
    candidates: tuple[Any, ...] | None = field(default=None, compare=False)
    monotonic: bool = field(default=False, compare=False)
    ends: tuple[Any, Any] = field(default=(None, None), compare=False, repr=False)
    whole: bool | None = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        """Return the call as Python; what only selections have is left out of others."""
        names = [one.name for one in fields(self) if one.repr]
        shown = names if self.candidates is not None else names[: names.index("candidates")]
        return f"Call({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    @property
    def best(self) -> Any:
        """The release without randomness: the true value, or the first of the best candidates."""
        if self.candidates is None:
            return self.value
        scores = list(self.value)
        return self.candidates[scores.index(max(scores))]

    @property
    def choices(self) -> tuple[Any, ...] | None:
        """What a selection can choose: candidates with the score -inf are never chosen."""
        if self.candidates is None:
            return None
        # Only candidates with a score can be chosen; there may be more.
        pairs = zip(self.candidates, self.value, strict=False)
        return tuple(one for one, score in pairs if score != -math.inf)


_TRIED = 8
"""How often a mechanism itself is called, to see whether it releases whole numbers."""


class TouchedError(BaseException):
    """Code did something with a release; no ``except Exception`` of its own catches this."""


class Untouched(Part):
    """A release that code may hand on, and do nothing else with.

    What a function returns that only hands it on is the same after every release.

    Parameters
    ----------
    place : int
        The place of the release in its run.
    """

    watched = False
    touched = False

    def __init__(self, place: int) -> None:
        self.place = place

    @classmethod
    def touch(cls, *_: Any, **__: Any) -> Any:
        """Raise TouchedError while code runs, and keep in mind that it was raised."""
        if not cls.watched:
            raise TypeError("a release that is only handed on has no value")
        cls.touched = True
        raise TouchedError

    def __getattribute__(self, name: str) -> Any:
        """Return what any object has: ``isinstance`` and NumPy look for it, too."""
        if Untouched.watched:
            Untouched.touch()
        return object.__getattribute__(self, name)

    def __eq__(self, other: object) -> bool:
        if Untouched.watched:
            Untouched.touch()
        return type(other) is Untouched and other.place == self.place

    def __hash__(self) -> int:
        return hash(self.place)  # which asks for an attribute

    def __repr__(self) -> str:
        return self.touch() if Untouched.watched else f"release {self.place}"

    def __reduce__(self) -> Any:
        return self.touch() if Untouched.watched else (Untouched, (self.place,))

    @staticmethod
    @contextmanager
    def left_alone() -> Iterator[None]:
        """Raise TouchedError at the end if code in the block did anything with a release."""
        Untouched.watched, Untouched.touched = True, False
        try:
            yield
        finally:
            Untouched.watched = False
        if Untouched.touched:  # the code caught that
            raise TouchedError


_COMPARED = {"__lt__", "__le__", "__gt__", "__ge__", "__ne__", "__str__", "__format__"}
"""What every object has, and only objects with a value need."""

_NAMES = {*dir(float), *dir(int), *dir(str), *dir(list), *dir(np.ndarray)}
for _name in _NAMES - {*dir(object)} | _COMPARED:
    if _name.startswith("__"):
        setattr(Untouched, _name, Untouched.touch)


class Tape(list[Call]):
    """The calls made so far, and what they returned: the releases of a history, if it has one.

    Where it `asks`, a copy of each mechanism that gets a whole number is called a few times, once.
    """

    asks = False

    def __init__(self) -> None:
        super().__init__()
        self.releases: list[Any] = []
        self._whole: dict[str, bool | None] = {}
        self._history: Sequence[Any] = ()

    def rewind(self, history: Sequence[Any]) -> None:
        """Forget all calls; the next ones return these releases, then their true values."""
        self.clear()
        self.releases.clear()
        self._history = history

    def take(self, call: Call, original: Callable[[], Any]) -> Any:
        """Record a call and return its release.

        A selection that cannot choose what its history says chooses its best candidate. The
        `original` releases as the mechanism does.
        """
        place = len(self)
        is_whole = issubclass(type(call.value), int | np.integer)
        if self.asks and is_whole and call.target not in self._whole:
            self._whole[call.target] = _releases_whole(original)
        whole = self._whole.get(call.target)
        self.append(replace(call, value=_own(call.value), whole=whole))
        release = self._history[place] if place < len(self._history) else call.best
        choices = call.choices
        if choices and whole_key(release) not in map(whole_key, choices):
            release = call.best
        self.releases.append(_own(release))
        return _own(release)


def _releases_whole(original: Callable[[], Any]) -> bool | None:
    """Tell whether a mechanism releases whole numbers; None where it releases no number."""
    try:
        released = [original() for _ in range(_TRIED)]
        return all(float(one).is_integer() for one in released)
    except Exception:  # noqa: BLE001 - the caller's mechanism
        return None


@contextmanager
def recording(
    *targets: Any,
    method: str = "randomise",
    sensitivity: str | Callable[[Any], Any] = "sensitivity",
    value: str | None = None,
    epsilon: str | Callable[[Any], Any] | None = None,
    scores: str | None = None,
    monotonic: str = "monotonic",
    candidates: str = "candidates",
) -> Iterator[Tape]:
    """Replace mechanisms by recorders of the claimed sensitivity and the true value.

    Parameters
    ----------
    *targets : str, class or function
        The mechanisms, or their dotted names such as "library.mechanisms.Laplace". For a class, the
        recorder replaces the method of the class itself, so it works under every name that the
        class was imported under. A function is replaced in every loaded module that holds it.
    method : str, default "randomise"
        The method of a class that takes the true value and returns a noisy value.
    sensitivity : str or callable, default "sensitivity"
        Where to find the claim: the name of an attribute of the instance (for a class) or of a
        parameter (for a function), or a function of the instance or of the dict of arguments.
    value : str, optional
        The parameter that takes the true value; by default the first one, after ``self`` for a
        method.
    epsilon : str or callable, optional
        Where to find the share of the privacy budget, as for `sensitivity`; by default nowhere.
    scores : str, optional
        Where to find the scores of a mechanism that selects a candidate, as the exponential
        mechanism, permute-and-flip and report-noisy-max do: an attribute or a parameter. A
        mechanism that has it selects, and its recorder returns the first of the best candidates.
    monotonic : str, default "monotonic"
        The same for whether the scores all go one way; without it they do not.
    candidates : str, default "candidates"
        The same for the candidates; without it, a place in the list of scores is selected.

    Yields
    ------
    list of Call
        The calls made so far, in order.

    Raises
    ------
    InputError
        If a target cannot be found, or is neither a class with the method nor a function, or a
        class that does not let its method be replaced.

    Notes
    -----
    At the end everything is restored, also after an error. The recorder works in the whole process:
    calls from other threads are recorded, too, and get no noise, so do not release anything from
    that process meanwhile. Calls in other processes are not recorded.

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
    found = [resolved(target) for target in targets]
    if not found:
        raise InputError("targets must name at least one mechanism, got none")
    check_text("method", method, "the name of a method")
    if not callable(sensitivity):
        check_text("sensitivity", sensitivity, "a name, or a function")
    if value is not None:
        check_text("value", value, "the name of a parameter")
    if epsilon is not None and not callable(epsilon):
        check_text("epsilon", epsilon, "a name, or a function (a number is for budget=)")
    if scores is not None:
        check_text("scores", scores, "a name")
    check_text("monotonic", monotonic, "a name")
    check_text("candidates", candidates, "a name")
    calls = Tape()
    found_call = _finder(sensitivity, epsilon, value, scores, monotonic, candidates)
    with ExitStack() as undo:
        for target in found:
            if inspect.isclass(target):
                _record_class(target, method, found_call, calls, undo)
            else:
                _record_function(target, found_call, calls, undo)
        yield calls


def _own(value: Any) -> Any:
    """Return a copy, since neither side may change the other's; of a release left alone, itself."""
    return value if issubclass(type(value), Part) else copy.deepcopy(value)


def _finder(
    sensitivity: str | Callable[[Any], Any],
    epsilon: str | Callable[[Any], Any] | None,
    value: str | None,
    scores_name: str | None,
    monotonic: str,
    candidates: str,
) -> Callable[..., Call]:
    """Return a function that makes the call of a mechanism; see `recording` for what it finds."""

    def made_call(
        target: Any, holder: Any, read: Callable[[str], Any], arguments: dict[str, Any],
        first: int, caller: FrameType,
    ) -> Call:  # fmt: skip
        """Return the call of a mechanism.

        Parameters
        ----------
        target : class or function
            The mechanism.
        holder : Any
            What a function of the caller's finds the claim in: the instance, or the arguments.
        read : callable
            Returns what the holder has under a name; raises LookupError or AttributeError.
        arguments : dict
            The arguments of the call.
        first : int
            The place of the true value among these.
        caller : frame
            Where the call stands.
        """
        claim, share = (
            one(holder) if callable(one) else one and _found_under(target, read, option, one)
            for option, one in (("sensitivity", sensitivity), ("epsilon", epsilon))
        )
        made = Call(target.__qualname__, claim, None, share, site_of(caller))
        try:
            scores = list(read(scores_name)) if scores_name is not None else None
        except (LookupError, AttributeError):
            scores = None  # it adds noise to a number
        if scores is None:
            name = value or next(iter(list(arguments)[first:]), None)
            if name is None:
                sought = f" and nothing under {scores_name!r}" if scores_name else ""
                raise QueryError(f"{target.__qualname__} gets no value to release{sought}")
            ends = _optional(read, "lower"), _optional(read, "upper")
            return replace(made, value=arguments[name], ends=ends)
        one_way, given = (_optional(read, one) for one in (monotonic, candidates))
        options = tuple(range(len(scores))) if given is None else tuple(given)
        if not scores or len(options) < len(scores):
            raise QueryError(
                f"{target.__qualname__} selects from {len(options)} candidates by {len(scores)} "
                "scores; each candidate needs a score"
            )
        return replace(made, value=scores, candidates=options, monotonic=bool(one_way))

    return made_call


def _found_under(target: Any, read: Callable[[str], Any], option: str, name: str) -> Any:
    try:
        return read(name)
    except (LookupError, AttributeError):
        raise QueryError(
            f"{target.__qualname__} has no {name!r}; pass {option}= with the name of what "
            "holds it, or with a function of the instance"
        ) from None


def _optional(read: Callable[[str], Any], name: str) -> Any:
    try:
        return read(name)
    except (LookupError, AttributeError):
        return None


def resolved(target: Any) -> Any:
    """Return the class or function that a target is or names, or raise InputError."""
    # By the types themselves: an object can claim any `__class__`.
    by_name = issubclass(type(target), str)
    found = named(target) if by_name else target
    if issubclass(type(found), type | FunctionType):
        return found
    _refuse_sampler(found, shown(target))
    if by_name:
        raise InputError(
            f"target {shown(target)} names no class and no function; write it as "
            "package.module.Name, with the package installed"
        )
    raise InputError(
        f"a target must be a class, a function or the dotted name of one, got {shown(target)}"
    )


def named(target: str) -> Any:
    """Return what a dotted name stands for, also below a class or an instance; None if nothing.

    Looking a name up imports its modules, which can do anything. What they raise becomes an
    InputError, SystemExit too: a program such as `package.__main__` would end the process.

    Examples
    --------
    >>> named("fractions.Fraction.limit_denominator").__name__
    'limit_denominator'
    """
    parts = str.split(target, ".")
    if "" in parts:
        return None
    try:
        return _below_a_module(parts)
    except (Exception, SystemExit) as error:  # the caller's modules
        raise InputError(
            f"{shown(target)} cannot be looked up: its import raises {type(error).__name__}: "
            f"{error}; give the class or the function itself, or name it in a module that imports"
        ) from error


def _below_a_module(parts: Sequence[str]) -> Any:
    """Return what the parts of a name stand for, the first of them a module; None if nothing."""
    for length in range(len(parts) - 1, 0, -1):
        try:
            found: Any = import_module(".".join(parts[:length]))
        except (ImportError, ValueError):
            continue
        for name in parts[length:]:
            found = getattr(found, name, None)
        return found
    return None


def _refuse_sampler(target: Any, text: str) -> None:
    """Raise InputError for a sampler of NumPy, which is told no sensitivity."""
    samplers = np.random.RandomState, np.random.Generator
    owner = target.__self__ if type(target) in (MethodType, BuiltinMethodType) else target
    if isinstance(owner, samplers):
        raise InputError(
            f"a target must be a mechanism, and {text} is a sampler of NumPy: use audit_mechanism, "
            "which judges the draws themselves; or draw in a function of your own, such as "
            "noisy(value, scale), and give that one"
        )


def _record_class(
    target: type, method: str, found_call: Callable[..., Call], calls: Tape, undo: ExitStack
) -> None:
    """Put a recorder in the place of a class's method until `undo`."""
    original = getattr(target, method, None)
    if not callable(original):
        raise InputError(f"{target.__qualname__} has no method {shown(method)}; name it by method=")

    @functools.wraps(original)
    def record(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = _arguments(original, (self, *args), kwargs)
        read = functools.partial(getattr, self)
        made = found_call(target, self, read, given, 1, sys._getframe(1))
        return calls.take(made, lambda: original(copy.deepcopy(self), *args, **kwargs))

    replace_method(target, method, record, undo)


def replace_method(target: type, method: str, by: Any, undo: ExitStack) -> None:
    """Put a function in the place of a class's own or inherited method until `undo`.

    Raises
    ------
    InputError
        If the class does not let its method be replaced, as those that are written in C.

    Examples
    --------
    >>> class Loud(list): ...
    >>> with ExitStack() as undo:
    ...     replace_method(Loud, "copy", lambda self: "copied", undo)
    ...     Loud().copy()
    'copied'
    >>> Loud().copy()
    []
    """
    back: Callable[[], None] = functools.partial(delattr, target, method)
    if method in vars(target):
        back = functools.partial(setattr, target, method, vars(target)[method])
    try:
        setattr(target, method, by)
    except (AttributeError, TypeError) as error:
        raise InputError(
            f"{target.__qualname__} does not let its method {shown(method)} be replaced; give a "
            "class written in Python, or a function of your own that calls it"
        ) from error
    undo.callback(back)


def _record_function(
    target: Any, found_call: Callable[..., Call], calls: Tape, undo: ExitStack
) -> None:
    """Put a recorder in the place of a function, in every loaded module, until `undo`."""

    @functools.wraps(target)
    def record(*args: Any, **kwargs: Any) -> Any:
        given = _arguments(target, args, kwargs)
        read = given.__getitem__
        made = found_call(target, given, read, given, 0, sys._getframe(1))
        return calls.take(made, functools.partial(target, *args, **kwargs))

    for module in list(sys.modules.values()):
        for name, held in list(getattr(module, "__dict__", {}).items()):
            if held is target:
                setattr(module, name, record)
                undo.callback(setattr, module, name, target)


def _arguments(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by parameter, including defaults."""
    bound = _signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


_signature = functools.lru_cache(maxsize=64)(inspect.signature)


def site_of(caller: FrameType) -> str:
    """Return where a caller stands: its function, its file and its line."""
    code = caller.f_code
    return f"{code.co_name} ({PurePath(code.co_filename).name}:{caller.f_lineno})"


NO_CALL = (
    "name others; a function that the code holds elsewhere than in a module, as in a dict, a "
    "default or an instance, is not replaced: give the code one that it looks up by its name"
)
"""What to do where no call was recorded."""


_TOUCHED = "the function does something with a release"


@dataclass(frozen=True)
class Step:
    """A call of a mechanism that is audited.

    Attributes
    ----------
    place : int
        The place of the call among all calls of its run, from 0.
    value : Any
        The true value: a number, or a tuple of numbers.
    claim : int, float, Fraction or Decimal
        The claimed sensitivity.
    epsilon : Fraction or None
        The share of the privacy budget, if it is known.
    rounded : bool
        Whether any of these is a float.
    candidates : tuple or None
        What a selection chooses from; its value is their scores.
    monotonic : bool
        Whether a selection is for scores that all go one way.
    ends : tuple
        The least and the largest number that is released, where the mechanism tells.
    whole : bool or None
        Whether only whole numbers are released, if that is known.
    """

    place: int
    value: Any
    claim: Number
    epsilon: Fraction | None
    rounded: bool
    candidates: tuple[Any, ...] | None
    monotonic: bool
    ends: tuple[Any, ...]
    whole: bool | None

    @property
    def key(self) -> Hashable:
        """What two equal steps share."""
        chosen_from = whole_key(self.candidates), self.monotonic
        values = key_of((self.value, self.ends))
        return self.place, values, self.claim, self.epsilon, chosen_from


@dataclass(frozen=True)
class Run:
    """A run of the function on a dataset.

    Attributes
    ----------
    dataset : list
    sites : tuple of str
        Where each call was made, with the name of the mechanism.
    releases : tuple
        What each call returned.
    steps : tuple of Step
        The calls that are audited.
    answer : Any
        What the function returned.
    returned : dict
        The parts of that, see `parts`: it may be changed later.
    seen : tuple
        The epsilon that each call shows, if the caller named none; see `Glimpse`.
    choices : tuple
        By call, what a selection can choose; None for any other mechanism.
    """

    dataset: list[Any]
    sites: tuple[str, ...]
    releases: tuple[Any, ...]
    steps: tuple[Step, ...]
    answer: Any
    returned: Parts
    seen: tuple[Any, ...]
    choices: tuple[tuple[Any, ...] | None, ...]

    @cached_property
    def key(self) -> Hashable:
        """What two runs share that differ at most in their releases."""
        return self.sites, tuple(step.key for step in self.steps)

    @cached_property
    def released(self) -> Hashable:
        """What two runs share that make the same releases, also in type."""
        return whole_key(self.releases)


@dataclass(frozen=True)
class Glimpse:
    """The attribute "epsilon" of a mechanism, if the caller did not name one.

    It is not compared; a note says where it changes with the data.
    """

    epsilon: Any

    @classmethod
    def of(cls, mechanism: Any) -> Glimpse:
        """Look at an instance, or at a dict of arguments."""
        if isinstance(mechanism, dict):
            return cls(mechanism.get("epsilon"))
        try:
            return cls(getattr(mechanism, "epsilon", None))
        except Exception:  # noqa: BLE001 - whatever a property raises
            return cls(None)


@dataclass(frozen=True)
class Recorder:
    """A function whose mechanisms are recorded on a tape.

    Attributes
    ----------
    function : callable
    tape : Tape
    there : callable, optional
        Makes a run in a process of its own; by default runs are made here.
    """

    function: Callable[[list[Any]], Any]
    tape: Tape
    there: Callable[[list[Any], Sequence[Any]], Run] | None = None

    def run(self, x: list[Any], history: Sequence[Any] = ()) -> Run:
        """Call the function on a dataset.

        The mechanisms release the history, one after the other, and then their true values. A run
        that does anything with an `Untouched` release raises QueryError.
        """
        if self.there is not None:
            return self.there(x, history)
        self.tape.rewind(history)
        alone = any(type(one) is Untouched for one in history)
        try:
            with Untouched.left_alone() if alone else nullcontext():
                answer = self.function(copy.deepcopy(x))
        except TouchedError:
            raise QueryError(_TOUCHED) from None
        except QueryError as error:
            raise QueryError(f"on {short_literal(x)}{_after_releases(history)}, {error}") from error
        except Exception as error:
            where = f"{short_literal(x)}{_after_releases(history)}"
            raise QueryError(f"{where} raised {type(error).__name__}: {error}") from error
        made = self.recorded(x, answer)
        if alone and any(
            type(part) is Untouched
            for step in made.steps
            for part in parts((step.value, step.claim)).values()
        ):
            raise QueryError(_TOUCHED)  # a mechanism gets it
        return made

    def recorded(self, x: list[Any], answer: Any) -> Run:
        """Return what the tape holds, as a run on a dataset with this answer."""
        seen = tuple(
            call.epsilon.epsilon if isinstance(call.epsilon, Glimpse) else None
            for call in self.tape
        )
        steps = tuple(
            Step(
                place,
                _flat(call),
                check_claim(call.sensitivity, 1),
                _share(call),
                any(map(holds_float, (call.value, call.sensitivity, call.epsilon))),
                call.candidates,
                call.monotonic,
                tuple(one if isinstance(one, _ENDS) else None for one in call.ends),
                call.whole,
            )
            for place, call in enumerate(self.tape)
        )
        if any(step.claim == math.inf for step in steps):
            raise QueryError("the library claims an infinite sensitivity, which no truth exceeds")
        sites = tuple(f"{call.target} in {call.site}" for call in self.tape)
        choices = tuple(call.choices for call in self.tape)
        returned = parts(answer, typed=True)
        return Run(x, sites, tuple(self.tape.releases), steps, answer, returned, seen, choices)


def run_here(function: Any, targets: Sequence[Any], options: Any, x: Any, history: Any) -> Run:
    """Return a run, in a process that may record nothing yet; see `Recorder.run`."""
    with recording(*targets, **options) as tape:
        tape.asks = True
        return Recorder(function, tape).run(x, history)


def _after_releases(history: Sequence[Any]) -> str:
    """Return what was fed to a run, in words."""
    return f" after the releases {short_literal(tuple(history))}" if history else ""


_ENDS = (Real, list, tuple, np.ndarray, Part)
"""What `lower` and `upper` can be; a method of this name says nothing."""


def _flat(call: Call) -> Any:
    """Return the value of a call: an array as the tuple of its entries, a scalar as Python's."""
    value = call.value
    try:
        hash(key_of(value))
    except Exception as error:
        raise QueryError(
            f"{call.target} must get a number, or several in a list, an array or a mapping, got "
            f"{shown(value)}"
        ) from error
    if isinstance(value, np.ndarray):
        return tuple(value.ravel().tolist())
    return tuple(value) if isinstance(value, list) else unboxed(value)


def _share(call: Call) -> Fraction | None:
    """Return the share of the privacy budget of a call as a rational, or raise QueryError."""
    if call.epsilon is None or isinstance(call.epsilon, Glimpse):
        return None
    number = as_python(call.epsilon)
    try:
        share = Fraction(number)
    except (TypeError, ValueError, OverflowError):
        share = Fraction(0)
    if share <= 0:
        raise QueryError(
            f"the epsilon of {call.target} must be a finite number above 0, got {shown(number)}"
        )
    return share
