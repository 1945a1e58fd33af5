"""`%%steps` and `%memory` in an IPython shell, and in a real kernel."""

import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from copylab import Steps
from IPython.core.interactiveshell import InteractiveShell
from kernels import messages

import tinytorch


@pytest.fixture(scope="module")
def ipython() -> Iterator[Any]:
    """An IPython shell that keeps no history and does not become the process's own."""
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    made: Any = InteractiveShell(config=config)  # type: ignore[no-untyped-call]
    made.run_line_magic("load_ext", "copylab")
    yield made
    made.history_manager = None


@pytest.fixture
def shell(ipython: Any) -> Any:
    ipython.reset(new_session=False)
    return ipython


def steps(shell: Any, cell: str, line: str = "") -> Steps:
    made = shell.run_cell_magic("steps", line, cell)
    assert isinstance(made, Steps)
    return made


class TestSteps:
    def test_the_cell_runs_over_the_notebooks_names(self, shell: Any, engine: ModuleType) -> None:
        names = shell.user_ns
        names.update(torch=engine, x=engine.ones(2), n=1)
        made = steps(shell, "x.add_(n)\ny = x.clone()\nn = 5\ndef f():\n    return n\n")
        assert (len(made), made.ended) == (4, "finished")
        assert (names["n"], names["y"].tolist(), names["torch"]) == (5, [2.0, 2.0], engine)
        names["n"] = 7
        assert names["f"]() == 7, (
            "a function of the cell sees the notebook's names as they are later"
        )
        assert made.end == "The code wrote into what was passed in: x."

    def test_after_an_error_what_was_bound_is_there(self, shell: Any) -> None:
        made = steps(shell, "a = 1\nb = a / 0\nc = 2\n")
        assert (made.ended, made[-1].error) == ("error", "ZeroDivisionError: division by zero")
        assert shell.user_ns["a"] == 1
        assert "c" not in shell.user_ns

    def test_the_shell_is_left_as_it_was(self, shell: Any) -> None:
        before = dict(shell.user_ns)
        steps(shell, "1 / 0\n")
        steps(shell, "b = = 1\n")
        assert shell.user_ns == before

    def test_a_function_of_the_cell_lives_on_unwatched(self, shell: Any, monkeypatch: Any) -> None:
        steps(shell, "def ask():\n    answer = input()\n    return answer\n")
        monkeypatch.setattr("builtins.input", lambda: "yes")
        assert shell.user_ns["ask"]() == "yes"

    def test_the_engine(self, shell: Any) -> None:
        made = steps(shell, "name = torch.__name__\n")
        assert shell.user_ns["name"] == "tinytorch"
        assert "torch" not in shell.user_ns
        steps(shell, "import torch\n")
        assert shell.user_ns["torch"] is tinytorch
        assert made.ended == "finished"

    @pytest.mark.torch
    def test_the_engine_by_name(self, shell: Any) -> None:
        shell.user_ns["torch"] = tinytorch
        steps(shell, "name = torch.__name__\n", "--engine torch")
        assert (shell.user_ns["name"], shell.user_ns["torch"]) == ("torch", tinytorch)

    def test_an_engine_that_is_not_there(self, shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(Exception, match="torch is not installed"):
            steps(shell, "a = 1\n", "--engine torch")

    def test_options(self, shell: Any) -> None:
        code = "def f(n):\n    return n\ndef g(n):\n    return n\nfor i in range(9):\n    a = f(i) + g(i)\n"
        assert [frame.line for frame in steps(shell, code, "--into none --rounds 1")] == [
            1,
            3,
            5,
            6,
            5,
        ]
        assert [frame.line for frame in steps(shell, code, "--into f --rounds 1")] == [
            1,
            3,
            5,
            6,
            2,
            6,
            5,
        ]
        assert len(steps(shell, code, "--into f,g --rounds 1")) == 8
        assert steps(shell, code, "--max-steps 3").ended == "steps"
        assert steps(shell, "while True:\n    pass\n", "--rounds 1 --seconds 0.2").ended == "time"

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("--max-steps 0", "limits must be positive"),
            ("--into h", "into names h"),
            ("--rounds many", "invalid int value"),
            ("--engine numpy", "invalid choice"),
            ("--no-such", "unrecognized arguments"),
        ],
    )
    def test_wrong_options_are_said(self, shell: Any, line: str, message: str) -> None:
        with pytest.raises(Exception, match=message) as caught:
            steps(shell, "a = 1\n", line)
        assert type(caught.value).__name__ == "UsageError"
        assert "a" not in shell.user_ns


