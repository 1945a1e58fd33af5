"""Random tensors: `rand`, `randn`, `randint` and their kin, and the methods that fill a tensor with random values.

The numbers come from `sampling` and are torch's own, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, random, sampling
from ..devices import as_device
from ..graph.node import node
from ..tensor import Tensor, empty_strided, fresh
from .copying import contiguous_format, dense_strides, preserve_format
from .core import check_overlap, op, record, recording, write_in_place
from .creation import _finish, _moved, _options, _sized


def _source(generator: random.Generator | None) -> random.Generator:
    return random.default_generator if generator is None else generator


def _zeros_back(name: str) -> type:
    return node(name, lambda grad: grad.new_zeros(grad.shape))


def _method(name: str, fill: Callable, kind: type, signature: Callable, what: str) -> None:
    """Declare a method that fills the tensor in place. `signature(*args)` gives the arguments of the sampler."""

    def fill_array(a: np.ndarray, *values: Any) -> None:
        fill(a, *values)

    def method(self: Tensor, *args: Any, generator: random.Generator | None = None, **kwargs: Any) -> Tensor:
        check_overlap(self)
        values = signature(*args, **kwargs)
        return write_in_place(self, (self,), kind, {}, lambda: fill_array(self._data, *values, _source(generator)))

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{what}\n\nSource: `torch.Tensor.{name}`."
    op(name, function=False)(method)


_method("uniform_", sampling.uniform_, _zeros_back("UniformBackward0"), lambda low=0.0, high=1.0, **kw: (kw.get("from", low), kw.get("to", high)),
        "Fill with numbers from [low, high).")  # fmt: skip
_method("normal_", sampling.normal_, _zeros_back("NormalBackward0"), lambda mean=0.0, std=1.0: (mean, std),
        "Fill from the normal distribution.")  # fmt: skip
_method("exponential_", sampling.exponential_, _zeros_back("ExponentialBackward0"), lambda lambd=1.0: (lambd,),
        "Fill from the exponential distribution.")  # fmt: skip

_RandomBackward = (_zeros_back("RandomBackward2"), _zeros_back("RandomBackward1"), _zeros_back("RandomBackward0"))


@op("random_", function=False)
def random_(self: Tensor, *bounds: int, generator: random.Generator | None = None) -> Tensor:
    """Fill with whole numbers: all that the dtype holds, those below a bound, or those from [low, high).

    Source: `torch.Tensor.random_`.
    """
    gen = _source(generator)
    if not bounds:
        draw = lambda: _nothing(sampling.random_(self._data, gen))  # noqa: E731
    else:
        low, high = (0, bounds[0]) if len(bounds) == 1 else bounds
        draw = lambda: _nothing(sampling.random_from_to_(self._data, low, high, gen))  # noqa: E731
    return write_in_place(self, (self,), _RandomBackward[min(len(bounds), 2)], {}, draw)


def _nothing(_: Any) -> None:
    return None


_BernoulliBackward0 = _zeros_back("BernoulliBackward0")
_BernoulliBackward1 = node("BernoulliBackward1", lambda grad: grad.new_zeros(grad.shape), lambda grad: grad.new_zeros(grad.shape))
_BernoulliBackward2 = _zeros_back("BernoulliBackward2")


@op("bernoulli_", function=False)
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: random.Generator | None = None) -> Tensor:
    """Fill with ones with probability `p` (a number or a tensor), else zeros.

    Source: `torch.Tensor.bernoulli_`.
    """
    gen = _source(generator)
    if isinstance(p, Tensor):
        return write_in_place(
            self, (self, p), _BernoulliBackward1, {}, lambda: _nothing(sampling.bernoulli_(self._data, p._data, gen))
        )
    draw = lambda: _nothing(sampling.bernoulli_(self._data, p, gen))  # noqa: E731
    return write_in_place(self, (self,), _BernoulliBackward2, {}, draw)


@op("bernoulli")
def bernoulli(input: Tensor, p: Any = None, *, generator: random.Generator | None = None, out: Any = None) -> Tensor:
    """Ones with the probabilities that `input` holds (or `p`), else zeros.

    Source: `torch.bernoulli`.
    """
    made = fresh(np.empty(input._data.shape, input._data.dtype), input._device)
    if p is None and input._data.dtype.kind != "f":
        raise NotImplementedError(f"\"bernoulli_tensor_cpu_p_\" not implemented for '{input.dtype.scalar_name}'")
    sampling.bernoulli_(made._data, input._data if p is None else p, _source(generator))
    return record(made, _BernoulliBackward0, (input,)) if recording(input) else made


# new tensors ---------------------------------------------------------------------------------------------------------------


def _random(name: str, fill: Callable, what: str) -> None:
    """Declare `rand` or `randn` and its `_like` form."""

    def function(*size: Any, generator: Any = None, out: Any = None, dtype: Any = None, layout: Any = None,
                 device: Any = None, requires_grad: bool = False, pin_memory: bool = False, **kw: Any) -> Tensor:  # fmt: skip
        shape = _sized(_options(size, kw), name)
        if out is not None:
            if out._data.shape != shape:
                out.resize_(shape)
            fill(out._data, 0.0, 1.0, _source(generator))
            out._vc.version += 1
            return out
        made = fresh(np.empty(shape, (dtype or dtypes.get_default_dtype()).np))
        fill(made._data, 0.0, 1.0, _source(generator))
        return _finish(_moved(made, as_device(device)), requires_grad)

    def like(input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
             memory_format: Any = preserve_format, generator: Any = None) -> Tensor:  # fmt: skip
        made = _alike(input, dtype, device, memory_format)
        fill(made._data, 0.0, 1.0, _source(generator))
        return _finish(made, requires_grad)

    for f, n, more in ((function, name, ""), (like, f"{name}_like", " Shape, dtype and layout of another tensor.")):
        f.__name__ = f.__qualname__ = n
        f.__doc__ = f"{what}{more}\n\nSource: `torch.{n}`."
        op(n, method=False)(f)


def _alike(input: Tensor, dtype: Any, device: Any, memory_format: Any) -> Tensor:
    d = dtype or input.dtype
    where = input._device if device is None else as_device(device)
    if memory_format is contiguous_format:
        return fresh(np.empty(input._data.shape, d.np), where)
    n = input._data.itemsize
    return empty_strided(input._data.shape, tuple(s // n * d.itemsize for s in dense_strides(input)), d.np, where)


_random("rand", sampling.uniform_, "Numbers from [0, 1).")
_random("randn", sampling.normal_, "Numbers from the standard normal distribution.")


@op(method=False)
def randint(*args: Any, generator: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
            requires_grad: bool = False, pin_memory: bool = False, low: int = 0, **kw: Any) -> Tensor:  # fmt: skip
    """Whole numbers from [low, high): `randint(high, size)` or `randint(low, high, size)`; int64 unless given.

    Source: `torch.randint`.
    """
    given = list(args)
    size = kw["size"] if "size" in kw else given.pop() if given and isinstance(given[-1], (tuple, list)) else None
    if "high" in kw:
        given.append(kw["high"])
    if size is None or not given:
        kinds = ", ".join(type(a).__name__ for a in args)
        raise TypeError(f"randint() received an invalid combination of arguments - got ({kinds}), but expected one of:\n"
                        " * (int high, tuple of ints size)\n * (int low, int high, tuple of ints size)")  # fmt: skip
    first, last = (low, given[0]) if len(given) == 1 else given[:2]
    made = fresh(np.empty(_sized((size,), "randint"), (dtype or dtypes.int64).np))
    sampling.random_from_to_(made._data, int(first), int(last), _source(generator))
    return _finish(_moved(made, as_device(device)), requires_grad)


@op(method=False)
def randint_like(input: Tensor, *bounds: int, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, memory_format: Any = preserve_format) -> Tensor:  # fmt: skip
    """Whole numbers from [low, high) with another tensor's shape and dtype.

    Source: `torch.randint_like`.
    """
    first, last = (0, bounds[0]) if len(bounds) == 1 else bounds
    made = _alike(input, dtype, device, memory_format)
    sampling.random_from_to_(made._data, first, last, random.default_generator)
    return _finish(made, requires_grad)


@op(method=False)
def randperm(n: int, *, generator: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """The numbers from 0 to n - 1 in random order; int64 unless given.

    Source: `torch.randperm`.
    """
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    data = sampling.permutation(n, _source(generator))
    made = fresh(data if dtype is None else data.astype(dtype.np))
    return _finish(_moved(made, as_device(device)), requires_grad)


_NormalBackward1 = _zeros_back("NormalBackward1")
_NormalBackward2 = _zeros_back("NormalBackward2")
_NormalBackward3 = node("NormalBackward3", lambda grad: grad.new_zeros(grad.shape), lambda grad: grad.new_zeros(grad.shape))


@op(method=False)
def normal(mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Normal numbers with means and standard deviations given as numbers (with a size) or as tensors.

    RuntimeError for negative deviations. Source: `torch.normal`.
    """
    gen = _source(generator)
    if size is not None:
        made = fresh(np.empty(_sized((size,), "normal"), (dtype or dtypes.get_default_dtype()).np))
        sampling.normal_(made._data, float(mean), float(std), gen)
        return _finish(_moved(made, as_device(device)), requires_grad)
    tensors = [x for x in (mean, std) if isinstance(x, Tensor)]
    if isinstance(std, Tensor) and std._data.size and bool((std._data < 0).any()):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    shape = np.broadcast_shapes(*[t._data.shape for t in tensors])
    made = fresh(np.empty(shape, tensors[0]._data.dtype), tensors[0]._device)
    sampling.normal_(made._data, 0.0, 1.0, gen)
    m, s = (x._data if isinstance(x, Tensor) else made._data.dtype.type(x) for x in (mean, std))
    made._data[...] = made._data * s + m
    if recording(*tensors):
        kind = _NormalBackward3 if len(tensors) == 2 else _NormalBackward1 if isinstance(mean, Tensor) else _NormalBackward2
        record(made, kind, tuple(tensors))
    return made


@op()
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Indices drawn with the weights of each row.

    RuntimeError for weights that are no distribution. Source: `torch.multinomial`.
    """
    return fresh(sampling.multinomial(input._data, num_samples, replacement, _source(generator)), input._device)


random.wrap_state = fresh
