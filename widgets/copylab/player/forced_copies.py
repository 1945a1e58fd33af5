"""Why a line copied that would rather have made a view: `t.reshape(6)`, `t.contiguous()`.

PyTorch decides that by strides, which nobody has in mind. It is read off the run: the result has
another storage than the tensor that was reshaped.
"""

from __future__ import annotations

import ast

from tinytorch.viz import Snapshot, StepSentence, labels

from ..wording import gettext
from .line_names import find_tensor_of_line

_VIEWING_METHODS = {"t", "transpose", "permute", "detach", "unsqueeze", "squeeze", "expand"}
"""Methods that never copy: what they are called on has the memory of what they return."""
_VIEWING_ATTRIBUTES = {"T", "mT", "H", "mH", "data"}
_RESHAPING_METHODS = {"reshape", "flatten", "ravel"}


def explain_copy(source: str, function: str | None, after: Snapshot) -> StepSentence | None:
    """Return why a line copied, for `y = x.t().reshape(4)` and the like; None for any other line.

    `function` is the function that has the line, as `find_tensor_of_line` takes it.
    """
    try:
        statement = ast.parse(source.strip()).body[0]
    except (SyntaxError, IndexError):
        return None  # the beginning of a block
    match statement:
        case ast.Assign(
            [ast.Name() as target], ast.Call(ast.Attribute(operand, method), args, keywords)
        ):
            # `contiguous(memory_format=...)` also copies what is contiguous in another way.
            has_reason = method == "contiguous" and not (args or keywords)
            if not has_reason and method not in _RESHAPING_METHODS:
                return None
            base = _find_base(operand)
        case _:
            return None
    result = find_tensor_of_line(target, function, after)
    tensor = None if base is None else find_tensor_of_line(base, function, after)
    # `x = x.t().reshape(6)`: the tensor that was reshaped has no name any more.
    if result is None or tensor is None or result.id == tensor.id:
        return None
    # A tensor without elements has no memory that could be shared.
    if not result.storage or result.storage == tensor.storage or 0 in (result.shape or (0,)):
        return None
    code = labels.shorten_text(ast.unparse(operand), 40)
    # No shape was asked for: the strides alone are the reason.
    if method == "contiguous":
        return StepSentence(gettext("Copied: {code} is not contiguous.", code=code))
    shape = labels.format_shape(result.shape)
    return StepSentence(
        gettext("Copied: {code} cannot be viewed with shape {shape}.", code=code, shape=shape)
    )


def _find_base(operand: ast.expr) -> ast.expr | None:
    """Return the variable whose tensor's memory an expression looks at; None if not known."""
    match operand:
        case ast.Call(ast.Attribute(inner, method)) if method in _VIEWING_METHODS:
            return _find_base(inner)
        case ast.Attribute(inner, attribute) if attribute in _VIEWING_ATTRIBUTES:
            return _find_base(inner)
        case ast.Name() | ast.Attribute():
            return operand
    return None
