"""Answers on finished blocks, held until all blocks are there, and the levels made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sensitivity_lab.queries.returned import Answers
from sensitivity_lab.running.machine import Machine, in_pages


def hold(every: Any) -> list[Answers]:
    """Return answers, by query, in memory of their own."""
    return [_held(answers) for answers in every]


def _held(answers: Answers) -> Answers:
    # What a worker sent was put into memory by another thread, to which it would go back.
    copied = in_pages(answers.shape, answers.dtype)
    copied[...] = answers
    return copied


def level_of(
    lengths: Sequence[int], blocks: list[Answers], like: Answers, machine: Machine
) -> Answers:
    """Return the answers on all blocks of a level as one array of a type; empty the list."""
    starts = np.cumsum([0, *lengths]).tolist()
    level = in_pages((starts[-1], *like.shape[1:]), like.dtype)

    def fill(block: int) -> None:
        level[starts[block] : starts[block + 1]] = blocks[block]
        blocks[block] = np.empty(0)  # its memory is free

    machine.run(fill, range(len(blocks)))
    return level


def ends_of(held: Answers) -> Answers:
    """Return a few answers that fit into a type exactly if all of them do."""
    if held.dtype == np.int64:
        return np.stack([held.min(axis=0), held.max(axis=0)])
    return held[:1].copy()
