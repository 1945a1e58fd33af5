"""Random programs on PyTorch: what `explain` and `watch` say of them, held against what backward then does.

    python tests/hostile/oracle.py --programs 1000 --seed 1

Each program is run five times: as it is; with `explain` before each backward; under a watch, with `explain` and
`explain(run=True)` before each backward; and with a clone in the place of all that is saved, which is the oracle: a
backward that raises no error is right if it comes to the gradients of that run. Statements are chosen so that most are
run: one that raises an error while the program is written is left out of it.

A line for each kind of judgement, with what part of the backwards it is. Wrong is what is said and not so ("runs" where
PyTorch raises, a line that writes nothing); missed is a wrong gradient or an error of a written tensor of which a
watch says nothing; an alarm is a wrong gradient that is claimed where it is right. That it is computed from changed
values is none where numbers could not be had, since a Function, a checkpoint or a write through a view hides formulas:
they may come to the same. Of faults the shortest program is printed that shows it. It ends with 1 if there is any.
"""

from __future__ import annotations

import argparse
import gc
import linecache
import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import copylab

from tinytorch.viz import explain

FILE = "random_program.py"
FAULTS = ("wrong", "missed", "alarm", "changed")
"""Beginnings of the judgements that must not be."""
MOST_ALARMS = 0.001

