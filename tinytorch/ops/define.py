"""Declaring operations: PyTorch's own schema, a kernel, and a formula for each gradient.

    mul = op(
        "mul(Tensor self, Tensor other)",
        pointwise(np.multiply),
        numbers=True,
        operator="mul",
        self=lambda grad, other: grad * other,
        other=lambda grad, self: grad * self,
    )

The schema says how the operation may be called and what a call shares: a result `Tensor(a)` looks
at the memory of the argument `Tensor(a)`, and `Tensor(a!)` is written to. From it come the
function, the method, `name_`, `out=`, and PyTorch's errors for calls that do not fit. The names of
a formula's parameters say what is saved for it.

An import only notes the declarations: a program names few of them, and reads a schema, makes classes
of nodes, functions and methods of those alone, when it first names them. How an operation then runs is in
operation.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import refuse_operand
from ..tensor import Tensor
from .calling import Overloads
from .kernels import Kernel, pointwise
from .late import LaterFunction, LaterMethod
from .operation import Op, OpDeclaration
from .out_argument import OutRule
from .schema import NOT_GIVEN, has_tensor_self, is_number, read_operand
from .short_ways import make_short_way

# All operations that are declared, an entry for each overload, in order.
OPS: list[Op] = []
# what `tinytorch` offers under its own name
FUNCTIONS: dict[str, Callable | LaterFunction] = {}
# by name, functions and methods alike
OVERLOADS: dict[str, Overloads] = {}
# By operation: how many of the overloads declared so far have a node. PyTorch numbers nodes so, in
# its own order of overloads: where ours is another, `backward=` has the name.
_nodes_declared: dict[str, int] = {}


def find_function(name: str) -> Callable | None:
    """Return what `tinytorch` offers under a name; None for another name."""
    function = FUNCTIONS.get(name)
    return function.function if isinstance(function, LaterFunction) else function


def op(
    schema: str,
    kernel: Any,
    *,
    aka: tuple[str, ...] = (),  # other names
    method: bool = True,
    function: bool = True,
    in_place: bool | None = None,  # offer `name_`; for None, see `_is_in_place_by_default`
    out: bool | str | OutRule | None = None,  # offer `out=`; by default for what makes a result
    numbers: bool = False,  # Python numbers stand for tensors, as in arithmetic
    operator: str = "",  # Python's, as in `__mul__`
    backward: str = "",  # the node's name, where it is not that of `_take_node_name`
    also_saved: tuple[str, ...] = (),  # saved although no formula that runs may read it
    readers: dict[str, Callable] | None = None,
    undifferentiable: bool = False,  # recorded, by a node that raises in backward
    undifferentiable_out: bool = False,  # the same of a call with `out=`
    **formulas: Callable | None,  # by an input's name, its gradient; None for an edge without one
) -> Op:
    """Declare an operation, or one more overload of it.

    `out`: a text, or a key of OUT_DTYPE_ERRORS, is the error for another dtype; else the result is
    converted. An OutRule says more. `readers`: by the name of a saved value that is neither an
    argument nor a fact of one as `self_sym_sizes`: a function that reads it off a call's arguments.
    """
    name = schema.partition("(")[0]
    kernel = kernel if isinstance(kernel, Kernel) else Kernel(kernel)
    if formulas or undifferentiable:
        backward = _take_node_name(name, backward)
    declaration = OpDeclaration(
        schema,
        kernel,
        backward,
        formulas,
        also_saved,
        readers or {},
        undifferentiable,
        undifferentiable_out,
        out,
    )
    declared = Op(name, declaration, numbers)
    OPS.append(declared)
    in_place = _is_in_place_by_default(declaration) if in_place is None else in_place
    # An operation that is neither is for formulas alone.
    if function or method:
        has_out = kernel.kind == "fresh" if out is None else bool(out)
        for offered_name in (name, *aka):
            _offer_with_in_place(offered_name, declared, in_place, function, method, has_out)
    if operator:
        _offer_operators(operator, declared, in_place)
    return declared


def _take_node_name(name: str, given: str) -> str:
    """Return the name of an overload's nodes: the one that was given, or PyTorch's by its number."""
    # Counted in any case: PyTorch numbers its nodes whether they have a name of their own or not.
    number = _nodes_declared.get(name, 0)
    _nodes_declared[name] = number + 1
    return given or f"{name.lstrip('_').title().replace('_', '')}Backward{number}"


def _is_in_place_by_default(declaration: OpDeclaration) -> bool:
    """Return True for what is pointwise, gives no bools, and has a tensor as its `self`.

    Where `self` is no tensor there is neither `name_` nor a method.
    """
    kernel = declaration.kernel
    is_pointwise = isinstance(kernel, pointwise) and kernel.to != "bool"
    return is_pointwise and has_tensor_self(declaration.text)


def _offer_with_in_place(
    name: str, declared: Op, in_place: bool, function: bool, method: bool, out: bool
) -> None:
    """Put an operation under a name into FUNCTIONS and on Tensor, and `name_` on Tensor."""
    is_in_place = declared.declaration.kernel.kind == "write" and name.endswith("_")
    _add_overload(name, declared, is_in_place, function, method, out)
    if in_place:
        _add_overload(f"{name}_", declared, in_place=True, function=False, method=True, out=False)


def _add_overload(
    name: str, declared: Op, in_place: bool, function: bool, method: bool, out: bool
) -> None:
    """Put an operation under a name into FUNCTIONS, which the package offers, and on Tensor."""
    overloads = OVERLOADS.setdefault(name, Overloads(name, in_place))
    has_method = method and has_tensor_self(declared.declaration.text)
    overloads.add(declared, out, has_method)
    # What is there already is made anew, to try this overload, too.
    if function or name in FUNCTIONS:
        FUNCTIONS[name] = LaterFunction(lambda: overloads.make_function(method=False))
    if has_method:
        _offer_method(name, lambda: overloads.make_function(method=True))


def _offer_method(name: str, make: Callable[[], Callable]) -> LaterMethod:
    """Put a method on Tensor, which is made when it is first named; return what stands for it."""
    method = LaterMethod(Tensor, name, make)
    setattr(Tensor, name, method)
    return method


def _make_declared_method(name: str) -> Callable:
    """Make the method that was declared, for an operator.

    Not the one that Tensor has now: a program may have put another there for a while.
    """
    return OVERLOADS[name].make_function(method=True)


_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_OF_ONE_OPERAND = ("neg", "abs", "pos")


def _offer_operators(operator: str, declared: Op, in_place: bool) -> None:
    """Put the methods of Python's operator on Tensor: `__mul__`, `__rmul__` and `__imul__`."""
    name = f"__{operator}__"
    if operator in _OF_ONE_OPERAND:
        _offer_method(name, lambda: _make_operator_of_one(declared))
        return
    method = _offer_method(name, lambda: make_operator(operator, declared))
    if operator in _COMPARISONS:
        return
    if operator in ("add", "mul"):
        # In PyTorch, too, `2 + x` is `x + 2`: the node is the same.
        _offer_method(f"__r{operator}__", lambda: method.function)
    else:
        _offer_method(f"__r{operator}__", lambda: _make_reflected_operator(declared))
    if in_place:
        _offer_method(f"__i{operator}__", lambda: _make_operator_in_place(declared))


