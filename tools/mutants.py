"""Change the code in one place at a time, and see whether the tests of `make check` notice.

    python -m pip install coverage pytest-cov
    python tools/mutants.py map        # once: which test runs which line, and how long it takes
    python tools/mutants.py run --number 200 --seed 1
    python tools/mutants.py show

With `--of outside` the sample is of the rooms around the engines.

A *mutant* is the package with one operator, comparison, constant or call exchanged. The sample is
drawn from all places in the rooms of a `Scope` where such an exchange is possible. A mutant is run
against the tests that execute its line, the fastest first, and stops at the first failure: it is
*killed*. What no test notices has *survived*. All files are in `build/mutants/`, by scope.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).resolve().parents[1]
CHECK = "not notebooks and not stress and not browser"


@dataclass(frozen=True)
class Scope:
    """The rooms whose places are exchanged, and the tests that are asked."""

    name: str
    rooms: tuple[str, ...]
    tests: tuple[str, ...]
    marked: str = CHECK

    @property
    def build(self) -> Path:
        """The folder of its map, verdicts and trees."""
        return ROOT / "build" / "mutants" / self.name


ENGINES = Scope(
    "engines",
    ("search", "exact", "metrics", "universes"),
    # Those of `make check` that are about searches and metrics.
    (
        *("tests/search", "tests/exact", "tests/calls", "tests/results", "tests/universes"),
        *("tests/bounds", "tests/queries", "tests/test_empirical.py", "tests/test_article.py"),
        *("sensitivity_lab/search", "sensitivity_lab/exact", "sensitivity_lab/calls"),
        "sensitivity_lab/universes",
        *("tests/reference", "tests/metrics", "sensitivity_lab/metrics"),
        # Of metrics and matrices, by those who use them.
        *("tests/audits/test_pairs.py", "tests/audits/test_audit_map.py", "tests/audits/driven"),
        *("tests/pipelines/steps", "tests/running"),
    ),
)
OUTSIDE = Scope(
    "outside",
    (
        *("calls", "results", "noise", "universes", "running", "metrics", "sql"),
        *("releases", "bounds", "audits", "streams"),
    ),
    (
        *("tests/calls", "tests/results", "tests/noise", "tests/universes", "tests/running"),
        *("tests/metrics", "tests/sql", "tests/test_misuse.py", "tests/test_article.py"),
        *("tests/releases", "tests/bounds", "tests/audits", "tests/streams"),
        *("sensitivity_lab/releases", "sensitivity_lab/bounds", "sensitivity_lab/audits"),
        *("tests/test_empirical.py", "tests/search", "tests/pipelines", "tests/cli"),
        *("sensitivity_lab/calls", "sensitivity_lab/results", "sensitivity_lab/noise"),
        *("sensitivity_lab/universes", "sensitivity_lab/running", "sensitivity_lab/metrics"),
        *("sensitivity_lab/sql", "docs/how_to", "README.md"),
    ),
)
SCOPES = {scope.name: scope for scope in (ENGINES, OUTSIDE)}

FIRST = 40
"""So many of the fastest tests are run before the rest: most mutants die of them."""

LONGEST = 400
"""Seconds after which a run is ended: the mutant hangs, or the tests of its line are slow."""

COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
CALLED = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
}
WORDS = {"left": "right", "right": "left"}


@dataclass(frozen=True)
class Mutant:
    """One change: the file, the place of the node among those that can change, and what it does."""

    file: str
    place: int
    line: int
    change: str


class _Places(ast.NodeVisitor):
    """List the nodes of a module that can be exchanged, in the order of the source."""

    def __init__(self) -> None:
        self.found: list[ast.AST] = []

    def visit(self, node: ast.AST) -> None:
        # What is said to people, and what is said about types, is no computation.
        if isinstance(node, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom):
            return
        if isinstance(node, ast.AnnAssign):
            if node.value:
                self.visit(node.value)
            return
        if isinstance(node, ast.FunctionDef):
            for part in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
                self.visit(part)
            return
        if exchanged(node) is not None:
            self.found.append(node)
        self.generic_visit(node)


def exchanged(node: ast.AST) -> str | None:
    """Return what the exchange at a node would be, in words; None if there is none."""
    if isinstance(node, ast.Compare):
        return _of_table(node.ops[0], COMPARED)
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return _of_table(node.op, COMPUTED)
    if isinstance(node, ast.Constant):
        return _of_constant(node.value)
    if isinstance(node, ast.Name | ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        return f"{name} -> {CALLED[name]}" if name in CALLED else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        return f"without {type(node.op).__name__}"
    words = {
        ast.BoolOp: "and <-> or",
        ast.If: "not the condition",
        ast.IfExp: "not the condition",
        ast.While: "not the condition",
        ast.Continue: "without continue",
        ast.Break: "without break",
    }
    return words.get(type(node))


def _of_table(operator: ast.AST, table: dict[type, type]) -> str | None:
    other = table.get(type(operator))
    return f"{type(operator).__name__} -> {other.__name__}" if other else None


def _of_constant(value: object) -> str | None:
    if isinstance(value, bool):
        return f"{value} -> {not value}"
    if isinstance(value, int):
        return f"{value} -> {value + 1}"
    if isinstance(value, str) and value in WORDS:
        return f"{value} -> {WORDS[value]}"
    return None


class _Exchange(ast.NodeTransformer):
    """Exchange one node."""

    def __init__(self, target: ast.AST) -> None:
        self.target = target

    def visit(self, node: ast.AST) -> ast.AST:
        node = super().generic_visit(node) if node is not self.target else node
        return self.exchange(node) if node is self.target else node

    def exchange(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Compare):
            node.ops[0] = COMPARED[type(node.ops[0])]()
        elif isinstance(node, ast.BinOp | ast.AugAssign):
            node.op = COMPUTED[type(node.op)]()
        elif isinstance(node, ast.BoolOp):
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        elif isinstance(node, ast.Constant):
            node.value = _other_constant(node.value)
        elif isinstance(node, ast.Name):
            node.id = CALLED[node.id]
        elif isinstance(node, ast.Attribute):
            node.attr = CALLED[node.attr]
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            node.test = ast.UnaryOp(ast.Not(), node.test)
        else:
            return node.operand if isinstance(node, ast.UnaryOp) else ast.Pass()
        return node


def _other_constant(value: object) -> object:
    if isinstance(value, str):
        return WORDS[value]
    return not value if isinstance(value, bool) else value + 1


def places(file: Path) -> tuple[ast.Module, list[ast.AST]]:
    """Return a file's syntax, and its nodes that can be exchanged."""
    module = ast.parse(file.read_text("utf-8"))
    visitor = _Places()
    visitor.visit(module)
    return module, visitor.found


