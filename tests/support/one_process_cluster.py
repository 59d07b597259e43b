"""A stand-in for the client of a Dask cluster, which does everything in this process at once."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

from sensitivity_lab.running import spread
from sensitivity_lab.search import engine


class Future:
    """What a task returned, behind a wall: only tasks and `fetch` look at it."""

    def __init__(self, value):
        self.value = value


class Client:
    """The calls of a client that a search makes. What a worker would get has to survive pickle."""

    def __init__(self, memory: int = 2**30) -> None:
        self.memory = memory
        self.tasks = 0

    def map(self, function, *arguments, pure):
        assert not pure  # a function of the caller's may answer differently tomorrow
        function = pickle.loads(pickle.dumps(function))
        self.tasks += len(arguments[0])
        return [Future(function(*map(within, one))) for one in zip(*arguments, strict=True)]

    def scatter(self, values):
        return [Future(value) for value in values]

    def scheduler_info(self, n_workers):
        assert n_workers == -1
        return {"workers": {name: {"memory_limit": self.memory} for name in "ab"}}


def within(argument):
    """What a task gets for an argument: results for futures, also in lists."""
    if isinstance(argument, list):
        return [within(one) for one in argument]
    return argument.value if isinstance(argument, Future) else pickle.loads(pickle.dumps(argument))


@contextmanager
def one_process_cluster(part: int = 1, **workers) -> Iterator[Client]:
    """Let arrays of any size live on a cluster that is this process, in parts of a few numbers."""
    client = Client(**workers)
    with ExitStack() as stack:
        for module, name, value in (
            (engine, "active_client", lambda: client),
            (engine, "HERE", 0),
            (spread, "_PART", part),
            (spread, "settle", mock.Mock()),
            (spread, "fetch", lambda futures, *_: [one.value for one in futures]),
        ):
            stack.enter_context(mock.patch.object(module, name, value))
        yield client
