"""Tab completion of the command line, with argcomplete if it is installed."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sensitivity_lab.csv_files import STANDARD_INPUT, read_table
from sensitivity_lab.errors import InputError
from sensitivity_lab.queries import NAMED


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell's request for completions, and end the process; else do nothing."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    try:
        import argcomplete
    except ImportError:
        return
    argcomplete.autocomplete(parser)


# Completers of arguments: argcomplete calls them with keywords.


def queries(**_: Any) -> Iterable[str]:
    """Return the names of queries, and the article's percentiles for all percentiles."""
    return (*NAMED, *(f"percentile_{q}" for q in (25, 50, 75, 90)))


def files(*, prefix: str, **_: Any) -> list[str]:
    """Return the folders and CSV files that begin with the typed text."""
    typed = Path(prefix or ".")
    folder = typed if not prefix or prefix.endswith(os.sep) else typed.parent
    try:
        found = sorted(folder.iterdir())
    except OSError:
        return []
    return [
        f"{path}{os.sep}" if path.is_dir() else str(path)
        for path in found
        if path.is_dir() or path.suffix.lower() == ".csv"
    ]


def columns(*, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Return the names of the domains that were given, or of the file's columns."""
    domains = getattr(parsed_args, "domain", None)
    if domains:
        return [domain.partition("=")[0] for domain in domains]
    data = getattr(parsed_args, "data", None)
    # Piped input can be read only once, so a shell that completes names must not read it.
    if data is None or data == STANDARD_INPUT:
        return []
    try:
        return list(read_table(data).columns)
    except InputError:
        return []
