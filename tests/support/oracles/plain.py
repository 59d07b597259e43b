"""Violations re-run in a fresh Python that never loads the lab."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HEAD = """
import json, sys
import naive_distances as naive

cases = json.load(sys.stdin)
assert cases

def check(claimed, x, y, answer_x, answer_y, again_x, again_y, distance, inputs, outputs):
    assert (again_x, again_y) == (answer_x, answer_y), (again_x, again_y)
    # JSON has no tuples, and lists are not counted.
    x, y = ([tuple(one) if isinstance(one, list) else one for one in data] for data in (x, y))
    assert naive.within(inputs, x, y, distance), (x, y)
    assert naive.farther(outputs, answer_x, answer_y, claimed), (answer_x, answer_y)
"""

TAIL = """
assert "sensitivity_lab" not in sys.modules
print("held:", len(cases))
"""


def run(script: str, cases: list[dict[str, Any]]) -> None:
    """Run a script that ends in `check` for every case, and see it hold for all of them."""
    done = subprocess.run(
        [sys.executable, "-c", HEAD + script + TAIL],
        cwd=Path(__file__).parent,
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"held: {len(cases)}"


def case(row: Any, **more: Any) -> dict[str, Any]:
    """A row of a report as plain numbers, lists and texts."""
    seen = row.evidence
    return {
        "distance": row.distance,
        "claimed": row.claimed,
        "x": seen.x,
        "y": seen.y,
        "answer_x": seen.answer_x,
        "answer_y": seen.answer_y,
        **more,
    }
