"""What a sweep audits of OpenDP where rows come in: arrays of NumPy, and plans over Polars tables.

A dataset is a list of rows. `data` of `HEAD` turns it into what OpenDP takes, and functions of
`plain` turn answers back. The audit and the scripts of findings run the same text.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from typing import Any

from sensitivity_lab.audits.call import audit
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.metrics import METRICS
from sensitivity_lab.results.literals import literal, short_literal

from . import plain
from .opendp_extras import settings as settings_of_extras
from .opendp_plans import TABLES
from .opendp_plans import settings as settings_of_plans
from .scripts import judged, script_of
from .setting import REFUSED, Judged, Library, Setting, last_line, version_of

HEADS = {
    "arrays": """import numpy as np
import opendp.prelude as dp
from opendp.extras.numpy import _make_np_count, _make_np_mean, _make_np_sscp, _make_np_sum
from opendp.extras.sklearn import _make_eigenvalues
from opendp.extras.sklearn.linear_model._make_private_theil_sen import make_select_column

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")


def data(rows):
    return np.array(rows, dtype=float).reshape(len(rows), 2)
""",
    "marginals": """import opendp.prelude as dp
import polars as pl
from opendp.extras.mbi._utilities import make_stable_marginals

dp.enable_features("contrib", "honest-but-curious")
COLUMNS = {"p": pl.UInt32, "q": pl.UInt32}
DOMAIN = dp.lazyframe_domain(
    [dp.series_domain(name, dp.atom_domain(bounds=(0, 2), T="u32")) for name in COLUMNS]
)
ROWS = dp.frame_distance(dp.symmetric_distance())


def data(rows):
    return pl.LazyFrame(rows, schema=COLUMNS, orient="row")


def map_of(made, d_in, apart):
    bounds = [dp.polars.Bound(by=[], per_group=d_in)]
    (clique,) = made.map(bounds)
    if apart:
        keys = [pl.col(name) for name in clique]
        bounds.append(dp.polars.Bound(by=keys, per_group=1, num_groups=d_in))
    return made.map(bounds)[clique]
""",
    **TABLES,
}
"""By the kind of data: what a setting names, and how rows become data."""

CLAIMS = {
    "distance": "made.map(d_in)",
    "rows": "bound(made.map(d_in), [], 'per_group')",
    "rows in a group": "bound(made.map(d_in), ['g'], 'per_group')",
    "groups": "bound(made.map(d_in), ['g'], 'num_groups')",
    "marginal": "map_of(made, d_in, False)",
    "marginal of groups apart": "map_of(made, d_in, True)",
    "epsilon": "noisy.map(d_in)",
    "rho": "(2 * noisy.map(d_in)) ** 0.5",
}
"""The claim, as the setting says it; `made` is what its source makes."""

TWINS = "exact, noisy = made(0.0), made(1.0)\n"
"""A measurement is a function of the scale of its noise."""

ANSWERS = {
    "distance": "numbers(made(data(rows)))",
    "rows": "rows_of(made(data(rows)))",
    "rows in a group": "rows_of(made(data(rows)))",
    "groups": "rows_of(made(data(rows)))",
    "marginal": "next(iter(made(data(rows)).values())).ravel().tolist()",
    "marginal of groups apart": "next(iter(made(data(rows)).values())).ravel().tolist()",
    "epsilon": "cells_of(exact(data(rows)))",
    "rho": "cells_of(exact(data(rows)))",
}
"""The answer on a list of rows, without noise."""


def _noisy(setting: Setting) -> bool:
    return setting.source.startswith("lambda")


@dataclass(frozen=True)
class _Asked:
    """A setting, and the names that its text needs."""

    setting: Setting
    names: dict[str, Any]
    known: dict[str, Any] = field(default_factory=dict)

    def claim(self, d_in: int) -> Any:
        """Return what OpenDP claims at a distance."""
        return eval(CLAIMS[self.setting.option("claim")], {**self.names, "d_in": d_in})

    def answer(self, rows: list[Any]) -> Any:
        """Return the answer on rows; OpenDP is asked once."""
        key = repr(rows)
        if key not in self.known:
            text = ANSWERS[self.setting.option("claim")]
            self.known[key] = eval(text, {**self.names, "rows": rows})
        return self.known[key]

    def audit(self) -> AuditReport:
        """Return the audit."""
        near, far = (
            name if name in METRICS else plain.DISTANCES[name]
            for name in (self.setting.option("near"), self.setting.option("far"))
        )
        return audit(
            list(self.setting.values), self.answer, self.claim, size=self.setting.sizes or (),
            neighbors=near, outputs=far, distances=self.setting.option("d_in"),
            every_order=bool(self.setting.option("every order")), progress=False,
        )  # fmt: skip


def judge(setting: Setting) -> Judged:
    """Return what comes out of a setting."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # tables are small, and workers are several
    names: dict[str, Any] = dict(vars(plain))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of OpenDP: types that will change
        exec(HEADS[setting.option("data")], names)
        try:
            exec(f"made = {setting.source}\n{TWINS if _noisy(setting) else ''}", names)
        except Exception as error:  # noqa: BLE001 - whatever OpenDP raises, it refuses the setting
            return Judged(REFUSED, remark=last_line(error))
        report = _Asked(setting, names).audit()
    row = report.decisive

    def finding() -> tuple[str, str]:
        x, y = list(row.evidence.x), list(row.evidence.y)
        pair = f"d_in = {row.distance}: {short_literal(row.evidence.x)} and "
        pair += short_literal(row.evidence.y)
        return pair, _script(setting, int(row.distance), x, y)

    return judged(report, row, finding)


def _script(setting: Setting, d_in: int, x: list[Any], y: list[Any]) -> str:
    """Return a script that shows a claim of OpenDP to be too small."""
    near, far, claim = (setting.option(name) for name in ("near", "far", "claim"))
    body = f"""{HEADS[setting.option("data")]}

made = {setting.source}
{TWINS if _noisy(setting) else ""}d_in, x, y = {d_in}, {literal(x)}, {literal(y)}
assert not farther({near!r}, x, y, d_in)
claim = {CLAIMS[claim]}
answers = [{ANSWERS[claim]} for rows in (x, y)]
print("claim", claim, "answers", *answers)
assert farther({far!r}, *answers, claim)
"""
    title = f"{setting.constructor} of OpenDP promises less at distance {d_in} than answers differ."
    needs = f"opendp=={_version()} numpy scipy scikit-learn 'polars=={version_of('polars', '')}'"
    return script_of(title, needs, body)


def _version() -> str:
    return version_of("opendp", "opendp")


def _extras() -> list[str]:
    """Return the constructors of `opendp.extras` that take arrays."""
    return sorted({one.constructor for one in settings_of_extras()})


def _plans() -> list[str]:
    return sorted({one.constructor for one in settings_of_plans()})


EXTRAS = Library("opendp.extras", _version, settings_of_extras, judge, _extras)
PLANS = Library("opendp.polars", _version, settings_of_plans, judge, _plans)
