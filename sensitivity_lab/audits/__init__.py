"""Audits: claims of sensitivity, stability and privacy beside the truth.

`sensitivity_lab.audit` and `sensitivity_lab.assert_sensitivity` judge a claim about a query; what
is here judges code that somebody wrote: OpenDP, libraries that use mechanisms, and pipelines.
"""

from .couplings import audit_randomized
from .maps.call import audit_map
from .maps.selections import audit_selection
from .opendp import audit_opendp, audit_opendp_measurement
from .recorded import audit_recorded
from .recording import recording
from .report import AuditReport, AuditRow, Evidence
from .samplers.call import audit_sampled
from .stability import audit_stability

__all__ = [
    "AuditReport",
    "AuditRow",
    "Evidence",
    "audit_map",
    "audit_opendp",
    "audit_opendp_measurement",
    "audit_randomized",
    "audit_recorded",
    "audit_sampled",
    "audit_selection",
    "audit_stability",
    "recording",
]