DEFINITIONS = """
nn, F = torch.nn, torch.nn.functional
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return v * v
    @staticmethod
    def backward(ctx, grad):
        v, = ctx.saved_tensors
        return 2 * grad * v
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.v = keep(v)
        return v ** 3
    @staticmethod
    def backward(ctx, grad):
        return 3 * grad * ctx.v ** 2
class Through(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return v.round()
    @staticmethod
    def backward(ctx, grad):
        return grad
"""
BEGINNING = """
torch.manual_seed({seed})
w, v = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)
b = torch.randn(4, requires_grad=True)
c, d = torch.randn(4, 4), torch.rand(4, 4) + 0.5
i = torch.tensor([0, 2, 2, 3])
opt = torch.optim.SGD([w, v], lr=0.5, momentum=0.9)
"""
LEAVES = ("w", "v", "b")
# {a} and {o} are tensors of four rows and columns, {n} is a new name.
FORWARD = [
    *("{n} = {a} * {o}", "{n} = {a} + {o}", "{n} = {a} - {o}", "{n} = {a} @ {o}", "{n} = {a} * 2"),
    *("{n} = {a} / ({o} * {o} + 1)", "{n} = {a}.sin()", "{n} = {a}.tanh()", "{n} = {a}.sigmoid()"),
    *("{n} = {a}.tanh().exp()", "{n} = F.gelu({a})", "{n} = F.softplus({a})", "{n} = F.silu({a})"),
    *("{n} = F.relu({a})", "{n} = {a}.abs()", "{n} = {a}.clamp(-1, 1)", "{n} = F.elu({a})"),
    *(
        "{n} = ({a} * {a} + 1).sqrt()",
        "{n} = {a} ** 2",
        "{n} = {a}.pow(3)",
        "{n} = ({a} ** 2 + 1).log()",
    ),
    *("{n} = {a}.softmax(1)", "{n} = {a}.log_softmax(0)", "{n} = F.layer_norm({a}, (4,))"),
    *("{n} = F.normalize({a})", "{n} = {a}.cumsum(0)", "{n} = {a}.tanh().cumprod(1)"),
    *("{n} = torch.maximum({a}, {o})", "{n} = torch.where({a} > 0, {a}, {o})", "{n} = {a}.t()"),
    *("{n} = {a}.index_select(0, i)", "{n} = {a}[i]", "{n} = {a}.gather(0, i.expand(4, 4))"),
    *("{n} = {a}.masked_fill(c > 0, 0.5)", "{n} = {a}.view(2, 8).view(4, 4)", "{n} = {a}.flip(0)"),
    *("{n} = F.linear({a}, {o}, b)", "{n} = torch.addmm({a}, {o}, {a})", "{n} = {a} + b"),
    *("{n} = {a} * b", "{n} = b.expand(4, 4) * {a}", "{n} = {a}.sum(0, keepdim=True) * {o}"),
    *("{n} = {a}.max(1, keepdim=True)[0] + {o}", "{n} = {a}.logsumexp(1, keepdim=True) * {o}"),
    *("{n} = {a}.norm(dim=1, keepdim=True) * {o}", "{n} = {a}.std(1, keepdim=True) + {o}"),
    *(
        "{n} = F.dropout({a}, 0.2)",
        "{n} = torch.einsum('ij,kj->ik', {a}, {o})",
        "{n} = {a}.clone()",
    ),
    *("{n} = {a}.prod(1, keepdim=True) + {o}", "{n} = torch.cat([{a}[:2], {o}[2:]])"),
    *(
        "{n} = torch.stack([{a}, {o}]).mean(0)",
        "{n} = torch.lerp({a}, {o}, 0.3)",
        "{n} = {a}.contiguous()",
    ),
    *(
        "{n} = torch.atan2({a}, {o})",
        "{n} = {a}.sort(0)[0]",
        "{n} = {a}.roll(1, 0)",
        "{n} = {a}.detach()",
    ),
    *("{n} = F.huber_loss({a}, {o}, reduction='none')", "{n} = {a}.diagonal().diag_embed() + {o}"),
    *(
        "{n} = F.mse_loss({a}, {o}, reduction='none')",
        "{n} = F.leaky_relu({a}, 0.2)",
        "{n} = {a}.neg()",
    ),
    "{n} = F.scaled_dot_product_attention({a}[None], {o}[None], {a}[None])[0]",
    "{n} = F.cross_entropy({a}, i) * {o}",
    "{n} = F.conv1d({a}[None], {o}[:, :, None])[0]",
    "{n} = F.max_pool1d({a}[None], 2).repeat(1, 1, 2)[0]",
    "{n} = F.embedding(i, {a}) * {o}",
    "with torch.no_grad(): {n} = {a} * 2",
]
LAYERS = [
    "lin = nn.Linear(4, 4); {n} = lin({a})",
    "bn = nn.BatchNorm1d(4); {n} = bn({a})",
    "bn = nn.BatchNorm1d(4).eval(); {n} = bn({a}) * {o}",
    "gru = nn.GRU(4, 4); {n} = gru({a})[0]",
    "{n} = Square.apply({a})",
    "{n} = Cube.apply({a})",
    "{n} = Through.apply({a})",
    "{n} = checkpoint(lambda z: z.sin() * z, {a}, use_reentrant=False)",
    "{n} = checkpoint(lambda z: (z * {o}).tanh(), {a}, use_reentrant=False)",
    "with save_on_cpu(): {n} = {a} * {o}",
]
UNCOUNTED = [
    *("{a}.data.mul_(1.5)", "{a}.data.add_(0.7)", "{a}.data[1] = 3.0", "{a}.data.mul_(1)"),
    *("{a}.data.copy_(d)", "{a}.data = {a}.data * 2", "{a}.data = torch.rand(4, 4)"),
    *(
        "{a}.data = {a}.data.clone()",
        "{a}.detach().numpy()[:] = 2.5",
        "{a}.detach().numpy()[1] *= 3",
    ),
    *("{a}.detach().untyped_storage().fill_(0)", "{a}.data.t().sub_(1)"),
    "torch._foreach_mul_([{a}.data, {o}.data], 1.5)",
    "torch.mul({o}.detach(), 2, out={a}.data)",
    "{n} = {a}.data; {n}.mul_(2)",
    "with torch.no_grad(): {a}.set_(torch.rand(4, 4))",
    "with torch.autograd._unsafe_preserve_version_counter({a}), torch.no_grad(): {a}.mul_(3)",
    "{n} = {a}.data.clone(); {a}.data.zero_(); {a}.data.copy_({n})",
    "i.data.copy_(i.flip(0))",
    "lin.weight.data.mul_(0.5)",
    "bn(c)",
    "b.data.add_(1)",
]
"""Writes that no version counter of what was saved counts, and what gives a tensor other memory."""
WRITES = [
    *(
        "{a}.mul_(1.5)",
        "{a}.add_(0.5)",
        "{a}[0] = 1.0",
        "{a}.t().mul_(2)",
        "{a}.zero_()",
        "{a}.relu_()",
    ),
    *(
        "{a}.copy_({o})",
        "{a}.detach().mul_(1.5)",
        "{a}.detach().add_({o}.detach())",
        "{a}.sigmoid_()",
    ),
    *(
        "with torch.no_grad(): {a}.add_(0.5)",
        "with torch.no_grad(): {a}.mul_(1)",
        "{a}.addcmul_({o}, {o})",
    ),
    *("{a}.detach_()", "{a}.requires_grad_(False)", "{n} = {a}.detach(); {n}[2] = 0.1"),
    *("{n} = {a}[1:3]; {n}.mul_(0.5)", "{n} = {a}.view(16); {n}.add_(1)"),
    "w.grad, v.grad = torch.ones(4, 4), torch.ones(4, 4); opt.step()",
    "opt.step()",
    "i.copy_(i.flip(0))",
    "bn.reset_running_stats()",
    "with torch.no_grad(): lin.weight.mul_(0.5)",
    "w.grad = torch.ones(4, 4)",
    "w.grad = torch.zeros(1).expand(4, 4)",
    "w.grad = torch.zeros(4, 4); w.grad.data = torch.zeros(2, 4)",
    "w.grad = torch.zeros(4, 4); w.grad.data = torch.zeros(4, 4, dtype=torch.int64)",
    "{a}.grad = None",
    "del {a}",
]
ENDS = [
    "loss = {a}.sum()",
    "loss = ({a} * {o}).sum()",
    "loss = ({a} ** 2).mean()",
    "loss = {a}.sum() + {o}.mean()",
    "loss = ({a} - c).abs().sum()",
    "loss = {a}[1, 2] + {o}[0, 0]",
]
BACKWARDS = [
    "judge(loss, lambda: loss.backward())",
    "judge(loss, lambda: loss.backward())",
    "judge(loss, lambda: loss.backward(retain_graph=True))",
]
_WRITES = re.compile(r"\w_\(|\.data|numpy|step|bn\(|reset_|\] =|out=|del ")
"""What a line that writes has in it; `del` may end a watch's alias."""


