"""The program ``sensitivity-lab``: parse, call, print; every outcome ends in an exit code."""

from __future__ import annotations

import re
import signal
import warnings
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from sensitivity_lab.checks import cut, shown
from sensitivity_lab.errors import SensitivityLabError

from .output import Session
from .parser import NAME, complete, make_parsers

_ADVICE = (
    (
        r"^bounds names (.*), of which agg asks for nothing$",
        r"--domain names \1, of which --queries asks for nothing",
    ),
    (
        r"^agg\[.*?\]: a statistic is (.*?) or sl\.Percentile\(90\)",
        r"--queries: a statistic is \1",
    ),
    (r"^Person without a column, and", "without --person; but"),
    (r"\bas in Person\('(.*?)', max_rows=\d+\); without it", r"as in --person \1; without it"),
    (r"^Person\('(.*?)'\): a column", r"--person \1: a column"),
    (r"\bpass null_person='public'", "pass --null-person public"),
    (r"\bpass it in connection=\{'name': \.\.\.\}", "give it as --table NAME=FILE"),
    (r"\bforeign_keys=\{'(.*?)': '(.*?)'\}", r"--foreign-key \1=\2"),
    (r"\bforeign_keys=\{\.\.\.\}", "--foreign-key TABLE.COLUMN=PARENT.COLUMN"),
    (r"\bpass public=\['(.*?)'\]", r"give --public \1"),
    (
        r"\bname both columns of persons, person=\{'(.*?)': '(.*?)', '(.*?)': '(.*?)'\}",
        r"name both columns of persons, --person \1.\2 --person \3.\4",
    ),
    (r"\bbounds=\{'(.*?)': \((.*?), (.*?)\)\}", r"--bounds \1=\2:\3"),
    (
        r"\blist the public keys, such as (groups=\['north', 'south'\]|'north' and 'south')",
        "list the public keys, as in --groups north,south",
    ),
    (
        r": each is a tuple of (\d+) values, got .*$",
        r": each has \1 values, as in --groups 'north,1;south,1'",
    ),
    (r"(give|choose another) (epsilon|delta) or split$", r"\1 --\2 or --split"),
    (r"\bgot Decimal\('(.*?)'\)", r"got \1"),
    (r"(^--split .*), or a mapping of their names to such numbers", r"\1"),
    (r"^split\['(.*?)'\] must", r"--split: the share of '\1' must"),
)
"""Patterns of phrases in the library's messages, and what `re.sub` makes of them in turn."""

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
        The exit code: 0; 2 if the input is not acceptable or the output cannot be written (a
        one-line message says why); 70 for an unexpected error of the program itself; 130 after
        Ctrl-C.
    """
    session = Session(NAME)
    code: Any = 0
    try:
        try:
            parser, _ = make_parsers()
            complete(parser)
            parsed = parser.parse_args(arguments)
            session.command = f"{parser.prog} {parsed.command}"
            session.as_json = getattr(parsed, "json", False)
            _run(parsed, session)
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
    except Exception as error:  # noqa: BLE001 - a user can do nothing with a traceback
        what = f"{type(error).__name__}: {cut(str(error))}".removesuffix(": ")
        session.complain(
            in_options(f"internal error while {session.doing}: {what}; please report it")
        )
        return _FAULT
    if session.failure:
        session.complain(f"cannot write to standard output: {session.failure}")
        return 2
    return code or 0


def _run(given: Namespace, session: Session) -> None:
    """Call a command, and print the library's warnings after its answer."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)  # those of the library
        given.call(given, session)
    for note in dict.fromkeys(in_options(str(one.message)) for one in caught):
        if session.as_json:
            session.complain(note)
        else:
            session.say(f"  note       {note}")


def in_options(message: str) -> str:
    """Return an error's message on one line, with options instead of arguments in its advice.

    Examples
    --------
    >>> in_options("for these foreign_keys={'w.id': 'v.id'} can stand")
    'for these --foreign-key w.id=v.id can stand'
    >>> in_options("epsilon must be None or a number, got 'two'")
    "--epsilon must be a number, got 'two'"
    """
    text = " ".join(message.split())
    names = {pair for parser in make_parsers()[1].values() for pair in parser.names()}
    for word, option in sorted(names):
        # None stands for an argument left out, so a message for the command line omits it.
        text = re.sub(
            rf"^(column '.*': )?{word} (must be|must|is|for)( None or)?\b", rf"\1{option} \2", text
        )
        text = re.sub(rf"^{word}: ", f"{option}: ", text)
    for pattern, said in _ADVICE:
        text = re.sub(pattern, said, text)
    return text
