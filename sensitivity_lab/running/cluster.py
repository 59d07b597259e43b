"""Blocks of work on a Dask cluster, some of whose processes may die.

joblib's own backend for Dask waits forever when the cluster goes away, because its futures are
cancelled without a call back. So blocks are submitted to the cluster's client directly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from sensitivity_lab.errors import WorkerError, printable

from .block import Block, Keeper, Produced, to_go_on

_PATIENCE = 10.0
"""A scheduler that cannot be reached for so many seconds is gone."""

_CLUSTER_LOOKS = 1.0
"""Seconds between two looks whether the cluster is still there."""


_RESTART = "scheduler-restart"
"""What Dask names as the reason after `client.restart()`; older versions name none."""

_NOT_LOADED = "deserialization of the task graph"
"""What Dask says where its scheduler cannot unpickle the tasks; the cause is the error's."""


class Left(NamedTuple):
    """An answer that stays with a worker.

    Attributes
    ----------
    future : distributed.Future
        Of the answer.
    summary : object
        What was asked about it.
    """

    future: Any
    summary: Any


def active_client() -> Any:
    """Return the client of the Dask cluster that `joblib.parallel_config` names; None if none."""
    from joblib.parallel import get_active_backend  # when it is first needed: it takes a while

    backend, _ = get_active_backend()
    return backend.client if type(backend).__name__ == "DaskDistributedBackend" else None


def run(
    function: Callable[[Any], Any],
    blocks: Iterable[Block[Any]],
    client: Any,
    keeper: Keeper | None,
    summary: Callable[[Any], Any] | None = None,
) -> Iterator[Produced]:
    """Yield what the cluster produces, as soon as it is there; a `Left` if there is a `summary`.

    The scheduler repeats a block whose worker died, as often as ``allowed-failures`` of its
    configuration says. Answers are kept by the workers that see the keeper's folder, and by this
    process, because others may not share a disk with it.
    """
    import joblib

    portable = joblib.wrap_non_picklable_objects(function, keep_wrapper=False)
    if keeper is not None:
        portable = KeptByWorkers(portable, keeper)
    listed = list(blocks)
    answers = client.map(portable, [block.recipe for block in listed], pure=False)
    futures = answers if summary is None else client.map(summary, answers, pure=False)
    lefts = [None] * len(futures) if summary is None else answers
    places = {future: place for place, future in enumerate(futures)}
    del futures, answers
    try:
        for future, result in finished(places, client, keeper):
            place = places.pop(future)
            del future
            answer = unless_killed(result, listed[place].label, keeper)
            if keeper is not None:
                whole = answer if summary is None else lefts[place].result()  # type: ignore[union-attr]
                keeper.keep(listed[place].recipe, whole)
            yield (
                place,
                listed[place].length,
                answer if summary is None else Left(lefts[place], answer),
            )
            lefts[place] = None
    finally:
        if places and client.status == "running":
            client.cancel([*places, *filter(None, lefts)], force=True)


@dataclass(frozen=True)
class KeptByWorkers:
    """A function whose answers a worker keeps at once, where it can.

    A worker that dies takes with it what was not fetched yet. The one that does it again finds it.
    """

    function: Callable[[Any], Any]
    keeper: Keeper

    def __call__(self, recipe: Any) -> Any:
        """Return the answer on a block, evaluated or kept."""
        if not self.keeper.checkpoint.is_here:
            return self.function(recipe)
        answer = self.keeper.found(recipe)
        if answer is None:
            answer = self.function(recipe)
            self.keeper.keep(recipe, answer)
        return answer


def settle(futures: Sequence[Any], client: Any, label: str) -> None:
    """Wait for tasks whose results stay with the workers.

    Raises
    ------
    WorkerError
        If a task's workers die again and again, or the cluster goes away.
    """
    watch = _Watch(client, None)
    while True:
        done = watch.look(futures, "ALL_COMPLETED")
        with suppress(CancelledError):  # meanwhile; the next look says why
            failures = [one.exception(_PATIENCE) for one in done if one.status == "error"]
            for failure in failures:
                unless_killed(partial(_raise, failure), label, None)
            if len(done) == len(futures):
                return


