"""Formulas as MathML, which browsers draw by themselves: no script, no font, no network."""

from __future__ import annotations

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    _draw(translator, node, block=False)


def _block(translator: HTML5Translator, node: nodes.math_block) -> None:
    _draw(translator, node, block=True)


def _draw(translator: HTML5Translator, node: nodes.Element, *, block: bool) -> None:
    tree = latex2mathml.tex2mathml(node.astext(), as_block=block)
    tag = "div" if block else "span"
    translator.body.append(f'<{tag} class="formula">{tree}</{tag}>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Let Sphinx draw formulas this way."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
