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
        A `Source`, and then states.
    answers : binary file
        Gets every view of every state.
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
        for view in views(source, asked, progress=True):
            pickle.dump(view, answers)
            answers.flush()


if __name__ == "__main__":
    # Whatever is printed goes to the standard error stream, which shows the progress.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)
