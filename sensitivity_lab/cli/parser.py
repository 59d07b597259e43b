"""The parser built from the table of commands: errors on one line, help with examples."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from importlib import metadata
from typing import Any, NoReturn

from sensitivity_lab.checks import cut, did_you_mean

from .arguments import WITH_COMMAS
from .commands import COMMANDS, PROGRAM
from .output import complain

_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)$")
"""How argparse refuses a choice; the quotes around the choices depend on Python's version."""


class Parser(argparse.ArgumentParser):
    """A parser of the program or of one of its commands."""

    def __init__(self, **options: Any) -> None:
        # The lines of descriptions and examples stay as they are.
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        """End with exit code 2 and one line, which proposes a similar choice."""
        refused = _CHOICE.search(message)
        if refused:
            choices = [choice.strip("'") for choice in refused[2].split(", ")]
            message += did_you_mean(refused[1], choices)
        if re.fullmatch(r"unrecognized arguments:( \d+)+", message):
            message += f"; {WITH_COMMAS}, such as --distances 1,2"
        message = " ".join(map(cut, message.split(" ")))
        complain(f"{self.prog}: {message}")
        self.exit(2)

    # Refuse an unknown option first: otherwise the message about required arguments comes before,
    # as if the option had not been given.
    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but refuse unknown options and propose a similar one."""
        if args is not None:
            self._refuse_unknown(args)
        return super().parse_known_args(args, namespace)

    def _refuse_unknown(self, words: Sequence[str]) -> None:
        known = self._option_string_actions
        for word in words:
            if word == "--" or (self._subparsers and not word.startswith("-")):
                return  # the rest is for another parser
            name = word.partition("=")[0]
            if name.startswith("--") and not any(option.startswith(name) for option in known):
                self.error(f"unrecognized argument: {name}{did_you_mean(name, known)}")


def make_parser() -> Parser:
    """Return the parser of all commands."""
    return make_parsers()[0]


def make_parsers() -> tuple[Parser, dict[str, Parser]]:
    """Return the parser of all commands, and each command's by its name."""
    parser = Parser(prog=PROGRAM.name, description=PROGRAM.does, epilog=PROGRAM.after)
    parser.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    made = {}
    for name, command in COMMANDS.items():
        made[name] = commands.add_parser(
            name, help=command.summary, description=command.does, epilog=command.after
        )
        for argument in command.arguments:
            argument.add_to(made[name])
    return parser, made


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell's request for completions, if argcomplete is installed, and end the process.

    It proposes commands, options, choices and files.
    """
    if "_ARGCOMPLETE" not in os.environ:
        return
    try:
        import argcomplete
    except ImportError:
        return
    argcomplete.autocomplete(parser)


def _version() -> str:
    try:
        return metadata.version("sensitivity_lab")
    except metadata.PackageNotFoundError:
        return "of a checkout that is not installed"
