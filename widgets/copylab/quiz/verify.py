"""The result of testing a task, and small changes of a solution to test a check with.

A check that is worth its name tells most of the changes from the solution.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tinytorch.viz import summarize_text

from ..wording import gettext, ngettext

_OTHER_OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
}
_OTHER_COMPARISONS: dict[type, type] = {
    ast.Lt: ast.GtE,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
}
_NEVER_REMOVED = (ast.Import, ast.ImportFrom, ast.Pass, ast.FunctionDef, ast.ClassDef)


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
        if self.faults:
            lines = [
                ngettext(
                    "{number} fault in: {tried}.",
                    "{number} faults in: {tried}.",
                    len(self.faults),
                    tried=self.tried,
                )
            ]
        else:
            lines = [gettext("Verified: {tried}.", tried=self.tried)]
        # What is at fault is for its author, in English as an exception would be.
        lines += [f"  FAULT: {fault}" for fault in self.faults]
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return summarize_text(str(self))

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": str(self)}


class Mutation(NamedTuple):
    """What was changed in a program, in a few words, and the changed program."""

    change: str
    code: str


def mutate_program(code: str) -> Iterator[Mutation]:
    """Yield programs that differ from `code` in one place each.

    A statement is left out, a number is one more, an operator another one, a method without
    arguments is not called (`x.clone()` becomes `x`), True becomes False, a keyword argument is
    left out, `x += 1` becomes `x = x + 1`. Raises SyntaxError if `code` is no program.
    """
    tree = ast.parse(code)
    for node in ast.walk(tree):
        for change, new_node in _change_node(node):
            # With the new node in its memo, deepcopy takes it for the copy of the old one.
            mutated = copy.deepcopy(tree, {id(node): new_node})
            text = ast.unparse(ast.fix_missing_locations(mutated))
            yield Mutation(f"line {getattr(node, 'lineno', 1)}: {change}", text)


def _change_node(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield each change of one node: in words, and the new node."""
    new = copy.deepcopy(node)
    match new:
        # bool first: True is an int as well.
        case ast.Constant(value=bool() as value):
            yield f"{value} becomes {not value}", ast.Constant(not value)
        case ast.Constant(value=int() | float() as number):
            yield f"{number!r} becomes {number + 1!r}", ast.Constant(number + 1)
        case ast.BinOp(op=operator) if type(operator) in _OTHER_OPERATORS:
            new.op = _OTHER_OPERATORS[type(operator)]()
            yield f"`{ast.unparse(node)}` becomes `{ast.unparse(new)}`", new
        case ast.Compare(ops=[operator]) if type(operator) in _OTHER_COMPARISONS:
            new.ops = [_OTHER_COMPARISONS[type(operator)]()]
            yield f"`{ast.unparse(node)}` becomes `{ast.unparse(new)}`", new
        case ast.AugAssign(target=ast.Name(id=name)):
            result = ast.BinOp(ast.Name(name, ast.Load()), new.op, new.value)
            assignment = ast.Assign([ast.Name(name, ast.Store())], result)
            # To mistake `+=` for `=` is what many exercises are about, and the values stay the
            # same.
            yield f"`{ast.unparse(node)}` not in place", assignment
        # Without `clone`, `detach` and the like: the mistake that a check is there to find.
        case ast.Call(func=ast.Attribute(attr=method, value=tensor), args=[], keywords=[]):
            yield f"without `.{method}()`", tensor
        case ast.Call(keywords=[*_, ast.keyword(arg=str() as keyword)]):
            new.keywords.pop()
            yield f"without `{keyword}=`", new
    if isinstance(node, ast.stmt) and not isinstance(node, _NEVER_REMOVED):
        first_line = ast.unparse(node).partition("\n")[0]
        yield f"without `{first_line}`", ast.Pass()
