"""What other packages raise becomes a documented error, whatever the public call."""

from __future__ import annotations

from concurrent.futures import CancelledError
from concurrent.futures import Future as Waiting

import joblib
import numpy as np
import pytest
from checks import refused, refused_with

import sensitivity_lab as sl
from sensitivity_lab.running import pool
from sensitivity_lab.spaces import space_sensitivity as space_calls

UNIVERSE = sl.Universe.from_domain(range(3))


def search(query="sum", **options):
    return sl.global_sensitivity(UNIVERSE, query, size=3, neighbors="bounded", **options)


def local(query):
    return sl.local_sensitivity(UNIVERSE, query, dataset=[0, 1, 2], neighbors="bounded")


class Odd:
    """An object of another package that fails when it is turned into an array."""

    def __array__(self, *_, **__):
        raise TypeError("no number\nat all")


def unrolled(*_, **__):
    raise RecursionError


def no_worker(*_, **__):
    Waiting().set_result(joblib.effective_n_jobs(None))
    waiting = Waiting()
    waiting.cancel()
    waiting.result()


def test_an_odd_object_is_an_argument_that_cannot_be_used(monkeypatch):
    monkeypatch.setattr(pool, "workers", lambda _: np.asarray(Odd()))
    with pytest.raises(sl.errors.InputError) as caught:
        search(lambda x: float(x[0]))
    assert str(caught.value) == (
        "an argument cannot be used: test_boundary raised TypeError: no number at all; give "
        "numbers, lists, arrays or tables of plain types"
    )
    assert isinstance(caught.value.__cause__, TypeError)


def test_a_full_stack_is_an_argument_that_is_nested_too_deeply(monkeypatch):
    monkeypatch.setattr(pool, "workers", unrolled)
    refused(
        lambda: search(lambda x: float(x[0])),
        "an argument, or what a function holds, is nested too deeply or refers to itself: Python's "
        "limit of recursion is reached; give flat values",
    )


def test_what_is_cancelled_is_an_error_of_the_workers(monkeypatch):
    monkeypatch.setattr(pool, "workers", no_worker)
    with pytest.raises(sl.errors.WorkerError) as caught:
        search(lambda x: float(x[0]))
    assert str(caught.value) == (
        "concurrent, which runs the workers, raised CancelledError: without a text; see that "
        "workers are there and can work, and call again, or use n_jobs=1 without a cluster"
    )
    assert isinstance(caught.value.__cause__, CancelledError)


def test_an_error_of_this_package_itself_stays(monkeypatch):
    def broken(_):
        raise AssertionError("a bug")

    monkeypatch.setattr(pool, "workers", broken)
    with pytest.raises(AssertionError, match="a bug"):
        search(lambda x: float(x[0]))


@pytest.mark.dask
@pytest.mark.parametrize("call", [search, local])
def test_a_cluster_without_workers_is_a_worker_error(call):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask", wait_for_workers_timeout=0.2),
        pytest.raises(sl.errors.WorkerError) as caught,
    ):
        call(lambda x: float(x[0]))
    assert str(caught.value).startswith(
        "joblib, which runs the workers, raised TimeoutError: DaskDistributedBackend has no worker "
        "after 0.2 seconds"
    )


SPACES = {
    "global_sensitivity": {"neighbors": sl.spaces.Within(1)},
    "local_sensitivity": {"dataset": [], "neighbors": sl.spaces.Within(1)},
    "sensitivity_curve": {"distances": 1},
}


@pytest.mark.parametrize("name", SPACES)
def test_searches_of_spaces_have_the_boundary(name, monkeypatch):
    monkeypatch.setattr(space_calls, "_check_query", unrolled)
    refused_with(
        lambda: getattr(sl.spaces, name)(sl.spaces.graphs(2, "edge"), "edges", **SPACES[name]),
        "Python's limit of recursion is reached",
    )
