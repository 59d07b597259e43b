"""A page per public name, and one per group of names, from the docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

MODULES = (
    "sensitivity_lab",
    "sensitivity_lab.universes",
    "sensitivity_lab.results",
    "sensitivity_lab.errors",
    "sensitivity_lab.noise",
    "sensitivity_lab.releases",
    "sensitivity_lab.bounds",
    "sensitivity_lab.audits",
    "sensitivity_lab.pipelines",
    "sensitivity_lab.spaces",
    "sensitivity_lab.sql",
    "sensitivity_lab.streams",
    "sensitivity_lab.plotting",
    "sensitivity_lab.formulas",
    "sensitivity_lab.empirical",
    "sensitivity_lab.releases.opendp",
)
"""What is public: the names in `__all__` of these."""

GROUPS = {
    "sensitivity_lab.calls": "Sensitivities",
    "sensitivity_lab.universes": "Universes, relations and datasets",
    "sensitivity_lab.queries": "Queries",
    "sensitivity_lab.results": "Results",
    "sensitivity_lab.noise": "Noise and clipping",
    "sensitivity_lab.pipelines.steps": "Steps of a pipeline",
    "sensitivity_lab.pipelines.measuring": "Stability of a pipeline",
    "sensitivity_lab.metrics": "Domains, metrics and transformations",
    "sensitivity_lab.pipelines": "Domains, metrics and transformations",
    "sensitivity_lab.audits": "Audits",
    "sensitivity_lab.spaces": "Spaces",
    "sensitivity_lab.sql": "Queries of databases",
    "sensitivity_lab.streams": "Streams",
    "sensitivity_lab.bounds": "Bounds",
    "sensitivity_lab.exact": "Noise and clipping",
    "sensitivity_lab.page": "Explorer",
    "sensitivity_lab.plotting": "Plots",
    "sensitivity_lab.releases": "Releases",
    "sensitivity_lab.releases.opendp": "Releases by OpenDP",
    "sensitivity_lab.formulas": "Formulas in n and k",
    "sensitivity_lab.empirical": "The article's functions",
    "sensitivity_lab.errors": "Errors",
    "sensitivity_lab": "More",
}
"""The room that an object is defined in decides its group; the longest match counts."""


@dataclass(frozen=True)
class Name:
    """A public name, such as ``Mean`` of `sensitivity_lab`, and what it stands for."""

    module: str
    name: str
    value: Any

    @property
    def full(self) -> str:
        """The name with its module, which is also the name of its page."""
        return f"{self.module}.{self.name}"

    @property
    def group(self) -> str:
        """The title of the page that lists it."""
        home = getattr(self.value, "__module__", self.module)
        for room in sorted(GROUPS, key=len, reverse=True):
            if f"{home}.".startswith(f"{room}."):
                return GROUPS[room]
        return GROUPS["sensitivity_lab"]

    @property
    def claim(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.value) or "").partition("\n")[0]

    @property
    def directive(self) -> str:
        """The directive of Sphinx that documents it."""
        if inspect.isclass(self.value):
            return "autoexception" if issubclass(self.value, Exception) else "autoclass"
        return "autofunction" if callable(self.value) else "autodata"


def public_names() -> Iterator[Name]:
    """Every public name, but for the modules among them."""
    for module in MODULES:
        loaded = import_module(module)
        for name in loaded.__all__:
            value = getattr(loaded, name)
            if not isinstance(value, ModuleType):
                yield Name(module, name, value)


def has_example(name: Name) -> bool:
    """Tell whether a name's docstring shows how it is used."""
    _, heading, examples = (inspect.getdoc(name.value) or "").partition("\nExamples\n--------\n")
    return bool(heading) and ">>>" in examples


def write(folder: Path) -> None:
    """Write the pages into a folder: ``api/`` for the names, a page per group beside it."""
    groups: dict[str, list[Name]] = {title: [] for title in GROUPS.values()}
    for name in public_names():
        groups[name.group].append(name)
    pages = folder / "api"
    pages.mkdir(parents=True)
    for title, names in groups.items():
        for name in names:
            (pages / f"{name.full}.rst").write_text(_page(name), "utf-8")
        if names:
            (folder / f"{_file(title)}.rst").write_text(_group(title, names), "utf-8")


def _page(name: Name) -> str:
    lines = [name.name, "=" * len(name.name), "", f".. currentmodule:: {name.module}", ""]
    lines.append(f".. {name.directive}:: {name.full}")
    if name.directive == "autoclass":
        lines.append("   :members:")
    return "\n".join([*lines, ""])


def _group(title: str, names: list[Name]) -> str:
    """A table of the names with what each one is, and their pages for the navigation."""
    lines = [title, "=" * len(title), "", ".. list-table::", "   :widths: 35 65", ""]
    for name in sorted(names, key=lambda one: (one.module, one.name.lower())):
        lines += [f"   * - :doc:`{name.name} <api/{name.full}>`", f"     - {name.claim}"]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    lines += [f"   {name.name} <api/{name.full}>" for name in names]
    return "\n".join([*lines, ""])


def _file(title: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in title.lower()).strip("_")
