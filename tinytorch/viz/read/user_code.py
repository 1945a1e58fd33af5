"""What code of the user's that runs in backward is known to do, from its bytecode.

Backward of a Function in Python may raise and compute anything. But one that does not mention `ctx`
cannot read what was saved there, however often that was written since; and one that is arithmetic
on tensors of known shapes raises nothing of its own, or is sure to raise (`rehearsal`).
"""

from __future__ import annotations

import dis
import itertools
from collections.abc import Callable, Sequence
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType
from typing import Any

from ...graph import name_of_node
from ..wording import Phrase, escape_unseen, gettext_noop, short_node_name
from .gradient_specs import gradient_specs_of
from .probe import find_tensor_in, find_watched_save, getattr_or_none
from .records import FunctionRecord, GradientSpec
from .rehearsal import (
    StandIn,
    end_rehearsal,
    rehearse_call,
    stand_in_for,
    stand_in_for_gradient,
    stand_in_for_series,
)
from .save_comparison import SaveComparison

_TRUSTED = ("BackwardHookFunction", "CompiledFunction")
"""Functions of PyTorch whose backward raises nothing of its own."""
COMPARISON_FINDERS: list[Callable[[Any, str], SaveComparison | None]] = []
"""Each returns what it knows of an attribute, by its name, that a Function in Python keeps on `ctx`.
There is one for each watch that is on."""
_SAVED = ("saved_tensors", "saved_variables")
_SEES_ALL_NAMES = {"locals", "vars", "eval", "exec", "_getframe", "currentframe", "stack"}
"""A function that calls one of these may read a variable that it does not mention."""


def describe_code(function: Any) -> str:
    """Return what `label_code` does in the language in use."""
    label = label_code(function)
    if isinstance(label, Phrase):
        return label.word()
    return label


def label_code(function: Any) -> str | Phrase:
    """Return "Square.backward (train.py:7)"; without a line for what was not written in Python."""
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
        line = code.co_firstlineno
        return Phrase.of(gettext_noop("{name} (line {line})"), name=name, line=line)
    return f"{name} ({escape_unseen(PurePath(file).name)}:{code.co_firstlineno})"


def read_function(node: Any) -> FunctionRecord | None:
    """Return what is known of the backward of a Function in Python; None for other nodes."""
    function_class = getattr_or_none(type(node), "_forward_cls")
    if function_class is None:
        return None
    package = str(getattr_or_none(function_class, "__module__")).partition(".")[0]
    is_torch = package == "torch"
    backward = _find_backward(function_class)
    label = describe_code(backward)
    # PyTorch's checkpoint of the older kind has a Function that runs the user's function again.
    repeated = getattr_or_none(node, "run_function") if is_torch else None
    if repeated is not None:
        label = describe_code(repeated)
        if _computes_again(node, repeated):
            return FunctionRecord(label, True, is_trusted=True)
    code = getattr_or_none(backward, "__code__")
    if not isinstance(code, CodeType):
        return FunctionRecord(label, None, is_trusted=False)
    if not _is_of_engine(backward) and always_raises(backward):
        refusal = Phrase.of(
            gettext_noop("{node} is a Function in Python: {code} raises an error as it is now"),
            node=short_node_name(name_of_node(node)),
            code=label_code(backward),
        )
        return FunctionRecord(label, _reads_saved(code), is_trusted=False, refusal=refusal)
    if is_torch and function_class.__name__ in _TRUSTED:
        return FunctionRecord(label, _reads_saved(code), is_trusted=True)
    return _rehearse_backward(node, backward, label) or FunctionRecord(
        label, _reads_saved(code), is_trusted=False
    )


def _find_backward(function_class: Any) -> Any:
    """Return the function that the user wrote, without decorators of the engine."""
    backward = getattr_or_none(function_class, "backward")
    while True:
        inner = getattr_or_none(backward, "__wrapped__")
        # A decorator of the user's may read what the function itself does not, or catch its error.
        if inner is None or not _is_of_engine(backward) or _enters_context_of_program(backward):
            return backward
        backward = inner


