"""The op sheet: one row for each way to call an operation, run by tinytorch and by PyTorch and compared.

A row is an expression, `torch.exp(x)`. The letters say what is put in: x, y, z any numbers (with ties), p, q positive,
u between 0 and 1, i, j whole numbers, n whole and positive, b, c bools, s, a number without dimensions, m a matrix, v a
vector, and t, a copy of x that is no leaf (for in-place forms). Each row runs on several layouts and dtypes; compared
are values, dtype, strides, the nodes and what they saved, gradients and their strides and nodes, second gradients, and
errors by type and text.
"""

from __future__ import annotations

import re
import warnings
import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from types import CodeType
from typing import Any

import numpy as np
from engine.prelude import OWN_WORDS
from releases import differs_at_bounds, reword

FLOATS, WHOLE, BOOLS = "xyzpqustmv", "ijn", "bc"

LAYOUTS: dict[str, tuple[tuple[int, ...], tuple[int, ...] | None]] = {
    "plain": ((2, 3), None),
    "turned": ((2, 3), (1, 2)),
    "gaps": ((2, 3), (9, 2)),
    "spread": ((2, 3), (0, 1)),
    "row": ((1, 3), (7, 1)),
    "cube": ((2, 3, 2), (2, 4, 1)),
    "vector": ((5,), None),
    "steps": ((4,), (3,)),
    "single": ((), None),
    "empty": ((0, 3), None),
}
DTYPES = ("float64", "float32", "float16", "int64", "uint8", "int8", "bool")


@dataclass(frozen=True)
class Case:
    """One row on one set of layouts and one dtype for its floating letters."""

    row: str
    layouts: tuple[str, ...]
    dtype: str = "float64"


def letters(row: str) -> list[str]:
    """The inputs of a row in order of first use."""
    found = re.findall(rf"(?<![\w.\"'])([{FLOATS}{WHOLE}{BOOLS}])(?![\w\"'=])", row)
    return list(dict.fromkeys(found))


def cases(row: str) -> list[Case]:
    """A row on every layout alone, on mixed layouts, and in every dtype."""
    out = [Case(row, (name,)) for name in LAYOUTS]
    if len(letters(row)) > 1:
        out += [Case(row, p) for p in (("plain", "turned"), ("turned", "gaps"), ("cube", "row"), ("vector", "single"),
                                       ("row", "plain"), ("single", "plain"), ("spread", "turned"), ("turned", "spread"))]  # fmt: skip
    out += [Case(row, ("plain",), d) for d in DTYPES[1:]]
    if len(letters(row)) > 1:
        out += [Case(row, ("plain", "single"), d) for d in ("float32", "float16", "int64", "bool")]
    return out


def _numbers(letter: str, shape: tuple[int, ...], r: np.random.Generator) -> np.ndarray:
    if letter in BOOLS:
        return r.random(shape) < 0.5
    if letter in WHOLE:
        return r.integers(1 if letter == "n" else -4, 5, shape)
    if letter in "pq":
        return r.uniform(0.5, 3, shape)
    if letter == "u":
        return r.uniform(0.05, 0.95, shape)
    return np.round(r.normal(0, 2, shape) * 2) / 2 + (0 if r.random() < 0.5 else 0.125)


_FIXED = {"s": ((), None), "m": ((3, 3), None), "v": ((3,), None)}


@dataclass(frozen=True)
class Input:
    """What a letter of a case stands for, as a tensor of either engine is made of it."""

    letter: str
    kind: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    data: np.ndarray


