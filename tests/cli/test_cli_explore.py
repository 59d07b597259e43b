"""The command that serves the page: what it refuses, and what it says."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from command_line import SCHOOL, check_refused, run

from sensitivity_lab.page.server import ADDRESS

URL = "http://127.0.0.1:9/#token=t"


class Waiting:
    """Ends at once, as with Ctrl-C."""

    def wait(self):
        raise KeyboardInterrupt


@pytest.fixture
def served(monkeypatch):
    """What is asked of the page, which is not served."""
    asked = []

    @contextmanager
    def serving(given, port=None):
        asked.append((list(given.records), port))
        yield URL

    monkeypatch.setattr("sensitivity_lab.cli.commands.serving", serving)
    monkeypatch.setattr("sensitivity_lab.cli.commands.threading.Event", Waiting)
    monkeypatch.setattr("webbrowser.open", asked.append)
    return asked


@pytest.mark.parametrize(("options", "opened"), [([], [URL]), (["--no-browser"], [])])
def test_the_address_is_said_and_opened_until_ctrl_c(capsys, served, options, opened):
    code, said, complaint = run(capsys, "explore", SCHOOL, "--port", "9", *options)
    assert (code, complaint) == (0, "")
    assert said == f"The page is at {URL}\nCtrl-C ends it.\nThe page has ended.\n"
    [(records, port), *rest] = served
    assert (port, rest) == (9, opened)
    assert "absence_days" in records


def test_no_file_is_needed(capsys, served):
    assert run(capsys, "explore", "--no-browser")[0] == 0
    assert served == [([], None)]


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform == "win32", reason="there SIGTERM ends a process at once")
def test_sigterm_ends_it_without_a_complaint():
    command = [sys.executable, "-m", "sensitivity_lab", "explore", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as on:
        url = urlsplit(on.stdout.readline().split()[-1])
        headers = {"Content-Type": "application/json", "X-Token": url.fragment.partition("=")[2]}
        connection = HTTPConnection(url.netloc, timeout=60)
        connection.request("POST", "/answer", json.dumps({"ask": "choices"}), headers)
        assert json.loads(connection.getresponse().read())["ok"]  # by a process that runs now
        connection.close()
        on.send_signal(signal.SIGTERM)
        said, complaint = on.communicate(timeout=60)
    assert (on.returncode, complaint) == (0, "")
    assert said.endswith("The page has ended.\n")


@pytest.mark.usefixtures("folder")
def test_a_bad_file_is_refused_before_anything_is_served(capsys, served):
    check_refused(
        capsys,
        ["explore", "text.csv"],
        "sensitivity-lab explore: no column of the file holds numbers alone",
    )
    check_refused(
        capsys,
        ["explore", "-"],
        "sensitivity-lab explore: explore needs a file, got '-'; its code reads the data again",
    )
    assert served == []


def test_a_port_that_is_taken_is_refused(capsys):
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