def _enters_context_of_program(decorated: Any) -> bool:
    """Return True for what PyTorch's `_DecoratorContextManager` made: the program's own may catch an error."""
    # By its module: from PyTorch 2.15 on such a function has the name of the context.
    module = (getattr_or_none(decorated, "__globals__") or {}).get("__name__")
    if module != "torch.utils._contextlib":
        return False
    packages = set()
    for cell in getattr_or_none(decorated, "__closure__") or ():
        context = getattr_or_none(cell.cell_contents, "__self__")
        if context is not None:
            packages.add(type(context).__module__.partition(".")[0])
    return packages != {"torch"}


def _is_of_engine(function: Any) -> bool:
    """Return True for a function of an engine: the `backward` of a class that has `vjp` is one that raises."""
    module = str((getattr_or_none(function, "__globals__") or {}).get("__name__"))
    return module.partition(".")[0] in ("torch", "tinytorch")


def _reads_saved(code: CodeType) -> bool | None:
    """Return True if `ctx.saved_tensors` is read on every way, False if on none, else None."""
    if not code.co_argcount:
        return None
    ctx = code.co_varnames[0]
    # A function inside of it may read `ctx`, and so may one that sees all names.
    if ctx in code.co_cellvars or _SEES_ALL_NAMES & set(code.co_names):
        return None
    instructions = list(dis.get_instructions(code))
    attributes = _list_attributes_read(ctx, instructions)
    is_plain = not any(not attribute or attribute.startswith("_") for attribute in attributes)
    if is_plain and attributes.isdisjoint(_SAVED):
        return False
    # Before the first branch, and with no `except` that could catch the error.
    has_handler = bool(getattr(code, "co_exceptiontable", b""))
    straight = instructions[: _find_first_branch(instructions)]
    reads_first = not _list_attributes_read(ctx, straight).isdisjoint(_SAVED)
    return True if reads_first and not has_handler else None


def _list_attributes_read(variable: str, instructions: Sequence[dis.Instruction]) -> set[str]:
    """Return the attributes that are read of a variable; "" is in them if something else is done with it."""
    attributes = set()
    for first, second in itertools.pairwise(instructions):
        # From Python 3.13 on one instruction loads two variables.
        loaded = first.argval if isinstance(first.argval, tuple) else (first.argval,)
        if variable in loaded:
            attributes.add(_attribute_read_of(variable, loaded, first, second))
    return attributes


def _attribute_read_of(
    variable: str, loaded: tuple[Any, ...], first: dis.Instruction, second: dis.Instruction
) -> str:
    """Return the attribute that the second instruction reads of a variable; empty if it reads none."""
    # Of two that are loaded, the second is on top of the stack.
    is_read = loaded.count(variable) == 1 and loaded[-1] == variable
    # Python 3.14 has LOAD_FAST_BORROW beside it.
    is_read = is_read and first.opname.startswith("LOAD_FAST")
    if is_read and second.opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return str(second.argval)
    return ""


def always_raises(function: Any) -> bool:
    """Return True for a function that never returns: before any branch it comes to a `raise`, or to 1 / 0.

    Whatever stands before that may raise another error, and does not return either.
    """
    if type(function) is MethodType:
        function = function.__func__
    code = getattr_or_none(function, "__code__")
    if type(function) is not FunctionType or not isinstance(code, CodeType):
        return False
    if getattr(code, "co_exceptiontable", b""):  # a `with` or `except` may catch it
        return False
    instructions = [
        instruction
        for instruction in dis.get_instructions(code)
        if instruction.opname != "EXTENDED_ARG"
    ]
    stop = _find_first_branch(instructions)
    if stop < len(instructions) and instructions[stop].opname == "RAISE_VARARGS":
        return True
    straight = instructions[:stop]
    return any(
        _divides_by_zero(*three)
        for three in zip(straight, straight[1:], straight[2:], strict=False)
    )