@lru_cache(maxsize=2)  # one engine asks for it after the other
def read_inputs(case: Case) -> list[Input]:
    """The numbers of a case, and how they are laid out."""
    r = np.random.default_rng(zlib.crc32(case.row.encode()))
    out = []
    for k, letter in enumerate(letters(case.row)):
        source = "x" if letter == "t" else letter
        shape, strides = _FIXED.get(letter) or LAYOUTS[case.layouts[k % len(case.layouts)]]
        kind = {"b": "bool", "c": "bool", "i": "int64", "j": "int64", "n": "int64"}.get(
            letter, case.dtype
        )
        if letter in WHOLE and case.dtype in ("uint8", "int8"):
            kind = case.dtype
        values = _numbers(source, shape, r)
        if values.dtype.kind == "f" and differs_at_bounds(case.row):
            values = values + 0.0625  # none is a bound of a row's any more
        if strides is not None and 0 in strides:
            values = np.broadcast_to(values[:1], shape)
        with np.errstate(all="ignore"):
            data = (
                values.astype(np.int64).astype(kind)
                if kind in ("uint8", "int8")
                else values.astype(kind)
            )
        out.append(Input(letter, kind, shape, strides, data))
    return out


def make_inputs(case: Case, engine: Any, grad: bool) -> dict[str, Any]:
    """The tensors of a case, the same numbers in the same layout for either engine."""
    out: dict[str, Any] = {}
    for given in read_inputs(case):
        dtype, shape, strides = getattr(engine, given.kind), given.shape, given.strides
        data = given.data
        if strides is None:
            t = engine.empty(shape, dtype=dtype)
        else:
            own = tuple(1 if s == 0 else n for n, s in zip(shape, strides, strict=True))
            t = engine.empty_strided(own, tuple(s or own[-1] for s in strides), dtype=dtype)
            data = data[tuple(slice(n) for n in own)]
        t.untyped_storage().fill_(0)  # also the gaps
        t.numpy()[...] = data
        if strides is not None and 0 in strides:
            t = t.expand(shape)
        if grad and data.dtype.kind == "f":
            t = t.detach().requires_grad_()
        out[given.letter] = t
    return out


