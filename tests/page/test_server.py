"""The page's server: to whom it answers, what it serves, and how a search is stopped."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import pytest

import sensitivity_lab as sl
from sensitivity_lab.page.answer import FIRST
from sensitivity_lab.page.server import FILES, MOST_BYTES, Worker, serving
from sensitivity_lab.page.universes import Given, given_of

ASKED = {"ask": "answer", **FIRST, "parts": ["sensitivity"]}


@pytest.fixture(scope="module")
def page():
    with serving(given_of(pd.DataFrame({"age": [1, 2, 3]}))) as url:
        yield url


def send(url: str, path: str = "/answer", *, method: str = "POST", **changed: Any):
    """Send a request as the page does; `changed` headers are left out if they are None."""
    parts = urlsplit(url)
    headers = {
        "Content-Type": "application/json",
        "X-Token": parts.fragment.partition("=")[2],
        "Origin": f"http://{parts.netloc}",
        **{name.replace("_", "-"): value for name, value in changed.items() if name != "body"},
    }
    body = changed.get("body", json.dumps(ASKED))
    connection = HTTPConnection(parts.hostname, parts.port, timeout=60)
    headers = {name: value for name, value in headers.items() if value is not None}
    connection.request(method, path, body if method == "POST" else None, headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def test_it_answers_as_the_library_does(page):
    response, content = send(page)
    assert response.status == 200
    assert json.loads(content)["sensitivity"]["text"] == "3"
    _, content = send(page, body=json.dumps({"ask": "choices"}))
    assert json.loads(content)["given"]["records"] == ["age"]


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"X_Token": None}, 403),
        ({"X_Token": "wrong"}, 403),
        ({"X_Token": "é"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1"}, 403),
        ({"Content_Type": "text/plain"}, 404),
        ({"Content_Type": None}, 404),
        ({"body": "{"}, 400),
        ({"body": "[" * 100_000}, 400),
        ({"body": json.dumps({"ask": "columns", "text": "a" * MOST_BYTES})}, 413),
    ],
)
def test_requests_of_others_are_refused(page, changed, status):
    response, content = send(page, **changed)
    assert response.status == status
    assert json.loads(content)["ok"] is False


def test_what_is_too_large_is_told_with_both_numbers(page):
    _, content = send(page, body="a" * 3_200_000)
    assert json.loads(content)["message"] == (
        "the page sends at most 1,000,000 bytes, and with this file they are 3,200,000; end it, "
        "and start sensitivity-lab explore FILE, which gives the columns of the file"
    )


@pytest.mark.parametrize("path", ["/stop", "/answer", "/other"])
def test_nothing_is_done_without_the_token(page, path):
    assert send(page, path, X_Token=None)[0].status == 403


@pytest.mark.parametrize(
    "path",
    ["/../server.py", "/static/page.js", "/%2e%2e/server.py", "/page.py", "/answer"],
)
def test_no_other_file_is_served(page, path):
    assert send(page, path, method="GET")[0].status == 404


@pytest.mark.parametrize("path", FILES)
def test_the_files_of_the_page_are_served_with_a_policy(page, path):
    response, content = send(page, path, method="GET", X_Token=None, Origin=None)
    assert response.status == 200
    assert content
    policy = response.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert send(page, path, method="GET", Host="evil.example")[0].status == 404


def test_the_token_is_new_each_time_and_no_part_of_what_is_sent():
    with serving(Given()) as one, serving(Given()) as other:
        assert urlsplit(one).fragment != urlsplit(other).fragment
        assert urlsplit(one).query == ""
        assert send(one, X_Token=urlsplit(other).fragment.partition("=")[2])[0].status == 403


def test_stop_ends_a_search_and_the_next_request_goes_on(page):
    # Millions of answers of the definition, which take minutes.
    slow = {**ASKED, "universe": {"kind": "domain", "text": "0:3000"}, "query": "iqr", "size": 9}
    slow |= {"relation": "symmetric difference: add and remove", "k": 9}
    found: list[Any] = []
    asking = threading.Thread(target=lambda: found.append(send(page, body=json.dumps(slow))))
    asking.start()
    time.sleep(0.5)
    ended = not asking.is_alive()
    assert send(page, "/stop")[0].status == 200
    asking.join(20)
    [(_, content)] = found
    told = json.loads(content)
    assert ended or told == {
        "ok": False,
        "field": "",
        "message": "Stopped. Change something to go on.",
    }
    assert json.loads(send(page)[1])["sensitivity"]["text"] == "3"


def test_a_worker_that_was_killed_while_idle_is_started_again():
    worker = Worker(given_of(pd.DataFrame({"age": [1, 2, 3]})))
    try:
        assert worker.answer(ASKED)["ok"]
        (process,) = worker._process._processes.values()
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        while not worker._process._flags.broken:  # its executor sees that in a thread of its own
            time.sleep(0.01)
        assert worker.answer(ASKED)["ok"]
    finally:
        worker.stop()


def test_who_asks_while_another_one_is_answered_is_told(monkeypatch):
    begun, going = threading.Event(), threading.Event()

    class Slow:
        def submit(self, *_):
            return self

        def result(self):
            begun.set()
            going.wait(20)
            return {"ok": True}

    monkeypatch.setattr("sensitivity_lab.page.server.ProcessPoolExecutor", lambda *_, **__: Slow())
    worker = Worker(Given())
    first = threading.Thread(target=worker.answer, args=[{}])
    first.start()
    assert begun.wait(20)
    told = {"ok": False, "field": "", "message": "Another tab of this page is computing"}
    assert worker.answer({}) == {**told, "busy": True}
    going.set()
    first.join(20)
    assert worker.answer({}) == {"ok": True}


def test_a_port_that_is_taken_is_refused():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(sl.errors.InputError, match=f"cannot listen on port {port}"):
            serving(Given(), port).__enter__()


def test_a_notebook_shows_the_page_in_a_frame():
    page = sl.explore(sl.Universe.from_dataset([1, 2, 3, 10]), height=300)
    shown = page._repr_html_()
    assert f'src="{page.url}"' in shown
    assert 'height="300"' in shown
    assert "JupyterHub" in shown
    page.close()
    with pytest.raises(OSError, match=r".*"):
        send(page.url)