def _divides_by_zero(
    dividend: dis.Instruction, divisor: dis.Instruction, operation: dis.Instruction
) -> bool:
    """Return True for an instruction that divides a number in the code by the number 0."""
    # Of a tensor, a division by 0 is inf or nan, and raises nothing.
    if operation.opname != "BINARY_OP" or operation.argrepr not in ("/", "//", "%"):
        return False
    return _is_number(dividend) and _is_number(divisor) and divisor.argval == 0


def _is_number(instruction: dis.Instruction) -> bool:
    is_constant = instruction.opname in ("LOAD_CONST", "LOAD_SMALL_INT")
    return is_constant and type(instruction.argval) in (int, float)


def _find_first_branch(instructions: Sequence[dis.Instruction]) -> int:
    for position, instruction in enumerate(instructions):
        is_jump = instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs
        if is_jump or instruction.opname.startswith(("RETURN", "YIELD", "RAISE")):
            return position
    return len(instructions)


# -- a backward that is rehearsed --------------------------------------------------------------


class _CtxStandIn:
    """Stands for the `ctx` of a backward: what forward has kept there, and what is read of it."""

    def __init__(self, node: Any) -> None:
        # Under names that no backward asks for.
        self.__node = node
        self.__reads_saved = False

    def __getattr__(self, name: str) -> Any:
        if name in _SAVED:
            raw_saved_tensors = getattr_or_none(self.__node, "_raw_saved_tensors")
            self.__reads_saved = True
            # Freed: reading it raises, which is for others to say.
            if raw_saved_tensors is None:
                return end_rehearsal()
            return stand_in_for_series(map(_unwrap_saved_tensor, raw_saved_tensors))
        attributes = vars(self.__node)
        if name == "needs_input_grad":
            return stand_in_for_series(self.__node.needs_input_grad)
        if name not in attributes:
            return end_rehearsal()
        return stand_in_for(attributes[name], f"ctx.{name}")

    @classmethod
    def has_read_saved(cls, ctx: _CtxStandIn) -> bool:
        """Return True if `saved_tensors` were read."""
        return ctx.__reads_saved


def _unwrap_saved_tensor(raw_saved: Any) -> Any:
    """Return the tensor in a SavedTensor, or that itself where a hook has packed the tensor."""
    tensor = None if raw_saved is None else find_tensor_in(raw_saved)
    # A hook that packed it would have to be called.
    if tensor is None:
        return raw_saved
    return tensor


def _rehearse_backward(node: Any, backward: Any, label: str) -> FunctionRecord | None:
    """Return what is known of a backward that was rehearsed; None if that does not show what it does."""
    specs, needs = gradient_specs_of(node), getattr_or_none(node, "needs_input_grad")
    if not isinstance(needs, tuple) or _may_get_none(type(node)._forward_cls):
        return None
    ctx, device = _CtxStandIn(node), _find_device(node)
    gradients = [stand_in_for_gradient(spec, device) for spec in specs]
    outcome = rehearse_call(backward, [ctx, *gradients])
    if outcome is None or any(gradient is None for gradient in gradients):
        return None
    reads_saved = _CtxStandIn.has_read_saved(ctx)
    values = list(outcome.value) if isinstance(outcome.value, tuple) else [outcome.value]
    if not _has_right_number(values, needs):
        error = (
            f"RuntimeError: function {type(node).__name__} returned an incorrect number of gradients "
            f"(expected {len(needs)}, got {len(values)})"
        )
        refusal = Phrase.of(
            gettext_noop("{node} is a Function in Python: {code}, as it is now, raises {error}"),
            node=short_node_name(name_of_node(node)),
            code=label_code(backward),
            error=escape_unseen(error),
        )
        return FunctionRecord(label, reads_saved, is_trusted=False, refusal=refusal)
    if not _fit_inputs(node, values, needs, specs):
        return None
    origins: set[str] = set()
    for value in values:
        if value is not None:
            origins |= value.origins
    attributes = sorted(name.partition(".")[2] for name in origins if name.startswith("ctx."))
    unsent = _find_unsent(node, values, needs)
    return FunctionRecord(
        label, reads_saved, is_trusted=True, kept_attributes=tuple(attributes), unsent=unsent
    )


