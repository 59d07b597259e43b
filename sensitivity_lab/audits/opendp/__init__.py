"""Audits of OpenDP transformations and measurements: whether answers exceed what maps promise."""
