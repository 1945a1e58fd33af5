"""How a teacher's exercise or prediction is tested: what was found, and small changes of a solution, one at a time.

A check that is worth its name tells most of the changes from the solution.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from tinytorch.viz import summarize_text

_OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
}
_COMPARISONS: dict[type, type] = {
    ast.Lt: ast.GtE,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
}
_KEPT = (ast.Import, ast.ImportFrom, ast.Pass, ast.FunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Verification:
    """The result of `verify()`: true if nothing is wrong; prints what was tried and each fault.

    tried: what was tested, in a few words.
    faults: one sentence for each thing that is wrong.
    notes: what is worth knowing and not wrong.
    """

    tried: str
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.faults

    def __str__(self) -> str:
        state = (
            "Verified"
            if self
            else f"{len(self.faults)} fault{'' if len(self.faults) == 1 else 's'} in"
        )
        return "\n".join(
            [
                f"{state}: {self.tried}.",
                *(f"  FAULT: {f}" for f in self.faults),
                *(f"  {n}" for n in self.notes),
            ]
        )

    def __repr__(self) -> str:
        return summarize_text(str(self))

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": str(self)}


def mutations(code: str) -> Iterator[tuple[str, str]]:
    """Yield (what was changed, the changed program) for every change: each differs from `code` in one place.

    A statement is left out, a number is one more, an operator another one, a method without arguments is not called
    (`x.clone()` becomes `x`), True becomes False, a keyword argument is left out, `x += 1` becomes `x = x + 1`.
    Raises SyntaxError if `code` is no program.
    """
    tree = ast.parse(code)
    for node in ast.walk(tree):
        for what, changed in _changes(node):
            made = copy.deepcopy(tree, {id(node): changed})  # as if that were its copy
            yield (
                f"line {getattr(node, 'lineno', 1)}: {what}",
                ast.unparse(ast.fix_missing_locations(made)),
            )


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    new = copy.deepcopy(node)
    match new:
        case ast.Constant(value=bool() as was):
            yield f"{was} becomes {not was}", ast.Constant(not was)
        case ast.Constant(value=int() | float() as was):
            yield f"{was!r} becomes {was + 1!r}", ast.Constant(was + 1)
        case ast.BinOp(op=op) if type(op) in _OPERATORS:
            new.op = _OPERATORS[type(op)]()
            yield f"`{ast.unparse(node)}` becomes `{ast.unparse(new)}`", new
        case ast.Compare(ops=[op]) if type(op) in _COMPARISONS:
            new.ops = [_COMPARISONS[type(op)]()]
            yield f"`{ast.unparse(node)}` becomes `{ast.unparse(new)}`", new
        case ast.AugAssign(target=ast.Name(id=name)):
            value = ast.BinOp(ast.Name(name, ast.Load()), new.op, new.value)
            yield (
                f"`{ast.unparse(node)}` not in place",
                ast.Assign([ast.Name(name, ast.Store())], value),
            )
        case ast.Call(func=ast.Attribute(attr=method, value=inner), args=[], keywords=[]):
            yield f"without `.{method}()`", inner
        case ast.Call(keywords=[*_, ast.keyword(arg=str() as gone)]):
            new.keywords.pop()
            yield f"without `{gone}=`", new
    if isinstance(node, ast.stmt) and not isinstance(node, _KEPT):
        first = ast.unparse(node).partition("\n")[0]
        yield f"without `{first}`", ast.Pass()
