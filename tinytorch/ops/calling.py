"""Calling operations: which overload the arguments of a call fit, and what a user's call does with them.

A call with arguments of the very types that a schema names is run at once; all others are read as torch's parser reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from .schema import REQUIRED, MisfitError, Signature, mismatch

_SAYS = {
    "view": "A view: the same memory, the same version counter.",
    "views": "Views: the same memory, the same version counter.",
    "write": "Writes into its first argument, and counts the write.",
    "turn": "Has the tensor itself look at its memory in another way.",
    "composite": "Made of other operations.",
    "fresh": "A result with memory of its own.",
}


class Overloads:
    """What one name may be called with, and how it runs."""

    def __init__(self, name: str, inplace: bool = False) -> None:
        self.name, self.inplace = name, inplace
        self.ops: list = []
        self.offered: list[tuple[Any, bool, bool]] = []  # an operation, whether it takes `out=`, whether it is a method
        self.plain: dict[int, list] = {}  # by number of arguments: operation, types that need no further look, defaults
        self.signatures: dict[bool, list] = {}  # of methods or functions: signature, operation, how it runs

    def add(self, made: Any, out: bool = False, method: bool = False) -> None:
        """One more overload."""
        schema, run = made.schema, made.inplace if self.inplace else made.run
        self.ops.append(made)
        self.offered.append((made, out, method and schema.has_self))
        self.signatures.clear()
        if any(p.named and p.default is REQUIRED for p in schema.params):
            return
        plain = [p.plain | {int, float, bool} if made.numbers and p.is_tensor else p.plain for p in schema.params]
        for n in range(sum(p.default is REQUIRED for p in schema.params), schema.positional + 1):
            again = (
                n == made.arity and not self.inplace and len(self.ops) > 1
            )  # the first one's plain call is tried before
            entry = (made, plain[:n], ()) if again else (run, plain[:n], schema.defaults[n:])
            self.plain.setdefault(n, []).append(entry)

    def called(self, method: bool) -> Callable:
        """What a user calls: finds the overload, and hands it its arguments."""
        first, table = self.ops[0], self.plain
        many = any(p.kind in ("int[]", "SymInt[]") for p in first.schema.params)  # whose elements are to be looked at
        quick, arity = (first.written, 2) if self.inplace else (None if many else first.quick, first.arity)
        arity = -1 if quick is None else arity
        sized, most = self._sized(method)

        def call(*args: Any, **named: Any) -> Any:
            if not named:
                n = len(args)
                if n == 2 and sized is not None and type(args[1]) is int:
                    made = sized(args[0], args[1:])
                    if made is not None:
                        return made
                elif sized is not None and 1 < n <= most:
                    sizes = args[1:] if type(args[1]) is int else args[1]
                    if type(sizes) is tuple and (n == 2 or sizes is not args[1]):
                        for k in sizes:
                            if type(k) is not int:
                                break
                        else:
                            made = sized(args[0], sizes)
                            if made is not None:
                                return made
                elif n == arity:
                    made = quick(*args)  # type: ignore[misc]
                    if made is not None:
                        return made
                for run, plain, rest in table.get(n, ()):
                    for x, kinds in zip(args, plain):  # noqa: B905 - as many by construction
                        if type(x) not in kinds and not (isinstance(x, Tensor) and Tensor in kinds):
                            break
                    else:
                        return run(*args, *rest)
            return self._bound(method, args, named)

        call.__name__, call.__qualname__ = self.name, f"Tensor.{self.name}" if method else self.name
        call.__module__ = "tinytorch"
        says = (
            "Writes the result into its first argument, and counts the write."
            if self.inplace
            else _SAYS[first.kernel.kind]
        )
        call.__doc__ = f"{first.schema.text}\n\n{says} Source: `torch.{first.name}`."
        call.overloads = self.ops  # type: ignore[attr-defined]
        return call

    def _sized(self, method: bool) -> tuple[Callable | None, int]:
        """The plain call of what takes sizes or dimensions, one by one or as a tuple, and of how many arguments at most."""
        kinds = [o.schema.params[1].kind for o in self.ops if o.schema.positional > 1]
        if not self.inplace and "int" not in kinds:  # which one number would mean
            for o in self.ops:
                p = o.schema.params
                if o.schema.positional > 1 and p[1].kind in ("int[]", "SymInt[]"):
                    if p[1].one and p[1].default is REQUIRED:
                        return o.quick, 2
                    if method and o.schema.positional == 2 and not p[1].one:
                        return o.quick, 1 << 63
        return None, 0

    def _signatures(self, method: bool) -> list:
        if method not in self.signatures:
            found = self.signatures[method] = []
            for o, out, own in self.offered:
                if own or not method:
                    signature = Signature(o.schema, self.name, method, out and not method, o.numbers)
                    signature.older = o.older
                    found.append((signature, o, o.inplace if self.inplace else o.run))
        return self.signatures[method]

    def _bound(self, method: bool, args: tuple, named: dict) -> Any:
        """Call as torch's parser reads the arguments. TypeError, in its words, if they fit no overload."""
        if method and not args:
            raise TypeError(f"unbound method TensorBase.{self.name}() needs an argument")
        if method and not isinstance(args[0], Tensor):
            what = f"doesn't apply to a '{type(args[0]).__name__}' object"
            raise TypeError(f"descriptor '{self.name}' for 'torch._C.TensorBase' objects {what}")
        signatures = self._signatures(method)
        for signature, o, run in signatures:  # first by types that need no further look
            values = signature.plain(args, named)
            if values is None:
                break
            if values:
                return _finished(run(*values[:-1]), values[-1]) if o.schema.is_factory else run(*values)
        for signature, o, run in signatures:
            try:
                found = signature.match(args[method:], named)
            except MisfitError:
                continue
            signature.unpack(found)
            if method:
                found["self"] = args[0]
            out, grad = found.pop("out", None), o.schema.is_factory and found.pop("requires_grad", False)
            values = tuple([p.read(found[p.name]) if p.name in found else p.default for p in o.schema.params])
            return _finished(run(*values), grad) if out is None else o.into(out, values)
        raise mismatch(self.name, [s for s, _, _ in signatures], args[method:], named)


def _finished(made: Any, requires_grad: bool | None) -> Any:
    """What a creation gives, which may have been asked to require grad."""
    if requires_grad:
        if made._data.dtype.kind != "f":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        made.requires_grad_()
    return made
