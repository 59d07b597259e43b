"""Recorders in the place of mechanisms."""

from __future__ import annotations

import sys
from fractions import Fraction
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from checks import refused, refused_with
from recorded_mechanisms import Mechanism

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_recorded, recording
from sensitivity_lab.audits.recording import Call
from sensitivity_lab.checks import shown


class Special(Mechanism):
    """Inherits the method."""


class Loud:
    def __add__(self, other):
        return "added"


def add_noise(value, sensitivity, epsilon=1.0):
    return value + 1000 * sensitivity / epsilon


@pytest.fixture
def library():
    """A package of two modules, one of which imports the other's mechanism and function by name."""
    package, user = ModuleType("noisy_library"), ModuleType("noisy_library.user")
    package.__path__ = []
    package.Mechanism, package.add_noise = Mechanism, add_noise
    user.Noise, user.add_noise = Mechanism, add_noise
    package.user = user
    sys.modules.update({"noisy_library": package, "noisy_library.user": user})
    yield package
    del sys.modules["noisy_library"], sys.modules["noisy_library.user"]


@pytest.mark.parametrize("target", ["noisy_library.Mechanism", "noisy_library.user.Noise"])
def test_a_class_is_recorded_under_every_name(library, target):
    with recording(target) as calls:
        assert library.user.Noise(0.5).randomise(3) == 3
        assert library.Mechanism(2).randomise(value=[4]) == [4]
    assert calls == [Call("Mechanism", 0.5, 3), Call("Mechanism", 2, [4])]
    assert library.user.Noise(0.5).randomise(3) == 1003


def test_a_function_is_recorded_in_every_module(library):
    with recording("noisy_library.add_noise") as calls:
        assert library.user.add_noise(3, sensitivity=0.25) == 3
        assert library.add_noise(sensitivity=1, value=7) == 7
    assert calls == [Call("add_noise", 0.25, 3), Call("add_noise", 1, 7)]
    assert library.add_noise is library.user.add_noise is add_noise
    assert add_noise(3, 1) == 1003


def test_names_of_claim_and_value_can_be_others():
    with recording(
        add_noise, sensitivity=lambda given: given["epsilon"] * 3, value="sensitivity"
    ) as calls:
        assert add_noise(5, 9, 2.0) == 9
    assert calls == [Call("add_noise", 6.0, 9)]
    with recording(Mechanism, sensitivity=lambda self: self.sensitivity + 1) as calls:
        Mechanism(1).randomise(5)
    assert calls == [Call("Mechanism", 2, 5)]


def test_a_call_knows_its_site_and_its_epsilon():
    with recording(add_noise, epsilon="epsilon") as calls:
        add_noise(5, 9, 2.0)
    line = test_a_call_knows_its_site_and_its_epsilon.__code__.co_firstlineno + 2
    assert calls[0].epsilon == 2.0
    assert calls[0].site == (
        f"test_a_call_knows_its_site_and_its_epsilon (test_recording.py:{line})"
    )
    with recording(Mechanism, epsilon=lambda self: self.sensitivity * 2) as calls:
        Mechanism(3).randomise(5)
    assert (calls[0].epsilon, calls[0].sensitivity) == (6, 3)
    with recording(Mechanism) as calls:
        Mechanism(3).randomise(5)
    assert calls[0].epsilon is None


def test_an_inherited_method_is_recorded_for_the_class_alone():
    with recording(Special) as calls:
        assert Special(1).randomise(5) == 5
        assert Mechanism(1).randomise(5) == 1005
    assert calls == [Call("Special", 1, 5)]
    assert "randomise" not in vars(Special)
    assert Special(1).randomise(5) == 1005


def test_everything_is_put_back_after_an_error(library):
    with pytest.raises(ArithmeticError), recording(Mechanism, "noisy_library.add_noise"):
        raise ArithmeticError
    assert Mechanism(1).randomise(5) == 1005
    assert library.add_noise is add_noise
    with (
        pytest.raises(sl.errors.InputError, match="no method"),
        recording(Mechanism, Fraction),
    ):
        pass
    assert Mechanism(1).randomise(5) == 1005


GENERATOR = np.random.default_rng(1)

SAMPLER = (
    "a target must be a mechanism, and {} is a sampler of NumPy: use audit_mechanism, which "
    "judges the draws themselves; or draw in a function of your own, such as noisy(value, scale), "
    "and give that one"
)


