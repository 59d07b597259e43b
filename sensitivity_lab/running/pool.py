"""Running blocks of work, one after the other or by many workers."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

from .processes import Block
from .progress import bar

Recipe = TypeVar("Recipe")
Answer = TypeVar("Answer")

now = time.perf_counter
"""The clock."""

_START = 1.5
"""Seconds that worker processes take to start, mostly to import; more on a busy machine."""

_SHORT = 0.1
"""Work that takes fewer seconds is done in this process even where workers are there already."""

_SAMPLE = 0.1
"""A sample of so many seconds is trusted: no moment of the system's own counts in it."""

_SURE = 10
"""A shorter sample is trusted where workers would save so many times what they take to start."""


@dataclass(frozen=True)
class Sample:
    """Work that was done in this process, to see how long the rest takes.

    Attributes
    ----------
    amount : int
        How much; 0: nothing yet.
    seconds : float
        How long it took.
    """

    amount: int = 0
    seconds: float = 0.0

    def __add__(self, other: Sample) -> Sample:
        return Sample(self.amount + other.amount, self.seconds + other.seconds)

    @property
    def each(self) -> float:
        """How many seconds a unit takes; 0 if that is not known."""
        return self.seconds / self.amount if self.amount else 0.0


def timed(
    function: Callable[[Recipe], Answer], recipe: Recipe, amount: int
) -> tuple[Answer, Sample]:
    """Return what a function returns, with how long it took for so much work."""
    started = now()
    answer = function(recipe)
    return answer, Sample(amount, now() - started)


def workers(n_jobs: int | None) -> int:
    """Return how many workers joblib would use, under whatever `parallel_config` is active."""
    import joblib  # here and below when it is first needed: the package's own import is short

    return int(joblib.effective_n_jobs(n_jobs))


def run(
    function: Callable[[Recipe], Answer],
    blocks: Iterable[Block[Recipe]],
    *,
    total: int,
    n_jobs: int | None,
    progress: bool | None,
    unit: str = "datasets",
    arrived: Callable[[Any], Any] | None = None,
    sample: Sample | None = None,
    apart: bool = False,
) -> list[Any]:
    """Apply a function to every block's recipe.

    The first blocks are done in this process, until it is known how long the rest takes. Worker
    processes are started only for a rest that they shorten by more than they take to start; see
    `_pays`.

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
        joblib's default or that of `parallel_config`; one that is named there is used for all but
        the shortest work, whether it pays or not.
    progress : bool or None
        Whether to show a progress bar; None shows one only on a terminal and only past a second.
    unit : str, default "datasets"
        What the lengths of blocks count.
    arrived : callable, optional
        Makes of an answer, in this process, what is held until all are there.
    sample : Sample, optional
        Work of this kind that the caller has timed already, without its first piece, which may
        have to import and to make tables.
    apart : bool, default False
        Whether workers are wanted to keep the work apart from this process, as where its time is
        limited: then they are started for all but the shortest work, too.

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
        If a worker process ends twice in the same block.
    """
    done = 0
    answers: dict[int, Any] = {}
    with bar(unit, progress, total) as shown:
        try:
            with closing(_produced(function, blocks, total, n_jobs, sample, apart)) as produced:
                for place, length, answer in produced:
                    answers[place] = arrived(answer) if arrived else answer
                    done += length
                    shown.update(length)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{done:,} of {total:,} {unit} were done") from None
    return [answers[place] for place in range(len(answers))]


def _produced(
    function: Callable[[Recipe], Answer],
    blocks: Iterable[Block[Recipe]],
    total: int,
    n_jobs: int | None,
    sample: Sample | None,
    apart: bool,
) -> Generator[tuple[int, int, Any], None, None]:
    """Yield the place and length of every block with the answer on it, in any order."""
    given = enumerate(blocks)
    left = total
    for place, block in given:
        if _pays(sample or Sample(), left, n_jobs, apart):
            from . import processes  # where there are no processes, one job needs none

            rest = chain([block], (later for _, later in given))
            for further, length, answer in processes.run(function, rest, n_jobs):
                yield place + further, length, answer
            return
        answer, own = timed(function, block.recipe, block.length)
        # The very first block may have had to import. What takes longer than that is believed.
        if sample is not None or own.seconds > _START:
            sample = (sample or Sample()) + own
        else:
            sample = Sample()
        left -= block.length
        yield place, block.length, answer


def _pays(sample: Sample, left: int, n_jobs: int | None, apart: bool) -> bool:
    """Tell whether to hand the rest of the work, so much of it, to workers now."""
    number = workers(n_jobs)
    if number == 1:
        return False
    rest = sample.each * left
    if apart or not must_start(number):
        return not sample.amount or rest >= _SHORT
    saved = rest * (1 - 1 / number)
    return saved > (_START if sample.seconds >= _SAMPLE else _SURE * _START)


@contextmanager
def calls(n_jobs: int | None) -> Iterator[Callable[[Callable[..., Any], list[Any]], list[Any]]]:
    """Yield what calls a function with each of several tuples of arguments, in order.

    With several jobs that is done by worker processes, which stay until the end.
    """
    number = workers(n_jobs)
    if number == 1:
        yield lambda function, given: [function(*one) for one in given]
        return
    import joblib

    with joblib.Parallel(n_jobs=number) as parallel:
        yield lambda function, given: parallel(joblib.delayed(function)(*one) for one in given)


def must_start(number: int) -> bool:
    """Tell whether so many workers are processes that joblib has to start by its own choice.

    Threads and the workers of a cluster are there, and so are processes of an earlier call, for a
    few minutes. A backend that the caller named is what the caller wants.
    """
    from joblib.parallel import get_active_backend

    # joblib makes its default anew each time; the one that was named is one object.
    backend, again = get_active_backend()[0], get_active_backend()[0]
    if backend is again or getattr(backend, "uses_threads", False):
        return False
    alive = [one for one in multiprocessing.active_children() if "Loky" in type(one).__name__]
    return len(alive) < number


def in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process of its own, which ends with the call.

    What the function raises is raised here.

    Parameters
    ----------
    function : callable
        Pickled by value where plain pickle cannot, as a function of a notebook.
    *arguments
        Of the function.
    """
    from joblib.externals.loky import ProcessPoolExecutor

    from .processes import will_share

    will_share()
    with ProcessPoolExecutor(max_workers=1) as process:
        return process.submit(function, *arguments).result()
