"""Write what sweeps found into docs/sweep.md, and tables of it beside that page.

python -m tools.sweep.docs FOLDER

FOLDER is that of ``python -m tools.sweep LIBRARY --output FOLDER``. In the page, what stands
between ``<!-- sweep of NAME -->`` and ``<!-- end -->`` is replaced.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from sensitivity_lab.audits.row import FAILING

from .page import summaries
from .setting import Line

DOCS = Path(__file__).parents[2] / "docs"

RELATIONS = {"neighbors bounded": "replaced", "neighbors unbounded": "added or removed"}
"""What settings say of their neighbors, and what the page calls it."""

HEADER = ("constructor", "settings", "verdicts", "claim / truth")

ISSUES = "https://github.com/opendp/opendp/issues/"

OUTSIDE = {
    "opendp": (
        "**Outside these settings.** The sweep says nothing about what it does not try. It does "
        "not reach these known mistakes: the delta of thresholds "
        f"([#2922]({ISSUES}2922)), the rounding of squared deviations of hundreds of large floats "
        f"([#2923]({ISSUES}2923), reproduced in `tests/corpus`), and "
        + ", ".join(f"[#{number}]({ISSUES}{number})" for number in (2944, 2945, 2949, 2950))
        + ". Arrays and Polars plans have sweeps of their own, below. It does not try "
        "selections, thresholds, randomized response, odometers and compositions, "
        "user-defined code, and datasets of more than a few records. Outputs of randomized "
        "constructors are a sample, which finds mistakes but proves no claim (*not judged*). Of a "
        "measurement it judges the sensitivity, but neither the sampler nor the delta."
    ),
    "opendp.extras": (
        "**Outside these settings.** All of this runs in exact arithmetic according to OpenDP "
        "(`idealized-numerics`), so rounding of a few units is no finding. The sweep does not try "
        "the sampler of eigenvectors, and so not PCA as a whole; the medians of `LinearRegression` "
        f"and its pairs of points, which are drawn ([#2950]({ISSUES}2950)); of "
        "`opendp.extras.mbi`, all but the counts that models are fitted to; `opendp.extras.ibis`, "
        "which runs a query of OpenDP on a database and makes no claim of its own; arrays with "
        "more than two columns; missing values; and clamping around a distant origin "
        f"([#2953]({ISSUES}2953))."
    ),
    "opendp.polars": (
        "**Outside these settings.** The sweep draws chains of at most three steps beside a "
        "truncation, over two tables of at most three rows, each with three columns. It does not "
        "try other steps and expressions (dates, texts, categories, cuts), thresholds on unknown "
        "keys and their delta, quantiles, columns redefined between two truncations "
        f"([#2949]({ISSUES}2949)), identifiers of several columns, and noise itself. Joins are "
        "with public keys: OpenDP has no others. An id whose rows change counts as one removed and "
        "one added. Unless the setting says `every order`, the rows of a table stand in one order."
    ),
    "pipeline_dp": (
        "**Outside these settings.** The sweep says nothing about what it does not try: Beam and "
        "Spark, the noise itself, the tree inside `PERCENTILE` and its noise per level (the sweep "
        "judges the entries that reach it), counts that are released together with a threshold, "
        "runs with Laplace noise under `PLDBudgetAccountant`, `add_dp_noise`, private contribution "
        "bounds, custom combiners, missing and infinite values, and datasets of more than two "
        "people (for selections: 25). The law of a selection is the chance that its "
        "`probability_of_keep` states; a test compares it with draws."
    ),
    "diffprivlib": (
        "**Outside these settings.** The sweep says nothing about what it does not try: the "
        "samplers of the mechanisms and their deltas, forests that shuffle their records, more "
        "than two classes, the directions that `PCA` draws, and datasets of more than a few "
        "records. It does not compare fitted models part by part, so a claim about their steps "
        "says nothing about the rest of their state."
    ),
}
"""By library, what its sweep leaves out: a claim that holds there was not tried."""


def read(table: Path) -> list[Line]:
    """Return the lines of a table, each with its neighbor relation in the name."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = [Line(*row) for row in list(csv.reader(file))[1:]]
    return [Line(_named(line), *list(vars(line).values())[1:]) for line in rows]


def _named(line: Line) -> str:
    for text, relation in RELATIONS.items():
        if text in line.setting:
            return f"{line.constructor}, {relation}"
    return line.constructor


def by_constructor(lines: list[Line]) -> list[tuple[str, ...]]:
    """Return the cells of the table by constructor; the time depends on the machine."""
    return [one.cells[:4] for one in summaries(lines)]


def findings(lines: list[Line]) -> list[tuple[str, ...]]:
    """Return the worst setting of each constructor with a claim that fails."""
    worst: dict[str, Line] = {}
    for line in lines:
        if line.verdict in FAILING:
            best = worst.get(line.constructor)
            if best is None or rank(line) < rank(best):
                worst[line.constructor] = line
    return [
        (line.verdict, line.slack, f"`{line.setting}`", f"`{line.remark}`")
        for line in worst.values()
    ]


def rank(line: Line) -> tuple[bool, float]:
    """Order findings: violated ones first, then the smallest claim over truth."""
    slack = float(line.slack) if line.slack not in ("", "nan") else 1.0
    return line.verdict != "violated", slack


def markdown(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table of Markdown."""
    cells = [header, tuple("---" for _ in header), *rows]
    return "\n".join(
        "| " + " | ".join(one.replace("|", "\\|") for one in row) + " |" for row in cells
    )


def section(name: str, lines: list[Line]) -> str:
    """Return what the page says of a sweep of a library, such as "opendp-0.16.0"."""
    found = sum(line.verdict in FAILING for line in lines)
    return "\n\n".join(
        [
            f"{len(lines):,} settings, {found:,} with a claim that fails.",
            OUTSIDE[name.rpartition("-")[0]],
            markdown(HEADER, by_constructor(lines)),
            "The worst setting of each constructor with a claim that fails:",
            markdown(("verdict", "claim / truth", "setting", "neighbors"), findings(lines)),
        ]
    )


def main() -> None:
    """Write the page and the tables."""
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    page = DOCS / "sweep.md"
    text = page.read_text("utf-8")
    for table in sorted(Path(sys.argv[1]).glob("*.csv")):
        lines = read(table)
        start = f"<!-- sweep of {table.stem} -->"
        before, found, rest = text.partition(start)
        if not found:
            raise SystemExit(f"{page.name} has no line {start!r}: the page is about other versions")
        end = "<!-- end -->"
        text = f"{before}{start}\n\n{section(table.stem, lines)}\n\n{end}{rest.partition(end)[2]}"
        with (DOCS / "sweep" / table.name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEADER, *by_constructor(lines)])
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
