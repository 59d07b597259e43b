"""What a sweep of diffprivlib audits, and the scripts of its findings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from sensitivity_lab.audits.call import audit
from sensitivity_lab.audits.recorded import audit_recorded
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.audits.row import FAILING, RETURNED, WHOLE, AuditRow
from sensitivity_lab.metrics import OF_NEIGHBORS
from sensitivity_lab.results.literals import literal, short_literal

from .diffprivlib_models import METRICS_OF
from .diffprivlib_models import judge as judge_model
from .diffprivlib_settings import settings
from .scripts import judged, script_of
from .setting import Judged, Library, Setting, version_of

_MECHANISMS = (
    "Laplace",
    "LaplaceTruncated",
    "LaplaceBoundedDomain",
    "LaplaceFolded",
    "GeometricTruncated",
    "GeometricFolded",
)

_BUDGET = 1


def judge(setting: Setting) -> Judged:
    """Return what comes out of a setting of diffprivlib."""
    if setting.option("audit") in METRICS_OF:
        return judge_model(setting)
    with warnings.catch_warnings():
        # What it warns of, such as unused arguments, is not about sensitivities.
        warnings.simplefilter("ignore")
        report = _audit(setting)
    # A whole run that spends too much follows from a step that is wrong: the step says more.
    row = max(report.rows, key=lambda row: (row.verdict == "violated", _is_step(row)))
    row = row if row.verdict in FAILING else report.decisive

    def finding() -> tuple[str, str]:
        step = f" at {row.step}" if row.step else ""
        pair = f"{short_literal(row.evidence.x)} and {short_literal(row.evidence.y)}{step}"
        return pair, _script(setting, row)

    return judged(report, row, finding)


def _is_step(row: AuditRow) -> bool:
    return row.step not in ("", WHOLE, RETURNED)


def _audit(setting: Setting) -> AuditReport:
    """Return the audit of a call."""
    neighbors, sizes = setting.option("neighbors"), setting.sizes or ()
    if setting.option("audit") == "scores":
        metric = OF_NEIGHBORS[neighbors]
        return audit(
            setting.values,
            _scored(setting),
            1,
            size=sizes,
            neighbors=metric,
            outputs="Linf",
            distances=1,
            every_order=False,
            subject=setting.constructor,
            progress=False,
        )
    return audit_recorded(
        _called(setting), setting.values, sizes,
        *(f"diffprivlib.mechanisms.{name}" for name in _MECHANISMS),
        neighbors=neighbors, every_order=False, where=_where(setting), histories=1, budget=_BUDGET,
        subject=setting.constructor, progress=False,
    )  # fmt: skip


def _where(setting: Setting) -> Callable[[list[Any]], bool]:
    """Return where a call is defined: something is not missing, and each label occurs."""
    if setting.option("where"):
        return lambda x: len({record[-1] for record in x}) == 2
    return lambda x: any(record == record for record in x)


def _names() -> dict[str, Any]:
    """Return what the source of a call names."""
    import diffprivlib
    import numpy as np
    from diffprivlib import models, tools

    return {"np": np, "tools": tools, "models": models, "diffprivlib": diffprivlib}


def _called(setting: Setting) -> Callable[[list[Any]], Any]:
    """Return the call as a function of a dataset."""
    names = _names()
    code = compile(setting.source, setting.constructor, "eval")

    def call(x: list[Any]) -> Any:
        spent = {"epsilon": 1, "accountant": names["diffprivlib"].BudgetAccountant()}
        return eval(code, {**names, "x": x, "spent": {**spent, "random_state": 0}})

    return call


def _scored(setting: Setting) -> Callable[[list[Any]], list[float]]:
    """Return the scores of a selection as a function of a dataset: at points between the values.

    The intervals that are selected from end at the records, so their number says nothing; at each
    point there is one score.
    """
    from diffprivlib.mechanisms import Exponential

    call = _called(setting)
    values = sorted(setting.values)
    points = [(one + two) / 2 for one, two in pairwise(values)]

    def scores(x: list[Any]) -> list[float]:
        made: list[Any] = []

        def randomise(self: Any) -> int:
            made.append(self)
            return 0

        original = Exponential.randomise
        Exponential.randomise = randomise
        try:
            call(x)
        finally:
            Exponential.randomise = original
        (one,) = made
        edges = [values[0], *sorted(x), values[-1]]
        return [one.utility[sum(edge <= at for edge in edges) - 1] for at in points]

    return scores


def _script(setting: Setting, row: AuditRow) -> str:
    """Return a script that shows what is wrong with a call."""
    seen, neighbors = row.evidence, setting.option("neighbors")
    step = row.step
    place = 0 if step in (WHOLE, RETURNED) else int(step.split()[1]) - 1
    lines = _HEAD.replace("MECHANISMS", repr(_MECHANISMS)).replace("CALL", setting.source)
    lines += f"x, y = {literal(list(seen.x))}, {literal(list(seen.y))}\n"
    lines += f"assert not farther({OF_NEIGHBORS[neighbors]!r}, x, y, 1)\n"
    lines += f"history = {_plain_list(row.history)}\n"
    if row.verdict == "not aligned":
        lines += _UNALIGNED
    elif step == RETURNED:
        lines += _LEAK
    elif step == WHOLE:
        lines += _LOSS.replace("BUDGET", str(_BUDGET))
    else:
        check = _DIVIDED if row.verdict == "data-dependent claim" else _VIOLATED
        lines += check.replace("PLACE", str(place))
    violated = {WHOLE: "spends more than its budget", RETURNED: "returns data without noise"}
    what = {
        "violated": violated.get(step, "claims too little"),
        "not aligned": "releases a number of values that depends on the data",
        "data-dependent claim": "scales its noise to the data",
    }[row.verdict]
    title = f"{setting.constructor} of diffprivlib {what} ({neighbors} neighbors)."
    return script_of(title, f"diffprivlib=={_version()} 'scikit-learn<1.9'", lines)


def _plain_list(history: tuple[Any, ...]) -> str:
    return literal([one.tolist() if hasattr(one, "tolist") else one for one in history])


_HEAD = """import warnings

