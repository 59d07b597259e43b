"""``sensitivity-lab explore``: the explorer of a file, in a browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any

from sensitivity_lab.csv_files import STANDARD_INPUT, read_table
from sensitivity_lab.errors import InputError
from sensitivity_lab.explorer.call import show
from sensitivity_lab.explorer.page import serving
from sensitivity_lab.explorer.source import Source, of_frame

from .arguments import FILE, NO_BROWSER, PORT
from .given import Given


def explore(given: Given) -> None:
    """Serve the page until Ctrl-C."""
    file: Path = given[FILE]
    if file == STANDARD_INPUT:
        raise InputError("explore needs a file, got '-'; its page reads the data again")
    given.doing(f"reading {file}")
    read_source(file)  # refuse a bad file here, not on the page
    given.doing("starting the explorer")
    path = str(file.resolve())
    code = f"from sensitivity_lab.cli.explore import panel_of\npanel_of({path!r})"
    with serving(code, given[PORT]) as page:
        given.session.say(f"The explorer is at {page.url}\nCtrl-C ends it.")
        given.doing("serving the explorer")
        if not given[NO_BROWSER]:
            webbrowser.open(page.url)
        try:
            page.wait()
        except KeyboardInterrupt:  # as the line above says: no failure
            given.session.say("The explorer has ended.")


def panel_of(path: str) -> Any:
    """Return the panel of a file, which the page shows."""
    return show(read_source(Path(path)))


def read_source(path: Path) -> Source:
    """Return the numeric columns of a file, with code that reads them just as exactly."""
    read = f"pd.read_csv({str(path)!r}, " + "converters={{column}: Decimal})[{column}]"
    return of_frame(read_table(path), f"sl.Universe.from_dataset({read})")
