"""Calling a module with other tensors in the places of its parameters and buffers.

Source: `torch.func.functional_call`, `torch.nn.utils.stateless`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from ..tensor import Tensor
from ..warn import warn_user
from .module import Module

_NOTHING: Any = object()


def called(module: Module, given: Any, args: Any = None, kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True,
           strict: bool = False) -> Any:  # fmt: skip
    """Call a module with the tensors of a dictionary, or of several, in the places of its own.

    Parameters that are tied stay so, unless `tie_weights` is false. ValueError for a name given twice, RuntimeError with
    `strict` for names that are missing or unknown.
    """
    if isinstance(given, dict):
        tensors = given
    elif isinstance(given, Sequence):
        tensors = _merged(given)
    else:
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(given)}"
        )
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _in_place_of(module, tensors, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def functional_call(module: Module, parameters_and_buffers: dict[str, Tensor], args: Any = None,
                    kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True, strict: bool = False) -> Any:  # fmt: skip
    """The old name of `torch.func.functional_call`, which warns."""
    warn_user(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future version of "
        "PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
    )
    return called(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _merged(dicts: Sequence[Any]) -> dict[str, Tensor]:
    if not all(isinstance(d, dict) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [name for d in dicts for name in d]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: t for d in dicts for name, t in d.items()}


def _own(module: Module) -> dict[str, Tensor]:
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _with_tied(module: Module, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors, and each under the other names that its place has."""
    names: dict[int, list[str]] = {}
    for name, t in _own(module).items():
        names.setdefault(id(t), []).append(name)
    out = dict(tensors)
    for tied in names.values():
        found = [name for name in tied if name in tensors]
        if len(tied) == 1 or not found:
            continue
        if len(found) > 1 and len({id(tensors.get(name)) for name in tied}) != 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider using "
                "tie_weights=False"
            )
        out.update(dict.fromkeys(tied, tensors[found[0]]))
    return out


@contextlib.contextmanager
def _in_place_of(module: Module, tensors: dict[str, Tensor], tie_weights: bool, strict: bool) -> Iterator[None]:
    replaced = _with_tied(module, tensors) if tie_weights else tensors
    if strict:
        _check_names(module, set(replaced))
    before: dict[str, Any] = {}
    try:
        for name, t in replaced.items():
            before[name] = _swap(module, name, t)
        yield
    finally:
        for name, t in before.items():
            now = _swap(module, name, t)
            if name in tensors and now is not _NOTHING:
                tensors[name] = now  # what the module wrote in its place


def _check_names(module: Module, names: set[str]) -> None:
    own = set(_own(module))
    problems = [
        f"{what} key(s): {', '.join(map(repr, sorted(wrong)))}."
        for what, wrong in (("Unexpected", names - own), ("Missing", own - names))
        if wrong
    ]
    if problems:
        raise RuntimeError(
            "Error(s) in reparametrizing for {}:\n\t{}".format(module._get_name(), "\n\t".join(problems))
        )


def _swap(module: Module, name: str, new: Any) -> Any:
    """Put a tensor at a dotted name and return what was there."""
    path, _, last = name.rpartition(".")
    owner = module.get_submodule(path)
    if new is not _NOTHING and new is not None and not isinstance(new, Tensor):
        raise TypeError(f"{new} is not an instance of torch.Tensor")
    for group in (owner._parameters, owner._buffers):
        if last in group:
            old = group[last]
            group[last] = new
            return old
    old = getattr(owner, last, _NOTHING)
    if old is not _NOTHING and old is not None and not isinstance(old, Tensor):
        raise TypeError(f"attribute `{last}`: {old} is not an instance of torch.Tensor")
    if new is not _NOTHING:
        setattr(owner, last, new)
    elif old is not _NOTHING:
        delattr(owner, last)
    return old


__all__ = ["functional_call"]
