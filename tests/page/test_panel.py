"""The widgets: what each control asks for, and where each view is shown."""

from __future__ import annotations

from dataclasses import fields, replace

import pandas as pd
import pytest

import sensitivity_lab as sl
from sensitivity_lab.explorer.model import views
from sensitivity_lab.explorer.runner import Busy, Ended
from sensitivity_lab.explorer.source import as_source
from sensitivity_lab.explorer.state import State

widgets = pytest.importorskip("ipywidgets", reason="needs the extra `explore`")
pytestmark = pytest.mark.exhaustive

SOURCE = as_source(
    {
        "age": sl.Universe.from_dataset([1, 2, 3, 4, 5, 6, 7, 8, 15, 20]),
        "few": sl.Universe.from_dataset([1, 2, 3]),
    }
)


class Asked:
    """A runner that computes at once, and remembers what it was asked for."""

    def __init__(self, source, tell):
        self.states, self.stopped = [], 0
        self._source, self._tell = source, tell

    def ask(self, state):
        self.states.append(state)
        for view in views(self._source, state):
            self._tell(view)

    def stop(self):
        self.stopped += 1
        self._tell(Ended("stopped"))

    def close(self):
        pass


@pytest.fixture
def panel(monkeypatch):
    from sensitivity_lab.explorer.panel import Panel

    monkeypatch.setattr("sensitivity_lab.explorer.panel.Runner", Asked)
    made = Panel(SOURCE)
    yield made
    made.close()


def test_there_is_a_control_per_attribute_of_a_state(panel):
    assert list(panel.controls) == [field.name for field in fields(State)]
    assert panel.view.state == panel.state
    assert panel.parts["domain"].layout.display == "none"  # it opens on universes, not on a table


@pytest.mark.parametrize(
    ("control", "value", "parts"),
    [
        ("column", "few", {"headline", "curve", "strip", "pair", "noise", "code"}),
        ("query", "median", {"headline", "curve", "pair", "noise", "code"}),
        ("relation", "unbounded: add only", {"headline", "curve", "strip", "pair", "code"}),
        ("size", 4, {"headline", "curve", "strip", "pair", "noise", "code"}),
        ("k", 3, {"headline", "curve", "strip", "pair", "noise", "code"}),
        ("epsilon", 0.1, {"noise", "code"}),
        ("domain", "0:30", {"headline", "curve", "strip", "pair", "noise", "code"}),
        ("dataset", "1, 2, 7", {"code", "pair", "reach"}),
    ],
)
def test_each_control_changes_what_it_is_about(panel, control, value, parts):
    before = {name: part.value for name, part in panel.parts.items()}
    panel.controls[control].value = value
    changed = {name for name, part in panel.parts.items() if part.value != before[name]}
    assert parts <= changed
    assert getattr(panel.view.state, control) == value


def test_the_panel_of_a_table_opens_on_a_domain(monkeypatch):
    from sensitivity_lab.explorer.panel import Panel

    monkeypatch.setattr("sensitivity_lab.explorer.panel.Runner", Asked)
    made = Panel(as_source(pd.DataFrame({"age": [1, 2, 3, 40]})))
    assert made.controls["domain"].value == made.view.state.domain == "0:100"
    assert "domain of 101 values" in made.parts["headline"].value
    note = made.parts["domain"]
    assert note.layout.display is None
    assert "shows this domain, not the rows of the data. Empty the field to take" in note.value
    made.controls["domain"].value = ""
    assert "universe of 4 records" in made.parts["headline"].value
    assert "takes the rows themselves, as public data" in note.value
    made.close()


def test_a_typed_dataset_shows_its_local_sensitivity(panel):
    panel.controls["dataset"].value = "1, 2, 3, 8"
    assert panel.view.local.text in panel.parts["pair"].value
    assert "local sensitivity" in panel.parts["pair"].value
    assert panel.view.local.smooth in panel.parts["pair"].value
    assert "Cauchy noise for it has scale" in panel.parts["pair"].value
    assert panel.parts["messages"].layout.display == "none"


def test_a_typed_dataset_shows_its_reach_and_an_empty_field_takes_it_away(panel):
    reach = panel.parts["reach"]
    assert (reach.value, reach.layout.display) == ("", "none")
    panel.controls["dataset"].value = "1, 2, 3, 8"
    assert "<svg" in reach.value
    assert f"down by {panel.view.reach.down} and up by" in reach.value
    assert reach.layout.display is None
    panel.controls["relation"].value = "unbounded: add only"
    assert (reach.value, reach.layout.display) == ("", "none")
    assert "no reach of x: reach needs a distance" in panel.parts["messages"].value
    panel.controls["dataset"].value = ""
    assert "no reach of x" not in panel.parts["messages"].value


def test_a_dataset_of_another_size_is_not_compared_without_a_word(panel):
    panel.controls["dataset"].value = "1, 2, 3"
    assert "but for n = 6, and this x has 3 records" in panel.parts["pair"].value
    panel.controls["size"].value = 3
    assert "but for n" not in panel.parts["pair"].value


def test_bad_input_shows_its_message_and_good_input_takes_it_away(panel):
    panel.controls["domain"].value = "<b>"
    assert "a value of the domain must be a finite number" in panel.parts["messages"].value
    assert "<b>" not in panel.parts["messages"].value
    assert panel.parts["curve"].value == ""
    panel.controls["domain"].value = ""
    assert panel.parts["messages"].value == ""
    assert "<svg" in panel.parts["curve"].value


def test_sliders_end_at_what_is_feasible(panel):
    panel.controls["k"].value = 6
    panel.controls["column"].value = "few"
    ends = {name: panel.controls[name].max for name in ("size", "k")}
    assert ends == {"size": 2, "k": 1}  # one record is outside, so one can be replaced
    assert panel.view.state == replace(panel.state, size=2, k=1)
    assert panel.view.messages == ()


def test_a_search_that_goes_on_can_be_stopped(panel):
    panel.show(Busy(4.2, "45% of pairs", "the curve of mean up to k = 6"))
    assert (
        "Computing the curve of mean up to k = 6, 4 s. 45% of pairs" in panel.parts["status"].value
    )
    assert not panel.stop.disabled
    panel.stop.click()
    assert panel.runner.stopped == 1
    assert panel.stop.disabled
    assert "stopped" in panel.parts["status"].value


def test_without_the_extra_the_error_names_it(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    monkeypatch.delitem(sys.modules, "sensitivity_lab.explorer.panel", raising=False)
    with pytest.raises(sl.errors.MissingExtraError) as error:
        sl.explore(sl.Universe.from_dataset([1, 2]))
    assert str(error.value) == (
        "explore needs ipywidgets and Voila, which are not installed; "
        "install the extra: pip install '.[explore]' in a checkout"
    )
