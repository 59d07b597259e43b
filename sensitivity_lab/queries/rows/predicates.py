"""Predicates written as text: a small grammar, parsed by `ast` and never run.

A text is parsed, and every node of its tree must be one of those that `_evaluate` knows. There are
no calls, attributes or subscripts, so a text can only compare and compute with columns.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype

from sensitivity_lab.checks import Kind, finite_number, shown
from sensitivity_lab.errors import InputError, QueryError

_LONGEST = 10_000
"""The most characters that a text may have."""

_DEEPEST = 100
"""How deep its brackets and operators may be nested."""

ACCEPTED = (
    "a text can compare columns (`of two words` in backticks), numbers, texts, True and False by "
    "==, !=, <, <=, >, >=, in [...] and not in [...], compute with + - * / // %, and join "
    "comparisons by and, or, not, &, |, ~ and brackets; for anything else give a function of a "
    "DataFrame that looks at one record at a time, such as lambda rows: rows['age'] >= 18"
)

check_predicate = Kind(
    "a function of a DataFrame, or a text such as 'age >= 18'",
    lambda value: value if isinstance(value, str) or callable(value) else None,
)

COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: operator.eq,  # of each value of a list
    ast.NotIn: operator.ne,
}

ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}

_BACKTICKS = "__in_backticks_"

_QUOTED = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|`([^`]*)`|([&|])""", re.DOTALL)
"""Texts in quotes, which stay as they are; columns in backticks; & and |."""


@dataclass(frozen=True)
class Predicate:
    """A predicate of a table's rows, parsed.

    Attributes
    ----------
    tree : ast.expr
        What was written.
    quoted : mapping of str to str
        The columns in backticks, by their names in the tree.
    """

    tree: ast.expr
    quoted: Mapping[str, str]

    def __call__(self, frame: pd.DataFrame) -> Any:
        """Return whether the text holds for every row; raise QueryError for an unknown column."""
        return self._evaluate(self.tree, frame)

    def _evaluate(self, node: ast.expr, frame: pd.DataFrame) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._column(name, frame)
            case ast.BoolOp(op=op, values=parts):
                join = operator.and_ if isinstance(op, ast.And) else operator.or_
                return reduce(join, [_flags(self._evaluate(part, frame)) for part in parts])
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
                number = _numbers(self._evaluate(operand, frame))
                return -number if isinstance(op, ast.USub) else number
            case ast.UnaryOp(operand=operand):
                flags = _flags(self._evaluate(operand, frame))
                return ~flags if isinstance(flags, pd.Series) else not flags
            case ast.BinOp(left=left, op=op, right=right):
                one, other = (_numbers(self._evaluate(part, frame)) for part in (left, right))
                return ARITHMETIC[type(op)](one, other)
            case ast.Compare(left=left, ops=ops, comparators=others):
                sides = [self._side(part, frame) for part in (left, *others)]
                pairs = zip(ops, sides, sides[1:], strict=False)
                return reduce(operator.and_, [_compared(*pair) for pair in pairs])
        raise TypeError(f"{type(node).__name__} is checked before")

    def _side(self, node: ast.expr, frame: pd.DataFrame) -> Any:
        """Return one side of a comparison; a list stays a list."""
        if isinstance(node, ast.List | ast.Tuple):
            return [self._evaluate(one, frame) for one in node.elts]
        return self._evaluate(node, frame)

    def _column(self, name: str, frame: pd.DataFrame) -> pd.Series[Any]:
        column = self.quoted.get(name, name)
        if column not in frame.columns:
            raise QueryError(f"there is no column {shown(column)}")
        series: pd.Series[Any] = frame[column]
        return series


