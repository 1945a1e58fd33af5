"""Random tensors: `rand`, `randn`, `randint` and their kin, and the methods that fill a tensor with random values.

The numbers come from `sampling` and are torch's own, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, random, sampling
from ..devices import CPU, as_device, device
from ..graph.node import node
from ..tensor import Tensor, fresh
from .arguments import unfit
from .copying import preserve_format
from .core import (
    broadcast_error,
    check_overlap,
    is_internally_overlapping,
    op,
    record,
    recording,
    takes_out,
    write_in_place,
    write_out,
)
from .shaped import alike, finish, into, moved, options, sized


def _source(generator: random.Generator | None, where: device = CPU) -> random.Generator:
    if generator is None:
        return random.default_generator if where is CPU else random.cuda_generator
    if not isinstance(generator, random.Generator):
        raise unfit("generator")
    if generator.device is not where:
        raise RuntimeError(f"Expected a '{where.type}' device type for generator but found '{generator.device.type}'")
    return generator


def _zeros_back(name: str) -> type:
    return node(name, lambda grad: grad.new_zeros(grad.shape))


def _method(name: str, fill: Callable, kind: type, line: str, what: str) -> None:
    """Declare a method that fills the tensor in place. `line`: its numbers as torch's signature has them."""
    parts = [p.split() for p in line.split(", ")]
    names, defaults = [p[1] for p in parts], [float(p[3]) for p in parts if len(p) > 2]

    def method(self: Tensor, *args: Any, generator: random.Generator | None = None, **kwargs: Any) -> Tensor:
        if len(args) + len(kwargs) < len(names) - len(defaults):
            raise unfit(name)
        known = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)) | kwargs
        values = [*args, *(known[n] for n in names[len(args) :] if n in known)]
        if len(values) != len(names) or not {*names[len(args) :]}.issuperset(kwargs):
            raise unfit(name)
        if any(
            isinstance(v, str) or not hasattr(v, "__float__") or (isinstance(v, Tensor) and v.dim()) for v in values
        ):
            raise unfit(name)
        values = [v.item() if isinstance(v, Tensor) else int(v) if isinstance(v, bool) else v for v in values]
        gen = _source(generator, self._device)
        return write_in_place(self, (self,), kind, {}, lambda: _draw(self, fill, *values, gen))

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{what}\n\nSource: `torch.Tensor.{name}`."
    op(name, function=False)(method)


def _draw(self: Tensor, fill: Callable, *how: Any) -> None:
    """Fill the memory; what is wrong with the numbers or the dtype is said before that elements share memory."""
    if is_internally_overlapping(self):
        fill(self._data.copy(), *how[:-1], random.Generator())
    check_overlap(self)
    fill(self._data, *how)


_method("uniform_", sampling.uniform_, _zeros_back("UniformBackward0"), "float from = 0.0, float to = 1.0",
        "Fill with numbers from [low, high).")  # fmt: skip
_method("normal_", sampling.normal_, _zeros_back("NormalBackward0"), "float mean = 0.0, float std = 1.0",
        "Fill from the normal distribution.")  # fmt: skip
_method("exponential_", sampling.exponential_, _zeros_back("ExponentialBackward0"), "float lambd = 1.0",
        "Fill from the exponential distribution.")  # fmt: skip
_method("cauchy_", sampling.cauchy_, _zeros_back("CauchyBackward0"), "float median = 0.0, float sigma = 1.0",
        "Fill from the Cauchy distribution.")  # fmt: skip
_method("log_normal_", sampling.log_normal_, _zeros_back("LogNormalBackward0"), "float mean = 1.0, float std = 2.0",
        "Fill with the exponentials of normal numbers.")  # fmt: skip
_method("geometric_", sampling.geometric_, _zeros_back("GeometricBackward0"), "float p",
        "Fill with the numbers of trials until a success.")  # fmt: skip

_RandomBackward = (_zeros_back("RandomBackward2"), _zeros_back("RandomBackward1"), _zeros_back("RandomBackward0"))


@op("random_", function=False, strict=True)
def random_(self: Tensor, *bounds: int, generator: random.Generator | None = None, **named: Any) -> Tensor:
    """Fill with whole numbers: all that the dtype holds, those below a bound, or those from [low, high).

    Source: `torch.Tensor.random_`.
    """
    gen = _source(generator, self._device)
    given = [*bounds, *(named.pop(n) for n in ("from", "to") if n in named)]
    if named or any(type(b) is not int and not isinstance(b, (np.integer, type(None))) for b in given):
        raise unfit("random_")
    how = (sampling.random_from_to_, *((0, *given) if len(given) == 1 else given)) if given else (sampling.random_,)
    check_overlap(self)
    return write_in_place(self, (self,), _RandomBackward[min(len(given), 2)], {}, lambda: _draw(self, *how, gen))


