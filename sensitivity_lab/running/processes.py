"""Blocks of work by joblib's workers on this machine, some of which may die; what they share."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from pickle import PicklingError
from typing import Any, Generic, TypeVar

import joblib
from joblib.externals.loky.backend.reduction import dumps

from sensitivity_lab.errors import InputError, WorkerError
from sensitivity_lab.files import folder_of_process, remove_abandoned, temporary_folder

from .time_limits import serve, workers_without_interrupts

Recipe = TypeVar("Recipe")

Produced = tuple[int, int, Any]
"""A block's place, its length, and the answer on it."""


@dataclass(frozen=True)
class Block(Generic[Recipe]):
    """A piece of work.

    Attributes
    ----------
    recipe : object
        A small description of the work.
    length : int
        The amount of work, for the progress bar.
    label : str
        What errors call the block.
    """

    recipe: Recipe
    length: int
    label: str = "a block"


PREFIX = "sensitivity_lab-"
"""How the names of temporary folders of processes and runs begin."""

_NOTE = "process.json"

_SHARED = "/dev/shm"
"""The folder of shared memory, where the system has one."""

_NAMES = ("sem.loky-{}-", "joblib_memmapping_folder_{}_")
"""How names there begin that belong to a process by its number."""


def will_share() -> None:
    """Note that shared memory belongs to this process; remove what dead processes have left."""
    parent = tempfile.gettempdir()
    remove_abandoned(parent, PREFIX, remove_shared)
    note = {"process": os.getpid(), "namespace": namespace()}
    folder = folder_of_process(parent, PREFIX, os.getpid())
    folder.mkdir(mode=0o700, exist_ok=True)  # systems clear old temporary folders
    # Each call writes it: a process that is killed meanwhile leaves the one before.
    written = folder / "written.json"
    written.write_text(json.dumps(note), encoding="utf-8")
    written.replace(folder / _NOTE)


def remove_shared(folder: Path) -> bool:
    """Remove the shared memory of the process that left a folder.

    Returns
    -------
    bool
        False if its number is in use again: then what is there may be that of another process.
    """
    try:
        note = json.loads((folder / _NOTE).read_text(encoding="utf-8"))
        process, space = int(note["process"]), note["namespace"]
    except (OSError, ValueError, TypeError, KeyError):
        return True  # of a run, or of a process that ended before it shared anything
    # In another container, the number may be that of a process that this one does not see.
    if space is None or space != namespace():
        return True
    if _runs(process):
        return False
    beginnings = tuple(name.format(process) for name in _NAMES)
    # Where shared memory is small, joblib has arrays in the second or third of these.
    for place in {_SHARED, os.environ.get("JOBLIB_TEMP_FOLDER", _SHARED), tempfile.gettempdir()}:
        with suppress(OSError):
            for path in Path(place).iterdir():
                if path.name.startswith(beginnings) and path.lstat().st_uid == os.geteuid():
                    if path.is_dir():
                        shutil.rmtree(path, ignore_errors=True)
                    else:
                        path.unlink(missing_ok=True)
    return True


def namespace() -> str | None:
    """Return in which space of numbers this process has its own; None where that is not known."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return None


def _runs(process: int) -> bool:
    """Tell whether a process has a number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@dataclass(frozen=True)
class _Task:
    """What a worker does with a block.

    Attributes
    ----------
    function : callable
        Pickled by value where plain pickle cannot.
    parent : int
        The process that the workers serve.
    begun : str
        A folder in which a file named by its place marks every block that is under way.
    """

    function: Callable[[Any], Any]
    parent: int
    begun: str

    def __call__(self, place: int, block: Block[Any]) -> Produced:
        mark = Path(self.begun, str(place))
        mark.touch()
        serve(self.parent, mark)
        answer = self.function(block.recipe)
        mark.unlink()
        return place, block.length, answer


