"""What a sweep of PipelineDP audits, and the scripts of its findings."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import Any

from sensitivity_lab.audits.call import audit
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.audits.row import FAILING
from sensitivity_lab.errors import MissingExtraError
from sensitivity_lab.results.literals import literal, short_literal

from . import plain
from .pipeline_dp_runs import HEAD
from .pipeline_dp_settings import settings
from .scripts import confirmed, judged, script_of
from .setting import REFUSED, Judged, Library, Setting, last_line, version_of

_ROUNDING = 2**22
"""Units in the last place, about 1e-9, by which a delta of chances near 1 may be off."""

Names = dict[str, Any]


def judge(setting: Setting) -> Judged:
    """Return what comes out of a setting of PipelineDP."""
    logging.disable(logging.WARNING)
    names: Names = {**vars(plain), "__name__": "finding"}
    exec(HEAD, names)
    first = setting.values[0]
    try:
        found = names["run"](first, setting.source)
    except Exception as error:  # noqa: BLE001 - whatever PipelineDP raises, it refuses the setting
        return Judged(REFUSED, remark=f"{type(error).__name__}: {last_line(error)}")
    if setting.option("audit") == "law":
        return _of_law(setting, names)
    overspent = _of_budget(setting, names["told"](found))
    return overspent or _of_values(setting, names)


def _of_law(setting: Setting, names: Names) -> Judged:
    """Judge the law of a run, which has no noise but that of selections and of Gaussians."""
    epsilon, delta = setting.option("total")
    datasets = [list(x) for x in setting.values]
    laws = {repr(x): names["law"](x, setting.source, epsilon) for x in datasets}
    report = audit(
        None, lambda x: laws[repr(x)], delta, datasets=datasets, neighbors="symmetric",
        outputs=plain.delta, distances=1, tolerance_ulps=_ROUNDING, subject=setting.constructor,
        progress=False,
    )  # fmt: skip
    body = f"""
