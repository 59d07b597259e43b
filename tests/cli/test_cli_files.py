"""Files that the command line writes are checked before any work."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import MEAN_OF_TWO, SCHOOL, check_refused, run

CURVES = ("curves", SCHOOL, "--size", "6", "--distances", "1", "--neighbors", "bounded")
ONE = ("sensitivity", SCHOOL, "--column", "school_year", *MEAN_OF_TWO)


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize(
    ("command", "option", "file", "reason"),
    [
        *(
            (
                command,
                option,
                str(Path("missing", name)),
                f"cannot write {str(Path('missing', name))!r}: "
                "'missing' is not a folder that can be written to",
            )
            for command, option, name in (
                (CURVES, "--output", "plot.png"),
                (CURVES, "--table", "table.csv"),
                (ONE, "--output", "plot.png"),
            )
        ),
        (
            CURVES,
            "--table",
            str(Path("empty.csv", "table.csv")),
            f"cannot write {str(Path('empty.csv', 'table.csv'))!r}: "
            "'empty.csv' is not a folder that can be written to",
        ),
        (
            CURVES,
            "--output",
            "plot.jpg",
            "--output: 'plot.jpg' ends in '.jpg'; use .pdf, .png or .svg",
        ),
        (ONE, "--output", "plot", "--output: 'plot' ends in ''; use .pdf, .png or .svg"),
        (CURVES, "--table", "folder", "cannot write 'folder': it is a folder"),
        (ONE, "--output", "folder", "cannot write 'folder': it is a folder"),
    ],
)
def test_outputs_are_checked_before_any_work(capsys, folder, command, option, file, reason):
    before = sorted(folder.rglob("*"))
    check_refused(capsys, [*command, option, file], f"sensitivity-lab {command[0]}: {reason}")
    assert sorted(folder.rglob("*")) == before


@pytest.mark.usefixtures("folder", "no_search")
def test_a_folder_without_permission(capsys, monkeypatch):
    """Not by chmod, which does not stop a superuser."""
    monkeypatch.setattr("sensitivity_lab.cli.output.os.access", lambda _path, _mode: False)
    for command in (CURVES, ONE):
        check_refused(
            capsys,
            [*command, "--output", "folder/plot.png"],
            f"sensitivity-lab {command[0]}: cannot write 'folder/plot.png': "
            "'folder' is not a folder that can be written to",
        )
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


@pytest.mark.parametrize("option", ["--output", "--table"])
@pytest.mark.usefixtures("folder", "no_search")
def test_outputs_with_a_nul_in_their_names(capsys, option):
    code, out, err = run(capsys, *CURVES, option, "nul\0l.png")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("sensitivity-lab curves: ")
