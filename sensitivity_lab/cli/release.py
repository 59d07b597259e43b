"""From a table to a plan of its release, and to what may be published."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from typing import Any

from sensitivity_lab.checks import no_column, shown, whole_kind
from sensitivity_lab.csv_files import STANDARD_INPUT, read_cells
from sensitivity_lab.errors import InputError
from sensitivity_lab.releases import Person, Plan, plan
from sensitivity_lab.releases.grid import as_text

from .arguments import (
    COLUMNS,
    COPIES,
    DATA,
    DELTA,
    DIRECTION,
    DISTANCE,
    DOMAIN,
    EMPTY,
    EPSILON,
    GROUP_BY,
    JOBS,
    LEDGER,
    MEMORY_LIMIT,
    METHOD,
    NEIGHBORS,
    PERSON,
    PUBLIC_UNIVERSE,
    PUBLISH,
    RELEASE_NAME,
    REQUIRED_QUERIES,
    ROWS_PER_PERSON,
    SIZE,
    SPLIT,
)
from .given import Given
from .output import Answer

ASKED = ("count", "mean", "median", "std", "histogram")
"""What is released of a column where nothing else is asked for."""

_check_rows = whole_kind("the most rows that count of one person, at least 1")

_WITHOUT_PERSON = (
    " If no column identifies people, leave out --person; then something else must limit the rows "
    "of each, as the design of a study can"
)

_OF_OTHERS = (
    *(COPIES, SIZE, EMPTY, PUBLIC_UNIVERSE, COLUMNS, NEIGHBORS, DIRECTION, DISTANCE),
    *(METHOD, MEMORY_LIMIT, JOBS),
)
"""Arguments that apply only to noise for a universe."""


def release(given: Given) -> Answer:
    """Plan the release of a table, of which the names of its columns are read, or publish it."""
    return released(given, _plan_of(given), given[DATA])


def released(given: Given, plan: Plan, table: Any = None) -> Answer:
    """Return a plan, or with --publish what it publishes, into a new folder."""
    if not given.has(PUBLISH):
        return Answer(
            text=plan,
            data=lambda: {
                **plan.to_dict(),
                "rows": plan.to_frame().to_dict("records"),
                "statement": plan.facts(),
            },
            table=lambda path: plan.to_frame().to_csv(path, index=False),
        )
    where = given[PUBLISH]
    given.doing("publishing")
    found = plan.publish(table, where, ledger=given[LEDGER], name=given[RELEASE_NAME] or "")
    files = sorted(where.iterdir())
    told = [str(found), *(str(path) for path in files), plan.statement]
    return Answer(
        text="\n".join(told),
        data=lambda: {
            "statistics": found.to_frame().reset_index().to_dict("records"),
            "files": list(map(str, files)),
            "plan": plan.to_dict(),
            "statement": plan.facts(),
        },
    )


def _plan_of(given: Given) -> Plan:
    """Return the plan that the options ask for."""
    for argument in _OF_OTHERS:
        if given.chose(argument) and (argument, given[argument]) != (NEIGHBORS, "unbounded"):
            raise InputError(
                f"{argument.name} does not apply to a table with a domain: there, neighbors add or "
                "remove one person, so the number of rows is private; set the most rows of one "
                "person with --rows-per-person"
            )
    if given[ROWS_PER_PERSON] is None:
        raise InputError(
            "give the most rows that one person can have, chosen without looking at the data: "
            "--person COLUMN --rows-per-person 5 keeps at most five rows of each person; "
            "--rows-per-person 1 alone states that every row is another person's"
        )
    asked = given[REQUIRED_QUERIES] or ASKED
    if not given.has(DOMAIN) and set(asked) != {"count"}:
        raise InputError(
            "give the domain of each column, chosen without looking at the data, such as --domain "
            "visits=0:24; only --queries count needs none"
        )
    domains, groups = given.by_name(DOMAIN), given.by_name(GROUP_BY)
    person = Person(given[PERSON], max_rows=_check_rows("rows_per_person", given[ROWS_PER_PERSON]))
    person.warn_of(_other_columns(given, [*domains, *groups]))
    grids = {column: _bounds(column, domain) for column, domain in domains.items()}
    several = len(domains) > 1
    return plan(
        person,
        epsilon=given[EPSILON],
        delta=given[DELTA],
        split=given[SPLIT],
        bounds={column: bounds for column, (bounds, _) in grids.items()},
        step={column: step for column, (_, step) in grids.items()},
        groupby=groups,
        agg={
            **({"count": "count"} if "count" in asked else {}),
            **{
                f"{one} of {column}" if several else one: (column, one)
                for column in domains
                for one in dict.fromkeys(asked)
                if one != "count"
            },
        },
    )


def _other_columns(given: Given, columns: list[str]) -> list[str]:
    """Return a file's other columns; InputError if it cannot be read again, or lacks one."""
    if given[DATA] == STANDARD_INPUT:
        raise InputError("give the name of a file, not -, because it is read twice")
    given.doing(f"reading {given[DATA]}")
    if given[DATA].suffix.lower() in (".parquet", ".pq"):
        return []  # its columns are read with its rows
    known = list(read_cells(given[DATA]).columns)
    for name in filter(None, (*columns, given[PERSON])):
        if name not in known:
            advice = _WITHOUT_PERSON if name == given[PERSON] else ""
            raise InputError(f"{no_column(name, known)}{advice}")
    return [one for one in known if one not in columns]


def _bounds(column: str, domain: list[Any]) -> tuple[tuple[Fraction, Fraction], Fraction]:
    """Return the ends of a domain, and the largest step that all distances are multiples of."""
    values = sorted(map(Fraction, domain))
    if len(values) < 2:
        raise InputError(
            f"the domain of {shown(column)} has one value, so there is nothing to measure; give "
            f"its ends: --domain {column}=SMALLEST:LARGEST"
        )
    if len(values) == 2 and values[1] - values[0] != 1:
        low, high = map(as_text, values)
        raise InputError(
            f"the domain of {shown(column)} lists two values, {low} and {high}; for all whole "
            f"numbers between them write --domain {column}={low}:{high}"
        )
    below = lcm(*(value.denominator for value in values))
    apart = gcd(*(int((value - values[0]) * below) for value in values))
    return (values[0], values[-1]), Fraction(apart, below)
