"""In stepped code the frame of a failed or wrong backward names the line that wrote."""

import importlib
from types import ModuleType
from typing import cast

import pytest
from copylab import steps


@pytest.fixture(params=["tinytorch", pytest.param("torch", marks=pytest.mark.torch)])
def engine(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(cast("str", request.param))


STALE = """
a = torch.tensor([1., 2., 3.], requires_grad=True)
out = a.sigmoid()
c = out.detach()
c.zero_()
out.sum().backward()
""".strip()


def test_a_stale_saved_tensor(engine: ModuleType) -> None:
    made = steps(STALE, engine=engine)
    *before, last = made
    assert all(frame.explanation == () for frame in before)
    saved = (
        "SigmoidBackward0 saved its result (out) on line 2, out = a.sigmoid(). It was written afterwards on "
        "line 4, c.zero_(). out and c share that memory and its version counter."
    )
    way_out = "Way out: write to a copy (c.clone()), or write after backward."
    assert last.explanation == (saved, way_out)
    assert all(sentence in made.text for sentence in last.explanation)
    assert "It was written afterwards on line 4" in made.html


def test_a_gradient_that_is_silently_wrong(engine: ModuleType) -> None:
    last = steps(STALE.replace("detach", "data").replace("data()", "data"), engine=engine)[-1]
    assert last.error is None
    assert "on line 4, c.zero_(), past its version counter: the gradient was computed from" in last.explanation[0]
    assert last.explanation[1].startswith("Way out: use out.detach() instead of .data")


def test_a_write_before_the_save_is_not_blamed(engine: ModuleType) -> None:
    code = "x = torch.ones(3, requires_grad=True)\nd = x.data\nd.mul_(2)\ny = (x * x).sum()\ny.backward()"
    last = steps(code, engine=engine)[-1]
    assert last.explanation == ()
    assert "x.grad is now there: [4, 4, 4]." in last.changes


def test_in_a_loop_each_line_once_and_only_after_the_save(engine: ModuleType) -> None:
    code = """
w = torch.ones(2, requires_grad=True)
h = w * 1
h.mul_(3)
y = (h * h).sum()
for i in range(3):
    h.add_(1)
y.backward()
""".strip()
    last = steps(code, engine=engine)[-1]
    assert last.error is not None
    assert last.explanation[0] == (
        "MulBackward0 saved its other (h) on line 4, y = (h * h).sum(). It was written afterwards on line 6, h.add_(1)."
    )


def test_inside_of_a_function(engine: ModuleType) -> None:
    code = """
def loss_of(v):
    e = v.exp()
    e += 1
    return e.sum()
x = torch.ones(2, requires_grad=True)
loss = loss_of(x)
loss.backward()
""".strip()
    last = steps(code, engine=engine)[-1]
    assert "ExpBackward0 saved its result" in last.explanation[0]
    assert "written afterwards on line 3, e += 1." in last.explanation[0]


def test_other_errors_are_left_alone(engine: ModuleType) -> None:
    assert steps("x = torch.ones(2)\nx.backward()", engine=engine)[-1].explanation == ()
    code = "x = torch.ones(2, requires_grad=True)\ny = (x * x).sum()\ny.backward()\ny.backward()"
    assert all(frame.explanation == () for frame in steps(code, engine=engine))
