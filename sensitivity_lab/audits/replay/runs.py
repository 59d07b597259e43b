"""Runs of a recorded function: what it hands to its mechanisms, and what these release."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sensitivity_lab.audits.claims import check_claim, holds_float
from sensitivity_lab.audits.recording import Call, Tape, TouchedError, Untouched, recording
from sensitivity_lab.audits.returned import Parts, parts, whole_key
from sensitivity_lab.checks import as_python, shown, unboxed
from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics.cells import key_of
from sensitivity_lab.results.literals import short_literal

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
    ends: tuple[Any, Any]
    whole: bool | None

    @property
    def key(self) -> Hashable:
        """What two equal steps share."""
        chosen_from = whole_key(self.candidates), self.monotonic
        return self.place, key_of(self.value), self.claim, self.epsilon, chosen_from


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
                answer = self.function(list(x))
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
        if any(check_claim(call.sensitivity, 1) == math.inf for call in self.tape):
            raise QueryError("the library claims an infinite sensitivity, which no truth exceeds")
        steps = tuple(
            Step(
                place,
                _flat(call.value),
                check_claim(call.sensitivity, 1),
                _share(call),
                any(map(holds_float, (call.value, call.sensitivity, call.epsilon))),
                call.candidates,
                call.monotonic,
                call.ends,
                call.whole,
            )
            for place, call in enumerate(self.tape)
        )
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


def _flat(value: Any) -> Any:
    """Return an array as the tuple of its entries, and a scalar of NumPy as one of Python."""
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
