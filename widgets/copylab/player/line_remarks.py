"""Remarks on a single line, found by its code and the snapshots before and after it.

Why it copied that would rather have made a view: `t.reshape(6)`, `t.contiguous()`. PyTorch decides
that by strides, which nobody has in mind. It is read off the run: the result has another storage than
the tensor that was reshaped.

Why the counter of what it made is not at 0: `y = copy.deepcopy(x)`, `torch.nn.Linear(2, 1)`. Something was done in
place while the line ran, and no step shows it.

What it did to a tensor that is gone after it: `h[mask].mul_(2)`, `w.clone().register_hook(f)`. Such a
line changes nothing that has a name, and nothing is said of it otherwise. That it wrote into a copy is
read off the run, too: a write into a view would have been counted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tinytorch.viz import Changes, Snapshot, StepSentence, TensorRecord, join_few_names, labels

from ..wording import gettext, ngettext

_VIEWING_METHODS = {"t", "transpose", "permute", "detach", "unsqueeze", "squeeze", "expand"}
"""Methods that never copy: what they are called on has the memory of what they return."""
_VIEWING_ATTRIBUTES = {"T", "mT", "H", "mH", "data"}
_RESHAPING_METHODS = {"reshape", "flatten", "ravel"}
_COUNTED_NOWHERE = {
    *("data", "numpy", "storage", "untyped_storage", "values", "indices", "_values", "_indices"),
}
"""Ways to memory of a tensor past its version counter."""
_WRITES_NO_CELLS = {
    *("requires_grad_", "detach_", "share_memory_", "rename_", "apply_", "map_", "map2_"),
    *("t_", "transpose_", "swapaxes_", "swapdims_", "squeeze_", "unsqueeze_", "as_strided_"),
    *("resize_", "resize_as_", "set_", "sparse_resize_", "sparse_resize_and_clear_"),
}
"""Methods with an underscore that are no write, or one that no counter counts."""
_HOOKS = {"register_hook", "register_post_accumulate_grad_hook"}
_MAY_RETURN_ITSELF = {
    *("to", "type", "type_as", "cpu", "cuda", "contiguous", "positive", "expand_as"),
    *("float", "double", "half", "bfloat16", "real", "resolve_conj", "resolve_neg"),
}


def find_tensor_of_line(
    code: ast.expr, function: str | None, snap: Snapshot
) -> TensorRecord | None:
    """Return the tensor that `w` or `net.weight` is in a line; None if that is not known.

    `function` is the function that has the line: there a snapshot calls the variable `w` "w in f".
    """
    first = code
    while isinstance(first, ast.Attribute):
        first = first.value
    if not isinstance(first, ast.Name):
        return None
    names = dict(snap.names)
    name = ast.unparse(code)
    if function is not None:
        place = f" in {function.rpartition('.')[2]}"
        # Of two calls at work, the names do not say which has reached the line.
        if any(f"{place} (call " in other for other in names):
            return None
        name = first.id + place + name.removeprefix(first.id)
    return snap.tensor(names[name]) if name in names else None


# -- a copy in the place of a view


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
            base = _find_viewed(operand)
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


def _find_viewed(operand: ast.expr) -> ast.expr | None:
    """Return the variable whose tensor's memory an expression looks at; None if not known."""
    match operand:
        case ast.Call(ast.Attribute(inner, method)) if method in _VIEWING_METHODS:
            return _find_viewed(inner)
        case ast.Attribute(inner, attribute) if attribute in _VIEWING_ATTRIBUTES:
            return _find_viewed(inner)
        case ast.Name() | ast.Attribute():
            return operand
    return None


# -- a counter that begins above 0


def explain_first_versions(source: str, changes: Changes) -> Iterator[StepSentence]:
    """Yield why the counters of the tensors that a line made are not at 0, a sentence for each version."""
    if changes.since is None:
        return
    now = changes.now
    earlier_counters = {now.tensor(tensor_id).counter for tensor_id in changes.earlier_tensors}
    counted: dict[int, list[str]] = {}
    for tensor in now.tensors:
        if tensor.id not in changes.new_tensors or not (
            tensor.names and tensor.version and tensor.storage
        ):
            continue
        # The counter of a view is as old as what it views.
        if tensor.counter not in earlier_counters and _is_known(changes, tensor):
            counted.setdefault(tensor.version, []).append(tensor.names[0])
    for version, names in sorted(counted.items()):
        yield StepSentence(_explain_first_version(source, version, join_few_names(names)))