def run(
    function: Callable[[Any], Any],
    blocks: Iterable[Block[Any]],
    n_jobs: int | None,
) -> Iterator[Produced]:
    """Yield what joblib's workers produce, as soon as it is there.

    If a worker dies, all answers that have not arrived are computed again: first the blocks that
    were under way, each alone, so that one that kills its worker twice can be named.
    """
    # Pickles by value what plain pickle cannot, which not every backend does by itself.
    portable = joblib.wrap_non_picklable_objects(function, keep_wrapper=False)
    given: Iterator[tuple[int, Block[Any]]] = enumerate(blocks)
    waiting: dict[int, Block[Any]] = {}
    will_share()
    with temporary_folder(tempfile.gettempdir(), PREFIX) as begun:
        task = _Task(portable, os.getpid(), str(begun))
        while True:
            try:
                for produced in _by_joblib(task, given, waiting, n_jobs):
                    waiting.pop(produced[0])
                    yield produced
                return
            except BrokenProcessPool:
                under_way = sorted(int(mark.name) for mark in begun.iterdir())
                for mark in begun.iterdir():
                    mark.unlink()
                suspects = [place for place in under_way if place in waiting]
                if not suspects:
                    raise _death("before it began a block") from None
                for place in suspects:
                    yield _alone(task, place, waiting.pop(place))
                given = _first(dict(waiting), given)
                waiting = {}


def _first(
    again: dict[int, Block[Any]], rest: Iterator[tuple[int, Block[Any]]]
) -> Iterator[tuple[int, Block[Any]]]:
    """Yield the blocks that have to be done again, then the rest."""
    yield from again.items()
    yield from rest


def _by_joblib(
    task: _Task,
    given: Iterator[tuple[int, Block[Any]]],
    waiting: dict[int, Block[Any]],
    n_jobs: int | None,
) -> Iterator[Produced]:
    """Yield what the workers produce; `waiting` tells which blocks were sent to them."""

    def calls() -> Iterator[Any]:
        for place, block in given:
            waiting[place] = block
            yield joblib.delayed(task)(place, block)

    try:
        # Blocks take seconds: none may wait for another one, nor travel together with it.
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    except ValueError as error:
        raise InputError(
            f"joblib refuses to work as parallel_config says: {error}; choose the backend 'loky', "
            "'threading' or 'dask'"
        ) from error
    produced: Generator[Produced, None, None] | None = None
    try:
        with workers_without_interrupts():
            produced = parallel(calls())
        for one in produced:  # noqa: UP028 -- `yield from` would close it without _close
            yield one
    except PicklingError as error:
        cause = _why_not_pickled(task) or error
        raise InputError(
            "the query cannot be sent to worker processes, because pickling it raised "
            f"{type(cause).__name__}: {cause}; use n_jobs=1, or threads: "
            "with joblib.parallel_config(backend='threading', n_jobs=2)"
        ) from error
    finally:
        if produced is not None:
            _close(produced)


def _why_not_pickled(task: _Task) -> BaseException | None:
    """Return what pickling a task raises.

    Joblib's error has it only if the task was pickled before a worker took it; else it has a text.
    """
    try:
        dumps(task)
    except Exception as error:  # noqa: BLE001 - any error of any object
        return (error.__context__ or error) if isinstance(error, PicklingError) else error
    return None


def _close(produced: Generator[Produced, None, None]) -> None:
    """Stop the workers if any are at work, as after Ctrl-C."""
    with warnings.catch_warnings():
        # Joblib's advice to give out fewer tasks; nobody knew that the search would be stopped.
        warnings.filterwarnings("ignore", ".* tasks .*", UserWarning)
        produced.close()


def _alone(task: _Task, place: int, block: Block[Any]) -> Produced:
    """Return what a worker produces from one block, while no other block is under way."""
    try:
        # With one job, joblib would run the block in this very process.
        (produced,) = joblib.Parallel(n_jobs=2)([joblib.delayed(task)(place, block)])
    except BrokenProcessPool:
        # A worker that is ended because its time is up says there where it was.
        where = Path(task.begun, str(place)).read_text(encoding="utf-8", errors="replace")
        raise _death(f"twice in {block.label}", where) from None
    found: Produced = produced
    return found


def _death(when: str, where: str = "") -> WorkerError:
    if where:
        error = WorkerError(
            f"a worker process was ended {when}: a call took longer than run=Run(timeout=...) "
            "allows and could not be interrupted, as compiled code cannot that does not return to "
            "Python; choose a larger timeout, or let the query answer these datasets in less "
            "time"
        )
        error.add_note(where)
        return error
    return WorkerError(
        f"a worker process ended {when}: it crashed, was killed, called os._exit, or ran out of "
        "memory; call the query there with n_jobs=1 to see which"
    )
