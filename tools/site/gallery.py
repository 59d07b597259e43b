"""The notebooks as cards: title, first sentence, and the first picture of each."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path
from urllib.parse import quote

import nbformat
from PIL import Image

WIDTH, HEIGHT = 480, 270
"""Of a thumbnail, in pixels."""

CARD = """::::{{grid-item-card}} {title}
:link: {name}
:link-type: doc
:img-top: thumbnails/{name}.png
:img-alt: {alt}

{sentence}
::::
"""


STATES = {
    "01_first_steps": {"query": "mean", "universe": "0:60", "size": 1000},
    "02_article": {"query": "median", "universe": "0:20", "size": 6, "k": 2},
    "04_worst_cases": {"query": "std", "universe": "0:100", "size": 12, "k": 3},
    "05_local_and_smooth": {"query": "median", "universe": "0:100", "size": 101},
    "09_clipping": {"query": "sum", "universe": "0:50", "size": 100},
    "12_reach_and_errors": {"query": "percentile_90", "universe": "0:60", "size": 50},
    "14_for_every_n": {"query": "var", "universe": "0:60", "size": 1000, "k": 2},
}
"""What a notebook talks about, as a state of the calculator."""

TRY = """
<p><a href="../calculator/index.html#q={state}">Try it in the calculator</a>: {query} over the
values {universe}, in your browser.</p>
"""


def _with_calculator(notebook: nbformat.NotebookNode, name: str) -> None:
    """Add a link to the state of the calculator below the first text of a notebook."""
    if name not in STATES:
        return
    told = STATES[name]
    typed = {"kind": "domain", "text": told["universe"]}
    state = quote(json.dumps({**told, "universe": typed}), safe="")
    first = next(cell for cell in notebook.cells if cell.cell_type == "markdown")
    first.source += TRY.format(state=state, query=told["query"], universe=told["universe"])


def write(folder: Path) -> None:
    """Write the page of cards, and a thumbnail for each notebook of the folder."""
    (folder / "thumbnails").mkdir()
    cards, names = [], []
    for file in sorted(folder.glob("*.ipynb")):
        notebook = nbformat.read(file, as_version=4)
        title, sentence = _opening(notebook)
        _with_calculator(notebook, file.stem)
        nbformat.write(notebook, file)
        _thumbnail(notebook, folder / "thumbnails" / f"{file.stem}.png")
        alt = f"A picture from the notebook {title}"
        cards.append(CARD.format(title=title, name=file.stem, sentence=sentence, alt=alt))
        names.append(file.stem)
    lines = [
        "# Notebooks",
        "",
        "Lessons to read, or to run: `jupyter lab notebooks/` in a checkout. They are shown with",
        "the outputs that are committed, and tests compare these with what the cells print today.",
        "",
        ":::::{grid} 1 2 2 3\n:gutter: 3\n",
        *cards,
        ":::::\n",
        "```{toctree}\n:hidden:\n",
        *names,
        "```\n",
    ]
    (folder / "index.md").write_text("\n".join(lines), "utf-8")


def _opening(notebook: nbformat.NotebookNode) -> tuple[str, str]:
    """The title, and the first sentence below it."""
    text = notebook.cells[0].source
    title, _, rest = text.partition("\n")
    paragraph = " ".join(rest.strip().partition("\n\n")[0].split())
    sentence = re.split(r"(?<=[.?!:])\s+(?=[A-Z*])", paragraph)[0]
    # A link or a heading does not belong into a card, which is a link itself.
    return title.lstrip("# "), re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", sentence).lstrip("# ")


def _thumbnail(notebook: nbformat.NotebookNode, file: Path) -> None:
    """Shrink the first picture onto a white card; without one the card stays white."""
    card = Image.new("RGB", (WIDTH, HEIGHT), "white")
    pictures = [
        output["data"]["image/png"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    if pictures:
        picture = Image.open(io.BytesIO(base64.b64decode(pictures[0]))).convert("RGBA")
        picture.thumbnail((WIDTH - 20, HEIGHT - 20))
        corner = ((WIDTH - picture.width) // 2, (HEIGHT - picture.height) // 2)
        card.paste(picture, corner, picture)
    card.save(file)
