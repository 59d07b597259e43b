"""Results: what they tell, and that `verify` finds whatever does not hold."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction

import numpy as np
import pytest
from checks import refused, refused_with, words_of_html

import sensitivity_lab as sl

UNIVERSE = sl.Universe.from_dataset([1, 2, 3, 10])


def largest(x) -> float:
    return float(x.max())


@pytest.fixture(scope="module")
def result() -> sl.results.Sensitivity:
    return sl.global_sensitivity(
        UNIVERSE, "var", size=3, neighbors=sl.Unbounded(1), method="enumeration"
    )


@pytest.fixture(scope="module")
def float_result() -> sl.results.Sensitivity:
    return sl.global_sensitivity(UNIVERSE, largest, size=3, neighbors=sl.Bounded(1))


def test_repr_of_an_exact_result(result):
    assert repr(result) == (
        "Sensitivity of var: 15.97222223 (exact, rounded up)\n"
        "  exact      575/36\n"
        "  neighbors  unbounded, at most 1; size 3; universe of 4 records (public)\n"
        "  only in x  10    f(x) = 16.22222222\n"
        "  only in y  none  f(y) = 0.25\n"
        "  in both    1, 2\n"
        "  method     enumeration, exact arithmetic, 11 datasets evaluated"
    )


def test_repr_of_a_functions_result_over_several_sizes():
    domain = sl.Universe.from_domain([0, 1])
    result = sl.global_sensitivity(
        domain, largest, size=[3, 2], neighbors=sl.Bounded(1, exactly=True), method="enumeration"
    )
    assert repr(result) == (
        "Sensitivity of largest: 1 (exact search over float answers)\n"
        "  neighbors  bounded, exactly 1; size any of (2, 3) (public); "
        "domain of 2 values, unlimited copies\n"
        f"  only in x  {result.witness.only_x[0]}  f(x) = {result.witness.query_x:g}\n"
        f"  only in y  {result.witness.only_y[0]}  f(y) = {result.witness.query_y:g}\n"
        "  in both    0\n"
        "  method     enumeration, float arithmetic, 7 datasets evaluated"
    )


def test_html_tells_the_same_facts_as_the_repr(result, float_result):
    for one in (result, float_result):
        assert words_of_html(one._repr_html_()) == repr(one).split()


def test_html_escapes_names():
    named = sl.from_function(largest, name="<b>max & more</b>")
    result = sl.global_sensitivity(UNIVERSE, named, size=3, neighbors="bounded")
    assert "<b>" not in result._repr_html_()
    assert words_of_html(result._repr_html_()) == repr(result).split()


def test_a_result_is_a_number(result):
    assert float(result) == result.value == 15.972222222222221
    assert result.exact == Fraction(575, 36)
    assert Fraction(result.value) < result.exact < Fraction(result.upper)


def test_results_and_witnesses_are_frozen(result):
    for thing in (result, result.witness):
        for field in fields(thing):
            with pytest.raises(FrozenInstanceError):
                setattr(thing, field.name, None)


def test_results_that_say_the_same_are_equal_and_hash_alike(result):
    again = sl.global_sensitivity(
        UNIVERSE, sl.Var(), size=3, neighbors=sl.Unbounded(1), method="enumeration"
    )
    assert again == result
    assert hash(again) == hash(result)
    assert replace(again, value=1.0) != result


def test_dictionary_is_ready_for_json(result, float_result):
    assert json.loads(json.dumps(result.to_dict())) == {
        "query": "var",
        "neighbors": "unbounded",
        "meaning": "at most",
        "distance": 1,
        "size": 3,
        "kind": "global",
        "norm": "L1",
        "sensitivity": 15.972222222222221,
        "exact": "575/36",
        "upper": 15.972222222222223,
        "status": "exact",
        "method": "enumeration",
        "arithmetic": "exact",
        "datasets_evaluated": 11,
        "x": [1, 2, 10],
        "y": [1, 2],
        "query_x": 16.22222222222222,
        "query_y": 0.25,
    }
    told = json.loads(json.dumps(float_result.to_dict()))
    assert (told["exact"], told["upper"], told["arithmetic"]) == (None, None, "float")


def test_witness_is_split_into_core_and_changes():
    witness = sl.results.Witness((1, 2, 2, 5), (1, 2, 7), 0.0, 0.0)
    assert (witness.shared, witness.only_x, witness.only_y) == ((1, 2), (2, 5), (7,))


def test_what_holds_is_verified(result, float_result):
    result.verify()
    float_result.verify()


def tampered_witness(result: sl.results.Sensitivity, **changed) -> sl.results.Sensitivity:
    return replace(result, witness=replace(result.witness, **changed))


PAIR = "x = (1, 2, 10), y = (1, 2)"
PAIRED = "x = (1, 2, 10) and y = (1, 2)"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"query_x": 16.0},
            "the answer on x of var is stated as 16.0, but the witness gives 16.22222222222222; "
            + PAIR,
        ),
        (
            {"query_y": 0.0},
            "the answer on y of var is stated as 0.0, but the witness gives 0.25; " + PAIR,
        ),
        (
            {"x": (1, 2, 3)},
            "the answer on x of var is stated as 16.22222222222222, but the witness gives "
            "0.6666666666666666; x = (1, 2, 3), y = (1, 2)",
        ),
        (
            {"x": (1, 2, 11)},
            "the record 11 is not in the universe: Universe of 4 records: 1, 2, 3, 10",
        ),
        (
            {"x": (2, 2, 10)},
            "the dataset has 2 records 2, the universe only 1: Universe of 4 records: 1, 2, 3, 10",
        ),
        ({"x": (10, 2, 1)}, "(10, 2, 1) is not in ascending order"),
        ({"x": (1, 2)}, "x has 2 records, the stated sizes are (3,)"),
        (
            {"y": (1, 3)},
            "x = (1, 2, 10) and y = (1, 3) are not neighbors (unbounded, at most 1): "
            "2 records are only in x, 1 only in y",
        ),
        (
            {"y": (1,)},
            "x = (1, 2, 10) and y = (1,) are not neighbors (unbounded, at most 1): "
            "2 records are only in x, 0 only in y",
        ),
        (
            {"y": (1, 2, 10)},
            "x = (1, 2, 10) and y = (1, 2, 10) are not neighbors (unbounded, at most 1): "
            "0 records are only in x, 0 only in y",
        ),
        (
            {"y": ()},
            "x = (1, 2, 10) and y = () are not neighbors (unbounded, at most 1): "
            "3 records are only in x, 0 only in y",
        ),
    ],
)
def test_a_tampered_witness_does_not_hold(result, changed, message):
    refused(
        lambda: tampered_witness(result, **changed).verify(), message, sl.errors.VerificationError
    )


def test_swapped_datasets_hold_only_where_their_sizes_do(result, float_result):
    witness = result.witness
    swapped = sl.results.Witness(witness.y, witness.x, witness.query_y, witness.query_x)
    refused(
        lambda: replace(result, witness=swapped).verify(),
        "x has 2 records, the stated sizes are (3,)",
        sl.errors.VerificationError,
    )
    witness = float_result.witness
    swapped = sl.results.Witness(witness.y, witness.x, witness.query_y, witness.query_x)
    replace(float_result, witness=swapped).verify()


def test_a_smaller_difference_is_no_proof_of_the_value(result):
    """Another pair of neighbors with its own true answers does not attain the value."""
    worse = sl.results.Witness((1, 2, 3), (1, 2), sl.Var()([1, 2, 3]), 0.25)
    refused(
        lambda: replace(result, witness=worse).verify(),
        "the value of var is stated as 15.972222222222221, but the witness gives "
        "0.4166666666666667; x = (1, 2, 3), y = (1, 2)",
        sl.errors.VerificationError,
    )


def test_exactly_is_stricter_than_at_most():
    result = sl.global_sensitivity(UNIVERSE, "sum", size=2, neighbors=sl.Bounded(2))
    one_replaced = sl.results.Witness((1, 10), (1, 2), 11.0, 3.0)
    held = replace(result, witness=one_replaced, value=8.0, exact=Fraction(8), upper=8.0)
    held.verify()
    refused(
        lambda: replace(held, neighbors=sl.Bounded(2, exactly=True)).verify(),
        "x = (1, 10) and y = (1, 2) are not neighbors (bounded, exactly 2): "
        "1 records are only in x, 1 only in y",
        sl.errors.VerificationError,
    )


def test_equal_records_can_change_places():
    """With another 1 in the universe, (1, 10) becomes (1, 2) by replacing two records too."""
    universe = sl.Universe([1, 2, 10], [2, 1, 1])
    relation = sl.Bounded(2, exactly=True)
    result = sl.global_sensitivity(universe, "sum", size=2, neighbors=relation)
    one_apart = sl.results.Witness((1, 10), (1, 2), 11.0, 3.0)
    replace(result, witness=one_apart, value=8.0, exact=Fraction(8), upper=8.0).verify()


def test_verify_calls_a_function_twice():
    calls = []

    def counting(x) -> float:
        calls.append(tuple(x.tolist()))
        return float(x.sum())

    result = sl.global_sensitivity(UNIVERSE, counting, size=3, neighbors="bounded")
    calls.clear()
    result.verify()
    assert calls == [result.witness.x, result.witness.y]


def test_a_function_that_changes_its_mind_is_found_out():
    scale = [1]
    result = sl.global_sensitivity(
        UNIVERSE, lambda x: scale[0] * int(x[0]), size=3, neighbors="bounded"
    )
    scale[0] = 2
    refused_with(
        lambda: result.verify(),
        r"^the answer on x of function is stated as ",
        sl.errors.VerificationError,
    )


def test_repr_separates_thousands():
    universe = sl.Universe(range(10), [150] * 10)
    result = sl.global_sensitivity(
        universe, np.ptp, size=5, neighbors=sl.Bounded(1), method="enumeration"
    )
    assert "; universe of 1,500 records" in repr(result)
    assert repr(result).endswith("enumeration, exact arithmetic, 2,002 datasets evaluated")


def test_repr_of_a_result_without_evaluation():
    result = sl.global_sensitivity(UNIVERSE, "median", size=3, neighbors=sl.Bounded(1))
    assert repr(result).endswith("monotone, exact arithmetic, no evaluation needed")


def results_of_all_kinds():
    universe = sl.Universe.from_domain([0, 1, 5])
    options = {"size": 3, "neighbors": sl.Bounded(1)}
    return {
        "search": sl.global_sensitivity(universe, "mean", **options),
        "smooth": sl.smooth_sensitivity(
            universe, "mean", dataset=[0, 1, 5], beta=1, neighbors="bounded"
        ),
    }


@pytest.mark.parametrize("kind", ["search", "smooth"])
def test_a_statement_that_no_search_would_accept_does_not_verify(kind):
    """A foreign record, one that is no number, a distance out of reach: never an InputError."""
    result = results_of_all_kinds()[kind]
    result.verify()
    wrong = []
    if kind == "smooth":
        wrong = [replace(result, x=x) for x in ((0, 1, 77), (0, [1], 5))]
    else:
        wrong = [
            replace(result, witness=replace(result.witness, x=x)) for x in ((0, 1, 77), (0, 1, [5]))
        ]
        wrong.append(replace(result, neighbors=sl.Unbounded(4)))
    for one in wrong:
        with pytest.raises(sl.errors.VerificationError):
            one.verify()
