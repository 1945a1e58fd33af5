"""Train in several ways over the ranks of `torchrun`, each without and with a watch.

A rank writes what it found into `FOLDER/RANK.json`: of each way whether all bits are the same, how
many findings there are, and whether anything was read. A look that waited for the other ranks would
end by the time limit of the group.
"""

import datetime as dt
import hashlib
import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import copylab
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

from tinytorch.viz import graph, memory

FACTS: dict[str, Any] = {}


class Net(nn.Module):
    """Convolutions with batch norm, perhaps computed again in backward, and two heads."""

    def __init__(self, *, recomputes: bool = False, leaves_out: bool = False) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU())
        self.hidden, self.norm = nn.Linear(64, 8), nn.LayerNorm(8)
        self.out, self.other = nn.Linear(8, 2), nn.Linear(8, 2)
        self.recomputes, self.leaves_out = recomputes, leaves_out

    def forward(self, x: Any) -> Any:
        y = checkpoint(self.body, x, use_reentrant=False) if self.recomputes else self.body(x)
        y = self.norm(torch.tanh(self.hidden(y.flatten(1))))
        return self.out(y) if self.leaves_out else self.out(y) + self.other(y)


def shard(net: Net, **options: Any) -> Any:
    for part in (net.body, net.hidden, net):
        fully_shard(part, mesh=MESH, **options)
    return net


def split_layers(net: Net) -> Any:
    plan = {"hidden": ColwiseParallel(output_layouts=Replicate())}
    return parallelize_module(net, MESH, plan)


WAYS: dict[str, Callable[[], Any]] = {
    "buffers": lambda: DistributedDataParallel(Net()),
    "no buffers": lambda: DistributedDataParallel(Net(), broadcast_buffers=False),
    "accumulated": lambda: DistributedDataParallel(Net()),
    "views": lambda: DistributedDataParallel(
        Net(), gradient_as_bucket_view=True, bucket_cap_mb=0.001
    ),
    "static": lambda: DistributedDataParallel(Net(), static_graph=True),
    "unused": lambda: DistributedDataParallel(Net(leaves_out=True), find_unused_parameters=True),
    "checkpoint": lambda: DistributedDataParallel(Net(recomputes=True)),
    "fsdp": lambda: shard(Net()),
    "fsdp, whole": lambda: shard(Net(), reshard_after_forward=False),
    "dtensor": lambda: split_layers(Net()),
}


def find_own(tensor: Any) -> Any:
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def train(way: str) -> str:
    """Return a digest of all losses, gradients and states of three steps."""
    torch.manual_seed(0)
    net = WAYS[way]()
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    torch.manual_seed(dist.get_rank())
    seen = hashlib.sha256()
    for _ in range(3):
        for is_last in (False, True) if way == "accumulated" else (True,):
            waits: AbstractContextManager[Any] = nullcontext() if is_last else net.no_sync()
            with waits:
                loss = net(torch.randn(4, 3, 4, 4)).square().mean()
                loss.backward()
        tensors = [loss, *(p.grad for p in net.parameters() if p.grad is not None)]
        optimizer.step()
        optimizer.zero_grad(set_to_none=way != "views")
        for tensor in [*tensors, *net.state_dict().values()]:
            seen.update(find_own(tensor.detach()).contiguous().numpy().tobytes())
    return seen.hexdigest()


def compare_ways() -> None:
    for way in WAYS:
        plain = train(way)
        with copylab.watch(silent="record") as watched:
            digest = train(way)
        faults = [*watched.findings, *(each for each in watched.missing_gradients if each.is_fault)]
        FACTS[way] = [digest == plain, len(faults), watched.read_count > 0]


def look_on_one_rank() -> None:
    torch.manual_seed(0)
    nets = {"ddp": DistributedDataParallel(Net()), "fsdp": shard(Net())}
    x = torch.randn(4, 3, 4, 4)
    losses = {name: net(x).square().mean() for name, net in nets.items()}
    spread = distribute_tensor(torch.ones(4, 2), MESH, [Shard(0)]).requires_grad_()
    if dist.get_rank() == 0:
        said = [memory(spread).text, copylab.shared(spread, spread.to_local()).text]
        for name, net in nets.items():
            optimizer = torch.optim.SGD(net.parameters())
            said += [
                memory(net).text,
                graph(losses[name]).text,
                copylab.shared(net, optimizer).text,
            ]
            said.append(copylab.explain(losses[name], net=net).text)
        FACTS["looks"] = len(list(filter(None, said)))
    for loss in losses.values():
        loss.backward()


def measure_on_all_ranks() -> None:
    torch.manual_seed(0)
    net, x = DistributedDataParallel(Net()).eval(), torch.randn(4, 3, 4, 4) + dist.get_rank()
    spread = distribute_tensor(torch.ones(4, 2), MESH, [Shard(0)]).requires_grad_()
    for name, step, has in (
        ("check ddp", lambda: net(x).square().mean(), net),
        ("check dtensor", lambda: spread.square().sum().full_tensor(), spread),
    ):
        verdicts = {slope.verdict for slope in copylab.check_gradients(step, has).slopes}
        FACTS[name] = sorted(verdicts)
    FACTS["growth"] = bool(copylab.growth(lambda: net(x).square().mean().backward(), times=2))


def find_faults() -> None:
    """FSDP gathers what the optimizer has changed meanwhile; and each rank finds its own fault."""
    torch.manual_seed(0)
    net, x = shard(Net()), torch.randn(4, 3, 4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with copylab.watch(silent="record") as watched:
        net(x).square().mean().backward()
        loss = net(x).square().mean()
        optimizer.step()
        loss.backward()
    FACTS["gathered"] = bool(watched.findings)
    net = DistributedDataParallel(Net())
    with copylab.watch(silent="record") as watched:
        loss = net(x).square().mean()
        layer = net.module.other if dist.get_rank() else net.module.out
        layer.weight.data.mul_(2)
        loss.backward()
    (finding,) = watched.findings
    FACTS["own"] = [finding.names[0].rpartition("module.")[2], finding.lines.split("\n")[-1]]


torch.set_num_threads(1)
dist.init_process_group("gloo", timeout=dt.timedelta(seconds=60))
MESH = init_device_mesh("cpu", (dist.get_world_size(),))
for part in (compare_ways, look_on_one_rank, measure_on_all_ranks, find_faults):
    part()
    dist.barrier()
Path(sys.argv[1], f"{dist.get_rank()}.json").write_text(json.dumps(FACTS), "utf-8")
dist.destroy_process_group()
