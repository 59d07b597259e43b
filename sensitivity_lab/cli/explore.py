"""``sensitivity-lab explore``: the page, in a browser."""

from __future__ import annotations

import signal
import threading
import webbrowser
from pathlib import Path

from sensitivity_lab.csv_files import STANDARD_INPUT, read_cells
from sensitivity_lab.errors import InputError
from sensitivity_lab.page.server import serving
from sensitivity_lab.page.universes import Given, given_of_file

from .arguments import FILE, NO_BROWSER, PORT
from .given import Given as Arguments


def explore(given: Arguments) -> None:
    """Serve the page until Ctrl-C."""
    file: Path | None = given[FILE]
    columns = Given()
    if file is not None:
        if file == STANDARD_INPUT:
            raise InputError("explore needs a file, got '-'; its code reads the data again")
        given.doing(f"reading {file}")
        columns = given_of_file(read_cells(file), str(file.resolve()))
    given.doing("starting the page")
    with serving(columns, given[PORT]) as url:
        given.session.say(f"The page is at {url}\nCtrl-C ends it.")
        given.doing("serving the page")
        if not given[NO_BROWSER]:
            webbrowser.open(url)
        # It ends as with Ctrl-C, and with it the process that computes.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:  # as the line above says: no failure
            given.session.say("The page has ended.")
        finally:
            signal.signal(signal.SIGTERM, before)
