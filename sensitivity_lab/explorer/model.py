"""The model: the views of a state, from plain data to the code that reproduces them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sensitivity_lab.calls.curves import sensitivity_curves
from sensitivity_lab.calls.global_sensitivity import global_sensitivity
from sensitivity_lab.calls.local_sensitivity import local_sensitivity
from sensitivity_lab.calls.reach import reach
from sensitivity_lab.calls.smooth_sensitivity import smooth_sensitivity
from sensitivity_lab.errors import DatasetUniverseWarning, InputError, SensitivityLabError
from sensitivity_lab.noise.scales import laplace_scale
from sensitivity_lab.noise.smooth import smooth_beta, smooth_cauchy_scale
from sensitivity_lab.queries import as_query
from sensitivity_lab.results.literals import plain
from sensitivity_lab.results.pairs import show_answer
from sensitivity_lab.results.roles import Block
from sensitivity_lab.results.sensitivity import Sensitivity
from sensitivity_lab.universes.finite import AnyUniverse
from sensitivity_lab.universes.multiset import FiniteUniverse

from .fan import Fan, fan_of
from .pair import Pair, Rug, pair_of, rug_of
from .snippet import snippet
from .source import Source
from .state import State
from .typed import dataset

FARTHEST = 50
"""The largest distance to choose."""

CURVE = 10
"""A curve goes at least to this distance, if that is feasible."""

UNLIMITED = 1000
"""The largest size to choose if a universe has no largest one."""


@dataclass(frozen=True)
class Local:
    """The local sensitivity of the typed dataset x.

    Attributes
    ----------
    records : tuple of str
        The records of x, ascending.
    text : str
        The sensitivity, rounded up.
    value : float
        The same as it is.
    answer : str
        The query's answer on x.
    smooth : str
        The smooth sensitivity, rounded up, with the beta for epsilon; "" if it is not known (yet).
    beta : float
        The damping per unit of distance.
    scale : float
        The scale of the Cauchy noise for the smooth sensitivity.
    """

    records: tuple[str, ...]
    text: str
    value: float
    answer: str
    smooth: str = ""
    beta: float = 0
    scale: float = 0


@dataclass(frozen=True)
class View:
    """The content of the page for a state; parts not known (yet) are None or empty.

    Attributes
    ----------
    state : State
        The state, its size and distance limited to feasible ones.
    largest_size, largest_k : int
        The ends of the sliders.
    extent : str
        The universe, in words.
    dataset : bool
        Whether the universe lists records, as a dataset does, and is not a declared domain.
    text : str
        The sensitivity, rounded up.
    value : float or None
        The same as it is.
    method : str
        The engine that found it.
    curve : tuple of (int, float)
        Distances and sensitivities.
    blocks : tuple of Block
        The strip; empty if there are too many blocks to draw.
    pair : Pair or None
        The witness.
    rug : Rug or None
        The places of the records.
    scale : float or None
        The scale of the Laplace noise, in the unit of the answer.
    cautions : tuple of str
        What must be public for the noise to protect anyone.
    local : Local or None
        The sensitivities of the typed dataset.
    reach : Fan or None
        The answers near the typed dataset.
    messages : tuple of str
        What could not be computed, and why.
    code : str
        Python that computes all of it.
    computing : str
        What the next view will add.
    done : bool
        Whether this is the last view of the state.
    """

    state: State
    largest_size: int = 1
    largest_k: int = 1
    extent: str = ""
    dataset: bool = True
    text: str = ""
    value: float | None = None
    method: str = ""
    curve: tuple[tuple[int, float], ...] = ()
    blocks: tuple[Block, ...] = ()
    pair: Pair | None = None
    rug: Rug | None = None
    scale: float | None = None
    cautions: tuple[str, ...] = ()
    local: Local | None = None
    reach: Fan | None = None
    messages: tuple[str, ...] = ()
    code: str = ""
    computing: str = ""
    done: bool = False


def views(source: Source, state: State, *, progress: bool = False) -> Iterator[View]:
    """Yield the views of a state, each with more than the one before.

    Parameters
    ----------
    source : Source
        The universes to explore.
    state : State
        The user's choices.
    progress : bool, default False
        Whether searches write their progress to the standard error stream.

    Yields
    ------
    View
        The last one is `done`.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> from sensitivity_lab.explorer.source import as_source
    >>> source = as_source(sl.Universe.from_dataset([1, 2, 3, 10]))
    >>> *_, view = views(source, State("records", "mean", size=3))
    >>> view.text, view.curve[0], view.pair.only_x, view.scale
    ('3', (1, 3.0), ('10',), 3.0)
    """
    view = View(state)
    try:
        for view in _stages(source, state, progress):
            yield view
    except SensitivityLabError as error:
        view = _with(view, str(error))
    except MemoryError:
        view = _with(view, "not enough memory for this view; choose a smaller size")
    yield replace(view, computing="", done=True)


def _with(view: View, message: str) -> View:
    return replace(view, messages=(*view.messages, message))


def _stages(source: Source, asked: State, progress: bool) -> Iterator[View]:
    """Yield the views; an error ends them if nothing can follow."""
    search = _Search.of(source, asked, progress)
    state, universe, distances = search.state, search.universe, search.distances
    view = View(
        state,
        _largest_size(universe),
        _largest_k(state, universe),
        extent=universe.extent,
        dataset=_is_dataset(universe),
        rug=rug_of(universe),
        code=search.code(),
        computing=f"the sensitivity of {state.query} at n = {state.size:,} and k = {state.k}",
    )
    yield view
    result = search.call(global_sensitivity, size=state.size, neighbors=state.neighbors)
    # First of all, since it is fast where the witness is not listed yet.
    pair, blocks = pair_of(result)
    view = replace(
        view,
        text=result._text(6),
        value=result.value,
        method=result.method,
        pair=pair,
        blocks=blocks,
        computing=f"the curve of {state.query} up to k = {distances[-1]}",
    )
    view = _with_noise(view, result)
    yield view
    try:
        view = replace(view, curve=search.curve())
    except SensitivityLabError as error:
        alone = ((state.k, result.value),)
        view = _with(replace(view, curve=alone), f"the curve has one point only: {error}")
    if state.dataset.strip():
        yield replace(view, computing="the local sensitivity of x")
        try:
            x = dataset(state.dataset)
            local = search.local(x)
        except SensitivityLabError as error:
            yield replace(_with(view, f"no local sensitivity of x: {error}"), computing="")
            return
        view = replace(view, local=local, code=search.code(local=True))
        yield replace(view, computing="the smooth sensitivity of x")
        try:
            both = search.with_smooth(local, x)
            view = replace(view, local=both, code=search.code(local=True, smooth=True))
        except SensitivityLabError as error:
            view = _with(view, f"no smooth sensitivity of x: {error}")
        yield replace(view, computing="the reach of x")
        try:
            fan = search.reach(x)
            smooth = bool(view.local and view.local.smooth)
            code = search.code(local=True, smooth=smooth, reach=True)
            view = replace(view, reach=fan, code=code)
        except SensitivityLabError as error:
            view = _with(view, f"no reach of x: {error}")
    yield replace(view, computing="")


@dataclass(frozen=True)
class _Search:
    """The searches of a state; each raises a `SensitivityLabError` if it is not feasible.

    Attributes
    ----------
    source : Source
    state : State
        The user's choices, limited to feasible ones.
    universe : Universe or IntervalUniverse
    distances : range
        Those of the curve.
    progress : bool
    """

    source: Source
    state: State
    universe: AnyUniverse
    distances: range
    progress: bool

    @classmethod
    def of(cls, source: Source, asked: State, progress: bool) -> _Search:
        """Return the searches of the state that comes closest to what is asked."""
        universe = source.universe(asked.column, asked.domain)
        state = replace(asked, size=max(1, min(asked.size, _largest_size(universe))))
        largest_k = _largest_k(state, universe)
        state = replace(state, k=max(1, min(state.k, largest_k)))
        distances = range(1, max(min(largest_k, CURVE), state.k) + 1)
        return cls(source, state, universe, distances, progress)

    def code(self, **parts: bool) -> str:
        """Return the code of a view, with the parts about x (see `snippet`) that it has."""
        listed = _is_dataset(self.universe)
        return snippet(self.source, self.state, self.distances, dataset=listed, **parts)

    def call(self, function: Callable[..., Any], **given: Any) -> Any:
        """Call a function of the package on the universe and the query."""
        return function(self.universe, self.state.query, progress=self.progress, **given)

    def curve(self) -> tuple[tuple[int, float], ...]:
        """Return the distances and the sensitivities."""
        state = self.state
        curves = self.call(
            sensitivity_curves,
            size=state.size,
            distances=self.distances,
            neighbors=state.neighbors,
        )
        frame = curves.to_frame(witness="short")
        return tuple(
            (int(k), float(value))
            for k, value in zip(frame["distance"], frame["sensitivity"], strict=True)
        )

    def local(self, x: list[Any]) -> Local:
        """Return the local sensitivity of a dataset."""
        found = self.call(local_sensitivity, dataset=x, neighbors=self.state.neighbors)
        answer = show_answer(found.witness.query_x)
        return Local(tuple(map(plain, x)), found._text(6), found.value, answer)

    def with_smooth(self, local: Local, x: list[Any]) -> Local:
        """Return the sensitivities of a dataset with the smooth one, and its noise."""
        if not isinstance(self.universe, FiniteUniverse):
            raise InputError("its universe is an interval; type a domain")
        state = self.state
        beta = smooth_beta(state.epsilon, k=state.k)
        found = self.call(smooth_sensitivity, dataset=x, beta=beta, neighbors=state.neighbors)
        with warnings.catch_warnings():  # the view has said already what has to be public
            warnings.simplefilter("ignore")
            scale = smooth_cauchy_scale(found, state.epsilon)
        return replace(local, smooth=found._text(6), beta=float(beta), scale=scale)

    def reach(self, x: list[Any]) -> Fan:
        """Return the answers near a dataset, as far as the curve goes."""
        state = self.state
        asked = {"distances": self.distances, "neighbors": state.neighbors}
        return fan_of(self.call(reach, dataset=x, **asked), state.k)


def _is_dataset(universe: AnyUniverse) -> bool:
    return isinstance(universe, FiniteUniverse) and universe.lists_records


def _largest_size(universe: AnyUniverse) -> int:
    return UNLIMITED if universe.size == np.inf else max(1, int(universe.size) - 1)


def _largest_k(state: State, universe: AnyUniverse) -> int:
    """Return the largest distance up to `FARTHEST` that a neighbor has; 1 if there is none."""
    relation, least = state.neighbors, as_query(state.query).least_size
    for k in range(min(FARTHEST, 2 * state.size + UNLIMITED), 1, -1):
        if any(relation.changes_at(k, state.size, universe, least)):
            return k
    return 1


def _with_noise(view: View, result: Sensitivity) -> View:
    """Add the scale of the noise, or why there is none."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scale = laplace_scale(result, view.state.epsilon)
    except InputError as error:
        return _with(view, f"no noise: {error}")
    # The page says in words of its own what a dataset as the universe means.
    cautions = tuple(
        str(one.message).removeprefix("sensitivity: ")
        for one in caught
        if not (view.dataset and issubclass(one.category, DatasetUniverseWarning))
    )
    return replace(view, scale=scale, cautions=cautions)
