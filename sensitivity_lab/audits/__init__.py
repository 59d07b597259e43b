"""Audits: compare claims of sensitivity, stability and privacy with the truth.

`audit` and `assert_sensitivity`, which are also at the top level, judge a claim beside a query, a
function or a pipeline; `audit_mechanism` judges code that draws at random, `audit_opendp` OpenDP,
and `audit_recorded` what any library passes to its mechanisms.
"""

from .call import assert_sensitivity, audit
from .mechanism import MechanismReport, audit_mechanism
from .opendp import audit_opendp
from .recorded import audit_recorded
from .recording import recording
from .report import AuditReport
from .row import AuditRow, Evidence

__all__ = [
    "AuditReport",
    "AuditRow",
    "Evidence",
    "MechanismReport",
    "assert_sensitivity",
    "audit",
    "audit_mechanism",
    "audit_opendp",
    "audit_recorded",
    "recording",
]

__dir__ = __all__.copy  # for tab completion
