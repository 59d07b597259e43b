"""Clipping: values that are added up are kept within public bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from sensitivity_lab.checks import named, number_text
from sensitivity_lab.errors import InputError

from .answers import DECIMAL, FLOATS, WHOLE
from .normal_form import Aggregate, NormalForm, SourceColumn, Term


def clipped(
    form: NormalForm, bounds: Mapping[SourceColumn, tuple[Fraction, Fraction]]
) -> NormalForm:
    """Return a query whose sums clip columns to their bounds.

    NULL stays NULL, and NaN, which DuckDB takes for larger than every number, becomes the upper
    bound.

    Raises
    ------
    InputError
        If a bound is no value of the column's type, unless it is beyond all of these.
    """
    replacements: dict[str, str] = {}
    known = {}
    for column, given in bounds.items():
        type_, name = form.type_of(column), f"bounds['{column}']"
        # `known` keeps the bounds as they were given, and `ends` those that a value of the type can
        # reach.
        known[column] = low, high = _as_written(given[0], type_), _as_written(given[1], type_)
        least, most = _range(type_)
        if low > most or high < least:
            raise _no_value(low if low > most else high, type_, name)
        # What no value of the type reaches clips nothing.
        ends = [value_text(one, type_, name) for one in (max(low, least), min(high, most))]
        # CASE and not LEAST and GREATEST: they pass over NULL, which has to stay NULL.
        replacements[column.sql] = (
            f"(CASE WHEN {column.sql} < {ends[0]} THEN {ends[0]} WHEN {column.sql} > {ends[1]} "
            f"THEN {ends[1]} ELSE {column.sql} END)"
        )

    def clip(aggregate: Aggregate) -> Aggregate:
        if aggregate.kind != "sum" or aggregate.value is None:
            return aggregate
        return replace(aggregate, value=_replaced(aggregate.value, replacements))

    return replace(
        form, aggregates=tuple(map(clip, form.aggregates)), bounds={**form.bounds, **known}
    )


def _as_written(value: Fraction, type_: str) -> Fraction:
    """Return a bound; of a DECIMAL, 0.1 is what is written, not the float nearest to it."""
    number = float(value)
    of_float = DECIMAL.fullmatch(type_) and Fraction(number) == value
    return Fraction(repr(number)) if of_float else value


def _range(type_: str) -> tuple[Fraction, Fraction]:
    """Return the least and the greatest value of a type; of floats, what is beyond all."""
    if decimal := DECIMAL.fullmatch(type_):
        most = Fraction(10 ** int(decimal[1]) - 1, 10 ** int(decimal[2]))
        return -most, most
    for types, signed in ((WHOLE[:5], 1), (WHOLE[6:], 0)):
        if type_ in types:
            # The types stand by width: place 0 has 8 bits, place 1 has 16, and so on up to 128.
            values = 2 ** ((8 << types.index(type_)) - signed)
            return Fraction(-values * signed), Fraction(values - 1)
    return Fraction(-(10**400)), Fraction(10**400)


def clipped_text(form: NormalForm, aggregates: Iterable[Aggregate]) -> str:
    """Return which columns of sums are clipped to what, in words; "" if none is."""
    columns = frozenset().union(
        *(one.value.value_columns for one in aggregates if one.kind == "sum" and one.value)
    )
    ends = {
        f"{form.source(column.alias).table.name}.{column.name}": bounds
        for column, bounds in form.bounds.items()
        if column in columns
    }
    return ", ".join(
        f"{named(name)} to [{number_text(low)}, {number_text(high)}]"
        for name, (low, high) in ends.items()
    )


def _replaced(term: Term, replacements: Mapping[str, str]) -> Term:
    """Return a term with other SQL for some columns, but for those of conditions."""
    if term.column is not None:
        return replace(term, sql=replacements.get(term.sql, term.sql))
    arguments = tuple(
        one if place in term.conditions else _replaced(one, replacements)
        for place, one in enumerate(term.arguments)
    )
    sql = term.sql
    # The SQL of a term is that of its arguments, in order, with text between.
    # Each argument is looked for behind the one before, so that one that occurs twice is replaced
    # in both places.
    parts, rest = [], sql
    for before, after in zip(term.arguments, arguments, strict=True):
        head, _, rest = rest.partition(before.sql)
        parts += [head, after.sql]
    return replace(term, sql="".join([*parts, rest]), arguments=arguments)


def value_text(value: Fraction, type_: str, name: str) -> str:
    """Return a number as a literal of a column's type.

    Examples
    --------
    >>> value_text(Fraction(5, 2), "DECIMAL(9,2)", "bounds")
    "CAST('2.50' AS DECIMAL(9,2))"
    """
    decimal = DECIMAL.fullmatch(type_)
    if type_ in FLOATS:
        # A fraction such as 1/10 has no float, and the nearest one stands for it. A whole number,
        # or a fraction over a power of two, has to be a float itself.
        if Fraction(float(value)) != value and value.denominator & (value.denominator - 1) == 0:
            raise _no_value(value, type_, name)
        return f"CAST('{float(value)!r}' AS {type_})"
    scale = int(decimal[2]) if decimal else 0
    scaled = value * 10**scale
    if scaled.denominator != 1:
        raise _no_value(value, type_, name)
    # With the scale 2 the number 5 is written 0.05: zeros in front make room for the point.
    digits = str(abs(scaled.numerator)).zfill(scale + 1)
    whole = f"{digits[: len(digits) - scale]}.{digits[len(digits) - scale :]}".rstrip(".")
    return f"CAST('{'-' if value < 0 else ''}{whole}' AS {type_})"


def _no_value(value: Fraction, type_: str, name: str) -> InputError:
    return InputError(
        f"{name}: {number_text(value)} is no value of the column's type {type_}; give a bound that "
        "is, such as a whole number"
    )
