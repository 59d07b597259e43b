"""Print and write answers, to an output that may be full or closed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError, printable
from sensitivity_lab.files import destination, is_stream
from sensitivity_lab.results.literals import json_ready

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A command's answer, and how to show it.

    Attributes
    ----------
    text : object
        The answer as printed.
    data : callable
        Makes the data that --json prints instead.
    plot : callable, optional
        Draws the picture for --output.
    table : callable, optional
        Writes the table for --table to a path.
    comment : str
        Text to print at the end, in the library's words; JSON has no place for it.
    code : int
        The exit code.
    """

    text: object
    data: Callable[[], Any]
    plot: Callable[[], Figure | Axes] | None = None
    table: Callable[[Path], object] | None = None
    comment: str = ""
    code: int = 0


class Session:
    """A run of a command. Once standard output fails, it prints nothing more; the work goes on.

    Attributes
    ----------
    command : str
        The program and its command, such as "sensitivity-lab curves".
    as_json : bool
        Whether answers are printed as JSON.
    doing : str
        What the command is doing, for the message if it is interrupted.
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
        """Write an answer as text, or its data as JSON: in ASCII, on one line."""
        self.say(json.dumps(json_ready(data()), allow_nan=False) if self.as_json else str(answer))

    def comment(self, text: str) -> None:
        """Write lines that accompany an answer; JSON has no place for them."""
        if not self.as_json:
            self.say(text)

    def flush(self) -> None:
        """Flush the buffer."""
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
            # The interpreter flushes when it exits; this keeps it from raising another error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_writable(path: Path | None, *, picture: bool = False) -> None:
    """Raise InputError, before any work, if a file could not be written."""
    if path is None:
        return
    try:
        target = destination(path)
    except IsADirectoryError:
        raise InputError(f"cannot write {shown(str(path))}: it is a folder") from None
    except OSError as error:
        raise InputError(f"cannot write {shown(str(path))}: {error.strerror}") from error
    folder = target.parent
    if not (is_stream(target) or (folder.is_dir() and os.access(folder, os.W_OK))):
        where = folder if path.is_symlink() else path.parent
        raise InputError(
            f"cannot write {shown(str(path))}: {shown(str(where))} is not a folder that can be "
            "written to"
        )
    if picture:
        from sensitivity_lab.plotting import check_path

        check_path(path)


def draw(session: Session, plot: Callable[[], Figure | Axes], path: Path) -> None:
    """Draw an answer into a file."""
    session.doing = f"drawing {path}"
    from sensitivity_lab.plotting import off_screen, save

    with off_screen():
        save(plot(), path)


def complain(line: str) -> None:
    """Write a line to standard error; if that fails, only the exit code reports the error."""
    if sys.stderr:
        with suppress(OSError):
            _write(printable(line), sys.stderr)


def _write(lines: str, stream: TextIO) -> None:
    encoding = stream.encoding or "utf-8"
    stream.write(lines.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()
