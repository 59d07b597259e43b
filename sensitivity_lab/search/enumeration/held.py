"""Answers on finished blocks, held until all blocks are there, and the levels made of them.

They are held in memory or in a file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sensitivity_lab.queries.returned import Answers
from sensitivity_lab.running.machine import Machine, give_back, in_pages, no_room


@dataclass(frozen=True)
class InFile:
    """Answers that were appended to a file.

    Attributes
    ----------
    file : binary file
    offset : int
        Where they begin, in bytes.
    shape : tuple of int
        Of the array of answers.
    ends : ndarray
        See `ends_of`.
    """

    file: Any
    offset: int
    shape: tuple[int, ...]
    ends: Answers


Held = Answers | InFile


class Shelf:
    """Takes answers in, and gives what stands for them.

    Parameters
    ----------
    machine : Machine
        Its folder is where the file is that takes answers; without one they stay in memory. Python
        numbers and Fractions always do.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._file: Any = None

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def put(self, every: Any) -> list[Held]:
        """Take answers in, by query."""
        return [self._put(answers) for answers in every]

    def _put(self, answers: Answers) -> Held:
        folder = self._machine.folder
        if folder is None or answers.dtype.hasobject:
            # What a worker sent was put into memory by another thread, to which it would go back.
            copied = in_pages(answers.shape, answers.dtype)
            copied[...] = answers
            return copied
        with no_room(folder, answers.nbytes):
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - nameless
            offset = self._file.seek(0, 2)
            self._file.write(np.ascontiguousarray(answers).data)
            self._file.flush()
        return InFile(self._file, offset, answers.shape, ends_of(answers))

    def level(self, lengths: Sequence[int], blocks: list[Held], like: Answers) -> Answers:
        """Return the answers on all blocks of a level as one array of a type; empty the list."""
        starts = np.cumsum([0, *lengths]).tolist()
        level = self._machine.empty((starts[-1], *like.shape[1:]), like.dtype)

        def fill(block: int) -> None:
            level[starts[block] : starts[block + 1]] = load(blocks[block])
            give_back(level)
            blocks[block] = np.empty(0)  # its memory is free

        machine = self._machine if self._file is None else Machine()
        machine.run(fill, range(len(blocks)))
        return level


def ends_of(held: Held) -> Answers:
    """Return a few answers that fit into a type exactly if all of them do."""
    if isinstance(held, InFile):
        return held.ends
    if held.dtype == np.int64:
        return np.stack([held.min(axis=0), held.max(axis=0)])
    return held[:1].copy()


def load(held: Held) -> Answers:
    """Return answers as they were put."""
    if not isinstance(held, InFile):
        return held
    held.file.seek(held.offset)
    kind, number = held.ends.dtype, int(np.prod(held.shape))
    data: bytes = held.file.read(number * kind.itemsize)
    return np.frombuffer(data, kind, number).reshape(held.shape)