def _computes_again(node: Any, repeated: Any) -> bool:
    """Return True if a reentrant checkpoint is known to run its function again, and without an error."""
    # `f.__code__ = g.__code__` may have come since: a watch knows what ran in forward.
    answers = [finder(node, "run_function") for finder in COMPARISON_FINDERS]
    if not any(answer is not None and answer.has_changed is False for answer in answers):
        return False
    raw_saved_tensors = getattr_or_none(node, "_raw_saved_tensors")
    inputs, positions = list(vars(node)["inputs"]), vars(node)["tensor_indices"]
    needing = set()
    for position, raw_saved in zip(positions, raw_saved_tensors or (), strict=False):
        tensor = find_tensor_in(raw_saved)
        inputs[position] = stand_in_for(tensor, str(position))
        requires_grad = getattr_or_none(tensor, "requires_grad")
        # Frozen since: unpacked by a watch it requires grad, without one it does not.
        if requires_grad != getattr_or_none(find_watched_save(raw_saved), "required_grad"):
            return False
        if requires_grad:
            needing.add(str(position))
    outcome = rehearse_call(repeated, inputs, has_variables=False)
    # Something has to require grad: else it raises.
    return (
        outcome is not None
        and isinstance(outcome.value, StandIn)
        and bool(outcome.value.origins & needing)
    )


def _may_get_none(function_class: Any) -> bool:
    """Return True if a gradient that does not arrive may be None, as forward can ask for."""
    for name in ("forward", "setup_context"):
        code = getattr_or_none(getattr_or_none(function_class, name), "__code__")
        if isinstance(code, CodeType) and "set_materialize_grads" in code.co_names:
            return True
    return False


def _find_device(node: Any) -> str:
    """Return the device of the gradients that a node gets."""
    metadata = getattr_or_none(node, "_input_metadata")
    if metadata:
        return str(getattr_or_none(metadata[0], "device"))
    specs = getattr_or_none(node, "_gradient_specs")  # of tinytorch: shape, dtype, device
    if not specs:
        return ""
    return str(specs[0][2])


def _has_right_number(values: list[Any], needs: tuple[bool, ...]) -> bool:
    """Return True if there is one value for each input of forward; None may follow."""
    return len(values) >= len(needs) and all(value is None for value in values[len(needs) :])


def _split_by_need(values: list[Any], needs: tuple[bool, ...]) -> tuple[list[Any], list[Any]]:
    """Return the gradients for the inputs that need one, and those for the others."""
    needed: list[Any] = []
    others: list[Any] = []
    for value, is_needed in zip(values, needs, strict=False):
        (needed if is_needed else others).append(value)
    return needed, others


def _find_unsent(node: Any, values: list[Any], needs: tuple[bool, ...]) -> tuple[int, ...]:
    """Return the positions of the edges for whose inputs a backward returns None."""
    positions = [
        position for position, (edge, _) in enumerate(node.next_functions) if edge is not None
    ]
    needed_gradients, _ = _split_by_need(values, needs)
    pairs = zip(positions, needed_gradients, strict=True)
    return tuple(position for position, value in pairs if value is None)


def _fit_inputs(
    node: Any, values: list[Any], needs: tuple[bool, ...], specs: tuple[GradientSpec | None, ...]
) -> bool:
    """Return True if PyTorch takes the gradients that a backward returns."""
    edges = [edge for edge in node.next_functions if edge[0] is not None]
    # A gradient for an input that needs none: PyTorch raises if that input is no tensor.
    needed_gradients, other_gradients = _split_by_need(values, needs)
    if len(edges) != len(needed_gradients) or any(value is not None for value in other_gradients):
        return False
    for value, (follower, output_nr) in zip(needed_gradients, edges, strict=True):
        follower_specs = gradient_specs_of(follower)
        if value is None:
            continue  # no gradient arrives behind it: `unsent`
        if not isinstance(value, StandIn) or output_nr >= len(follower_specs):
            return False
        spec = follower_specs[output_nr]
        if spec is None or (value.sizes, value.dtype) != (spec.shape, spec.dtype):
            return False
    return bool(specs)