import diffprivlib
import numpy as np
from diffprivlib import mechanisms, models, tools

warnings.simplefilter("ignore")
steps, released, returned = [], [], []


def randomise(self, value):
    steps.append((type(self).__name__, np.ravel(value).tolist(), self.sensitivity, self.epsilon))
    return released[len(steps) - 1] if len(steps) <= len(released) else value


for name in MECHANISMS:
    getattr(mechanisms, name).randomise = randomise


def run(x, history):
    \"\"\"Return what reaches the mechanisms, which add no noise.\"\"\"
    steps.clear()
    released[:] = history
    accountant = diffprivlib.BudgetAccountant()
    spent = {"epsilon": 1, "accountant": accountant, "random_state": 0}
    returned[:] = [CALL]
    return list(steps)


"""

_RUN = """one, two = run(x, history), run(y, history)
print(*one, "", *two, sep="\\n")
"""

_VIOLATED = (
    _RUN
    + """(_, first, claim, _), (_, second, other, _) = one[PLACE], two[PLACE]
assert farther("L1", first, second, min(claim, other))
"""
)

_DIVIDED = (
    _RUN
    + """assert one[PLACE][2] != two[PLACE][2]
"""
)

_UNALIGNED = (
    _RUN
    + """assert [(step[0], step[3]) for step in one] != [(step[0], step[3]) for step in two]
"""
)

_LEAK = """run(x, history)
one = repr(returned)
run(y, history)
print(one, repr(returned), sep="\\n")
assert one != repr(returned)
"""

_LOSS = (
    _RUN
    + """loss = 0
for (_, first, claim, epsilon), (_, second, other, _) in zip(one, two):
    if first != second:
        least = min(claim, other)
        loss += epsilon * float(sum(gaps(first, second))) / least if least else inf
print("loss", loss)
assert loss > BUDGET * (1 + 1e-9)
"""
)


def _version() -> str:
    return version_of("diffprivlib", "diffprivlib")


def _constructors() -> list[str]:
    """Return the tools and models that are installed."""
    from diffprivlib import models, tools

    found = [name for name in dir(tools) if callable(getattr(tools, name)) and name[0] != "_"]
    return [*found, *(name for name in dir(models) if name[0].isupper())]


DIFFPRIVLIB = Library("diffprivlib", _version, settings, judge, _constructors)
