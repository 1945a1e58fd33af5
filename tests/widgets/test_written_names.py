"""Names that are expressions of the program, in what widgets say: their code means what it says."""

from types import ModuleType
from typing import Any

import copylab
import pytest
from copylab import shared


def test_words_of_python_are_no_words_of_a_sentence(engine: ModuleType) -> None:
    a = engine.ones(2, requires_grad=True)
    b, flag = a.detach(), True
    assert shared(flag and a, b).sentences == ["(flag and a) and b see the same 2 cells."]
    assert shared(a if flag else b, b[:1]).sentences == [
        "b[:1] sees 1 of the 2 cells of (a if flag else b)."
    ]
    assert str(shared(a or 0 if False else flag and a, b.clone())) == (
        "Nothing is shared by (a or 0 if False else flag and a) and b.clone()."
    )
    assert shared(c := a.data, b).sentences == ["c and b see the same 2 cells."]
    assert c is not b


def test_a_gradient_is_that_of_the_expression(engine: ModuleType) -> None:
    a = engine.ones(2, requires_grad=True)
    a.sum().backward()
    b, flag = a.detach(), True
    (sentence,) = shared(a if flag else b, {"kept": a.grad}).sentences
    assert sentence == "{'kept': a.grad}.kept and (a if flag else b).grad are one tensor."
    assert (a if flag else b).grad is a.grad
    net = engine.nn.Sequential(engine.nn.Linear(2, 2))
    (sentence,) = shared(net if flag else a, net[0]).sentences
    assert sentence == "(net if flag else a).0 and net[0] are one object: Linear."


def test_the_gradient_of_a_variable_of_a_function_is_described(engine: ModuleType) -> None:
    code = (
        "x = torch.ones(1, requires_grad=True)\n"
        "def inner():\n"
        "    x = torch.ones(2, requires_grad=True)\n"
        "    x.sum().backward()\n"
        "inner()\n"
    )
    said = copylab.steps(code, engine=engine, into=["inner"]).text
    assert "x in inner.grad" not in said
    assert "the .grad of x in inner is set: [1, 1]." in said


@pytest.mark.torch
def test_a_parameter_without_a_name_is_a_numbered_one() -> None:
    import torch

    def train() -> None:
        w, late = (torch.ones(2, requires_grad=True) for _ in range(2))
        opt = torch.optim.SGD([w], lr=0.1)
        for step in range(3):
            w.sum().backward()
            # Names are sought at the first step, the second, the fourth.
            if step == 2:
                opt.add_param_group({"params": [late]})
            opt.step()

    with copylab.watch() as watched:
        train()
    missing: Any = watched.missing_gradients[0]
    assert missing.names == ("parameter 1 of SGD",), "`SGD[1]` would be an error"
