"""``sensitivity-lab explore``: the explorer of a file, in a browser."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import Any

from sensitivity_lab.errors import InputError
from sensitivity_lab.explorer.call import show
from sensitivity_lab.explorer.page import serving
from sensitivity_lab.explorer.source import Source, of_frame

from .output import Session
from .tables import read_table


def add_explore(commands: Any) -> None:
    """Add the command to the parsers of the commands."""
    parser = commands.add_parser(
        "explore", help="try it all with sliders, on a page in the browser"
    )
    parser.add_argument(
        "data",
        type=Path,
        metavar="DATA.csv",
        help="a table with a header; its numeric columns can be explored",
    )
    parser.add_argument(
        "--port", type=int, metavar="P", help="the port to listen on; default: any free one"
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address, and open no browser"
    )
    parser.set_defaults(run=run_explore)


def run_explore(parsed: argparse.Namespace, session: Session) -> None:
    """Serve the page until Ctrl-C."""
    if str(parsed.data) == "-":
        raise InputError("explore takes a file, got '-'; its page reads the data again")
    session.doing = f"reading {parsed.data}"
    read_source(parsed.data)  # so that a bad file is refused here, and not on the page
    session.doing = "starting the explorer"
    path = str(parsed.data.resolve())
    code = f"from sensitivity_lab.cli.explore import panel_of\npanel_of({path!r})"
    with serving(code, parsed.port) as page:
        session.say(f"The explorer is at {page.url}\nCtrl-C ends it.")
        session.doing = "serving the explorer"
        if not parsed.no_browser:
            webbrowser.open(page.url)
        page.wait()


def panel_of(path: str) -> Any:
    """Return the panel of a file; what the page shows."""
    return show(read_source(Path(path)))


def read_source(path: Path) -> Source:
    """Return the numeric columns of a file, with code that reads them as exactly as this does."""
    read = f"pd.read_csv({str(path)!r}, " + "converters={{column}: Decimal})[{column}]"
    return of_frame(read_table(path), f"sl.Universe.from_dataset({read})")
