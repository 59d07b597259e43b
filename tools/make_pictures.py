"""Draw the pictures of the README and of docs/ into docs/images (or another folder)."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools" / "site"))

from pictures import examples, exchanges, ideas, rooms  # noqa: E402 - after the path to it

PICTURES: dict[str, Callable[[], Figure]] = {
    "curves": examples.draw_curves,
    "rows_per_person": examples.draw_rows_per_person,
    "strip": examples.draw_strip,
    "clipping": examples.draw_clipping,
    "two_witnesses": examples.draw_two_witnesses,
    "reach": examples.draw_reach,
    "noise": ideas.draw_noise,
    "universes": ideas.draw_universes,
    "relations": ideas.draw_relations,
    "three": ideas.draw_three,
    "lattice": ideas.draw_lattice,
    "exchanges_mean": partial(exchanges.draw_exchanges, "mean", statistics.fmean, "OACBCACOBC"),
    "exchanges_median": partial(
        exchanges.draw_exchanges, "median", statistics.median, "OACBCACOBC"
    ),
    "exchanges_std": partial(exchanges.draw_exchanges, "std", statistics.pstdev, "OACBCACOBC"),
    "rooms": rooms.draw_rooms,
}


def make(folder: Path) -> None:
    """Draw every picture into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        # No software's version in the file, which would change it for nothing.
        figure = draw()
        figure.savefig(
            folder / f"{name}.png", dpi=130, bbox_inches="tight", metadata={"Software": None}
        )
        plt.close(figure)


if __name__ == "__main__":
    matplotlib.use("Agg")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "images")
    make(parser.parse_args().folder)
