"""The command that serves the explorer: what it refuses, and what it says."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from command_line import SCHOOL, check_refused, run

import sensitivity_lab.explorer.page
from sensitivity_lab.explorer.page import ADDRESS

URL = "http://127.0.0.1:9/?token=t"


@pytest.fixture
def served(monkeypatch):
    """What is asked of the page, which is not served."""
    asked = []

    @contextmanager
    def serving(code, port=None):
        asked.append((code, port))
        yield SimpleNamespace(url=URL, wait=lambda: asked.append("waits"))

    monkeypatch.setattr("sensitivity_lab.cli.explore.serving", serving)
    monkeypatch.setattr("webbrowser.open", asked.append)
    return asked


@pytest.mark.parametrize(("options", "opened"), [([], [URL]), (["--no-browser"], [])])
def test_the_address_is_said_and_opened(capsys, served, options, opened):
    code, said, complaint = run(capsys, "explore", SCHOOL, "--port", "9", *options)
    assert (code, complaint) == (0, "")
    assert said == f"The explorer is at {URL}\nCtrl-C ends it.\n"
    cell = f"from sensitivity_lab.cli.explore import panel_of\npanel_of({SCHOOL!r})"
    assert served == [(cell, 9), *opened, "waits"]


def test_ctrl_c_ends_it_without_a_failure(capsys, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    @contextmanager
    def serving(*_):
        yield SimpleNamespace(url=URL, wait=interrupted)

    monkeypatch.setattr("sensitivity_lab.cli.explore.serving", serving)
    code, said, complaint = run(capsys, "explore", SCHOOL, "--no-browser")
    assert (code, complaint) == (0, "")
    assert said.endswith("Ctrl-C ends it.\nThe explorer has ended.\n")


@pytest.mark.usefixtures("folder")
def test_a_bad_file_is_refused_before_anything_is_served(capsys, served):
    check_refused(
        capsys,
        ["explore", "text.csv"],
        "sensitivity-lab explore: no column is numeric; the columns are 'a'",
    )
    check_refused(
        capsys,
        ["explore", "-"],
        "sensitivity-lab explore: explore needs a file, got '-'; its page reads the data again",
    )
    assert served == []


def test_without_the_extra_the_error_names_it(capsys, monkeypatch):
    monkeypatch.setattr("sensitivity_lab.explorer.page.find_spec", lambda _: None)
    check_refused(
        capsys,
        ["explore", SCHOOL],
        "sensitivity-lab explore: the explorer's page needs ipywidgets and Voila, which are not "
        "installed; install the extra: pip install '.[explore]' in a checkout",
    )


def test_without_the_template_of_voila_nothing_is_served(capsys, monkeypatch):
    paths = pytest.importorskip("jupyter_core.paths", reason="needs the extra `explore`")
    monkeypatch.setattr("sensitivity_lab.explorer.page.find_spec", lambda _: True)
    monkeypatch.setattr(paths, "jupyter_path", lambda: ["/a/share/jupyter", "/b"])
    check_refused(
        capsys,
        ["explore", SCHOOL],
        "sensitivity-lab explore: the explorer's page needs Voila's template 'lab' "
        "(voila/templates/lab), which is in none of Jupyter's folders: /a/share/jupyter, /b; "
        "install Voila again, with pip install --force-reinstall voila, or set the environment "
        "variable JUPYTER_PATH to the folder share/jupyter of the environment that has it",
    )


def test_a_port_that_is_taken_is_refused(capsys, monkeypatch):
    monkeypatch.setattr(sensitivity_lab.explorer.page, "find_spec", lambda _: True)
    with socket.socket() as taken:
        taken.bind((ADDRESS, 0))
        taken.listen()
        port = taken.getsockname()[1]
        check_refused(
            capsys,
            ["explore", SCHOOL, "--port", str(port)],
            f"sensitivity-lab explore: cannot listen on port {port} (Address already in use); "
            "choose another one from 1024 to 65535",
        )
