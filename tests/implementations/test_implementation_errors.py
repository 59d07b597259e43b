"""What code on ordered datasets cannot be asked: the whole message."""

from __future__ import annotations

import random
import re

import pytest
from implementation_cases import ask

import sensitivity_lab as sl


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: ask("sum"),
            sl.errors.InputError,
            "'sum' is a query as mathematics, which has no order; give code: a Fold such as "
            "float_sum('float32'), or a function of a 1-D array",
        ),
        (
            lambda: ask(order="aligned", neighbors=None),
            sl.errors.InputError,
            "order='aligned' needs a neighbor relation: without one, x and y are the same "
            "sequence; choose order='free'",
        ),
        (
            lambda: ask(order="aligned", neighbors=sl.Edit(1)),
            sl.errors.InputError,
            "order='aligned' needs a relation that replaces records, or that removes and inserts "
            "them, not edit, at most 1, which does both; choose order='free'",
        ),
        (
            lambda: ask(
                universe=sl.Universe([1, 2], [3, 3]),
                order="aligned",
                neighbors=sl.Bounded(1, exactly=True),
            ),
            sl.errors.InputError,
            "order='aligned' with bounded, exactly 1 needs a domain with unlimited copies, where a "
            "record can be replaced by an equal one; choose exactly=False or order='free'",
        ),
        (
            lambda: ask(sl.implementations.integer_sum("int8"), sl.Universe.from_domain([1, 200])),
            sl.errors.InputError,
            "int8 cannot hold the record 200; it holds whole numbers from -128 to 127",
        ),
        (
            lambda: ask(sl.implementations.integer_sum("int8"), sl.Universe.from_domain([0.5, 1])),
            sl.errors.InputError,
            "int8 cannot hold the record 0.5; it holds whole numbers from -128 to 127",
        ),
        (
            lambda: sl.implementations.float_sum("int8"),
            sl.errors.InputError,
            "dtype must be float16, float32 or float64, got int8",
        ),
        (
            lambda: sl.implementations.integer_sum("number"),
            sl.errors.InputError,
            "dtype must be int8 to int64 or uint8 to uint64, got 'number'",
        ),
        (
            lambda: ask(sl.implementations.Fold(lambda acc, _record: [acc], 0, name="lists")),
            sl.errors.QueryError,
            "the step of 'lists' from 0 with the record 0 returned an accumulator that cannot be "
            "hashed; return a number or a tuple",
        ),
        (
            lambda: ask(
                sl.implementations.Fold(lambda _acc, record: 1 // record, 0, name="divide")
            ),
            sl.errors.QueryError,
            "the step of 'divide' from 0 with the record 0 raised ZeroDivisionError: integer "
            "division or modulo by zero",
        ),
        (
            lambda: ask(sl.implementations.Fold(max, 0, lambda _acc: None, name="nothing")),
            sl.errors.QueryError,
            "'nothing' that ends with the accumulator 0 returned None; an implementation returns "
            "one number",
        ),
        (
            lambda: ask(sl.implementations.Fold(max, 0, lambda acc: 1 // acc, name="divide")),
            sl.errors.QueryError,
            "'divide' that ends with the accumulator 0 raised ZeroDivisionError: integer division "
            "or modulo by zero",
        ),
        (
            lambda: ask(lambda _x: "one"),
            sl.errors.QueryError,
            "query 'function' on the ordered dataset (0, 0) returned 'one'; an implementation "
            "returns one number",
        ),
        (
            lambda: ask(lambda x: 1 // int(x[0])),
            sl.errors.QueryError,
            "query 'function' on the ordered dataset (0, 0) raised ZeroDivisionError: integer "
            "division or modulo by zero",
        ),
        (
            lambda: ask(size=20),
            sl.errors.TooLargeError,
            "query 'itemgetter' would be called on 3,486,784,401 orders, more than the "
            "evaluation_limit of 10,000,000; choose a smaller size or distance, or fewer distinct "
            "values, a Fold instead of a function, or a larger evaluation_limit",
        ),
        (
            lambda: ask(sl.implementations.float_sum(), size=30, run=sl.Run(memory_limit=100_000)),
            sl.errors.TooLargeError,
            "the search over 5,456 multisets of up to 30 records would need about 596.8 KiB, "
            "more than the memory limit of 97.7 KiB; choose a smaller size or distance, or fewer "
            "distinct values, or a larger run=Run(memory_limit=...)",
        ),
        (
            lambda: ask(sl.implementations.float_sum(), size=100_000),
            sl.errors.TooLargeError,
            "datasets of 100,000 records over 3 values are too many to go through; choose a "
            "smaller size or distance, or fewer distinct values",
        ),
    ],
)
def test_errors_say_what_to_do(call, kind, message):
    with pytest.raises(kind) as raised:
        call()
    assert type(raised.value) is kind
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("order", "what"),
    [("free", "accumulators"), ("aligned", "pairs of reachable accumulators")],
)
def test_too_many_accumulators_are_refused(order, what):
    """Code that remembers all records has as many accumulators as there are orders."""
    read_all = sl.implementations.Fold(lambda read, record: (*read, record), (), len, name="all")
    with pytest.raises(sl.errors.TooLargeError) as raised:
        ask(read_all, size=12, order=order, run=sl.Run(memory_limit=2_000_000))
    message = str(raised.value)
    assert message.startswith(f"the search over {what} of 'all' has reached ")
    assert message.endswith(
        "MiB, more than the memory limit of 1.9 MiB; choose a smaller size or distance, fewer "
        "distinct values, or a larger run=Run(memory_limit=...)"
    )


def test_random_code_is_refused():
    generator = random.Random(1)
    with pytest.raises(sl.errors.QueryError) as raised:
        ask(lambda _x: generator.random(), size=1)
    assert re.fullmatch(
        r"query 'function' on the ordered dataset \(\S+,\) returned \S+, and \S+ when it was "
        "called again: it is random, or keeps state between calls; a query must give the same "
        "answer each time, so take the random numbers out of it, and let it change nothing "
        "that it reads later",
        str(raised.value),
    )
