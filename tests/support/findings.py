"""Scripts of findings of the sweeps, run as their readers run them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def assert_reproduces(script: str, folder: Path) -> None:
    """Run a script in a Python of its own, and check that it ends with "reproduced"."""
    path = folder / "finding.py"
    path.write_text(script)
    done = subprocess.run(
        [sys.executable, "-I", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("reproduced\n")
