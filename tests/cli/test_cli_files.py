"""Files that the command line writes are checked before any work."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from checks import refused
from command_line import check_refused

from sensitivity_lab.checks import shown
from sensitivity_lab.cli.commands import check_writable


@pytest.mark.usefixtures("folder", "no_search")
def test_a_folder_without_permission(capsys, monkeypatch):
    """Not by chmod, which does not stop a superuser."""
    monkeypatch.setattr("sensitivity_lab.cli.commands.os.access", lambda _path, _mode: False)
    check_refused(
        capsys,
        ["article", "--output", "folder"],
        "sensitivity-lab article: cannot write 'folder/a_unbounded.png': "
        "'folder' is not a folder that can be written to",
    )


@pytest.mark.usefixtures("folder", "no_search")
@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("empty.csv", "cannot make the folder 'empty.csv': File exists"),
        ("empty.csv/results", "cannot make the folder 'empty.csv/results': Not a directory"),
    ],
)
def test_article_without_a_folder(capsys, output, reason):
    check_refused(capsys, ["article", "--output", output], f"sensitivity-lab article: {reason}")


@pytest.mark.usefixtures("no_search")
def test_article_checks_every_file_before_any_work(capsys, tmp_path):
    (tmp_path / "b_bounded.csv").mkdir()
    file = str(tmp_path / "b_bounded.csv")
    reason = f"cannot write {file!r}: it is a folder"
    check_refused(
        capsys, ["article", "--output", str(tmp_path)], f"sensitivity-lab article: {reason}"
    )


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("missing/plot.png", "'missing' is not a folder that can be written to"),
        ("empty.csv/table.csv", "'empty.csv' is not a folder that can be written to"),
        ("folder", "it is a folder"),
        ("nul\0l.png", "the name has a NUL character"),
        ("a" * 300, os.strerror(errno.ENAMETOOLONG)),
    ],
)
def test_files_that_cannot_be_written(file, reason):
    refused(lambda: check_writable(Path(file)), f"cannot write {shown(file)}: {reason}")
