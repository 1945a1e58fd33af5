"""Random programs run on tinytorch and on PyTorch side by side; after every statement all that both show is compared.

A program is a list of statements in Python's own syntax over names `x0`, `x1`, ..., so that a failure reads as a program
that can be pasted into either engine (after the definitions in `prelude.PRELUDE`). `choose` decides everything, so that
Hypothesis (which shrinks) and a plain random generator (which is fast) drive the same machine.

    python tests/engine/differential.py --statements 200000 --seed 1

Run from the repository's root, with PyTorch installed.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    ROOT = Path(__file__).resolve().parents[2]
    sys.path[:0] = map(str, (ROOT / "tests", ROOT / "tools"))

from engine.prelude import OWN_WORDS, PRELUDE
from engine.statements import Choose, Writer, safely, tensors
from releases import reword

MAX_ELEMENTS = 64
NODES = 24  # how many nodes of a program's graph are compared
# Nodes of second derivatives, see `statements`.
NOT_HERE = (
    "SgnBackward0",
    "MseLossBackwardBackward0",
    "CumprodBackward0",
    "IndexAddBackward0",
)
FINEST = {"torch.float64": 2e-6, "torch.float32": 2e-5, "torch.float16": 2e-3}

# what is compared -------------------------------------------------------------------------------------------------------


class Reader:
    """Reads all that can be seen of some tensors; nodes and storages get numbers in the order of first sight."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.pool = tensors(names)
        self.nodes: dict[int, int] = {}
        self.held: list[Any] = []  # the nodes, so that none is freed while the numbers count
        self.storages: dict[Any, int] = {}
        self.largest = 0.0  # of the numbers of floating tensors
        self.halves = False  # whether there were any in float16

    def values(self, t: Any) -> Values:
        """The numbers of a tensor, which remember the others: what those were computed with, they may have from them."""
        found = Values(t, self)
        if found.kind in FINEST:
            self.halves = self.halves or found.kind == "torch.float16"
            self.largest = max(
                [self.largest, *(abs(v) for v in _flat(found.numbers) if abs(v) < float("inf"))]
            )
        return found

    def node(self, fn: Any) -> int | str | None:
        """A node's number, and it will be looked at in its turn."""
        if fn is None or isinstance(fn, str):
            return fn
        if id(fn) not in self.nodes:
            self.nodes[id(fn)] = len(self.nodes)
            self.held.append(fn)
        return self.nodes[id(fn)]

    def name(self, t: Any) -> str | None:
        return None if t is None else next((m for m, o in self.pool.items() if o is t), "unnamed")

    def storage(self, t: Any) -> Any:
        s = t.untyped_storage()
        size = s.nbytes()
        return (self.storages.setdefault(s.data_ptr(), len(self.storages)) if size else None), size

    def offset(self, t: Any) -> int:
        """Return where a tensor begins; of one without elements tinytorch, which reads it off addresses, may know of no place."""
        return t.storage_offset() if t.numel() else 0

    def look(self, t: Any, deep: bool = True) -> dict[str, Any]:
        """What there is to see of one tensor."""
        is_leaf = safely(lambda: t.is_leaf)
        seen = {
            "shape": tuple(t.shape), "stride": t.stride(), "offset": self.offset(t), "dtype": str(t.dtype),
            "version": safely(lambda: t._version), "requires_grad": t.requires_grad, "is_leaf": is_leaf,
            "grad_fn": self.node(safely(lambda: t.grad_fn)), "output_nr": t.output_nr, "is_view": t._is_view(),
            "retains_grad": safely(lambda: t.retains_grad), "inference": t.is_inference(), "storage": self.storage(t),
            "base": self.name(t._base), "same": self.name(t), "type": type(t).__name__, "values": self.values(t),
        }  # fmt: skip
        if deep:
            grad = t.grad
            seen["grad"] = None if grad is None else self.look(grad, deep=False)
            if seen["base"] == "unnamed":
                seen["base"] = self.look(t._base, deep=False)
        return seen

    def graph(self) -> list[Any]:
        """The nodes found so far and those below, with what they saved."""
        out, at = [], 0
        while at < min(len(self.held), NODES):
            fn = self.held[at]
            at += 1
            below = [(self.node(f), nr) for f, nr in fn.next_functions]
            saved = {
                n: self.saved(safely(lambda fn=fn, n=n: getattr(fn, n))) for n in saved_names(fn)
            }
            out.append({"name": fn.name(), "next": below, **saved})
        return out

    def saved(self, value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return [self.saved(v) for v in value]
        if not hasattr(value, "untyped_storage"):
            return value
        known = dict(self.storages)
        seen = self.look(value, deep=False)
        if not value.dim():  # a number, of which torch saves one tensor and shows that
            del seen["storage"]
            self.storages = known
        return seen


class Values:
    """The numbers of a tensor."""

    def __init__(self, t: Any, reader: Reader) -> None:
        self.tensor, self.reader = t, reader
        self.kind = str(t.dtype)
        self.numbers = t.detach().tolist()

    def __repr__(self) -> str:
        return repr(self.numbers)


_SAVED: dict[type, list[str]] = {}


def saved_names(fn: Any) -> list[str]:
    """The attributes under which a node shows what it saved."""
    kind = type(fn)
    if kind not in _SAVED:
        _SAVED[kind] = sorted(
            n for n in dir(kind) if n.startswith("_saved_") or n == "saved_tensors"
        )
    return _SAVED[kind]


def describe(names: dict[str, Any]) -> dict[str, Any]:
    """All that a reader can see of the tensors under these names."""
    reader = Reader(names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        state: dict[str, Any] = {n: reader.look(t) for n, t in reader.pool.items()}
        state["g"] = reader.saved(names.get("g"))
        state["graph"] = reader.graph()
    state["log"] = names["log"][-20:]
    state["grad mode"] = names["torch"].is_grad_enabled()
    return state


def counters(engine: Any, names: dict[str, Any]) -> list[list[str]]:
    """Which names share a version counter, found by counting one up and putting it back."""
    pool = {n: t for n, t in tensors(names).items() if not t.is_inference()}
    groups = []
    for n, t in pool.items():
        if any(n in g for g in groups):
            continue
        before = {m: o._version for m, o in pool.items()}
        engine.autograd.graph.increment_version(t)
        groups.append([m for m, o in pool.items() if o._version != before[m]])
        engine._C._autograd._unsafe_set_version_counter((t,), (before[n],))
    return groups


def _flat(x: Any) -> list[Any]:
    return [v for item in x for v in _flat(item)] if isinstance(x, list) else [x]


def _agree(ours: Values, theirs: Values) -> bool:
    """Whether two tensors hold the same numbers but for the last bits of functions such as `exp`, and the sign of zeros.

    What is a last bit is told by the largest number around, of which these may be what a difference or `%` has left, and
    by whether anything was computed in float16.

    Which of two zeros `maximum` takes, and with which sign a product of matrices adds up to zero, depends in PyTorch on
    how its kernels go through the elements; and which sign a nan has, that only its bits show, on the library asked.
    Where those bits differ, tinytorch's tensor takes PyTorch's, so that differences do not add up.
    """
    if repr(ours.numbers) == repr(theirs.numbers):
        if ours.kind in FINEST and "nan" in repr(ours.numbers):
            _take(ours, theirs)
        return True
    if ours.kind not in FINEST:
        return False
    a, b = _flat(ours.numbers), _flat(theirs.numbers)
    if len(a) != len(b):
        return False
    fine = FINEST["torch.float16" if theirs.reader.halves else ours.kind]
    # What rounding leaves of the difference of equal numbers.
    least = 1e-9 if ours.kind == "torch.float64" else 1e-6
    size = theirs.reader.largest
    for x, y in zip(a, b, strict=True):
        if not (x == y or (x != x and y != y) or abs(x - y) <= fine * size + least):
            return False
    _take(ours, theirs)
    return True


def _take(ours: Values, theirs: Values) -> None:
    data = ours.tensor._data
    data.setflags(write=True)
    data[...] = theirs.tensor.detach().numpy()


def difference(ours: Any, theirs: Any, path: str = "") -> str | None:
    """Return the first difference between two descriptions, or None."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if ours.keys() != theirs.keys():
            return f"{path}: {sorted(ours.keys() ^ theirs.keys())} on one side only"
        for k in theirs:
            found = difference(ours[k], theirs[k], f"{path}.{k}" if path else k)
            if found:
                return found
        return None
    if (
        isinstance(ours, (list, tuple))
        and isinstance(theirs, (list, tuple))
        and len(ours) == len(theirs)
    ):
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            found = difference(a, b, f"{path}[{i}]")
            if found:
                return found
        return None
    if isinstance(ours, Values) and isinstance(theirs, Values):
        same = _agree(ours, theirs)
    elif isinstance(ours, float) and isinstance(theirs, float):
        same = (
            ours == theirs
            or ours != ours
            or abs(ours - theirs) <= 1e-5 * max(abs(ours), abs(theirs)) + 1e-6
        )
    else:
        same = ours == theirs and type(ours).__name__ == type(theirs).__name__
    return None if same else f"{path}: tinytorch {ours!r}, torch {theirs!r}"


class BrokenTorch(Exception):
    """PyTorch failed one of its own assertions: what it holds from here on means nothing."""


class Machine:
    """The two engines, each with its own names."""

    def __init__(self) -> None:
        import torch

        import tinytorch

        self.engines = (tinytorch, torch)
        self.names: tuple[dict[str, Any], ...] = tuple(
            {"torch": e, "__name__": "statements"} for e in self.engines
        )
        for names in self.names:
            names["torch"].manual_seed(7)
            names["torch"].set_grad_enabled(True)
            exec(_PRELUDE, names)

    def execute(self, statement: str, look: bool = True) -> str | None:
        """Run a statement on both; what differs afterwards, or None."""
        code = compile(statement, "<statement>", "exec")
        # A leaf gets another node, and the old one stays where it was.
        if ".data =" in statement or "set_(" in statement:
            self.compare()  # seen before
        outcomes = []
        for engine, names in zip(self.engines, self.names, strict=True):
            names.pop("g", None)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                # What torch says once a process does not depend on what ran before.
                engine.set_warn_always(True)
                try:
                    exec(code, names)
                    error = None
                except Exception as e:
                    error = _text(e) if engine is self.engines[1] else reword(_text(e))
                finally:
                    engine.set_warn_always(False)
            said = [_text(w.message) for w in caught if w.category is not ResourceWarning]
            outcomes.append({"error": error, "warnings": said})
        if outcomes[1]["error"] and "INTERNAL ASSERT FAILED" in outcomes[1]["error"]:
            raise BrokenTorch(outcomes[1]["error"])
        if outcomes[0]["error"] and OWN_WORDS.search(str(outcomes[1]["error"])):
            outcomes[0] = outcomes[1]
        found = difference(outcomes[0], outcomes[1])
        if found or not look:
            return found
        return self.compare()

    def compare(self) -> str | None:
        ours, theirs = (describe(n) for n in self.names)
        read = [
            s[n] for s in theirs.values() if isinstance(s, dict) for n in ("grad_fn", "is_leaf")
        ]
        broken = [said for said in read if "INTERNAL ASSERT" in str(said)]
        if broken:
            raise BrokenTorch(broken[0])
        if any(node["name"] in NOT_HERE for node in theirs["graph"]):
            raise BrokenTorch("a gradient without memory, or made of operations that are not here")
        if difference(ours, theirs):
            # `difference` takes over all last bits, which a second look sees in other dtypes, too.
            for n in tensors(self.names[1]):
                difference(ours.get(n), theirs[n])
            logged = len(self.names[0]["log"])
            found = difference(describe(self.names[0]) | {"log": ours["log"]}, theirs)
            del self.names[0]["log"][logged:]
            if found:
                return found
        a, b = (counters(e, n) for e, n in zip(self.engines, self.names, strict=True))
        return None if a == b else f"version counters: tinytorch {a}, torch {b}"

    def printed(self) -> str | None:
        """Whether all tensors print alike, and the next random number is the same."""
        for n, t in tensors(self.names[1]).items():
            ours, theirs = (safely(lambda t=t: repr(t)) for t in (self.names[0][n], t))
            if ours != theirs:
                return f"{n}.repr: tinytorch {ours}, torch {theirs}"
        a, b = (e.rand(1, dtype=e.float64).item() for e in self.engines)
        return None if a == b else f"random state: tinytorch {a}, torch {b}"


_PRELUDE = compile(PRELUDE, "<prelude>", "exec")


def _text(e: Any) -> str:
    """A warning or an error as it is read, without addresses, places in sources and tracebacks, which are each engine's own."""
    text = f"{type(e).__name__}: {e}".partition("Traceback of forward call")[0]
    # where a leaf's accumulator was made depends on who held the last one
    text = text.partition(" No forward pass information")[0] if "AccumulateGrad" in text else text
    # The name that torch has for it in errors of `expand`.
    text = text.replace("CPUBoolType", "torch.BoolTensor")
    return (
        re.sub(r"\s*\(Triggered internally at [^)]*\)|0x[0-9a-f]+", "", text)
        .replace("tinytorch", "torch")
        .strip()
    )


# running programs -------------------------------------------------------------------------------------------------------


def too_large(names: dict[str, Any]) -> list[str]:
    """Names whose tensors outgrew what a comparison can show in reasonable time, or hold huge numbers."""
    out = []
    for n, t in tensors(names).items():
        big = (
            t.numel() > MAX_ELEMENTS
            or t.untyped_storage().nbytes() > 8 * MAX_ELEMENTS
            or t.dim() > 4
        )
        wild = t.numel() and t.is_floating_point() and bool((t.detach().abs() > 1e4).any())
        if big or wild:
            out.append(n)
    return out


def program(
    choose: Choose, length: int, look: Callable[[], bool] = lambda: True
) -> tuple[list[str], str | None]:
    """Write and run one program; its statements, and the first disagreement."""
    machine = Machine()
    writer = Writer(choose, machine.names[1], machine.names[0])
    statements: list[str] = []
    try:
        for _ in range(length):
            for name in too_large(machine.names[1]):
                statements.append(f"del {name}")
                machine.execute(statements[-1], look=False)
            statements.append(writer.statement())
            found = machine.execute(statements[-1], look())
            if found:
                return statements, found
        return statements, machine.compare() or machine.printed()
    except BrokenTorch:
        return statements, None
    finally:
        machine.names[1]["torch"].set_grad_enabled(True)
        machine.names[0]["torch"].set_grad_enabled(True)


def replay(statements: list[str], every: bool = True) -> str | None:
    """Run a given program; its first disagreement."""
    machine = Machine()
    try:
        for s in statements:
            found = machine.execute(s, every)
            if found:
                return found
        return machine.compare() or machine.printed()
    except Exception:  # left-out statements can leave anything behind, a broken PyTorch included
        return None
    finally:
        for engine in machine.engines:
            engine.set_grad_enabled(True)


def _kind(found: str | None) -> str | None:
    return None if found is None else re.sub(r"\[\d+\]", "", found.split(":")[0]).split(".")[-1]


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
    faulthandler.enable()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--statements", type=int, default=20000)
    parser.add_argument("--length", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--stop", type=int, default=10, help="stop after so many different disagreements"
    )
    options = parser.parse_args()
    run, bad, seed, begin = 0, {}, options.seed, time.time()
    while run < options.statements and len(bad) < options.stop:
        seed += 1
        rng = random.Random(seed)
        every = rng.random() < 0.7
        try:
            statements, found = program(
                rng.choice, options.length, (lambda: True) if every else (lambda: False)
            )
        except Exception:
            print(f"seed {seed}: the machine itself failed")
            traceback.print_exc()
            return 2
        run += len(statements)
        if found:
            statements, found = shrink(statements, found, every)
            key = (_kind(found), re.sub(r"x\d+", "x", statements[-1])[:60])
            bad[key] = bad.get(key, 0) + 1
            if bad[key] == 1:
                print(
                    f"--- seed {seed} ({'state after every statement' if every else 'state at the end'})"
                )
                print("\n".join(statements))
                print("=>", found, flush=True)
    print(
        f"{run} statements in {seed - options.seed} programs, {sum(bad.values())} disagreements, {time.time() - begin:.0f} s"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
