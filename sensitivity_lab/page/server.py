"""The page, served from this machine to this machine alone.

It answers on the loopback address, and to nobody without its token: another page in the same
browser can send requests to any port, but cannot read the token, which stands in the fragment of
the address and is never sent by a link. A process of its own computes, so that a long search can be
stopped.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from threading import Thread
from typing import Any

from joblib.externals.loky import ProcessPoolExecutor

from sensitivity_lab.checks import check_whole, html_text
from sensitivity_lab.errors import InputError
from sensitivity_lab.page.answer import answer
from sensitivity_lab.page.universes import Given, given_of
from sensitivity_lab.running.time_limits import serve

_STOPPED = "Stopped. Change something to go on."
_ENDED = "The search ended, perhaps for lack of memory."

_PATIENCE = 1
"""So many seconds a request waits for another one."""

_BUSY = "Another tab of this page is computing"

_given = Given()
"""In the process: what requests may name."""


class Worker:
    """Answers requests in a process of its own, one after the other.

    Parameters
    ----------
    given : Given
        Columns that requests may name.
    """

    def __init__(self, given: Given) -> None:
        self._given = given
        self._turn, self._change = threading.Lock(), threading.Lock()
        self._process: Any = None

    def answer(self, request: Any) -> dict[str, Any]:
        """Return the answer to a request, or say that another one is being computed."""
        if not self._turn.acquire(timeout=_PATIENCE):
            return {"ok": False, "field": "", "message": _BUSY, "busy": True}
        try:
            process, asked = self._submitted(request)
            try:
                found: dict[str, Any] = asked.result()
            except (BrokenProcessPool, CancelledError, RuntimeError):
                told = _ENDED if self._process is process else _STOPPED
                self.stop()
                found = {"ok": False, "field": "", "message": told}
            return found
        finally:
            self._turn.release()

    def _submitted(self, request: Any) -> tuple[Any, Any]:
        """Return the process, started if need be, and what it was asked."""
        with self._change:
            if self._process is not None:
                with suppress(BrokenProcessPool, RuntimeError):  # it was ended while it was idle
                    return self._process, self._process.submit(_answered, request)
            self._process = ProcessPoolExecutor(
                1, initializer=_begin, initargs=(self._given, os.getpid())
            )
            return self._process, self._process.submit(_answered, request)

    def stop(self) -> None:
        """End the process, and with it what it computes; the next request starts another one."""
        with self._change:
            process, self._process = self._process, None
        if process is not None:
            process.shutdown(wait=False, kill_workers=True)


def _begin(given: Given, parent: int) -> None:
    global _given
    _given = given
    serve(parent)


def _answered(request: Any) -> dict[str, Any]:
    return answer(request, _given)


ADDRESS = "127.0.0.1"
"""The address of the page, which other machines cannot reach."""

MOST_BYTES = 1_000_000
"""The most bytes of a request."""

FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/pictures.js": ("pictures.js", "text/javascript; charset=utf-8"),
    "/transports.js": ("transports.js", "text/javascript; charset=utf-8"),
}
"""Everything that is served, by its path: nothing is looked up on the disk by a request."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*"
)
"""Nothing is fetched from elsewhere, and nothing written into the page runs."""


class _Server(ThreadingHTTPServer):
    """Answers with one worker, to who has the token."""

    daemon_threads = True

    def __init__(self, port: int, worker: Worker) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.worker, self.token = worker, secrets.token_urlsafe(24)
        number = self.server_address[1]
        self.hosts = (f"{ADDRESS}:{number}", f"localhost:{number}")


