"""What the command line prints, to an output that may be full or closed."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from sensitivity_lab.results.reprs import printable

_WORDS = (
    (r"\bmemory_limit\b", "--memory-limit"),
    (
        r"call again with the same arguments and checkpoint=('.*') to go on",
        "to go on, give the same command again",
    ),
    (r"\bscratch=, ", "--scratch, "),
    (r"\bfree in scratch='", "free in --scratch '"),
    (r"^scratch must be None or", "--scratch must be"),
    (r"^scratch must\b", "--scratch must"),
    (r"\bn_jobs must be None or", "--jobs must be"),
    (r"\bdirection='remove'", "--direction remove"),
    (r"^(column '.*': )?size must\b", r"\1--size must"),
    (r"^k must\b", "--distance must"),
    (r"^a distance must\b", "--distances must"),
    (r"^copies must\b", "--copies must"),
    (r"^path: ", "--output: "),
    (r"^(timeout|limit) must\b", r"--\1 must"),
    (r", a query such as Percentile\(25\), or a function of a 1-D array$", ""),
    (r", or give functions names with from_function\(\.\.\., name=\.\.\.\)$", ""),
    (r"\ban int, float, Fraction or Decimal, got (.*) \(\w+\) at", r"a number, got \1 at"),
)
"""Patterns in the library's errors, and what they are called on the command line."""


def in_options(message: str) -> str:
    """Return an error's message on one line, its advice in options instead of arguments.

    Examples
    --------
    >>> in_options("choose a smaller size or a larger memory_limit")
    'choose a smaller size or a larger --memory-limit'
    """
    line = " ".join(message.split())
    for pattern, said in _WORDS:
        line = re.sub(pattern, said, line)
    return line


class Session:
    """A run of a command. Once standard output fails, it prints nothing more; the work goes on.

    Attributes
    ----------
    command : str
        The program and its command, such as "sensitivity-lab curves".
    doing : str
        What it is doing, for the message if it is interrupted.
    failure : str or None
        Why standard output cannot be written to. None also if a reader, such as ``head``, left.
    """

    def __init__(self, program: str) -> None:
        self.command = program
        self.doing = "reading the arguments"
        self.failure = None if sys.stdout else "it is closed"
        self._open = self.failure is None

    def say(self, text: str) -> None:
        """Write lines, without control characters and characters that the terminal lacks."""
        lines = "\n".join(map(printable, text.split("\n")))
        if self._open:
            self._try(lambda: _write(lines, sys.stdout))

    def flush(self) -> None:
        """Write what is still in the buffer."""
        if self._open:
            self._try(sys.stdout.flush)

    def complain(self, message: str) -> None:
        """Write one line that begins with the command to standard error."""
        complain(f"{self.command}: {message}")

    def _try(self, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            self._open = False
            if not isinstance(error, BrokenPipeError):
                self.failure = error.strerror or str(error)
            # The interpreter flushes when it exits; now it has nothing to complain about.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(line: str) -> None:
    """Write a line to standard error; if that fails, only the exit code tells."""
    if sys.stderr:
        with suppress(OSError):
            _write(printable(line), sys.stderr)


def _write(lines: str, stream: TextIO) -> None:
    encoding = stream.encoding or "utf-8"
    stream.write(lines.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()
