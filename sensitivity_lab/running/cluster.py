"""Blocks of work on a Dask cluster, some of whose processes may die.

joblib's own backend for Dask waits forever when the cluster goes away, because its futures are
cancelled without a call back. So blocks are submitted to the cluster's client directly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from typing import Any

from sensitivity_lab.errors import WorkerError, printable

from .block import Block, Produced

_PATIENCE = 10.0
"""A scheduler that cannot be reached for so many seconds is gone."""

_CLUSTER_LOOKS = 1.0
"""Seconds between two looks whether the cluster is still there."""


_RESTART = "scheduler-restart"
"""What Dask names as the reason after `client.restart()`; older versions name none."""

_NOT_LOADED = "deserialization of the task graph"
"""What Dask says where its scheduler cannot unpickle the tasks; the cause is the error's."""


def active_client() -> Any:
    """Return the client of the Dask cluster that `joblib.parallel_config` names; None if none."""
    from joblib.parallel import get_active_backend  # when it is first needed: it takes a while

    backend, _ = get_active_backend()
    return backend.client if type(backend).__name__ == "DaskDistributedBackend" else None


def run(
    function: Callable[[Any], Any],
    blocks: Iterable[Block[Any]],
    client: Any,
) -> Iterator[Produced]:
    """Yield what the cluster produces, as soon as it is there.

    The scheduler repeats a block whose worker died, as often as ``allowed-failures`` of its
    configuration says.
    """
    import joblib

    portable = joblib.wrap_non_picklable_objects(function, keep_wrapper=False)
    listed = list(blocks)
    futures = client.map(portable, [block.recipe for block in listed], pure=False)
    places = {future: place for place, future in enumerate(futures)}
    del futures  # the cluster forgets an answer when nothing here refers to it
    try:
        for future, result in _finished(places, client):
            block, place = listed[places[future]], places.pop(future)
            del future
            yield place, block.length, _unless_killed(result, block.label)
    finally:
        if places and client.status == "running":
            client.cancel(list(places), force=True)


def _finished(pending: dict[Any, int], client: Any) -> Iterator[tuple[Any, Callable[[], Any]]]:
    """Yield futures as they finish, each with a call that returns or raises its result.

    The caller takes them out of `pending`. WorkerError if the cluster goes away.
    """
    reached = time.monotonic()
    while pending:
        cancelled = _look(list(pending))
        if client.status == "running":
            reached = time.monotonic()
        elif time.monotonic() - reached > _PATIENCE or client.status == "closed":
            raise _gone()
        if cancelled or any(future.status == "cancelled" for future in pending):
            time.sleep(_CLUSTER_LOOKS)  # the news that the scheduler is gone may be under way
            if client.status != "running":
                raise _gone() from cancelled
            raise _lost(_RESTART in str(cancelled)) from cancelled
        for future in [one for one in pending if one.status in ("finished", "error")]:
            # The worker that holds the result can die now; then it is computed again. Or the task
            # is cancelled, or the connection is lost, and the next look says why.
            result: Callable[[], Any] | None = None
            with suppress(OSError, CancelledError):
                if future.status == "error":
                    result = partial(_raise, future.exception(timeout=_PATIENCE))
                elif future.status == "finished":
                    result = partial(_return, future.result(timeout=_PATIENCE))
            if result is not None:
                yield future, result


def _look(futures: Sequence[Any]) -> CancelledError | None:
    """Wait until a task has finished or failed, a second at most; return why one is cancelled."""
    from distributed import wait as untyped

    wait: Any = untyped
    try:
        wait(futures, timeout=_CLUSTER_LOOKS, return_when="FIRST_COMPLETED")
    except TimeoutError:
        pass
    except CancelledError as error:
        return error
    except Exception as error:
        raise _gone() from error
    return None


def _return(result: Any) -> Any:
    return result


def _raise(error: BaseException) -> Any:
    raise error


def _unless_killed(result: Callable[[], Any], label: str) -> Any:
    """Return the answer on a block, or raise what it raised."""
    from distributed import KilledWorker

    try:
        return result()
    except KilledWorker as error:
        raise WorkerError(
            f"workers of the Dask cluster ended again and again in {label}: they crashed, "
            "were killed, or ran out of memory; see the workers' logs"
        ) from error
    except RuntimeError as error:
        if _NOT_LOADED not in str(error):
            raise
        cause = error.__cause__ or error
        raise WorkerError(
            "the scheduler of the Dask cluster cannot load the function or what it uses: "
            f"{type(cause).__name__}: {printable(str(cause))}; install the module on the scheduler "
            "and the workers, or define the function in the notebook or script that searches"
        ) from error


def _lost(restarted: bool) -> WorkerError:
    if restarted:
        return WorkerError(
            "the Dask cluster was restarted, and lost its tasks: client.restart() was called "
            "while the search ran; call again"
        )
    return WorkerError(
        "the Dask cluster cancelled tasks: client.restart() or client.cancel() was called, or a "
        "worker died with what only it had; call again"
    )


def _gone() -> WorkerError:
    return WorkerError(
        "the Dask cluster is gone: its scheduler cannot be reached; start a cluster again"
    )
