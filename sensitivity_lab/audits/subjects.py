"""The names of audited functions in reports."""

from __future__ import annotations

import inspect
from contextlib import suppress
from functools import partial
from pathlib import PurePath
from typing import Any

from sensitivity_lab.checks import check_text, named
from sensitivity_lab.results.literals import one_line


def name_of(function: Any) -> str:
    """Return the name of a function: that of what a partial wraps, the place of a lambda.

    Examples
    --------
    >>> name_of(sum), name_of(partial(partial(round), ndigits=2))
    ('sum', 'round')
    >>> name_of(lambda x: x)
    '<lambda> (<doctest sensitivity_lab.audits.subjects.name_of[1]>:1)'
    """
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        return type(function).__name__
    code = getattr(function, "__code__", None)
    if name != "<lambda>" or code is None:
        return named(name)
    return f"{named(name)} ({PurePath(code.co_filename).name}:{code.co_firstlineno})"


def misfit(function: Any, *given: Any) -> inspect.Signature | None:
    """Return the signature of a function that does not take some arguments; None if it may.

    Examples
    --------
    >>> print(misfit(lambda data: data, 1, 2), misfit(lambda data: data, 1))
    (data) None
    """
    with suppress(TypeError, ValueError):  # the parameters of some functions cannot be read
        signature = inspect.signature(function)
        try:
            signature.bind(*given)
        except TypeError:
            return signature
    return None


def subject_named(subject: str) -> str:
    """Return what a report calls its subject: on one line, as a name is shown.

    Examples
    --------
    >>> subject_named("mean of" + chr(10) + "ages")
    'mean of ages'
    """
    return named(one_line(subject))


def check_subject(subject: Any, function: Any) -> str:
    """Return what a report calls a function: what the caller says, or its own name.

    Examples
    --------
    >>> check_subject(None, sum), check_subject("my sum", sum)
    ('sum', 'my sum')
    """
    if subject is not None:
        check_text("subject", subject, "a text")
    return subject_named(subject or name_of(function))
