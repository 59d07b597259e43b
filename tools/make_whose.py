"""Measure what other libraries compute under the names of statistics, and write the page of it.

    python tools/make_whose.py            write docs/reference/whose.md from what was measured
    python tools/make_whose.py --run      measure again the libraries that are here, then write
    python tools/make_whose.py --check    measure them again and compare; exit status 1 and the
                                          first cell that differs, or if no library is here

What was measured is in `tools/whose/`. A library is measured only at its pinned version; the others
keep what is known of them, and are named.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from whose import data_of, measure, page, privacy

from sensitivity_lab.files import written_whole

HERE = Path(__file__).parent / "whose"
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "whose.md"
STATISTICS = HERE / "statistics.json"
PRIVACY = HERE / "privacy.json"


def known(path: Path) -> dict[str, Any]:
    """Return what a file holds."""
    return json.loads(path.read_text("utf-8"))


def made() -> str:
    """Return the page from the files."""
    head, tail = ((HERE / name).read_text("utf-8") for name in ("head.md", "tail.md"))
    return page.whole(known(STATISTICS), known(PRIVACY), head, tail)


def again(
    only: str, private_alone: bool = False
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return both files with the libraries that are here measured again, and the others' names.

    Parameters
    ----------
    only : str
        A library or a statistic; "" measures all.
    private_alone : bool, default False
        Leave the libraries for statistics out.
    """
    statistics, private = known(STATISTICS), known(PRIVACY)
    here = set() if private_alone else data_of.installed()
    new = {key_of(cell): cell for cell in measure.measured(here, only)}
    old = {key_of(cell): cell for cell in statistics["cells"]}
    named = [key for key in measure.places() if key in new or key in old]
    statistics = {
        "versions": {name: data_of.PINS[package] for name, package in data_of.PACKAGES.items()},
        "cells": [new.get(key, old.get(key)) for key in named],
    }
    found = privacy.measured(only)
    private = {name: found.get(name, private.get(name)) for name in privacy.LIBRARIES}
    missing = [
        *sorted(set(data_of.PACKAGES) - here),
        *(name for name in private if name not in found),
    ]
    return statistics, private, missing


def key_of(cell: dict[str, Any]) -> tuple[str, str, str]:
    """Return what tells a cell from others."""
    return cell["statistic"], cell["library"], cell["call"]


def difference(new: Any, old: Any, where: str = "") -> str | None:
    """Return the first place where what was measured differs from what is known."""
    if isinstance(new, dict) and isinstance(old, dict):
        for key in [*new, *(key for key in old if key not in new)]:
            found = difference(new.get(key), old.get(key), f"{where} {key}")
            if found:
                return found
        return None
    if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        for place, (one, other) in enumerate(zip(new, old, strict=True)):
            name = one.get("call", place) if isinstance(one, dict) else place
            found = difference(one, other, f"{where} {name}")
            if found:
                return found
        return None
    return None if new == old else f"{where.strip()}: measured {new!r}, and the file says {old!r}"


def written(path: Path, data: dict[str, Any]) -> None:
    """Write a file: a line for each cell."""
    text = json.dumps(data, ensure_ascii=False, indent=1)
    with written_whole(path) as part:
        part.write_text(text + "\n", "utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Write, measure or check; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--run", action="store_true", help="measure what is here, and write")
    parser.add_argument("--check", action="store_true", help="measure what is here, and compare")
    parser.add_argument("--private", action="store_true", help="only libraries for privacy")
    parser.add_argument("--only", default="", help="a library or a statistic")
    options = parser.parse_args(arguments)
    if options.run or options.check:
        statistics, private, missing = again(options.only, options.private)
        print("not here at the pinned version:", ", ".join(missing) or "none")
        if len(missing) == len(data_of.PACKAGES) + len(privacy.LIBRARIES):
            print("nothing could be measured")
            return 1
    if options.run:
        written(STATISTICS, statistics)
        written(PRIVACY, private)
    if not options.check:
        with written_whole(PAGE) as part:
            part.write_text(made(), "utf-8")
        return 0
    for new, path in ((statistics, STATISTICS), (private, PRIVACY)):
        found = difference(new, known(path))
        if found:
            print(found)
            return 1
    if PAGE.read_text("utf-8") != made():
        print(f"{PAGE.name} is out of date; run python tools/make_whose.py")
        return 1
    print("as measured")
    return 0


if __name__ == "__main__":
    sys.exit(main())
