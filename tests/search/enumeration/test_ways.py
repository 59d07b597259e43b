"""What a refusal for want of room says: what would take the search, and how long it takes."""

from __future__ import annotations

import re
from unittest import mock

import numpy as np
import pytest

import sensitivity_lab as sl
from sensitivity_lab.search.enumeration import evaluate
from sensitivity_lab.search.enumeration import too_large as ways

ASKED = {"size": 10, "neighbors": "bounded", "method": "enumeration"}
UNIVERSE = sl.Universe.from_dataset(range(20))


def numbers(x):
    return float(np.ptp(x) * 3 + x[0])


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """16 GiB of memory everywhere."""
    monkeypatch.setattr(ways, "memory_of_machine", lambda: 2**34)


def refusal(function=numbers, universe=UNIVERSE, **asked) -> str:
    with pytest.raises(sl.errors.TooLargeError) as caught:
        sl.global_sensitivity(universe, function, **{**ASKED, **asked})
    return str(caught.value)


WHAT = (
    "no engine accepts numbers here: enumeration would evaluate about 1.9e+05 datasets and need "
    "about 10.0 MiB, more than the memory limit of 97.7 KiB; choose a smaller size or distance, or "
    "a coarser universe with fewer distinct values; or with this, in TIME of one processor, by a "
    "sample of SOME evaluations: run=Run(memory_limit=...) of 10.0 MiB (this machine has 16.0 GiB)"
)


@pytest.mark.exhaustive
def test_more_memory_would_take_it():
    said = refusal(run=sl.Run(memory_limit=100_000))
    measured = re.search(r"in (.*) of one processor, by a sample of ([0-9,]+) eval", said)
    assert measured is not None
    assert said == WHAT.replace("TIME", measured[1]).replace("SOME", measured[2])
    assert re.fullmatch(r"about \d+ \w+|less than a second", measured[1])


def test_the_time_is_that_of_the_sample(monkeypatch):
    """184,756 datasets of 0.11 s are 5.6 hours; one of them is enough to tell."""
    clock = mock.Mock(perf_counter=lambda: seconds)
    monkeypatch.setattr(evaluate, "time", clock)
    seconds = 0.0

    def numbers(x):
        nonlocal seconds
        seconds += 0.11
        return float(x[0])

    said = refusal(numbers, run=sl.Run(memory_limit=100_000))
    assert re.search("in about 6 hours of one processor, by a sample of 1 evaluation", said)


@pytest.mark.exhaustive
def test_too_large_for_this_machine():
    said = refusal(universe=sl.Universe.from_dataset(range(34)), size=17)
    assert "need about 122.6 GiB, more than the memory limit of 4.0 GiB" in said
    assert said.endswith(
        "; choose a smaller size or distance, or a coarser universe with fewer distinct values; "
        "the 16.0 GiB of this machine's memory are too few"
    )


def test_a_query_that_fails_has_no_time():
    def numbers(x):
        return 1 / (x[0] - x[0])

    said = refusal(numbers, run=sl.Run(memory_limit=100_000))
    assert "; or with this: run=Run(memory_limit=...) of 10.0 MiB" in said


def test_what_takes_too_long_anywhere_has_no_way():
    said = refusal(universe=sl.Universe.from_dataset(range(60)), size=30)
    assert said.endswith(
        "more than the memory limit of 4.0 GiB; choose a smaller size or distance, a coarser "
        "universe with fewer distinct values, or a larger run=Run(memory_limit=...)"
    )


def test_times_and_sizes_in_words():
    times = [0.4, 1, 119, 120, 7199, 7200, 172_799, 172_800]
    assert [ways.in_time(seconds) for seconds in times] == [
        "less than a second",
        "about 1 seconds",
        "about 119 seconds",
        "about 2 minutes",
        "about 120 minutes",
        "about 2 hours",
        "about 48 hours",
        "about 2 days",
    ]
    assert ways.memory_of_machine() == 2**34


def test_the_memory_of_this_machine(monkeypatch):
    monkeypatch.undo()
    here = ways.memory_of_machine()
    assert here is None or here > 2**28
    monkeypatch.setattr(ways.os, "sysconf", mock.Mock(side_effect=(2**16, -248)), raising=False)
    assert ways.memory_of_machine() is None
    monkeypatch.setattr(ways.os, "sysconf", mock.Mock(side_effect=ValueError), raising=False)
    assert ways.memory_of_machine() is None
