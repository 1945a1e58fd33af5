"""What others' machines read: the action, the hook of pre-commit, the recipes of environments."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import stored_outputs
import yaml
from project_files import ROOT, project_files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_action_installs_what_the_project_asks_for_and_runs_no_input() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    steps = action["runs"]["steps"]
    asked = set(re.findall(r'"(\w+>=[\d.]+)"', steps[0]["run"]))
    assert asked == {
        line for line in PROJECT["optional-dependencies"]["test"] if line[:4] in {"nbva", "pyte"}
    } - {line for line in PROJECT["optional-dependencies"]["test"] if line.startswith("pytest-")}
    for step in steps:
        # An input in the text of a command would be run as a part of it.
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
        inputs = re.findall(r"inputs\.(\w+)", json.dumps(step))
        assert set(inputs) <= set(action["inputs"])
    assert "pytest --copylab-watch" in steps[-1]["run"]
    # In YAML a list of paths has spaces or lines between them.
    for step, name in ((steps[1], "NOTEBOOKS"), (steps[2], "TESTS")):
        script = re.sub(r"python -m pytest .*? (?=\")", r"printf '<%s>' ", step["run"])
        command = ["bash", "-eo", "pipefail", "-c", script]
        done = subprocess.run(command, env={name: "a b\nc\n"}, check=True, capture_output=True)
        assert done.stdout == b"<a><b><c>"


def test_recipes_of_environments_name_the_versions_of_the_project() -> None:
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text("utf-8"))
    version = (ROOT / "tinytorch" / "__init__.py").read_text("utf-8")
    assert f'__version__ = "{recipe["package"]["version"]}"' in version
    [command] = recipe["build"]["python"]["entry_points"]
    name, _, place = command.partition(" = ")
    assert PROJECT["scripts"] == {name: place}
    run = {
        line.replace(" ", "").replace("python-graphviz", "graphviz")
        for line in recipe["requirements"]["run"]
    }
    plain = {line for line in PROJECT["dependencies"] if not line.startswith("was")}
    assert plain <= run
    assert f"python{PROJECT['requires-python']}" in run
    host = {line.replace(" ", "") for line in recipe["requirements"]["host"]}
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]
    assert set(build["requires"]) <= host
    assert recipe["about"]["license"] == PROJECT["license"]

    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    python = container["image"].rpartition(":")[2]
    assert f"Programming Language :: Python :: {python}" in PROJECT["classifiers"]
    assert (ROOT / ".binder" / "runtime.txt").read_text("utf-8").strip() == f"python-{python}"
    assert ".[course]" in container["postCreateCommand"]
    assert ".[course]" in (ROOT / ".binder" / "requirements.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("line", "changed", "fault"),
    [
        ("", "", None),
        ("license_file:", "licence_file:", "unknown field 'licence_file'"),
        ("BSD-3-Clause AND", "BSD-3-Clause AN", "failed to parse SPDX license"),
        ("numpy >=2.0", "numpy >=>2.0", "unable to parse version spec"),
        ("copylab = copylab.__main__:main", "copylab copylab", "missing entry point separator"),
    ],
)
def test_recipe_of_conda_is_read_by_the_tool_that_builds_it(
    line: str, changed: str, fault: str | None, tmp_path: Path
) -> None:
    rattler_build = pytest.importorskip("rattler_build")
    text = (ROOT / "conda" / "recipe.yaml").read_text("utf-8").replace(line, changed)

    def render() -> Any:
        recipe = rattler_build.Stage0Recipe.from_yaml(text, recipe_dir=tmp_path)
        return recipe.render(rattler_build.VariantConfig())

    if fault:
        with pytest.raises(rattler_build.RattlerBuildError, match=fault):
            render()
        return
    [made] = render()
    folder = (ROOT / "conda" / made.recipe.to_dict()["source"][0]["path"]).resolve()
    assert folder == ROOT
    for name in made.recipe.to_dict()["about"]["license_file"]:
        assert (ROOT / name).is_file()


def find_unquoted_extras(text: str) -> list[str]:
    """Return what `pip install` is told with brackets that a shell such as zsh reads as a pattern."""
    return re.findall(r"pip3? install (?:-\S+ )*([\w.]+\[[\w,]+\])", text)


def test_extras_are_quoted_for_every_shell() -> None:
    unquoted = {
        path.name: found
        for path in project_files()
        if path.suffix in {".py", ".md", ".ipynb"}
        and path.name != "test_elsewhere.py"
        and (found := find_unquoted_extras(path.read_text("utf-8")))
    }
    assert unquoted == {}
    assert find_unquoted_extras("`pip install -U a[b]` `pip install 'a[b]'`") == ["a[b]"]


def make_cell(count: int | None, *tags: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": ["x = 1"], "execution_count": count, "outputs": [],
            "metadata": {"tags": list(tags)}} | more  # fmt: skip


ERROR = [{"output_type": "error"}]


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ([make_cell(1), make_cell(2)], None),
        ([make_cell(1), make_cell(None)], "cell 2 has not been run"),
        ([make_cell(2), make_cell(1)], "cell 2 is run 1, after run 2: not from the top"),
        ([make_cell(1, outputs=ERROR)], "cell 1 ends with an error"),
        ([make_cell(1, "raises-exception", outputs=ERROR)], None),
        ([make_cell(None, "nbval-skip"), make_cell(None, source="\n"), make_cell(None, cell_type="raw")], None),
    ],
)  # fmt: skip
def test_hook_finds_what_is_not_of_one_clean_run(
    cells: list[dict[str, Any]], fault: str | None
) -> None:
    found = stored_outputs.find_faults({"cells": cells})
    assert len(found) == (fault is not None)
    assert fault is None or found[0].startswith(fault)


def test_hook_is_where_pre_commit_looks_for_it() -> None:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    program = ROOT / hook["entry"]
    assert program.read_text("utf-8").startswith("#!/usr/bin/env python3\n")
    assert program.stat().st_mode & 0o111