epsilon, delta = {epsilon}, {delta}
laws = law(x, source, epsilon), law(y, source, epsilon)
print("delta", DISTANCES["delta"](*laws), "of", delta)
assert farther("delta", *laws, delta * (1 + 1e-9))
"""
    return judged(report, report.decisive, _finding(setting, report, body, "spends more delta"))


def _of_values(setting: Setting, names: Names) -> Judged:
    """Judge the steps one by one, and return what comes out of the worst of them."""
    source = setting.source
    datasets = [list(x) for x in setting.values]
    choices = {repr(x): names["choices"](x, source) for x in datasets}
    runs = {
        (repr(x), choice): names["run"](x, source, choice)
        for x in datasets
        for choice in choices[repr(x)]
    }
    several = {names["told"](one) for one in runs.values()}
    if len(several) > 1:
        raise TypeError(f"mechanisms are told what depends on the data: {several}")
    ((*steps,),) = several
    worst: tuple[tuple[bool, float], Judged] | None = None
    for place, (norm, claim, *_) in enumerate(steps):
        # A person is in so many partitions, and counts once in each.
        limits = {"L0": claim, "Linf": 1} if norm == "kept" else {norm: claim}
        for metric, limit in limits.items():
            report = _audit(setting, names, datasets, choices, runs, place, metric, limit)
            rank = report.verdict not in FAILING, report.decisive.factor
            if worst is None or rank < worst[0]:
                body = _FARTHER.format(place=place, metric=metric, limit=limit)
                what = f"claims too little at step {place + 1} of {len(steps)}"
                made = judged(report, report.decisive, _finding(setting, report, body, what))
                worst = rank, made
    if worst is None:
        raise TypeError("nothing reaches a mechanism")
    return worst[1]


def _audit(
    setting: Setting,
    names: Names,
    datasets: list[Any],
    choices: dict[str, list[Any]],
    runs: dict[Any, Any],
    place: int,
    metric: str,
    limit: float,
) -> AuditReport:
    """Audit a step; where the sampler chooses, under the best coupling of its choices."""

    def answer(x: Any, choice: tuple[int, ...]) -> Any:
        return names["values"](runs[repr(x), choice], place)

    given: dict[str, Any] = {
        "datasets": datasets, "neighbors": "symmetric", "outputs": metric, "distances": 1,
        "subject": setting.constructor, "progress": False,
    }  # fmt: skip
    if all(len(one) == 1 for one in choices.values()):
        return audit(None, lambda x: answer(x, choices[repr(x)][0]), limit, **given)
    return audit(None, answer, limit, choices=lambda x: choices[repr(x)], **given)


_FARTHER = """
step, metric, claim = {place}, {metric!r}, {limit!r}
answers = [
    [values(run(z, source, choice), step) for choice in choices(z, source)] for z in (x, y)
]
print("claim", claim, "answers", *answers)
# Whatever is drawn together: one dataset has an answer that is too far from all of the other's.
assert any(
    all(farther(metric, one, two, claim * (1 + 1e-9)) for two in other)
    for mine, other in (answers, answers[::-1])
    for one in mine
)
"""


def _finding(
    setting: Setting, report: AuditReport, body: str, what: str
) -> Callable[[], tuple[str, str]]:
    """Return what tells the pair and the script of a finding."""

    def finding() -> tuple[str, str]:
        seen = report.decisive.evidence
        x, y = list(seen.x), list(seen.y)
        head = f"x, y = {literal(x)}, {literal(y)}\nassert not farther('symmetric', x, y, 1)\n"
        return f"{short_literal(x)} and {short_literal(y)}", _script(setting, head + body, what)

    return finding


def _script(setting: Setting, body: str, what: str) -> str:
    title = f"{setting.constructor} of PipelineDP {what}."
    text = f"{HEAD}\n\nsource = {setting.source!r}\n{body}"
    return script_of(title, f"pipeline-dp=={_version()}", text)


def _of_budget(setting: Setting, steps: tuple[Any, ...]) -> Judged | None:
    """Return a finding if the steps spend more than was asked, or add less noise than they say."""
    epsilon, delta = (math.fsum(step[place] for step in steps) for place in (3, 4))
    (most, least), more = (1.0, 1e-3), 1 + 1e-9
    share = max(epsilon / most, delta / least, *(_spent(step) for step in steps))
    if share <= more:
        return None
    body = """
steps = told(run([], source))
print(*steps, sep="\\n")
epsilon, delta = (sum(step[place] for step in steps) for place in (3, 4))
assert epsilon > TOTAL[0] * (1 + 1e-9) or delta > TOTAL[1] * (1 + 1e-9)
"""
    script = _script(setting, body, "spends more than its budget")
    return confirmed(Judged("violated", f"{1 / share:.6g}", "the budget", script))


def _spent(step: tuple[Any, ...]) -> float:
    """Return what the noise of a step spends, as a share of what the step says; 0 if unknown."""
    norm, claim, noise, epsilon, delta = step
    if norm == "kept" or noise is None:
        return 0.0
    if norm == "L1":
        return float(claim / noise / epsilon)
    law = 0.0, {(): 1.0}, {(): [0.0]}
    moved = epsilon, {(): 1.0}, {(): [claim / noise]}
    return plain.beyond(moved, law) / float(delta)


def _version() -> str:
    try:
        return version_of("pipeline-dp", "")
    except MissingExtraError:
        raise MissingExtraError(
            "a sweep of pipeline_dp needs it, in an environment of its own: make "
            ".venv-field/installed, and run it with .venv-field/bin/python"
        ) from None


def _constructors() -> list[str]:
    """Return the metrics that are installed, and the strategies of selection."""
    import pipeline_dp

    metrics = [name for name in dir(pipeline_dp.Metrics) if name.isupper()]
    return [*metrics, *(one.name for one in pipeline_dp.PartitionSelectionStrategy)]


PIPELINE_DP = Library("pipeline_dp", _version, settings, judge, _constructors)
