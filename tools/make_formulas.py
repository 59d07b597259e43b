"""Prove the library's formulas, and write them down, or say whether all is up to date.

    python tools/make_formulas.py            prove, and write the proofs and the page
    python tools/make_formulas.py --check    prove again; exit status 1 and a reason otherwise

It needs the extra `formulas`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

import sensitivity_lab as sl
from sensitivity_lab.formulas.closed_form import (
    RECORDED,
    all_recorded,
    formula,
    obligations_of,
    texts_of,
)
from sensitivity_lab.formulas.library import known_of
from sensitivity_lab.queries import Query

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "formulas.md"

LISTED: tuple[Query, ...] = (
    *(sl.Count(), sl.Sum(), sl.Mean(), sl.Min(), sl.Max(), sl.Range(), sl.Midrange(), sl.Median()),
    *(sl.Percentile(q) for q in (10, 25, 75, 90)),
    sl.InterquartileRange(),
    *(sl.TrimmedMean(Fraction(1, below)) for below in (10, 4)),
    *(sl.WinsorizedMean(Fraction(1, below)) for below in (10, 4)),
    *(sl.Var(), sl.Var(ddof=1), sl.Std(), sl.Std(ddof=1), sl.Covariance("a", "b")),
)
"""The queries on the page, whose proofs are recorded; others are proved when they are asked for."""

_HEAD = """# Formulas for every n

What one person can change in a statistic of n records from L to U, at most k of which differ:
proved for every n and k where the condition holds (of several rows the first that does), and
attained by two datasets with records at L and U alone, `formula.witness(n, k)`. Replaced records
are *bounded* neighbors, added or removed ones *unbounded*. `sl.formulas.formula("var", "bounded")`
is one of them as an object, with what a solver showed. [How to use them](../how_to/formulas.md);
[why they hold](../proofs.md). This page is made by `python tools/make_formulas.py`.

| query | neighbors | sensitivity | where | rule |
| --- | --- | --- | --- | --- |
"""

_TAIL = """
*layers*: an L-statistic is the integral over t of its answer on the records that say which are at
least t. *sums*: a dataset counts by the sums of powers of its common and own records. *range*: the
query is convex in each record, so no pair is further apart than its largest and its least answer.
*sum*: only own records count.
"""


def proved() -> dict[str, dict[str, list]]:
    """Prove every formula; raise SystemExit with what is not proved."""
    found: dict[str, dict[str, list]] = {}
    for query in LISTED:
        for relation, known in known_of(query).items():
            proofs = [
                [one.verdict() for one in obligations_of(known, relation, place)]
                for place in range(len(known.cases))
            ]
            for case in proofs:
                for one in case:
                    if not one.proved:
                        sys.exit(f"{query.name}, {relation}: {one.name}: {one.verdict}")
            found[f"{query.name}, {relation}"] = {
                "cases": texts_of(known),
                "proofs": [[{**asdict(one), "seconds": 0} for one in case] for case in proofs],
            }
    return found


def page() -> str:
    """Return the page."""
    rows = []
    for query in LISTED:
        for relation in known_of(query):
            for one in formula(query, relation).to_dict()["cases"]:
                rule = one["rule"].partition(":")[0]
                cells = (f"`{query.name}`", relation, f"`{one['value']}`", f"`{one['condition']}`")
                rows.append(" | ".join(["", *cells, rule, ""]).strip())
    return _HEAD + "\n".join(rows) + "\n" + _TAIL


def main() -> None:
    """Write, or check."""
    found = proved()
    if "--check" in sys.argv:
        told = json.loads(RECORDED.read_text("utf-8"))
        if told.keys() != found.keys() or any(
            told[key]["cases"] != found[key]["cases"] for key in told
        ):
            sys.exit(f"{RECORDED.name} is not up to date")
        if PAGE.read_text("utf-8") != page():
            sys.exit(f"{PAGE.name} is not up to date")
        return
    RECORDED.write_text(json.dumps(found, indent=0) + "\n", "utf-8")
    all_recorded.cache_clear()
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
