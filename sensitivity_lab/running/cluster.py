"""Blocks of work on a Dask cluster, some of whose processes may die.

joblib's own backend for Dask waits forever when the cluster goes away, because its futures are
cancelled without a call back. So blocks are submitted to the cluster's client directly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import joblib
from joblib.parallel import get_active_backend

from sensitivity_lab.errors import WorkerError

from .block import Block, Keeper, Produced

_PATIENCE = 10.0
"""A scheduler that cannot be reached for so many seconds is gone."""

_LOOKS = 1.0
"""Seconds between two looks whether the cluster is still there."""


def active_client() -> Any:
    """Return the client of the Dask cluster that `joblib.parallel_config` names; None if none."""
    backend, _ = get_active_backend()
    return backend.client if type(backend).__name__ == "DaskDistributedBackend" else None


def run(
    function: Callable[[Any], Any],
    blocks: Iterable[Block[Any]],
    client: Any,
    keeper: Keeper | None,
) -> Iterator[Produced]:
    """Yield what the cluster produces, as soon as it is there.

    The scheduler repeats a block whose worker died, as often as ``allowed-failures`` of its
    configuration says. Answers are kept here, because workers may not share a disk with this
    process.
    """
    portable = joblib.wrap_non_picklable_objects(function, keep_wrapper=False)
    listed = list(blocks)
    futures = client.map(portable, [block.recipe for block in listed], pure=False)
    places = {future: place for place, future in enumerate(futures)}
    del futures
    try:
        for future, result in _finished(places, client, keeper):
            place = places.pop(future)
            answer = _unless_killed(result, listed[place], keeper)
            if keeper is not None:
                keeper.keep(listed[place].recipe, answer)
            yield place, listed[place].length, answer
    finally:
        if places and client.status == "running":
            client.cancel(list(places), force=True)


def _finished(
    pending: dict[Any, int], client: Any, keeper: Keeper | None
) -> Iterator[tuple[Any, Callable[[], Any]]]:
    """Yield futures as they finish, each with a call that returns or raises its result.

    The caller takes them out of `pending`. WorkerError if the cluster goes away.
    """
    from distributed import wait as untyped

    wait: Any = untyped
    reached = time.monotonic()
    while pending:
        try:
            done = wait(list(pending), timeout=_LOOKS, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            done = set()
        except Exception as error:
            raise _gone(keeper) from error
        if client.status == "running":
            reached = time.monotonic()
        elif time.monotonic() - reached > _PATIENCE or client.status == "closed":
            raise _gone(keeper)
        for future in done:
            if future.status == "cancelled":
                raise _gone(keeper)
            if future.status == "error":
                yield future, partial(_raise, future.exception(timeout=_PATIENCE))
            elif future.status == "finished":
                # The worker that holds the result can die now; then it is computed again.
                with suppress(TimeoutError):
                    result = future.result(timeout=_PATIENCE)
                    yield future, partial(_return, result)


def _return(result: Any) -> Any:
    return result


def _raise(error: BaseException) -> Any:
    raise error


def _unless_killed(result: Callable[[], Any], block: Block[Any], keeper: Keeper | None) -> Any:
    """Return the answer on a block, or raise what it raised."""
    from distributed import KilledWorker

    try:
        return result()
    except KilledWorker as error:
        how = f"; what is finished is kept: {keeper.resume}" if keeper else ""
        raise WorkerError(
            f"workers of the Dask cluster ended again and again in {block.label}: they crashed, "
            f"were killed, or ran out of memory; see the workers' logs{how}"
        ) from error


def _gone(keeper: Keeper | None) -> WorkerError:
    how = f"; what is finished is kept: {keeper.resume}" if keeper else ""
    return WorkerError(
        f"the Dask cluster is gone: its scheduler cannot be reached; start a cluster again{how}"
    )