def _make_operator_of_one(declared: Op) -> Callable:
    """Make `__neg__`, which is `Tensor.neg`."""
    return _make_declared_method(declared.name)


def make_operator(operator: str, declared: Op) -> Callable:
    """Make the method of Python's operator for two operands: `__mul__`.

    For a plain call it is the short way of `mul`, which leaves other calls to `Tensor.mul`.
    """
    call = _make_declared_method(declared.name)
    # Of NotImplemented Python makes False for `x == "a"`, and a TypeError for `x < "a"`.
    # `refuse_operand` returns it, too, but raises for a tensor of PyTorch: `==` must not.
    refuse = (lambda *_: NotImplemented) if operator in ("eq", "ne") else refuse_operand

    def call_or_refuse(self: Any, *args: Any, **named: Any) -> Any:
        if len(args) != 1 or named:
            return _call_by_name(call, self, *args, **named)
        (other,) = args
        is_operand = isinstance(other, Tensor) or is_number(other)
        return call(self, other) if is_operand else refuse(self, other)

    return make_short_way(declared, call_or_refuse)


def _call_by_name(call: Callable, *args: Any, **named: Any) -> Any:
    """Call what an operator stands for as only `x.__add__(y, alpha=2)` does, not `x + y`.

    NotImplemented, as PyTorch returns it, in the place of the TypeError of a call that does not fit.
    """
    try:
        return call(*args, **named)
    except TypeError:
        return NotImplemented


def _make_reflected_operator(declared: Op) -> Callable:
    """Make `__rsub__`, for a number on the left."""

    def call_reflected(self: Any, other: Any = NOT_GIVEN, *surplus: Any) -> Any:
        if surplus:
            return NotImplemented
        # A tensor comes here only if somebody calls the method by its name.
        if not (is_number(other) or isinstance(other, Tensor)):
            return refuse_operand(self, other)
        return declared.run(read_operand(other), self, *declared.defaults[2:])

    return call_reflected


def _make_operator_in_place(declared: Op) -> Callable:
    """Make `__imul__`, which is `Tensor.mul_`."""
    write = _make_declared_method(f"{declared.name}_")

    def write_or_refuse(self: Any, other: Any = NOT_GIVEN, *surplus: Any) -> Any:
        if surplus:
            return _call_by_name(write, self, other, *surplus)
        is_operand = isinstance(other, Tensor) or is_number(other)
        return write(self, other) if is_operand else refuse_operand(self, other)

    return write_or_refuse


def offer_member(
    name: str,
    member: Any,
    *,
    function: bool = True,
    method: bool = True,
    aka: tuple[str, ...] = (),
) -> Any:
    """Offer what PyTorch itself writes in Python, or whose arguments it reads by hand."""
    for n in (name, *aka):
        if function:
            FUNCTIONS[n] = member
        if method:
            setattr(Tensor, n, member)
    return member


def make_function_of(*ops: Op, out: bool = False, in_place: bool = False) -> Callable:
    """Return the function of an op that PyTorch offers in a module, as `nn.functional.linear`.

    `in_place`: that of `name_`.
    """
    overloads = Overloads(ops[0].name + "_" * in_place, in_place)
    for one_op in ops:
        overloads.add(one_op, out)
    return overloads.make_function(method=False)


__all__ = [
    "FUNCTIONS",
    "OPS",
    "OVERLOADS",
    "find_function",
    "make_function_of",
    "make_operator",
    "offer_member",
    "op",
]
