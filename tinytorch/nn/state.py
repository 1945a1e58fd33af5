"""Loading a state dict into a module: names matched, shapes checked, values copied or taken over.

Source: `torch.nn.Module.load_state_dict`.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

from ..graph.modes import no_grad
from ..tensor import Tensor
from .parameter import Parameter


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):  # noqa: PYI024 - the tuple has a name of its own
    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


def load_into(module: Any, state_dict: Mapping[str, Any], strict: bool, assign: bool) -> Any:
    """Copy a state dict's values into a module, or take its tensors; errors as in `Module.load_state_dict`."""
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    problems: list[str] = []
    expected: list[str] = []
    missing: list[str] = []
    for path, part in module.named_modules(remove_duplicate=False):
        prefix = f"{path}." if path else ""
        for group in (part._parameters, part._buffers):
            for name, current in list(group.items()):
                if current is None or name in part._non_persistent_buffers_set:
                    continue
                key = prefix + name
                expected.append(key)
                if key not in state_dict:
                    missing.append(key)
                else:
                    _load_one(group, name, key, current, state_dict[key], assign, problems)
    unexpected = [k for k in state_dict if k not in expected]
    if strict:
        for keys, word in ((unexpected, "Unexpected"), (missing, "Missing")):
            if keys:
                names = ", ".join(f'"{k}"' for k in keys)
                problems.insert(0, f"{word} key(s) in state_dict: {names}. ")
    if problems:
        raise RuntimeError(
            "Error(s) in loading state_dict for {}:\n\t{}".format(type(module).__name__, "\n\t".join(problems))
        )
    return _IncompatibleKeys(missing, unexpected)


def _load_one(group: dict, name: str, key: str, current: Tensor, new: Any, assign: bool, problems: list[str]) -> None:
    if not isinstance(new, Tensor):
        problems.append(
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but received {type(new)}'
        )
        return
    if new.shape != current.shape:
        problems.append(
            f"size mismatch for {key}: copying a param with shape {new.shape} from checkpoint, the shape in current "
            f"model is {current.shape}."
        )
        return
    with no_grad():
        if assign:
            if isinstance(current, Parameter):
                if not isinstance(new, Parameter):
                    new = Parameter(new, requires_grad=current.requires_grad)
                else:
                    new.requires_grad_(current.requires_grad)
            group[name] = new
        else:
            current.copy_(new)
