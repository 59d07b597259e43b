"""Audits of OpenDP transformations and measurements: whether answers exceed what maps promise."""

from .call import audit_opendp as audit_opendp
from .measurement import audit_opendp_measurement as audit_opendp_measurement