@dataclass
class Backward:
    """What was seen of one backward of a program, in one of its runs."""

    error: str
    """The error that it raised; empty if none."""
    gradients: list[Any]
    """The gradients of the leaves."""
    verdicts: dict[str, Any] = field(default_factory=dict)
    """What `explain` said before, by how it was asked."""
    findings: list[Any] = field(default_factory=list)
    """What a watch found meanwhile."""
    hides_formulas: bool = False
    """True if what it computes from changed values cannot be had beforehand, to be compared."""


class ProgramRun:
    """A run of a program, and what is seen of each of its backwards."""

    def __init__(
        self, torch: Any, seed: int, *, looks: tuple[str, ...] = (), watch: Any = None
    ) -> None:
        self.torch, self.looks, self.watch = torch, looks, watch
        self.backwards: list[Backward] = []
        self.names: dict[str, Any] = {
            "torch": torch,
            "judge": self.judge,
            "keep": lambda tensor: tensor,
            "save_on_cpu": torch.autograd.graph.save_on_cpu,
            "checkpoint": torch.utils.checkpoint.checkpoint,
        }
        self.seed, self.has_checkpoint = seed, False

    def keep_clones(self) -> None:
        """Keep a clone also where no hook on saved tensors is asked."""
        self.names |= {
            "keep": lambda tensor: tensor.detach().clone(),
            "save_on_cpu": nullcontext,
            "checkpoint": lambda function, *args, **_: function(*args),
        }

    def begin(self) -> None:
        """Make what all programs begin with."""
        exec(DEFINITIONS, self.names)
        exec(BEGINNING.format(seed=self.seed), self.names)

    def play(self, statements: list[str]) -> None:
        """Run all of a program."""
        self.begin()
        source = "\n".join(statements) + "\n"
        self.has_checkpoint = "checkpoint(" in source
        linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
        exec(compile(source, FILE, "exec"), self.names)

    def judge(self, loss: Any, run: Callable[[], None]) -> None:
        """Ask what a backward will do, run it, note what it did; called by the program."""
        verdicts = {}
        names = dict(self.find_named())
        for look in self.looks:
            verdicts[look] = explain(loss, run=look == "run", **names)
        count = len(self.watch.findings) if self.watch else 0
        error = ""
        leaves = self.list_leaves(loss)
        hides_formulas = self.has_checkpoint or any(map(is_opaque, list_nodes_behind(loss)))
        try:
            run()
        except (RuntimeError, ValueError, IndexError) as raised:
            error = f"{type(raised).__name__}: {str(raised).partition(chr(10))[0]}"
        gradients = [None if leaf.grad is None else leaf.grad.clone() for leaf in leaves]
        findings = self.watch.findings[count:] if self.watch else []
        self.backwards.append(Backward(error, gradients, verdicts, findings, hides_formulas))
        for leaf in leaves:
            leaf.grad = None

    def find_named(self) -> Iterator[tuple[str, Any]]:
        """Yield what a program has beside the results of operations."""
        for name, value in self.names.items():
            if isinstance(value, self.torch.nn.Module) or (
                isinstance(value, self.torch.Tensor) and value.is_leaf and not value._is_view()
            ):
                yield name, value

    def list_leaves(self, loss: Any) -> list[Any]:
        """Return the leaves whose gradients count: those with a name, and those behind a loss."""
        leaves = [self.names[name] for name in LEAVES if name in self.names]
        for value in self.names.values():
            if isinstance(value, self.torch.nn.Module):
                leaves += value.parameters()
        leaves += list_leaves_behind(loss)
        return [leaf for leaf in dict.fromkeys(leaves) if leaf.is_leaf]

    def matrices(self) -> list[str]:
        """Return the names of the tensors of four rows and columns."""
        return [
            name
            for name, value in self.names.items()
            if isinstance(value, self.torch.Tensor)
            and tuple(value.shape) == (4, 4)
            and value.dtype == self.torch.float32
        ]


