"""Workloads over a domain without a limit of copies: the columns of their matrix."""
