"""State dicts: what a module gives and takes by dotted names, with the hooks around both.

Source: `torch.nn.Module.state_dict`, `load_state_dict`.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from ..graph.modes import no_grad
from ..graph.node import RemovableHandle
from ..tensor import Tensor
from ..warn import warn_user
from .backward_hooks import WithModule
from .parameter import Parameter


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):  # noqa: PYI024 - the tuple has a name of its own
    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


_EXTRA = "_extra_state"
_NO_EXTRA = (
    "Reached a code path in Module.{}_extra_state() that should never be called. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
)


class States:
    """The part of a module that saves and loads its state."""

    _version = 1
    _parameters: dict
    _buffers: dict
    _modules: dict
    _non_persistent_buffers_set: set
    _state_dict_pre_hooks: dict
    _state_dict_hooks: dict
    _load_state_dict_pre_hooks: dict
    _load_state_dict_post_hooks: dict

    def get_extra_state(self) -> Any:
        """What else a state dict is to hold; a subclass defines it together with `set_extra_state`."""
        raise RuntimeError(_NO_EXTRA.format("get"))

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` gave."""
        raise RuntimeError(_NO_EXTRA.format("set"))

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Parameters and persistent buffers by dotted name, detached: they share memory and version counter."""
        if args:
            warn_user(
                "Positional args are being deprecated, use kwargs instead. Refer to https://pytorch.org/docs/main/generated/"
                "torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
            )
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        out = OrderedDict() if destination is None else destination
        if destination is None:
            out._metadata = OrderedDict()
        about = {"version": self._version}
        if hasattr(out, "_metadata"):
            out._metadata[prefix[:-1]] = about
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(out, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=out, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook, public in self._state_dict_hooks.values():
            new = hook(self, out, prefix, about)
            if public and new is not None:
                raise RuntimeError("state_dict post-hook must return None")
            out = out if new is None else new
        return out

    def _local_state(self) -> dict[str, Any]:
        skipped = self._non_persistent_buffers_set
        buffers = {n: b for n, b in self._buffers.items() if n not in skipped}
        return {n: t for n, t in (self._parameters | buffers).items() if t is not None}

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        for name, t in self._local_state().items():
            destination[prefix + name] = t if keep_vars else t.detach()
        if type(self).get_extra_state is not States.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy a state dict's values in (or, with `assign`, take its tensors).

        RuntimeError for names or shapes that differ, TypeError for what is no mapping.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        problems: list[str] = []
        known = getattr(state_dict, "_metadata", None)
        given = OrderedDict(state_dict)

        def load(module: States, part: Mapping[str, Any], prefix: str) -> None:
            about = {} if known is None else known.get(prefix[:-1], {})
            if assign:
                about["assign_to_params_buffers"] = True
            module._load_from_state_dict(part, prefix, about, True, missing, unexpected, problems)
            for name, child in module._modules.items():
                if child is not None:
                    below = f"{prefix}{name}."
                    load(child, {k: v for k, v in part.items() if k.startswith(below)}, below)
            keys = _IncompatibleKeys(missing, unexpected)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, keys) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are notexpected to return new "
                        "values, if incompatible_keys need to be modified,it should be done inplace."
                    )

        load(self, given, "")
        if strict:
            for wrong, word in ((unexpected, "Unexpected"), (missing, "Missing")):
                if wrong:
                    names = ", ".join(f'"{k}"' for k in wrong)
                    problems.insert(0, f"{word} key(s) in state_dict: {names}. ")
        if problems:
            raise RuntimeError(
                "Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(problems))
            )
        return _IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: dict, strict: bool, missing_keys: list, unexpected_keys: list,
        error_msgs: list,
    ) -> None:  # fmt: skip
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        here = self._local_state()
        for name, current in here.items():
            key = prefix + name
            if key in state_dict:
                group = self._parameters if name in self._parameters else self._buffers
                _load_one(group, name, key, current, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA
        if type(self).set_extra_state is not States.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        for key in state_dict if strict else ():
            if key.startswith(prefix) and key != extra:
                name, dot, _ = key[len(prefix) :].partition(".")
                if name not in (self._modules if dot else here):
                    unexpected_keys.append(key)

    # hooks -------------------------------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict` gathers anything."""
        return RemovableHandle(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after; it may change the dict, and returns None."""
        return RemovableHandle(self._state_dict_hooks, (hook, True))

    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        return RemovableHandle(self._state_dict_hooks, (hook, False))

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, ...)` before a module loads its part of a state dict."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable, with_module: bool = False) -> RemovableHandle:
        return RemovableHandle(self._load_state_dict_pre_hooks, WithModule(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after a module has loaded; it may change the lists of keys."""
        return RemovableHandle(self._load_state_dict_post_hooks, hook)


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
