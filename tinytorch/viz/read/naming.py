"""From what the user hands over to (name, tensor) pairs.

Tensors given by position are named as the caller wrote them: `memory(x, net.weight)`
is read from the source of the call. Containers give dotted names: `net.0.weight`.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import FrameType
from typing import Any

from .probe import is_tensor

# What IPython and Python add to the user's names: In, Out, _, __, _12, _i3, _oh, __name__.
_NOT_THE_USERS = re.compile(r"In|Out|_+|_i?\d+|_(?:i|ii|iii|ih|oh|dh)|__\w+__")
_MAX_DEPTH = 6
_MAX_NAMES = 10_000


def collect(args: tuple[Any, ...], named: Mapping[str, Any], frame: FrameType | None) -> list[tuple[str, Any]]:
    """All tensors handed over, with their names, in order; the frame is the caller's.

    Raises TypeError for an argument that is no tensor and holds none.
    """
    written = None
    if args and frame is not None:
        written = _as_written(frame, len(args)) or _as_bound(frame, args)
    pairs: list[tuple[str, Any]] = []
    given = [*zip(written or [""] * len(args), args, strict=True), *named.items()]
    for index, (name, arg) in enumerate(given):
        if index < len(args) and isinstance(arg, Mapping) and not is_tensor(arg):
            # snapshot(locals()): names are the keys, and what is no tensor is passed over.
            for key, value in list(arg.items()):
                if not _NOT_THE_USERS.fullmatch(_text(key)) and not issubclass(type(value), type):
                    pairs += tensors_in(_text(key), value)
            continue
        found = list(tensors_in(name or f"argument {index}", arg))
        if not found:
            raise TypeError(
                f"{name or f'argument {index}'} is of type {type(arg).__name__}, which is no tensor and holds none: "
                f"give tensors, a module, an optimizer, or lists and dicts of tensors"
            )
        pairs += found
    return pairs[:_MAX_NAMES]


def tensors_in(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """The tensors inside lists, tuples, dicts, modules and optimisers, without recursion."""
    waiting: list[tuple[str, Any, int]] = [(name, thing, 0)]
    seen: set[int] = set()
    while waiting:
        name, thing, depth = waiting.pop()
        if is_tensor(thing):
            yield name, thing
            continue
        if depth > _MAX_DEPTH or id(thing) in seen:
            continue
        seen.add(id(thing))
        with suppress(Exception):  # what a container or module raises of its own is no reason to show nothing else
            inner = [(f"{name}.{key}" if name else key, value, depth + 1) for key, value in _parts(thing)]
            waiting.extend(reversed(inner))


def _parts(thing: Any) -> list[tuple[str, Any]]:
    if isinstance(thing, Mapping):
        return [(_text(key), value) for key, value in thing.items()]
    if isinstance(thing, list | tuple):
        return [(str(index), value) for index, value in enumerate(thing)]
    kind = type(thing)
    if callable(getattr(kind, "named_parameters", None)) and callable(getattr(kind, "named_buffers", None)):
        return [*thing.named_parameters(), *thing.named_buffers()]
    if callable(getattr(kind, "zero_grad", None)) and isinstance(getattr(thing, "param_groups", None), list):
        groups = [parameter for group in thing.param_groups for parameter in group["params"]]
        where = {id(parameter): index for index, parameter in enumerate(groups)}
        return [(f"state.{where.get(id(key), '?')}", value) for key, value in thing.state.items()]
    return []


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
    call = _call_node(frame)
    if call is None or len(call.args) != count or any(isinstance(arg, ast.Starred) for arg in call.args):
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


def _call_node(frame: FrameType) -> ast.Call | None:
    try:
        positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
        first, last, start, end = positions
        if first is None or last is None or start is None or end is None:
            return None
        lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)[first - 1 : last]
        raw = [line.encode() for line in lines]
        raw[-1] = raw[-1][:end]
        raw[0] = raw[0][start:]
        tree = ast.parse("(" + b"".join(raw).decode() + ")", mode="eval")
    except (IndexError, SyntaxError, ValueError):
        return None
    return tree.body if isinstance(tree.body, ast.Call) else None
