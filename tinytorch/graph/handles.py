"""The hooks of a node, and the handles that take them back."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any, Self


class RemovableHandle:
    """What registering a hook returns; `remove()` takes the hook back. Works as a context manager."""

    __module__ = "torch.utils.hooks"

    _ids = itertools.count()

    def __init__(self, hooks: dict, hook: Callable, marks: tuple[dict, ...] = ()) -> None:
        self.id = next(RemovableHandle._ids)
        self.extra_dict_ref = tuple(weakref.ref(d) for d in marks) if marks else ()  # what else is kept by its number
        self.hooks_dict_ref = weakref.ref(hooks) if type(hooks) is not dict else (lambda: hooks)
        hooks[self.id] = hook

    def remove(self) -> None:
        """Unregister the hook; removing it twice does nothing."""
        hooks = self.hooks_dict_ref()
        if hooks is not None:
            hooks.pop(self.id, None)
        for ref in self.extra_dict_ref:
            marks = ref()
            if marks is not None:
                marks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Hooks:
    """The hooks of one node: tensor hooks and retain_grad by output, then node prehooks and posthooks."""

    __slots__ = ("on_output", "post", "pre", "retain")

    def __init__(self) -> None:
        self.on_output: list[tuple[int, dict]] = []
        self.retain: dict[int, Callable] = {}
        self.pre: dict[int, Callable] = {}
        self.post: dict[int, Callable] = {}

    def add_pre(self, hook: Callable) -> RemovableHandle:
        """Have a hook called before the node runs."""
        return RemovableHandle(self.pre, hook)

    def add_post(self, hook: Callable) -> RemovableHandle:
        """Have a hook called after the node ran."""
        return RemovableHandle(self.post, hook)


def hooks_of(node: Any) -> Hooks:
    """The hooks of a node, which has none until someone asks."""
    if node._hooks is None:
        node._hooks = Hooks()
    return node._hooks


__all__ = ["Hooks", "RemovableHandle", "hooks_of"]
