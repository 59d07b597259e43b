"""The order of imports, and who may import or do what."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "sensitivity_lab"
FILES = sorted(PACKAGE.rglob("*.py"))

LAYERS = (
    {"errors", "files"},
    {"checks", "facts", "numpy_state"},
    {"arithmetic", "_parallel", "queries.matching", "queries.predicates", "queries.returned"},
    {"queries.sums", "table_rows"},
    {"audits.distances", "damping", "norms", "universe"},
    {"neighbors", "queries.base", "tables"},
    {"neighbor_counts"},
    {
        "audits.vectors",
        "listing",
        "blocks",
        "queries.functions",
        "queries.moments",
        "queries.quantiles",
    },
    {"queries.records"},
    {"queries.groups"},
    {"queries"},
    {"problem", "folds"},
    {"claims", "columns", "literals", "measure", "plotting", "table_text"},
    {"result"},
    {"audits.recording", "audit_row"},
    {"verdicts"},
    {"audits.pairs", "audits.randomness"},
    {"neighbor_rows", "search.engine", "search.counting", "search.scaling", "search.answers"},
    {"search.lattice"},
    {
        "search.automaton",
        "search.contributions",
        "search.cores",
        "search.evaluation",
        "search.layout",
        "search.lines",
        "search.local_engine",
        "search.searched",
    },
    {"search.smooth_engine"},
    {"search.local_ends", "search.local_enumeration", "search.local_moments"},
    {"search.smooth_enumeration", "search.smooth_quantiles"},
    {"search.gaps", "search.sorted_records", "search.orders", "search.reachable", "search.aligned"},
    {"search.vectors", "search.comparing", "search.extremes"},
    {"search.word_search"},
    {"search.plan", "search.windows"},
    {"search.removing", "search.replacing"},
    {  # the engines
        "search.additive",
        "search.enumeration",
        "search.linear",
        "search.moments",
        "search.projection",
        "search.quantiles",
    },
    {"search.local_additive", "search.local_projection"},
    {"search"},
    {"sensitivity", "implementation_result"},
    {"curves", "neighbor_table"},
    {"local", "smooth_result"},
    {"smooth"},
    {"sweep", "implementation_search"},
    {"pipelines.shown"},
    {"pipelines.exact", "pipelines.encoding"},
    {"pipelines.columns"},
    {"pipelines.domains", "pipelines.metrics", "pipelines.rounding"},
    {"pipelines.changes", "pipelines.counting"},
    {"pipelines.transformation"},
    {"pipelines.numeric", "pipelines.pairs", "pipelines.rows", "pipelines.stability"},
    {"pipelines.public_size", "pipelines.row_maps", "pipelines.truncation"},
    {"pipelines.drawing", "pipelines.groups", "pipelines.joins"},
    {"pipelines.farthest", "pipelines.private_joins", "pipelines.universes"},
    {"pipelines.measured", "pipelines.noise_arguments", "pipelines.sweep"},
    {"pipelines.noise", "pipelines.smooth_noise"},
    {"pipelines.clipping"},
    {"interop_opendp", "pipelines"},
    {"empirical", "implementation"},
    {"truths"},
    {"audit"},
    {"article"},
    {"audits.opendp", "audits.recorded", "audits.stability", "audits", "cli_output", "cli_tables"},
    {"cli_arguments"},
    {"cli"},
    {"", "__main__"},  # the front door is the package itself
)
"""A file imports only from layers above its own: siblings never import each other."""

LAYER = {unit: number for number, units in enumerate(LAYERS) for unit in units}

each_file = pytest.mark.parametrize(
    "file", FILES, ids=[str(file.relative_to(PACKAGE)) for file in FILES]
)


def unit_of(parts: tuple[str, ...]) -> str:
    """The unit of a module of the package; those inside `plotting` are one unit."""
    if parts and parts[0] == "plotting":
        return "plotting"
    return ".".join(parts)


def parts_of(file: Path) -> tuple[str, ...]:
    """A module's name inside the package; a package's is that of its folder."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def is_module(parts: tuple[str, ...]) -> bool:
    path = PACKAGE.joinpath(*parts)
    return path.is_dir() or path.with_suffix(".py").is_file()


