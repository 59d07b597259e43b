"""Write the reference suite, data/reference_sensitivities.json, or say whether it is up to date.

    python tools/make_reference.py            write the file
    python tools/make_reference.py --check    compare; exit status 1 and a reason if it differs

Every problem is solved twice: by enumeration of all its datasets, and by the engine that the
library would choose. The two must agree, also with what is known from elsewhere.
"""

from __future__ import annotations

import argparse
import json
import operator
import sys
from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any

import pandas as pd
import reference_text as text
from reference_cases import all_cases
from reference_parts import Json, name_of

import sensitivity_lab as sl
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.files import written_whole
from sensitivity_lab.queries import Query
from sensitivity_lab.results.witness import ExactAnswer, difference_of
from sensitivity_lab.universes.relations import RELATIONS, Relation, multiplicities_of

PATH = Path(__file__).parent.parent / "data" / "reference_sensitivities.json"


def number(written: int | str | None) -> int | Fraction | None:
    """Return a number of the file: integers as such, all others as fractions."""
    return Fraction(written) if isinstance(written, str) else written


def universe_of(told_as: Json) -> sl.Universe:
    """Return the universe that an entry describes."""
    if "values" in told_as:
        values = [number(value) for value in told_as["values"]]
        if told_as["counts"] is None:
            return sl.Universe.from_domain(values)
        return sl.Universe(values, told_as["counts"])
    columns = {}
    for place, column in enumerate(told_as["columns"]):
        cells = [row[place] for row in told_as["rows"]]
        numeric = column["type"] == "number"
        columns[column["name"]] = list(map(number, cells)) if numeric else cells
    rows = pd.DataFrame(columns, dtype=object)
    if told_as["counts"] is None:
        return sl.TableUniverse.from_domain(rows, allow_missing=True)
    return sl.TableUniverse(rows, told_as["counts"], allow_missing=True)


def query_of(asked: Json) -> Query | str:
    """Return the query that an entry describes."""
    match asked:
        case {"name": "var" | "std" as name, "ddof": ddof}:
            return (sl.Var if name == "var" else sl.Std)(ddof)
        case {"name": "percentile", "q": q, "method": method}:
            return sl.Percentile(number(q), method)
        case {"name": "count_if", "column": column, "operator": sign, "value": value}:
            return _count_if(column, {">=": operator.ge, "==": operator.eq}[sign], value)
        case {"name": "sum_of", "column": column, "clip": clip}:
            return sl.SumOf(column, _numbers(clip))
        case {"name": "mean_of", "column": column, "empty": empty}:
            return sl.MeanOf(column, number(empty))
        case {"name": "covariance", "a": a, "b": b, "ddof": ddof}:
            return sl.Covariance(a, b, ddof)
        case {"column": column}:
            return _query_by(column, asked)
    return str(asked["name"])


def _count_if(column: str, compare: Callable[[Any, Any], bool], value: Any) -> Query:
    return sl.CountIf(
        lambda rows: [cell is not None and compare(cell, value) for cell in rows[column]]
    )


def _query_by(column: str, asked: Json) -> Query:
    """Return a query with an answer per category, bin or group."""
    match asked:
        case {"categories": categories}:
            return sl.Histogram(column, categories)
        case {"edges": edges}:
            return sl.Histogram(column, bins=_numbers(edges))
        case {"groups": groups, "of": of, "clip": clip}:
            return sl.GroupBy(column, sl.SumOf(of, _numbers(clip)), groups)
    return sl.GroupBy(column, sl.Count(), asked["groups"])


def _numbers(written: list[int | str] | None) -> tuple[Any, ...] | None:
    return None if written is None else tuple(map(number, written))


def relation_of(near: Json) -> Relation:
    """Return the neighbor relation that an entry describes."""
    relation = RELATIONS[near["relation"]]
    return relation.towards(near["direction"], near["k"], near["exactly"])


