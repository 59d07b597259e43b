"""The widgets: controls that set states, and parts that show views."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import ipywidgets as widgets

from . import shown
from .model import View
from .runner import Busy, Report, Runner
from .source import Source
from .state import EPSILONS, QUERIES, RELATIONS, State

_PARTS = ("headline", "warnings", "messages", "curve", "strip", "pair", "reach", "noise", "code")
"""The parts of the page: functions of `shown`, in order."""

_FIRST_SIZE = 6
"""The first size, if the universe has more records."""


class Panel(widgets.VBox):  # type: ignore[misc]
    """The explorer of a source.

    Parameters
    ----------
    source : Source
        The universes to explore.

    Attributes
    ----------
    controls : dict of str to Widget
        By the attribute of `State` that each one sets.
    parts : dict of str to HTML
        The parts of the page, by name.
    view : View or None
        The view that the page shows.
    """

    def __init__(self, source: Source) -> None:
        self.controls = _controls(source)
        self.parts = {name: widgets.HTML() for name in ("status", "domain", *_PARTS)}
        for name, part in self.parts.items():
            part.add_class(f"sl-part-{name}")
        self.view: View | None = None
        self._asked: State | None = None
        self._call = _in_this_loop()
        self.runner = Runner(source, lambda report: self._call(self.show, report))
        self.stop = widgets.Button(description="Stop", disabled=True)
        self.stop.on_click(lambda _: self.runner.stop())
        for control in self.controls.values():
            control.observe(self._ask, "value")
        style = files(__package__).joinpath("style.css").read_text("utf-8")
        # Only a table opens on a domain in place of its rows.
        self.parts["domain"].layout.display = None if source.opens_on else "none"
        below = {"domain": [self.parts["domain"]]}
        left = widgets.VBox(
            [
                *(
                    one
                    for name, control in self.controls.items()
                    for one in (control, *below.get(name, ()))
                ),
                widgets.HBox([self.stop, self.parts["status"]]),
            ]
        )
        right = widgets.VBox([self.parts[name] for name in _PARTS])
        left.add_class("sl-controls")
        right.add_class("sl-view")
        # A container can style its contents only by its own width: hence the box in the box.
        body = widgets.VBox([left, right])
        body.add_class("sl-body")
        super().__init__([body, widgets.HTML(f"<style>{style}</style>")])
        self.add_class("sl-explorer")
        self._ask()

    @property
    def state(self) -> State:
        """The state that the controls are set to."""
        return State(**{name: control.value for name, control in self.controls.items()})

    def close(self) -> None:
        """Close the widgets, and end the process that searches."""
        if hasattr(self, "runner"):
            self.runner.close()
        super().close()

    def _ask(self, *_: Any) -> None:
        if self.state != self._asked:
            self._asked = self.state
            self.stop.disabled = False
            self.parts["status"].value = shown.status("Computing")
            self.parts["domain"].value = shown.domain(self.state.domain)
            self.runner.ask(self.state)

    def show(self, report: Report) -> None:
        """Show a report; called in the thread of the widgets."""
        if isinstance(report, Busy):
            self.stop.disabled = False
            self.parts["status"].value = shown.status(report)
        elif isinstance(report, View):
            self._show_view(report)
        else:
            self.stop.disabled = True
            self._asked = None  # any change, also back to the same state, asks again
            self.parts["status"].value = shown.status(report.reason)

    def _show_view(self, view: View) -> None:
        # Parts not known yet keep their place, so the page does not jump.
        before = self.view
        self.view = view
        if view.code or view.done:
            self._limit(view)
        for name in _PARTS:
            text = getattr(shown, name)(view)
            if text or view.done or before is None:
                self.parts[name].value = text
                self.parts[name].layout.display = None if text else "none"
        self.parts["status"].value = shown.status(view)
        if view.done:
            self.stop.disabled = True

    def _limit(self, view: View) -> None:
        """Limit the sliders to feasible values."""
        if not view.code:
            return
        self.controls["size"].max = view.largest_size
        self.controls["k"].max = view.largest_k


def _controls(source: Source) -> dict[str, Any]:
    """Make a control per attribute of a state."""
    first = next(iter(source.columns))
    made = {
        "column": widgets.Dropdown(options=list(source.columns), value=first, description="Column"),
        "query": widgets.Dropdown(options=QUERIES, value="mean", description="Query"),
        "relation": widgets.Dropdown(options=list(RELATIONS), description="Neighbors"),
        "size": widgets.IntSlider(_FIRST_SIZE, 1, _FIRST_SIZE, description="Size n"),
        "k": widgets.IntSlider(1, 1, 2, description="Distance k"),
        "epsilon": widgets.SelectionSlider(options=EPSILONS, value=1, description="Epsilon ε"),
        "domain": widgets.Text(
            source.opens_on,
            description="Domain",
            placeholder="public, such as 0:120; empty: the records",
            continuous_update=False,
        ),
        "dataset": widgets.Text(
            description="Dataset x",
            placeholder="such as 1, 2, 3, for its local sensitivity",
            continuous_update=False,
        ),
    }
    for name, control in made.items():
        control.add_class(f"sl-control-{name}")
        control.layout.width = "auto"
    return made


def _in_this_loop() -> Callable[..., Any]:
    """Return a function that calls another in the thread of the widgets, from any thread."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # outside a notebook: in the thread that tells
        return lambda function, *given: function(*given)
    return loop.call_soon_threadsafe
