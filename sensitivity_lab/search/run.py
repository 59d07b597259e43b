"""Limits on the memory and time of a search; they never change its answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sensitivity_lab.checks import check_kind, check_seconds, check_whole
from sensitivity_lab.errors import InputError
from sensitivity_lab.queries import Query


@dataclass(frozen=True)
class Run:
    """The memory and time that a search may use; neither changes its answer.

    A call that does not support a setting refuses it with an error. The number of processes and the
    progress bar are arguments of the calls themselves: `n_jobs` and `progress`.

    Parameters
    ----------
    memory_limit : int, default 4 GiB
        The largest number of bytes that the search may plan to use besides the universe and the
        dataset, with any engine. A larger search is refused before it starts; the error says what
        needs the memory. Limits below a MiB count as one MiB. A listed neighbor takes 256 bytes.
    time_limit : float, optional
        The most seconds that the call may search, with any engine. After that, a TooLargeError says
        how far it came.
    timeout : float, optional
        The most seconds *per dataset* that a caller's function may take; refused for other queries.
        After that, a QueryError
        names the dataset, even if the function catches every exception. Compiled code that does
        not return to Python can only be ended with its process: with ``n_jobs=2`` that is a worker,
        except for the first few datasets, and the error is a WorkerError. A timeout needs worker
        processes or the main thread, and does not work on Windows.

    Raises
    ------
    InputError
        If a limit is not a positive number.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain(range(50))
    >>> run = sl.Run(memory_limit=2**30, time_limit=10)
    >>> sl.global_sensitivity(universe, "sum", size=9, neighbors="bounded", run=run).value
    49.0
    """

    memory_limit: int = 4 * 2**30
    time_limit: float | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        """Check the limits."""
        most = check_whole("memory_limit", self.memory_limit, "a number of bytes, at least 1")
        object.__setattr__(self, "memory_limit", most)
        check_seconds.or_none("time_limit", self.time_limit)
        check_seconds.or_none("timeout", self.timeout)


def check_run(run: Any, queries: Iterable[Query] = ()) -> Run:
    """Return how to run a search; raise InputError if that is no `Run`, or its timeout is useless.

    Parameters
    ----------
    run : Run
        What the caller gave.
    queries : iterable of Query, default ()
        Those of the search; a timeout is for callers' functions.
    """
    checked: Run = check_kind("run", run, Run, "a Run, such as Run(memory_limit=2**30)")
    asked = list(queries)
    if checked.timeout is not None and asked and all(one.arithmetic == "exact" for one in asked):
        raise InputError(
            f"timeout is the most seconds per dataset of a caller's function, and {asked[0].name} "
            f"is none; for the whole search use Run(time_limit={checked.timeout:g})"
        )
    return checked