def test_recorders_nest():
    with recording(Mechanism) as outer, recording(Mechanism) as inner:
        Mechanism(1).randomise(5)
    assert (len(outer), len(inner)) == (0, 1)
    assert Mechanism(1).randomise(5) == 1005


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ((), "targets must name at least one mechanism, got none"),
        ((3,), "a target must be a class, a function or the dotted name of one, got 3"),
        (
            ("no_such_package.Laplace",),
            "target 'no_such_package.Laplace' names no class and no function; write it as "
            "package.module.Name, with the package installed",
        ),
        (
            ("math.pi",),
            "target 'math.pi' names no class and no function; write it as "
            "package.module.Name, with the package installed",
        ),
        ((Fraction,), "Fraction has no method 'randomise'; name it by method="),
        (("numpy.random.laplace",), SAMPLER.format("'numpy.random.laplace'")),
        ((GENERATOR,), SAMPLER.format(shown(GENERATOR))),
        ((GENERATOR.laplace,), SAMPLER.format(shown(GENERATOR.laplace))),
    ],
)
def test_targets_that_cannot_be_recorded(targets, message):
    with pytest.raises(sl.errors.InputError) as caught, recording(*targets):
        pass
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["", ".", "..", ".Laplace", "math..pi"])
def test_a_name_with_an_empty_part_names_nothing(name):
    with (
        pytest.raises(sl.errors.InputError, match="names no class and no function"),
        recording(name),
    ):
        pass


@pytest.mark.parametrize(
    ("code", "raised"),
    [
        ("raise SystemExit(2)", "SystemExit: 2"),
        ("raise KeyError('display')", "KeyError: 'display'"),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda name: recording(name).__enter__(),
        lambda name: audit_recorded(sum, [0, 1], 1, name, neighbors="bounded"),
    ],
)
def test_a_module_that_fails_or_exits_does_not_end_the_process(
    monkeypatch, tmp_path, call, code, raised
):
    (tmp_path / "failing_library.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    refused(
        lambda: call("failing_library.Laplace"),
        f"'failing_library.Laplace' cannot be looked up: its import raises {raised}; give the "
        "class or the function itself, or name it in a module that imports",
    )


def test_an_object_that_claims_to_be_a_class_is_none():
    claims = type("Claims", (), {"__class__": type})()
    with pytest.raises(sl.errors.InputError, match="a target must be a class"), recording(claims):
        pass


def test_a_class_written_in_c_is_refused_and_the_others_are_put_back():
    with pytest.raises(sl.errors.InputError) as caught, recording(Loud, int, method="__add__"):
        pass
    assert str(caught.value) == (
        "int does not let its method '__add__' be replaced; give a class written in Python, or a "
        "function of your own that calls it"
    )
    assert Loud() + 1 == "added"


def test_what_is_no_method_is_refused():
    with pytest.raises(sl.errors.InputError) as caught, recording(Mechanism, method="__module__"):
        pass
    assert str(caught.value) == "Mechanism has no method '__module__'; name it by method="


def test_a_function_whose_signature_cannot_be_read_is_refused():
    def endless(value, sensitivity):
        return value + sensitivity

    endless.__wrapped__ = endless
    refused_with(
        lambda: audit_recorded(sum, [0, 1], 1, endless, neighbors="bounded"),
        "a target must have a signature, and that of",
    )


def test_what_is_done_to_a_release_in_place_leaves_the_true_value_alone():
    """Counts by value are clipped after the noise; the true ones move by 10 each."""

    def clipped(x):
        released = Mechanism(2).randomise({one: 10 * x.count(one) for one in (0, 1)})
        for name in released:
            released[name] = min(released[name], 1)
        return released

    report = audit_recorded(clipped, [0, 1], 2, Mechanism, neighbors="bounded")
    assert (report.verdict, report.rows[0].exact) == ("violated", 20)


def test_a_value_that_is_no_number_is_refused_by_name():
    refused(
        lambda: audit_recorded(
            lambda x: Mechanism(1).randomise(pd.Series(x)), [0, 1], 1, Mechanism,
            neighbors="bounded",
        ),
        "Mechanism must get a number, or several in a list, an array or a mapping, got "
        "<Series of shape (1,)>",
        sl.errors.QueryError,
    )  # fmt: skip


def test_records_that_a_function_changes_are_its_own():
    def emptied(x):
        found = sum(one for [one] in x)
        for record in x:
            record[0] = 0
        return Mechanism(5).randomise(found)

    report = audit_recorded(emptied, [[0], [5]], 2, Mechanism, neighbors="bounded")
    assert (report.verdict, report.rows[0].exact) == ("tight", 5)