_BernoulliBackward0 = _zeros_back("BernoulliBackward0")
_BernoulliBackward1 = node(
    "BernoulliBackward1", lambda grad: grad.new_zeros(grad.shape), lambda grad: grad.new_zeros(grad.shape).zero_()
)
_BernoulliBackward2 = _zeros_back("BernoulliBackward2")


@op("bernoulli_", function=False)
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: random.Generator | None = None) -> Tensor:
    """Fill with ones with probability `p` (a number or a tensor), else zeros.

    Source: `torch.Tensor.bernoulli_`.
    """
    gen = _source(generator, self._device)
    if isinstance(p, Tensor):
        check_overlap(self)
        p.expand(self._data.shape)  # which raises, in torch's words, where it does not fit
        draw = lambda: _draw(self, sampling.bernoulli_, p._data, gen)  # noqa: E731
        return write_in_place(self, (self, p), _BernoulliBackward1, {}, draw)
    draw = lambda: _draw(self, sampling.bernoulli_, float(p), gen)  # noqa: E731
    return write_in_place(self, (self,), _BernoulliBackward2, {}, draw)


@op("bernoulli", strict=True)
def bernoulli(input: Tensor, p: Any = None, *, generator: random.Generator | None = None, out: Any = None) -> Tensor:
    """Ones with the probabilities that `input` holds (or `p`), else zeros.

    Source: `torch.bernoulli`.
    """
    if out is not None:
        data = np.empty(input._data.shape, out._data.dtype)
        fresh(data).bernoulli_(input.detach() if p is None else p, generator=generator)
        return write_out(out, data, "bernoulli", input)
    made = fresh(np.empty(input._data.shape, input._data.dtype), input._device)
    if p is None and input._data.dtype.kind != "f":
        raise NotImplementedError(f"\"bernoulli_tensor_cpu_p_\" not implemented for '{input.dtype.scalar_name}'")
    sampling.bernoulli_(made._data, input._data if p is None else p, _source(generator, input._device))
    return record(made, _BernoulliBackward0, (input,)) if recording(input) else made


# new tensors ---------------------------------------------------------------------------------------------------------------


def _random(name: str, fill: Callable, what: str) -> None:
    """Declare `rand` or `randn` and its `_like` form."""

    def function(*size: Any, generator: Any = None, out: Any = None, dtype: Any = None, **kw: Any) -> Tensor:
        gen, requires_grad = _source(generator, as_device(kw.get("device"))), kw.get("requires_grad", False)
        if not size and "size" not in kw:
            raise unfit(name)
        shape = sized(size, name, kw)
        d, where = options(name, kw | {"dtype": dtype}, out.dtype if isinstance(out, Tensor) else None)
        made = np.empty(shape, d.np)
        fill(made, 0.0, 1.0, gen)
        return finish(moved(fresh(made), where), requires_grad) if out is None else into(out, made, name, dtype)

    def like(input: Tensor, *, generator: Any = None, memory_format: Any = preserve_format, **kw: Any) -> Tensor:
        made = alike(input, f"{name}_like", memory_format, kw)
        fill(made._data, 0.0, 1.0, _source(generator, made._device))
        return made

    for f, n, more in ((function, name, ""), (like, f"{name}_like", " Shape, dtype and layout of another tensor.")):
        f.__name__ = f.__qualname__ = n
        f.__doc__ = f"{what}{more}\n\nSource: `torch.{n}`."
        op(n, method=False)(f)


_random("rand", sampling.uniform_, "Numbers from [0, 1).")
_random("randn", sampling.normal_, "Numbers from the standard normal distribution.")


@op(method=False)
def randint(*args: Any, generator: Any = None, out: Any = None, dtype: Any = None, **kw: Any) -> Tensor:
    """Whole numbers from [low, high): `randint(high, size)` or `randint(low, high, size)`; int64 unless given.

    Source: `torch.randint`.
    """
    given, gen, requires_grad = (
        list(args),
        _source(generator, as_device(kw.get("device"))),
        kw.get("requires_grad", False),
    )
    size = kw.pop("size") if "size" in kw else given.pop() if given and isinstance(given[-1], (tuple, list)) else None
    bounds = [*given, *(kw.pop(n) for n in ("low", "high") if n in kw)]
    if size is None and len(bounds) == 2 and not kw:
        raise unfit("randint")
    if size is None or len(bounds) not in (1, 2):
        raise unfit("randint")
    first, last = (0, bounds[0]) if len(bounds) == 1 else bounds
    if isinstance(first, float) or isinstance(last, float):
        raise unfit("randint")
    d, where = options("randint", kw | {"dtype": dtype}, dtypes.int64 if out is None else out.dtype)
    made = np.empty(sized((size,), "randint"), d.np)
    sampling.random_from_to_(made, int(first), int(last), gen)
    return finish(moved(fresh(made), where), requires_grad) if out is None else into(out, made, "randint", dtype)


