"""Names that callers choose: whatever is in them, nothing that a terminal obeys is shown.

A name goes wherever a name can be given. What is printed of the answers, drawn of them, written as
HTML, and said in errors has no control characters, no marks that turn the direction of writing, and
no long name whole.
"""

from __future__ import annotations

import contextlib
import unicodedata
import warnings
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from command_line import SCHOOL, run
from hypothesis import example, given, settings
from hypothesis import strategies as st
from matplotlib.text import Text

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl
from sensitivity_lab import spaces
from sensitivity_lab.page.answer import FIRST, answer
from sensitivity_lab.page.universes import given_of
from sensitivity_lab.plotting import off_screen

OBEYED = (
    "\x1b\x07\x00\x7f\x9b\r\n\t\u200b\u200e\u202a\u202e\u2066\u2069\u2028\u2029\ufeff\U000e0041"
)
"""Some of what a terminal or a browser obeys instead of showing it."""

NAMES = st.text(st.sampled_from(OBEYED + "ab é<$\\'\"`{}"), min_size=1, max_size=8).map(
    "n{}".format
)
NUMBERS = sl.Universe.from_dataset([1, 2, 3, 10])
ASKED: dict[str, Any] = {"size": 2, "neighbors": "bounded"}


def is_shown(text: str) -> bool:
    """Whether a text has only what is shown, and lines."""
    return all(
        one == "\n" or one.isprintable() or unicodedata.category(one) == "Zs" for one in text
    )


def texts_of(made: Any) -> Iterator[str]:
    """What is printed of something, what a notebook shows of it, and what its plot says."""
    yield repr(made)
    yield str(made)
    if hasattr(made, "_repr_html_"):
        yield made._repr_html_()
    if hasattr(made, "plot"):
        with contextlib.suppress(sl.errors.InputError):
            with off_screen():  # an example is drawn many times
                figure = made.plot().figure
            for text in figure.findobj(Text):
                yield text.get_text()


def error_of(call: Any, *arguments: Any, **named: Any) -> Iterator[str]:
    """The text of the error that a call raises."""
    with pytest.raises(sl.errors.SensitivityLabError) as caught:
        call(*arguments, **named)
    yield str(caught.value)


def failing(_: Any) -> float:
    raise ValueError("\x1b[31m")


def of_queries(name: str) -> Iterator[str]:
    for query in (
        sl.from_function(max, name=name),
        sl.LStatistic(lambda n: [1] * n, name=name),
    ):
        result = sl.global_sensitivity(NUMBERS, query, **ASKED)
        curves = sl.sensitivity_curves(NUMBERS, query, distances=[1, 2], **ASKED)
        assert curves[name].result(name, distance=1).value == result.value
        yield query.name
        for made in (result, curves, sl.neighbor_table(NUMBERS, query, **ASKED)):
            yield from texts_of(made)
        report = sl.audit(NUMBERS, query, 1, distances=1, **ASKED)
        yield from texts_of(report)
        yield str(report.counterexample(report.decisive))
        yield from error_of(curves.__getitem__, f"other {name}")
        yield from error_of(curves.result, name, distance=7)
        yield from error_of(sl.sensitivity_curves, NUMBERS, [query] * 2, distances=1, **ASKED)
    yield from error_of(
        sl.global_sensitivity, NUMBERS, sl.from_function(failing, name=name), **ASKED
    )
    yield from texts_of(sl.audit(NUMBERS, "sum", 1, subject=name, distances=1, **ASKED))
    yield from error_of(sl.global_sensitivity, NUMBERS, name, **ASKED)
    yield from error_of(sl.global_sensitivity, NUMBERS, "sum", method=name, **ASKED)
    yield from error_of(sl.global_sensitivity, NUMBERS, "sum", size=2, neighbors=name)
    yield from error_of(sl.Percentile, 50, method=name)


def of_columns(name: str) -> Iterator[str]:
    table = pd.DataFrame({name: [1, 2, 3, 10], "sex": ["f", "m", "f", "m"]})
    rows = sl.TableUniverse.from_dataset(table)
    yield from texts_of(rows)
    for query in (
        *(sl.SumOf(name), sl.MeanOf(name), sl.Covariance(name, name), sl.CountDistinct(name)),
        *(sl.ColumnQuery(name, "median"), sl.Histogram(name, categories=[1, 2])),
        *(sl.GroupBy("sex", sl.SumOf(name), groups=["f", "m"]), sl.VectorSum([name], clip_norm=2)),
        *(sl.Stack(sl.Count(), sl.SumOf(name)), sl.CountIf(lambda rows: rows[name] > 2)),
        sl.CountIf(lambda rows: rows[name] > 2, name=name),
    ):
        yield query.name
        yield from query.labels or ()
        with contextlib.suppress(sl.errors.NoEngineError):
            yield from texts_of(sl.global_sensitivity(rows, query, **ASKED))
    yield from texts_of(sl.sensitivity_curves(table[[name]], "sum", distances=[1, 2], **ASKED))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.errors.DatasetUniverseWarning)
        result = sl.global_sensitivity(NUMBERS, "sum", **ASKED)
        yield from texts_of(sl.noise.noise_table({name: result, "b": result}, epsilon=1))
        yield from error_of(sl.noise.noise_table, {name: result}, epsilon=1, split={"b": 1})
    yield from error_of(rows.column, f"other {name}")
    yield from error_of(sl.global_sensitivity, rows, sl.SumOf(f"other {name}"), **ASKED)
    yield from error_of(sl.TableUniverse.from_dataset, pd.DataFrame([[1, 2]], columns=[name, name]))
    yield from error_of(sl.TableUniverse.from_domain, {name: [1, 1]})
    given = given_of(table)
    for column in given.records:
        rows = {"kind": "given", "column": column}
        asked = {**FIRST, "universe": rows, "size": 2, "parts": ["sensitivity"]}
        found = answer({"ask": "answer", **asked}, given)
        yield column
        yield found["sensitivity"]["claim"]
        if name != LONG:  # the code has to run
            yield answer({"ask": "code", **asked}, given)["code"]


