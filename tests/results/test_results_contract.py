"""What holds for results of every class: verified, told as text and as HTML, told to noise."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from checks import words_of_html

import sensitivity_lab as sl
from sensitivity_lab import spaces
from sensitivity_lab.results.result import Found, Result

NUMBERS = sl.Universe.from_domain([0, 1, 5])
ONE = {"neighbors": sl.Bounded(1)}


RESULTS = {
    "global": sl.global_sensitivity(NUMBERS, "median", size=3, **ONE),
    "root": sl.global_sensitivity(NUMBERS, "std", size=3, **ONE),
    "not listed yet": sl.global_sensitivity(NUMBERS, "var", size=300, **ONE),
    "interval": sl.global_sensitivity(sl.IntervalUniverse(0, 5), "mean", size=3, **ONE),
    "floats": sl.global_sensitivity(NUMBERS, lambda x: float(x.max()), size=2, **ONE),
    "vectors": sl.global_sensitivity(
        sl.TableUniverse.from_domain({"sex": ["f", "m"]}),
        sl.Histogram("sex", categories=["f", "m"]),
        size=2,
        norm="L2",
        **ONE,
    ),
    "local": sl.local_sensitivity(NUMBERS, "median", dataset=[0, 1, 5], **ONE),
    "smooth": sl.smooth_sensitivity(
        NUMBERS, "median", dataset=[0, 0, 0], beta=0.5, neighbors="bounded"
    ),
    "reach": sl.reach(NUMBERS, "median", dataset=[0, 1, 1], distances=3, **ONE),
    "reach of a root": sl.reach(NUMBERS, "std", dataset=[0, 1, 1], distances=3, **ONE),
    "certified bounds": sl.bounds.sensitivity_bounds(
        sl.IntervalUniverse(0, 5), np.max, size=3, **ONE
    ),
    "graphs": spaces.global_sensitivity(
        spaces.graphs(3, "edge"), "triangles", neighbors=spaces.Within(1)
    ),
    "sequences": spaces.global_sensitivity(
        spaces.sequences([0, 1, 2], 3, "hamming"), "sum", neighbors=spaces.Within(1)
    ),
    "listed datasets": spaces.global_sensitivity(
        spaces.Space([[0], [0, 5], [1, 5]], lambda a, b: len(set(a) ^ set(b))),
        sum,
        neighbors=spaces.Within(1),
    ),
}
"""A result of each class, and of what is particular in it."""

NUMBERS_OF = ("value", "lower", "exact", "upper")
"""The attributes that state how far x and y are apart."""


def changed_numbers(result):
    """The result with one of its numbers changed, for each that its witness proves."""
    stated = {field.name for field in fields(result)} & set(NUMBERS_OF)
    if isinstance(result, sl.results.Reach):
        yield replace(result, answer=result.upper[-1])
        for end in ("lower", "upper"):
            ends = getattr(result, end)
            yield replace(result, **{end: ends[:-1]})  # an end is missing
            yield replace(result, **{end: (*ends[:-1], result.answer)})  # not nested
            outward = {"lower": result.upper, "upper": result.lower}[end]
            yield replace(result, **{end: (outward[-1], *ends[1:])})
            if ends[1] != ends[-1]:
                yield replace(result, **{end: (*ends[:1], ends[-1], *ends[2:])})  # too early
        return
    if isinstance(result, sl.bounds.CertifiedBounds):
        # What is above rests on an argument, and the witness shows only that it is not too small.
        yield replace(result, upper=result.lower / 2)
        stated -= {"upper"}
    for name in stated:
        was = getattr(result, name)
        wrong = Fraction(1, 3) if was is None else was + 1
        yield replace(result, **{name: wrong})
        if was is not None and name != "lower":
            yield replace(result, **{name: None})


def changed_witnesses(result):
    """The result with its witness changed: an answer, a record, the same dataset twice."""
    if isinstance(result, sl.results.Reach):
        x, moves = result.farthest.x, result.farthest.moves
        for end, wrong in (("lower", x), ("upper", x), ("upper", np.array([0, 0, 30]))):
            if moves[end]:
                never = {**moves, end: tuple((k, lambda wrong=wrong: wrong) for k, _ in moves[end])}
                yield replace(result, farthest=replace(result.farthest, moves=never))
        return
    smooth = isinstance(result, sl.results.SmoothSensitivity)
    found = result.local if smooth else result
    witness = found.witness
    answer = witness.query_x
    wrong = answer[:-1] if isinstance(answer, tuple) else answer + 1
    for changes in (
        {"query_x": wrong},
        {"query_y": 10**6},
        {"x": ("no record",)},
        {"y": witness.x, "query_y": answer},
    ):
        changed = replace(found, witness=replace(witness, **changes))
        yield replace(result, local=changed) if smooth else changed


def test_there_is_one_of_every_class():
    def below(kind):
        for one in kind.__subclasses__():
            yield from below(one)
            yield one

    # Those of databases need an extra, and are tested in tests/sql.
    concrete = {
        one
        for one in below(Result)
        if not one.__abstractmethods__ and not one.__module__.startswith("sensitivity_lab.sql")
    }
    assert {type(result) for result in RESULTS.values()} == concrete
    assert len(concrete) == 5


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_verifies(name):
    RESULTS[name].verify()


@pytest.mark.parametrize("name", RESULTS)
def test_a_changed_number_is_found(name):
    for changed in changed_numbers(RESULTS[name]):
        with pytest.raises(sl.errors.VerificationError):
            changed.verify()


@pytest.mark.parametrize("name", RESULTS)
def test_a_changed_witness_is_found(name):
    for changed in changed_witnesses(RESULTS[name]):
        with pytest.raises(sl.errors.VerificationError):
            changed.verify()


@pytest.mark.parametrize("name", RESULTS)
def test_text_and_html_tell_the_same_facts(name):
    result = RESULTS[name]
    assert words_of_html(result._repr_html_()) == repr(result).split()
    for fact, text in result.facts():
        assert fact in repr(result)
        assert text.split()[0] in repr(result)


@pytest.mark.parametrize("name", RESULTS)
def test_what_noise_is_told_is_what_the_result_says(name):
    result = RESULTS[name]
    context = result.noise_context()
    assert context.upper == (None if context.kind == "reach" else result.upper)
    assert context.query == getattr(result.query, "name", result.query)
    assert context.kind == getattr(result, "kind", {"smooth": "smooth"}.get(name, "global"))
    assert context.norm == ("L2" if name == "vectors" else None)


@pytest.mark.parametrize("name", [name for name, one in RESULTS.items() if isinstance(one, Found)])
def test_a_sensitivity_is_formatted_rounded_up(name):
    result = RESULTS[name]
    bound = result.value if result.upper is None else result.upper
    assert float(f"{result:.3f}") >= bound > float(f"{result:.3f}") - 0.002
    assert float(result) == result.value
