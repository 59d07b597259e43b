"""What a search may use of the machine: memory, time, and folders; its answer is the same."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.running.checkpoint import as_folder
from sensitivity_lab.running.guards import check_timeout
from sensitivity_lab.universes.relations import check_whole


@dataclass(frozen=True)
class Run:
    """What a search may use of the machine; nothing here changes its answer.

    Every call takes as its argument `run` what it has a use for, and refuses the rest in words.
    How many processes work, and whether progress is shown, are arguments of the calls themselves:
    `n_jobs` and `progress`.

    Parameters
    ----------
    memory_limit : int, default 4 GiB
        The largest number of bytes that the search may plan to use beside the universe and the
        dataset, with any engine; beyond, it refuses before it starts, and says what would take it.
        Limits below a MiB count as one. A listed neighbor takes 256 bytes. On a Dask cluster the
        memory of all workers limits enumeration instead.
    timeout : float, optional
        The most seconds that a caller's function may take for one dataset; beyond, a QueryError
        names the dataset, also where the function catches every exception. Compiled code that does
        not return to Python can only be ended with its process: with ``n_jobs=2`` that is a worker,
        but for the first few datasets, and the error is a WorkerError. A limit needs worker
        processes or the main thread, and no Windows.
    checkpoint : str or path, optional
        A folder in which finished blocks of evaluations are kept, so that a later call with the
        same arguments goes on where this one was killed. Neighbors and distances may differ then.
    scratch : str or path, optional
        A folder in which large arrays live, in files that vanish with the search; then the room
        on its disk limits the search, instead of `memory_limit`.

    Raises
    ------
    InputError
        If a limit is no positive number, or a folder is not the path of one.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain(range(50))
    >>> run = sl.Run(memory_limit=2**30, timeout=10)
    >>> sl.global_sensitivity(universe, "sum", size=9, neighbors="bounded", run=run).value
    49.0
    """

    memory_limit: int = 4 * 2**30
    timeout: float | None = None
    checkpoint: str | Path | None = None
    scratch: str | Path | None = None

    def __post_init__(self) -> None:
        """Check the limits, and that folders are paths; no folder is made."""
        check_whole("memory_limit", self.memory_limit, "a number of bytes, at least 1")
        check_timeout(self.timeout)
        for name in ("checkpoint", "scratch"):
            if getattr(self, name) is not None:
                as_folder(name, getattr(self, name))


def check_run(run: Any, call: str, *useless: str) -> Run:
    """Return how to run a search; raise InputError if that is no `Run`, or sets what is useless.

    Parameters
    ----------
    run : Run
        What the caller gave.
    call : str
        The name of the call.
    *useless : str
        The fields that the call has no use for.
    """
    if not isinstance(run, Run):
        raise InputError(f"run must be a Run, such as Run(memory_limit=2**30), got {shown(run)}")
    for field in fields(run):
        if field.name in useless and getattr(run, field.name) != field.default:
            raise InputError(
                f"{call} has no use for {field.name}; leave it out of run, "
                f"got {shown(getattr(run, field.name))}"
            )
    return run


def open_scratch(run: Run) -> str | None:
    """Return the absolute path of the folder for large arrays, made if need be.

    Raises
    ------
    InputError
        If no file can be written there.
    """
    if run.scratch is None:
        return None
    path = as_folder("scratch", run.scratch)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return str(path)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise InputError(
            f"scratch must be a folder in which files can be written, got {shown(str(path))}: {why}"
        ) from None
