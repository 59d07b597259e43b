"""What the command line prints, to an output that may be full or closed."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from sensitivity_lab.checks import number_text
from sensitivity_lab.errors import printable
from sensitivity_lab.results.literals import json_ready
from sensitivity_lab.results.sensitivity import Sensitivity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WORDS = (
    (r"\bmemory_limit\b", "--memory-limit"),
    (r"\bUniverse\.from_domain\(values\)", "--domain NAME=VALUES"),
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
    (r"^(beta|bins|categories|copies|delta|epsilon|norm|sizes|split) (must|is|for)\b", r"--\1 \2"),
    (r"^(delta|epsilon): ", r"--\1: "),
    (r"(^--split .*), or a mapping of their names to such numbers", r"\1"),
    (r"^split\['(.*?)'\] must", r"--split: the share of '\1' must"),
    (r"\bpass public_universe=True", "give --public-universe"),
    (r"\bsize=range\(2, 1001\)", "--size 2-1000"),
    (r"\bleave out copies, or set copies=", "leave out --copies, or give --copies "),
    (r"\bgive sizes=\(smallest, largest\)", "give --sizes SMALLEST-LARGEST"),
    (
        r"for a larger one use Cauchy noise \(smooth_cauchy_scale\)$",
        "for a larger one leave out --delta",
    ),
    (
        r"cannot be compared with the bins; give categories$",
        "cannot be compared with --bins; give --categories",
    ),
    (r"; pass allow_missing=True to make them ordinary values, or drop", "; drop"),
    (r"(give|choose another) (epsilon|delta) or split$", r"\1 --\2 or --split"),
    (
        r"`evidence\.lines` and `to_dict\(\)` have the datasets whole",
        "--json prints the datasets whole",
    ),
    (r"^path: ", "--output: "),
    (r", a query such as Percentile\(25\), or a function of a 1-D array(?=$|; did)", ""),
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
    return with_options(" ".join(message.split()))


def with_options(text: str) -> str:
    """Return a text of the library with options instead of arguments, its lines as they are."""
    for pattern, said in _WORDS:
        text = re.sub(pattern, said, text)
    return text


class Session:
    """A run of a command. Once standard output fails, it prints nothing more; the work goes on.

    Attributes
    ----------
    command : str
        The program and its command, such as "sensitivity-lab curves".
    as_json : bool
        Whether answers are printed as JSON.
    doing : str
        What it is doing, for the message if it is interrupted.
    failure : str or None
        Why standard output cannot be written to. None also if a reader, such as ``head``, left.
    """

    def __init__(self, program: str) -> None:
        self.command = program
        self.as_json = False
        self.doing = "reading the arguments"
        self.failure = None if sys.stdout else "it is closed"
        self._open = self.failure is None

    def say(self, text: str) -> None:
        """Write lines, without control characters and characters that the terminal lacks."""
        lines = "\n".join(map(printable, text.split("\n")))
        if self._open:
            self._try(lambda: _write(lines, sys.stdout))

    def tell(self, answer: object, data: Callable[[], Any]) -> None:
        """Write an answer as text, or what it tells as JSON: in ASCII, on one line."""
        self.say(json.dumps(json_ready(data()), allow_nan=False) if self.as_json else str(answer))

    def comment(self, text: str) -> None:
        """Write lines beside an answer, which JSON has no place for."""
        if not self.as_json:
            self.say(text)

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


def with_numbers(result: Sensitivity) -> str:
    """Return a result as text, with its numbers in full."""
    exact = "none: not a rational number" if result.exact is None else number_text(result.exact)
    return (
        f"{result}\n  value      {result.value!r}\n  exact      {exact}"
        f"\n  upper      {result.upper!r}"
    )


@contextmanager
def noting(session: Session) -> Iterator[None]:
    """Say beside an answer, with --json on standard error, what the library warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for one in caught:
        note = in_options(str(one.message))
        if session.as_json:
            session.complain(note)
        else:
            session.say(f"  note       {note}")


def draw(session: Session, plot: Callable[[], Figure | Axes], path: Path) -> None:
    """Draw an answer into a file."""
    session.doing = f"drawing {path}"
    from sensitivity_lab.plotting import save

    save(plot(), path)


def complain(line: str) -> None:
    """Write a line to standard error; if that fails, only the exit code tells."""
    if sys.stderr:
        with suppress(OSError):
            _write(printable(line), sys.stderr)


def _write(lines: str, stream: TextIO) -> None:
    encoding = stream.encoding or "utf-8"
    stream.write(lines.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()
