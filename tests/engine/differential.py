"""Random programs run on tinytorch and on PyTorch side by side; after every statement all that both show is compared.

A program is a list of statements in Python's own syntax over names `x0`, `x1`, ..., so that a failure reads as a program
that can be pasted into either engine. `choose` decides everything, so that Hypothesis (which shrinks) and a plain random
generator (which is fast) drive the same machine.

    python tests/engine/differential.py --statements 200000 --seed 1

Run from the repository's root, with PyTorch installed.
"""

from __future__ import annotations

import argparse
import copy
import random
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

Choose = Callable[[list], Any]
MAX_ELEMENTS = 64
POOL = 7


def tensors(names: dict[str, Any]) -> dict[str, Any]:
    """The tensors among a program's names."""
    return {n: t for n, t in names.items() if n[0] == "x" and n[1:].isdigit() and t is not None}


# what a program may do --------------------------------------------------------------------------------------------------


class Writer:
    """Writes the next statement, looking at PyTorch's tensors to keep most statements valid."""

    def __init__(self, choose: Choose, names: dict[str, Any], mirror: dict[str, Any]) -> None:
        self.choose = choose
        self.names = names
        self.mirror = mirror  # tinytorch's: what looking changes in one engine is changed in the other, too
        self.count = 0

    def pool(self) -> list[str]:
        return list(tensors(self.names))

    def tensor(self, wanted: Callable[[Any], bool] = lambda t: True) -> str | None:
        found = [n for n in self.pool() if wanted(self.names[n])]
        return self.choose(found) if found else None

    def float(self) -> str | None:
        return self.tensor(lambda t: t.is_floating_point())

    def fresh(self) -> str:
        pool = self.pool()
        if len(pool) >= POOL:
            return self.choose(pool)
        self.count += 1
        return f"x{self.count - 1}"

    def number(self) -> str:
        return self.choose(["2", "0.5", "-1.0", "3.0", "1"])

    def compatible(self, name: str) -> str | None:
        """A tensor that broadcasts into `name`'s shape."""
        shape = tuple(self.names[name].shape)

        def fits(t: Any) -> bool:
            s = tuple(t.shape)
            return len(s) <= len(shape) and all(a in (1, b) for a, b in zip(reversed(s), reversed(shape), strict=False))

        return self.tensor(fits)

    @staticmethod
    def overlap_undefined(a: Any, b: Any) -> bool:
        """Whether `b` lies partly in `a`'s memory in a way that torch neither refuses nor defines."""
        same = (a.storage_offset(), a.stride(), a.shape) == (b.storage_offset(), b.stride(), b.shape)
        return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr() and not same

    def statement(self) -> str:
        pool = self.pool()
        if len(pool) < 2:
            return self.create()
        kinds = [self.create, self.copy, self.copy, self.view, self.view, self.view, self.pointwise, self.pointwise,
                 self.reduce, self.in_place, self.in_place, self.in_place, self.in_place, self.assign, self.assign,
                 self.geometry, self.flags, self.backward, self.backward, self.grads, self.hook, self.delete]  # fmt: skip
        for _ in range(20):
            made = self.choose(kinds)()
            if made is not None:
                return made
        return self.create()

    def create(self) -> str:
        grad = self.choose(["", ", requires_grad=True", ", requires_grad=True"])
        value = self.choose(
            [
                f"torch.tensor([1.0, 2.0, 3.0]{grad})",
                f"torch.tensor([[1.0, -2.0, 3.0], [0.5, 1.5, -1.0]]{grad})",
                f"torch.ones(2, 3{grad})",
                f"torch.full((3,), 0.5{grad})",
                f"torch.zeros(2, 1{grad})",
                f"torch.tensor(1.5{grad})",
                "torch.arange(6.0).view(2, 3)",
                "torch.arange(6.0).view(3, 2).t()",
                "torch.arange(8.0)[::2]",
                "torch.arange(3)",
                "torch.ones(2, 3, dtype=torch.float64)",
                f"torch.ones(0, 3{grad})",
            ]
        )
        return f"{self.fresh()} = {value}"

    def copy(self) -> str | None:
        a = self.tensor()
        call = self.choose(
            ["{a}.clone()", "{a}.clone()", "{a}.detach()", "{a}.detach()", "{a}.data", "{a}.detach().clone()",
             "{a}.clone().detach()", "{a}.contiguous()", "{a}.double()", "{a}.float()", "{a}.long()",
             "torch.empty_like({a}).copy_({a})", "torch.tensor({a})", "{a}.new_tensor({a})", "torch.zeros_like({a})",
             "copy.copy({a})", "{a}.to(torch.float64)", "{a}.clone(memory_format=torch.contiguous_format)", "{a}",
             "copy.deepcopy({a})", "torch.as_tensor({a})", "torch.from_numpy({a}.detach().numpy())",
             "{a}.view_as({a})", "torch.nn.Parameter({a}.float())"]
        )  # fmt: skip
        return f"{self.fresh()} = {call.format(a=a)}"

    def view(self) -> str | None:
        a = self.tensor(lambda t: t.dim() > 0)
        if a is None:
            return None
        t = self.names[a]
        d = self.choose(list(range(t.dim())))
        options = [f"{a}.view(-1)", f"{a}.reshape(-1)", f"{a}.unsqueeze({d})", f"{a}.squeeze()", f"{a}.t()",
                   f"{a}.transpose(0, {d})", f"{a}[...]", f"{a}[None]", f"{a}.expand(2, *{a}.shape)", f"{a}.flatten()",
                   f"{a}.view({a}.shape)", f"{a}.squeeze({d})", f"{a}.permute(*range({a}.dim() - 1, -1, -1))",
                   f"{a}.diagonal() if {a}.dim() > 1 else {a}[:]", f"{a}.T"]  # fmt: skip
        n = t.shape[d]
        if n:
            i = self.choose(list(range(n)))
            options += [f"{a}.select({d}, {i})", f"{a}.narrow({d}, {i}, {n - i})", f"{a}[{min(i, t.shape[0] - 1)}]" if t.shape[0] else f"{a}[:]",
                        f"{a}[:, {i}:]" if d == 1 else f"{a}[{i}:]", f"{a}[::2]", f"{a}.split(1, {d})[{i}]",
                        f"{a}.unbind({d})[{i}]", f"{a}.chunk(2, {d})[0]", f"{a}[1:]", f"{a}[:1]",
                        f"{a}.as_strided((2,), (1,), {a}.storage_offset())"]  # fmt: skip
        made = f"{self.fresh()} = {self.choose(options)}"
        return self.mode(made)

    def mode(self, statement: str) -> str:
        """Mostly the statement itself, sometimes under no_grad."""
        if self.choose([0, 0, 0, 0, 0, 1]):
            return f"with torch.no_grad(): {statement}"
        return statement

    def pointwise(self) -> str | None:
        a = self.tensor()
        b = self.compatible(a) if a else None
        calls = ["{a} + {b}", "{a} * {b}", "{a} - {b}", "{a} / {b}", "{a} * {n}", "{a} + {n}", "{n} - {a}", "{a} / {n}",
                 "{n} / {a}", "-{a}", "{a} ** 2", "{a}.exp()", "{a}.sin()", "{a}.sigmoid()", "{a}.tanh()", "{a}.abs()",
                 "{a}.relu()", "{a}.clamp(-1, 1)", "torch.maximum({a}, {b})", "torch.where({a} > 0, {a}, {b})",
                 "{a} > {b}", "{a}.sqrt()", "torch.stack([{a}, {a}])", "torch.cat([{a}, {a}])", "{a}[[0]]",
                 "{a}[{a} > 0]", "{a}.masked_fill({a} > 0, 0.0)", "{a}.cumsum(0)", "{a}.flip(0)", "{a}.repeat(2, 1)"]  # fmt: skip
        made = f"{self.fresh()} = {self.choose(calls).format(a=a, b=b, n=self.number())}"
        return self.mode(made)

    def reduce(self) -> str | None:
        a = self.tensor()
        call = self.choose(["sum()", "mean()", "sum(0)", "sum(-1, keepdim=True)", "max()", "mean(0)", "prod()", "amax(0)",
                            "norm()"])  # fmt: skip
        return f"{self.fresh()} = {a}.{call}"

    def in_place(self) -> str | None:
        a = self.tensor()
        b = self.compatible(a) if a else None
        if a is not None and b is not None and self.overlap_undefined(self.names[a], self.names[b]):
            return None
        call = self.choose(
            ["add_({n})", "add_({b})", "mul_({n})", "mul_({b})", "sub_({b})", "div_({n})", "zero_()", "fill_({n})",
             "copy_({b})", "copy_({b})", "exp_()", "sin_()", "sigmoid_()", "neg_()", "relu_()", "clamp_(-1, 1)",
             "pow_(2)", "masked_fill_({a} > 0, 0.5)", "add_({b}, alpha=2)", "tanh_()", "index_fill_(0, torch.tensor([0]), 1.0)"]
        ).format(a=a, b=b, n=self.number())  # fmt: skip
        through = self.choose(["", "", "", "", ".data", ".detach()"])
        return self.mode(f"{a}{through}.{call}")

    def assign(self) -> str | None:
        a = self.tensor(lambda t: t.dim() > 0)
        if a is None:
            return None
        where = self.choose(["0", ":", "1:", "...", ":1", f"{a} > 0", "[0]", "-1"])
        value = self.choose([self.number(), self.tensor()])
        if value in self.names:
            target, source = self.names[a], self.names[value]
            recorded_on_integers = (
                source.requires_grad and not target.is_floating_point()
            )  # torch's own assertion fails
            if recorded_on_integers or self.overlap_undefined(target, source):
                return None
        sign = self.choose(["=", "=", "=", "+=", "*="])
        return self.mode(f"{a}[{where}] {sign} {value}")

    def geometry(self) -> str | None:
        a = self.tensor(lambda t: t.untyped_storage().resizable())  # or torch changes the shape and then raises
        if a is None:
            return None
        b = self.float()
        if a is not None and b is not None and self.overlap_undefined(self.names[a], self.names[b]):
            return None
        return self.choose(
            [f"{a}.t_()", f"{a}.unsqueeze_(0)", f"{a}.squeeze_()", f"{a}.resize_(2, 2).zero_()", f"{a}.data = {b}", f"{a}.set_({b})",
             f"{a}.transpose_(0, -1)", f"{a}.resize_as_({b}).zero_()", f"{a} += 1", f"{a} *= {b}", f"{a}.detach_()"]
        )  # fmt: skip

    def flags(self) -> str | None:
        a = self.float()
        if a is None:
            return None
        return self.choose([f"{a}.requires_grad_()", f"{a}.requires_grad_(False)", f"{a}.retain_grad()",
                            f"{a}.requires_grad = True"])  # fmt: skip

    def backward(self) -> str | None:
        a = self.tensor(lambda t: t.requires_grad)
        b = self.tensor(lambda t: t.requires_grad)
        if a is None or b is None:
            return None
        return self.choose(
            [f"{a}.sum().backward()", f"{a}.sum().backward(retain_graph=True)", f"({a} * {a}).sum().backward()",
             f"{a}.backward(torch.ones_like({a}))", f"{a}.backward()",
             f"g = torch.autograd.grad({a}.sum(), {b}, allow_unused=True, retain_graph=True)",
             f"{self.fresh()} = torch.autograd.grad(({a} * {a}).sum(), {b}, create_graph=True)[0]",
             f"({a} + {b}).sum().backward()"]
        )  # fmt: skip

    def grads(self) -> str | None:
        for t in tensors(self.mirror).values():
            _safely(lambda t=t: t.is_leaf)  # reading it renews the history of a view
        a = self.tensor(lambda t: _safely(lambda: t.is_leaf) is True and t.grad is not None)
        if a is None:
            return None
        return self.choose([f"{a}.grad = None", f"{a}.grad.zero_()", f"{self.fresh()} = {a}.grad", f"{a}.grad *= 2"])

    def hook(self) -> str | None:
        a = self.tensor(lambda t: t.requires_grad)
        if a is None:
            return None
        # PyTorch 2.13 crashes if the history of a view that was written to is first read by register_hook
        return f"{a}.grad_fn; {a}.register_hook(lambda g: {self.choose(['g * 2', 'log.append(round(float(g.sum()), 3))'])})"

    def delete(self) -> str | None:
        pool = self.pool()
        return f"del {self.choose(pool)}" if len(pool) > 3 else None