@op(method=False, strict=True)
def randint_like(input: Tensor, *bounds: int, memory_format: Any = preserve_format, **kw: Any) -> Tensor:
    """Whole numbers from [low, high) with another tensor's shape and dtype.

    Source: `torch.randint_like`.
    """
    given = [*bounds, *(kw.pop(n) for n in ("low", "high") if n in kw)]
    first, last = (0, given[0]) if len(given) == 1 else given
    made = alike(input, "randint_like", memory_format, kw)
    sampling.random_from_to_(made._data, first, last, _source(None, made._device))
    return made


@op(method=False)
def randperm(n: int, *, generator: Any = None, out: Any = None, dtype: Any = None, **kw: Any) -> Tensor:
    """The numbers from 0 to n - 1 in random order; int64 unless given.

    Source: `torch.randperm`.
    """
    gen, requires_grad = _source(generator, as_device(kw.get("device"))), kw.get("requires_grad", False)
    if isinstance(n, bool) or not hasattr(n, "__index__") or (isinstance(n, Tensor) and n.is_floating_point()):
        raise unfit("randperm")
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    d, where = options("randperm", kw | {"dtype": dtype}, dtypes.int64 if out is None else out.dtype)
    data = sampling.permutation(int(n), gen, d.np)
    return finish(moved(fresh(data), where), requires_grad) if out is None else into(out, data, "randperm", dtype)


_NormalBackward1 = node("NormalBackward1", lambda grad: grad.new_zeros(grad.shape).zero_())
_NormalBackward2 = node("NormalBackward2", lambda grad: grad.new_zeros(grad.shape).zero_())
_NormalBackward3 = node(
    "NormalBackward3", lambda grad: grad.new_zeros(grad.shape).zero_(), lambda grad: grad.new_zeros(grad.shape).zero_()
)


@op(method=False, strict=True)
def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None, out: Any = None, dtype: Any = None, **kw: Any
) -> Tensor:
    """Normal numbers with means and standard deviations given as numbers (with a size) or as tensors.

    RuntimeError for negative deviations. Source: `torch.normal`.
    """
    gen, requires_grad = _source(generator, as_device(kw.get("device"))), kw.get("requires_grad", False)
    if size is not None:
        d, where = options("normal", kw | {"dtype": dtype}, None if out is None else out.dtype)
        made = np.empty(sized((size,), "normal"), d.np)
        sampling.normal_(made, float(mean), float(std), gen)
        return finish(moved(fresh(made), where), requires_grad) if out is None else into(out, made, "normal", dtype)
    tensors = [x for x in (mean, std) if isinstance(x, Tensor)]
    gen = _source(generator, tensors[0]._device if tensors else CPU)
    if not tensors:
        raise TypeError("normal() of two numbers needs a size")
    data = _scattered(mean, std, tensors, gen)
    if out is not None:
        return write_out(out, data, "normal", *tensors)
    result = fresh(data, tensors[0]._device)
    if recording(*tensors):
        kind = (
            _NormalBackward3
            if len(tensors) == 2
            else _NormalBackward1
            if isinstance(mean, Tensor)
            else _NormalBackward2
        )
        record(result, kind, tuple(tensors))
    return result


def _scattered(mean: Any, std: Any, tensors: list[Tensor], gen: random.Generator) -> np.ndarray:
    """The numbers of `normal` over tensors, rounded in torch's order: the deviation first, then the mean."""
    if isinstance(std, Tensor):
        if std._data.size and bool((std._data < 0).any()):
            raise RuntimeError("normal expects all elements of std >= 0.0")
    elif std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    try:
        shape = np.broadcast_shapes(*[t._data.shape for t in tensors])
    except ValueError:
        raise broadcast_error(*[t._data.shape for t in tensors]) from None
    made = np.empty(shape, tensors[0]._data.dtype)
    if isinstance(std, Tensor):
        sampling.normal_(made, 0.0, 1.0, gen)
        made *= std._data
    else:
        sampling.normal_(made, 0.0, float(std), gen)
    made += mean._data if isinstance(mean, Tensor) else made.dtype.type(mean)
    return made


@op(strict=True)
@takes_out("multinomial")
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Indices drawn with the weights of each row.

    RuntimeError for weights that are no distribution. Source: `torch.multinomial`.
    """
    if not hasattr(num_samples, "__index__"):
        raise unfit("multinomial")
    return fresh(
        sampling.multinomial(input._data, num_samples, replacement, _source(generator, input._device)), input._device
    )


random.wrap_state = fresh
