"""What a function's code reaches by name: globals, attributes, imports, and what cannot be told.

Names are read from the bytecode. Code that looks names up as it runs, or that reads the world
outside the program, has no fingerprint; here stands which code that is.
"""

from __future__ import annotations

import dis
import functools
import importlib.machinery
import sys
import sysconfig
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

_INSTALLED = {
    Path(sysconfig.get_path(name)).resolve()
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
}
"""Folders of modules that count by their name and version."""

_PACKAGES = {"site-packages", "dist-packages"}
"""What folders of installed packages are called, also those of a parent environment."""

_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
"""Instructions that look a name up among globals, then among builtins."""

_ASSIGNS = {"STORE_GLOBAL", "DELETE_GLOBAL"}
"""Instructions that change a global: the function keeps state."""

_OF_CLASSES = {"STORE_NAME", "DELETE_NAME", "SETUP_ANNOTATIONS"}
"""Instructions on the names of a class body."""

_NO_OPERATIONS = {"CACHE", "PRECALL", "PUSH_NULL", "EXTENDED_ARG", "RESUME", "NOP"}
"""Instructions between others that say nothing about names."""

_BY_NAME = {
    *("eval", "exec", "compile", "globals", "locals", "vars", "dir", "__import__"),
    *("setattr", "delattr", "id", "open", "input", "breakpoint"),
}
"""Builtins that look names up as they run, or whose answers are not the arguments' alone."""

_REFLECTIVE = {
    *("__dict__", "__globals__", "__builtins__", "__code__", "__closure__", "__subclasses__"),
    *("__getattribute__", "__annotations__", "__loader__", "__spec__", "__module__"),
    *("__traceback__", "f_globals", "f_locals", "f_back", "f_lineno", "tb_frame", "tb_lineno"),
    *("gi_frame", "attrgetter", "methodcaller", "eval", "query", "now", "utcnow", "today"),
}
"""Attributes by which code reaches names that it does not hold, or the clock."""

_WORLD = {
    *("random", "secrets", "uuid", "time", "os", "posix", "nt", "posixpath", "ntpath", "sys"),
    *("io", "socket", "subprocess", "threading", "_thread", "multiprocessing", "importlib"),
    *("inspect", "builtins", "gc", "ctypes", "tempfile", "shutil", "glob", "pathlib", "urllib"),
    *("http", "requests", "shelve", "dbm", "sqlite3", "pickle", "contextvars", "weakref"),
    *("platform", "locale", "resource", "signal", "traceback", "linecache", "mmap", "zipfile"),
    *("tarfile", "gzip", "bz2", "lzma", "fileinput", "getpass", "asyncio", "select", "pkgutil"),
    *("runpy", "code", "_io", "genericpath", "numpy.random"),
    *("operator.attrgetter", "operator.methodcaller"),
}
"""Modules whose answers depend on more than their arguments."""

_HARMLESS = {"time.sleep", "sys.maxsize", "sys.float_info"}
"""What of these modules every call answers alike."""

