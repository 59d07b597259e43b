"""The page: Voila serves one notebook, only on the loopback address and only with its token.

``python -m sensitivity_lab.explorer.page NOTEBOOK`` runs the server. It ends with its standard
input, and so with the process that started it.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from threading import Thread
from typing import Any

from sensitivity_lab.checks import named, names_of
from sensitivity_lab.errors import InputError, MissingExtraError
from sensitivity_lab.files import remove_abandoned, temporary_folder

ADDRESS = "127.0.0.1"
"""The address of the page, which other machines cannot reach."""

_PREFIX = "sensitivity_lab_explorer-"
"""The beginning of the names of folders that hold the notebook."""

_FIRST_ANSWER = 60.0
"""Seconds to wait for the server's first answer."""


@contextmanager
def serving(code: str, port: int | None = None, log: Path | None = None) -> Iterator[Page]:
    """Serve a page with the result of a cell for as long as the context lasts.

    Parameters
    ----------
    code : str
        The cell; the page shows its last expression.
    port : int, optional
        The port, 1 to 65535; by default any free one.
    log : Path, optional
        The file for the server's log; by default no log is kept.

    Yields
    ------
    Page

    Raises
    ------
    MissingExtraError
        If the extra `explore` is not installed, or the templates of Voila are not where Jupyter
        looks for them.
    InputError
        If the port is taken, or the server ends before it answers.
    """
    for module in ("voila", "ipywidgets"):
        if find_spec(module) is None:
            raise MissingExtraError(
                "the explorer's page needs ipywidgets and Voila, which are not installed; "
                "install the extra: pip install '.[explore]' in a checkout"
            )
    number = _checked_port(port)
    templates = _checked_templates()
    token = secrets.token_urlsafe(24)
    remove_abandoned(gettempdir(), _PREFIX)
    with (
        temporary_folder(gettempdir(), _PREFIX) as folder,
        as_file(files(__package__).joinpath("share")) as share,
    ):
        _fill(folder, code, number, token)
        with (log or Path(os.devnull)).open("wb") as written:
            process = subprocess.Popen(
                [sys.executable, "-m", "sensitivity_lab.explorer.page", "explorer.ipynb"],
                cwd=folder,
                stdin=subprocess.PIPE,  # closed when this process ends, whatever ended it
                env=_environment(folder, share, templates),
                stdout=written,
                stderr=subprocess.STDOUT,
            )
            try:
                page = Page(process, f"http://{ADDRESS}:{number}/?token={token}")
                page.wait_until_ready()
                yield page
            finally:
                if process.stdin:
                    process.stdin.close()
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


class Page:
    """A page that is served.

    Attributes
    ----------
    url : str
        Its address, with the token that opens it.
    """

    def __init__(self, process: subprocess.Popen[bytes], url: str) -> None:
        self._process = process
        self.url = url

    def wait(self) -> None:
        """Wait until the server ends."""
        self._process.wait()

    def wait_until_ready(self) -> None:
        """Wait until the server answers; raise InputError if it ends before."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        deadline = time.monotonic() + _FIRST_ANSWER
        # Of a static file: the page itself starts a kernel.
        target = self.url.partition("?")[0] + "voila/static/voila.js"
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise InputError(
                    "the server of the explorer ended before it answered; is the port taken? "
                    "choose another one with --port"
                )
            try:
                with opener.open(target, timeout=5):
                    return
            except urllib.error.HTTPError:
                return  # it answers
            except OSError:
                time.sleep(0.1)
        raise InputError(
            f"the server of the explorer did not answer in {_FIRST_ANSWER:.0f} seconds"
        )


def _checked_port(port: int | None) -> int:
    """Return a free port; raise InputError if the given one is not free."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((ADDRESS, port or 0))
        except (OSError, OverflowError) as error:
            raise InputError(
                f"cannot listen on port {port} ({getattr(error, 'strerror', None) or error}); "
                "choose another one from 1024 to 65535"
            ) from error
        found: int = tried.getsockname()[1]
        return found


def _checked_templates() -> str:
    """Return the folder of Jupyter with the template "lab" of Voila, which the page extends.

    Without it the server runs, but its page stays empty.
    """
    folders: list[str] = import_module("jupyter_core.paths").jupyter_path()
    for folder in folders:
        if Path(folder, "voila", "templates", "lab").is_dir():
            return folder
    raise MissingExtraError(
        "the explorer's page needs Voila's template 'lab' (voila/templates/lab), which is in none "
        f"of Jupyter's folders: {names_of(folders, named)}; install Voila again, with "
        "pip install --force-reinstall voila, or set the environment variable JUPYTER_PATH to the "
        "folder share/jupyter of the environment that has it"
    )


def _fill(folder: Path, code: str, port: int, token: str) -> None:
    """Write the notebook, the kernel that runs it, and the settings of the server."""
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "explorer",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": code,
    }
    notebook = {
        "cells": [cell],
        "metadata": {
            "title": "sensitivity_lab explorer",
            "kernelspec": {
                "name": "sensitivity_lab",
                "display_name": "sensitivity_lab",
                "language": "python",
            },
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    # This Python, whatever kernels the user has.
    kernel = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "sensitivity_lab",
        "language": "python",
    }
    settings = {
        "Voila": {
            "ip": ADDRESS,
            "port": port,
            "port_retries": 0,
            "open_browser": False,
            "token": token,
        },
        "VoilaConfiguration": {"template": "sensitivity_lab", "theme": "light"},
    }
    spec = folder / "data" / "kernels" / "sensitivity_lab"
    spec.mkdir(parents=True)
    (spec / "kernel.json").write_text(json.dumps(kernel), "utf-8")
    (folder / "explorer.ipynb").write_text(json.dumps(notebook), "utf-8")
    (folder / "voila.json").write_text(json.dumps(settings), "utf-8")


def _environment(folder: Path, share: Path, templates: str) -> dict[str, str]:
    """Return the environment of the server: its own settings, and this package on the path."""
    root = str(Path(__file__).parents[2])

    def joined(*paths: str | None) -> str:
        return os.pathsep.join(filter(None, paths))

    return {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTER_PATH": joined(str(share), os.environ.get("JUPYTER_PATH"), templates),
        "PYTHONPATH": joined(root, os.environ.get("PYTHONPATH")),
    }


def _end_with_parent() -> None:
    """Wait until the standard input ends, and let Voila end its kernels and itself."""
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    Thread(target=_end_with_parent, daemon=True).start()
    import_module("voila.app").main()