def list_nodes_behind(loss: Any) -> list[Any]:
    """Return the nodes of a graph."""
    try:
        stack = [loss.grad_fn]
    except RuntimeError:  # a view whose history is not valid any more
        return []
    seen: dict[Any, None] = {}
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen[node] = None
            stack += [follower for follower, _ in node.next_functions]
    return list(seen)


def list_leaves_behind(loss: Any) -> list[Any]:
    """Return the leaves that a graph leads to: a module may have lost its name, and a leaf, too."""
    leaves = [getattr(node, "variable", None) for node in list_nodes_behind(loss)]
    return [leaf for leaf in leaves if leaf is not None]


def is_opaque(node: Any) -> bool:
    """Return True for a node that does not show what it computes with."""
    return hasattr(type(node), "_forward_cls") or "CopySlices" in node.name()


def write_program(torch: Any, seed: int) -> list[str]:
    """Return the statements of a random program, each of which has run."""
    chance = random.Random(seed)
    trial = ProgramRun(torch, seed)
    trial.begin()
    statements: list[str] = []

    def add(templates: list[str]) -> None:
        for _ in range(5):
            names = trial.matrices()
            # What was made last is taken most: graphs get deep, and what is written was saved.
            near = names[-4:] if chance.random() < 0.7 else names
            values = {
                "a": chance.choice(near),
                "o": chance.choice(names),
                "n": f"h{len(statements)}",
            }
            statement = chance.choice(templates).format(**values)
            try:
                exec(statement, trial.names)
            except Exception:  # noqa: BLE001 - what cannot be run is no statement of a program
                continue
            statements.append(statement)
            return

    for _ in range(chance.choice([1, 1, 1, 2])):
        for _ in range(chance.randint(1, 5)):
            add(LAYERS if chance.random() < 0.15 else FORWARD)
        for _ in range(chance.choice([0, 0, 1, 1, 2])):
            add(WRITES if chance.random() < 0.3 else UNCOUNTED)
            if chance.random() < 0.4:
                add(FORWARD)
        add(ENDS)
        for _ in range(chance.choice([0, 0, 0, 1])):
            add(WRITES if chance.random() < 0.3 else UNCOUNTED)
        if "loss" in trial.names:
            add(BACKWARDS)
    return statements


