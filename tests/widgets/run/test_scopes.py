"""What a name means in a step: a function's own variable, and never a global of the same name."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from copylab import Steps, steps

import tinytorch

FILE = """
import tinytorch as torch

x = torch.zeros(3)
scale = torch.full((3,), 7.)


def twice(t):
    return t * 2


def binds(t):
    y = t * scale
    x = y + 1
    del x
    return y


def writes_both(t):
    x = t * 2

    def bump():
        global x
        x = x + 1

    bump()
    return x


def writes_global(t):
    global x
    x = x + t
    return x


def closes(t):
    x = t + 1

    def add(step):
        nonlocal x
        x = x + step

    add(t)
    return x


def leaves_closure(t):
    x = t + 1

    def read():
        return x

    return read


def calls_closure(t):
    read = leaves_closure(t)
    return read()


class Net:
    def forward(self, x):
        return twice(x)


def has_class(t):
    class Inner:
        x = t + 1

    return Inner.x


def has_lambda(t):
    return (lambda x: x * 2)(t)


def comprehends(rows):
    x = torch.ones(3)
    found = [twice(x) for x in rows]
    return x + found[0]


def comprehends_at_once(x):
    return {twice(x).sum() for x in x}


def comprehends_around(rows):
    x = torch.ones(3)
    found = [[twice(x) for x in row] for row in rows]
    while [twice(x) for x in rows[0]] and x.sum() < 10:
        x = x * 4
    return x


def fails_inside(x):
    try:
        return [twice(x) + None for x in x]
    except TypeError:
        return x


def generates(rows):
    def each():
        for x in rows:
            yield x

    return list(each())
"""


@pytest.fixture
def users(tmp_path: Path) -> Any:
    """A user's file, as a module."""
    path = tmp_path / "users_names.py"
    path.write_text(FILE, "utf-8")
    spec = importlib.util.spec_from_file_location("users_names", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names(run: Steps) -> list[set[str]]:
    """The names of the tensors after each step."""
    return [{name for name, _ in frame.step.observation.snapshot.names} for frame in run]


def ones() -> Any:
    return tinytorch.ones(3)


def test_a_local_name_never_means_the_global(users: Any) -> None:
    run = steps(users.binds, ones())
    assert names(run)[:3] == [{"scale", "t", "y"}, {"scale", "t", "y", "x"}, {"scale", "t", "y"}]
    assert run[1].changes == ("x is a new tensor with a storage of its own.",)
    assert run[2].changes == ("x is gone.",)
    assert "7" in run[0].pictures["memory"].text, "a global that the function reads is drawn"


def test_a_local_and_a_global_of_one_name_are_told_apart(users: Any) -> None:
    run = steps(users.writes_both, ones())
    assert run.ended == "finished"
    assert all("x (global)" in seen for seen in names(run)), (
        "from the first step on, whether or not x is bound yet"
    )
    written = [said for frame in run for said in frame.changes if said.startswith("x ")]
    assert written == [
        "x is a new tensor with a storage of its own.",
        "x (global) is now a new tensor with a storage of its own.",
    ]


def test_a_global_statement_makes_it_the_global(users: Any) -> None:
    run = steps(users.writes_global, ones())
    assert names(run)[0] == {"x", "t"}
    assert run[0].changes[0] == "x is now a new tensor with a storage of its own."


@pytest.mark.parametrize("name", ["closes", "calls_closure"])
def test_a_variable_of_an_enclosing_function_is_one_variable(name: str, users: Any) -> None:
    run = steps(getattr(users, name), ones())
    assert run.ended == "finished"
    assert not any("(global)" in one for seen in names(run) for one in seen)
    if name == "closes":
        assert not any("x in add" in seen for seen in names(run))
        assert "x is now a new tensor with a storage of its own." in [
            said for frame in run for said in frame.changes
        ]
    else:  # there it is the only name: the function that made it has returned
        assert any("x in read" in seen for seen in names(run))


@pytest.mark.parametrize("name", ["has_class", "has_lambda", "generates"])
def test_names_of_inner_scopes_are_no_globals(name: str, users: Any) -> None:
    run = steps(getattr(users, name), ones())
    assert run.ended == "finished"
    assert not {"x", "x (global)"} & set().union(*names(run))


def test_a_method_has_its_parameters(users: Any) -> None:
    run = steps(users.Net().forward, ones())
    assert run.ended == "finished"
    assert names(run)[0] == {"x", "t in twice"}
    assert run[0].changes[0] == "x is a new tensor with a storage of its own."


def test_a_comprehension_hides_no_variable(users: Any) -> None:
    """From Python 3.12 on the comprehension's x is in the function's frame, in the place of the function's own."""
    run = steps(users.comprehends, [ones(), ones()])
    own = run[0].step.observation.snapshot.tensor("T3").id
    assert {name for name, tensor in run[0].step.observation.snapshot.names if tensor == own} == {
        "x"
    }
    for frame in run:
        assert ("x", own) in frame.step.observation.snapshot.names
    assert not any(said.startswith("x ") for frame in run[1:] for said in frame.changes)


@pytest.mark.parametrize("name", ["comprehends_at_once", "comprehends_around", "fails_inside"])
def test_nor_does_any_other(name: str, users: Any) -> None:
    given = [[ones()], [ones()]] if name == "comprehends_around" else tinytorch.ones(2, 3)
    run = steps(getattr(users, name), given)
    assert run.ended == "finished"
    changed = [said for frame in run[1:] for said in frame.changes if said.startswith("x ")]
    assert changed == ["x is now a new tensor with a storage of its own."] * (
        name == "comprehends_around"
    )
    assert all("x" in seen for seen in names(run))


def test_a_text_draws_what_its_own_level_has(users: Any) -> None:
    code = "def f(x):\n    y = x * 2\n    return [y for scale in y]\nout = f(torch.ones(3))\n"
    run = steps(code, namespace=vars(users))
    assert run.ended == "finished"
    assert not {"x", "scale"} & set().union(*names(run))
    run = steps(f"{code}x\n", namespace=vars(users))
    assert all("x" in seen for seen in names(run)), "there the text itself reads the global"