def imported_names(file: Path, nodes: Iterator[ast.AST]) -> Iterator[tuple[str, ...]]:
    """Every module that import statements name, absolute, with what is imported from it."""
    folder = file.parent.relative_to(ROOT).parts
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else ()
            module = (*base, *(node.module.split(".") if node.module else ()))
            yield from ((*module, alias.name) for alias in node.names)


def own_imports(file: Path) -> set[str]:
    """The units of the package that a file imports, anywhere in it, also for types only."""
    units = set()
    for name in imported_names(file, ast.walk(parse(file))):
        if name[0] == "sensitivity_lab":
            parts = name[1:]
            units.add(unit_of(parts if is_module(parts) else parts[:-1]))
    return units


def run_time_imports(file: Path) -> set[str]:
    """The top-level packages that a file imports when it runs, wherever the import stands."""
    return {name[0] for name in imported_names(file, run_time_nodes(parse(file)))}


def run_time_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below one, but for those that only type checkers see."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from run_time_nodes(child)


def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def test_every_unit_has_one_place_in_the_order():
    assert sum(map(len, LAYERS)) == len(LAYER)


@each_file
def test_every_file_has_a_place_in_the_order(file):
    assert unit_of(parts_of(file)) in LAYER


@each_file
def test_a_file_imports_only_from_above(file):
    unit = unit_of(parts_of(file))
    above = {other for other in LAYER if LAYER[other] < LAYER[unit]}
    assert own_imports(file) - {"plotting" if unit == "plotting" else None} <= above


@each_file
def test_plotting_knows_no_more_than_errors_and_files(file):
    if unit_of(parts_of(file)) == "plotting":
        assert own_imports(file) <= {"plotting", "errors", "files"}


@each_file
def test_outside_packages_have_few_importers(file):
    owners = {
        "joblib": {"_parallel"},
        "tqdm": {"_parallel"},
        "matplotlib": {"plotting"},
        "opendp": {"audits.opendp", "interop_opendp"},  # what checks it, and what uses it
    }
    unit = unit_of(parts_of(file))
    for package in run_time_imports(file) & set(owners):
        assert unit in owners[package], package


@each_file
def test_nothing_but_the_command_line_prints(file):
    if unit_of(parts_of(file)) == "cli_output":
        return
    for node in ast.walk(parse(file)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called != "print", node.lineno
            assert not called.startswith(("sys.stdout", "sys.stderr")), node.lineno


@each_file
def test_only_the_problem_and_what_is_above_validates(file):
    """Engines trust what they get: a search checks only its options, and the choice of a method."""
    unit = unit_of(parts_of(file))
    if unit.startswith("search.") and unit != "search.engine":
        names = {node.id for node in ast.walk(parse(file)) if isinstance(node, ast.Name)}
        assert "InputError" not in names


def test_these_checks_see_imports():
    """Relative, absolute, inside functions and of types: what the checks above rest on."""
    assert {"errors", "neighbors", "queries", "universe"} <= own_imports(PACKAGE / "result.py")
    assert "plotting" in own_imports(PACKAGE / "result.py")
    assert "joblib" in run_time_imports(PACKAGE / "_parallel.py")
    assert "matplotlib" not in run_time_imports(PACKAGE / "result.py")
    assert "_parallel" in own_imports(PACKAGE / "search" / "evaluation.py")
    assert len(FILES) > 15


@pytest.mark.parametrize("name", ["oracle", "naive_distances"])
def test_the_oracle_imports_nothing_that_it_judges(name):
    oracle = Path(__file__).parent / f"{name}.py"
    names = {name[0] for name in imported_names(oracle, ast.walk(parse(oracle)))}
    assert names <= {"__future__", *sys.stdlib_module_names}


def test_importing_the_package_does_not_import():
    """What is slow to import, an extra, or for tests and notebooks."""
    packages = {"matplotlib", "IPython", "distributed", "hypothesis", "opendp", "diffprivlib"}
    command = "import sys, sensitivity_lab; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, check=True, capture_output=True, text=True
    )
    imported = set(done.stdout.split())
    assert "sensitivity_lab" in imported
    assert not imported & packages