def all_mutants(scope: Scope) -> Iterator[Mutant]:
    """Yield every mutant of a scope."""
    for room in scope.rooms:
        for file in sorted((ROOT / "sensitivity_lab" / room).rglob("*.py")):
            for place, node in enumerate(places(file)[1]):
                name = str(file.relative_to(ROOT))
                yield Mutant(name, place, node.lineno, str(exchanged(node)))


def mutated(mutant: Mutant) -> str:
    """Return the source of the mutant's file."""
    module, found = places(ROOT / mutant.file)
    changed = _Exchange(found[mutant.place]).visit(module)
    return ast.unparse(ast.fix_missing_locations(changed))


def make_map(scope: Scope) -> None:
    """Run the tests once, and keep which of them execute each line, and how long they take."""
    scope.build.mkdir(parents=True, exist_ok=True)
    settings = scope.build / "coveragerc"
    settings.write_text(
        "[run]\nsource =\n"
        + "".join(f"    sensitivity_lab/{room}\n" for room in scope.rooms)
        + f"data_file = {scope.build / 'coverage'}\n",
        "utf-8",
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "2",
        "--dist",
        "loadfile",
        "-m",
        scope.marked,
    ]
    command += [f"--cov-config={settings}", "--cov", "--cov-context=test", "--cov-report="]
    command += [f"--junitxml={scope.build / 'times.xml'}", *scope.tests]
    subprocess.run(command, cwd=ROOT, check=False, env={**os.environ, "CI": "1"})


def read_map(scope: Scope) -> dict[tuple[str, int], list[str]]:
    """Return the tests that execute each line, by their node ids, the fastest first."""
    from coverage.numbits import numbits_to_nums

    with sqlite3.connect(scope.build / "coverage") as data:
        files = dict(data.execute("select id, path from file"))
        contexts = dict(data.execute("select id, context from context"))
        rows = data.execute("select file_id, context_id, numbits from line_bits").fetchall()
    tests: dict[tuple[str, int], set[str]] = {}
    for file, context, bits in rows:
        name, _, phase = contexts[context].rpartition("|")
        if phase != "run":
            continue
        path = str(Path(files[file]).relative_to(ROOT))
        for line in numbits_to_nums(bits):
            tests.setdefault((path, line), set()).add(name)
    times = _times(scope)
    return {
        place: sorted(names, key=lambda name: (times.get(name, 1.0), name))
        for place, names in tests.items()
    }


def _times(scope: Scope) -> dict[str, float]:
    """Return the seconds that each test took, by its node id."""
    import xml.etree.ElementTree as ElementTree

    times = {}
    for case in ElementTree.parse(scope.build / "times.xml").iter("testcase"):
        module = case.get("classname", "").replace(".", "/") + ".py"
        times[f"{module}::{case.get('name')}"] = float(case.get("time", 1))
    return times


