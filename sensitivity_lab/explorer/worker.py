"""The process that computes views: it reads a source and states, and writes views.

Run as ``python -m sensitivity_lab.explorer.worker``. Objects are pickled, one after the other. The
process is the child of one that started it, so nothing else can write to it.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any, BinaryIO

from .model import views


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more.

    Parameters
    ----------
    requests : binary file
        A `Source`, and then states, each with a number.
    answers : binary file
        Gets every view of a state, with its number.
    """
    source: Any = None
    while True:
        try:
            asked = pickle.load(requests)
        except EOFError:
            return
        if source is None:
            source = asked
            continue
        number, state = asked
        for view in views(source, state, progress=True):
            pickle.dump((number, view), answers)
            answers.flush()


if __name__ == "__main__":
    # Whatever is printed goes to the standard error stream, which shows the progress.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, answers)
