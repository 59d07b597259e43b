"""The command line: parse, call, print."""

from .program import main

__all__ = ["main"]
