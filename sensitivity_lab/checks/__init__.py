"""What callers pass: values as Python's, as text in messages, and checks of arguments."""

from .arguments import (
    check_callable,
    check_choice,
    check_column,
    check_flag,
    check_kind,
    check_rational,
    check_running,
    check_text,
    check_whole,
    is_hashable,
    listed,
    one_or_several,
)
from .frames import as_pandas
from .sizes import exceeding, in_words, told_apart
from .text import (
    did_you_mean,
    magnitude,
    number_text,
    shown,
    text_of,
)
from .values import (
    MOST_DIGITS,
    as_python,
    finite_number,
    is_long,
    unboxed,
    whole_number,
)

__all__ = [
    "MOST_DIGITS",
    "as_pandas",
    "as_python",
    "check_callable",
    "check_choice",
    "check_column",
    "check_flag",
    "check_kind",
    "check_rational",
    "check_running",
    "check_text",
    "check_whole",
    "did_you_mean",
    "exceeding",
    "finite_number",
    "in_words",
    "is_hashable",
    "is_long",
    "listed",
    "magnitude",
    "number_text",
    "one_or_several",
    "shown",
    "text_of",
    "told_apart",
    "unboxed",
    "whole_number",
]
