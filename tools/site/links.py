"""Every link and picture of the built pages leads to a file, and every anchor to an id in it."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """What a page links to, and the ids that can be linked to."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links and ids of a tag."""
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            elif name in ("href", "src") and value and tag != "base":
                self.targets.append(value)


@cache
def _read(file: Path) -> _Page:
    page = _Page()
    page.feed(file.read_text("utf-8"))
    return page


def broken_links(folder: Path) -> list[str]:
    """A line for each link between the pages of a folder that leads nowhere."""
    found = []
    for file in sorted(folder.rglob("*.html")):
        if "_static" in file.parts:  # what the theme brings
            continue
        for target in dict.fromkeys(_read(file).targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            other = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not other.is_file():
                found.append(f"{file.relative_to(folder)}: no file for {target}")
            elif parts.fragment.startswith("q="):
                pass  # a state of the calculator
            elif parts.fragment and other.suffix == ".html" and not _has(other, parts.fragment):
                found.append(f"{file.relative_to(folder)}: no such place in {target}")
    return found


def _has(file: Path, fragment: str) -> bool:
    return unquote(fragment) in _read(file).ids
