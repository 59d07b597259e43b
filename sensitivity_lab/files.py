"""Files are written under a temporary name first, so that a failure keeps the old file.

Temporary folders are removed when a process ends, also by SIGTERM or SIGHUP; what a process left
that was killed, the next one removes.
"""

from __future__ import annotations

import atexit
import errno
import os
import platform
import re
import secrets
import shutil
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

if sys.platform not in ("win32", "wasi"):  # where folders of dead processes stay
    import fcntl

_HIDDEN = ".sensitivity_lab-"
"""How the names of temporary folders next to a file begin."""

_HOST = re.sub(r"[^\w.]", "_", platform.node())
"""This machine in names of folders: on a disk that several share, locks of others may not show."""

_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals that end a process and let it clean up."""

_held: dict[Path, int] = {}
"""The temporary folders that are in use, and the process that uses them: a fork has a copy."""


_of_process: list[ExitStack] = []
"""Holds the locks on the folders that a process has until it ends."""


@contextmanager
def temporary_folder(parent: str | os.PathLike[str], prefix: str = _HIDDEN) -> Iterator[Path]:
    """Make a temporary folder, and remove it at the end.

    It is removed before SIGTERM or SIGHUP end the process, too, if this is the main thread and the
    signal has its default handler. If the process is killed, `remove_abandoned` removes it.

    Parameters
    ----------
    parent : str or path
        Where to make it.
    prefix : str
        How its name begins.

    Raises
    ------
    OSError
        If no folder can be made there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with temporary_folder(parent) as folder:
    ...         inside = folder.is_dir()
    ...     inside, os.listdir(parent)
    (True, [])
    """
    with ExitStack() as stack:
        _end_cleanly(stack)
        yield _new(Path(parent), prefix, stack)


@cache
def folder_of_process(
    parent: str,
    prefix: str,
    process: int,  # noqa: ARG001 -- a fork has one of its own
) -> Path:
    """Return the temporary folder that this process, by its number, has until it ends.

    No signal is handled for it: what is left after one, `remove_abandoned` removes.
    """
    atexit.register(remove_held)
    _of_process.append(ExitStack())
    return _new(Path(parent), prefix, _of_process[-1])


def remove_abandoned(
    parent: str | os.PathLike[str],
    prefix: str = _HIDDEN,
    before: Callable[[Path], bool] = lambda _: True,
) -> None:
    """Remove the temporary folders that dead processes of this machine and this user left.

    Parameters
    ----------
    parent, prefix
        As of `temporary_folder`.
    before : callable
        Gets every such folder, and tells whether to remove it.
    """
    try:
        folders = list(Path(parent).iterdir())
    except OSError:
        return  # where nothing can be read, nothing is removed
    for folder in folders:
        if folder.name.startswith(f"{prefix}{_HOST}-"):
            with ExitStack() as stack, suppress(BlockingIOError):
                if _lock(folder, stack) and before(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def remove_held() -> None:
    """Remove the temporary folders of this process, which is about to end."""
    for folder, process in list(_held.items()):
        if process == os.getpid():
            _remove(folder)


def _remove(folder: Path) -> None:
    # Worker processes may write into it meanwhile.
    for _ in range(3):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
    _held.pop(folder, None)


def _new(parent: Path, prefix: str, stack: ExitStack) -> Path:
    """Make a folder and lock it until a stack is closed."""
    folder = _made(parent, prefix, stack)
    while folder is None:
        folder = _made(parent, prefix, stack)
    return folder


def _made(parent: Path, prefix: str, stack: ExitStack) -> Path | None:
    """Make a folder and lock it until a stack is closed; None if another process took it away.

    That one may have seen it before it was locked, and have thought it abandoned.
    """
    folder = parent / f"{prefix}{_HOST}-{secrets.token_hex(6)}"
    # First, so that a signal that comes while it is made finds it here.
    _held[folder] = os.getpid()
    stack.callback(_remove, folder)
    folder.mkdir(mode=0o700)
    try:
        _lock(folder, stack)
    except BlockingIOError:
        return None
    return folder if folder.is_dir() else None


def _lock(folder: Path, stack: ExitStack) -> bool:
    """Lock a folder until a stack is closed; False if that cannot be done to it.

    The system gives the lock back when the process ends, whatever ended it. BlockingIOError if
    another process, or another part of this one, has it.
    """
    if sys.platform in ("win32", "wasi"):
        return False
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    stack.callback(os.close, descriptor)
    if os.fstat(descriptor).st_uid != os.geteuid():
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # a disk without locks
        return False
    return True


def _end_cleanly(stack: ExitStack) -> None:
    """Until a stack is closed, let signals that end this process remove its folders first.

    A handler that someone else has set stays: only the default one is replaced.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in _ENDING:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end)
            stack.callback(_restore, number)


def _restore(number: int) -> None:
    if signal.getsignal(number) is _end:
        signal.signal(number, signal.SIG_DFL)


def _end(number: int, _: Any) -> None:
    """Remove the folders of this process, and end it as the signal does by default."""
    remove_held()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Return what is in a file; raise OSError, without a wait, for a pipe or a device.

    Examples
    --------
    >>> try:
    ...     read_file(os.devnull)
    ... except OSError as error:
    ...     print(error.strerror)
    it is no regular file
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    # First by its path: to open a device can change it.
    _check_regular(path, os.stat(path))  # noqa: PTH116
    with open(os.open(path, flags), "rb") as file:  # noqa: PTH123
        _check_regular(path, os.fstat(file.fileno()))
        return file.read()


def _check_regular(path: str | os.PathLike[str], found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path to write to; if that succeeds, the new file replaces the old one.

    The temporary file has the same name, in a temporary folder next to the file; it is flushed to
    disk before it is renamed. Any failure, even an interruption, leaves the old file as it was.
    Temporary folders that were left there when a process was killed are removed. A
    symbolic link stays, and the file that it points to is replaced; the file keeps its
    permissions. A device or a pipe, such as ``/dev/stdout``, is written to directly.

    Raises
    ------
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
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
    remove_abandoned(target.parent)
    with temporary_folder(target.parent) as folder:
        part = folder / target.name
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
