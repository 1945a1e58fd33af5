"""Reading the answer to an exercise before it is run, which only a plain program on tensors is.

A program can take hold of the check that judges it, unless it has no words to do so. An answer may
use the statements that the lessons use, methods of tensors and what the lessons' own answers and
the programs of retests use of torch, NumPy and copy. No name with an underscore in front, no class,
no other import, no attribute that is set on anything but a tensor, and no module, class or function
of a module as a value. So it can neither replace the engine nor the check, open a file, or make an
object that is not what it seems. Anything else is left to the teacher, unrun.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import chain
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import numpy as np

import tinytorch

from .. import lessons
from ..quiz import MISCONCEPTIONS, Exercise, find_programs

_MODULES: dict[str, ModuleType] = {"torch": tinytorch, "np": np, "copy": copy}
_IMPORTS = {"import torch", "import tinytorch as torch", "import numpy as np", "import copy"}
_LOOKS = {"compare", "display", "explain", "graph", "memory", "print", "steps"}
"""Calls that look and change nothing: a learner may have left one in the answer."""

_BUILTINS = {
    *("abs", "all", "any", "bool", "dict", "enumerate", "float", "id", "int", "len", "list", "map"),
    *("max", "min", "print", "range", "reversed", "round", "set", "sorted", "str", "sum", "tuple"),
    "zip",
}
_ASSIGNABLE = {"bias", "data", "grad", "requires_grad", "weight"}
_NODES: tuple[type[ast.AST], ...] = (
    *(
        ast.Module,
        ast.Expr,
        ast.Assign,
        ast.AnnAssign,
        ast.AugAssign,
        ast.Delete,
        ast.Pass,
        ast.Assert,
    ),
    *(ast.For, ast.While, ast.If, ast.Break, ast.Continue, ast.With, ast.withitem, ast.Return),
    *(ast.Import, ast.alias, ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg),
    *(ast.Call, ast.keyword, ast.Attribute, ast.Name, ast.Constant, ast.Subscript, ast.Slice),
    *(ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred, ast.IfExp, ast.JoinedStr),
    *(ast.FormattedValue, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp),
    *(ast.comprehension, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context),
)
_MAX_LENGTH = 10_000
"""Characters of an answer that are read: ten times the longest in the lessons."""


def make_plain(source: str) -> str:
    """Return an answer as it is run: without looks and without `import torch`.

    Raises ValueError with the words that a plain program does not have, SyntaxError for what is no
    Python.
    """
    if len(source) > _MAX_LENGTH:
        raise ValueError("...")
    # A notebook knows more than Python: magics, commands of the shell.
    for line in source.splitlines():
        if line.lstrip().startswith(("%", "!")):
            # The words, and no sentence: the table for the teacher says around them that it was not
            # run.
            raise ValueError(line.strip()[:60])
    try:
        tree = ast.parse(source)
        tree.body = [node for node in tree.body if not _is_look(node)]
        for node in ast.walk(tree):
            _remove_annotations(node)
        for node in ast.walk(tree):
            _require_plain(node)
        _require_called(tree)
        # Its engine is known to the program by that name.
        tree.body = [node for node in tree.body if "torch" not in _list_imported(node)]
        return ast.unparse(tree)
    # Of brackets that are nested too deep, and of a text with a zero in it.
    except (RecursionError, MemoryError) as error:
        raise ValueError("...") from error


def find_unbound_name(program: str) -> str:
    """Return a name that a plain program reads and nowhere makes; "" if there is none."""
    used: dict[str, None] = {}
    bound = {*_BUILTINS, *_MODULES}
    for node in ast.walk(ast.parse(program)):
        match node:
            case ast.Name(ctx=ast.Load()):
                used[node.id] = None
            case ast.Name():
                bound.add(node.id)
            case ast.FunctionDef():
                bound.add(node.name)
            case ast.arg():
                bound.add(node.arg)
    return next((name for name in used if name not in bound), "")


def _is_look(node: ast.stmt) -> bool:
    """Return True for a statement that only calls a look, with nothing but names and attributes."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return False
    function = node.value.func
    if not (isinstance(function, ast.Name) and function.id in _LOOKS):
        return False
    # `print(x.zero_())` does more than look.
    return not any(isinstance(part, ast.Call) for part in list(ast.walk(node.value))[1:])


