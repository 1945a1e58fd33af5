"""Stepping into the user's own functions and methods: which are, what is said of them, that they stay as they are."""

import importlib
import importlib.util
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from copylab import Steps, steps
from interrupts import interrupt_at

import tinytorch

MODEL = '''
import functools

import torch

SCALE = 2.0
seen = []


def logged(function):
    @functools.wraps(function)
    def call(*args):
        seen.append(function.__name__)
        return function(*args)

    return call


class Hides:
    def __init__(self, function):
        self.call = function

    def __call__(self, *args):
        return self.call(*args)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 1)

    def forward(self, x):
        h = self.fc(x)
        return self.bent(h)

    @staticmethod
    def bent(h):
        return torch.relu(h)

    @property
    def size(self):
        count = self.fc.weight.numel()
        return count


def loss_of(y):
    """Mean of squares."""
    total = (y**2).mean()
    return total * SCALE


def train_step(net, opt, x):
    y = net(x)
    loss = loss_of(y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss


@torch.no_grad()
def evaluate(net, x):
    y = net.bent(x)
    return y


@logged
def doubled(x):
    return x * 2


@Hides
def hidden(x):
    return x + 1


def uses(net, x):
    a = evaluate(net, x)
    b = doubled(a)
    return hidden(b)


def down(n):
    if n == 0:
        return 0
    return up(n - 1)


def up(n):
    return down(n) + 1


def adder(k):
    def add(x):
        made = x + k
        return made

    return add


add_two = adder(2)


def closes():
    return add_two(3)


def inside(x):
    return 1 / x


def fails():
    try:
        a = inside(0)
    except ZeroDivisionError:
        a = 0
    return inside(a)


def numbers():
    yield 1
    yield 2


def counts():
    found = []
    for n in numbers():
        found.append(n)
    return found


def sleeps():
    import time

    time.sleep(60)


def waits():
    a = 1
    sleeps()
    return a


def asks(net):
    return net.size
'''


