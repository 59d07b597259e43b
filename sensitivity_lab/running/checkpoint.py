"""A folder of finished blocks, from which a later call with the same arguments goes on."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import check_path, shown
from sensitivity_lab.errors import CheckpointError
from sensitivity_lab.files import read_file, remove_abandoned, written_whole

from .encoding import from_bytes, to_bytes

_MANIFEST = "manifest.json"
_WHAT = "a checkpoint of sensitivity_lab"
_SUFFIX = ".block"

_ALWAYS = {"Python", "duckdb", "numpy", "pandas", "scipy", "sensitivity_lab", "sqlglot"}
"""Distributions that count even before they are loaded: what this package itself computes with."""

_ABSENT = "not installed"

Span = tuple[int, int, NDArray[Any]]
"""The first dataset of a block, the one after its last, and the answers on these."""


@dataclass(frozen=True)
class Checkpoint:
    """A folder of finished blocks of one search.

    Attributes
    ----------
    folder : str
        Absolute, so that worker processes find it.
    manifest : str
        The text of the folder's manifest.
    resumed : bool
        Whether an earlier call has used the folder.

    Notes
    -----
    Every block is a file that names what it belongs to and carries a hash of its content. A file
    that is cut off, changed or foreign is not taken, and its block is computed again. Nothing is
    unpickled.
    """

    folder: str
    manifest: str
    resumed: bool

    @classmethod
    def open(cls, folder: Any, belongs: Mapping[str, str]) -> Checkpoint:
        """Open a folder, or make it.

        Parameters
        ----------
        folder : str or path
            New, empty, or of an earlier call.
        belongs : mapping of str to str
            What the search is about; each value in words, with a hash.

        Raises
        ------
        CheckpointError
            If the folder cannot be used, holds other things, or belongs to another search.
        """
        path = as_folder("checkpoint", folder)
        loaded, installed = loaded_distributions(), installed_versions()
        try:
            path.mkdir(parents=True, exist_ok=True)
            remove_abandoned(path)
            _check_files(path)
            before: set[str] | None = None
            if (path / _MANIFEST).exists():
                before, installed = _check_same(path, belongs, loaded, installed)
            else:
                _check_empty(path)
            if before is None or not loaded <= before:
                versions = {"loaded": sorted(loaded | (before or set())), "installed": installed}
                with written_whole(path / _MANIFEST) as file:
                    text = json.dumps({"what": _WHAT, **belongs, **versions}, indent=1)
                    file.write_text(text + "\n", encoding="utf-8")
            manifest = read_file(path / _MANIFEST).decode()
        except CheckpointError:
            raise
        except OSError as error:
            raise CheckpointError(
                f"cannot use the checkpoint {shown(str(path))}: {_why(error)}"
            ) from None
        return cls(str(path), manifest, before is not None)

    def spans(self, about: Mapping[str, Any]) -> list[Span]:
        """Return the finished blocks of something, ascending; where two overlap, one of them."""
        found: list[Span] = []
        for file in sorted(Path(self.folder).glob(f"{_prefix(about)}-*{_SUFFIX}")):
            span = _read_span(file, about)
            if span is not None:
                found.append(span)
        return list(_disjoint(sorted(found, key=lambda span: span[:2])))

    def span(self, about: Mapping[str, Any], first: int, last: int) -> Span | None:
        """Return one finished block of something; None if it is not there."""
        span = _read_span(self._file(about, first, last), about)
        return span if span is not None and span[:2] == (first, last) else None

    @property
    def is_here(self) -> bool:
        """Whether this process sees the folder; a worker on another machine may not."""
        try:
            return read_file(Path(self.folder, _MANIFEST)).decode() == self.manifest
        except (OSError, ValueError):
            return False

    def keep(self, about: Mapping[str, Any], first: int, last: int, answers: NDArray[Any]) -> None:
        """Write the answers on datasets first to last - 1, whole or not at all.

        Raises
        ------
        CheckpointError
            If the file cannot be written, for example because the disk is full.
        """
        path = self._file(about, first, last)
        data = to_bytes({**about, "first": first, "last": last}, np.asarray(answers))
        try:
            with written_whole(path) as file:
                file.write_bytes(data)
        except OSError as error:
            raise CheckpointError(
                f"cannot write to the checkpoint {shown(self.folder)}: {_why(error)}; "
                f"{self.resume.replace('call', 'mend that and call', 1)}"
            ) from None

    def of_another(self, query: str, dataset: str, kept: str, now: str) -> CheckpointError:
        """Return the error for a folder whose answers the query does not give any more."""
        return CheckpointError(
            f"the checkpoint {self.folder!r} holds answers of another query: on the dataset "
            f"{dataset}, {query} is kept as {kept}, and is {now} now; the function, or something "
            "that it reads, has changed, or it is random; choose another folder, or delete this "
            "one, and give the function a new name"
        )

    def _file(self, about: Mapping[str, Any], first: int, last: int) -> Path:
        return Path(self.folder, f"{_prefix(about)}-{first}-{last}{_SUFFIX}")

    @property
    def resume(self) -> str:
        """How to go on after an interruption, in words."""
        folder = shown(self.folder)
        return f"call again with the same arguments and run=Run(checkpoint={folder}) to go on"


def as_folder(name: str, folder: Any) -> Path:
    """Return the absolute path of a folder, or raise InputError if that is none."""
    return replace(check_path, accepted="None or the path of a folder")(name, folder).absolute()


def _prefix(about: Mapping[str, Any]) -> str:
    """Return the beginning of file names: hashes in short, to find files, not to trust."""
    return "-".join(str(part)[:12] for part in about.values())


def _read_span(file: Path, about: Mapping[str, Any]) -> Span | None:
    """Return what a file says of something; None if it is cut off, changed, foreign or missing."""
    try:
        stated, answers = from_bytes(read_file(file))
        first, last = int(stated.pop("first")), int(stated.pop("last"))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    whole = stated == dict(about) and len(answers) == last - first > 0
    return (first, last, answers) if whole else None


def _disjoint(spans: list[Span]) -> Iterator[Span]:
    end = 0
    for first, last, answers in spans:
        if first >= end:
            yield first, last, answers
            end = last


def _check_same(
    path: Path, belongs: Mapping[str, str], loaded: set[str], installed: Mapping[str, str]
) -> tuple[set[str], dict[str, str]]:
    """Return what was loaded and installed there; raise CheckpointError if it is another search."""
    try:
        stated = dict(json.loads(read_file(path / _MANIFEST).decode()))
        before, then = set(stated.pop("loaded")), dict(stated.pop("installed"))
    except (ValueError, TypeError, KeyError):
        stated, before, then = {}, set(), {}
    if stated.pop("what", None) != _WHAT:
        raise CheckpointError(
            f"the file {shown(str(path / _MANIFEST))} is not {_WHAT}, or is damaged; choose "
            "another "
            "folder, or delete this one"
        )
    compared = [
        (name, stated.get(name, "none"), belongs.get(name, "none"))
        for name in dict.fromkeys([*belongs, *stated])
    ] + [
        (name, then.get(name, _ABSENT), installed.get(name, _ABSENT))
        for name in sorted(before | loaded)
    ]
    for name, there, here in compared:
        if there != here:
            raise CheckpointError(
                f"the checkpoint {shown(str(path))} belongs to another search: there, {name} is "
                f"{there}; here, {here}; choose another folder, or delete this one"
            )
    return before, then


def _check_files(path: Path) -> None:
    """Raise CheckpointError where the manifest or a block is a pipe, a device or a folder."""
    for file in sorted(path.iterdir()):
        ours = file.name == _MANIFEST or file.suffix == _SUFFIX
        if ours and file.exists() and not file.is_file():
            raise CheckpointError(
                f"the checkpoint {shown(str(path))} holds {shown(file.name)}, which is no regular "
                "file, but a pipe, a device or a folder; delete it, or choose another folder"
            )


def _check_empty(path: Path) -> None:
    others = [one.name for one in path.iterdir() if not one.name.startswith(".sensitivity_lab-")]
    if others:
        raise CheckpointError(
            f"the folder {shown(str(path))} holds other files, such as {shown(min(others))}; a "
            "checkpoint "
            "needs a folder of its own, new or empty"
        )


def loaded_distributions() -> set[str]:
    """Return the distributions whose modules this process has loaded, and those of `_ALWAYS`."""
    owners = _distributions(_stamp())[1]
    modules = {name.partition(".")[0] for name in list(sys.modules)}
    return _ALWAYS.union(*(owners.get(module, ()) for module in modules))


def installed_versions() -> dict[str, str]:
    """Return the version of every distribution: also of those that only another process loads."""
    # A process goes on with what it has loaded when another version is installed meanwhile.
    own = {"Python": platform.python_version(), "numpy": np.__version__, "pandas": pd.__version__}
    return {"sensitivity_lab": "of a checkout", **_distributions(_stamp())[0], **own}


@cache
def _distributions(_: Any) -> tuple[dict[str, str], Mapping[str, list[str]]]:
    """Return the versions of distributions, and whose the modules are, as of a `_stamp`."""
    every = [(one.metadata["Name"], one.version) for one in metadata.distributions()]
    # The first of a name is the one that is imported.
    return dict(reversed(every)), metadata.packages_distributions()


def _stamp() -> tuple[tuple[str, int], ...]:
    """Return when something was last installed where modules are; to read it all takes a while."""
    folders = [Path(folder) for folder in sys.path]
    return tuple((str(one), one.stat().st_mtime_ns) for one in folders if one.exists())


def _why(error: OSError) -> str:
    return error.strerror or type(error).__name__
