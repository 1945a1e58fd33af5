"""The expressions that computed the tensors of a run, where the lines that ran are known.

Of a tensor with a name that is what the line assigns to it. Of one without, as `y.detach()` in `z = b * y.detach()`,
nothing in memory or graph tells how the program wrote it. The line does, but only where a single one of its
expressions can have made it: of two, and of a call that may do anything, nothing is said.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..diagnose import Changes
from ..read import TensorRecord
from .number_reads import ReadStep

ORIGIN_COLUMNS = 32
"""What is longer is not said: of `torch.tensor([1.0, 2.0], requires_grad=True) * 1` only what tells nothing was left."""
_CUTTERS = {"detach", "data"}
"""What takes a tensor off the graph, and leaves it its shape."""
_VIEWS = {"T", "mT", "H", "mH", "real", "imag"}
"""Attributes that are views of a tensor."""
_FACTS = {"shape", "dtype", "device", "ndim", "requires_grad", "is_leaf", "grad_fn", "_version"}
"""Attributes that are no tensors."""
_FRESH = {
    *("add", "sub", "mul", "div", "matmul", "mm", "bmm", "dot", "pow", "exp", "log", "sqrt"),
    *("sin", "cos", "tanh", "sigmoid", "relu", "softmax", "sum", "mean", "clone", "item", "tolist"),
    *("mse_loss", "cross_entropy", "linear", "backward"),
}
"""Methods and functions whose result is never over the memory of a tensor that they are given."""
_MODULES = {"torch", "tinytorch", "nn", "F", "math"}
"""Names of what has functions, unless a tensor is called so."""
_LEAF_MAKERS = {"requires_grad_", "Parameter"}


def find_origins(steps: Iterable[tuple[Changes, str]]) -> list[dict[str, str]]:
    """Return for each step tensor id -> the expression that computed it, as `b * 3`.

    A step is what changed, and the statement that ran. Known is what `name = expression` gave to
    a name as a new tensor, until something else becomes its history, as by a write in place.
    """
    expressions: dict[str, str] = {}
    origins = []
    for changes, source in steps:
        now = changes.now
        alive = {tensor.id for tensor in now.tensors}
        for tensor_id in list(expressions):
            is_gone = tensor_id not in alive
            if is_gone or _has_another_history(changes.attribute_changes, tensor_id):
                del expressions[tensor_id]
        name, expression = _read_assignment(source)
        tensor_id = dict(now.names).get(name, "")
        # `b = a` gives a second name to a tensor that another line computed.
        if tensor_id in changes.new_tensors and len(expression) <= ORIGIN_COLUMNS:
            expressions[tensor_id] = expression
        origins.append(dict(expressions))
    return origins


def _has_another_history(
    attribute_changes: Mapping[str, Mapping[str, object]], tensor_id: str
) -> bool:
    """Return True if a tensor has another grad_fn than before: what computed it is not all."""
    return not attribute_changes.get(tensor_id, {}).keys().isdisjoint(("grad_fn_name", "node"))


def _read_assignment(source: str) -> tuple[str, str]:
    """Return name and expression of `name = expression`; nothing of any other statement."""
    try:
        statement = ast.parse(source.strip()).body[0]
    except (SyntaxError, ValueError, IndexError):
        return "", ""  # the beginning of a block, or no Python
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return "", ""
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return "", ""
    return target.id, ast.unparse(statement.value)


# -- tensors without a name ---------------------------------------------------------


class _UnknownExpressionError(Exception):
    """An expression of which it is not known what it does."""


class _WrittenExpression(NamedTuple):
    """An expression that made a tensor, and what its names referred to then."""

    expression: str
    """As the line has it."""
    names: dict[str, str]
    """The ids of the tensors that it read, by their names."""


_Key = tuple[object, int] | str
"""What a tensor without a name is known by: node and position of what was saved, which is a new object in each
snapshot; its id for a leaf that is there otherwise."""


def find_expressions(steps: Iterable[ReadStep]) -> list[dict[str, str]]:
    """Return for each step tensor id -> the expression that made a tensor without a name.

    It holds as long as its names refer to what they did then, also after a backward has freed the tensor.
    """
    sources: dict[_Key, _WrittenExpression] = {}
    ids: dict[_Key, str] = {}
    found = []
    for step in steps:
        names_now = dict(step.changes.now.names)
        known = {**sources, **_read_step(step)}
        # Where a name in it is that of another tensor by now, the expression would be read as one
        # on that.
        sources = {
            key: source
            for key, source in known.items()
            if source.names.items() <= names_now.items()
        }
        # Most runs have none, and long ones have many steps.
        if sources:
            # Added to, and not replaced: what a backward has freed is in the snapshot no more.
            ids |= {key: tensor.id for key, tensor in _list_leaves(step.changes, is_new=False)}
        found.append({ids[key]: source.expression for key, source in sources.items()})
    return found


def _read_step(step: ReadStep) -> dict[_Key, _WrittenExpression]:
    """Return the sources of the tensors without a name that came in a step."""
    new = list(_list_leaves(step.changes, is_new=True))
    if not new or not step.source:
        return {}
    try:
        makers = _list_makers(step)
    except (SyntaxError, ValueError, RecursionError, _UnknownExpressionError):
        return {}
    sources: dict[_Key, _WrittenExpression] = {}
    for key, tensor in new:
        possible = {}
        for maker in makers:
            if maker.can_have_made(step.changes, tensor):
                possible[maker.text] = maker
        # By their texts: the same expression twice in a line is one.
        if len(possible) == 1:
            (maker,) = possible.values()
            sources[key] = _WrittenExpression(maker.text, maker.names)
    return sources


def _list_leaves(changes: Changes, *, is_new: bool) -> Iterator[tuple[_Key, TensorRecord]]:
    """Yield the leaves without a name, all or those that are new; one that several nodes saved is there several times."""
    now = changes.now
    for tensor in now.tensors:
        is_known = is_new and tensor.id not in changes.new_tensors
        if tensor.role != "saved" and not is_known and _is_leaf_without_name(tensor):
            yield tensor.id, tensor
    for node in now.nodes:
        if is_new and node.id not in changes.new_nodes:
            continue
        for position, saved in enumerate(node.saved):
            tensor = None if saved.tensor is None else now.tensor(saved.tensor)
            if tensor is not None and tensor.role == "saved" and _is_leaf_without_name(tensor):
                yield (node.key, position), tensor


def _is_leaf_without_name(tensor: TensorRecord) -> bool:
    has_memory = tensor.storage is not None and tensor.grad_of is None
    return bool(has_memory and tensor.is_leaf and not tensor.names)


class _Maker(NamedTuple):
    """An expression that may have made a leaf without a name."""

    node: ast.expr
    """As it was parsed."""
    names: dict[str, str]
    """The tensors that it reads, by their names."""
    memory: frozenset[str]
    """The names of the tensors whose memory its result may be over."""

    @property
    def text(self) -> str:
        """How it is written."""
        return ast.unparse(self.node)

    def can_have_made(self, changes: Changes, tensor: TensorRecord) -> bool:
        """Return False if its result cannot be this tensor."""
        # A leaf that requires grad: a result would have a node.
        if tensor.requires_grad:
            return _makes_leaf(self.node)
        sharers = []
        for name in self.memory:
            record = changes.now.tensor(self.names[name])
            if record.storage == tensor.storage:
                sharers.append(record)
        if not sharers:
            return False
        if _is_plain_cut(self.node):
            return _describe_view(sharers[0]) == _describe_view(tensor)
        # What is computed from tensors that require grad has a history, unless it was cut off.
        return _has_cutter(self.node) or not all(sharer.requires_grad for sharer in sharers)


def _describe_view(tensor: TensorRecord) -> tuple[object, ...]:
    return tensor.start_byte, tensor.shape, tensor.stride


def _is_plain_cut(node: ast.expr) -> bool:
    """Return True for `y.detach()` and `y.data`."""
    match node:
        case ast.Attribute(ast.Name(), "data") | ast.Call(ast.Attribute(ast.Name(), "detach")):
            return True
    return False


def _has_cutter(node: ast.expr) -> bool:
    attributes = (part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute))
    return not _CUTTERS.isdisjoint(attributes)


def _makes_leaf(node: ast.expr) -> bool:
    """Return True for a call that gives a leaf that requires grad."""
    match node:
        case ast.Call(ast.Attribute(_, name) | ast.Name(name)) if name in _LEAF_MAKERS:
            return True
        case ast.Call(keywords=keywords):
            return any(keyword.arg == "requires_grad" for keyword in keywords)
    return False


def _list_makers(step: ReadStep) -> list[_Maker]:
    """List the expressions of a line that may have made a leaf without a name.

    Raises _UnknownExpressionError where something else may have made it, too.
    """
    (statement,) = ast.parse(step.source.strip()).body
    reader = _LineReader(step)
    match statement:
        case ast.Assign([ast.Name()], value) | ast.AnnAssign(ast.Name(), value=ast.expr() as value):
            reader.read(value)
            # The result of all of it has the name.
            return [maker for maker in reader.makers if maker.node is not value]
        case ast.AugAssign(ast.Name(), value=value) | ast.Expr(value):
            reader.read(value)
            return reader.makers
    raise _UnknownExpressionError


class _LineReader:
    """Reads the expressions of one line, the inner ones first."""

    def __init__(self, step: ReadStep) -> None:
        self.makers: list[_Maker] = []
        self._plain = step.plain
        changes = step.changes
        # What the line has bound anew is not what it has read.
        self._names = {**dict(changes.now.names), **changes.earlier_names}
        self._ids = {tensor.id for tensor in changes.now.tensors}

    def read(self, node: ast.expr) -> frozenset[str]:
        """Return the names of the tensors whose memory an expression may be over, and note what may make a leaf."""
        match node:
            case ast.Constant():
                return frozenset()
            case ast.Name(name):
                return self._read_name(name)
            case ast.List(elements) | ast.Tuple(elements):
                return self._read_all(elements)
            # Arithmetic computes into new memory. Its operands are read for what they make, as
            # `-y.detach()`.
            case ast.UnaryOp(operand=operand):
                self.read(operand)
                return frozenset()
            case ast.BinOp(left, _, right):
                self._read_all([left, right])
                return frozenset()
            case ast.Attribute(inner, name):
                return self._read_attribute(node, inner, name)
            case ast.Subscript(inner, index):
                return self._read_subscript(node, inner, index)
            case ast.Call(ast.Attribute(inner, name), arguments, keywords):
                return self._read_call(node, inner, name, [*arguments, *_values_of(keywords)])
        raise _UnknownExpressionError

    def _read_all(self, nodes: Iterable[ast.expr]) -> frozenset[str]:
        return frozenset().union(*map(self.read, nodes))

    def _read_name(self, name: str) -> frozenset[str]:
        tensor_id = self._names.get(name)
        if tensor_id is not None:
            # One that is gone may have been over any memory.
            if tensor_id not in self._ids:
                raise _UnknownExpressionError
            return frozenset([name])
        # A list or an object may hold any tensor.
        if not _is_number(self._plain.get(name, "")):
            raise _UnknownExpressionError
        return frozenset()

    def _read_attribute(self, node: ast.expr, inner: ast.expr, name: str) -> frozenset[str]:
        if self._is_module(inner) or name in _FACTS:
            return frozenset()
        # A property of a class of the program may return any tensor.
        if name not in _CUTTERS | _VIEWS:
            raise _UnknownExpressionError
        return self._note_maker(node, self.read(inner))

    def _read_subscript(self, node: ast.expr, inner: ast.expr, index: ast.expr) -> frozenset[str]:
        name = ast.unparse(node)
        if name in self._names:
            return self._read_name(name)
        for part in ast.walk(index):
            # Numbers, slices and names alone: nothing that makes a tensor.
            if isinstance(part, ast.Call | ast.Attribute | ast.Lambda):
                raise _UnknownExpressionError
        return self._note_maker(node, self.read(inner))

    def _read_call(
        self, node: ast.expr, inner: ast.expr, name: str, arguments: list[ast.expr]
    ) -> frozenset[str]:
        # Of a call that is not in the table: it may return an argument, or a view of one.
        memory: frozenset[str] = frozenset()
        if not self._is_module(inner):
            memory = self.read(inner)
        memory |= self._read_all(arguments)
        return self._note_maker(node, frozenset() if name in _FRESH else memory)

    def _is_module(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(name):
                return name in _MODULES and name not in self._names
            case ast.Attribute(inner, _):
                return self._is_module(inner)
        return False

    def _note_maker(self, node: ast.expr, memory: frozenset[str]) -> frozenset[str]:
        """Note an expression as the maker of a tensor, with the names in it; return its memory."""
        names = {}
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id in self._names:
                names[part.id] = self._names[part.id]
        for name in memory:
            names[name] = self._names[name]
        self.makers.append(_Maker(node, names, memory))
        return memory


def _values_of(keywords: Iterable[ast.keyword]) -> list[ast.expr]:
    return [keyword.value for keyword in keywords]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text in ("True", "False")
    return True
