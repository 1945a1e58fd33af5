"""Statements of the random programs in `differential`: what a program may do, as templates.

The templates are in `statements.txt`. In a template `{a}` is a tensor of the pool, and the other letters are told in `Writer.hole`. A template that finds no
tensor to fill it gives way to another.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from releases import differs_at_bounds

Choose = Callable[[list], Any]
POOL = 7

# Statements that are kept out, because torch shows there how its kernels happen to work inside, and not a rule:
# - what is computed outside inference mode from inference tensors: its `_version` counts the steps of the kernel;
# - the storage of `mse_loss` with a mean or sum, which has room for all the differences and holds rests of them;
# - what is left of a vector after `max(0)`: its one index reads sizes that are no longer there;
# - `sgn`, whose gradient in torch is a tensor without memory, which cannot be written to; programs that differentiate
#   `abs` twice and so come to it end there (`differential.Machine.execute`);
# - second derivatives of `mse_loss`, of overlapping windows, and of products with zeros: tinytorch has other nodes for them; programs end there;
# - bool matrices, and vectors times matrices with `out=`: the order in which shapes and dtypes are looked at;
# - `x[-1]` of a tensor without dimensions: torch reads the size that its first dimension had before, if it had one;
# - whole numbers as exponents in place: torch differentiates by bool ones as long as nobody asks for the gradient;
# - comparisons in place, whose nodes, run by hand, give zeros that count as written to;
# - `clamp_` of whole numbers: whether overlaps or dtypes are looked at first;
# - a write to an expanded tensor without elements: whether overlaps or shapes are looked at first;
# - `linear` of several matrices that are spread over memory: torch multiplies them one by one;
# - two dtypes of one memory in a file, which torch refuses; here a file is one of pickle's;
# - steps of optimizers with a gradient that was turned since: torch's error is that of its kernel;
# - `sum` with an expanded `out=`, which it takes: in which order its one cell is written to;
# - a leaf that requires grad and is transposed in place under `no_grad`: its node goes on expecting the shape it had;
# - a tensor with gaps, or without elements, that is assigned to indices of itself: torch knows it as the same object;
# - `set_` of a leaf that requires grad: graphs from before show a node of their own for it, if they were looked at;
# - `//` of a view that requires grad by its base alone: torch notes an edge that leads nowhere;
# - one memory under two storages, as `from_numpy(x.numpy())` makes it: torch asks whether storages overlap, not bytes;
# - `index_put_(accumulate=True)` of a tensor with itself: what is added has been added to by then;
# - `set_` with a storage of a vector with gaps: torch keeps its strides if its size fits, and reads beyond the end;
# - `clamp`, where the installed release has another gradient at its bounds than 2.13.


NUMBERS = ["2", "0.5", "-1.0", "3.0", "1", "True", "-2"]
DTYPES = ["float64", "float64", "float32", "float16", "int64", "int32", "uint8", "int8", "bool"]

WHERE = ["0", ":", "1:", "...", ":1", "{a} > 0", "[0]", "-1", "None", "[0, -1]", "..., 0", ":, [0]",
         "torch.tensor([0])", "{a}.bool()", "0, ...", "True", "::2"]  # fmt: skip
THROUGH = ["", "", "", "", "", ".data", ".detach()", "[:1]", "[0]", "[..., 0]"]

# How often a kind of statement is chosen, and what a template of its table becomes.
KINDS = {
    "create": (2, "{x} = {}"), "copy": (4, "{}"), "view": (6, "{}"), "pointwise": (4, "{x} = {}"),
    "arrange": (2, "{x} = {}"), "reduce": (2, "{x} = {a}.{}"), "change": (8, "{a}{T}.{}"), "out": (1, "{}"),
    "geometry": (2, "{}"), "flags": (2, "{}"), "backward": (4, "{}"), "grads": (2, "{}"), "hook": (2, "{}"),
    "function": (2, "{}"), "block": (2, "{}"), "assign": (4, "{}"), "delete": (2, "{}"),
}  # fmt: skip
WRITES = ("change", "out", "geometry", "assign")
FOR_INFERENCE = ("view", "change", "flags", "backward", "delete")


def _tables() -> dict[str, list[str]]:
    text = Path(__file__).with_suffix(".txt").read_text("utf-8")
    tables = dict(re.findall(r"^\[(\w+)\]\n((?:.+\n)+)", text, re.MULTILINE))
    templates = {}
    for kind, table in tables.items():
        lines = [line for line in table.splitlines() if not differs_at_bounds(line)]
        templates[kind] = [KINDS[kind][1].replace("{}", line) for line in lines]
    return templates


TABLES = _tables()


def tensors(names: dict[str, Any]) -> dict[str, Any]:
    """The tensors among a program's names."""
    return {
        n: t
        for n, t in names.items()
        if n[0] == "x" and n[1:].isdigit() and hasattr(t, "untyped_storage")
    }


