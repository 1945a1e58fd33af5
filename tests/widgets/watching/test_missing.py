"""What an optimizer steps and no backward gives a gradient: told at the end, with the line."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import copylab
import pytest
from copylab.watching import run_watched

from tinytorch.viz import is_module

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 3), nn.Linear(3, 2)
    def forward(self, x):
        return self.head(self.body(x))

torch.manual_seed(0)
net, x = Net(), torch.ones(2, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=0.1)
"""


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings(action="ignore"):  # PyTorch's own, of numbers and checkpoints
        yield


def run(folder: Path, capfd: Any, code: str) -> tuple[int, str]:
    """Return the exit status of a program under a watch, and what was said of it."""
    program = folder / "train.py"
    program.write_text(NET + code)
    status = run_watched(str(program), [])
    return status, capfd.readouterr().err


STEP = "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
LOOP = "for _ in range(3):\n"
CUTS = {
    "a loss made of numbers": (
        "    y = net(x)\n    loss = torch.tensor([y.mean(), y.max()], requires_grad=True).sum()\n",
        (
            "body.weight, net.body.bias, net.head.weight and net.head.bias had no gradient at any of "
            "the 3 steps of opt"
        ),
        "torch.tensor made a new leaf of numbers (torch.stack keeps the graph) in train.py:17",
    ),
    "a checkpoint behind a frozen stem": (
        (
            "    from torch.utils.checkpoint import checkpoint\n"
            "    loss = net.head(checkpoint(net.body, x, use_reentrant=True)).sum()\n"
        ),
        "net.body.weight and net.body.bias had no gradient at any of the 3 steps of opt",
        "used in a reentrant checkpoint",
    ),
    "no_grad": (
        "    with torch.no_grad():\n        h = net.body(x)\n    loss = net.head(h).sum()\n",
        "net.body.weight and net.body.bias had no gradient",
        "grad mode was off in train.py:16  with torch.no_grad():",
    ),
}


@pytest.mark.torch
@pytest.mark.parametrize("cut", CUTS)
def test_what_is_missing_leads_to_its_line(tmp_path: Path, capfd: Any, cut: str) -> None:
    code, title, cause = CUTS[cut]
    status, said = run(tmp_path, capfd, LOOP + code + STEP)
    # Where something else is trained, the line may be one of a validation.
    assert status == (cut == "a loss made of numbers")
    assert "also seen: net.body" in said
    assert title in said
    assert cause in said
    assert "stepped  train.py:2" in said