_READERS = {"load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "memmap", "open_memmap"}
"""Functions of installed packages that read files; so do those that begin with ``read_``."""


@dataclass
class Reached:
    """What code reaches.

    Attributes
    ----------
    globals : set of str
        Names among globals and builtins.
    attributes : set of str
        Of any object; those of modules are looked up.
    imports : set of tuple
        Name, names taken from it, and level, as ``__import__`` gets them.
    untold : set of str
        What has no fingerprint, in words.
    """

    globals: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    imports: set[tuple[str, tuple[str, ...], int]] = field(default_factory=set)
    untold: set[str] = field(default_factory=set)


@functools.cache
def reached_by(code: types.CodeType) -> Reached:
    """Return what code and the functions and classes inside it reach."""
    found = Reached()
    for one in _all_of(code):
        every = dis.get_instructions(one)
        instructions = [each for each in every if each.opname not in _NO_OPERATIONS]
        for place, instruction in enumerate(instructions):
            if instruction.opcode in dis.hasname:
                _add(found, instructions, place)
    for name in sorted(found.attributes & _REFLECTIVE):
        found.untold.add(f"the attribute {name}, by which it reaches what it does not name")
    return found


def _all_of(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _all_of(constant)


def _add(found: Reached, instructions: list[dis.Instruction], place: int) -> None:
    """Add what an instruction reaches that has a name."""
    operation, name = instructions[place].opname, str(instructions[place].argval)
    if operation in _GLOBAL:
        found.globals.add(name)
        if name in ("getattr", "hasattr"):
            literal = _second_argument(instructions[place + 1 :])
            if literal is None:
                found.untold.add(f"{name} of a name that it computes")
            else:
                found.attributes.add(literal)
    elif operation in _ASSIGNS:
        found.untold.add(f"the global {name}, which it assigns")
    elif operation == "IMPORT_NAME":
        level, names = (instructions[place - back].argval for back in (2, 1))
        found.imports.add((name, tuple(names or ()), int(level)))
    elif operation not in _OF_CLASSES:  # also an operation of a later Python: too much does no harm
        found.attributes.add(name)


def _second_argument(instructions: list[dis.Instruction]) -> str | None:
    """Return the second argument of the call that follows if it is a plain text, else None.

    Only calls whose arguments are plain names and constants are understood.
    """
    arguments: list[Any] = []
    for one in instructions:
        if one.opname == "CALL":
            second = arguments[1] if len(arguments) == one.arg and len(arguments) > 1 else None
            return second if isinstance(second, str) else None
        if one.opname == "LOAD_CONST":
            arguments.append(one.argval)
        elif one.opname == "LOAD_ATTR" and arguments:
            arguments[-1] = None
        elif one.opname in ("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_DEREF", "LOAD_GLOBAL"):
            arguments.append(None)
        else:
            return None
    return None


def refused(module: str, name: str) -> str | None:
    """Return why something installed has no fingerprint, in words; None if its version tells it."""
    full = f"{module}.{name}"
    if full in _HARMLESS:
        return None
    if module in ("builtins", "io", "_io") and name in _BY_NAME:
        return f"{name}, which answers by more than its arguments"
    if module == "builtins":
        return None
    parents = module.split(".")
    of_world = {".".join(parents[: end + 1]) for end in range(len(parents))} | {full}
    if of_world & _WORLD:
        return f"{full}, which answers by more than its arguments"
    own = name.rpartition(".")[2]
    if own in _READERS or own.startswith("read_"):
        return f"{full}, which reads files"
    return None


def is_installed(module: str | None) -> bool:
    """Tell whether a module comes with Python or is installed, so that its version tells it."""
    if not module or module == "__main__":
        return False
    if module.partition(".")[0] in ("sensitivity_lab", *sys.builtin_module_names):
        return True
    found = sys.modules.get(module)
    spec = getattr(found, "__spec__", None)
    if spec is not None and spec.origin in ("built-in", "frozen"):
        return True
    file = getattr(found, "__file__", None) or next(iter(getattr(found, "__path__", ())), None)
    return file is not None and _is_in_packages(str(file))


@functools.cache
def _is_in_packages(file: str) -> bool:
    path = Path(file).resolve()
    return any(one in _INSTALLED or one.name in _PACKAGES for one in (path, *path.parents))


def found_as(value: Any) -> tuple[str, str] | None:
    """Return the installed module and the name under which exactly this function or class is."""
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    places = [module] if isinstance(module, str) else []
    if isinstance(value, np.ufunc):
        places += ["numpy", "scipy.special"]  # a ufunc can be without a module's name
    if not isinstance(name, str):
        return None
    for place in places:
        found: Any = sys.modules.get(place)
        try:
            for part in name.split("."):
                found = getattr(found, part, None)
        except Exception:  # noqa: BLE001 - a module's or a class's own way to look names up
            found = None
        if found is value and is_installed(place):
            return place, name
    return None


@functools.cache
def versioned(module: str, name: str = "") -> str:
    """Return the name of something installed, with the version of the package that it is from."""
    package = module.partition(".")[0]
    version = getattr(sys.modules.get(package), "__version__", None)
    if version is None:
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            version = ".".join(map(str, sys.version_info[:3]))
    return f"{module} {name} {version}"


def source_of(module: types.ModuleType) -> bytes | None:
    """Return what is in a module's file; None if it has none that can be read.

    A package that is a folder without a file of its own has nothing in it.
    """
    file = getattr(module, "__file__", None)
    if file is None:
        return b"" if hasattr(module, "__path__") else None
    try:
        return Path(file).read_bytes()
    except OSError:
        loader = getattr(module, "__loader__", None)  # of a module in an archive
        if isinstance(loader, importlib.machinery.SourcelessFileLoader):
            return None
        try:
            data = loader.get_data(file) if loader is not None else None
        except Exception:  # noqa: BLE001 - any loader's own errors
            return None
        return bytes(data) if data is not None else None
