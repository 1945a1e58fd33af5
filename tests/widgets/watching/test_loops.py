"""Training loops as people write them, under a watch: no false alarm, the same numbers; and what surrounds them."""

import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import copylab
import pytest
from needs import torch_missing

torch: Any = pytest.importorskip("torch", reason=torch_missing())
pytestmark = pytest.mark.torch
nn = torch.nn
F = torch.nn.functional


def mlp() -> list[Any]:
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))
    opt = torch.optim.Adam(net.parameters(), lr=0.1, weight_decay=0.01)
    for _ in range(4):
        opt.zero_grad()
        F.cross_entropy(net(torch.randn(6, 4)), torch.randint(0, 3, (6,))).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
    return list(net.parameters())


def gan() -> list[Any]:
    make, judge = (
        nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 3)),
        nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2, inplace=True), nn.Linear(4, 1)),
    )
    for_make, for_judge = torch.optim.Adam(make.parameters()), torch.optim.Adam(judge.parameters())
    for _ in range(3):
        fake = make(torch.randn(5, 2))
        for_judge.zero_grad()
        (judge(torch.randn(5, 3)).mean() - judge(fake.detach()).mean()).backward()
        for_judge.step()
        for_make.zero_grad()
        judge(fake).mean().backward()
        for_make.step()
    return [*make.parameters(), *judge.parameters()]


def rnn() -> list[Any]:
    cell, out = nn.LSTM(3, 4, batch_first=True), nn.Linear(4, 1)
    opt = torch.optim.RMSprop([*cell.parameters(), *out.parameters()])
    state = None
    for _ in range(3):
        seen, state = cell(torch.randn(2, 5, 3), state)
        opt.zero_grad()
        out(seen).pow(2).mean().backward()
        opt.step()
        state = tuple(s.detach() for s in state)
    return list(cell.parameters())


def unrolled() -> list[Any]:
    cell = nn.GRUCell(3, 4)
    opt = torch.optim.SGD(cell.parameters(), lr=0.1, momentum=0.9)
    for _ in range(2):
        h, loss = torch.zeros(2, 4), torch.zeros(())
        for step in range(5):
            h = cell(torch.full((2, 3), float(step)), h)
            loss = loss + h.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return list(cell.parameters())


def transformer() -> list[Any]:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    opt = torch.optim.AdamW(layer.parameters())
    for _ in range(2):
        opt.zero_grad()
        layer(torch.randn(2, 5, 8), src_mask=nn.Transformer.generate_square_subsequent_mask(5)).pow(
            2
        ).mean().backward()
        opt.step()
    return list(layer.parameters())


class Block(nn.Module):  # type: ignore[name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.relu = (
            nn.Conv2d(4, 4, 3, padding=1),
            nn.BatchNorm2d(4),
            nn.ReLU(inplace=True),
        )

    def forward(self, x: Any) -> Any:
        return self.relu(self.norm(self.conv(x)) + x)


def resnet() -> list[Any]:
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3), Block(), Block(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)
    )
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    for _ in range(3):
        opt.zero_grad()
        # Two forwards write the running statistics twice.
        both = net(torch.randn(2, 3, 8, 8)).sum() + net(torch.randn(2, 3, 8, 8)).sum()
        both.backward()
        opt.step()
        net.eval()
        with torch.no_grad():
            net(torch.randn(2, 3, 8, 8))
        net.train()
    return [*net.parameters(), *net.buffers()]


def averaged() -> list[Any]:
    net = nn.Linear(3, 2)
    average = torch.optim.swa_utils.AveragedModel(
        net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9)
    )
    opt = torch.optim.Adagrad(net.parameters())
    for _ in range(3):
        opt.zero_grad()
        net(torch.randn(4, 3)).pow(2).sum().backward()
        opt.step()
        average.update_parameters(net)
        for mine, theirs in zip(average.module.parameters(), net.parameters(), strict=True):
            mine.data.mul_(0.9).add_(theirs.data, alpha=0.1)
    return [*net.parameters(), *average.parameters()]


def accumulated() -> list[Any]:
    net = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 7))
    opt = torch.optim.Adam(net.parameters())
    for step in range(4):
        (F.cross_entropy(net(torch.randint(0, 7, (5,))), torch.randint(0, 7, (5,))) / 2).backward()
        if step % 2:
            opt.step()
            opt.zero_grad(set_to_none=False)
    return list(net.parameters())


