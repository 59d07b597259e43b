"""The problems of `compare_versions.py` beside searches: audits, databases, noise, commands."""

from __future__ import annotations

import contextlib
import io
import math
import random
import shlex
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

import sensitivity_lab as sl

ROOT = Path(__file__).parents[1]
# The problems are those of this checkout's tests, whichever version solves them.
sys.path += [
    str(ROOT / "tests" / folder)
    for folder in ("corpus", "support/cases", "support/generators", "support/oracles")
]

Problems = dict[str, Callable[[random.Random], Any]]
"""By key; what is not drawn leaves the generator alone."""


def of_report(report: Any) -> dict[str, Any]:
    """What two versions must agree on of an audit."""
    return {
        "verdict": report.verdict,
        "sound": report.sound,
        "rows": [(str(row.distance), row.verdict, repr(row.value)) for row in report.rows],
    }


def mechanisms() -> Problems:
    """The corpus of mechanisms, by name."""
    from mechanisms import MECHANISMS

    def audited(one: Any, _: random.Random) -> dict[str, Any]:
        report = sl.audits.audit_mechanism(
            one.function,
            list(one.values),
            list(one.sizes),
            epsilon=one.epsilon,
            delta=one.delta,
            neighbors=one.neighbors,
        )
        if not report.worst:  # no law is known
            return of_report(report)
        losses = [repr(report.epsilon(one.delta)), repr(report.delta(one.epsilon))]
        return {**of_report(report), "losses": losses}

    return {one.name: partial(audited, one) for one in MECHANISMS}


def libraries() -> Problems:
    """Transformations of OpenDP and statistics of diffprivlib, by name."""
    import opendp.prelude as dp
    import test_diffprivlib as diffprivlib
    import test_opendp as opendp

    dp.enable_features("contrib")

    def transformation(case: Any, _: random.Random) -> dict[str, Any]:
        source, values, sizes, options = case
        return of_report(opendp.audit(source, values, sizes, **options))

    def statistic(name: str, size: int, _: random.Random) -> dict[str, Any]:
        low, high = bounds
        missing = [math.nan] * name.startswith("nan")
        return of_report(diffprivlib.audit(name, [low, (low + high) / 2, high, *missing], size))

    bounds = diffprivlib.BOUNDS[1]
    names = [name for name in diffprivlib.CALLS if name.endswith(str(bounds))]
    cases = (opendp.SOUND | opendp.LOOSE).items()
    return {f"OpenDP {name}": partial(transformation, case) for name, case in cases} | {
        f"diffprivlib {name}, size {size}": partial(statistic, name, size)
        for name in [*names, "count_nonzero"]
        for size in (2, 3)
    }


def a_database(draw: random.Random) -> dict[str, Any]:
    """What each person adds to a query of a database."""
    from oracle_sql import running
    from sql_cases import drawn_case
    from sql_checks import public_keys, query_of

    case = drawn_case(draw.randrange(10**6))
    with running(case.database, case.asked) as now:
        keys = public_keys(case, now, draw)
        query = query_of(case, keys, draw)
    row: dict[str, Any] = {}

    def tell(name: str, ask: Callable[[], Any]) -> None:
        try:
            found = ask()
        except sl.errors.SensitivityLabError as error:
            found = f"refused: {type(error).__name__}"
        row[name] = found

    def of_frame(frame: pd.DataFrame) -> list[str]:
        return sorted(map(repr, frame.astype(object).itertuples(index=False, name=None)))

    tell("contributions", lambda: of_frame(query.contributions().to_frame()))
    return row