def _remove_annotations(node: ast.AST) -> None:
    """Remove what a function says of its types: `t: torch.Tensor` is plain, and a class."""
    if isinstance(node, ast.FunctionDef):
        node.returns = None
    if isinstance(node, ast.arg):
        node.annotation = None


def _list_imported(node: ast.AST) -> list[str]:
    if not isinstance(node, ast.Import):
        return []
    return [alias.asname or alias.name for alias in node.names]


def _require_plain(node: ast.AST) -> None:
    """Raise ValueError for a part that a plain program does not have."""
    is_plain = isinstance(node, _NODES)
    match node:
        case ast.Import():
            # As a whole statement: `import torch, os` is none of them.
            is_plain = ast.unparse(node) in _IMPORTS
        case ast.FunctionDef():
            # A decorator calls something without a bracket, and gives the function to it.
            is_plain = _is_free_name(node.name) and not node.decorator_list
        case ast.arg():
            is_plain = _is_free_name(node.arg)
        case ast.Name(ctx=ast.Load()):
            is_plain = _is_free_name(node.id) or node.id in _MODULES or node.id in _BUILTINS
        case ast.Name():
            is_plain = _is_free_name(node.id)
        case ast.Attribute(ctx=ast.Load()):
            is_plain = node.attr in _list_attributes()
        case ast.Attribute():
            # `x.data = ...` is what lessons are about; `torch.clone = ...` would replace the
            # engine.
            is_plain = node.attr in _ASSIGNABLE and not isinstance(_find_root(node), ModuleType)
    if not is_plain:
        words = ast.unparse(node) if isinstance(node, ast.expr | ast.stmt) else type(node).__name__
        raise ValueError(words.partition("\n")[0][:60])


def _is_free_name(name: str) -> bool:
    """Return True for a name that an answer may give to a thing of its own.

    `if False: eval = 1` makes `eval` no name of its own: those of Python stay Python's.
    """
    # Python's prompt keeps its latest value in `builtins`, as gettext does its function.
    if name == "_":
        return True
    is_private = name.startswith("_") and name.strip("_") != ""
    return not (is_private or name in _MODULES or hasattr(builtins, name))


def _find_root(node: ast.expr) -> ModuleType | None:
    """Return the module in which a chain such as `torch.nn.Linear` begins; None for any other."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return _MODULES.get(node.id) if isinstance(node, ast.Name) else None


def _require_called(tree: ast.Module) -> None:
    """Raise ValueError for a module, or for a class or function of one, that is not called at once.

    As a value it could get another name, and then be written to.
    """
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute | ast.Name) or id(node) in inner | called:
            continue
        value = _resolve_chain(node)
        # A dtype is neither; an unknown attribute raises where it is run.
        if callable(value) or isinstance(value, ModuleType):
            raise ValueError(ast.unparse(node)[:60])  # noqa: TRY004  # of a text


def _resolve_chain(node: ast.expr) -> Any:
    """Return what a chain from a module leads to; None for any other, and for what is not there."""
    if isinstance(node, ast.Attribute):
        # Of `x.data` the chain begins at no module, and `getattr(None, "data", None)` is None.
        return getattr(_resolve_chain(node.value), node.attr, None)
    return _find_root(node)


@cache
def _list_attributes() -> frozenset[str]:
    """Return the attributes that an answer may read: those of tensors, lessons' answers, retests."""
    attributes = {name for name in dir(tinytorch.Tensor) if not name.startswith("_")}
    for exercise in list_exercises().values():
        for code in (exercise.start, exercise.code, *exercise.also, *exercise.wrong):
            attributes.update(_list_attributes_of(code))
    for program in chain.from_iterable(map(find_programs, MISCONCEPTIONS.values())):
        for text in (program.code, program.believed):
            attributes.update(_list_attributes_of("\n".join(text.split("; "))))
    return frozenset(attributes)


def _list_attributes_of(code: str) -> Iterator[str]:
    return (node.attr for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute))


@cache
def list_exercises() -> dict[str, Exercise]:
    """Return the exercises of all lessons, by key."""
    exercises = {}
    for module in iter_modules(lessons.__path__):
        for thing in vars(import_module(f"{lessons.__name__}.{module.name}")).values():
            if isinstance(thing, Exercise):
                exercises[str(thing.key)] = thing
    return exercises
