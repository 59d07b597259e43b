"""The notebooks run, print what is committed, teach in one form, and their exercises are solved.

What reads and runs them takes two seconds to import, so only the tests import it: every process
that runs tests imports this file, and most of them run none of these.
"""

from __future__ import annotations

import ast
import re
import shutil
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from paths import ROOT

if TYPE_CHECKING:
    from nbformat import NotebookNode

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
    "12_reach_and_errors",
    "13_sql",
    "14_for_every_n",
)
MOST_BYTES = 400_000
EXERCISES = {name: 4 if name == "14_for_every_n" else 3 for name in NAMES}
EXTRAS = ("opendp", "diffprivlib")
REFUSALS = ("InputError", "QueryError", "SensitivityViolation")
CHECK = "sl.assert_sensitivity("
REFRESH = "if the change is meant, run: python notebooks/refresh.py"

pytestmark = pytest.mark.notebooks


def read(name: str) -> NotebookNode:
    import nbformat

    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the cells that run, in order, but for the exercises."""
    return [c for c in notebook.cells if c.cell_type == "code" and "exercise" not in tags(c)]


def texts(cell: NotebookNode) -> dict[str, str]:
    """Return what a cell printed and what its value's repr was, without what varies by nature."""
    found: dict[str, str] = {}
    for output in cell.outputs:
        kind = output.get("name", "value")
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        found[kind] = found.get(kind, "") + text
    # Cells tagged "varies" print timings, and on a slow machine that a search takes long.
    if "varies" in tags(cell):
        return dict.fromkeys(found.keys() - {"stderr"}, "varies")
    return {kind: stable(text) for kind, text in found.items()}


def stable(text: str) -> str:
    """Leave out memory addresses, the reprs of figures and spaces at the ends of lines."""
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    text = re.sub(r"<\w*(Figure|Axes)\b.*>", "<drawing>", text)
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


def execute(notebook: NotebookNode, name: str) -> None:
    """Run the cells in a folder with nothing else, as where a notebook was downloaded alone."""
    from nbclient import NotebookClient

    with TemporaryDirectory() as folder:
        shutil.copy(FOLDER / f"{name}.ipynb", folder)
        NotebookClient(notebook, timeout=120, resources={"metadata": {"path": folder}}).execute()


def exercises(notebook: NotebookNode) -> list[tuple[NotebookNode, str]]:
    """Return each exercise with its solution: what to write before its check."""
    found = []
    for cell, after in zip(notebook.cells, [*notebook.cells[1:], None], strict=True):
        if "exercise" in tags(cell):
            assert after is not None
            assert after.source.startswith("<details>"), after.source
            solution = re.search(
                r"```python\n(.*?)```\n\n</details>$", after.source, flags=re.DOTALL
            )
            assert solution, after.source
            found.append((cell, solution[1]))
    return found


def solved(cell: NotebookNode, solution: str) -> NotebookNode:
    """Return a cell with the solution and the very check of the exercise."""
    check = cell.source[cell.source.index(CHECK) :]
    return code_cell(f"{solution}\n{check}")


def code_cell(source: str) -> NotebookNode:
    from nbformat.v4 import new_code_cell

    return new_code_cell(source)


def test_every_notebook_is_tested() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_committed_notebook_is_small_and_complete(name: str) -> None:
    from nbformat import validate

    notebook = read(name)
    validate(notebook)
    assert (FOLDER / f"{name}.ipynb").stat().st_size < MOST_BYTES
    assert (notebook.nbformat, notebook.metadata.kernelspec.name) == (4, "python3")
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert outputs
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert any("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_that_draws_has_its_picture(name: str) -> None:
    drawing = [cell for cell in code_cells(read(name)) if draws(cell)]
    lost = [
        cell.source
        for cell in drawing
        if not any("image/png" in output.get("data", {}) for output in cell.outputs)
    ]
    assert lost == []


def draws(cell: NotebookNode) -> bool:
    """Tell whether a cell makes a figure itself, and not only functions that do."""
    statements = [
        one for one in ast.parse(cell.source).body if not isinstance(one, ast.FunctionDef)
    ]
    return any("plt.subplots(" in ast.unparse(one) for one in statements)


@pytest.mark.parametrize("name", NAMES)
def test_notebook_teaches_in_the_form_of_all(name: str) -> None:
    cells = read(name).cells
    prose = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert prose[0].startswith("# ")
    assert "**After this notebook you can**" in prose[0]
    predictions = [i for i, cell in enumerate(cells) if "**Predict.**" in cell.source]
    assert predictions
    assert all(cells[i + 1].cell_type == "code" for i in predictions)
    headings = [line for text in prose for line in text.splitlines() if line.startswith("## ")]
    assert headings[-2:] == ["## Summary", "## Exercises"]

    place = NAMES.index(name)
    linked = re.findall(r"\]\((\w+)\.ipynb\)", prose[-1])
    assert linked == [*NAMES[max(0, place - 1) : place], *NAMES[place + 1 : place + 2]]
    everywhere = re.findall(r"\]\((\w+\.ipynb)\)", "\n".join(prose))
    assert all((FOLDER / path).is_file() for path in everywhere)


@pytest.mark.parametrize("name", NAMES)
def test_exercises_are_last_and_have_a_check_and_a_folded_solution(name: str) -> None:
    notebook = read(name)
    found = exercises(notebook)
    assert len(found) == EXERCISES[name]
    last = [cell for cell in notebook.cells if cell.cell_type == "code"][-len(found) :]
    assert last == [cell for cell, _ in found]
    for cell, _ in found:
        assert set(tags(cell)) == {"exercise", "raises-exception"}
        assert (cell.execution_count, cell.outputs) == (None, [])
        assert "..." in cell.source.split(CHECK)[0]
        assert "tight=True, reveal=False" in " ".join(cell.source.split(CHECK)[1].split())


@pytest.mark.parametrize("name", NAMES)
def test_notebook_runs_and_prints_what_is_committed(name: str) -> None:
    committed, notebook = read(name), read(name)
    unsolved = exercises(notebook)
    answers = [solved(*pair) for pair in unsolved]
    for (cell, _), answer in zip(unsolved, answers, strict=True):
        notebook.cells.insert(notebook.cells.index(cell) + 1, answer)
    execute(notebook, name)
    for before, after in zip(code_cells(committed), code_cells(notebook), strict=False):
        assert texts(after) == texts(before), f"{REFRESH}\n{before.source}"
    # Unsolved, the check refuses an answer, and not something else.
    for cell, _ in unsolved:
        assert cell.outputs[-1].output_type == "error", cell.source
        assert cell.outputs[-1].ename in REFUSALS, cell.outputs[-1]
        assert "replace the dots" in cell.outputs[-1].evalue, cell.source
    results = [answer.outputs[-1].output_type for answer in answers]
    assert results == ["execute_result"] * EXERCISES[name]


def test_a_notebook_without_the_extras_prints_what_is_committed() -> None:
    committed, notebook = read("10_audit"), read("10_audit")
    hidden = "".join(f"sys.modules[{extra!r}] = None\n" for extra in EXTRAS)
    notebook.cells.insert(0, code_cell(f"import sys\n{hidden}"))
    execute(notebook, "10_audit")
    for before, after in zip(code_cells(committed), code_cells(notebook)[1:], strict=True):
        assert texts(after) == texts(before), before.source