RIGHT_BUT_MISSING = {
    "a validation of a head that is not trained": (
        "aux = nn.Linear(3, 2)\nopt.add_param_group({'params': aux.parameters()})\n"
        + LOOP
        + "    loss = net(x).sum()\n"
        + STEP
        + "    with torch.no_grad():\n        aux(x).mean()\n    aux(x).sum().item()\n",
        "aux.weight and aux.bias had no gradient at any of the 3 steps of opt",
    ),
    "a plot of learning rates": (
        LOOP + "    opt.step()\n",
        "had no gradient at any of the 3 steps of opt",
    ),
    "a step before the only backward": (
        "opt.step()\nnet(x).sum().backward()\n",
        "had no gradient when opt made its step",
    ),
    "two extras, one of them not used, and a layer that came later": (
        "net = nn.Sequential(nn.Linear(3, 2))\nextras = [nn.Parameter(torch.ones(1)) for _ in 'ab']\n"
        "opt = torch.optim.SGD([*net.parameters(), *extras], 0.1)\nnet.append(nn.Linear(2, 2))\n"
        + LOOP
        + "    loss = (net(x) * extras[0]).sum()\n"
        + STEP,
        "had no gradient at any of the 3 steps of opt",
    ),
    "a head that was replaced and not used": (
        "net.head = nn.Linear(3, 2)\n" + LOOP + "    loss = net.body(x).sum()\n" + STEP,
        "had no gradient at any of the 3 steps of opt",
    ),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", RIGHT_BUT_MISSING)
def test_what_a_right_program_does_not_train_is_no_fault(
    tmp_path: Path, capfd: Any, name: str
) -> None:
    code, title = RIGHT_BUT_MISSING[name]
    status, said = run(tmp_path, capfd, code)
    assert status == 0
    assert title in said


@pytest.mark.torch
def test_an_optimizer_with_a_former_layer_is_told(tmp_path: Path, capfd: Any) -> None:
    code = (
        "old = net.head\nnet.head = nn.Linear(3, 4)\ndef train():\n    loss = net(x).sum()\n"
        + STEP
        + "train()\n"
    )
    status, said = run(tmp_path, capfd, code)
    assert status == 1
    assert "opt does not hold net.head.weight and net.head.bias: in their place" in said
    assert "were made by train.py:16  net.head = nn.Linear(3, 4)." in said
    # Without a gradient at all: the same as if it was another net's.
    status, said = run(
        tmp_path,
        capfd,
        LOOP + "    net(x).sum().backward()\n    opt.zero_grad()\n" + "    opt.step()\n",
    )
    assert (status, "had no gradient at any of the 3 steps of opt" in said) == (1, True)


CUT = "    loss = net.head(net.body(x).detach()).sum()\n    loss.backward()\n"
WITHOUT_OPTIMIZER = {
    "a part that is cut off": (
        "def step():\n" + CUT + "step(), step(), step()\n",
        (
            "net.body.weight and net.body.bias had no gradient after any of the 3 backwards.\n"
            "  backward train.py:17  loss.backward()\n  also seen: net.body.weight and net.body.bias: "
            "cut by .detach() or .data in train.py:16"
        ),
    ),
    "a loss made of numbers": (
        "loss = torch.tensor(net(x).mean(), requires_grad=True)\nloss.backward()\n",
        "had no gradient after backward.\n  backward train.py:16  loss.backward()\n  also seen: net.body",
    ),
    "a module that is cut off beside others": (
        "book = nn.Linear(2, 2)\n(book(net(x)).detach() + net(x)).sum().backward()\n",
        "book.weight and book.bias had no gradient after backward.\n  backward train.py:16",
    ),
    "a part that is not used": (
        "net.extra = nn.Linear(3, 3)\nnet(x).sum().backward()\n",
        "net.extra.weight and net.extra.bias had no gradient after backward.",
    ),
    "a module of a function that has ended": (
        (
            "def train(net):\n    net = nn.Sequential(net, nn.Linear(2, 1))\n"
            "    net[1](net[0](x).detach()).sum().backward()\ntrain(net)\ndel net\n"
        ),
        "net.0.body.weight, net.0.body.bias, net.0.head.weight and net.0.head.bias had no gradient",
    ),
    "all is reached": (
        "net(x).sum().backward()\nnet.zero_grad()\nx.requires_grad_().sum().backward()\n",
        "",
    ),
    "in turns": (
        "net.head(net.body(x).detach()).sum().backward()\nnet.zero_grad()\nnet.body(x).sum().backward()\n",
        "",
    ),
    "other names of modules that are reached": (
        (
            "net = nn.Sequential(nn.Linear(3, 2), nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)))\n"
            "def step(net):\n    net(x).sum().backward()\n"
            "def step_part(model):\n    model[0](x).sum().backward()\n"
            "def step_first(tail, x):\n    tail[0](x).sum().backward()\n"
            "step(net)\nnet.zero_grad()\nstep_part(net)\nx = torch.ones(2, 2)\n"
            "for _ in range(2):\n    net.zero_grad()\n    step_first(net[1], x)\n"
        ),
        "",
    ),
    "a part that is frozen": ("net.body.requires_grad_(False)\nnet(x).sum().backward()\n", ""),
    "a teacher": (
        (
            "teacher = nn.Linear(3, 2)\nwith torch.no_grad():\n    y = teacher(x)\n"
            "(net(x) - y).sum().backward()\nteacher(x).mean().item()\n"
        ),
        "",
    ),
    "a module for later": ("later = nn.Linear(3, 2)\nnet(x).sum().backward()\n", ""),
    "a hook that frees": (
        (
            "for p in net.body.parameters():\n"
            "    p.register_post_accumulate_grad_hook(lambda p: setattr(p, 'grad', None))\n"
            "net(x).sum().backward()\n"
        ),
        "",
    ),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", WITHOUT_OPTIMIZER)
def test_without_an_optimizer_modules_tell_what_is_missing(
    tmp_path: Path, capfd: Any, name: str
) -> None:
    code, sentence = WITHOUT_OPTIMIZER[name]
    status, said = run(tmp_path, capfd, code)
    assert status == 0
    if sentence:
        assert sentence in said
    else:
        assert "had no gradient" not in said


UNUSED = "net.extra = nn.Linear(3, 3)\nopt.add_param_group({'params': net.extra.parameters()})\n"
LOOKS = """
ema = [p.detach().clone() for p in net.parameters()]
for _ in range(2):
    with torch.no_grad():
        for e, p in zip(ema, net.parameters()):
            e.mul_(0.9).add_(p, alpha=0.1)
            e.copy_(0.9 * e + 0.1 * p), (p - e).norm(), float(p.sum())
"""
RIGHT = {
    "all is reached": LOOP + "    loss = net(x).sum()\n" + STEP,
    "what is logged": LOOP + "    loss = net(x).sum()\n" + STEP + "    float(loss), loss.item()\n",
    "a frozen part": "net.body.requires_grad_(False)\n" + LOOP + "    loss = net(x).sum()\n" + STEP,
    "left out": (
        "opt = torch.optim.SGD(net.head.parameters(), lr=0.1)\n"
        + LOOP
        + "    with torch.no_grad():\n        h = net.body(x)\n    loss = net.head(h).sum()\n"
        + STEP
    ),
    "in turns": (
        "other = torch.optim.SGD(net.head.parameters(), lr=0.1)\n"
        + LOOP
        + "    net.head(net.body(x).detach()).sum().backward()\n    other.step()\n"
        + "    loss = net(x).sum()\n"
        + STEP
    ),
    "a closure": "def compute():\n    loss = net(x).sum()\n    loss.backward()\n    return loss\n"
    + LOOP
    + "    opt.step(compute)\n",
    "a step that frees the gradients": """
class Freeing(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]["params"]:
            p.sub_(p.grad, alpha=0.1)
            p.grad = None
opt = Freeing(net.parameters(), {})
"""
    + LOOP
    + "    net(x).sum().backward()\n    opt.step()\n",
}


@pytest.mark.torch
@pytest.mark.parametrize("name", RIGHT)
def test_of_a_right_program_nothing_is_told(tmp_path: Path, capfd: Any, name: str) -> None:
    status, said = run(tmp_path, capfd, RIGHT[name])
    assert status == 0
    assert "had no gradient" not in said


@pytest.mark.torch
def test_an_unused_part_is_told_and_no_fault(tmp_path: Path, capfd: Any) -> None:
    for code in (UNUSED, UNUSED + LOOKS):
        status, said = run(tmp_path, capfd, code + LOOP + "    loss = net(x).sum()\n" + STEP)
        assert status == 0
        assert "net.extra.weight and net.extra.bias had no gradient at any of the 3 steps" in said


@pytest.mark.torch
def test_a_watch_lists_what_is_missing_and_keeps_nothing() -> None:
    import gc
    import weakref

    import torch

    def train(watched: Any) -> Any:
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        before = net.weight.detach().clone()
        for _ in range(2):
            net.bias.sum().backward()
            opt.step()
        (missing,) = watched.missing_gradients
        assert missing.names == ("net.weight",)
        assert (missing.optimizer, missing.times, missing.is_fault) == ("opt", 2, False)
        assert missing.step.code == "opt.step()"
        assert torch.equal(before, net.weight)
        assert "net.weight had no gradient at any of the 2 steps of opt" in repr(missing)
        return weakref.ref(net), weakref.ref(opt)

    with copylab.watch() as watched:
        alive = train(watched)
        gc.collect()
        assert [each() for each in alive] == [None, None]
    assert "net.weight had no gradient" in watched.text
    assert watched.html


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the log of backwards has asked whether it is a module."""
    things: list[Any] = []

    def note_and_ask(thing: Any) -> bool:
        things.append(thing)
        return is_module(thing)

    monkeypatch.setattr("copylab.watching.backward_log.is_module", note_and_ask)
    return things


@pytest.mark.torch
def test_a_module_is_found_beside_much_else(looked_at: list[Any]) -> None:
    from types import SimpleNamespace

    import torch

    def train(trainer: Any) -> None:
        trainer.net[0].weight.sum().backward()

    with copylab.watch() as watched:
        samples = [SimpleNamespace(number=number) for number in range(100_000)]
        net = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Linear(1, 1))
        train(SimpleNamespace(samples=samples, net=net))
    assert "trainer.net.0.bias" in watched.text
    assert len(looked_at) < 1000


@pytest.mark.torch
def test_a_library_is_looked_at_last_and_hardly(looked_at: list[Any]) -> None:
    import torch

    library: dict[str, Any] = {"__name__": "json.trainer"}
    exec("def fit(inner, *rest):\n    inner[0].weight.sum().backward()\n", library)
    net = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Linear(1, 1))
    with copylab.watch() as watched:
        library["fit"](net)
    assert "net.0.bias" in watched.text, "by the program's name"
    assert "inner" not in watched.text

    looked_at.clear()
    del net
    with copylab.watch():
        torch.ones(2, requires_grad=True).exp().sum().backward()
    assert 30 < len(looked_at) < 1500, "no module is found: the frames of pytest are looked at, too"
