"""Build the documentation site into build/site/html; warnings and broken links are errors.

python tools/make_site.py            build, and check the links between pages
python tools/make_site.py --outside  also ask whether the addresses of other sites exist
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SITE = ROOT / "tools" / "site"
BUILT = ROOT / "build" / "site"

sys.path[:0] = [str(SITE), str(ROOT / "tools")]

import engine  # noqa: E402 - after the path to it
import make_pictures  # noqa: E402
from links import broken_links  # noqa: E402
from sphinx.cmd.build import main as sphinx  # noqa: E402
from stage import stage  # noqa: E402


def build(*, outside: bool) -> int:
    """Put the pages together, build them, and check every link; return the exit code."""
    source, html = BUILT / "source", BUILT / "html"
    shutil.rmtree(BUILT, ignore_errors=True)
    stage(source)
    make_pictures.make(source / "images")
    strict = ["-c", str(SITE), "-W", "--keep-going", "-q", "-j", "auto"]
    code = sphinx([*strict, "-b", "html", str(source), str(html)])
    engine.add(html)
    broken = broken_links(html)
    for line in broken:
        print(line, file=sys.stderr)
    if outside:
        code = code or sphinx([*strict, "-b", "linkcheck", str(source), str(BUILT / "links")])
    if not (code or broken):
        print(f"The site is in {html.relative_to(ROOT)}/index.html")
    return code or bool(broken)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--outside", action="store_true", help="also check links to other sites")
    sys.exit(build(outside=parser.parse_args().outside))
