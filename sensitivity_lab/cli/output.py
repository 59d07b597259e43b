"""Print and write answers, to an output that may be full or closed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError, printable
from sensitivity_lab.files import destination, is_stream
from sensitivity_lab.results.literals import json_ready

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Session:
    """A run of a command. Once standard output fails, it prints nothing more; the work goes on.

    Attributes
    ----------
    command : str
        The program and its command, such as "sensitivity-lab sql".
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


def check_writable(path: Path) -> None:
    """Raise InputError, before any work, if a file could not be written."""
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


def draw(session: Session, plot: Callable[[], Figure | Axes], path: Path) -> None:
    """Draw a picture into a file."""
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
