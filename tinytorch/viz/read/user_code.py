"""What code of the user's that runs in backward is known to do: read from its bytecode, never run.

Backward of a Function in Python may raise and compute anything. But one that does not mention `ctx`
cannot read what was saved there, however often that was written since; and one that only returns
the gradient that it is given, as a straight-through estimator does, raises nothing of its own.
"""

from __future__ import annotations

import dis
import inspect
import itertools
from collections.abc import Sequence
from pathlib import PurePath
from types import CodeType
from typing import Any

from ..wording import escape_unseen, gettext
from .gradient_specs import gradient_specs_of
from .probe import getattr_or_none
from .records import FunctionRecord

_TRUSTED = ("BackwardHookFunction", "CompiledFunction")
"""Functions of PyTorch whose backward raises nothing of its own."""
_SAVED = ("saved_tensors", "saved_variables")
_SEES_ALL_NAMES = {"locals", "vars", "eval", "exec", "_getframe", "currentframe", "stack"}
"""A function that calls one of these may read a variable that it does not mention."""
_HAND_ON = {
    *("RESUME", "NOP", "CACHE", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_LOAD_FAST"),
    *("LOAD_FAST_BORROW_LOAD_FAST_BORROW", "LOAD_CONST", "LOAD_SMALL_INT", "BUILD_TUPLE"),
    *("RETURN_VALUE", "RETURN_CONST"),
}
"""Instructions of a function that only returns arguments and None."""


def describe_code(function: Any) -> str:
    """Return "Square.backward (train.py:7)"; without a place for what was not written in Python."""
    # Not without end: a Mock has a `func`, which is a Mock again.
    for _ in range(9):  # a bound method, functools.partial, or a decorated function
        inner = getattr_or_none(function, "__func__") or getattr_or_none(function, "func")
        inner = inner or getattr_or_none(function, "__wrapped__")
        if inner is None:
            break
        function = inner
    name = getattr_or_none(function, "__qualname__") or type(function).__qualname__
    name = escape_unseen(str(name).rpartition("<locals>.")[2])
    code = getattr_or_none(function, "__code__")
    if not isinstance(code, CodeType):
        code = getattr_or_none(getattr_or_none(type(function), "__call__"), "__code__")
    if not isinstance(code, CodeType):
        return name.rpartition(".")[2]
    file = code.co_filename
    if "ipykernel" in file or file.startswith("<") or "\n" in file:
        # A cell of a notebook, whose file nobody sees, or text that was given to exec.
        return gettext("{name} (line {line})", name=name, line=code.co_firstlineno)
    return f"{name} ({escape_unseen(PurePath(file).name)}:{code.co_firstlineno})"


def read_function(node: Any) -> FunctionRecord | None:
    """Return what is known of the backward of a Function in Python; None for other nodes."""
    function_class = getattr_or_none(type(node), "_forward_cls")
    if function_class is None:
        return None
    package = str(getattr_or_none(function_class, "__module__")).partition(".")[0]
    is_torch = package == "torch"
    backward = _find_backward(function_class)
    place = describe_code(backward)
    # PyTorch's checkpoint of the older kind has a Function that runs the user's function again.
    repeated = getattr_or_none(node, "run_function") if is_torch else None
    if repeated is not None:
        place = describe_code(repeated)
    code = getattr_or_none(backward, "__code__")
    if not isinstance(code, CodeType):
        return FunctionRecord(place, None, is_trusted=False)
    is_trusted = is_torch and function_class.__name__ in _TRUSTED
    return FunctionRecord(
        place, _reads_saved(code), is_trusted=is_trusted or _hands_on_gradient(node, code)
    )


def _find_backward(function_class: Any) -> Any:
    """Return the function that the user wrote, without decorators of the engine."""
    backward = getattr_or_none(function_class, "backward")
    while True:
        wrapper_globals = getattr_or_none(backward, "__globals__") or {}
        module = str(wrapper_globals.get("__name__"))
        inner = getattr_or_none(backward, "__wrapped__")
        # A decorator of the user's may read what the function itself does not.
        if inner is None or module.partition(".")[0] not in ("torch", "tinytorch"):
            return backward
        backward = inner


def _reads_saved(code: CodeType) -> bool | None:
    """Return True if `ctx.saved_tensors` is read on every way, False if on none, else None."""
    if not code.co_argcount:
        return None
    ctx = code.co_varnames[0]
    # A function inside of it may read `ctx`, and so may one that sees all names.
    if ctx in code.co_cellvars or _SEES_ALL_NAMES & set(code.co_names):
        return None
    instructions = list(dis.get_instructions(code))
    attributes = [_attribute_read_of(ctx, pair) for pair in _pairs_with(ctx, instructions)]
    is_plain = all(attribute and not attribute.startswith("_") for attribute in attributes)
    if is_plain and not any(attribute in _SAVED for attribute in attributes):
        return False
    # Before the first branch, and with no `except` that could catch the error.
    has_handler = bool(getattr(code, "co_exceptiontable", b""))
    straight = instructions[: _find_first_branch(instructions)]
    reads_first = any(
        _attribute_read_of(ctx, pair) in _SAVED for pair in _pairs_with(ctx, straight)
    )
    return True if reads_first and not has_handler else None


def _pairs_with(
    variable: str, instructions: Sequence[dis.Instruction]
) -> list[tuple[dis.Instruction, dis.Instruction]]:
    """Return the instructions that mention a variable, each with the one after it."""
    pairs = itertools.pairwise(instructions)
    return [
        (first, second)
        for first, second in pairs
        if first.argval == variable
        or (isinstance(first.argval, tuple) and variable in first.argval)
    ]


def _attribute_read_of(variable: str, pair: tuple[dis.Instruction, dis.Instruction]) -> str:
    """Return the attribute that is read of a variable; empty if something else is done with it."""
    first, second = pair
    # From Python 3.13 on one instruction loads two variables; the second is on top of the stack.
    loaded = first.argval if isinstance(first.argval, tuple) else (first.argval,)
    is_read = loaded.count(variable) == 1 and loaded[-1] == variable
    # Python 3.14 has LOAD_FAST_BORROW beside it.
    is_read = is_read and first.opname.startswith("LOAD_FAST")
    if is_read and second.opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return str(second.argval)
    return ""


def _find_first_branch(instructions: Sequence[dis.Instruction]) -> int:
    for position, instruction in enumerate(instructions):
        is_jump = instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs
        if is_jump or instruction.opname.startswith(("RETURN", "YIELD", "RAISE")):
            return position
    return len(instructions)


# -- a backward that only hands on the gradient ---------------------------------------------


def _hands_on_gradient(node: Any, code: CodeType) -> bool:
    """Return True if backward returns what it is given, and that fits the inputs of forward."""
    names = _find_returned(code)
    needs = getattr_or_none(node, "needs_input_grad")
    if names is None or not isinstance(needs, tuple) or len(names) < len(needs):
        return False
    if any(name is not None for name in names[len(needs) :]):
        return False
    specs = gradient_specs_of(node)
    edges = [edge for edge in node.next_functions if edge[0] is not None]
    needed_names = [name for name, is_needed in zip(names, needs, strict=False) if is_needed]
    if len(edges) != len(needed_names):
        return False
    # A gradient for an input that needs none: PyTorch raises if that input is no tensor.
    if sum(name is not None for name in names) != sum(name is not None for name in needed_names):
        return False
    parameters = code.co_varnames[1 : code.co_argcount]
    for name, (follower, output_nr) in zip(needed_names, edges, strict=True):
        if name is None:
            return False  # no gradient arrives behind it, which is for others to say
        position = parameters.index(name) if name in parameters else len(specs)
        follower_specs = gradient_specs_of(follower)
        if position >= len(specs) or output_nr >= len(follower_specs):
            return False
        if specs[position] is None or specs[position] != follower_specs[output_nr]:
            return False
    return True


def _find_returned(code: CodeType) -> list[str | None] | None:
    """Return the arguments, or None, that a function returns; None if it does anything else."""
    # What `*grads` has in it does not show by names.
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS) or not code.co_argcount:
        return None
    stack: list[Any] = []
    for instruction in dis.get_instructions(code):
        value = instruction.argval
        if instruction.opname not in _HAND_ON:
            return None
        if instruction.opname == "BUILD_TUPLE":
            count = len(stack) - instruction.argval
            stack[count:] = [stack[count:]]
        elif instruction.opname.startswith("LOAD_FAST"):
            stack += value if isinstance(value, tuple) else (value,)
        elif instruction.opname in ("LOAD_CONST", "RETURN_CONST"):
            stack.append(list(value) if isinstance(value, tuple) else value)
    if not stack:
        return None
    names = stack[-1] if isinstance(stack[-1], list) else [stack[-1]]
    possible_names = {None, *code.co_varnames[1 : code.co_argcount]}
    is_plain = all(name is None or isinstance(name, str) for name in names)
    return names if is_plain and possible_names.issuperset(names) else None