def run_program(torch: Any, seed: int, statements: list[str]) -> dict[str, list[Backward]]:
    """Return the backwards of a program, by the kind of run; empty if it does not run to its end."""
    runs: dict[str, list[Backward]] = {}
    for kind in ("bare", "alone", "watch", "clones"):
        looks = {"alone": ("alone",), "watch": ("inside", "run")}.get(kind, ())
        watch = copylab.watch(silent="record") if kind == "watch" else None
        run = ProgramRun(torch, seed, looks=looks, watch=watch)
        block: Any = watch or nullcontext()
        if kind == "clones":
            run.keep_clones()
            block = torch.autograd.graph.saved_tensors_hooks(
                lambda t: t.detach().clone(), lambda t: t
            )
        try:
            with block:
                run.play(statements)
        except Exception as error:  # noqa: BLE001
            # Left out of it was what had half an effect while it was written.
            return {} if kind == "bare" else runs | {kind: [Backward(f"does not run: {error}", [])]}
        finally:
            run.names.clear()
        runs[kind] = run.backwards
    return runs


def have_same_gradients(
    torch: Any, left: list[Any], right: list[Any], *, exactly: bool = False
) -> bool:
    """Return True if the gradients of two runs are the same, but for rounding."""
    if [each is None for each in left] != [each is None for each in right]:
        return False
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a is not None]
    if exactly:
        return all(
            a.shape == b.shape and torch.equal(a.nan_to_num(7), b.nan_to_num(7)) for a, b in pairs
        )
    return all(
        a.shape == b.shape and torch.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)
        for a, b in pairs
    )


def judge_program(torch: Any, seed: int, statements: list[str]) -> list[str]:
    """Return the judgements on what is said of each backward of a program."""
    runs = run_program(torch, seed, statements)
    if not runs:
        return ["program: does not run"]
    counts = {kind: len(backwards) for kind, backwards in runs.items()}
    if len(set(counts.values())) > 1 or len(runs) < 4:
        return [
            f"changed: {kind} {run[-1].error}"
            for kind, run in runs.items()
            if run and "does not" in run[-1].error
        ]
    judgements: list[str] = []
    for bare, alone, watched, cloned in zip(*runs.values(), strict=True):
        for name, run in (("explain", alone), ("watch", watched)):
            same = bare.error == run.error and (
                bare.error
                or have_same_gradients(torch, bare.gradients, run.gradients, exactly=True)
            )
            if not same:
                judgements.append(f"changed: {name}: {bare.error[:60]} / {run.error[:60]}")
        is_right = (
            not bare.error
            and not cloned.error
            and have_same_gradients(torch, bare.gradients, cloned.gradients)
        )
        is_known = bool(bare.error) or not cloned.error
        judgements.append(
            f"backward: {'raises' if bare.error else 'right' if is_right else 'wrong gradient'}"
        )
        for look, said in {**alone.verdicts, **watched.verdicts}.items():
            if is_known:
                judgements.append(judge_verdict(look, said, bare, is_right=is_right))
        if is_known:
            judgements += judge_findings(watched, bare, is_right=is_right)
    return judgements


