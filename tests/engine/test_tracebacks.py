"""Tracebacks in IPython end at the user's line."""

import re
from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell

import tinytorch
from tinytorch.tracebacks import shorten_tracebacks

HOOKED = """\
def hook(grad):
    raise KeyError("mine")
x = tinytorch.ones(2, requires_grad=True)
x.register_hook(hook)
x.sum().backward()
"""
CHAINED = """\
try:
    tinytorch.arange(6).view(4)
except RuntimeError as error:
    raise ValueError("mine") from error
"""


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """An IPython of our own, of which nothing is left."""
    made = InteractiveShell.instance(colors="nocolor", history_load_length=0)
    made.user_ns["tinytorch"] = tinytorch
    shorten_tracebacks()
    yield made
    InteractiveShell.clear_instance()


def told(
    shell: InteractiveShell, code: str, capsys: pytest.CaptureFixture[str]
) -> tuple[list[str], str]:
    """The cells and files whose frames are shown, and all that is said."""
    shell.run_cell(code)
    said = capsys.readouterr().out
    return re.findall(r"^(?:File|Cell)", said, re.MULTILINE), said


@pytest.mark.parametrize(
    "code",
    [
        "tinytorch.ones(2) + tinytorch.ones(3)",
        "tinytorch.arange(6).view(4)",
        "tinytorch.nn.Linear(2, 1)(tinytorch.ones(3))",
        "x = tinytorch.ones(1, requires_grad=True)\ny = x.exp()\ny += 1\ny.backward()",
        "tinytorch.optim.SGD([], lr=0.1)",
        "tinytorch.ones(2)[5]",
    ],
)
def test_the_users_line_is_the_last(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], code: str
) -> None:
    frames, said = told(shell, code, capsys)
    assert frames == ["Cell"]
    assert "Error: " in said
    assert "another exception" not in said


def test_the_users_own_code_that_was_called_stays(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(shell, HOOKED, capsys)[0] == ["Cell", "Cell"]
    frames, said = told(shell, CHAINED, capsys)
    assert frames == ["Cell", "Cell"]
    assert "direct cause" in said
    assert "tracebacks" not in said


def test_a_handler_that_is_there_stays(shell: InteractiveShell) -> None:
    mine = (OSError,)
    shell.set_custom_exc(mine, lambda *_, **__: None)
    shorten_tracebacks()
    assert shell.custom_exceptions == mine


def test_without_an_ipython_nothing_happens() -> None:
    shorten_tracebacks()
