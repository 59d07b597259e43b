"""Audits: compare claims of sensitivity, stability and privacy with the truth.

`sensitivity_lab.audit` and `sensitivity_lab.assert_sensitivity` judge a claim about a query. The
functions here judge code: OpenDP, libraries that use mechanisms, and pipelines.
"""

from .couplings.call import audit_randomized
from .maps import audit_map
from .mechanism import MechanismReport, audit_mechanism
from .opendp.call import audit_opendp
from .recorded import audit_recorded
from .recording import recording
from .report import AuditReport
from .row import AuditRow, Evidence
from .selections import audit_selection
from .stability import audit_stability

__all__ = [
    "AuditReport",
    "AuditRow",
    "Evidence",
    "MechanismReport",
    "audit_map",
    "audit_mechanism",
    "audit_opendp",
    "audit_randomized",
    "audit_recorded",
    "audit_selection",
    "audit_stability",
    "recording",
]