def _is_known(changes: Changes, tensor: TensorRecord) -> bool:
    """Return False for a new tensor over memory that was there before, without a tensor that could be asked."""
    assert changes.since is not None
    assert tensor.storage is not None
    storage = changes.now.storage(tensor.storage)
    if any(member in changes.earlier_tensors for member in storage.tensors):
        return True
    return all(earlier.key != storage.key for earlier in changes.since.storages)


def _explain_first_version(source: str, version: int, names: str) -> str:
    # `Tensor.__deepcopy__` calls set_() on an empty tensor.
    if version == 1 and _calls_deepcopy(source):
        return gettext(
            "Version 1 from the start: deepcopy makes {names} empty first, and sets the storage in place.",
            names=names,
        )
    return ngettext(
        "Version {version} from the start: making {names} took {version} operation in place.",
        "Version {version} from the start: making {names} took {version} operations in place.",
        version,
        names=names,
        version=version,
    )


def _calls_deepcopy(source: str) -> bool:
    try:
        tree = ast.parse(source.strip())
    except SyntaxError:
        return False  # the beginning of a block
    for code in ast.walk(tree):
        match code:
            case ast.Call(ast.Attribute(_, "deepcopy") | ast.Name("deepcopy")):
                return True
    return False


# -- a write that is lost


def find_lost_write(
    source: str, function: str | None, before: Snapshot, after: Snapshot
) -> StepSentence | None:
    """Return what a line did in vain to a tensor that nothing holds; None for any other line."""
    try:
        statement = ast.parse(source.strip()).body[0]
    except (SyntaxError, IndexError):
        return None  # the beginning of a block
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(target, method))) if method in _HOOKS:
            is_hook = True
        case ast.Expr(ast.Call(ast.Attribute(target, method))) if _writes_cells(method):
            is_hook = False
        case ast.Assign([ast.Subscript(target)]) | ast.AugAssign(ast.Subscript(target)):
            is_hook = False
        case _:
            return None
    base = _find_base(target)
    if base is None or not isinstance(target, ast.Call | ast.Subscript):
        return None
    tensor = find_tensor_of_line(base, function, before)
    same = find_tensor_of_line(base, function, after)
    if tensor is None or same is None or tensor.id != same.id or tensor.version is None:
        return None
    names = {"code": labels.shorten_text(ast.unparse(target), 40), "name": ast.unparse(base)}
    if is_hook:
        # On the tensor itself, the hook stays.
        if _may_be_base(target):
            return None
        return StepSentence(
            gettext(
                "In vain: {code} is another tensor than {name} and is gone after this line, with its hook.",
                **names,
            )
        )
    # It was counted there: the line wrote through a view, and not in vain.
    if tensor.version != same.version:
        return None
    return StepSentence(
        gettext(
            "In vain: {code} has memory of its own and is gone after this line; {name} was not written to.",
            **names,
        )
    )


def _writes_cells(method: str) -> bool:
    is_in_place = method.endswith("_") and not method.endswith("__")
    return is_in_place and method not in _WRITES_NO_CELLS


def _find_base(target: ast.expr) -> ast.expr | None:
    """Return the variable whose tensor an expression computes with; None if not known."""
    match target:
        case ast.Name():
            return target
        case ast.Attribute(inner, attribute) if attribute not in _COUNTED_NOWHERE:
            return target if _is_path(inner) else _find_base(inner)
        case ast.Subscript(inner):
            return _find_base(inner)
        case ast.Call(ast.Attribute(inner, method)) if method not in _COUNTED_NOWHERE:
            return _find_base(inner)
    return None


def _is_path(code: ast.expr) -> bool:
    while isinstance(code, ast.Attribute):
        code = code.value
    return isinstance(code, ast.Name)


def _may_be_base(target: ast.expr) -> bool:
    """Return True if an expression may be the very tensor that it begins with."""
    match target:
        case ast.Call(ast.Attribute(inner, method)):
            is_same = method in _MAY_RETURN_ITSELF or method.endswith("_")
            return is_same and _may_be_base(inner)
        case ast.Subscript():
            return False
    return True
