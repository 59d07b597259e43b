"""Audits of code that others wrote: OpenDP, libraries that use mechanisms, and pipelines."""
