"""`check_gradients`: what is measured, what is said of it, and that nothing is changed."""

import linecache
import random
import re
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from copylab import check_gradients
from project_files import ROOT


def make_net(engine: ModuleType) -> Any:
    nn: Any = engine.nn
    engine.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4, 2))


def verdicts(check: Any) -> dict[str, str]:
    return {slope.name: slope.verdict for slope in check.slopes}


def test_right_gradients_agree_and_random_numbers_do_not_matter(engine: ModuleType) -> None:
    net, x = make_net(engine), engine.ones(5, 3)
    check = check_gradients(lambda: net(x).square().sum(), net)
    assert verdicts(check) == dict.fromkeys(
        ["net.0.weight", "net.0.bias", "net.3.weight", "net.3.bias"], "agrees"
    )
    assert check
    assert check.text == "4 gradients are the slope of the loss."


def test_a_wrong_gradient_is_found_whatever_made_it(engine: ModuleType) -> None:
    class Wrong(engine.autograd.Function):  # type: ignore[name-defined]
        @staticmethod
        def forward(_: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(_: Any, grad: Any) -> Any:
            return grad * 3

    p, q, r, s, t, u = (engine.tensor([1.0, 2.0], requires_grad=True) for _ in range(6))

    def step() -> Any:
        hooked = q * 1
        hooked.register_hook(lambda grad: grad * 0.5)
        written = r.exp()
        written.data.mul_(2)
        cut = s.detach() * 3
        rounded = t + (t.round() - t).detach()
        return (Wrong.apply(p) + hooked + written + cut + rounded).sum()

    check = check_gradients(step, p=p, q=q, r=r, s=s, t=t, u=u)
    assert verdicts(check) == {
        "p": "differs",
        "q": "differs",
        "r": "agrees",  # the sum's slope at what was written is twice exp, and so is what is saved
        "s": "no gradient",
        "t": "flat",
        "u": "unused",
    }
    assert not check
    first = check.slopes[0]
    assert first.from_backward == pytest.approx(first.measured * 1.5, rel=0.01)
    assert check.text.startswith(
        "3 of 6 gradients are not the slope of the loss, in `p`, `q` and `s`.\n"
    )
    assert "NOT the slope" in check.html
    assert check.html == check.html


def test_a_silent_write_to_what_was_saved_is_found(engine: ModuleType) -> None:
    p = engine.tensor([0.3, 0.2], requires_grad=True)

    def step() -> Any:
        h = p.tanh()
        h.data.mul_(0.5)
        return (h * h).sum()

    assert verdicts(check_gradients(step, p)) == {"p": "differs"}


def make_module_of(source: str, engine: ModuleType) -> dict[str, Any]:
    """Run a program that is a file of its own, as lines are named by it."""
    file = "step.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"torch": engine}
    exec(compile(source, file, "exec"), names)
    return names


FUNCTION = """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 3
"""


@pytest.mark.parametrize(
    ("before", "lines", "cause"),
    [
        ("", "return (p * p.sum().item()).sum()", "made a number, which has no history"),
        ("", "return (p * p.detach()).sum()", "cut by .detach() or .data in step.py:3"),
        ("", "h = p.tanh(); h.data.mul_(0.5); return (h * h).sum()", "written  step.py:3"),
        (FUNCTION, "return Double.apply(p).sum()", "in Python: Double.backward (step.py:9)"),
    ],
)
def test_the_line_that_may_have_done_it_is_named(
    engine: ModuleType, before: str, lines: str, cause: str
) -> None:
    source = f"p = torch.tensor([0.5, 0.2], requires_grad=True)\ndef step():\n    {lines}\n{before}"
    names = make_module_of(source, engine)
    check = check_gradients(names["step"], p=names["p"])
    assert verdicts(check) == {"p": "differs"}
    assert cause in "\n".join(check.causes)
    assert cause in check.text
    assert "may be what did it" in check.html


@pytest.mark.parametrize("seed", range(4))
def test_a_penalty_on_weights_that_pulls_at_nothing_is_found(engine: ModuleType, seed: int) -> None:
    engine.manual_seed(seed)
    layer, x, y = engine.nn.Linear(32, 8), engine.randn(16, 32), engine.randn(16, 8)

    # Of the gradient that is lost, which is along the weight, next to nothing is along the other.
    def step() -> Any:
        return (layer(x) * y).sum() + 5 * layer.weight.square().sum().item()

    assert verdicts(check_gradients(step, layer))["layer.weight"] == "differs"


def test_no_line_is_sought_where_all_is_right(engine: ModuleType) -> None:
    p, calls = engine.tensor([0.5, 0.2], requires_grad=True), []

    def step() -> Any:
        calls.append(p.sum().item())  # a value that leaves the graph, and no loss is made of it
        return (p * p).sum()

    check = check_gradients(step, p)
    assert check
    assert not check.causes
    assert len(calls) == 4 + 3
    assert "did it" not in check.text


def test_what_the_step_raises_while_lines_are_sought_leaves_the_measurement(
    engine: ModuleType,
) -> None:
    p, calls = engine.tensor([0.5, 0.2], requires_grad=True), []

    def step() -> Any:
        calls.append(0)
        if len(calls) > 4 + 3:
            raise RuntimeError("no further batch")
        return (p * p.detach()).sum()

    check = check_gradients(step, p)
    assert verdicts(check) == {"p": "differs"}
    assert not check.causes


@pytest.mark.parametrize(
    ("loss", "verdict"),
    [
        ("(p * next(numbers)).sum()", "not repeatable"),
        ("(p / 0).sum()", "not finite"),
        ("(p * 1e6).sin().sum()", "not smooth"),
    ],
)
def test_what_cannot_be_measured_is_said(engine: ModuleType, loss: str, verdict: str) -> None:
    p, numbers = engine.tensor([1.0, 2.0], requires_grad=True), iter(range(1, 99))
    check = check_gradients(lambda: eval(loss, {"p": p, "numbers": numbers}), p)
    assert verdicts(check) == {"p": verdict}
    assert not check
    assert check.text.startswith("No gradient could be measured.\n")


@pytest.mark.parametrize(
    ("flat", "said"),
    [("w.round()", "The gradient of `w` is 0 throughout"), ("w * 1", "")],
)
def test_a_gradient_of_zeros_is_no_good_news(engine: ModuleType, flat: str, said: str) -> None:
    w = engine.tensor([1.2, 2.3], requires_grad=True)
    b = engine.tensor([1.2, 2.3], requires_grad=True)
    found = check_gradients(lambda: eval(flat, {"w": w}).sum() + (b * b).sum(), {"w": w, "b": b})
    assert found, "both are right"
    assert "2 gradients are the slope of the loss." in found.text
    assert ("0 throughout" in found.text) == bool(said)
    assert said in found.text


def test_nothing_is_changed(engine: ModuleType) -> None:
    net, x = make_net(engine), engine.ones(5, 3, requires_grad=True)
    net.register_buffer("mean", engine.zeros(2))
    net[0].weight.grad = grad = engine.ones(4, 3)
    graph = (net(x) ** 2).sum()  # the user's own, which still has to run

    def step() -> Any:
        net.mean.add_(1.0)  # as batch norm does
        return (net(x) ** 2).sum() + random.random() + float(np.random.rand())  # noqa: NPY002

    def fail() -> Any:
        step()
        raise ZeroDivisionError

    tensors = [*net.parameters(), net.mean, x]
    before = [(t, t.tolist(), t._version, t.grad) for t in tensors]
    states = engine.get_rng_state().tolist(), random.getstate(), str(np.random.get_state())  # noqa: NPY002
    assert check_gradients(step, net=net)
    with pytest.raises(ZeroDivisionError):
        check_gradients(fail, net=net)
    after = [*net.parameters(), net.mean, x]
    for (tensor, values, version, gradient), now in zip(before, after, strict=True):
        assert now is tensor
        assert (now.tolist(), now._version) == (values, version)
        assert now.grad is gradient
    assert grad.tolist() == [[1.0] * 3] * 4
    assert states == (
        engine.get_rng_state().tolist(),
        random.getstate(),
        str(np.random.get_state()),  # noqa: NPY002
    )
    graph.backward()
    assert x.grad is not None


@pytest.mark.torch
def test_buffers_stay_as_they_are_where_backward_computes_again() -> None:
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    block, x = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)), torch.randn(8, 3)
    mean = block[1].running_mean
    before = mean.tolist(), mean._version
    assert check_gradients(
        lambda: checkpoint(block, x, use_reentrant=False).square().mean() + mean.sum() * 0, block
    )
    assert block[1].running_mean is mean
    assert (mean.tolist(), mean._version) == before


