"""A parser whose errors are one line, with what may be meant, and whose help has examples."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias

from sensitivity_lab.checks import cut, did_you_mean

from .examples import EXAMPLES
from .output import complain

_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)$")
"""How argparse refuses a choice; which quotes the choices have depends on Python's version."""


class Parser(argparse.ArgumentParser):
    """A parser of the program or of one of its commands.

    Its description and examples are those that `EXAMPLES` has under the command's name.
    """

    def __init__(self, **options: Any) -> None:
        about = EXAMPLES.get(str(options.get("prog", "")).rpartition(" ")[2])
        if about:
            options.setdefault("description", about.does)
            options.setdefault("epilog", about.shown)
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(**options)

    def error(self, message: str) -> NoReturn:
        """End with exit code 2 and one line, which proposes a choice that is alike."""
        refused = _CHOICE.search(message)
        if refused:
            choices = [choice.strip("'") for choice in refused[2].split(", ")]
            message += did_you_mean(refused[1], choices)
        message = " ".join(map(cut, message.split(" ")))
        complain(f"{self.prog}: {message}")
        self.exit(2)

    # An unknown option is refused first: else a message about what is required comes before, as if
    # the option had not been given at all.
    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but refuse options that are not known, with one that is alike."""
        if args is not None:
            self._refuse_unknown(args)
        return super().parse_known_args(args, namespace)

    def _refuse_unknown(self, words: Sequence[str]) -> None:
        known = self._option_string_actions
        for word in words:
            if word == "--" or (self._subparsers and not word.startswith("-")):
                return  # what follows is not for this parser to judge
            name = word.partition("=")[0]
            if name.startswith("--") and not any(option.startswith(name) for option in known):
                self.error(f"unrecognized argument: {name}{did_you_mean(name, known)}")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
"""What the parsers of the commands are added to."""
