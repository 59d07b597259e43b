"""Use an installed sensitivity_lab as a newcomer does: the demo, and the code of the README.

Run by `make dist` with the Python of an environment in which the wheel is installed, from a folder
outside the checkout. The one argument is the README.
"""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import sysconfig
import tempfile
from importlib import metadata
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
README_FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.REPORT_NDIFF


def main(readme: Path) -> None:
    """Try the package; the process ends with what failed."""
    import matplotlib

    import sensitivity_lab

    matplotlib.use("Agg")
    where = Path(sensitivity_lab.__file__).resolve()
    if where.is_relative_to(CHECKOUT) and "site-packages" not in where.parts:
        sys.exit(f"this is the checkout, not the wheel: {where}")
    command = str(Path(sysconfig.get_path("scripts"), "sensitivity-lab"))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([command, "article", "--output", folder], check=True, cwd=folder)
        written = sorted(path.suffix for path in Path(folder).iterdir())
    if written != [".csv"] * 4 + [".png"] * 4:
        sys.exit(f"the demo wrote {written}, not four tables and four figures")
    told = subprocess.run([command, "--version"], check=True, capture_output=True, text=True)
    version = metadata.version("sensitivity_lab")
    if told.stdout.split() != ["sensitivity-lab", version]:
        sys.exit(f"--version prints {told.stdout!r}, and {version} is installed")
    own = {"sensitivity_lab", f"sensitivity_lab-{version}.dist-info", ".."}  # ..: the command
    others = {one.parts[0] for one in metadata.files("sensitivity_lab") or ()} - own
    if others:
        sys.exit(f"the wheel installs {sorted(others)}, too; tools and tests are for the checkout")
    described = metadata.metadata("sensitivity_lab").get_payload()
    if links := re.findall(
        r"\]\((?!\w+:)[^()\s]+\)", re.sub(r"```.*?```", "", described, flags=re.S)
    ):
        sys.exit(f"the long description leads to files that an index does not have: {links}")
    failed, tried = doctest.testfile(str(readme), module_relative=False, optionflags=README_FLAGS)
    if failed or not tried:
        sys.exit(f"{failed} of {tried} examples of {readme.name} failed")
    print(f"sensitivity_lab {version}: the demo and {tried} examples of {readme.name} ran")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