def of_steps(name: str) -> Iterator[str]:
    start = pl.start(pl.AddMaxRows(1))
    for step in (
        *(pl.select(name), pl.group_by(name, keys=[1, 2])),
        pl.Step(name, lambda *_: pl.Transformation(name, len, *_, *_, lambda d: d)),
    ):
        yield from texts_of(step)
        with contextlib.suppress(sl.errors.InputError):
            yield from texts_of(start >> step)
    number = pl.Scalar(), pl.AbsoluteDistance()
    twice = pl.Transformation(name, lambda x: 2 * x, *number, *number, lambda d: 2 * d)
    yield from texts_of(twice)
    yield from texts_of(twice >> twice)
    measured = pl.measured_stability(twice, [1, 2], d_in=1)
    yield from texts_of(measured)
    for wrong in (pl.select(name), pl.clamp(0, 1)):
        yield from error_of(twice.__rshift__, wrong)
    yield from error_of(start >> pl.select(name), pd.DataFrame({"a": [1]}))
    yield str(pl.AddRowsWithID(name).metric)


def of_values(name: str) -> Iterator[str]:
    """Values that are texts are shown beside names."""
    table = pd.DataFrame({"a": [name, "m", "f", "m"]})
    rows = sl.TableUniverse.from_dataset(table)
    yield from texts_of(rows)
    for query in (sl.Histogram("a", [name, "m"]), sl.GroupBy("a", sl.Count(), [name, "m"])):
        yield from texts_of(sl.global_sensitivity(rows, query, **ASKED))
        yield from texts_of(sl.neighbor_table(rows, query, **ASKED))
    for metric in ("edit", "hamming"):
        days = spaces.sequences([name, "home"], 3, metric)
        for query in ("changes", "counts"):
            yield from texts_of(spaces.global_sensitivity(days, query, neighbors=spaces.Within(1)))
        yield from error_of(
            spaces.local_sensitivity, days, "changes", dataset=[f"other {name}"] * 3
        )


PLACES = (of_queries, of_columns, of_steps, of_values)


@pytest.mark.representative
@pytest.mark.exhaustive
@pytest.mark.parametrize("place", PLACES)
@settings(deadline=None, max_examples=max(2, settings.default.max_examples // 25))
@example("n" + OBEYED)
@given(NAMES)
def test_nothing_that_a_terminal_obeys_is_shown(place, name):
    for text in place(name):
        assert is_shown(text), ascii(text)


LONG = "n" * 20_000


@pytest.mark.further
@pytest.mark.parametrize("place", [place for place in PLACES if place is not of_values])
def test_long_names_are_cut(place):
    for text in place(LONG):
        assert "n" * 1_000 not in text, text[:300]


@pytest.mark.parametrize("name", [f"n{OBEYED.replace(chr(0), '')}", LONG])
def test_the_command_line(capsys, name):
    loss = ("--rows-per-person", "1", "--epsilon", "1", "--publish", "new")
    table = ("release", SCHOOL, *loss, "--domain")
    query = ("sql", f"SELECT COUNT(*) FROM {name}", "--table")
    for arguments in (
        (*table, f"{name}=1:2"),
        (*table, name),
        (*table, f"{name}=1,1"),
        (*table, "absence_days=0:9", "--queries", name),
        (*table, "absence_days=0:9", "--person", name),
        (*table, "absence_days=0:9", "--group-by", f"{name}=a,b"),
        (*table, "absence_days=0:9", "--group-by", f"absence_days={name},{name}"),
        (*table, "absence_days=0:9", "--split", name),
        ("release", f"{name}.csv", *loss, "--domain", "a=0:9"),
        (*query, f"{name}={SCHOOL}", "--person", f"{name}.name"),
        (*query, f"v={name}.csv", "--person", f"v.{name}"),
        (*query, name, "--person", "v.a"),
        ("explore", f"{name}.csv"),
        ("histogram", name),
        (name,),
    ):
        code, out, err = run(capsys, *arguments)
        assert code in (0, 2)
        assert is_shown(out), ascii(out)
        assert is_shown(err), ascii(err)
        assert "n" * 1_000 not in out + err