def judge_verdict(look: str, said: Any, truth: Backward, *, is_right: bool) -> str:
    """Return how a verdict of `explain` is to be judged."""
    so = "raises" if truth.error else "runs" if is_right else "may be wrong"
    if said.verdict == "unknown":
        return f"explain {look}: unknown"
    if said.verdict == "runs, not compared" and not truth.error:
        return f"explain {look}: runs, not compared{'' if is_right else ', and is wrong'}"
    if said.verdict == so:
        return f"explain {look}: right"
    if said.verdict == "may be wrong" and is_right:
        # Alone it says "if they came after the save": of the order, counters say nothing.
        is_careful = look == "alone" or truth.hides_formulas
        return f"explain {look}: may be wrong" if is_careful else f"alarm: explain {look}"
    return f"wrong: explain {look} says {said.verdict!r}, it {so} {truth.error[:70]}"


def judge_findings(watched: Backward, truth: Backward, *, is_right: bool) -> list[str]:
    """Return how the findings of a watch are to be judged."""
    is_of_write = "inplace operation" in truth.error
    silent = [each for each in watched.findings if each.silent]
    certain = [
        each
        for each in silent
        if each.was_compared and not each.is_partly_read and each.kind != "attribute"
        if each.gradients or not truth.hides_formulas
    ]
    judgements = [
        f"wrong: watch names {each.written.code}"
        for each in watched.findings
        if each.written is not None and not _WRITES.search(each.written.code)
    ]
    if truth.error:
        if is_of_write and all(each.silent for each in watched.findings):
            judgements.append("missed: watch, an error")
        return [*judgements, "watch: an error"]
    if any(not each.silent for each in watched.findings):
        judgements.append("wrong: watch says that it raises")
    if is_right:
        judgements.append(
            "alarm: watch" if certain else "watch: may be wrong" if silent else "watch: nothing"
        )
    else:
        judgements.append("watch: found" if silent else "missed: watch, a wrong gradient")
    return judgements


def is_fault(judgement: str) -> bool:
    """Return True for a judgement that must not be."""
    return judgement.partition(":")[0] in FAULTS


def shorten(torch: Any, seed: int, statements: list[str], fault: str) -> list[str]:
    """Return the fewest statements of a program of which the same is to be said."""
    for at in reversed(range(len(statements))):
        fewer = statements[:at] + statements[at + 1 :]
        if fault in judge_program(torch, seed, fewer):
            statements = fewer
    return statements


def attack(torch: Any, programs: int, seed: int, most_shown: int = 20) -> Counter[str]:
    """Judge so many programs, print the shortest that show a fault; return how often each judgement came."""
    # `explain(run=True)` searches all objects of the process: not those of the libraries each time.
    gc.collect()
    gc.freeze()
    counts: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    for number in range(programs):
        own_seed = seed * 1_000_000 + number
        with warnings.catch_warnings(action="ignore"):
            statements = write_program(torch, own_seed)
            judgements = judge_program(torch, own_seed, statements)
            counts.update(judgements)
            for fault in filter(is_fault, dict.fromkeys(judgements)):
                shown[fault] += 1
                if shown[fault] <= 3 and len(shown) <= most_shown:
                    shortest = shorten(torch, own_seed, statements, fault)
                    print(f"-- {fault} (seed {own_seed})\n" + "\n".join(shortest), flush=True)
    gc.unfreeze()
    return counts


def main() -> int:
    """Run as a program."""
    import torch.utils.checkpoint

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    counts = attack(torch, asked.programs, asked.seed)
    for judgement, count in sorted(counts.items()):
        print(f"{count:7} {judgement}")
    return int(any(map(is_fault, counts)))


if __name__ == "__main__":
    sys.exit(main())