class _Handler(BaseHTTPRequestHandler):
    """One request; it writes no log."""

    server: _Server
    server_version, sys_version = "sensitivity_lab", ""
    timeout = 60

    def do_GET(self) -> None:
        """Send a file of the page."""
        known = FILES.get(self.path.partition("?")[0])
        if self.headers.get("Host") not in self.server.hosts or known is None:
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        name, kind = known
        content = files(__package__).joinpath("static", name).read_bytes()
        # So the page knows from where it is served, without a token, too.
        self._send(HTTPStatus.OK, content.replace(b"<body>", b'<body data-local="">'), kind)

    def do_POST(self) -> None:
        """Answer a request, or stop the computation."""
        origin = self.headers.get("Origin")
        hosts = self.server.hosts
        allowed = self.headers.get("Host") in hosts and (
            origin is None or origin.removeprefix("http://") in hosts
        )
        token = self.headers.get("X-Token", "").encode()
        if not allowed or not hmac.compare_digest(token, self.server.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN)
            return
        if self.path == "/stop":
            self.server.worker.stop()
            self._send(HTTPStatus.OK, b"{}")
            return
        length = self.headers.get("Content-Length", "")
        is_json = self.headers.get("Content-Type", "").partition(";")[0] == "application/json"
        if self.path != "/answer" or not is_json or not length.isdecimal():
            self._refuse(HTTPStatus.NOT_FOUND)
        elif int(length) > MOST_BYTES:
            # A browser that still sends would not see the answer.
            for place in range(0, int(length), MOST_BYTES):
                self.rfile.read(min(MOST_BYTES, int(length) - place))
            self._refuse(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the page sends at most {MOST_BYTES:,} bytes, and with this file they are "
                f"{int(length):,}; end it, and start sensitivity-lab explore FILE, which gives "
                "the columns of the file",
            )
        else:
            try:
                request = json.loads(self.rfile.read(int(length)))
            except (ValueError, RecursionError):
                self._refuse(HTTPStatus.BAD_REQUEST)
                return
            found = self.server.worker.answer(request)
            self._send(HTTPStatus.OK, json.dumps(found).encode())

    def _refuse(self, status: HTTPStatus, message: str = "") -> None:
        self.close_connection = True  # what the request still sends is not read
        told = {"ok": False, "field": "", "message": message or status.phrase}
        self._send(status, json.dumps(told).encode())

    def _send(self, status: HTTPStatus, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", POLICY),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        with suppress(ConnectionError):  # a browser that is gone wants no answer
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(given: Given, port: int | None = None) -> Iterator[str]:
    """Serve the page for as long as the context lasts; yield its address, with the token.

    Parameters
    ----------
    given : Given
        Columns that it can name; their records never leave this machine.
    port : int, optional
        From 1024 to 65535; by default any free one.

    Raises
    ------
    InputError
        If the port is taken.
    """
    worker = Worker(given)
    try:
        server = _Server(port or 0, worker)
    except (OSError, OverflowError) as error:
        raise InputError(
            f"cannot listen on port {port} ({getattr(error, 'strerror', None) or error}); "
            "choose another one from 1024 to 65535"
        ) from error
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{server.hosts[0]}/#token={server.token}"
    finally:
        worker.stop()
        server.shutdown()
        server.server_close()
        thread.join()


PUBLIC = "https://sensitivity-lab.github.io/sensitivity_lab/calculator/"
"""The page on the site."""


class Explorer:
    """A page that is served until it is closed; a notebook shows it in a frame.

    Attributes
    ----------
    url : str
        Its address, with the token that opens it.
    """

    def __init__(self, given: Given, height: int) -> None:
        self._open, self._height = ExitStack(), height
        self.url = self._open.enter_context(serving(given))

    def close(self) -> None:
        """End the page."""
        self._open.close()

    def __repr__(self) -> str:
        return f"Explorer at {self.url}"

    def _repr_html_(self) -> str:
        address = html_text(self.url)
        return (
            f'<iframe src="{address}" title="sensitivity_lab: the calculator" width="100%" '
            f'height="{self._height}" style="border: 1px solid #8888"></iframe>'
            "<p>The frame stays empty if your browser cannot reach the machine that runs this "
            f'notebook (JupyterHub, Colab). Then use <a href="{PUBLIC}">the public page</a>, whose '
            "data stay in your browser.</p>"
        )


def explore(universes: Any = None, *, height: int = 900) -> Explorer:
    """Show the calculator in a notebook: controls, with pictures that follow them.

    Choose a universe, a query, a relation, the size n, the distance k and epsilon. The page shows
    the sensitivity, its witness, the curve over k, Laplace noise, and the code that computes all of
    it; of a dataset also the local and the smooth sensitivity and the reach. Another process
    computes, so that a search can be stopped.

    Parameters
    ----------
    universes : Universe or IntervalUniverse, mapping of str to these, or DataFrame, optional
        What can be chosen beside typed domains: universes, or the numeric columns of a table. A
        table may be private, so the page opens on the domain 0 to 60, and offers its columns as
        datasets.
    height : int, default 900
        The height of the frame in pixels.

    Returns
    -------
    Explorer
        With a `url`, and a method `close`; a notebook displays it as the result of a cell.

    Raises
    ------
    InputError
        If there is no universe of numbers.

    Notes
    -----
    The page is served on the loopback address and opens with a token. ``sensitivity-lab explore
    data.csv`` shows the same page.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> page = sl.explore(sl.Universe.from_dataset([1, 2, 3, 10]))
    >>> page.url.startswith("http://127.0.0.1:")
    True
    >>> page.close()
    """
    pixels = check_whole("height", height, "a number of pixels, at least 1")
    return Explorer(Given() if universes is None else given_of(universes), pixels)
