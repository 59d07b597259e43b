"""Files are written under a temporary name first, so that a failure keeps the old file."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path to write to; if that succeeds, the new file replaces the old one.

    The temporary file has the same name, in a temporary folder next to the file; it is flushed to
    disk before it is renamed. Any failure, even an interruption, leaves the old file as it was. A
    symbolic link stays, and the file that it points to is replaced; the file keeps its
    permissions. A device or a pipe, such as ``/dev/stdout``, is written to directly.

    Raises
    ------
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(f"{folder}/a.txt") as path:
    ...         _ = path.write_text("whole")
    ...     Path(f"{folder}/a.txt").read_text(), os.listdir(folder)
    ('whole', ['a.txt'])
    """
    target = destination(path)
    if is_stream(target):
        yield target
        return
    with tempfile.TemporaryDirectory(prefix=".sensitivity_lab-", dir=target.parent) as folder:
        part = Path(folder, target.name)
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)


def destination(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path points to, through symbolic links; raise OSError without one.

    A folder, a file without write permission, a circle of links, a name that is too long, and one
    with a NUL raise it.
    """
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "the name has a NUL character", str(path))
    if is_stream(Path(path)):
        return Path(path)
    target = Path(os.path.realpath(path))
    with suppress(FileNotFoundError, NotADirectoryError):
        os.lstat(target)  # a name that is too long, and a folder that must not be searched
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return target


def is_stream(path: Path) -> bool:
    """Tell whether a path is a device or a pipe, or one of the links that name open files."""
    # /dev/stdout can point to a regular file: renaming would not reach its open descriptor.
    try:
        of_system = path.is_symlink() and str(path.absolute()).startswith(("/dev/", "/proc/"))
        return of_system or (path.exists() and not path.is_file() and not path.is_dir())
    except OSError:  # no file can have this name
        return False
