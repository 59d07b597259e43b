"""The rooms of the package: their order, and what they may import."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from paths import PACKAGE, ROOT, TESTS

FILES = sorted(PACKAGE.rglob("*.py"))

ENGINES = PACKAGE / "search" / "engines.py"
"""The table that imports every theory."""

ROOMS = (
    "errors",
    "checks",
    "files",
    "csv_files",
    "boundary",
    "running",
    "plotting",
    "exact",
    "metrics",
    "universes",
    "queries",
    "results",
    "problem",
    "search",
    "bounds",
    "calls",
    "noise",
    "formulas",
    "spaces",
    "pipelines",
    "article",
    "empirical",
    "releases",
    "sql",
    "audits",
    "streams",
    "page",
    "",  # the front door: the package itself
    "cli",
    "__main__",
)
"""From the ground up: a room imports only from those before it."""

CORE = frozenset(ROOMS[: ROOMS.index("noise") + 1])
"""The calculator, on which the products stand beside each other."""

PRODUCTS = {
    "formulas": set(),
    "spaces": set(),
    "pipelines": set(),
    "article": set(),
    "empirical": set(),
    "releases": set(),
    "sql": {"releases"},  # the plan of a query is one of theirs
    "audits": {"pipelines"},  # what is audited
    "streams": {"audits"},  # the report of a claim
    "page": set(),
}
"""What stands on the core, and which other products each one needs."""

Name = tuple[str, ...]
"""A module's name inside the package, in parts; the package itself is ()."""