def fetch(futures: Sequence[Any], client: Any, label: str) -> list[Any]:
    """Return what tasks returned, in order; raises as `settle` does."""
    gather = partial(client.gather, list(futures), asynchronous=True)
    while True:
        settle(futures, client, label)
        # A worker that holds a result can die now; then it is computed again.
        with suppress(TimeoutError, CancelledError):
            return list(client.sync(gather, callback_timeout=_PATIENCE))


def finished(
    pending: dict[Any, int], client: Any, keeper: Keeper | None
) -> Iterator[tuple[Any, Callable[[], Any]]]:
    """Yield futures as they finish, each with a call that returns or raises its result.

    The caller takes them out of `pending`. WorkerError if the cluster goes away.
    """
    watch = _Watch(client, keeper)
    while pending:
        for future in watch.look(list(pending), "FIRST_COMPLETED"):
            # The worker that holds the result can die now; then it is computed again. Or the task
            # is cancelled, and the next look says why.
            result: Callable[[], Any] | None = None
            with suppress(TimeoutError, CancelledError):
                if future.status == "error":
                    result = partial(_raise, future.exception(timeout=_PATIENCE))
                elif future.status == "finished":
                    result = partial(_return, future.result(timeout=_PATIENCE))
            if result is not None:
                yield future, result


class _Watch:
    """Looks at tasks on a cluster, and at whether it is still there."""

    def __init__(self, client: Any, keeper: Keeper | None) -> None:
        self._client = client
        self._keeper = keeper
        self._reached = time.monotonic()

    def look(self, futures: Sequence[Any], until: str) -> Sequence[Any]:
        """Return the futures that have finished or failed, after a second at most.

        Raises
        ------
        WorkerError
            If the cluster is gone.
        """
        from distributed import wait as untyped

        wait: Any = untyped
        cancelled: CancelledError | None = None
        try:
            wait(list(futures), timeout=_CLUSTER_LOOKS, return_when=until)
        except TimeoutError:
            pass
        except CancelledError as error:
            cancelled = error
        except Exception as error:
            raise _gone(self._keeper) from error
        if self._client.status == "running":
            self._reached = time.monotonic()
        elif time.monotonic() - self._reached > _PATIENCE or self._client.status == "closed":
            raise _gone(self._keeper)
        if cancelled or any(future.status == "cancelled" for future in futures):
            time.sleep(_CLUSTER_LOOKS)  # the news that the scheduler is gone may be under way
            if self._client.status != "running":
                raise _gone(self._keeper) from cancelled
            raise _lost(self._keeper, _RESTART in str(cancelled)) from cancelled
        return [future for future in futures if future.status in ("finished", "error")]


def _return(result: Any) -> Any:
    return result


def _raise(error: BaseException) -> Any:
    raise error


def unless_killed(result: Callable[[], Any], label: str, keeper: Keeper | None) -> Any:
    """Return the answer on a block, or raise what it raised."""
    from distributed import KilledWorker

    try:
        return result()
    except KilledWorker as error:
        raise WorkerError(
            f"workers of the Dask cluster ended again and again in {label}: they crashed, "
            f"were killed, or ran out of memory; see the workers' logs{to_go_on(keeper)}"
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


def _lost(keeper: Keeper | None, restarted: bool) -> WorkerError:
    if restarted:
        return WorkerError(
            f"the Dask cluster was restarted, and lost its tasks: client.restart() was called "
            f"while the search ran; call again{to_go_on(keeper)}"
        )
    return WorkerError(
        "the Dask cluster cancelled tasks: client.restart() or client.cancel() was called, or a "
        "worker died with what only it had, such as blocks of a checkpoint; call again"
        f"{to_go_on(keeper)}"
    )


def _gone(keeper: Keeper | None) -> WorkerError:
    return WorkerError(
        "the Dask cluster is gone: its scheduler cannot be reached; start a cluster again"
        f"{to_go_on(keeper)}"
    )
