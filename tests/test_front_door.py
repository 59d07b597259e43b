"""What the public modules offer: their names, and the arguments that nobody chooses for a user."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import sensitivity_lab as sl


def public_modules(module: ModuleType = sl) -> Iterator[ModuleType]:
    """The module, and all that its public names lead to."""
    yield module
    for name in module.__all__:
        found = getattr(module, name)
        if isinstance(found, ModuleType):
            yield from public_modules(found)


MODULES = list(public_modules())

FUNCTIONS: dict[str, Any] = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in MODULES
    for name in module.__all__
    if inspect.isfunction(getattr(module, name))
}

OF_SEVERAL_FORMS = {"audit", "assert_sensitivity", "audit_opendp"}
"""Their neighbors belong to one form of the call: without it, the others are asked for."""


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, function in FUNCTIONS.items()
        if "neighbors" in inspect.signature(function).parameters
        and ".plotting." not in name  # there it is a title
        and name.split(".")[-1] not in OF_SEVERAL_FORMS
    ],
)
def test_nobody_chooses_the_neighbors_for_a_user(name):
    neighbors = inspect.signature(FUNCTIONS[name]).parameters["neighbors"]
    # Of streams, they say what becomes of a person's contributions, not which datasets are near.
    assert neighbors.default in (neighbors.empty, "zero-out")


@pytest.mark.parametrize("module", MODULES, ids=[module.__name__ for module in MODULES])
def test_tab_completion_proposes_public_names_alone(module):
    assert dir(module) == sorted(module.__all__)