def covering(mutant: Mutant, lines: dict[tuple[str, int], list[str]]) -> list[str]:
    """Return the tests that execute a mutant's line, the fastest first.

    Coverage names the first line of a statement, so the nearest line above is taken. What is
    executed at import, such as a table, is asked of all tests that execute anything of the file.
    """
    module = ast.parse((ROOT / mutant.file).read_text("utf-8"))
    functions = [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef)
        and node.body[0].lineno <= mutant.line <= (node.end_lineno or 0)
    ]
    if functions:
        for line in range(mutant.line, functions[-1].lineno, -1):
            if found := lines.get((mutant.file, line)):
                return found
        return []
    every = [names for (file, _), names in lines.items() if file == mutant.file]
    # Round robin, so that the fastest tests of every line come first.
    return list(dict.fromkeys(name for some in zip_longest(*every) for name in some if name))


def judge(
    scope: Scope,
    mutant: Mutant,
    folder: Path,
    lines: dict[tuple[str, int], list[str]],
    times: dict[str, float],
) -> str:
    """Return what became of a mutant: "killed", "slow", "survived" or "not run".

    A mutant that takes five times what its tests took, and `LONGEST` seconds at least, hangs:
    nobody misses that, so it is killed. Where the tests themselves are long, it is "slow".
    """
    tests = covering(mutant, lines)
    if not tests:
        return "not run"
    target = folder / mutant.file
    before = target.read_text("utf-8")
    target.write_text(mutated(mutant), "utf-8")
    try:
        for chosen in filter(None, (tests[:FIRST], tests[FIRST:])):
            listed = folder / "tests.txt"
            listed.write_text("\n".join(chosen), "utf-8")
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
            command += ["-p", "no:randomly", "-m", scope.marked, f"@{listed}"]
            try:
                done = subprocess.run(
                    command,
                    cwd=folder,
                    capture_output=True,
                    timeout=LONGEST,
                    check=False,
                    env={**os.environ, "CI": "1", "PYTHONPATH": str(folder)},
                )
            except subprocess.TimeoutExpired:
                usual = 5 + sum(times.get(name, 1.0) for name in chosen)
                return "killed" if 5 * usual < LONGEST else "slow"
            # 2 and 4: tests cannot be collected any more, or their names vanish.
            if done.returncode:
                return "killed" if done.returncode in (1, 2, 4) else f"error {done.returncode}"
    finally:
        target.write_text(before, "utf-8")
    return "survived"


def copy_of_tree(folder: Path) -> Path:
    """Copy what git tracks, as it is in the working tree."""
    shutil.rmtree(folder, ignore_errors=True)
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def run(scope: Scope, number: int, seed: int, jobs: int) -> None:
    """Judge a sample of mutants; those that have been judged before are not run again."""
    lines, times = read_map(scope), _times(scope)
    sample = random.Random(seed).sample(list(all_mutants(scope)), number)
    kept = scope.build / f"verdicts-{seed}.jsonl"
    known = set()
    if kept.exists():
        known = {
            (row["file"], row["place"], row["change"])
            for row in map(json.loads, kept.read_text("utf-8").splitlines())
        }
    folders: Queue[Path] = Queue()
    for job in range(jobs):
        folders.put(copy_of_tree(scope.build / f"tree-{job}"))

    def one(mutant: Mutant) -> None:
        folder = folders.get()
        try:
            verdict = judge(scope, mutant, folder, lines, times)
        finally:
            folders.put(folder)
        with kept.open("a", encoding="utf-8") as out:
            out.write(json.dumps({**asdict(mutant), "verdict": verdict}) + "\n")
        print(f"{verdict:9}  {mutant.file}:{mutant.line}  {mutant.change}", flush=True)

    todo = [m for m in sample if (m.file, m.place, m.change) not in known]
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, todo))
    show(scope, seed)


def show(scope: Scope, seed: int) -> None:
    """Print how many mutants were killed, and those that were not."""
    rows = [
        json.loads(line)
        for line in (scope.build / f"verdicts-{seed}.jsonl").read_text("utf-8").splitlines()
    ]
    verdicts = Counter(row["verdict"] for row in rows)
    dead = verdicts["killed"]
    print(f"{dead} of {len(rows)} killed ({100 * dead / len(rows):.1f} %):", dict(verdicts))
    for row in rows:
        if row["verdict"] != "killed":
            print(f"  {row['verdict']}: {row['file']}:{row['line']}  {row['change']}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("action", choices=["map", "run", "show"])
    parser.add_argument("--of", choices=list(SCOPES), default=ENGINES.name)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    scope = SCOPES[asked.of]
    if asked.action == "map":
        make_map(scope)
    elif asked.action == "run":
        run(scope, asked.number, asked.seed, asked.jobs)
    else:
        show(scope, asked.seed)


if __name__ == "__main__":
    main()