def test_a_buffer_of_two_modules_stays_one(engine: ModuleType) -> None:
    class Counting(engine.nn.Module):  # type: ignore[name-defined]
        def __init__(self, count: Any) -> None:
            super().__init__()
            self.register_buffer("count", count)
            self.weight = engine.nn.Parameter(engine.ones(2))

        def forward(self, x: Any) -> Any:
            self.count.add_(1)
            return x * self.weight * self.count.clone()

    count = engine.zeros(1)
    net = engine.nn.Sequential(Counting(count), Counting(count))
    values: list[float] = []

    def step() -> Any:
        loss = net(engine.ones(2)).sum()
        values.append(loss.item())
        return loss

    assert check_gradients(step, net)
    assert values[0] == pytest.approx(4.0), "1 in the first, 2 in the second"
    assert count.item() == 0


def test_bad_input_is_refused(engine: ModuleType) -> None:
    p = engine.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match="there is nothing to check: give the network"):
        check_gradients(p.sum)
    with pytest.raises(ValueError, match="there is nothing to check"):
        check_gradients(p.sum, engine.ones(2))
    with pytest.raises(ValueError, match=r"it returned a tensor of shape \(2,\)"):
        check_gradients(lambda: p * 2, p)
    with pytest.raises(TypeError, match="step\\(\\) returned NoneType; it is to return the loss"):
        check_gradients(lambda: None, p)


