"""The command line, called in this process: its arguments, and what a refusal looks like."""

from __future__ import annotations

import re

from paths import DATA

from sensitivity_lab.cli import main

SCHOOL = str(DATA / "school_large.csv")
PNG = b"\x89PNG\r\n\x1a\n"
LOSS = ("--rows-per-person", "1", "--epsilon", "1", "--publish", "new")
OF_SCHOOL = ("--table", f"school={SCHOOL}", "--person", "school.name")
COUNT_OF_SCHOOL = ("sql", "SELECT COUNT(*) FROM school", *OF_SCHOOL)
PLANNED = (*COUNT_OF_SCHOOL, "--epsilon", "1", "--max-rows", "1")


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    """The exit code of the command, and what it wrote to stdout and to stderr."""
    try:
        code = main(list(arguments))
    except SystemExit as stopped:  # as argparse does for usage errors and --help
        code = stopped.code
    return code, *capsys.readouterr()


PYTHON = re.compile(
    r"n_jobs|memory_limit|method=|direction=|from_|\bDecimal|Percentile|math\.|row_limit|Universe\b|"
    r"sizes=|allow_missing|to_dict|mapping|smooth_|\bsl\.|tolerance_ulps"
)
"""What only a programmer could do."""


def check_refused(capsys, arguments, line):
    """Exit code 2, exactly this line on stderr, nothing on stdout; in words of the command line."""
    assert not PYTHON.search(line)
    assert run(capsys, *arguments) == (2, "", f"{line}\n")


BAD_FILES = {
    "empty.csv": b"",
    "header.csv": b"a,b\n",
    "picture.csv": PNG + bytes(range(256)),
    "ragged.csv": b"a,b\n1,2\n1,2,3,4\n",
    "text.csv": b"a\nx\ny\n",
    "missing_value.csv": b"a,b\n1,x\n,y\n4,z\n",
    "infinite.csv": b"a\n1\ninf\n2\n",
    "true.csv": b"a,b\nTrue,1\nFalse,2\nTrue,3\n",
    "one_column.csv": b"a\n1\n2\n3\n",
}
