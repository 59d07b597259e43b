"""A headless Chromium for tests marked `browser`, and what it says of a page.

Playwright drives the Chromium that the system has (Debian's package `chromium`, or the one that the
environment variable CHROMIUM names); nothing is downloaded. A test makes its own fixture of
`chromium`, since what several folders of tests share is imported by name:

    @pytest.fixture(scope="module")
    def browser():
        with chromium() as running:
            yield running

    def test_the_page_is_calm(browser):
        with opened(browser, address, width=400, scheme="dark") as view:
            view.page.get_by_role("slider").first.press("ArrowRight")
        assert view.complaints == []
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")

# It only sees pages of this machine: no sandbox is needed, and nothing is fetched beside them.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

WIDTHS = (1280, 400)
SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")


@dataclass
class View:
    """An open page, and the errors that it has reported so far.

    Attributes
    ----------
    page : playwright.sync_api.Page
        The page, with everything that Playwright can do with it.
    complaints : list of str
        Errors on the console, exceptions of scripts, and files that could not be loaded.
    """

    page: Page
    complaints: list[str] = field(default_factory=list)

    def overflow(self) -> int:
        """By how many pixels the page can be scrolled sideways."""
        return self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )

    def broken_images(self) -> list[str]:
        """The addresses of images that have no pixels, hidden ones apart."""
        return self.page.evaluate(
            """async () => {
                const shown = [...document.images].filter(image => image.checkVisibility());
                for (const image of shown) {
                    image.loading = "eager";
                    await image.decode().catch(() => {});
                }
                return shown.filter(image => !image.naturalWidth).map(image => image.src);
            }"""
        )


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run the system's Chromium; without it a test marked `browser` fails and says what to do."""
    api = pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`")
    named = os.environ.get("CHROMIUM")
    path = named or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.fail("no Chromium: install the package chromium, or name it in CHROMIUM")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser,
    address: str,
    *,
    width: int = 1280,
    scheme: Literal["light", "dark"] = "light",
    wait_until: Literal["networkidle", "load"] = "networkidle",
    **options: Any,
) -> Iterator[View]:
    """Open an address in a window of its own, and wait until nothing is loaded anymore.

    Half a second has to pass without a request then; with "load" the wait ends when the page and
    what it names are there, which is enough where no script asks for more. `options` go to
    Playwright's ``new_context``. What is loaded from elsewhere than this machine is refused and so
    becomes a complaint: pages work offline.
    """
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, **options
    )
    page = context.new_page()
    view = View(page)

    def refuse(route: Any) -> None:
        view.complaints.append(f"loads {route.request.url}")
        route.abort()

    page.route(lambda url: not _is_local(url), refuse)
    page.on("console", lambda said: said.type == "error" and view.complaints.append(said.text))
    page.on("pageerror", lambda error: view.complaints.append(str(error)))
    try:
        page.goto(address, wait_until=wait_until)
        yield view
    finally:
        context.close()


def _is_local(url: str) -> bool:
    local = ("http://127.0.0.1", "http://localhost", "file:", "data:", "blob:", "about:", "ws:")
    return url.startswith(local)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on the loopback address, at a free port, and yield its address."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    """Writes no log."""

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""
