"""What joblib shares between a process and its workers, where both were killed.

A process of joblib's own removes semaphores and arrays in shared memory, unless it is killed, too.
So a run notes in its folder who it is, and the run that finds the folder abandoned does it.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_NOTE = "process.json"

_SHARED = "/dev/shm"
"""The folder of shared memory, where the system has one."""

_NAMES = ("sem.loky-{}-", "joblib_memmapping_folder_{}_")
"""How names there begin that belong to a process by its number."""


def will_share(folder: Path) -> None:
    """Note in the folder of a run whose shared memory belongs to it."""
    note = {"process": os.getpid(), "namespace": _namespace()}
    (folder / _NOTE).write_text(json.dumps(note), encoding="utf-8")


def remove_shared(folder: Path) -> None:
    """Remove the shared memory of the run that left a folder, unless the number is in use again."""
    try:
        note = json.loads((folder / _NOTE).read_text(encoding="utf-8"))
        process, namespace = int(note["process"]), note["namespace"]
    except (OSError, ValueError, TypeError, KeyError):
        return  # it ended before it shared anything
    # In another container, the number may be that of a process that this one does not see.
    if namespace is None or namespace != _namespace() or _runs(process):
        return
    beginnings = tuple(name.format(process) for name in _NAMES)
    # Where shared memory is small, joblib has arrays in the second or third of these.
    for place in {_SHARED, os.environ.get("JOBLIB_TEMP_FOLDER", _SHARED), tempfile.gettempdir()}:
        with suppress(OSError):
            for path in Path(place).iterdir():
                if path.name.startswith(beginnings) and path.lstat().st_uid == os.geteuid():
                    if path.is_dir():
                        shutil.rmtree(path, ignore_errors=True)
                    else:
                        path.unlink(missing_ok=True)


def _namespace() -> str | None:
    """Return in which space of numbers this process has its own; None where that is not known."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return None


def _runs(process: int) -> bool:
    """Tell whether a process has a number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
