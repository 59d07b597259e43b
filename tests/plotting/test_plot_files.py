"""Pictures are written to files and show themselves in notebooks."""

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from paths import ROOT, SUPPORT
from pictures import (
    WITNESSES,
    tidy,
)

from sensitivity_lab.errors import InputError
from sensitivity_lab.plotting import plot_curves, plot_witness, save


@pytest.mark.representative
@pytest.mark.parametrize("name", ["a.png", "a.PDF", "a.svg"])
def test_save_writes_a_file(tmp_path, name):
    start = {"a.png": b"\x89PNG", "a.PDF": b"%PDF", "a.svg": b"<?xml"}[name]
    for drawn in (plot_curves(tidy()), plot_witness(WITNESSES["ties"])):
        save(drawn, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
        save(drawn, str(tmp_path / name))


def test_save_explains_what_is_wrong(tmp_path):
    figure = Figure()
    folder = tmp_path / "folder.png"
    folder.mkdir()
    cases = {
        "a.jpg": "ends in '.jpg'; use .pdf, .png or .svg",
        "a": "ends in ''; use .pdf, .png or .svg",
        "no/a.png": "is in a folder that does not exist; create it first",
        "folder.png": "cannot be written (Is a directory); "
        "choose a file and a folder that you may write to",
    }
    for name, reason in cases.items():
        with pytest.raises(InputError) as caught:
            save(figure, tmp_path / name)
        assert str(caught.value) == f"path: {str(tmp_path / name)!r} {reason}"


def test_a_picture_shows_itself():
    figure, ax = plot_curves(tidy()), plot_witness(WITNESSES["ties"])
    assert isinstance(figure, Figure)
    assert isinstance(ax, Axes)
    for drawn in (figure, ax):
        assert drawn._repr_png_().startswith(b"\x89PNG")


@pytest.mark.notebooks
@pytest.mark.parametrize(
    "first", ["", "import matplotlib.pyplot as plt; plt.figure; plt.close('all')"]
)
def test_a_notebook_shows_a_picture_exactly_once(first, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    monkeypatch.delenv("MPLBACKEND", raising=False)
    cells = [
        f"{first}\nimport sys; sys.path.insert(0, {str(SUPPORT)!r})\n"
        "from pictures import *\n"
        "from sensitivity_lab.plotting import plot_curves, plot_witness",
        "plot_curves(tidy())",
        "plot_witness(WITNESSES['ties'])",
        "picture = plot_curves(tidy())",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120).execute()
    pictures = [
        sum("image/png" in output.get("data", {}) for output in cell.outputs)
        for cell in notebook.cells
    ]
    assert pictures == [0, 1, 1, 0]
