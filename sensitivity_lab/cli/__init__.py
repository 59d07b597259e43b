"""The command line: parse, call, print."""

from .commands import main

__all__ = ["main"]
