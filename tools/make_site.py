"""Build the documentation site into build/site/html; warnings and broken links are errors."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SITE = ROOT / "tools" / "site"
SOURCE = ROOT / "build" / "site" / "source"
HTML = ROOT / "build" / "site" / "html"

sys.path.insert(0, str(SITE))


def stage() -> None:
    """Put together what Sphinx reads: the pages of docs/ and those that are made from the code."""
    import api

    shutil.rmtree(SOURCE.parent, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCE)
    api.write(SOURCE / "reference")


def main() -> int:
    """Stage, build, and check every link between pages."""
    from sphinx.cmd.build import main as sphinx

    stage()
    return sphinx(["-c", str(SITE), "-W", "--keep-going", "-q", str(SOURCE), str(HTML)])


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    sys.exit(main())