def load(folder: Path, name: str, source: str, engine: ModuleType) -> Any:
    """A module of the user's, whose `torch` is the engine."""
    path = folder / f"{name}.py"
    path.write_text(source.replace("import torch", f"import {engine.__name__} as torch"), "utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def model(tmp_path: Path, engine: ModuleType) -> Iterator[Any]:
    """A user's file; afterwards it is held that no function of it has changed."""
    module = load(tmp_path, "users_model", MODEL, engine)
    before = {held: held.__code__ for held in functions(module)}
    names = {name: value for name, value in vars(module).items() if name != "seen"}
    members = {
        name: list(vars(value).items()) for name, value in names.items() if isinstance(value, type)
    }
    yield module
    assert {held: held.__code__ for held in functions(module)} == before
    assert all(held.__code__ is code for held, code in before.items())
    assert {name: value for name, value in vars(module).items() if name != "seen"} == names
    assert {
        name: list(vars(value).items()) for name, value in names.items() if isinstance(value, type)
    } == members
    del sys.modules["users_model"]


def functions(module: ModuleType) -> list[FunctionType]:
    every = [
        *vars(module).values(),
        *(one for name in ("Net", "Hides") for one in vars(vars(module)[name]).values()),
    ]
    return [
        one
        for one in (getattr(each, "__func__", each) for each in every)
        if isinstance(one, FunctionType)
    ]


def places(made: Steps) -> list[str]:
    """Return of each step its function and its line there, counted from that of `def`."""
    return [
        f"{frame.step.site.text.name}, line {frame.line - frame.step.site.text.above}".lstrip(", ")
        for frame in made
    ]


def line_of(source: str) -> int:
    """Return the line of the user's file that begins with this source."""
    lines = [line.strip() for line in MODEL.splitlines()]
    return next(number for number, line in enumerate(lines, 1) if line.startswith(source))


class TestTheSameFile:
    def test_a_training_step(self, model: Any) -> None:
        net = model.Net()
        opt = model.torch.optim.SGD(net.parameters(), lr=0.1)
        made = steps(model.train_step, net, opt, model.torch.ones(3, 2), engine=model.torch)
        assert made.ended == "finished"
        assert places(made) == [
            "train_step, line 2",
            "Net.forward, line 2",
            "Net.forward, line 3",
            "Net.bent, line 3",
            "Net.forward, line 3",
            "train_step, line 2",
            "train_step, line 3",
            "loss_of, line 3",
            "loss_of, line 4",
            *[f"train_step, line {line}" for line in (3, 4, 5, 6, 7)],
        ]
        assert made[1].source == "h = self.fc(x)"
        assert "h in forward is a new tensor" in made[1].changes[0]
        assert made[2].step.calls == ("Net.forward",)
        assert repr(made) == "Steps(17 lines, 14 steps, ended='finished')"
        # Lines are those of the file, as a traceback and a watch have them.
        call, forward = line_of("def train_step") + 1, line_of("h = self.fc(x)")
        assert f"Call of Net.forward() in train_step (users_model.py), line {call}, " in made.text
        assert f"  Net.forward (users_model.py):\n  {forward - 1}  def forward" in made.text
        assert f"Step 2, Net.forward (users_model.py), line {forward}: h = self.fc(x)" in made.text
        assert (made[1].line, made[1].place) == (
            forward,
            f"Net.forward (users_model.py), line {forward}",
        )
        assert "self in" not in made.text

    def test_a_method(self, model: Any) -> None:
        made = steps(model.Net().forward, model.torch.ones(2), engine=model.torch)
        assert places(made) == [
            f"Net.{place}"
            for place in ("forward, line 2", "forward, line 3", "bent, line 3", "forward, line 3")
        ]
        assert made[0].changes[0].startswith("self.fc.weight is a new tensor")

    def test_one_function_alone_is_said_as_before(self, model: Any) -> None:
        made = steps(model.loss_of, model.torch.ones(2), engine=model.torch)
        line = line_of("return total")
        assert made[1].place == f"users_model.py, line {line}"
        assert "loss_of" not in made.text.partition("\n")[2].replace("def loss_of", "").replace(
            "loss_of()", ""
        )

    def test_properties_and_decorated_functions(self, model: Any) -> None:
        assert "Net.size, line 3" in places(steps(model.asks, model.Net(), engine=model.torch))
        made = steps(model.uses, model.Net(), model.torch.ones(2), engine=model.torch)
        assert "evaluate, line 3" in places(made)
        assert "logged, line 5" in places(made), "what decorates is the user's own, too"
        assert "doubled, line 3" in places(made)
        assert not any(place.startswith("hidden") for place in places(made))
        assert made.end == "hidden() ran in one go: a decorator hides its code."
        assert model.seen == ["doubled"]

    def test_a_decorated_function_itself_is_refused(self, model: Any) -> None:
        with pytest.raises(
            TypeError, match=r"evaluate\(\) itself, which is decorated: .*into=evaluate"
        ):
            steps(model.evaluate, model.Net(), model.torch.ones(2), engine=model.torch)

    def test_recursion_through_another(self, model: Any) -> None:
        made = steps(model.down, 2, engine=model.torch)
        assert made[-1].output == "2\n"
        assert places(made).count("down, line 2") == 3
        assert made[4].step.calls == ("up", "down")

    def test_closures(self, model: Any) -> None:
        made = steps(model.closes, engine=model.torch)
        assert [frame.source for frame in made] == [
            "return add_two(3)",
            "made = x + k",
            "return made",
            "return add_two(3)",
        ]
        assert made[-1].output == "5\n"

    def test_a_closure_of_which_there_are_several(self, model: Any) -> None:
        assert steps(model.adder(10), 1, engine=model.torch)[-1].output == "11\n"
        assert model.add_two(1) == 3

    def test_generators(self, model: Any) -> None:
        made = steps(model.counts, engine=model.torch)
        assert made[-1].output == "[1, 2]\n"
        assert "numbers, line 2" in places(made)

    def test_an_exception_inside(self, model: Any) -> None:
        made = steps(model.fails, engine=model.torch)
        assert made.ended == "error"
        assert (places(made)[-1], made[-1].error) == (
            "inside, line 2",
            "ZeroDivisionError: division by zero",
        )
        where = f"inside (users_model.py), line {made[-1].line}"
        assert made.end == f"The error in {where} ended the run."
        assert [frame.step.caught for frame in made if frame.error] == [True, False]

    def test_an_interrupt_inside(self, model: Any) -> None:
        interrupt_at(model.__file__, model.sleeps.__code__.co_firstlineno + 3)
        made = steps(model.waits, engine=model.torch)
        assert made.ended == "interrupted"
        assert places(made)[-1] == "sleeps, line 4"

    @pytest.mark.parametrize("limits", [{"max_steps": 3}, {"seconds": 0.2}])
    def test_limits_inside(self, model: Any, limits: dict[str, Any]) -> None:
        made = steps(model.waits, engine=model.torch, **limits)
        assert made.ended == ("steps" if "max_steps" in limits else "time") or len(made) == 3

    def test_not_into(self, model: Any) -> None:
        net = model.Net()
        assert len(steps(model.down, 3, engine=model.torch, into=False)) == 2
        made = steps(model.Net().forward, model.torch.ones(2), engine=model.torch, into="bent")
        assert "Net.bent, line 3" in places(made)
        made = steps(
            model.uses, net, model.torch.ones(2), engine=model.torch, into=["evaluate", "Net.bent"]
        )
        assert {place.partition(",")[0] for place in places(made)} == {
            "uses",
            "evaluate",
            "Net.bent",
        }
        with pytest.raises(ValueError, match="into names nothing"):
            steps(model.uses, net, 1, engine=model.torch, into="nothing")

    def test_a_look_steps_into_nothing(self, tmp_path: Path, engine: ModuleType) -> None:
        source = (
            "class Odd:\n    def __getattr__(self, name):\n        count = 1\n        raise AttributeError(name)\n"
            "def f(odd):\n    a = 1\n    b = 2\n    return b\n"
        )
        module = load(tmp_path, "users_odd", source, engine)
        assert [frame.line for frame in steps(module.f, module.Odd(), engine=engine)] == [6, 7, 8]

    def test_a_steps_within_steps(self, tmp_path: Path, engine: ModuleType) -> None:
        source = (
            "from copylab import steps\ndef g(x):\n    return x + 1\ndef f(x):\n    made = steps(g, x)\n"
            "    n = len(made)\n    return n + g(x)\n"
        )
        module = load(tmp_path, "users_nested", source, engine)
        code = module.g.__code__
        made = steps(module.f, 1, engine=engine)
        assert made[-1].output == "3\n"
        assert places(made)[-2] == "g, line 2"
        assert module.g.__code__ is code


class TestOthers:
    @pytest.fixture
    def train(self, tmp_path: Path, model: Any) -> Any:
        source = "import users_model\ndef run(net, x):\n    y = net(x)\n    return users_model.loss_of(y)\n"
        return load(tmp_path, "users_train", source, model.torch)

    def stepped(self, train: Any, model: Any, into: Any) -> set[str]:
        made = steps(train.run, model.Net(), model.torch.ones(1, 2), engine=model.torch, into=into)
        assert made.ended == "finished"
        return {place.partition(", line")[0] for place in places(made) if ", line" in place} - {
            "run"
        }

    def test_modules_classes_functions_and_names(self, train: Any, model: Any) -> None:
        every = {"Net.forward", "Net.bent", "loss_of"}
        assert self.stepped(train, model, True) == set()
        assert self.stepped(train, model, [model]) == every
        assert self.stepped(train, model, model) == every
        assert self.stepped(train, model, model.Net) == {"Net.forward", "Net.bent"}
        assert self.stepped(train, model, [model.loss_of]) == {"loss_of"}
        assert self.stepped(train, model, ["run", model.Net.forward]) == {"Net.forward"}

    def test_from_a_string(self, model: Any) -> None:
        names = {"net": model.Net(), "x": model.torch.ones(1, 2)}
        code = "y = net(x)\nz = y + 1"
        made = steps(code, engine=model.torch, namespace=names, into=[model.Net])
        assert places(made) == [
            "line 1",
            "Net.forward, line 2",
            "Net.forward, line 3",
            "Net.bent, line 3",
            "Net.forward, line 3",
            "line 1",
            "line 2",
        ]
        assert made.text.startswith(
            "Step-through: 7 steps through 8 lines of code\n  The code:\n  1  y = net(x)\n"
        )
        alone = steps(code, engine=model.torch, namespace=names)
        assert places(alone) == ["line 1", "line 2"]

    def test_a_decorated_function_by_name(self, model: Any) -> None:
        names = {"evaluate": model.evaluate, "net": model.Net(), "x": model.torch.ones(2)}
        made = steps(
            "y = evaluate(net, x)", engine=model.torch, namespace=names, into=model.evaluate
        )
        assert places(made) == ["line 1", "evaluate, line 3", "evaluate, line 4", "line 1"]

    def test_what_is_installed_is_stepped_into_only_if_it_is_named(self, model: Any) -> None:
        import json

        names = {"json": json}
        code = "a = json.dumps([1])"
        assert len(steps(code, engine=model.torch, namespace=names)) == 1
        assert (
            "dumps (json/__init__.py), line"
            in steps(code, engine=model.torch, namespace=names, into=json).text
        )

    @pytest.mark.parametrize("wrong", [print, len, [print], types.ModuleType("empty"), steps, int])
    def test_what_has_no_source(self, wrong: Any) -> None:
        with pytest.raises(
            TypeError,
            match=r"names of functions of the code, (or|and) modules, classes and functions",
        ):
            steps("a = 1", engine=tinytorch, into=wrong)

    def test_functions_of_a_notebook(self, engine: ModuleType) -> None:
        """Each cell is a file of its own to Python, and all have the same globals."""
        cells = {
            "<cell 1>": "class Net(torch.nn.Module):\n    def forward(self, x):\n        h = x * 2\n        return h\n",
            "<cell 2>": "def helper(x):\n    y = x + 1\n    return y\n",
            "<cell 3>": "def run(net, x):\n    y = net(x)\n    return helper(y)\n",
        }
        home: dict[str, Any] = {"torch": engine, "__name__": "users_notebook"}
        module = types.ModuleType("users_notebook")
        try:
            sys.modules["users_notebook"] = module
            for name, source in cells.items():
                linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
                exec(compile(source, name, "exec"), home)
            run: Callable[..., Any] = home["run"]
            made = steps(run, home["Net"](), engine.ones(1), engine=engine)
        finally:
            del sys.modules["users_notebook"]
            for name in cells:
                del linecache.cache[name]
        assert places(made)[1:3] == ["Net.forward, line 2", "Net.forward, line 3"]
        assert places(made)[4:7] == ["run, line 3", "helper, line 2", "helper, line 3"]
        assert made.ended == "finished"


class TestShown:
    def test_the_form_has_all_that_ran_and_where_each_step_stands(self, model: Any) -> None:
        html = steps(model.down, 1, engine=model.torch).static_form.render_form()
        assert html.count('<pre class="cl-code"') == 2
        above = line_of("def down(n):") - 1
        listing = f'<pre class="cl-code" data-name="down (users_model.py)" data-above="{above}">'
        assert listing in html
        assert f'class="cl-step" data-code="1" data-line="{line_of("def up(n):") + 1}"' in html
        alone = steps("a = 1", engine=model.torch).static_form.render_form()
        assert "data-code" not in alone
        assert "data-name" not in alone

    def test_loops_and_blame_name_the_function(self, tmp_path: Path, engine: ModuleType) -> None:
        source = (
            "def write(c):\n    for i in range(2):\n        c.mul_(2)\n"
            "def run(x):\n    y = x.exp()\n    write(y)\n    y.sum().backward()\n"
        )
        module = load(tmp_path, "users_write", source, engine)
        made = steps(module.run, engine.ones(2, requires_grad=True), engine=engine)
        assert "Loop in write (users_write.py), line 2: 2 rounds" in made.text
        assert "Round 1 of the loop in write (users_write.py), line 2" in made.text
        assert "write (users_write.py), line 3, c.mul_(2)" in made.text
