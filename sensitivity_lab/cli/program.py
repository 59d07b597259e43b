"""The program ``sensitivity-lab``: parse, call, print; every outcome ends in an exit code."""

from __future__ import annotations

import os
import re
import signal
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sensitivity_lab.checks import cut, shown
from sensitivity_lab.csv_files import STANDARD_INPUT
from sensitivity_lab.errors import InputError, SensitivityLabError
from sensitivity_lab.files import is_stream

from .arguments import DATA, JSON, OUTPUT, TABLE, Replacement
from .commands import COMMANDS, PROGRAM, Command
from .given import Given
from .output import Session, check_writable, draw
from .parser import complete, make_parser

_FAULT = 70
"""The exit code of an internal error: EX_SOFTWARE of sysexits.h."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default the process's own.

    Returns
    -------
    int
        The exit code: 0; 1 if an audit finds a claim violated; 2 if the input is not acceptable or
        the output cannot be written (a one-line message says why); 70 for an unexpected error of
        the program itself; 130 after Ctrl-C.
    """
    session = Session(PROGRAM.name)
    code: Any = 0
    try:
        try:
            parser = make_parser()
            complete(parser)
            parsed = parser.parse_args(arguments)
            session.command = f"{parser.prog} {parsed.command}"
            given = Given(parsed, session)
            session.as_json = bool(given[JSON])
            code = _run(COMMANDS[parsed.command], given)
        finally:
            session.flush()
    except SystemExit as stopped:
        code = stopped.code
    except KeyboardInterrupt as interruption:
        if arguments is None:
            # The process ends; a second Ctrl-C must not bring the traceback after all.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        done = f": {interruption}" if str(interruption) else ""
        session.complain(in_options(f"interrupted while {session.doing}{done}"))
        return 130
    except MemoryError:
        session.complain(f"not enough memory while {session.doing}; use fewer records")
        return 2
    except SensitivityLabError as error:
        session.complain(in_options(str(error)))
        return 2
    except OSError as error:
        file = "" if error.filename is None else f": {shown(error.filename)}"
        why = f"{error.strerror}{file}" if error.strerror else str(error)
        session.complain(f"system error while {session.doing}: {cut(why)}")
        return 2
    except Exception as error:  # noqa: BLE001 - a traceback would end in 1, which is for violations
        what = f"{type(error).__name__}: {cut(str(error))}".removesuffix(": ")
        session.complain(
            in_options(f"internal error while {session.doing}: {what}; please report it")
        )
        return _FAULT
    if session.failure:
        session.complain(f"cannot write to standard output: {session.failure}")
        return 2
    return code or 0


def _run(command: Command, given: Given) -> int:
    """Call a command, print its answer, write its files; return the exit code."""
    session = given.session
    _check_files(given)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)  # those of the library
        answer = command.call(given)
    if answer is None:
        return 0
    session.tell(answer.text, answer.data)
    for note in dict.fromkeys(in_options(str(one.message)) for one in caught):
        if session.as_json:
            session.complain(note)
        else:
            session.say(f"  note       {note}")
    if answer.table and given.has(TABLE):
        session.doing = f"writing {given[TABLE]}"
        answer.table(given[TABLE])
    if answer.plot and given.has(OUTPUT):
        draw(session, answer.plot, given[OUTPUT])
    if answer.comment:
        session.comment(f"\n{_with_options(answer.comment)}")
    return answer.code


def _check_files(given: Given) -> None:
    """Raise InputError, before any work, if a file could not be written or would be overwritten."""
    check_writable(given[OUTPUT], picture=True)
    check_writable(given[TABLE])
    read = None if given[DATA] == STANDARD_INPUT else given[DATA]
    names = {"the data": read, "--output": given[OUTPUT], "--table": given[TABLE]}
    known: dict[Path, str] = {}
    for name, path in names.items():
        if path is None or "\0" in str(path) or is_stream(path):
            continue
        other = known.setdefault(Path(os.path.realpath(path)), name)
        if other != name:
            raise InputError(
                f"{other} and {name} are one file, {shown(str(path))}; choose another name"
            )


def in_options(message: str) -> str:
    """Return an error's message on one line, with options instead of arguments in its advice.

    Examples
    --------
    >>> in_options("choose a smaller size or a larger run=Run(memory_limit=...)")
    'choose a smaller size or a larger --memory-limit'
    >>> in_options("n_jobs must be None or a whole number, got 'two'")
    "--jobs must be a whole number, got 'two'"
    """
    return _with_options(" ".join(message.split()))


def _with_options(text: str) -> str:
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