class Unfilled(Exception):
    """No tensor of the pool fits a hole."""


def meets(a: Any, b: Any) -> bool:
    """Whether `b` lies partly in `a`'s memory: what a write leaves then is not defined, and torch does not always refuse."""
    same = a.untyped_storage()._cdata == b.untyped_storage()._cdata
    same = same and (a.storage_offset(), a.stride(), a.shape, a.dtype) == (
        b.storage_offset(),
        b.stride(),
        b.shape,
        b.dtype,
    )
    return not same and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def folded(t: Any) -> bool:
    """Whether elements of a tensor overlap in a way that torch does not find, so that a write's outcome is not defined."""
    reach = 0
    for stride, n in sorted(zip(t.stride(), t.shape, strict=True)):
        if n > 1:
            if stride <= reach:
                return stride != 0
            reach += stride * (n - 1)
    return False


class Writer:
    """Writes the next statement, looking at PyTorch's tensors to keep most statements valid."""

    def __init__(self, choose: Choose, names: dict[str, Any], mirror: dict[str, Any]) -> None:
        self.choose = choose
        self.names = names
        self.mirror = (
            mirror  # tinytorch's: what looking changes in one engine is changed in the other, too
        )
        self.count = 0
        self.inference = False  # whether inference tensors may fill the holes
        self.kinds = [kind for kind, (often, _) in KINDS.items() for _ in range(often)]

    def tensor(self, wanted: Callable[[Any], bool] = lambda t: True) -> str:
        found = [
            n
            for n, t in tensors(self.names).items()
            if wanted(t) and (self.inference or not t.is_inference())
        ]
        if not found:
            raise Unfilled
        return self.choose(found)

    def fresh(self, taken: Any) -> str:
        """A name for a result: a new one while there is room in the pool."""
        pool = [n for n in tensors(self.names) if n not in taken]
        if len(pool) >= POOL:
            return self.choose(pool)
        self.count += 1
        return f"x{self.count - 1}"

    def statement(self) -> str:
        """The next statement."""
        while True:
            pool = len(tensors(self.names))
            kind = self.choose(self.kinds) if pool > 1 else "create"
            if kind == "delete" and pool < 4:
                continue
            try:
                return self.mode(self.filled(self.choose(TABLES[kind]), kind))
            except Unfilled:
                continue

    def mode(self, statement: str) -> str:
        """Mostly the statement itself, sometimes under no_grad."""
        turns = re.search(r"\.(t|transpose|swapaxes|squeeze|unsqueeze|as_strided)_\(", statement)
        if (
            re.match(r"x\d+( =|, x\d+ =|\.|\[)", statement)
            and not turns
            and self.choose([0] * 7 + [1])
        ):
            return f"with torch.no_grad(): {statement}"
        return statement

    def filled(self, template: str, kind: str) -> str:
        """A template with its holes filled, the same letter by the same name."""
        found: dict[str, str] = {}
        self.inference = kind in FOR_INFERENCE or "inference_mode" in template
        while hole := re.search(r"\{(\w)\}", template):
            letter = hole[1]
            if letter not in found or letter == "n":
                found[letter] = self.hole(letter, found)
            template = template[: hole.start()] + found[letter] + template[hole.end() :]
        self.check(template, found, kind)
        return template

    def hole(self, letter: str, found: dict[str, str]) -> str:
        """What fills a hole of a template."""
        texts = {
            "G": ["", ", requires_grad=True", ", requires_grad=True"], "I": ["int32", "uint8", "int8", "int16"],
            "D": DTYPES, "n": NUMBERS, "T": THROUGH, "W": WHERE, "S": ["=", "=", "=", "+=", "*="],
            "V": ["{n}", "{z}", "{z}"],
        }  # fmt: skip
        if letter in texts:
            return self.choose(texts[letter])
        if letter in "xy":  # a name for a result
            return self.fresh(found.values())
        if letter == "p":  # of a storage that none of the others has
            held = [
                self.names[n].untyped_storage().data_ptr()
                for n in found.values()
                if n in self.names
            ]
            return self.tensor(lambda t: t.untyped_storage().data_ptr() not in held)
        alone: dict[str, Callable[[Any], bool]] = {
            "a": lambda t: True, "e": lambda t: True, "z": lambda t: True, "h": lambda t: t.numel() > 0,
            "m": lambda t: t.dim() == 2, "f": lambda t: t.is_floating_point(), "r": lambda t: t.requires_grad,
            "s": lambda t: t.requires_grad, "l": lambda t: t.requires_grad and self.leaf(t) is True,
            "w": lambda t: self.leaf(t) is True and t.grad is not None,
            # of whole numbers, whose bits are the same in both engines
            "k": lambda t: not t.is_floating_point() or bool((t.detach() == t.detach().round()).all()),
        }  # fmt: skip
        if letter in alone:
            return self.tensor(alone[letter])
        return self.beside(letter, found)

    def beside(self, letter: str, found: dict[str, str]) -> str:
        """What fits the first tensor of a template: another tensor, a dimension, an index."""
        if not found.keys() & set("arfwlh"):
            found["a"] = self.tensor()
        near = self.names[next(found[k] for k in "arfwlh" if k in found)]
        shape = tuple(near.shape)
        if letter == "b":  # what broadcasts into its shape
            return self.tensor(lambda t: fits(tuple(t.shape), shape))
        if letter in "coq":  # of its shape, and perhaps of its dtype
            return self.tensor(
                lambda t: tuple(t.shape) == shape and (letter != "q" or t.dtype is near.dtype)
            )
        if letter == "d":
            return self.choose([str(d) for d in range(-len(shape), len(shape))] or stop())
        size = (
            shape[int(found["d"])] if letter == "i" and "d" in found else shape[0] if shape else 0
        )
        return self.choose([str(i) for i in range(-size if letter == "j" else 0, size)] or stop())

    def leaf(self, t: Any) -> Any:
        for ours in tensors(self.mirror).values():
            safely(lambda t=ours: t.is_leaf)  # reading it renews the history of a view
        for theirs in tensors(self.names).values():
            safely(lambda t=theirs: t.is_leaf)
        return safely(lambda: t.is_leaf)

    def check(self, statement: str, found: dict[str, str], kind: str) -> None:
        """Keep out what torch leaves undefined: Unfilled."""
        operands = [self.names[v] for v in found.values() if v in self.names]
        if "//" in statement and any(
            t.requires_grad and safely(lambda t=t: t.grad_fn) is None and t._base is not None
            for t in operands
        ):
            raise Unfilled
        if (
            "saved(" in statement
            and "c" in found
            and self.names[found["a"]].dtype is not self.names[found["c"]].dtype
        ):
            raise Unfilled
        if ".T @" in statement and self.names[found["a"]].dim() > 2:
            raise Unfilled
        if "linear(" in statement and self.names[found["a"]].dim() > 2:
            raise Unfilled
        if seen := re.search(r"= (x\d+)\.view\(torch\.(float\d+)\)$", statement):
            bits = self.names[seen[1]].detach()
            if (
                safely(lambda: bool(bits.view(getattr(self.names["torch"], seen[2])).isnan().any()))
                is True
            ):
                raise Unfilled  # which bits of a nan a kernel keeps
        target = self.names.get(
            next((found[k] for k in "opqaflh" if k in found and (k != "q" or kind == "out")), "")
        )
        if not hasattr(target, "untyped_storage") or not (
            kind in WRITES or ".copy_(" in statement or "optim" in statement
        ):
            return
        others = [
            self.names[v]
            for k, v in found.items()
            if v in self.names and k not in "xy" and self.names[v] is not target
        ]
        if kind in ("out", "geometry") and not target.untyped_storage().resizable():
            raise Unfilled  # torch changes the shape first and raises then
        if statement.startswith(f"{found.get('a')}[-1]") and not target.dim():
            raise Unfilled
        # A mask that is made of the target itself.
        itself = ".bool()] " in statement and target.dtype is self.names["torch"].bool
        itself = itself or target is self.names.get(found.get("z", ""))
        if itself and not (target.numel() and target.is_contiguous()):
            raise Unfilled
        if (
            ".pow_(" in statement
            and others
            and not others[-1].is_floating_point()
            and target.requires_grad
        ):
            raise Unfilled
        if "set_(" in statement and target.requires_grad and self.leaf(target) is True:
            raise Unfilled
        if "optim" in statement and target.grad is not None and target.grad.shape != target.shape:
            raise Unfilled
        if (
            "set_(" in statement
            and ".untyped_storage())" in statement
            and not target.is_contiguous()
        ):
            raise Unfilled
        if "accumulate=True" in statement:
            given = [self.names[v] for k, v in found.items() if k != "a" and v in self.names]
            if any(
                t.untyped_storage().data_ptr() == target.untyped_storage().data_ptr() for t in given
            ):
                raise Unfilled
        if 0 in target.stride() and (
            ("torch.sum(" in statement and kind == "out") or not target.numel()
        ):
            raise Unfilled
        if folded(target) or any(meets(target, o) for o in others):
            raise Unfilled
        if not target.is_floating_point() and any(o.requires_grad for o in others):
            raise Unfilled  # integers with a history: torch's own assertion fails


def fits(inner: tuple, outer: tuple) -> bool:
    """Whether a shape broadcasts into another."""
    return len(inner) <= len(outer) and all(
        a in (1, b) for a, b in zip(reversed(inner), reversed(outer), strict=False)
    )


def stop() -> list[str]:
    """Give the template up."""
    raise Unfilled


def safely(read: Callable[[], Any]) -> Any:
    """Return the value that is read, or the error's type and text."""
    try:
        return read()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
