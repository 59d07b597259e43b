"""The page of other libraries' statistics agrees with what was measured, and that with the lab."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version

import pytest
from paths import ROOT


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(ROOT / "tools"))
    import make_whose

    yield make_whose
    sys.path.remove(str(ROOT / "tools"))


@pytest.fixture(scope="module")
def cells(tool):
    return tool.known(tool.STATISTICS)["cells"]


def test_the_page_is_what_was_measured(tool):
    assert tool.PAGE.read_text("utf-8") == tool.made()


def test_every_call_has_a_cell_and_the_pinned_version(tool, cells):
    assert [tool.key_of(cell) for cell in cells] == tool.measure.places()
    assert len(cells) >= 150
    told = tool.known(tool.STATISTICS)["versions"]
    assert told == {name: tool.data_of.PINS[one] for name, one in tool.data_of.PACKAGES.items()}
    for name, (_, pin, _, says) in tool.privacy.LIBRARIES.items():
        told = tool.known(tool.PRIVACY)[name]
        assert (told["version"], told["says"]) == (pin, says)


def test_a_call_that_is_a_query_of_ours_has_its_sensitivity(tool, cells):
    """Brute force that shares nothing with the lab found the one, the lab computes the other."""
    for cell in cells:
        if cell.get("beside"):
            assert cell["ours"] == {n: tool.measure.ours(cell["beside"], int(n)) for n in "45678"}
        if cell.get("equals") and " * " not in cell["equals"]:
            assert cell["sensitivity"] == cell["ours"], cell["call"]


def test_constants_of_privacy_libraries_stand_beside_calls_of_ours(tool):
    asked = [
        cell
        for one in tool.known(tool.PRIVACY).values()
        for cell in one["cells"]
        if cell["ours_call"]
    ]
    assert len(asked) > 20
    for cell in asked:
        assert cell["ours"] == f"{tool.privacy.value_of(cell['ours_call']):.7g}", cell["call"]


@pytest.mark.parametrize("planted", ["sensitivity", "equals"])
def test_a_planted_change_of_a_cell_is_found(tool, planted, monkeypatch, tmp_path, capsys):
    if version("numpy") != tool.data_of.PINS["numpy"]:
        pytest.skip("needs the pinned version of numpy: make .venv-whose/installed")
    monkeypatch.setattr(tool.data_of, "installed", lambda: {"NumPy"})
    check = ["--check", "--only", "smallest and largest"]
    assert tool.main(check) == 0
    known = tool.known(tool.STATISTICS)
    (cell,) = (one for one in known["cells"] if one["call"] == "np.ptp(x)")
    cell[planted] = {**cell["sensitivity"], "4": "3/4"} if planted == "sensitivity" else "sl.Max()"
    monkeypatch.setattr(tool, "STATISTICS", tmp_path / "planted.json")
    tool.STATISTICS.write_text(json.dumps(known), "utf-8")
    assert tool.main(check) == 1
    assert f"np.ptp(x) {planted}" in capsys.readouterr().out


def test_nothing_that_could_be_measured_is_a_failure(tool, monkeypatch, capsys):
    monkeypatch.setattr(tool.data_of, "installed", set)
    assert tool.main(["--check", "--only", "no library"]) == 1
    assert capsys.readouterr().out.endswith("nothing could be measured\n")