# what is compared -------------------------------------------------------------------------------------------------------


def _safely(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _values(t: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return t.detach().tolist()


def _chain(fn: Any, limit: int = 12) -> Any:
    """The graph below a node, by names, in the order of `next_functions`."""
    names, seen, queue = [], {}, [fn]
    while queue and len(seen) < limit:
        node = queue.pop(0)
        if node is None:
            names.append(None)
        elif id(node) in seen:
            names.append(seen[id(node)])
        else:
            seen[id(node)] = len(seen)
            names.append(node.name())
            queue += [n for n, _ in node.next_functions]
    return names


def describe(names: dict[str, Any]) -> dict[str, Any]:
    """All that a reader can see of the tensors under these names."""
    pool = tensors(names)
    storages: dict[Any, str] = {}
    state: dict[str, Any] = {"log": list(names.get("log", []))}
    for n, t in pool.items():
        fn = _safely(lambda t=t: t.grad_fn)
        is_leaf = _safely(lambda t=t: t.is_leaf)
        state[n] = {
            "shape": tuple(t.shape), "stride": t.stride(), "offset": t.storage_offset(), "dtype": str(t.dtype),
            "version": t._version, "requires_grad": t.requires_grad, "is_leaf": is_leaf,
            "grad_fn": fn if fn is None or isinstance(fn, str) else _chain(fn), "output_nr": t.output_nr,
            "is_view": t._is_view(), "retains_grad": _safely(lambda t=t: t.retains_grad),
            "storage": storages.setdefault(t.untyped_storage().data_ptr() if t.untyped_storage().nbytes() else n, n), "bytes": t.untyped_storage().nbytes(),
            "base": None if t._base is None else next((m for m, o in pool.items() if o is t._base), "unnamed"),
            "same": next(m for m, o in pool.items() if o is t), "type": type(t).__name__, "values": _values(t),
        }  # fmt: skip
        if is_leaf is True or state[n]["retains_grad"] is True:
            g = t.grad
            state[n]["grad"] = (
                None if g is None else (_values(g), g.stride(), g._version, g.requires_grad, str(g.dtype))
            )
    return state


def counters(engine: Any, names: dict[str, Any]) -> list[list[str]]:
    """Which names share a version counter, found by counting one up and putting it back."""
    pool = tensors(names)
    groups = []
    for n, t in pool.items():
        if any(n in g for g in groups):
            continue
        before = {m: o._version for m, o in pool.items()}
        engine.autograd.graph.increment_version(t)
        groups.append([m for m, o in pool.items() if o._version != before[m]])
        engine._C._autograd._unsafe_set_version_counter((t,), (before[n],))
    return groups


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(_close(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or abs(a - b) <= 2e-4 * max(abs(a), abs(b)) + 2e-5
    return type(a) is type(b) and a == b


def difference(ours: Any, theirs: Any, path: str = "") -> str | None:
    """Where two descriptions part, or None."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if ours.keys() != theirs.keys():
            return f"{path}: {sorted(ours.keys() ^ theirs.keys())} on one side only"
        for k in theirs:
            found = difference(ours[k], theirs[k], f"{path}.{k}" if path else k)
            if found:
                return found
        return None
    return None if _close(ours, theirs) else f"{path}: tinytorch {ours!r}, torch {theirs!r}"


class BrokenTorch(Exception):
    """PyTorch failed one of its own assertions: what it holds from here on means nothing."""


class Machine:
    """The two engines, each with its own names."""

    def __init__(self) -> None:
        import torch

        import tinytorch

        self.engines = (tinytorch, torch)
        self.names: tuple[dict[str, Any], dict[str, Any]] = tuple(
            {"torch": e, "copy": copy, "log": []} for e in self.engines
        )  # type: ignore[assignment]

    def execute(self, statement: str, look: bool = True) -> str | None:
        """Run a statement on both; what differs afterwards, or None."""
        code = compile(statement, "<statement>", "exec")
        outcomes = []
        for names in self.names:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    exec(code, names)
                    error = None
                except Exception as e:
                    error = f"{type(e).__name__}: {e}"
            # what torch says once a process depends on what ran before; the transcripts compare warnings exactly
            said = [f"{w.category.__name__}: {w.message}" for w in caught]
            said = [re.sub(r"0x[0-9a-f]+", "0x", s) for s in said]
            outcomes.append({"error": error, "warnings": [s for s in said if "Triggered internally" not in s]})
        if outcomes[1]["error"] and "INTERNAL ASSERT FAILED" in outcomes[1]["error"]:
            raise BrokenTorch(outcomes[1]["error"])
        found = difference(outcomes[0], outcomes[1])
        if found or not look:
            return found
        return self.compare()

    def compare(self) -> str | None:
        ours, theirs = (describe(n) for n in self.names)
        read = [s["grad_fn"] for s in theirs.values() if isinstance(s, dict)]
        broken = [fn for fn in read if "INTERNAL ASSERT" in str(fn)]
        if broken:
            raise BrokenTorch(broken[0])
        found = difference(ours, theirs)
        if found:
            return found
        a, b = (counters(e, n) for e, n in zip(self.engines, self.names, strict=True))
        return None if a == b else f"version counters: tinytorch {a}, torch {b}"


def too_large(names: dict[str, Any]) -> list[str]:
    """Names whose tensors outgrew what a comparison can show in reasonable time, or hold huge numbers."""
    out = []
    for n, t in tensors(names).items():
        big = t.numel() > MAX_ELEMENTS or t.untyped_storage().nbytes() > 8 * MAX_ELEMENTS or t.dim() > 4
        wild = t.numel() and t.is_floating_point() and bool((t.detach().abs() > 1e4).any())
        if big or wild:
            out.append(n)
    return out


def program(choose: Choose, length: int, look: Callable[[], bool] = lambda: True) -> tuple[list[str], str | None]:
    """Write and run one program; its statements, and the first disagreement."""
    machine = Machine()
    writer = Writer(choose, machine.names[1], machine.names[0])
    statements: list[str] = []
    for _ in range(length):
        for name in too_large(machine.names[1]):
            statements.append(f"del {name}")
            machine.execute(statements[-1], look=False)
        statements.append(writer.statement())
        try:
            found = machine.execute(statements[-1], look())
        except BrokenTorch:
            return statements, None
        if found:
            return statements, found
    try:
        return statements, machine.compare()
    except BrokenTorch:
        return statements, None


def replay(statements: list[str], every: bool = True) -> str | None:
    """Run a given program; its first disagreement."""
    machine = Machine()
    for s in statements:
        try:
            found = machine.execute(s, every)
        except Exception:  # left-out statements can leave anything behind, a broken PyTorch included
            return None
        if found:
            return found
    return machine.compare()


def _kind(found: str | None) -> str | None:
    return None if found is None else found.split(":")[0].split(".")[-1]


def shrink(statements: list[str], found: str, every: bool) -> tuple[list[str], str]:
    """Leave out statements as long as a disagreement of the same kind remains."""
    size = max(len(statements) // 2, 1)
    while True:
        i = 0
        while i < len(statements):
            shorter = statements[:i] + statements[i + size :]
            again = replay(shorter, every)
            if _kind(again) == _kind(found):
                statements, found = shorter, again or found
            else:
                i += size
        if size == 1:
            return statements, found
        size = max(size // 2, 1)


def main() -> int:
    """The long run: many programs, every disagreement shrunk and printed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statements", type=int, default=20000)
    parser.add_argument("--length", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stop", type=int, default=10, help="stop after so many different disagreements")
    options = parser.parse_args()
    run, bad, seed, begin = 0, {}, options.seed, time.time()
    while run < options.statements and len(bad) < options.stop:
        seed += 1
        rng = random.Random(seed)
        every = rng.random() < 0.7
        try:
            statements, found = program(rng.choice, options.length, (lambda: True) if every else (lambda: False))
        except Exception:
            print(f"seed {seed}: the machine itself failed")
            traceback.print_exc()
            return 2
        run += len(statements)
        if found:
            statements, found = shrink(statements, found, every)
            key = (_kind(found), statements[-1].split("(")[0].split(".")[-1])
            bad[key] = bad.get(key, 0) + 1
            if bad[key] == 1:
                print(f"--- seed {seed} ({'state after every statement' if every else 'state at the end'})")
                print("\n".join(statements))
                print("=>", found, flush=True)
    print(
        f"{run} statements in {seed - options.seed} programs, {sum(bad.values())} disagreements, {time.time() - begin:.0f} s"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
