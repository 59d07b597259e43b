"""The pages that Sphinx reads: those of docs/, and what is made from the rest of the repository.

Links lead from file to file of the repository, so that they work wherever the files are read. Here
they are turned to where the files are on the site. A file that is no page is copied beside the
pages, to be downloaded: no address of the repository is needed.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import api
import command_line
import gallery

ROOT = Path(__file__).parents[2]

PLACES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "data/README.md": "data.md",
    "docs": ".",
    "notebooks": "notebooks",
    "benchmarks": "benchmarks",
}
"""Where files and folders of the repository are among the pages."""

FILES = "files"
"""Where the other files are that pages link to."""

LINK = re.compile(r"(?<=\]\()([^()\s#\"]+)(#[^()\s\"]*)?(?=\))")


def stage(folder: Path) -> None:
    """Fill an empty folder with pages."""
    shutil.copytree(ROOT / "docs", folder)
    alone = [name for name in PLACES if name.endswith(".md") and name != "README.md"]
    for kind in ("docs/**/*.md", "notebooks/*.ipynb", "benchmarks/*.png", *alone):
        for file in sorted(ROOT.glob(kind)):
            page = folder / placed(file)
            page.parent.mkdir(exist_ok=True)
            shutil.copy(file, page)
            if file.suffix == ".png":
                continue
            # Doctest needs an empty line before the end of a block, readers do not.
            text = turned(page.read_text("utf-8"), file, folder).replace("\n\n```\n", "\n```\n")
            page.write_text(text, "utf-8")
    gallery.write(folder / "notebooks")
    command_line.write(folder / "reference")
    api.write(folder / "reference")
    for file in folder.rglob("*.md"):
        file.write_text(_without_absent(file), "utf-8")


def _without_absent(file: Path) -> str:
    """A page without the patterns of a table of contents that no page matches.

    Pages that take long to make, such as that of a sweep, may not have been made.
    """
    lines = file.read_text("utf-8").splitlines(keepends=True)
    pattern = re.compile(r"[\w./]+\*\n")
    return "".join(
        line
        for line in lines
        if not pattern.fullmatch(line) or any(file.parent.glob(f"{line.strip()}.*"))
    )


def placed(file: Path) -> Path:
    """Where a file or folder of the repository is among the pages; Path() if it is not."""
    inside = file.relative_to(ROOT)
    for start, place in PLACES.items():
        if inside.is_relative_to(start):
            return Path(place) / inside.relative_to(start)
    return Path()


def turned(text: str, file: Path, pages: Path) -> str:
    """Turn a text's links to where the files are on the site; copy those that are no pages."""
    here = placed(file).parent

    def turn(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(file.parent / link[1]))
        if "://" in link[1] or not target.exists() or not target.is_relative_to(ROOT):
            return link[0]
        page = placed(target)
        if page == Path() or target.suffix == ".py":
            page = Path(FILES) / target.relative_to(ROOT)
            (pages / page).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(target, pages / page)
        return f"{Path(os.path.relpath(page, here)).as_posix()}{link[2] or ''}"

    return LINK.sub(turn, text)
