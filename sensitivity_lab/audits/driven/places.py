"""Where in the caller's code a draw is decided: the line that a message names."""

from __future__ import annotations

import sys
from types import CodeType
from typing import NamedTuple

from sensitivity_lab.checks import is_callers, shown_source


class Place(NamedTuple):
    """A line of code, and whether it needs the value of a draw, or compares one."""

    file: str
    line: int
    converts: bool

    @property
    def told(self) -> str:
        """The place in words, with its source where that can be read."""
        name, source = shown_source(self.file, self.line)
        does = "turns draws into numbers" if self.converts else "compares draws"
        return f"{name}:{self.line} {does}" + (f" ({source})" if source else "")


def place_below(last: CodeType, converts: bool) -> Place | None:
    """Return the innermost line that is no tool's, above the frames of the driver.

    Parameters
    ----------
    last : code
        The frames of the code and of what called it are not searched.
    converts : bool
        Whether the line needs the value of a draw.
    """
    frame = sys._getframe(1)
    while frame is not None and frame.f_code is not last:
        if is_callers(frame):
            return Place(frame.f_code.co_filename, frame.f_lineno, converts)
        frame = frame.f_back  # type: ignore[assignment]
    return None
