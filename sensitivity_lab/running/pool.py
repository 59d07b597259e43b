"""Running blocks of work, one after the other or by many workers, and keeping what is done."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from typing import Any, TypeVar

import joblib

from . import cluster, processes
from .block import Block, Keeper
from .progress import bar

Recipe = TypeVar("Recipe")
Answer = TypeVar("Answer")


def workers(n_jobs: int | None) -> int:
    """Return how many workers joblib would use, under whatever `parallel_config` is active."""
    return int(joblib.effective_n_jobs(n_jobs))


def run(
    function: Callable[[Recipe], Answer],
    blocks: Iterable[Block[Recipe]],
    *,
    total: int,
    n_jobs: int | None,
    progress: bool | None,
    unit: str = "datasets",
    keeper: Keeper | None = None,
    arrived: Callable[[Any], Any] | None = None,
    summary: Callable[[Answer], Any] | None = None,
) -> list[Any]:
    """Apply a function to every block's recipe.

    Parameters
    ----------
    function : callable
        Takes a recipe. Lambdas and closures work under every backend.
    blocks : iterable of Block
        Pieces of work that do not depend on each other.
    total : int
        The amount of work in all blocks together.
    n_jobs : int or None
        As in joblib: None means 1 unless `joblib.parallel_config` says otherwise. The backend is
        joblib's default or that of `parallel_config`.
    progress : bool or None
        Whether to show a progress bar; None shows one only on a terminal and only past a second.
    unit : str, default "datasets"
        What the lengths of blocks count.
    keeper : Keeper, optional
        Keeps every answer as soon as it is there.
    arrived : callable, optional
        Makes of an answer, in this process, what is held until all are there.
    summary : callable, optional
        Where a Dask cluster is used, answers stay with its workers, and `arrived` gets a `Left`,
        with what this function says there of the answer.

    Returns
    -------
    list
        The answers, in the order of the blocks.

    Raises
    ------
    InputError
        If the function cannot be sent to the workers, or joblib's backend does not give back
        answers one by one.
    WorkerError
        If a worker process ends twice in the same block, or the cluster goes away.
    """
    done = 0
    answers: dict[int, Any] = {}
    with bar(unit, progress, total) as shown:
        try:
            with closing(_produced(function, blocks, n_jobs, keeper, summary)) as produced:
                for place, length, answer in produced:
                    answers[place] = arrived(answer) if arrived else answer
                    done += length
                    shown.update(length)
        except KeyboardInterrupt:
            how = f"; {keeper.resume}" if keeper else ""
            told = f"{done:,} of {total:,} {unit} were done{how}"
            raise KeyboardInterrupt(told) from None
    return [answers[place] for place in range(len(answers))]


def _produced(
    function: Callable[[Recipe], Answer],
    blocks: Iterable[Block[Recipe]],
    n_jobs: int | None,
    keeper: Keeper | None,
    summary: Callable[[Answer], Any] | None,
) -> Generator[tuple[int, int, Any], None, None]:
    """Yield the place and length of every block with the answer on it, in any order."""
    if workers(n_jobs) == 1:
        for place, block in enumerate(blocks):
            answer = function(block.recipe)
            if keeper:
                keeper.keep(block.recipe, answer)
            yield place, block.length, answer
        return
    client = cluster.active_client()
    several: Sequence[Block[Recipe]] | Iterable[Block[Recipe]] = blocks
    if client is not None:
        yield from cluster.run(function, several, client, keeper, summary)
    else:
        yield from processes.run(function, several, n_jobs, keeper)
