"""What an index of packages shows: the README without what leads to files of the repository.

An index has neither the pictures nor the pages, and no address of the repository is known that has
them. So a picture is left out, and a link to a file is its text. The build runs this (see
``tool.hatch`` in pyproject.toml).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"!\[[^\]]*\]\((?!\w+:)[^()\s]+\)\n*")
LINK = re.compile(r"\[([^\]]*)\]\((?!\w+:)[^()\s]+\)")


def without_files(text: str) -> str:
    """Return Markdown without pictures and links of files; code stays as it is."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    parts[::2] = [LINK.sub(r"\1", PICTURE.sub("", part)) for part in parts[::2]]
    return "".join(parts)


class LongDescription(MetadataHookInterface):
    """Sets the long description of the package."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Read README.md into the metadata."""
        readme = (Path(self.root) / "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": without_files(readme)}
