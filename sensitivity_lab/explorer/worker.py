"""The process that computes views: it reads a source and states, and writes views.

Run as ``python -m sensitivity_lab.explorer.worker``. Objects are pickled, one after the other. Only
the parent process can write to it.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

from .model import views


def serve(requests: BinaryIO, answers: BinaryIO, at_end: Callable[[], Any] = lambda: None) -> None:
    """Answer requests until there are no more.

    Parameters
    ----------
    requests : binary file
        A `Source`, and then states.
    answers : binary file
        Gets every view of every state.
    at_end : callable
        Called when the requests end, even while a state is computed: no one waits for it then.
    """
    waiting: SimpleQueue[Any] = SimpleQueue()

    def read() -> None:
        with suppress(EOFError):
            while True:
                waiting.put(pickle.load(requests))
        at_end()
        waiting.put(None)

    Thread(target=read, daemon=True).start()
    source = waiting.get()
    while (state := waiting.get()) is not None:
        for view in views(source, state, progress=True):
            pickle.dump(view, answers)
            answers.flush()


if __name__ == "__main__":
    # All output goes to the standard error stream, which shows the progress.
    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # A search does not outlive the notebook that started it.
    serve(sys.stdin.buffer, stream, at_end=lambda: os._exit(0))