def entry(case: Json) -> Json:
    """Return a case with its sensitivity and witness."""
    universe, relation = universe_of(case["universe"]), relation_of(case["neighbors"])
    asked, norm = query_of(case["query"]), case["norm"]
    results = [
        sl.global_sensitivity(
            universe, asked, size=case["size"], neighbors=relation, norm=norm, method=method
        )
        for method in ("enumeration", "auto")
    ]
    answers, truths = [], []
    for result in results:
        result.verify()
        pair = [
            result.query.exactly(universe, multiplicities_of(data, universe))
            for data in (result.witness.x, result.witness.y)
        ]
        answers.append(pair)
        truths.append(difference_of(*pair, norm, result.query.root))
    if truths[0] != truths[1]:
        raise SystemExit(f"{name_of(case)}: the engines disagree, {truths}")
    _check_known(case, truths[0])
    witness, root = results[0].witness, results[0].query.root
    return {
        "id": name_of(case),
        **{key: case[key] for key in ("universe", "size", "neighbors", "query", "norm")},
        "exact": _exact(truths[0]),
        "value": truths[0].nearest(),
        "upper": truths[0].upper(),
        "witness": {
            "x": [_record(record, case["universe"]) for record in witness.x],
            "y": [_record(record, case["universe"]) for record in witness.y],
            "query_x": _answer(answers[0][0], root),
            "query_y": _answer(answers[0][1], root),
        },
        "source": case["source"],
    }


def _check_known(case: Json, truth: Difference) -> None:
    """Stop unless a value from elsewhere is that of the search, to the digits that it has."""
    if case["source"] == "enumerated":
        return
    says = case["source"]["says"]
    digits = len(says.partition(".")[2])
    allowed = Fraction(1, 10**digits) if digits else 0
    if abs(truth.close() - Fraction(says)) > allowed:
        raise SystemExit(f"{name_of(case)}: said to be {says}, found {truth.nearest()}")


def _record(record: Any, universe: Json) -> Any:
    """Return a record as the universe writes it: a number, or a list with the row's cells."""
    if "values" in universe:
        written = universe["values"]
        return written[list(map(number, written)).index(record)]
    kinds = [column["type"] for column in universe["columns"]]
    rows = [
        tuple(
            number(cell) if kind == "number" else cell
            for cell, kind in zip(row, kinds, strict=True)
        )
        for row in universe["rows"]
    ]
    return universe["rows"][rows.index(record)]


def _answer(answer: ExactAnswer, root: bool) -> Any:
    """Return an answer: a fraction, a root, or a list of fractions."""
    if isinstance(answer, tuple):
        return list(map(str, answer))
    return _exact(Difference(answer, Fraction(0), root=True)) if root else str(answer)


def _exact(truth: Difference) -> Any:
    """Return a difference of answers: a fraction if it is rational, else its radicands."""
    if not truth.root:
        return str(truth.exact)
    large, small = max(truth.first, truth.second), min(truth.first, truth.second)
    roots = _root(large), _root(small)
    if large == small:
        return "0"
    if None not in roots:
        return str(roots[0] - roots[1])
    return {"root_difference": [str(large), str(small)]} if small else {"root": str(large)}


def _root(value: Fraction) -> Fraction | None:
    """Return the square root if it is rational."""
    root = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return root if root * root == value else None


def suite() -> str:
    """Return the text of the file: the header, then one entry per line."""
    header = {
        "name": "sensitivity_lab reference suite",
        "version": 1,
        "license": "MIT",
        "description": text.DESCRIPTION,
        "fields": text.FIELDS,
        "neighbors": text.NEIGHBORS,
        "queries": text.QUERIES,
        "percentile_methods": text.PERCENTILE_METHODS,
        "sources": text.SOURCES,
    }
    lines = ",\n".join(
        json.dumps(entry(case), ensure_ascii=False, separators=(",", ":")) for case in all_cases()
    )
    head = json.dumps(header, ensure_ascii=False, indent=1).removesuffix("\n}")
    return f'{head},\n "entries": [\n{lines}\n]\n}}\n'


def difference(made: str, committed: str) -> str | None:
    """Return in what the committed text differs from the one just made; None if in nothing."""
    if made == committed:
        return None
    ours, theirs = made.splitlines(), committed.splitlines()
    for place, (new, old) in enumerate(zip(ours, theirs, strict=False), start=1):
        if new != old:
            return f"line {place} should be\n{new}\nand is\n{old}"
    return f"it has {len(theirs)} lines and should have {len(ours)}"


def main(arguments: list[str] | None = None) -> int:
    """Write or check the file; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="do not write, compare")
    parser.add_argument("--path", type=Path, default=PATH, help="another file")
    options = parser.parse_args(arguments)
    made = suite()
    if not options.check:
        with written_whole(options.path) as part:
            part.write_text(made, "utf-8")
        entries = len(json.loads(made)["entries"])
        print(f"wrote {options.path}: {entries} entries, {len(made.encode()) / 1000:.0f} kB")
        return 0
    found = difference(made, options.path.read_text("utf-8"))
    print(f"{options.path} is up to date" if found is None else f"{options.path}: {found}")
    return int(found is not None)


if __name__ == "__main__":
    sys.exit(main())
