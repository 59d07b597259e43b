"""The library's messages, with command-line options in place of its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .arguments import Replacement
from .commands import COMMANDS


def in_options(message: str) -> str:
    """Return an error's message on one line, with options instead of arguments in its advice.

    Examples
    --------
    >>> in_options("choose a smaller size or a larger run=Run(memory_limit=...)")
    'choose a smaller size or a larger --memory-limit'
    >>> in_options("n_jobs must be None or a whole number, got 'two'")
    "--jobs must be a whole number, got 'two'"
    """
    return with_options(" ".join(message.split()))


def with_options(text: str) -> str:
    """Return a text of the library with options instead of arguments, its lines as they are."""
    for pattern, said in dict.fromkeys(_patterns()):
        text = re.sub(pattern, said, text)
    return text


def _patterns() -> Iterator[tuple[str, Replacement]]:
    """Yield patterns of the library's names and advice, and the options that replace them."""
    arguments = [one for command in COMMANDS.values() for one in command.each()]
    for one in arguments:
        if one.name.startswith("--"):
            # None stands for an argument left out, so a message for the command line omits it.
            told = rf"^(column '.*': )?{one.word} (must be|must|is|for)( None or)?\b"
            yield told, rf"\1{one.name} \2"
            yield rf"^{one.word}: ", f"{one.name}: "
    for one in arguments:
        yield from one.advice
