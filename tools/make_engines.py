"""Write docs/engines.md from the table of engines; with --check, say whether it is up to date."""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path

from sensitivity_lab.problem import Kind
from sensitivity_lab.search.engine import AnyEngine
from sensitivity_lab.search.engines import ENGINES

PAGE = Path(__file__).parent.parent / "docs" / "engines.md"

KINDS: tuple[Kind, ...] = ("global", "local", "smooth")

HEAD = """# Engines

Made by `python tools/make_engines.py` from `ENGINES` in `sensitivity_lab/search/engines.py`.

The name of an engine is the value of `method=`, and the file or folder of `sensitivity_lab/search/`
that holds its theory. All engines are exact; see the [proofs](proofs.md). `method="auto"` picks the
first, from the top, that accepts the problem; if none does, the error lists every reason. The cells
name the neighbor relations that an engine covers.
"""


def page() -> str:
    """Return the page's text."""
    lines = [HEAD, *_table(), ""]
    for engine in ENGINES:
        lines += [f"## {engine.name}, {engine.kind}", "", *_notes(engine), ""]
    return "\n".join(lines)


def _table() -> list[str]:
    """Return the table theory x kind."""
    names = dict.fromkeys(engine.name for engine in ENGINES)
    reach = {(engine.name, engine.kind): engine.reach for engine in ENGINES}
    covers = {engine.name: engine.covers for engine in ENGINES if engine.kind == "global"}
    head = ["| method | queries | " + " | ".join(KINDS) + " |", "| --- | --- | --- | --- | --- |"]
    rows = [
        f"| `{name}` | {covers[name]} | "
        + " | ".join(reach.get((name, kind), "none") for kind in KINDS)
        + " |"
        for name in names
    ]
    return head + rows


def _notes(engine: AnyEngine) -> list[str]:
    """Return the Notes of an engine's docstring: what it costs."""
    text = inspect.getdoc(type(getattr(engine, "engine", engine))) or ""
    _, _, notes = text.partition("Notes\n-----\n")
    return notes.splitlines() or [text.splitlines()[0]]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    text = page()
    if not parser.parse_args().check:
        PAGE.write_text(text, "utf-8")
    elif PAGE.read_text("utf-8") != text:
        sys.exit(f"{PAGE.name} is out of date; run python tools/make_engines.py")