def a_plan(draw: random.Random) -> dict[str, Any]:
    """The scales of noise for a number, for results, and for several of them together."""
    noise, top = sl.noise, draw.choice([1, 10, 100])
    universe = sl.Universe.from_domain([Fraction(i * top, 10) for i in range(11)])
    epsilon, delta = draw.choice([0.1, 0.5, 1, 2]), draw.choice([1e-9, 1e-6, Fraction(1, 100)])
    names = draw.sample(["mean", "median", "sum", "std", "max", "midrange"], 2)
    size, k = draw.randint(3, 12), draw.randint(1, 2)
    found = {
        name: sl.global_sensitivity(universe, name, size=size, neighbors=sl.Bounded(k))
        for name in names
    }
    row: dict[str, Any] = {}
    for name, one in (*found.items(), ("number", Fraction(draw.randint(0, 500), 7))):
        row[f"scales of {name}"] = [
            noise.laplace_scale(one, epsilon),
            noise.gaussian_scale(one, rho=epsilon),
            noise.analytic_gaussian_scale(one, epsilon, delta),
        ]
        row[f"losses of {name}"] = [noise.laplace_epsilon(one, 3), noise.gaussian_rho(one, 3)]
    for limit in (None, delta):
        split = draw.choice([None, [1, draw.randint(1, 5)]])
        plan = noise.noise_table(found, epsilon=epsilon, delta=limit, split=split)
        row[f"table, delta={limit}"] = plan.to_frame().to_csv()
    x = draw.choices(universe.values, k=min(size, 5))
    for limit in (None, delta):
        beta = noise.smooth_beta(epsilon, limit, k=k)
        one = sl.smooth_sensitivity(
            universe, names[0], dataset=x, neighbors=sl.Bounded(k), beta=beta
        )
        scale = (
            partial(noise.smooth_laplace_scale, delta=delta)
            if limit
            else (noise.smooth_cauchy_scale)
        )
        row[f"smooth, delta={limit}"] = [beta, scale(one, epsilon)]
    return row


OF_SCHOOL = "--table school=school_large.csv --person school.name"
BY_YEAR = "FROM school GROUP BY school_year"
RELEASE = "release school_large.csv --epsilon 1 --publish none --rows-per-person"
COMMANDS = (
    "release --help",
    "sql --help",
    "median --help",
    f"sql 'SELECT COUNT(*) FROM school' {OF_SCHOOL}",
    f"sql 'SELECT school_year, SUM(absence_days) AS days {BY_YEAR}' {OF_SCHOOL} "
    "--bounds school.absence_days=0:30 --groups 1,2,3",
    f"sql 'SELECT school_year, COUNT(*) AS n {BY_YEAR} ORDER BY n' {OF_SCHOOL} --groups 1,2,3 "
    "--epsilon 1 --max-rows 2",
    f"sql 'SELECT school_year, SUM(absence_days) AS days {BY_YEAR}' {OF_SCHOOL} "
    "--bounds school.absence_days=0:30 --groups 1,2,3 --epsilon 1/3 --max-rows 2 --delta 1e-6",
    f"sql 'SELECT school_year, AVG(absence_days) AS days {BY_YEAR}' {OF_SCHOOL} "
    "--bounds school.absence_days=0:30 --groups 1,2,3 --epsilon 1 --max-rows 2 --split 3 1",
    f"sql 'SELECT SUM(absence_days) FROM school' {OF_SCHOOL} --epsilon 1 --max-rows 2",
    f"sql 'SELECT school_year, COUNT(*) AS n {BY_YEAR}' {OF_SCHOOL} --epsilon 1 --max-rows 2",
    f"sql 'SELECT MAX(absence_days) FROM school' {OF_SCHOOL}",
    f"sql 'SELECT COUNT(*) FROM schools' {OF_SCHOOL}",
    f"{RELEASE} 1",
    f"{RELEASE} 0 --domain absence_days=0:30",
    f"{RELEASE} 1 --domain absence_days=0:30 --queries max",
    f"{RELEASE} 1 --domain absent_days=0:30",
    f"{RELEASE} 1 --domain absence_days=0:30 --split 1 2",
    "release missing.csv --domain age=0:9 --rows-per-person 1 --epsilon 1 --publish none",
)


def commands() -> Problems:
    """Command lines, which print text or JSON; told by what stands on them."""
    from sensitivity_lab.cli import main

    def called(line: str, _: random.Random) -> dict[str, Any]:
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(ROOT / "data"),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                code: Any = main(shlex.split(line))
            except SystemExit as stopped:  # as argparse does
                code = stopped.code
        return {"code": code, "out": out.getvalue(), "messages": err.getvalue()}

    return {line: partial(called, line) for one in COMMANDS for line in (one, f"{one} --json")}


PRODUCTS: dict[str, tuple[Callable[[random.Random], Any], int]] = {
    "sql": (a_database, 100),
    "noise": (a_plan, 150),
}
"""What is drawn of each family, and how often."""

LISTED = {"mechanisms": mechanisms, "libraries": libraries, "commands": commands}
"""The families whose problems have names."""
