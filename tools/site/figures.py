"""The figures that a docstring's examples draw stand below them.

The examples of a docstring that plots are run as doctest runs them, and every matplotlib figure
among the values of their expressions and names becomes a picture.
"""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
from importlib import import_module
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from sphinx.application import Sphinx

matplotlib.use("Agg")


def figures_of(text: str, names: dict[str, Any]) -> list[Figure]:
    """Run the examples of a docstring and return the figures they made, each one once."""
    found: dict[int, Figure] = {}
    for example in doctest.DocTestParser().get_examples(text):
        value = None
        expected = Exception if example.exc_msg else ()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(expected):
            try:
                value = eval(compile(example.source, "<example>", "eval"), names)
            except SyntaxError:
                exec(compile(example.source, "<example>", "exec"), names)
        for drawn in (value, *names.values()):
            figure = drawn if isinstance(drawn, Figure) else getattr(drawn, "figure", None)
            if isinstance(figure, Figure):
                found[id(figure)] = figure
    return list(found.values())


def add_figures(
    app: Sphinx, _what: str, name: str, value: Any, _options: Any, lines: list[str]
) -> None:
    """Put the pictures below the docstring of what autodoc documents."""
    text = inspect.getdoc(value) or ""
    if ">>>" not in text or not {"plot", "figure", "save"} & set(_words(text)):
        return
    module = import_module(getattr(value, "__module__", None) or "sensitivity_lab")
    folder = Path(app.srcdir) / "reference" / "figures"
    folder.mkdir(exist_ok=True)
    for number, figure in enumerate(figures_of(text, dict(vars(module))), start=1):
        file = folder / f"{name}-{number}.png"
        figure.savefig(file, dpi=110, bbox_inches="tight")
        plt.close(figure)
        lines += ["", f".. image:: /reference/figures/{file.name}"]
        lines += [f"   :alt: What the examples of {name.rpartition('.')[2]} draw", ""]


def _words(text: str) -> list[str]:
    """The words of the lines that are code."""
    code = [line for line in text.splitlines() if line.lstrip().startswith((">>>", "..."))]
    return "".join(sign if sign.isalpha() else " " for sign in "\n".join(code)).split()


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen to autodoc, after numpydoc has."""
    app.connect("autodoc-process-docstring", add_figures, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
