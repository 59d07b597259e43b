"""Pictures are written to files and show themselves in notebooks."""

from functools import partial

import matplotlib.pyplot as plt
import pytest
from checks import refused
from matplotlib.figure import Figure
from paths import ROOT, SUPPORT
from pictures import (
    WITNESSES,
    callers_axes,
    tidy,
)

from sensitivity_lab.errors import InputError
from sensitivity_lab.plotting import off_screen, plot_curves, save
from sensitivity_lab.plotting.pair import plot_witness


@pytest.mark.representative
@pytest.mark.parametrize("name", ["a.png", "a.PDF", "a.svg"])
def test_save_writes_a_file(tmp_path, name):
    start = {"a.png": b"\x89PNG", "a.PDF": b"%PDF", "a.svg": b"<?xml"}[name]
    for drawn in (plot_curves(tidy()), plot_witness(WITNESSES["ties"])):
        save(drawn, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.further
def test_a_path_may_be_text(tmp_path):
    save(plot_curves(tidy()), str(tmp_path / "a.png"))
    assert (tmp_path / "a.png").exists()


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
        refused(partial(save, figure, tmp_path / name), f"path: {str(tmp_path / name)!r} {reason}")


@pytest.mark.exhaustive
def test_a_new_figure_is_pyplots():
    figure, ax = plot_curves(tidy()), plot_witness(WITNESSES["ties"])
    assert [plt.figure(number) for number in plt.get_fignums()] == [figure, ax.figure]
    assert plt.gcf() is ax.figure
    assert plt.gca() is ax
    plt.close(figure)
    assert plt.get_fignums() == [ax.figure.number]


def test_a_callers_figure_is_left_alone_and_nothing_stays_after_an_error():
    _, mine = callers_axes()
    plot_curves(tidy(queries=("mean",)), ax=mine)
    for wrong in ({"legend": "left"}, {"columns": 0}, {"logx": 1}, {"units": 3}):
        with pytest.raises(InputError):
            plot_curves(tidy(), **wrong)
    assert plt.get_fignums() == []


@pytest.mark.exhaustive
def test_off_screen_pyplot_knows_of_nothing(tmp_path):
    with off_screen():
        save(plot_curves(tidy()), tmp_path / "a.png")
    assert plt.get_fignums() == []
    plot_curves(tidy())
    assert len(plt.get_fignums()) == 1


@pytest.mark.notebooks
def test_a_notebook_shows_a_picture_exactly_once(monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    monkeypatch.delenv("MPLBACKEND", raising=False)
    cells = [
        f"import sys; sys.path.insert(0, {str(SUPPORT)!r})\n"
        "from pictures import *\n"
        "from sensitivity_lab.plotting import plot_curves\n"
        "from sensitivity_lab.plotting.pair import plot_witness",
        "plot_curves(tidy())",
        "plot_witness(WITNESSES['ties'])",
        "picture = plot_curves(tidy())",
        "picture",  # pyplot has closed it
        "plot_curves(tidy(), title='first'); plot_curves(tidy())",
        "import matplotlib.pyplot as plt\nplot_curves(tidy())\nplt.show()",
        "plt.close(plot_curves(tidy()))",
        "display(plot_curves(tidy()))",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120).execute()
    pictures = [
        sum("image/png" in output.get("data", {}) for output in cell.outputs)
        for cell in notebook.cells
    ]
    assert pictures == [0, 1, 1, 1, 1, 2, 1, 0, 1]
