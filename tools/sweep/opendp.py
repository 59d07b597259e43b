"""What a sweep of OpenDP audits, and the scripts of its findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sensitivity_lab.audits.call import audit
from sensitivity_lab.audits.opendp import audit_opendp
from sensitivity_lab.audits.opendp_made import OUR_NAMES, our_input_metric
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.audits.row import AuditRow
from sensitivity_lab.metrics import METRICS
from sensitivity_lab.results.literals import literal, short_literal

from .opendp_settings import settings
from .scripts import judged, script_of
from .setting import (
    REFUSED,
    Judged,
    Library,
    Setting,
    last_line,
    version_of,
)

_DRAWS = 300
"""How often a randomised transformation is called on each dataset."""


@dataclass(frozen=True)
class _Subject:
    """What a setting makes: a transformation, or a function that makes a measurement of a scale."""

    made: Any
    setting: Setting

    def audit(self) -> AuditReport:
        """Return the audit that fits."""
        values, sizes = self.setting.values, self.setting.sizes
        kind, component = self.setting.option("audit"), self.setting.option("component")
        distances = self.setting.option("d_in") or (1, 2)
        if kind == "measurement":
            return audit_opendp(self.made, values, sizes, progress=False)
        if kind == "coupling":
            return audit(
                values,
                self.made,
                self.made.map,
                size=sizes or (),
                neighbors=_metric(self.made.input_metric),
                outputs=_metric(self.made.output_metric),
                distances=distances,
                progress=False,
                choices=_DRAWS,
            )
        return audit_opendp(
            self.made, values, sizes, distances=distances,
            component=component, progress=False,
        )  # fmt: skip

    @property
    def metrics(self) -> tuple[str, str]:
        """The metrics of inputs and of answers, by our names."""
        if self.setting.option("audit") == "measurement":
            noisy = self.made(1.0)
            norm = "L1" if "MaxDivergence" in str(noisy.output_measure) else "L2"
            return str(our_input_metric(noisy, None)), norm
        far = self.setting.option("component") or _metric(self.made.output_metric)
        return _metric(self.made.input_metric), str(far)


def judge(setting: Setting) -> Judged:
    """Return what comes out of a setting of OpenDP."""
    dp = _prelude()
    try:
        made = eval(setting.source, {"dp": dp})
        if setting.option("audit") == "measurement":
            made(1.0)
    except Exception as error:  # noqa: BLE001 - whatever OpenDP raises, it refuses the setting
        return Judged(REFUSED, remark=last_line(error))
    subject = _Subject(made, setting)
    report = subject.audit()
    row = report.decisive

    def finding() -> tuple[str, str]:
        x, y = short_literal(row.evidence.x), short_literal(row.evidence.y)
        return f"d_in = {row.distance}: {x} and {y}", _script(subject, row)

    return judged(report, row, finding)


def _script(subject: _Subject, row: AuditRow) -> str:
    """Return a script that shows a claim of OpenDP to be too small."""
    setting, (near, far) = subject.setting, subject.metrics
    x, y = row.evidence.x, row.evidence.y
    if METRICS[near].sees == "records" and not isinstance(x, str):
        x, y = list(x), list(y)
    kind = setting.option("audit")
    distance = f"assert not farther({near!r}, x, y, {row.distance})"
    lines = [
        "import opendp.prelude as dp",
        "",
        'dp.enable_features("contrib", "honest-but-curious")',
        f"made = {setting.source}",
        f"x, y = {literal(x)}, {literal(y)}",
        distance,
    ]
    place = {"L0": 0, "L1": 1, "L2": 1, "Linf": 2}.get(setting.option("component") or "")
    part = "" if place is None else f"[{place}]"
    claim = f"made.map({row.distance}){part}"
    if kind == "measurement":
        loss = f"made(1.0).map({row.distance})"
        claim = f"(2 * {loss}) ** 0.5" if far == "L2" else loss
    lines += [f"claim = {claim}", "print('claim', claim)"]
    if kind == "coupling":
        lines += _COUPLING.replace("METRIC", repr(far)).replace("DRAWS", "2000").splitlines()
        return _told(setting, row, lines)
    call = "made(0.0)" if kind == "measurement" else "made"
    lines += [
        f"answers = {call}(x), {call}(y)",
        "print('answers', *answers)",
        f"assert farther({far!r}, *answers, claim)",
    ]
    return _told(setting, row, lines)


_COUPLING = """
# Whatever is drawn together: one dataset has an output that is too far from all of the other's.
drawn = [Counter(repr(made(data)) for _ in range(DRAWS)) for data in (x, y)]
print('outputs', *drawn)
apart = [
    one
    for mine, other in (drawn, drawn[::-1])
    for one, times in mine.items()
    if times > DRAWS / 20 and all(farther(METRIC, eval(one), eval(two), claim) for two in other)
]
assert apart
"""


def _told(setting: Setting, row: AuditRow, lines: list[str]) -> str:
    title = f"{setting.constructor} of OpenDP: at distance {row.distance}, "
    title += "its map promises less than the answers differ."
    return script_of(title, f"opendp=={_version()}", "\n".join(lines))


def _prelude() -> Any:
    """Return OpenDP's prelude with its features, which workers alone enable."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")
    return dp


def _metric(metric: Any) -> str:
    """Return our name of a metric of OpenDP."""
    return OUR_NAMES[str(metric).partition("(")[0]]


def _version() -> str:
    return version_of("opendp", "opendp")


def _constructors() -> list[str]:
    """Return the constructors of transformations and measurements that are installed."""
    from opendp import measurements, transformations

    names = [name for module in (transformations, measurements) for name in dir(module)]
    return [name for name in names if name.startswith("make_") and name != "make_proof_link"]


OPENDP = Library("opendp", _version, settings, judge, _constructors)
