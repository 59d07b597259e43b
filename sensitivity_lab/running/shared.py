"""What joblib shares between a process and its workers, where both were killed.

A process of joblib's own removes semaphores and arrays in shared memory, unless it is killed, too.
These outlive a run, as the workers do. So a process that starts workers notes in a folder who it is
until it ends, and the next one that starts some, and finds the folder abandoned, removes them.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from sensitivity_lab.files import folder_of_process, remove_abandoned

PREFIX = "sensitivity_lab-"
"""How the names of temporary folders of processes and runs begin."""

_NOTE = "process.json"

_SHARED = "/dev/shm"
"""The folder of shared memory, where the system has one."""

_NAMES = ("sem.loky-{}-", "joblib_memmapping_folder_{}_")
"""How names there begin that belong to a process by its number."""


def will_share() -> None:
    """Note that shared memory belongs to this process; remove what dead processes have left."""
    parent = tempfile.gettempdir()
    remove_abandoned(parent, PREFIX, remove_shared)
    note = {"process": os.getpid(), "namespace": namespace()}
    folder = folder_of_process(parent, PREFIX, os.getpid())
    folder.mkdir(mode=0o700, exist_ok=True)  # systems clear old temporary folders
    # Each call writes it: a process that is killed meanwhile leaves the one before.
    written = folder / "written.json"
    written.write_text(json.dumps(note), encoding="utf-8")
    written.replace(folder / _NOTE)


def remove_shared(folder: Path) -> bool:
    """Remove the shared memory of the process that left a folder.

    Returns
    -------
    bool
        False if its number is in use again: then what is there may be that of another process.
    """
    try:
        note = json.loads((folder / _NOTE).read_text(encoding="utf-8"))
        process, space = int(note["process"]), note["namespace"]
    except (OSError, ValueError, TypeError, KeyError):
        return True  # of a run, or of a process that ended before it shared anything
    # In another container, the number may be that of a process that this one does not see.
    if space is None or space != namespace():
        return True
    if _runs(process):
        return False
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
    return True


def namespace() -> str | None:
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