@pytest.mark.torch
def test_the_page_shows_what_its_program_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "check_gradients.md").read_text("utf-8")
    _, program, *_ = re.split(r"```(?:python)?\n", page)
    exec(compile(program, "train.py", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    # The page has the code of a line beside its number, which only a file has.
    assert "\n".join(printed[:-4]) in page
    assert printed[-1].strip().startswith("net.0.weight and net.0.bias: cut by .detach() or .data")


@pytest.mark.torch
def test_a_checkpoint_that_draws_other_numbers_and_one_that_cuts() -> None:
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    torch.manual_seed(0)
    block, head = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), nn.Linear(4, 1)
    x = torch.randn(8, 4)

    def loss_of(inputs: Any, **options: bool) -> Any:
        return head(checkpoint(block, inputs, use_reentrant=True, **options)).square().sum()

    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        check = check_gradients(lambda: loss_of(x), block=block, head=head)
    assert verdicts(check) == {
        "block.0.weight": "no gradient",
        "block.0.bias": "no gradient",
        "head.weight": "agrees",
        "head.bias": "agrees",
    }
    needs_grad = x.clone().requires_grad_()
    assert check_gradients(lambda: loss_of(needs_grad), block, head)
    check = check_gradients(
        lambda: loss_of(needs_grad, preserve_rng_state=False), block=block, head=head
    )
    assert verdicts(check)["block.0.weight"] == "differs"
    assert needs_grad.grad is None