def name_of(file: Path) -> Name:
    """Return a module's name; a package's is that of its folder."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def room_of(name: Name) -> str:
    return name[0] if name else ""


@cache
def is_module(name: Name) -> bool:
    path = PACKAGE.joinpath(*name)
    return path.is_dir() or path.with_suffix(".py").is_file()


def imported_names(file: Path, nodes: Iterator[ast.AST]) -> Iterator[Name]:
    """Every module that import statements name, absolute, with what is imported from it."""
    folder = file.parent.relative_to(ROOT).parts
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else ()
            module = (*base, *(node.module.split(".") if node.module else ()))
            yield from ((*module, alias.name) for alias in node.names)


@cache
def own_imports(file: Path) -> set[Name]:
    """The modules of the package that a file imports, anywhere in it, also for types only."""
    found = set()
    for name in imported_names(file, ast.walk(parse(file))):
        if name[0] == "sensitivity_lab":
            found.add(name[1:] if is_module(name[1:]) else name[1:-1])
    return found - {name_of(file)}


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


@cache
def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def files_of(room: str) -> list[Path]:
    """The files of a room, of which there is at least one."""
    found = [file for file in FILES if room_of(name_of(file)) == room]
    assert found, room
    return found


def test_every_room_has_one_place_in_the_order():
    assert len(set(ROOMS)) == len(ROOMS)
    assert {room_of(name_of(file)) for file in FILES} == set(ROOMS)


@pytest.mark.exhaustive
def test_a_room_imports_only_from_those_before_it():
    for file in FILES:
        room = room_of(name_of(file))
        before = set(ROOMS[: ROOMS.index(room)])
        assert {room_of(name) for name in own_imports(file)} - {room} <= before, file


@pytest.mark.exhaustive
def test_no_imports_go_in_a_circle_inside_a_room():
    for room in (room for room in ROOMS if room and (PACKAGE / room).is_dir()):
        graph = {
            name_of(file): {name for name in own_imports(file) if room_of(name) == room}
            for file in files_of(room)
        }
        assert len(list(TopologicalSorter(graph).static_order())) >= len(graph) > 1


@pytest.mark.exhaustive
def test_a_product_needs_the_core_and_few_other_products():
    assert CORE | set(PRODUCTS) | {"", "cli", "__main__"} == set(ROOMS)
    for product, others in PRODUCTS.items():
        needed = {room_of(name) for file in files_of(product) for name in own_imports(file)}
        assert needed - CORE - {product, ""} == others, product


def theories() -> set[str]:
    """The files and folders of `search` that each hold a theory."""
    return {name[1] for name in own_imports(ENGINES)} - {"engine", "sizes"}


@pytest.mark.exhaustive
def test_theories_do_not_need_one_another():
    for file in files_of("search"):
        imported = {name[1] for name in own_imports(file) if name[0] == "search" and len(name) > 1}
        if file != ENGINES:
            assert imported & theories() <= {*name_of(file)[1:2]}, file


@pytest.mark.exhaustive
def test_plotting_knows_no_more_than_errors_checks_and_files():
    for file in files_of("plotting"):
        rooms = {room_of(name) for name in own_imports(file)}
        assert rooms <= {"plotting", "errors", "checks", "files"}, file


@pytest.mark.exhaustive
def test_outside_packages_have_few_importers():
    owners = {
        "joblib": ("running", "page/server"),
        "tqdm": ("running",),
        "matplotlib": ("plotting",),
        "narwhals": ("checks",),
        # It is checked, and it draws noise.
        "opendp": ("audits/opendp", "releases/opendp_noise", "releases/opendp"),
        "duckdb": ("sql", "releases/rows"),  # which reads Parquet files
        "sqlglot": ("sql",),
        "z3": ("formulas",),
        "sympy": ("formulas",),
        "tools": (),  # the wheel does not have them
    }
    for file in FILES:
        name = "/".join(name_of(file))
        for package in run_time_imports(file) & set(owners):
            assert name.startswith(owners[package]), (package, file)


@pytest.mark.exhaustive
def test_nothing_below_the_command_line_prints():
    for file in set(FILES) - set(files_of("cli")):
        for node in ast.walk(parse(file)):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called != "print", (file, node.lineno)
                assert not called.startswith(("sys.stdout", "sys.stderr")), (file, node.lineno)


@pytest.mark.exhaustive
def test_only_the_problem_and_what_is_above_validates():
    """Engines trust what they get: a search checks only its options, and the choice of a method."""
    for file in files_of("search"):
        if name_of(file) not in (("search",), ("search", "engine")):
            names = {node.id for node in ast.walk(parse(file)) if isinstance(node, ast.Name)}
            assert "InputError" not in names, file


def test_no_search_asserts_what_its_plan_has_found_out():
    for file in files_of("search"):
        assert "AssertionError" not in file.read_text("utf-8"), file


@pytest.mark.exhaustive
def test_these_checks_see_imports():
    """Relative, absolute, inside functions and of types: what the checks above rest on."""
    result = PACKAGE / "results" / "sensitivity_result.py"
    rooms = {room_of(name) for name in own_imports(result)}
    assert {"errors", "universes", "queries", "plotting"} <= rooms
    assert "joblib" in run_time_imports(PACKAGE / "running" / "processes.py")
    assert "matplotlib" not in run_time_imports(result)
    assert ("running",) in own_imports(PACKAGE / "search" / "enumeration" / "evaluate.py")
    assert len(FILES) > 15
    assert len(theories()) > 5


@pytest.mark.parametrize("name", ["oracle", "naive_distances", "naive_intervals"])
def test_the_oracle_imports_nothing_that_it_judges(name):
    oracle = next(TESTS.rglob(f"{name}.py"))
    names = {name[0] for name in imported_names(oracle, ast.walk(parse(oracle)))}
    # Judges may rest on the oracle, which imports none of them.
    own = {"oracle"} - {name}
    assert names <= {"__future__", *sys.stdlib_module_names, *own}


@pytest.mark.exhaustive
def test_no_test_module_imports_another_one():
    """What tests share is in `tests/support`, so that each can be read, moved and run alone."""
    modules = sorted(TESTS.rglob("*.py"))
    tests = {
        file.stem for file in modules if file.stem.startswith("test_") or file.stem == "conftest"
    }
    assert len({file.stem for file in modules}) == len(modules) > len(tests) > 50
    for file in modules:
        text = file.read_text("utf-8")
        if not any(name in text for name in tests):
            continue  # an import would hold the name; to parse all takes a second
        names = imported_names(file, ast.walk(parse(file)))
        assert not {part for name in names for part in name} & tests, file


def test_the_folders_of_the_tests_are_those_of_the_package():
    """Or of the checkout, such as tools/sweep; but for the oracles, published values, libraries."""
    folders = {file.parent.relative_to(TESTS) for file in TESTS.rglob("test_*.py")} - {Path()}
    own = {Path("support/oracles"), Path("corpus"), Path("reference")}
    assert own < folders
    roots = (PACKAGE, ROOT)
    assert [one for one in folders - own if not any((root / one).is_dir() for root in roots)] == []


@pytest.fixture(scope="module")
def modules() -> set[str]:
    """The modules that a fresh Python has imported with our package."""
    command = "import sys, sensitivity_lab; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_the_package_loads_what_calls_are_about_and_no_search(modules):
    ours = {name.split(".")[1] for name in modules if name.startswith("sensitivity_lab.")}
    assert {"universes", "queries"} <= ours <= CORE - {"calls", "search", "results", "running"}


@pytest.mark.parametrize(
    "package",
    [
        *("matplotlib", "IPython", "distributed", "hypothesis", "opendp", "diffprivlib"),
        *("ipywidgets", "voila", "joblib", "tqdm", "duckdb", "sqlglot"),
    ],
)
def test_importing_the_package_does_not_import(package, modules):
    assert {"sensitivity_lab", "numpy", "pandas"} <= modules
    assert package not in modules


OF_OTHERS = {
    *("_asdict", "_fields", "_make", "_replace"),  # of named tuples
    *("_repr_html_", "_repr_png_"),  # which notebooks ask for
    *("_exit", "_group_actions", "_subparsers"),  # of the standard library
    *("_flags", "_process", "_processes"),  # of executors
    *("_dash_pattern", "_suptitle", "_unscaled_dash_pattern", "_update_ticks"),  # of matplotlib
    *("_mechanism", "_mechanisms"),  # of the libraries in the corpus
    *("_make_eigenvalues", "_make_np_sscp", "_make_private_theil_sen"),  # the same
}
"""Names with an underscore that are no private names of ours."""


def private_names(file: Path) -> Iterator[str]:
    """The private names of others that a file imports, or asks an object for."""
    for node in ast.walk(parse(file)):
        if isinstance(node, ast.ImportFrom):
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Attribute) and not is_self(node.value):
            names = [node.attr]
        else:
            continue
        yield from (name for name in names if name.startswith("_") and not name.startswith("__"))


def is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


@pytest.mark.exhaustive
def test_no_test_asks_for_private_names():
    asked = {
        file.name: names
        for file in TESTS.rglob("*.py")
        if (names := set(private_names(file)) - OF_OTHERS)
    }
    assert asked == {}


@pytest.mark.exhaustive
def test_no_file_imports_a_private_name_of_another_one():
    """What two files need has a public name; a private file, as in `plotting`, is none."""
    for file in FILES:
        for name in imported_names(file, ast.walk(parse(file))):
            if name[0] == "sensitivity_lab" and name[-1].startswith("_"):
                assert is_module(name[1:]) or name[-1].startswith("__"), (file, name)


FORMS = ("global_max", "local_max", "smooth_max")
"""The forms of a theory are twins: a private name that several have, such as `_solve`, means the
same in each."""


def private_definitions(file: Path) -> Iterator[str]:
    """The private classes, functions and constants of a file."""
    for node in parse(file).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
        else:
            continue
        yield from (name for name in names if name.startswith("_") and not name.startswith("__"))


@pytest.mark.exhaustive
def test_a_private_name_is_that_of_one_thing_within_a_room():
    for room in ROOMS:
        of_file = {file: [*private_definitions(file)] for file in files_of(room)}
        names = Counter(
            name for file, names in of_file.items() if file.stem not in FORMS for name in names
        )
        names.update(
            {name for file, names in of_file.items() if file.stem in FORMS for name in names}
        )
        assert [name for name, number in names.items() if number > 1] == []


@pytest.mark.exhaustive
def test_private_classes_have_names_of_their_own_within_a_room():
    for room in ROOMS:
        names = Counter(
            node.name
            for file in files_of(room)
            for node in parse(file).body
            if isinstance(node, ast.ClassDef) and node.name.startswith("_")
        )
        assert [name for name, number in names.items() if number > 1] == [], room
