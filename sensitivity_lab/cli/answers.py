"""The functions that commands call, one per command; each returns an answer."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from sensitivity_lab.article import checks, experiments
from sensitivity_lab.audits.call import audit as audit_claim
from sensitivity_lab.calls.curves import sensitivity_curves
from sensitivity_lab.calls.global_sensitivity import global_sensitivity
from sensitivity_lab.calls.local_sensitivity import local_sensitivity
from sensitivity_lab.checks import number_text, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.noise.table import noise_table
from sensitivity_lab.results.sensitivity import Sensitivity

from .arguments import (
    CLAIM,
    CLAIM_PER_K,
    COLUMNS,
    DATA,
    DELTA,
    DISTANCES,
    DOMAIN,
    EPSILON,
    FOLDER,
    GROUP_BY,
    NEIGHBORS,
    OF_FORMULA,
    PERSON,
    PUBLIC_UNIVERSE,
    QUERIES,
    QUERY,
    REQUIRED_QUERIES,
    ROWS_PER_PERSON,
    SIZE,
    SPLIT,
)
from .given import Given
from .output import Answer, check_writable, draw
from .release import release


def curves(given: Given) -> Answer:
    """Search the curves of several queries."""
    universes = given.universes(given[COLUMNS])
    given.doing(f"searching the curves of {', '.join(given[QUERIES])}")
    found = sensitivity_curves(
        universes,
        given.asked(QUERIES),
        size=given[SIZE],
        distances=given[DISTANCES],
        neighbors=given.relations(),
        **given.search(),
    )
    return Answer(text=found, data=found.to_dict, plot=found.plot, table=found.to_csv)


def formula(given: Given) -> Answer:
    """Print the formula of a query."""
    from sensitivity_lab.formulas import formula as formula_of

    found = formula_of(given[OF_FORMULA], given[NEIGHBORS])
    return Answer(text=found, data=found.to_dict)


def sensitivity(given: Given) -> Answer:
    """Search the sensitivity of one query."""
    universe = given.universe()
    given.doing(f"searching the sensitivity of {given[QUERY]}")
    result = global_sensitivity(
        universe,
        given.asked(QUERY),
        size=given[SIZE],
        neighbors=given.relation(given.distance()),
        **given.search(),
    )
    return _of_one(result)


def local(given: Given) -> Answer:
    """Search the sensitivity of one dataset."""
    universe, x = given.dataset()
    given.doing(f"searching the local sensitivity of {given[QUERY]}")
    result = local_sensitivity(
        universe,
        given.asked(QUERY),
        dataset=x,
        neighbors=given.relation(given.distance()),
        **given.search("local"),
    )
    return _of_one(result)


def _of_one(result: Sensitivity) -> Answer:
    """Return a sensitivity with its numbers in full, and the picture of its witness."""
    exact = "none: not a rational number" if result.exact is None else number_text(result.exact)
    text = (
        f"{result}\n  value      {result.value!r}\n  exact      {exact}"
        f"\n  upper      {result.upper!r}"
    )
    return Answer(text=text, data=result.to_dict, plot=lambda: result.plot("witness"))


def noise(given: Given) -> Answer:
    """Find the scales of the noise for several answers, or for one column of a table."""
    if given.has(DATA) and (given.has(DOMAIN) or given.has(ROWS_PER_PERSON)):
        return release(given)
    for argument in (PERSON, ROWS_PER_PERSON, GROUP_BY):
        if given.has(argument):
            raise InputError(
                f"{argument.name} goes with a table and a domain: give a file, and --domain "
                "COLUMN=SMALLEST:LARGEST, chosen without looking at the data; values are clipped "
                "to it"
            )
    if given.has(DATA):
        given.check_public()
    given.need(SIZE, REQUIRED_QUERIES, NEIGHBORS)
    loss = {"epsilon": given[EPSILON], "delta": given[DELTA], "split": given[SPLIT]}
    relation, sizes = given.relation(given.distance()), given[SIZE]
    given.check_public()
    universes = given.universes(given[COLUMNS])
    given.doing(f"searching the sensitivities of {', '.join(given[QUERIES])}")
    found = sensitivity_curves(
        universes,
        given.asked(QUERIES),
        size=sizes,
        distances=[relation.k],
        neighbors=relation,
        **given.search(),
    )
    table = noise_table(found, public_universe=given[PUBLIC_UNIVERSE], **loss)
    told = [str(table)]
    if given.has(DOMAIN):
        told.append("  domain     clip the values to it before you compute the answers")
    if relation.keeps_size:
        told.append(
            "  size       public: neighbors have the same number of rows, so nothing hides it"
        )
    return Answer(
        text="\n".join(told),
        data=lambda: {
            "epsilon": table.epsilon,
            "delta": table.delta,
            "neighbors": relation.family,
            "distance": relation.k,
            "size": sizes[0] if len(sizes) == 1 else sizes,
            "rows": [vars(row) for row in table],
        },
        table=lambda path: table.to_frame().to_csv(path, index=False),
    )


def audit(given: Given) -> Answer:
    """Compare a claim with the truth; a violated claim gives exit code 1 and a counterexample."""
    universe = given.universe()
    given.doing(f"auditing {given[QUERY]}")
    report = audit_claim(
        universe,
        given.asked(QUERY),
        given[CLAIM if given.has(CLAIM) else CLAIM_PER_K],
        size=given[SIZE],
        neighbors=given.relation(1),
        distances=given[DISTANCES],
        **given.search(),
    )
    return Answer(
        text=report,
        data=report.to_dict,
        plot=report.plot,
        table=report.to_csv,
        comment="" if report.sound else str(report.counterexample(report.decisive)),
        code=0 if report.sound else 1,
    )


def article(given: Given) -> Answer:
    """Print and write the article's tables and figures."""
    session, folder = given.session, given[FOLDER]
    planned = _planned(folder)
    for check in checks():
        given.doing(f"searching {check.title}")
        session.comment(f"{check.title}\n{check.run()}\n")
    made = []
    for experiment, picture, table in planned:
        given.doing(f"searching {experiment.title}")
        found = experiment.run()
        made.append({"name": experiment.name, "title": experiment.title, "curves": found.to_dict()})
        session.comment(f"{experiment.title}\n{found}\n")
        given.doing(f"writing {table}")
        found.to_csv(table)
        draw(session, partial(experiment.plot, found), picture)
    return Answer(text=f"four figures and four tables are in {folder}", data=lambda: made)


def _planned(folder: Path) -> list[tuple[Any, Path, Path]]:
    """Return each experiment with the writable files of its picture and its table."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make the folder {shown(str(folder))}: {error.strerror}"
        ) from error
    planned = [
        (experiment, folder / f"{experiment.name}.png", folder / f"{experiment.name}.csv")
        for experiment in experiments()
    ]
    for _, picture, table in planned:
        check_writable(picture, picture=True)
        check_writable(table)
    return planned