def checkpointed() -> list[Any]:
    from torch.utils.checkpoint import checkpoint

    blocks = nn.ModuleList(
        nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Dropout(0.3)) for _ in range(3)
    )
    opt = torch.optim.Adam(blocks.parameters())
    for step in range(2):
        h = torch.randn(2, 4, requires_grad=True)
        for block in blocks:
            h = checkpoint(block, h, use_reentrant=bool(step))
        opt.zero_grad()
        h.sum().backward()
        opt.step()
    return list(blocks.parameters())


def mixed_precision() -> list[Any]:
    net = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 1))
    opt, scaler = torch.optim.SGD(net.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
    for _ in range(2):
        opt.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = net(torch.randn(3, 4)).pow(2).mean()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
    return list(net.parameters())


def saved_elsewhere() -> list[Any]:
    w = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        y = (w * w).exp()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = (y * y).sum()
    y.backward()
    return [w.grad.clone()]  # whether autograd adds in place, which counts, is its own affair


def in_other_modes() -> list[Any]:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        seen = 0

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            Count.seen += 1
            return func(*args, **(kwargs or {}))

    w = torch.ones(3, requires_grad=True)
    with Count(), torch.device("cpu"), torch.autograd.set_multithreading_enabled(False):
        (w.exp() * w).sum().backward()
    assert Count.seen > 5
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = w.exp()
        z = (y * y).sum()
        y.zero_()
        z.backward()
    return [w.grad.clone()]


def functional() -> list[Any]:
    w = torch.ones(3)
    grad = torch.func.grad(lambda t: (t**3).sum())(w)
    many = torch.func.vmap(torch.func.grad(lambda t: t.sin().sum()))(torch.ones(2, 3))
    return [grad, many, torch.func.hessian(lambda t: (t**3).sum())(w)]


def compiled() -> list[Any]:
    net = nn.Linear(3, 2)
    fast = torch.compile(net, backend="aot_eager")
    for _ in range(2):
        fast(torch.randn(4, 3)).pow(2).sum().backward()
    return [net.weight.grad.clone()]


class Wrapper(torch.Tensor):
    """A tensor without memory of its own, that handles each operation itself."""

    @staticmethod
    def __new__(cls, inner: Any) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from torch.utils._pytree import tree_map_only

        args, kwargs = tree_map_only(cls, lambda wrapped: wrapped.inner, (args, kwargs or {}))
        return tree_map_only(torch.Tensor, cls, func(*args, **kwargs))


def without_memory() -> list[Any]:
    from torch._subclasses.fake_tensor import FakeTensorMode

    w = Wrapper(torch.randn(3)).requires_grad_()
    (w.exp() * w).sum().backward()
    for mode in (FakeTensorMode(), torch.device("meta")):
        with mode:
            net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh())
            opt = torch.optim.Adam(net.parameters())
            for _ in range(2):
                opt.zero_grad()
                net(torch.randn(2, 3)).pow(2).sum().backward()
                opt.step()
    return [w.grad.inner.clone()]


def traced() -> list[Any]:
    from torch.fx.experimental.proxy_tensor import make_fx

    graph = make_fx(lambda t: torch.autograd.grad(t.exp().sum(), t)[0])(
        torch.randn(3, requires_grad=True)
    )
    return [graph(torch.ones(3))]  # of another value than the one it was traced with


def loaded() -> list[Any]:
    data = torch.utils.data.TensorDataset(torch.randn(8, 3), torch.randn(8, 1))
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in torch.utils.data.DataLoader(data, batch_size=4, num_workers=1):
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
    return list(net.parameters())


def threads() -> list[Any]:
    found: list[Any] = []

    def work() -> None:
        w = torch.ones(3, requires_grad=True)
        (w.exp() * w).sum().backward()
        found.append(w.grad.clone())

    many = [threading.Thread(target=work) for _ in range(4)]
    for one in many:
        one.start()
    work()
    for one in many:
        one.join()
    return found


LOOPS = [
    mlp, gan, rnn, unrolled, transformer, resnet, averaged, accumulated, checkpointed, mixed_precision, saved_elsewhere,
    in_other_modes, functional, compiled, without_memory, traced, loaded, threads,
]  # fmt: skip


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning"
)
def test_no_false_alarm_and_the_same_numbers(loop: Callable[[], list[Any]]) -> None:
    results = []
    watch = copylab.watch(silent="raise")
    for context in (nullcontext(), watch):
        torch.manual_seed(0)
        with context:
            results.append([*loop(), torch.randn(3)])
    assert not watch.findings
    versions = [[t._version for t in result] for result in results]
    assert versions[0] == versions[1]
    for alone, watched in zip(*results, strict=True):
        assert torch.equal(alone, watched)
        assert alone.stride() == watched.stride()
