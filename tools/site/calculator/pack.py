"""Packs what the page needs of Python: runs in the engine, where it answers what the page can ask.

Of the packages that the engine has, the modules stay that are loaded by then. Of the library, all
modules of each room stay of which one is loaded, compiled.
"""

import py_compile
import sys
import zipfile
from pathlib import Path
from typing import Any

LIBRARY, PACKED = Path("/library"), Path("/packed")
STANDARD = "/usr/local/lib/python315.zip"

sys.path.insert(0, str(LIBRARY))

from sensitivity_lab.page.answer import (  # noqa: E402 - after the path to it
    FIRST,
    PARTS,
    QUERIES,
    RELATIONS,
    answer,
)


def requests() -> list[dict[str, Any]]:
    """Return all queries with all relations and parts, all kinds of universes, and wrong fields."""
    first = {"ask": "answer", "parts": list(PARTS), **FIRST}
    domain, interval = {"kind": "domain", "text": "0:9"}, {"kind": "interval", "text": "0:9"}
    records = {"kind": "records", "text": "1, 2, 2.5, 3, 4, 50"}
    csv = {"kind": "csv", "text": "a,b\n1,x\n2.5,y\n4,z\n", "column": "a", "name": "some.csv"}
    asked: list[dict[str, Any]] = [
        {**first, "universe": universe, "query": query, "relation": relation, "size": 4, "x": x}
        for query in QUERIES
        for relation in RELATIONS
        for universe, x in ((domain, {"kind": "records", "text": "1, 2, 3, 4"}), (interval, None))
    ]
    asked += [
        {**first, "universe": universe, "query": query, "x": universe}
        for universe in (records, csv)
        for query in QUERIES
    ]
    asked += [{**first, "query": query, "size": 90, "k": 3} for query in QUERIES]
    asked += [{**one, "ask": "code"} for one in asked[:: len(RELATIONS)]]
    wrong = ({}, {"kind": "domain", "text": "a"}, {"kind": "interval", "text": "5:1"})
    asked += [{**first, "universe": universe} for universe in wrong]
    asked += [{**first, "query": query} for query in ("meen", "percentile_x", 1)]
    asked += [{**first, name: "none"} for name in ("relation", "size", "k", "epsilon", "x")]
    return [
        *asked,
        {"ask": "choices"},
        {"ask": "columns", "text": csv["text"], "name": csv["name"]},
        {"ask": "no"},
    ]


def pack() -> None:
    """Write the modules that are loaded into one file."""
    rooms = {name.split(".")[1] for name in sys.modules if name.startswith("sensitivity_lab.")}
    with zipfile.ZipFile(STANDARD) as every, zipfile.ZipFile(PACKED / "python.zip", "w") as kept:
        for file in sorted(every.namelist()):
            module = file.removesuffix(".pyc").removesuffix("/__init__").replace("/", ".")
            if module in sys.modules and file.endswith(".pyc"):
                kept.writestr(zipfile.ZipInfo(file), every.read(file))
        for file in sorted((LIBRARY / "sensitivity_lab").rglob("*.py")):
            name = file.relative_to(LIBRARY)
            if name.parts[1] in {"__init__.py", *rooms, *(f"{room}.py" for room in rooms)}:
                compiled = PACKED / "compiled.pyc"
                py_compile.compile(
                    str(file),
                    str(compiled),
                    str(name),
                    doraise=True,
                    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
                )
                kept.writestr(zipfile.ZipInfo(str(name.with_suffix(".pyc"))), compiled.read_bytes())


if __name__ == "__main__":
    for request in requests():
        answer(request)
    pack()
