"""The process that searches: the newest state counts, a search can be stopped, an end is told."""

from __future__ import annotations

import io
import pickle
from queue import Empty, Queue
from threading import Event

import pytest

import sensitivity_lab as sl
from sensitivity_lab.explorer.model import View, views
from sensitivity_lab.explorer.runner import Busy, Ended, Runner
from sensitivity_lab.explorer.source import as_source
from sensitivity_lab.explorer.state import State
from sensitivity_lab.explorer.worker import serve

SOURCE = as_source(sl.Universe.from_dataset([1, 2, 3, 4, 5, 6, 7, 8, 15, 20]))
STATE = State("records", "mean", size=6)
SLOW = State("records", "gini_mean_difference", size=10_000, k=3)
"""Takes a minute among 20,000 records, and is not refused."""

LIMIT = 100
"""Seconds to wait for a process before a test fails; nothing waits so long."""


def test_the_worker_answers_every_state_with_its_views():
    requests = io.BytesIO(b"".join(map(pickle.dumps, (SOURCE, STATE, STATE))))
    answers = io.BytesIO()
    serve(requests, answers)
    answers.seek(0)
    read = []
    while answers.tell() < len(answers.getvalue()):
        read.append(pickle.load(answers))
    assert read == [*views(SOURCE, STATE), *views(SOURCE, STATE)]


def test_the_worker_is_told_of_the_end_while_it_searches(monkeypatch):
    """A process whose notebook is gone must not go on for hours."""
    told = Event()
    outcomes = []

    def endless(*_, **__):
        outcomes.append(told.wait(LIMIT))
        return []

    monkeypatch.setattr("sensitivity_lab.explorer.worker.views", endless)
    requests = io.BytesIO(b"".join(map(pickle.dumps, (SOURCE, STATE))))
    serve(requests, io.BytesIO(), at_end=told.set)
    assert outcomes == [True]


@pytest.fixture
def reports():
    return Queue()


def last_view(reports) -> View:
    while True:
        report = reports.get(timeout=LIMIT)
        if isinstance(report, View) and report.done:
            return report


def wait_until_busy(reports) -> None:
    """Wait for the first view, and for a report that the search goes on after it."""
    found = set()
    while not found >= {View, Busy}:
        report = reports.get(timeout=LIMIT)
        assert not (isinstance(report, View) and report.done)
        found |= {type(report)} if View in found or isinstance(report, View) else set()


def ended(reports) -> str:
    """The reason for which the search ended."""
    while not isinstance(report := reports.get(timeout=LIMIT), Ended):
        pass
    return report.reason


@pytest.mark.exhaustive
def test_the_newest_state_counts_and_an_unexpected_end_is_told(reports, monkeypatch):
    monkeypatch.setattr("sensitivity_lab.explorer.runner._PATIENCE", LIMIT)
    runner = Runner(SOURCE, reports.put)
    try:
        for k in range(1, 5):
            runner.ask(State("records", "mean", size=6, k=k))
        seen = [last_view(reports).state.k, last_view(reports).state.k]
        assert seen == [1, 4]  # 2 and 3 gave way
        with pytest.raises(Empty):
            reports.get(timeout=0.1)
        runner.ask(STATE)
        runner.process.kill()
        assert ended(reports).startswith("the search ended unexpectedly: ")
    finally:
        runner.close()


@pytest.mark.exhaustive
def test_a_long_search_tells_of_its_progress_and_ends_for_another_one_or_by_hand(
    reports, monkeypatch
):
    monkeypatch.setattr("sensitivity_lab.explorer.runner._PATIENCE", 0.1)
    runner = Runner(as_source(sl.Universe.from_dataset(range(20_000))), reports.put)
    try:
        runner.ask(SLOW)
        wait_until_busy(reports)
        runner.ask(State("records", "mean", size=6))
        assert last_view(reports).state.query == "mean"
        runner.ask(SLOW)
        wait_until_busy(reports)
        runner.stop()
        assert ended(reports) == "stopped; move a control to go on"
        with pytest.raises(Empty):
            reports.get(timeout=1)  # nothing goes on
    finally:
        runner.close()
