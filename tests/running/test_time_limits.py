"""Functions that do not want to stop when their time is up."""
# ruff: noqa: B012, BLE001, SIM105 -- they do what nobody should

from __future__ import annotations

import gc
import itertools
import signal
import time
from contextlib import suppress

import joblib
import pytest
from checks import refused_with

import sensitivity_lab as sl
from sensitivity_lab.running import time_limits
from sensitivity_lab.running.time_limits import TimeUpError, in_time

UNIVERSE = sl.Universe.from_dataset([1, 2, 3, 5, 8, 13])

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")


@pytest.fixture(autouse=True)
def _nothing_is_collected():
    """What is raised in a callback of the garbage collector is dropped, and pytest hears of it.

    If the next one comes while pytest takes a note of the first, pytest itself has failed.
    """
    gc.disable()
    yield
    gc.enable()


def again():
    while True:
        try:
            time.sleep(1000)
        except BaseException:
            pass


def again_and_again():
    while True:
        try:
            again()
        except BaseException:
            continue


def suppressed():
    while True:
        with suppress(BaseException):
            time.sleep(1000)


def at_the_end():
    while True:
        try:
            time.sleep(1000)
        finally:
            continue


def no_sleep():
    number = 0
    while True:
        try:
            while True:
                number += 1
        except BaseException:
            number = 0


def slow_to_stop():
    try:
        time.sleep(1000)
    finally:
        time.sleep(1000)


def another_error():
    try:
        time.sleep(1000)
    except BaseException as error:
        raise ValueError("of my own") from error


def an_answer():
    try:
        time.sleep(1000)
    except BaseException:
        return 3.0


STUBBORN = [
    again,
    again_and_again,
    suppressed,
    at_the_end,
    no_sleep,
    slow_to_stop,
    another_error,
    an_answer,
]


# Of so many interruptions, one may come where Python can only report it, as in a destructor.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("function", STUBBORN)
def test_a_function_that_swallows_the_interruption_ends(function, monkeypatch):
    monkeypatch.setattr(time_limits, "_AGAIN", 0.05)
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TimeUpError):
        in_time(0.01, function)
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_what_a_function_puts_in_order_is_put_in_order():
    done = []

    def orderly():
        try:
            time.sleep(1000)
        finally:
            for part in range(10):
                time.sleep(0.001)
                done.append(part)

    with pytest.raises(TimeUpError):
        in_time(0.01, orderly)
    assert done == list(range(10))


def test_a_function_in_time_is_left_alone():
    assert in_time(1000, max, 2, 3) == 3
    assert in_time(None, max, 2, 3) == 3
    with pytest.raises(ZeroDivisionError):
        in_time(1000, lambda: 1 / 0)


def test_ctrl_c_is_not_taken_for_the_end_of_the_time():
    def interrupted():
        with suppress(BaseException):
            time.sleep(1000)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_time(0.01, interrupted)


def test_a_limit_inside_a_limit_leaves_the_outer_one():
    def outer():
        with suppress(TimeUpError):
            in_time(0.01, time.sleep, 1000)
        time.sleep(1000)

    with pytest.raises(TimeUpError):
        in_time(0.1, outer)


def test_a_late_signal_of_an_inner_limit_does_not_end_the_outer_one(monkeypatch):
    """It came when the outer handler was set again, and raised where the timer was to be set."""
    change = signal.signal

    def change_late(number, handler):
        before = change(number, handler)
        if number == signal.SIGALRM and rings.pop(0):
            signal.raise_signal(number)
        return before

    # The handlers of the outer and of the inner limit are set, and the outer one's again.
    rings, whole = [False, False, True, False], []
    monkeypatch.setattr(signal, "signal", change_late)

    def outer():
        with suppress(TimeUpError):
            in_time(0.01, time.sleep, 1000)
        time.sleep(3)
        whole.append("slept")

    with pytest.raises(TimeUpError):
        in_time(0.5, outer)
    assert whole == []


def stubborn(x):
    time.sleep(0.01)
    while list(x) == [2, 5, 8]:
        with suppress(BaseException):
            time.sleep(1000)
    return float(x[0])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_the_error_names_the_dataset_and_the_limit(n_jobs):
    with joblib.parallel_config(backend="loky"), pytest.raises(sl.errors.QueryError) as caught:
        sl.global_sensitivity(
            UNIVERSE, stubborn, size=3, neighbors="bounded", n_jobs=n_jobs, run=sl.Run(timeout=0.5)
        )
    assert str(caught.value) == (
        "query 'stubborn' on the dataset (2, 5, 8) took longer than 0.5 seconds for each "
        "dataset, the limit of run=Run(timeout=0.5)"
    )


def test_the_error_names_the_first_of_several_datasets():
    def together(rows):
        time.sleep(10 * (len(rows) > 1))
        return rows.sum(axis=1)

    query = sl.queries.from_function(together, vectorized=True)
    told = r"the dataset \(1, 2, 3\) and 7 others took longer than 0.02 seconds for each dataset"
    refused_with(
        lambda: sl.global_sensitivity(
            UNIVERSE, query, size=3, neighbors="bounded", run=sl.Run(timeout=0.02)
        ),
        told,
        sl.errors.QueryError,
    )


def in_compiled_code(x):
    time.sleep(0.01)
    return float(sum(itertools.repeat(0))) if list(x) == [3, 5, 8] else float(x[0])


@pytest.mark.stress
def test_a_worker_that_is_ended_because_its_time_is_up_says_so(capfd):
    with joblib.parallel_config(backend="loky"), pytest.raises(sl.errors.WorkerError) as caught:
        sl.global_sensitivity(
            UNIVERSE,
            in_compiled_code,
            size=3,
            neighbors="bounded",
            n_jobs=2,
            run=sl.Run(timeout=0.2),
        )
    assert str(caught.value) == (
        "a worker process was ended twice in in_compiled_code on 1 datasets of 3 records, the "
        "first of which is (3, 5, 8): a call took longer than run=Run(timeout=...) allows "
        "and could not be "
        "interrupted, as compiled code cannot that does not return to Python; choose a larger "
        "timeout, or let the query answer these datasets in less time"
    )
    (note,) = caught.value.__notes__
    assert note.startswith("Timeout (0:00:01.400000)!")
    assert " in in_compiled_code\n" in note
    assert "Timeout" not in capfd.readouterr().err