def _tensors(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [t for item in result for t in _tensors(item)]
    return [result]


def _is_tensor(x: Any) -> bool:
    return hasattr(x, "untyped_storage")


def describe(x: Any) -> tuple[str, Any]:
    """The facts that are compared exactly, and the numbers that are compared closely."""
    if not _is_tensor(x):
        return (
            f"{type(x).__name__} {x!r}" if not isinstance(x, float) else "float",
            x if isinstance(x, float) else 0.0,
        )
    return f"{x.dtype} {tuple(x.shape)} {x.stride()} {x.requires_grad}", numbers(x)


def numbers(x: Any) -> Any:
    """The elements; torch's lazily made zeros are copied first: they have no memory."""
    return x.detach().clone().tolist()


@cache
def list_saved_names(kind: type) -> list[str]:
    """What nodes of a kind say of what they saved: a search through dozens of names, once a kind."""
    return sorted(name for name in dir(kind) if name.startswith("_saved_"))


def node(fn: Any, depth: int = 2) -> str:
    """A node's name, what it saved, and the nodes below it."""
    if fn is None:
        return "-"
    if depth == 0:
        return type(fn).__name__
    below = ", ".join(node(f, depth - 1) + (f".{nr}" if nr else "") for f, nr in fn.next_functions)
    saved = []
    kind: Any = type(fn)
    for name in list_saved_names(kind):
        value = getattr(fn, name)
        parts = [
            f"{v.dtype}{tuple(v.shape)}{v.stride()}" if _is_tensor(v) else repr(v)
            for v in _tensors(value)
        ]
        saved.append(f"{name[7:]}={' '.join(parts)}")
    return f"{type(fn).__name__}[{'; '.join(saved)}]({below})"


@lru_cache(maxsize=2)
def compile_row(row: str) -> CodeType:
    """A row as code: it runs on many cases."""
    return compile(row, "<row>", "eval")


def run(case: Case, engine: Any, grad: bool) -> list[tuple[str, Any]]:
    """Everything there is to compare about one case on one engine."""
    out: list[tuple[str, Any]] = []
    given = make_inputs(case, engine, grad)
    names = dict(given)
    if "t" in names:
        names["t"] = given["t"].clone()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            result = eval(
                compile_row(case.row),
                {"torch": engine, "inf": float("inf"), "nan": float("nan"), "np": np, **names},
            )
        except Exception as e:
            return [(f"{type(e).__name__}: {e}", 0.0)]
    out += [
        (f"warns {w.category.__name__}: {w.message}".partition(" (Triggered")[0], 0.0) for w in said
    ]
    results = _tensors(result)
    out += [describe(r) for r in results]
    out += [("a view" if r._is_view() else "no view", 0.0) for r in results if _is_tensor(r)]
    out += [(f"{n} now {describe(t)[0]} version {t._version}", 0.0) for n, t in names.items()]
    out += [(node(r.grad_fn), 0.0) for r in results if _is_tensor(r)]
    wanted = [t for t in given.values() if t.requires_grad]
    roots = [r for r in results if _is_tensor(r) and r.requires_grad]
    if roots and wanted:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out += _gradients(engine, roots, wanted, zlib.crc32(case.row.encode()))
    return out


@lru_cache(maxsize=16)
def _draw_weights(seed: int, shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape).tolist()


def _weights(engine: Any, like: Any, seed: int) -> Any:
    values = _draw_weights(seed, tuple(like.shape))
    return engine.tensor(values, dtype=like.dtype).reshape(like.shape)


def _gradients(engine: Any, roots: list, wanted: list, seed: int) -> list[tuple[str, Any]]:
    out: list[tuple[str, Any]] = []
    outer = [_weights(engine, r, seed).requires_grad_() for r in roots]
    try:
        first = engine.autograd.grad(roots, wanted, outer, create_graph=True, allow_unused=True)
    except Exception as e:
        return [(f"backward {type(e).__name__}: {e}", 0.0)]
    out += [("no gradient", 0.0) if g is None else describe(g) for g in first]
    out += [(node(g.grad_fn, 1), 0.0) for g in first if g is not None]
    again = [g for g in first if g is not None and g.requires_grad]
    if again:
        try:
            inner = [_weights(engine, g, seed + 1) for g in again]
            second = engine.autograd.grad(again, [*wanted, *outer], inner, allow_unused=True)
        except Exception as e:
            return [*out, (f"double backward {type(e).__name__}: {e}", 0.0)]
        out += [
            ("no gradient", 0.0) if g is None else (str(tuple(g.shape)), numbers(g)) for g in second
        ]
    return out


TOLERANCE = {"float64": 1e-9, "float32": 3e-5, "float16": 2e-2}


def _flat(x: Any) -> list[float]:
    return [v for item in x for v in _flat(item)] if isinstance(x, list) else [float(x)]


def _close(x: Any, y: Any, tolerance: float) -> bool:
    # Most are equal to the last digit, and only nan differs from itself.
    return x == y or np.allclose(_flat(x), _flat(y), rtol=tolerance, atol=tolerance, equal_nan=True)


def compare(case: Case, engines: tuple[Any, Any], grad: bool = True) -> list[str]:
    """The differences between two engines on one case; an empty list if there are none."""
    ours, theirs = (run(case, e, grad) for e in engines)
    ours = [(reword(said), values) for said, values in ours]
    if len(ours) == len(theirs) == 1 and OWN_WORDS.search(theirs[0][0]):
        return []
    where = f"{case.row}  [{', '.join(case.layouts)}; {case.dtype}]"
    if len(ours) != len(theirs):
        return [f"{where}: {[o[0] for o in ours]} instead of {[t[0] for t in theirs]}"]
    found = []
    close = TOLERANCE.get(case.dtype, 3e-5)
    for (a, x), (b, y) in zip(ours, theirs, strict=True):
        if a != b:
            found.append(f"{where}: {a} instead of {b}")
        elif not _close(
            x, y, max(close, 3e-5 if "float32" in a else 2e-2 if "float16" in a else 0)
        ):
            found.append(f"{where}: {a}: {x} instead of {y}")
    return found


def check(row: str, engines: tuple[Any, Any]) -> tuple[int, list[str]]:
    """Run a row on all its cases: how many there were, and the differences."""
    found: list[str] = []
    every = list(cases(row))
    for case in every:
        found += compare(case, engines)
    return len(every), found
