"""From what the user hands over to (name, tensor) pairs.

Tensors given by position are named as the caller wrote them: `memory(x, net.weight)`
is read from the source of the call. Containers give dotted names: `net.0.weight`.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from itertools import islice
from types import FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .probe import inner_tensors, is_tensor
from .snapshots import Snapshot

# What IPython and Python add to the user's names: In, Out, _, __, _12, _i3, _oh, __name__.
_NOT_THE_USERS = re.compile(r"In|Out|_+|_i?\d+|_(?:i|ii|iii|ih|oh|dh)|__\w+__")
_MAX_DEPTH = 6
MAX_NAMES = 10_000
_CLOSED = (ModuleType, FunctionType, type, Snapshot)
"""What holds nothing of the user's, or far too much."""
_PARAMETERS = ".param_groups."
"""In the names of an optimizer's parameters, which count only for those that have no other name."""
_SERIES = (list, tuple, deque, set, frozenset)

Pairs = list[tuple[str, Any]]


def collect_tensors(
    args: tuple[Any, ...], named: Mapping[str, Any], frame: FrameType | None
) -> Pairs:
    """All tensors handed over, with their names, in order; the frame is the caller's.

    Raises TypeError for an argument that is no tensor and holds none.
    """
    return [
        (name, thing)
        for name, thing in collect_tensors_and_arrays(args, named, frame)[0]
        if is_tensor(thing)
    ]


def collect_tensors_and_arrays(
    args: tuple[Any, ...], named: Mapping[str, Any], frame: FrameType | None
) -> tuple[Pairs, list[str]]:
    """The tensors and NumPy arrays handed over, with their names; and the names of arrays given for themselves."""
    written = None
    if args and frame is not None:
        written = _as_written(frame, len(args)) or _as_bound(frame, args)
    pairs: Pairs = []
    known: dict[int, str] = {}
    given = [*zip(written or [""] * len(args), args, strict=True), *named.items()]
    for index, (name, arg) in enumerate(given):
        thing = (
            list(islice(arg, MAX_NAMES)) if isinstance(arg, Iterator) else arg
        )  # as `net.parameters()` is
        entries = _entries(thing) if index < len(args) or name == "params" else None
        if entries is not None:
            # snapshot(locals()): names are the keys, and what is no tensor is passed over.
            for key, value in entries:
                if not _NOT_THE_USERS.fullmatch(key) and not issubclass(type(value), type):
                    pairs += tensors_in(key, value, known, objects=name == "params")
            continue
        called, before = name or f"argument {index}", len(pairs)
        pairs += tensors_in(called, thing, known, objects=True)
        if len(pairs) == before:
            raise TypeError(
                f"{called} is of type {type(arg).__name__}, which is no tensor and holds none: give tensors, a module, "
                f"an optimizer, or lists, dicts and objects that hold tensors"
            )
    own = {id(thing) for name, thing in pairs if _PARAMETERS not in name}
    pairs = [
        (name, thing) for name, thing in pairs if _PARAMETERS not in name or id(thing) not in own
    ]
    return pairs[:MAX_NAMES], [name for name, arg in given if isinstance(arg, np.ndarray)]


def _entries(thing: Any) -> Pairs | None:
    """What `locals()` or `net.named_parameters()` hold by name; None for anything else."""
    if isinstance(thing, Mapping) and not is_tensor(thing):
        return [(_text(key), value) for key, value in list(thing.items())]
    if isinstance(thing, list) and thing:
        named = all(
            isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str) for one in thing
        )
        return thing if named else None
    return None


def tensors_in(
    name: str, thing: Any, known: dict[int, str] | None = None, objects: bool = False
) -> Iterator[tuple[str, Any]]:
    """The tensors and arrays inside of something, without recursion; inside of any object with `objects`.

    `known` has the names of the tensors that were met, by identity.
    """
    waiting: list[tuple[str, Any, int]] = [(name, thing, 0)]
    known = {} if known is None else known
    seen: set[int] = set()
    while waiting:
        name, thing, depth = waiting.pop()
        if is_tensor(thing) or issubclass(type(thing), np.ndarray):
            known.setdefault(id(thing), name)
            yield name, thing
            inner = inner_tensors(thing) if depth <= _MAX_DEPTH else []
            waiting.extend((f"{name}.{key}", value, depth + 1) for key, value in reversed(inner))
            continue
        if depth > _MAX_DEPTH or id(thing) in seen or len(seen) > MAX_NAMES:
            continue
        seen.add(id(thing))
        with suppress(
            Exception
        ):  # what a container or module raises of its own is no reason to show nothing else
            inside = next(
                (parts for fits, parts in _INSIDE if fits(thing)), _attributes if objects else None
            )
            inner = [] if inside is None else list(inside(thing, known))
            waiting.extend(
                (f"{name}.{key}" if name else key, value, depth + 1)
                for key, value in reversed(inner)
            )


