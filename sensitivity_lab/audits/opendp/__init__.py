"""Audits of OpenDP transformations: whether answers ever exceed what the map promises."""

from .call import audit_opendp as audit_opendp