@lru_cache(maxsize=256)
def parsed(text: str) -> Predicate:
    """Parse a predicate; raise InputError for anything but the grammar of `ACCEPTED`.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [17, 18, 40], "lives in": ["x", "y", "x"]})
    >>> parsed("18 <= age < 65 and not `lives in` == 'y'")(table).tolist()
    [False, False, True]
    """
    quoted: dict[str, str] = {}

    def replaced(match: re.Match[str]) -> str:
        kept, column, sign = match.groups()
        if kept is not None:
            return str(kept)
        if sign is not None:
            return " and " if sign == "&" else " or "
        name = f"{_BACKTICKS}{len(quoted)}"
        quoted[name] = column
        return f" {name} "

    try:
        if len(text) > _LONGEST:
            raise SyntaxError(f"it has more than {_LONGEST:,} characters")
        if _BACKTICKS in text:
            raise SyntaxError(f"{_BACKTICKS!r} is a name that is used inside")
        tree = ast.parse(_QUOTED.sub(replaced, text).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        raise InputError(f"predicate {shown(text)} cannot be read: {said}; {ACCEPTED}") from None
    _check(tree, text, _DEEPEST)
    return Predicate(tree, quoted)


def _check(node: ast.AST, text: str, depth: int, in_list: bool = False) -> None:
    """Raise InputError for a part of a predicate that the grammar does not have."""
    if depth and _is_known(node, in_list):
        for child in ast.iter_child_nodes(node):
            _check(child, text, depth - 1, isinstance(node, ast.Compare))
        return
    part = ast.unparse(node) if depth and isinstance(node, ast.expr) else ""
    what = f"has {shown(part)}, which is not accepted" if part else "is not accepted"
    raise InputError(f"predicate {shown(text)} {what}; {ACCEPTED}")


def _is_known(node: ast.AST, compared: bool) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | int | float)
    if isinstance(node, ast.List | ast.Tuple):
        return compared
    if isinstance(node, ast.operator | ast.cmpop):
        return type(node) in ARITHMETIC or type(node) in COMPARISONS
    known = (
        *(ast.Name, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Compare),
        *(ast.boolop, ast.unaryop, ast.expr_context),
    )
    return isinstance(node, known)


def _compared(op: ast.cmpop, one: Any, other: Any) -> Any:
    """Compare two sides; a list on the right is compared value by value."""
    if isinstance(one, list):
        raise QueryError("a list may only be on the right of in, not in, == and !=")
    if isinstance(other, list):
        if not isinstance(op, ast.In | ast.NotIn | ast.Eq | ast.NotEq):
            raise QueryError("a list may only be on the right of in, not in, == and !=")
        if not other:
            raise QueryError("a list needs at least one value")
        found = reduce(operator.or_, [_compared(ast.Eq(), one, value) for value in other])
        return found if isinstance(op, ast.In | ast.Eq) else ~_flags(found)
    if isinstance(op, ast.In | ast.NotIn):
        raise QueryError("in and not in take a list of values in square brackets")
    _check_comparable(one, other)
    _check_comparable(other, one)
    return COMPARISONS[type(op)](one, other)


def _check_comparable(series: Any, value: Any) -> None:
    """Raise QueryError where no value of a column can be equal to a constant."""
    if not isinstance(series, pd.Series) or isinstance(value, pd.Series):
        return
    words = isinstance(value, str) and is_numeric_dtype(series.dtype)
    numbers = not isinstance(value, str) and is_datetime64_any_dtype(series.dtype)
    if words or numbers:
        raise QueryError(
            f"it compares the column {shown(series.name)} ({series.dtype}) with {shown(value)}, "
            "which "
            "no record can have"
        )


def _flags(value: Any) -> Any:
    if isinstance(value, bool) or (isinstance(value, pd.Series) and is_bool_dtype(value.dtype)):
        return value
    raise QueryError("and, or and not take comparisons and columns of True and False")


def _numbers(value: Any) -> Any:
    """Return numbers to compute with; whole ones as Python's, which do not overflow."""
    if isinstance(value, pd.Series):
        if value.dtype.kind in "iu" and isinstance(value.dtype, np.dtype):
            return value.astype(object)
        numeric = is_numeric_dtype(value.dtype) and not is_bool_dtype(value.dtype)
        if value.dtype == object:
            numeric = all(finite_number(one) is not None for one in value)
    else:
        numeric = finite_number(value) is not None
    if not numeric:
        raise QueryError("+ - * / // % take columns of numbers, and numbers")
    return value
