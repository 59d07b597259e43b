"""The engine of the site: Python in WebAssembly answers as this Python does.

`make browser` builds the site, with the engine, and runs these tests.
"""

from __future__ import annotations

import json
import shutil
import sys
from importlib import metadata
from pathlib import Path
from random import Random
from typing import Any

import pytest
from browser import chromium, opened, served
from paths import ROOT

from sensitivity_lab.page.answer import FIRST, PARTS, QUERIES, RELATIONS, answer

PAGE = ROOT / "build" / "site" / "html" / "calculator"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (PAGE / "engine").is_dir(), reason="the site has no engine: make docs says why"
    ),
]

ASK = """async requests => {
    const worker = new Worker("engine/worker.js", { type: "module" });
    const answers = [];
    const begun = performance.now();
    for (const [id, request] of requests.entries()) {
        answers.push(await new Promise((resolve, reject) => {
            worker.onerror = event => reject(new Error(event.message));
            worker.onmessage = ({ data }) => {
                if (data.failed) reject(new Error(data.failed));
                if (data.id === id) resolve(data.answer);
            };
            worker.postMessage({ id, request });
        }));
    }
    return answers;
}"""


@pytest.fixture(scope="module", name="browser")
def _browser():
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def ask(browser):
    """Ask a worker of the built site."""
    with served(PAGE) as address, opened(browser, f"{address}/engine/licenses/README.txt") as view:
        view.page.set_default_timeout(600_000)
        yield lambda requests: view.page.evaluate(ASK.replace("engine/", "../"), requests)


def requests(number: int, seed: int) -> list[dict[str, Any]]:
    """Random problems: typed domains, intervals and records, of which some are large."""
    draw = Random(seed)

    def records(most: int) -> str:
        return ", ".join(str(draw.randrange(-5, 10**most)) for _ in range(draw.choice([6, 12, 40])))

    def universe() -> dict[str, str]:
        kind = draw.choice(["domain", "interval", "records"])
        step = draw.choice([1, 3, 10**6, 10**10])
        last = step * draw.choice([4, 9, 50, 1000])
        text = {"domain": f"0:{last}:{step}", "interval": f"-1:{last}", "records": records(9)}
        return {"kind": kind, "text": text[kind]}

    return [
        {
            **FIRST,
            "ask": "answer",
            "parts": draw.sample(PARTS, 2),
            "universe": (data := universe()),
            "query": draw.choice(QUERIES),
            "relation": draw.choice([*RELATIONS]),
            "size": draw.choice([1, 3, 5, 20, 100, 3000]),
            "k": draw.choice([1, 1, 2, 3]),
            "epsilon": draw.choice(["1", "0.1", "1/3"]),
            "x": data if data["kind"] == "records" else {"kind": "records", "text": "0, 0, 0, 4"},
        }
        for _ in range(number)
    ]


def test_answers_in_a_browser_are_those_of_this_machine(ask):
    """Numbers, witnesses and messages, at 32 bits and with long doubles of 113 bits."""
    asked = requests(400, seed=1)
    wrong = [
        (request, found, expected)
        for request, found in zip(asked, ask(asked), strict=True)
        if as_floats(found) != as_floats(expected := answer(request))
    ]
    assert not wrong


def as_floats(value: Any) -> Any:
    """What JSON has of a value; JavaScript writes 1e20 as an integer."""
    return json.loads(json.dumps(value), parse_int=float)


def test_no_text_of_a_request_becomes_code(ask):
    text = "'''\"\"\"\\\n\u2028\x00\ud83d`${1}`); raise SystemExit #"
    found = ask(
        [{"ask": "columns", "text": text, "name": text}, {"ask": text}, {**FIRST, "ask": "answer"}]
    )
    assert [one["ok"] for one in found] == [False] * 3
    assert [one["field"] for one in found] == ["text", "ask", "parts"]


def test_without_its_files_the_worker_says_so(browser, tmp_path):
    shutil.copytree(PAGE / "engine", tmp_path / "engine", ignore=shutil.ignore_patterns("*.gz"))
    (tmp_path / "index.html").write_text("<!doctype html><title>A page</title>")
    with (
        served(tmp_path) as address,
        opened(browser, address) as view,
        pytest.raises(Exception, match=r"/python\.wasm\.gz cannot be loaded \(404\)"),
    ):
        view.page.evaluate(ASK, [{"ask": "choices"}])


# Those that ask most of numpy: integers beyond 32 bits, long doubles, positions, arrays in pages.
FILES = (
    "tests/calls",
    "tests/exact",
    "tests/metrics",
    "tests/search/enumeration",
    "tests/search/groups",
    "tests/search/variance/test_global_variance.py",
    *(f"tests/search/test_{name}.py" for name in ("monotone", "nobody", "ranks", "contract")),
    "README.md",
)
OVERFLOW = "test_very_many_copies_are_searched_without_being_written_out"
"""Its products of sizes have 38 bits."""

PYTEST = """
import os, sys
os.makedirs("/dev", exist_ok=True)
open("/dev/null", "w").close()
sys.path[:0] = ["/repository"]
sys.path += ["/fetched", "/packages"]
os.chdir("/repository")
import pytest
sys.exit(any([pytest.main(arguments) for arguments in {runs}]))
"""


def test_tests_pass_in_the_engine(tmp_path):
    sys.path.append(str(ROOT / "tools" / "site"))
    import engine

    arguments = ["-q", "--capture=sys", "-p", "no:faulthandler", "-p", "no:cacheprovider"]
    arguments += ["--basetemp=/tmp/tests", "-m"]
    marked = "not further and not exhaustive and not stress and not browser"
    runs = [[*arguments, marked, *FILES], [*arguments, "", "-k", OVERFLOW, FILES[5]]]
    # These alone: what else is installed here has parts for this machine.
    for name in ("iniconfig", "pluggy", "pygments", "pytest", "sortedcontainers"):
        for file in metadata.files(name) or ():
            if file.suffix == ".py":
                (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(Path(str(file.locate())), tmp_path / file)
    ended = engine.run(
        PYTEST.format(runs=runs),
        f"--grant=/repository={ROOT}",
        f"--grant=/fetched={engine.packages()}",
        f"--grant=/packages={tmp_path}",
    )
    assert ended["exit_code"] == 0, ended["stdout"] + ended["stderr"]
