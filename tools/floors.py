"""Print the oldest versions that pyproject.toml promises, as constraints of pip, one per line.

python tools/floors.py > constraints.txt
"""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
EXTRAS = ("dask", "sql", "test")
"""The extras whose versions are promised; those of the others are pinned or tools."""


def floors() -> list[str]:
    """Return what the requirements call the oldest version, such as ``numpy==1.26``."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    listed = list(project["dependencies"])
    for extra in EXTRAS:
        listed += project["optional-dependencies"][extra]
    found = []
    for requirement in listed:
        stated = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)", requirement)
        if stated is None:
            raise SystemExit(f"{PROJECT.name}: {requirement!r} does not state its oldest version")
        found.append("{}=={}".format(*stated.groups()))
    return found


if __name__ == "__main__":
    print("\n".join(floors()))
