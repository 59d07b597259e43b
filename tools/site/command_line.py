"""A page of what every command of the command line says with ``--help``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

HEAD = """# Command line

`sensitivity-lab COMMAND --help` says the same. Bad input ends with exit code 2 and one line that
says what came and what is accepted, Ctrl-C with 130. All else that the library does is a call in
Python.
"""


def write(folder: Path) -> None:
    """Write the page into a folder."""
    os.environ["COLUMNS"] = "72"  # argparse lays out its help for this width
    from sensitivity_lab.cli.program import make_parsers

    program, commands = make_parsers()
    lines = [HEAD, _block(program)]
    for name, command in commands.items():
        lines += [f"## {name}", "", _block(command)]
    (folder / "command_line.md").write_text("\n".join(lines), "utf-8")


def _block(parser: argparse.ArgumentParser) -> str:
    return f"```text\n{parser.format_help()}```\n"
