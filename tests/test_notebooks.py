"""The notebooks run, and their committed outputs are what they print today."""

import importlib.util
import re

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from paths import ROOT

FOLDER = ROOT / "notebooks"
NAMES = (
    "01_first_steps",
    "02_article",
    "03_your_own_query",
    "04_worst_cases",
    "05_local_and_smooth",
    "06_groups_and_histograms",
    "07_stability",
    "08_opendp_chain",
    "09_clipping",
    "10_audit",
    "11_bounds",
)
MOST_BYTES = 400_000
REFRESH = "if the change is meant, run: python notebooks/refresh.py"

pytestmark = pytest.mark.notebooks


def read(name: str) -> NotebookNode:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(cell: NotebookNode) -> dict[str, str]:
    """Return what a cell printed and what its value's repr was, without what varies by nature."""
    found: dict[str, str] = {}
    for output in cell.outputs:
        kind = output.get("name", "value")
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        found[kind] = found.get(kind, "") + text
    # Cells tagged "varies" print timings.
    if "varies" in cell.metadata.get("tags", []):
        return dict.fromkeys(found, "varies")
    return {kind: stable(text) for kind, text in found.items()}


def lacks_an_extra(cell: NotebookNode) -> bool:
    """Tell whether a cell is for a library, say of the tag "needs-opendp", that is not there."""
    tags = cell.metadata.get("tags", [])
    needed = [tag.removeprefix("needs-") for tag in tags if tag.startswith("needs-")]
    return not all(map(importlib.util.find_spec, needed))


def stable(text: str) -> str:
    """Leave out memory addresses, the reprs of figures and spaces at the ends of lines."""
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"<\w*(Figure|Axes)\b.*>", "<drawing>", text)
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


def test_every_notebook_is_tested() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_committed_notebook_is_small_and_complete(name: str) -> None:
    notebook = read(name)
    nbformat.validate(notebook)
    assert (FOLDER / f"{name}.ipynb").stat().st_size < MOST_BYTES
    assert (notebook.nbformat, notebook.metadata.kernelspec.name) == (4, "python3")
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert outputs
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]


@pytest.mark.parametrize("name", NAMES)
def test_notebook_runs_and_prints_what_is_committed(name: str) -> None:
    committed, notebook = read(name), read(name)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(FOLDER)}})
    client.execute()
    for before, after in zip(code_cells(committed), code_cells(notebook), strict=True):
        if lacks_an_extra(before):
            assert "is not installed" in texts(after)["stdout"]
            continue
        assert texts(after) == texts(before), f"{REFRESH}\n{before.source}"