# -- what is inside of what --------------------------------------------------------


def _attributes(thing: Any, _known: dict[int, str]) -> Iterator[tuple[str, Any]]:
    """Attributes of an object, which no property is asked for."""
    yield from getattr(thing, "__dict__", {}).items()
    for kind in type(thing).__mro__:
        slots = vars(kind).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            with suppress(
                AttributeError, KeyError
            ):  # it is not set; __dict__ and __weakref__ are no slots
                yield slot, vars(kind)[slot].__get__(thing)


def _of_module(net: Any, _known: dict[int, str]) -> Iterator[tuple[str, Any]]:
    """Parameters, buffers and plain attributes, those of all names that weights share (`named_parameters` drops them)."""
    modules = [
        (f"{path}." if path else "", module)
        for path, module in net.named_modules(remove_duplicate=False)
    ]
    for group in ("_parameters", "_buffers"):
        for path, module in modules:
            yield from ((path + name, tensor) for name, tensor in getattr(module, group).items())
    for path, module in modules:
        for name, value in vars(module).items():
            if is_tensor(value) or (name[0] != "_" and isinstance(value, (Mapping, *_SERIES))):
                yield path + name, value


def _of_optimizer(optimizer: Any, known: dict[int, str]) -> Iterator[tuple[str, Any]]:
    """Its parameters, and its state under the parameters' own names where these are known."""
    where: dict[int, str] = {}
    for group, settings in enumerate(optimizer.param_groups):
        for index, parameter in enumerate(settings["params"]):
            name = known.get(id(parameter))
            where[id(parameter)] = f".{len(where)}" if name is None else f"[{name}]"
            yield f"{_PARAMETERS[1:]}{group}.params.{index}", parameter
    yield from (
        (f"state{where.get(id(key), '.?')}", value) for key, value in optimizer.state.items()
    )


def _has(*methods: str) -> Callable[[Any], bool]:
    return lambda thing: all(callable(getattr(type(thing), name, None)) for name in methods)


_INSIDE: tuple[
    tuple[Callable[[Any], bool], Callable[[Any, dict[int, str]], Iterable[tuple[str, Any]]] | None],
    ...,
] = (
    (lambda thing: isinstance(thing, _CLOSED), None),
    (
        lambda thing: isinstance(thing, Mapping),
        lambda thing, _: [(_text(key), value) for key, value in thing.items()],
    ),
    (
        lambda thing: isinstance(thing, _SERIES),
        lambda thing, _: [(str(k), value) for k, value in enumerate(thing)],
    ),
    (_has("named_parameters", "named_modules"), _of_module),
    (
        lambda thing: (
            _has("zero_grad")(thing) and isinstance(getattr(thing, "param_groups", None), list)
        ),
        _of_optimizer,
    ),
    (is_dataclass, _attributes),
)
"""The first row that fits says what is inside; objects that fit into none are asked for their attributes, or passed over."""


def _text(key: Any) -> str:
    """A key as text; some refuse (an int of very many digits, for one)."""
    try:
        return str(key)
    except Exception:  # noqa: BLE001 - a key may raise anything
        return f"<{type(key).__name__}>"


def _as_written(frame: FrameType, count: int) -> list[str] | None:
    """The source text of the positional arguments of the call that `frame` is in.

    Local variables are not looked at: reading a function's `f_locals` makes Python
    3.11 and 3.12 keep a second reference to each of them.
    """
    position: Any = [*frame.f_code.co_positions()][frame.f_lasti // 2]
    if None in position:
        return None
    first, last, start, end = position
    raw = [
        line.encode()
        for line in linecache.getlines(frame.f_code.co_filename, frame.f_globals)[first - 1 : last]
    ]
    try:
        raw[-1] = raw[-1][:end]
        raw[0] = raw[0][start:]
        call = ast.parse("(" + b"".join(raw).decode() + ")", mode="eval").body
    except (IndexError, SyntaxError, ValueError):
        return None
    if (
        not isinstance(call, ast.Call)
        or len(call.args) != count
        or any(isinstance(one, ast.Starred) for one in call.args)
    ):
        return None
    return [ast.unparse(arg) for arg in call.args]


def _as_bound(frame: FrameType, args: tuple[Any, ...]) -> list[str] | None:
    """The global variables that hold the arguments, where no source is kept (the plain interactive Python, `python -c`).

    For a call from the top level alone: inside of a function they would be other names than the caller's.
    """
    if frame.f_code.co_name != "<module>":
        return None
    held = {id(value): name for name, value in reversed(list(frame.f_globals.items()))}
    return [held.get(id(arg), "") for arg in args]