class TestMemory:
    def test_the_named_ones(self, shell: Any, engine: ModuleType) -> None:
        x = engine.ones(2, requires_grad=True)
        x.sum().backward()
        shell.user_ns.update(x=x, y=x.detach(), z=engine.ones(3), xs=[x])
        text = shell.run_line_magic("memory", "x, y x.grad").text
        assert "one storage, shared by x and y" in text
        assert "x.grad" in text
        assert "z" not in text.split()
        assert "xs.0" in shell.run_line_magic("memory", "xs").text

    def test_all(self, shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
        assert shell.run_line_magic("memory", "") is None
        assert capsys.readouterr().out == "There is no tensor among the notebook's names.\n"
        shell.user_ns.update(a=tinytorch.ones(2), b=3, _hidden=tinytorch.ones(2))
        text = shell.run_line_magic("memory", "").text
        assert "storage of a" in text
        assert "b" not in text.split()

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("q", "q: NameError: name 'q' is not defined"),
            ("n", "n is of type int, which is neither a tensor"),
            ("x[", "x\\[: SyntaxError"),
        ],
    )
    def test_what_is_no_tensor_is_said(self, shell: Any, line: str, message: str) -> None:
        shell.user_ns.update(n=3)
        with pytest.raises(Exception, match=message) as caught:
            shell.run_line_magic("memory", line)
        assert type(caught.value).__name__ == "UsageError"


@pytest.mark.slow
def test_in_a_kernel(kernel: Any) -> None:
    _, client = kernel
    cells = [
        "%load_ext copylab\nimport tinytorch as torch\nx = torch.ones(2)",
        "%%steps --rounds 2\nfor i in range(50):\n    x += 1\n",
        "%memory x",
        "print(x, i)",
    ]
    shown = []
    for cell in cells:
        found = list(messages(client, cell))
        assert "error" not in [kind for kind, _ in found]
        shown += [content for kind, content in found if kind in ("execute_result", "stream")]
    assert "48 more rounds of the loop ran in one go" in shown[0]["data"]["text/plain"]
    assert 'class="copylab-steps"' in shown[0]["data"]["text/html"]
    assert "storage of x alone" in shown[1]["data"]["text/plain"]
    assert shown[2]["text"] == "tensor([51., 51.]) 49\n"


def test_a_watched_cell_is_called_by_its_number(kernel: Any) -> None:
    _, client = kernel
    list(messages(client, "%load_ext copylab\nimport tinytorch"))
    spoiled = "%%watch\nx = tinytorch.ones(3, requires_grad=True)\nloss = (x * x).sum()\nx.data.mul_(2)\nloss.backward()"
    (result,) = [content for kind, content in messages(client, spoiled) if kind == "execute_result"]
    assert result["execution_count"] == 2
    assert "written  In[2], line 4  x.data.mul_(2)" in result["data"]["text/plain"]
    raising = dict(messages(client, "%%watch\n1 / 0"))
    assert "In[3], line 2" in re.sub(r"\x1b\[[0-9;]*m", "", "".join(raising["error"]["traceback"]))
    (plain, *_) = [content for kind, content in messages(client, "1 / 0") if kind == "error"]
    assert "In[4], line 1" in re.sub(r"\x1b\[[0-9;]*m", "", "".join(plain["traceback"]))
