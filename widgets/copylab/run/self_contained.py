"""Whether a program works with nothing but itself, decided from its text.

A second run of such a program computes the same and changes nothing of the user's. The text is
asked, because no run tells: a tensor of another module that a program writes to is a tensor as any
other, and what `os.environ` or a clock gave looks like a number that was computed.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

_PURE_MODULES = frozenset(
    """
    torch tinytorch numpy __future__ abc bisect cmath collections contextlib copy dataclasses
    decimal enum fractions functools heapq itertools math numbers operator statistics string
    textwrap types typing warnings
""".split()  # noqa: SIM905 - a list of strings would take a line for each
)
"""Those that give the same each time, and have nothing of the user's. Not `gc`, which lists all of
the session's objects, and not `random`."""

_NOT_PURE = frozenset(
    """
    cpp_extension data_ptr default_rng distributed empty empty_like empty_strided from_file
    fromfile hub memmap multiprocessing new_empty random seed tofile
""".split()  # noqa: SIM905 - a list of strings would take a line for each
)
"""Attributes of theirs that reach further: files, processes, the network; addresses; entropy of
the system and memory that nobody has written to, which have other values in each run."""

_PURE_BUILTINS = frozenset(
    """
    abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod
    enumerate filter float format frozenset getattr hasattr hex int isinstance issubclass
    iter len list map max memoryview min next object oct ord pow print property range repr
    reversed round set slice sorted staticmethod str sum super tuple type zip Ellipsis
    NotImplemented __name__ __doc__ __debug__
""".split()  # noqa: SIM905 - a list of strings would take a line for each
) | {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
"""Not `id`, `hash`, `open`, `eval` and the like; nor what a user or IPython has put among them,
as `get_ipython`, which has every variable of the notebook."""

_PURE_DUNDERS = frozenset(
    """
    __init__ __new__ __call__ __name__ __len__ __getitem__ __setitem__ __enter__ __exit__
""".split()  # noqa: SIM905 - a list of strings would take a line for each
)
"""Others lead out of a program, as `__dict__`, `__class__` and `__globals__`."""


def is_self_contained(code: str) -> bool:
    """Return True if a program uses its own names, pure builtins and pure modules, and no more.

    It writes to no attribute of a module, nor hands a module on to where that could be done. False
    if it is no Python, and where it cannot be told.
    """
    try:
        # A list: it is gone through several times, and a name may be bound below where it is used.
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    # `w += 1` alone binds nothing that was not there: a builtin, if anything.
    augmented_ids = {id(node.target) for node in nodes if isinstance(node, ast.AugAssign)}
    # A module may do no more than be asked for an attribute. What `from torch import tensor` binds
    # is imported as well, and may be called.
    modules = {"torch"}
    imported = {"torch"}
    own_names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            if not _is_pure_import(node):
                return False
            bound = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
            imported |= bound
            modules |= bound if isinstance(node, ast.Import) else set()
        if id(node) not in augmented_ids:
            own_names.update(list_bound_names(node))
    imported |= _find_aliases(nodes, imported)
    ids_before_dot = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    return all(
        _is_pure_name(node, own_names | imported, modules, has_dot=id(node) in ids_before_dot)
        and _is_pure_attribute(node)
        and not _writes_outside(node, own_names - imported, imported)
        for node in nodes
    )


def list_bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node itself binds or deletes, but not what an import binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case (
            ast.FunctionDef(name=name)
            | ast.AsyncFunctionDef(name=name)
            | ast.ClassDef(name=name)
            | ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchMapping(rest=str(name))
        ):
            yield name


def _is_pure_import(node: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(node, ast.ImportFrom):
        # A relative import: of a package that the text does not name.
        if node.level or node.module is None:
            return False
        paths = [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        paths = [alias.name for alias in node.names]
    parts = [path.split(".") for path in paths]
    return all(
        names[0] in _PURE_MODULES and not _NOT_PURE & {*names} and "*" not in names
        for names in parts
    )


def _find_aliases(nodes: list[ast.AST], imported: set[str]) -> set[str]:
    """Return the names of what is no program's own: `T` after `T = torch.Tensor` or `type(x)`."""
    assigned = [node for node in nodes if isinstance(node, ast.Assign | ast.NamedExpr)]
    found: set[str] = set()
    # An alias may be of an alias that is assigned further down, in a loop: until none is added.
    for _ in assigned:
        before = len(found)
        for node in assigned:
            is_type = isinstance(node.value, ast.Call) and _root_of(node.value.func) == "type"
            if is_type or _root_of(node.value) in imported | found:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.update(each.id for each in targets if isinstance(each, ast.Name))
        if len(found) == before:
            break
    return found


def _root_of(node: ast.AST) -> str:
    """Return `a` of `a.b[0].c`; empty for what begins with something else than a name."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_pure_name(node: ast.AST, known: set[str], modules: set[str], *, has_dot: bool) -> bool:
    """Return False for a name of elsewhere, and for a module that is not asked for an attribute."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return True
    # Own names first would be wrong: a module that the program binds anew is a module still.
    return has_dot if node.id in modules else node.id in known or node.id in _PURE_BUILTINS


def _is_pure_attribute(node: ast.AST) -> bool:
    if not isinstance(node, ast.Attribute):
        return True
    is_dunder = node.attr.startswith("__") and node.attr.endswith("__")
    return node.attr not in _NOT_PURE and (not is_dunder or node.attr in _PURE_DUNDERS)


def _writes_outside(node: ast.AST, own_names: set[str], imported: set[str]) -> bool:
    """Return True for `math.w = 1`, `del math.w[0]`, and `w += 1` after `w = math.w`.

    Also for `type(x).w = 1`: the class of a tensor is everybody's.
    """
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return node.target.id not in own_names
    if not isinstance(node, ast.Attribute | ast.Subscript) or isinstance(node.ctx, ast.Load):
        return False
    place: ast.expr = node
    while isinstance(place, ast.Attribute | ast.Subscript | ast.Call):
        place = place.func if isinstance(place, ast.Call) else place.value
    return isinstance(place, ast.Name) and place.id in imported | {"type"}
