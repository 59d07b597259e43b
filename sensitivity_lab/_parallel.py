"""Running independent pieces of work; the only importer of joblib and of the progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pickle import PicklingError
from typing import Any, TypeVar

import joblib
from tqdm import tqdm

from .errors import InputError

Recipe = TypeVar("Recipe")
Answer = TypeVar("Answer")


def workers(n_jobs: int | None) -> int:
    """Return how many workers joblib would use, under whatever `parallel_config` is active."""
    return int(joblib.effective_n_jobs(n_jobs))


def run(
    function: Callable[[Recipe], Answer],
    recipes: Iterable[Recipe],
    lengths: Sequence[int],
    *,
    n_jobs: int | None,
    progress: bool | None,
) -> list[Answer]:
    """Apply a function to every recipe, in order.

    Parameters
    ----------
    function : callable
        Takes a recipe. Lambdas and closures work under every backend.
    recipes : iterable
        Small descriptions of pieces of work.
    lengths : sequence of int
        The amount of work in each recipe, for the progress bar.
    n_jobs : int or None
        As in joblib: None means 1 unless `joblib.parallel_config` says otherwise. The backend is
        joblib's default or that of `parallel_config`.
    progress : bool or None
        Whether to show a progress bar; None shows one only on a terminal and only past a second.

    Returns
    -------
    list
        The answers, in the order of the recipes.

    Raises
    ------
    InputError
        If the function cannot be sent to the workers, or joblib's backend does not give back
        answers one by one.
    """
    bar = tqdm(
        total=sum(lengths),
        unit=" datasets",
        unit_scale=True,
        disable=None if progress is None else not progress,
        delay=1 if progress is None else 0,
        leave=False,
    )
    answers: list[Any] = []
    with bar:
        produced: Iterator[Answer]
        if workers(n_jobs) == 1:
            produced = map(function, recipes)
        else:
            produced = _by_workers(function, recipes, n_jobs)
        for length, answer in zip(lengths, produced, strict=True):
            answers.append(answer)
            bar.update(length)
    return answers


def _by_workers(
    function: Callable[[Recipe], Answer], recipes: Iterable[Recipe], n_jobs: int | None
) -> Iterator[Answer]:
    """Yield the answers as joblib's workers give them back, in order."""
    # Pickles by value what plain pickle cannot, which not every backend does by itself.
    portable = joblib.wrap_non_picklable_objects(function, keep_wrapper=False)
    try:
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator")
    except ValueError as error:
        raise InputError(
            f"joblib refuses to work as parallel_config says: {error}; choose the backend 'loky', "
            "'threading' or 'dask'"
        ) from error
    try:
        yield from parallel(joblib.delayed(portable)(recipe) for recipe in recipes)
    except PicklingError as error:
        cause = error.__context__ or error
        raise InputError(
            "the query cannot be sent to worker processes, because pickling it raised "
            f"{type(cause).__name__}: {cause}; use n_jobs=1, or threads: "
            "with joblib.parallel_config(backend='threading', n_jobs=2)"
        ) from error


@contextmanager
def counter(unit: str, progress: bool | None) -> Iterator[Callable[[int], object]]:
    """Show how much work of unknown length is done; `progress` is that of `run`.

    Yields
    ------
    callable
        To be told of every piece of work by its amount.
    """
    with tqdm(
        unit=f" {unit}",
        unit_scale=True,
        disable=None if progress is None else not progress,
        delay=1 if progress is None else 0,
        leave=False,
    ) as bar:
        yield bar.update


def tracked(items: Sequence[Recipe], *, unit: str, progress: bool | None) -> Iterator[Recipe]:
    """Yield the items, with a progress bar that counts them; `progress` is that of `run`."""
    yield from tqdm(
        items,
        unit=f" {unit}",
        disable=None if progress is None else not progress,
        delay=1 if progress is None else 0,
        leave=False,
    )
