"""What is promised is tested: the oldest versions, each Python, and what forms and files say."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata

import pytest
import yaml
from checks import refused
from paths import ROOT

TEXT = (ROOT / "pyproject.toml").read_text("utf-8")
PROJECT = tomllib.loads(TEXT)["project"]


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import floors

    return floors


def test_every_requirement_is_installed_at_its_oldest_version(tool):
    extras = PROJECT["optional-dependencies"]
    stated = [*PROJECT["dependencies"], *extras["dask"], *extras["sql"], *extras["test"]]
    expected = [re.sub(r"(\[.*\])?>=", "==", requirement) for requirement in stated]
    assert tool.floors() == expected
    assert {line.split("==")[0] for line in tool.floors()} >= {"numpy", "pandas", "joblib", "dask"}


def test_no_version_with_a_known_hole_is_promised(tool):
    """CVE-2026-23528: distributed before 2026.1.1, whose version is that of dask."""
    floors = dict(one.split("==") for one in tool.floors())
    assert tuple(map(int, floors["dask"].split("."))) >= (2026, 1, 1)


def test_a_requirement_without_an_oldest_version_is_an_error(tool, monkeypatch, tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text(TEXT.replace('"tqdm>=4.66.3"', '"tqdm"'), "utf-8")
    monkeypatch.setattr(tool, "PROJECT", project)
    refused(
        lambda: tool.floors(),
        "pyproject.toml: 'tqdm' does not state its oldest version",
        SystemExit,
    )


def test_the_quick_tests_exist():
    """`make quick-oldest` and `quick-newest` name their files."""
    (named,) = re.findall(r"^QUICK := ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.M)
    files = named.replace("\\\n", " ").split()
    assert len(files) > 5
    assert [file for file in files if not (ROOT / file).is_file()] == []


def parsed(*parts: str):
    """A file in YAML; keys that repeat are an error, which the parser would not see."""
    text = ROOT.joinpath(*parts).read_text("utf-8")
    return yaml.load(text, _Strict)


class _Strict(yaml.SafeLoader):
    """A loader that refuses a key that is given twice."""

    def construct_mapping(self, node, deep=False):
        names = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(set(names)) == len(names), names
        return super().construct_mapping(node, deep)


WORKFLOWS = sorted(path.name for path in (ROOT / ".github" / "workflows").iterdir())
FORMS = sorted(
    path.name for path in (ROOT / ".github" / "ISSUE_TEMPLATE").iterdir() if path.stem != "config"
)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflows_run_what_exists(name):
    """Each step is an action of a fixed version, a target of the Makefile, or a script."""
    workflow = parsed(".github", "workflows", name)
    assert workflow[True]  # the key `on` is a boolean in YAML 1.1, which GitHub's parser is not
    assert workflow["permissions"] == {"contents": "read"}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    for job in workflow["jobs"].values():
        assert {"runs-on", "timeout-minutes", "steps"} <= set(job)
        assert re.fullmatch(r"actions/checkout@v\d+", job["steps"][0]["uses"])
        for step in job["steps"][1:]:
            if "uses" in step:
                assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"])
            elif step["run"].startswith("make "):
                assert step["run"].split()[1] in targets | {"docs"}
            else:
                assert (ROOT / step["run"]).is_file()


def test_each_python_of_the_classifiers_is_tested():
    matrix = parsed(".github", "workflows", "tests.yml")["jobs"]["quick"]["strategy"]["matrix"]
    prefix = "Programming Language :: Python :: 3."
    stated = [line for line in PROJECT["classifiers"] if line.startswith(prefix)]
    assert stated == [f"{prefix}{version.removeprefix('3.')}" for version in matrix["python"]]
    assert PROJECT["requires-python"] == f">={matrix['python'][0]}"


def test_each_system_of_the_classifiers_is_tested():
    jobs = parsed(".github", "workflows", "tests.yml")["jobs"].values()
    named = {"ubuntu": "POSIX :: Linux", "macos": "MacOS", "windows": "Microsoft :: Windows"}
    tested = {named[job["runs-on"].partition("-")[0]] for job in jobs}
    prefix = "Operating System :: "
    stated = [line for line in PROJECT["classifiers"] if line.startswith(prefix)]
    assert {line.removeprefix(prefix) for line in stated} == tested


@pytest.mark.parametrize("name", FORMS)
def test_issue_forms(name):
    form = parsed(".github", "ISSUE_TEMPLATE", name)
    assert {"name", "description", "body"} <= set(form)
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    kinds = {"textarea", "input", "dropdown", "checkboxes"}
    assert {field["type"] for field in fields} <= kinds
    assert len({field["id"] for field in fields}) == len(fields) > 0
    assert all(field["attributes"]["label"] for field in fields)
    chosen = [field for field in fields if field["type"] in ("dropdown", "checkboxes")]
    assert all(field["attributes"]["options"] for field in chosen)


def test_addresses_are_those_of_the_project():
    source = PROJECT["urls"]["Source"]
    assert all(url.startswith(source) for url in PROJECT["urls"].values())
    (link,) = parsed(".github", "ISSUE_TEMPLATE", "config.yml")["contact_links"]
    advisories = f"{source}/security/advisories/new"
    assert link["url"] == advisories
    assert f"<{advisories}>" in (ROOT / "SECURITY.md").read_text("utf-8")
    assert metadata.metadata("sensitivity_lab")["Name"] == PROJECT["name"]


def test_the_citation_is_of_this_version():
    citation = parsed("CITATION.cff")
    assert (citation["cff-version"], citation["type"]) == ("1.2.0", "software")
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])
    assert citation["authors"] == PROJECT["authors"]
    assert citation["repository-code"] == PROJECT["urls"]["Source"]
    assert citation["message"]
    assert citation["title"].startswith(PROJECT["name"])


def test_pre_commit_runs_the_versions_of_the_extra():
    pinned = {line for line in PROJECT["optional-dependencies"]["check"] if "==" in line}
    (repository,) = parsed(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    hooks = {hook["id"]: hook for hook in repository["hooks"]}
    assert set(hooks) == {"ruff-format", "ruff-check", "types"}
    for name in ("ruff-format", "ruff-check"):
        assert set(hooks[name]["additional_dependencies"]) < pinned
    assert hooks["types"]["entry"] == "make --silent types"
