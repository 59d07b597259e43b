"""Code that catches what the driver raises in it: nothing that it releases afterwards counts."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass

import numpy as np
import pytest
from checks import refused, refused_with

from sensitivity_lab.audits import audit_mechanism
from sensitivity_lab.audits.driven import runs, stops
from sensitivity_lab.errors import QueryError, TooLargeError

pytestmark = pytest.mark.usefixtures("few_runs")


def _bare_except(data, rng):
    """Catch whatever the driver raises, and release something that depends on the data."""
    try:
        return rng.gamma(1.0) + sum(data)
    except:  # noqa: E722 - what is tested
        return sum(data)


def _return_in_finally(data, rng):
    try:
        noise = rng.normal(0, 1)
        if noise > 0:
            return 0
    finally:
        return sum(data)  # noqa: B012 - what is tested


def _own_error_instead(data, rng):
    try:
        return str(rng.random())
    except:  # noqa: E722 - what is tested
        raise ValueError(f"of {sum(data)}") from None


def _loop_around_bare_except(data, rng):
    tries = 0
    while True:
        tries += 1
        try:
            if rng.laplace(0, 1) ** 2 > 0.5 or rng.gamma(1.0) > 2:
                return sum(data) + tries
        except:  # noqa: E722 - what is tested
            continue


@pytest.mark.parametrize(
    "function",
    [_bare_except, _return_in_finally, _own_error_instead, _loop_around_bare_except],
)
def test_what_code_releases_after_a_stop_that_it_caught_is_never_judged(function):
    report = audit_mechanism(function, [0, 1], 1, epsilon=1, neighbors="bounded")
    assert report.verdict in ("not judged", "not refuted", "violated (sampled)")
    assert not report.sound


def test_a_limit_that_code_catches_is_told():
    def wide(data, rng):
        try:
            return int(rng.integers(10**9)) + data[0]
        except:  # noqa: E722 - what is tested
            return data[0]

    refused_with(
        lambda: audit_mechanism(wide, [0, 1], 1, epsilon=1, neighbors="bounded"),
        "a draw has 1,000,000,000 values",
        TooLargeError,
    )


def test_a_generator_of_its_own_is_told_where_code_catches_everything():
    def own(data, _):
        try:
            return data[0] + np.random.default_rng().integers(2)
        except:  # noqa: E722 - what is tested
            return data[0]

    refused_with(
        lambda: audit_mechanism(own, [0, 1], 1, epsilon=1, neighbors="bounded"),
        "a generator of its own",
        QueryError,
    )


@pytest.mark.exhaustive
def test_code_that_catches_everything_on_unlikely_paths_is_judged_but_for_these():
    """Paths below 1e-15 end; what a bare except makes of that end is left out of the law."""

    def redrawn(data, rng):
        while True:
            try:
                if rng.random() < 0.5:
                    return data[0] if rng.random() < 0.75 else 1 - data[0]
            except:  # noqa: E722 - what is tested
                return data[0]

    report = audit_mechanism(redrawn, [0, 1], 1, epsilon=1.2, delta=1e-6, neighbors="bounded")
    assert report.verdict == "loose"
    assert report.delta(0) == pytest.approx((0.5, 0.5), abs=1e-11)


def retried(data, rng):
    k = 0
    while rng.random() < 0.9999:
        k += 1
    return k + sum(data)


def summed(data, rng):
    return sum(data) + rng.laplace(0, 1, 100_000).sum()


def compared(_, rng):
    return rng.laplace() > 0, rng.normal() > 0


@dataclass
class Clock:
    """A clock that goes on by some seconds whenever it is asked."""

    step: float
    now: float = 0.0

    def monotonic(self):
        self.now += self.step
        return self.now

    process_time = monotonic


@pytest.mark.parametrize(
    ("function", "step", "told"),
    [
        (retried, 0, "a run makes more than 3,000 draws and decisions; draw less often, or in a"),
        (summed, 1, "the audit takes more than 9 seconds; take fewer records or"),
        (compared, 1, "the audit takes more than 9 seconds; take fewer records or values, or"),
    ],
)
def test_what_an_audit_spends_is_limited(function, step, told, monkeypatch):
    """A long loop and a long sum stop on their way; runs of slow code one after the other."""
    monkeypatch.setattr(runs, "MOST", 3_000)
    monkeypatch.setattr(stops, "time", Clock(step))
    refused_with(
        lambda: audit_mechanism(function, [0, 1], 1, epsilon=1, neighbors="bounded", time_limit=9),
        told,
        TooLargeError,
    )


def test_memory_is_limited(monkeypatch):
    monkeypatch.setattr(stops, "BYTES", -1)
    refused_with(
        lambda: audit_mechanism(summed, [0, 1], 1, epsilon=1, neighbors="bounded"),
        "GiB of memory; take fewer records or values, or draw less often",
        TooLargeError,
    )


def test_the_paths_of_a_long_run_share_its_decisions():
    """They were kept once for each: a gigabyte after 10,000 decisions."""
    run = runs.Run()
    for _ in range(2_000):
        assert run.uniform() < 0.99
    first, last = run.others[0][1], run.others[-1][1]
    assert first.steps is last.steps
    assert [len(one.path) for one in (first, last)] == [1, 2_000]
    assert [step.answer for step in last.path] == [True] * 1_999 + [False]


async def awaited(data, rng):
    await asyncio.sleep(0)
    return sum(data) + rng.laplace()


async def rounded(data, rng):
    await asyncio.sleep(0)
    return round(sum(data) + rng.laplace())


@pytest.mark.parametrize(
    ("release", "verdict"), [(awaited, "tight"), (rounded, "holds if post-processed")]
)
def test_code_may_run_a_loop_of_events(release, verdict):
    """Python prints the handler of an interrupt, a task, which prints what it returns."""
    before = signal.getsignal(signal.SIGINT)
    report = audit_mechanism(
        lambda data, rng: asyncio.run(release(data, rng)), [0, 1], 1, epsilon=1,
        neighbors="bounded",
    )  # fmt: skip
    assert report.verdict == verdict
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("sampled", [False, True])
def test_code_that_always_fails_is_told_so(sampled):
    def failing(*_):
        raise KeyError("no")

    refused(
        lambda: audit_mechanism(
            failing, [0, 1], 1, epsilon=1, neighbors="bounded", sampled=sampled
        ),
        "the function fails in every run; on [0]: KeyError: 'no'",
        QueryError,
    )
