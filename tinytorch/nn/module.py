"""Module: parameters, buffers and submodules by name, state dicts, hooks. Source: `torch.nn.Module`."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self, overload

from ..autograd import Function
from ..base import ShownAs, dtypes, warn_user
from ..base import device as Device
from ..graph import RemovableHandle, is_grad_enabled, no_grad
from ..tensor import Tensor
from .parameter import Parameter


def typename(x: Any) -> str:
    """The type of an object with its module, as `torch.typename` has it."""
    return x.type() if isinstance(x, Tensor) else repr(x if isinstance(x, type) else type(x))[8:-2]


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):  # noqa: PYI024 - another name
    __slots__ = ()

    def __repr__(self) -> str:
        return (
            super().__repr__()
            if self.missing_keys or self.unexpected_keys
            else "<All keys matched successfully>"
        )


# what a module keeps by name: in torch's words what it is, what may be set in its place, and what may be registered
_GROUPS = {
    "_parameters": (
        "parameter",
        "torch.nn.Parameter or None",
        Parameter,
        "torch.nn.Parameter or None",
    ),
    "_modules": ("child module", "torch.nn.Module or None", object, ""),
    "_buffers": ("buffer", "torch.nn.Buffer, torch.Tensor or None", Tensor, "torch Tensor or None"),
}


_Grads = tuple[Tensor, ...] | Tensor
_EVERYWHERE: tuple[dict[int, Callable], dict[int, Callable]] = OrderedDict(), OrderedDict()


def register_module_forward_pre_hook(
    hook: Callable[[Any, tuple[Any, ...]], Any],
) -> RemovableHandle:
    """Call `hook(module, args)` before the forward of every module, and before its own hooks."""
    return RemovableHandle(_EVERYWHERE[0], hook)


def register_module_forward_hook(
    hook: Callable[[Any, tuple[Any, ...], Any], Any],
) -> RemovableHandle:
    """Call `hook(module, args, output)` after the forward of every module, and before its own hooks."""
    return RemovableHandle(_EVERYWHERE[1], hook)


class ModuleMeta(type):
    """Prints the modules' classes by the names they have in torch, which a class of ours says in `shown_as`."""

    __repr__ = ShownAs.__repr__


def _forward_unimplemented(self: Any, *input: Any) -> None:
    """What the module computes; every subclass defines it."""
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


class Module(metaclass=ModuleMeta):
    """The base of all networks: a subclass assigns parameters and modules as attributes and defines `forward`."""

    shown_as = "torch.nn.modules.module.Module"
    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]
    _forward_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _backward_hooks: OrderedDict[int, Callable[..., Any]]

    def __init__(self) -> None:
        vars(self).update(
            training=True,
            _parameters={},
            _buffers={},
            _modules={},
            _non_persistent_buffers_set=set(),
        )
        vars(self).update(
            {f"_{when}_hooks": OrderedDict() for when in ("forward", "forward_pre", "backward")}
        )

    forward: Callable[..., Any] = (
        _forward_unimplemented  # so that a subclass may take what it needs
    )

    # calling ----------------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` with the hooks around it."""
        before, after = _EVERYWHERE
        if not (
            self._backward_hooks
            or self._forward_hooks
            or self._forward_pre_hooks
            or before
            or after
        ):
            return self.forward(*args, **kwargs)
        for hook in [*before.values(), *self._forward_pre_hooks.values()]:
            new = hook(self, args)
            args = args if new is None else new if isinstance(new, tuple) else (new,)

        def run(args: tuple) -> Any:
            out = self.forward(*args, **kwargs)
            for hook in [*after.values(), *self._forward_hooks.values()]:
                new = hook(self, args, out)
                out = out if new is None else new
            return out

        return _with_backward_hooks(self, args, run) if self._backward_hooks else run(args)

    def register_forward_hook(
        self, hook: Callable[[Any, tuple[Any, ...], Any], Any]
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after forward; what it returns replaces the output."""
        return RemovableHandle(self._forward_hooks, hook)

    def register_forward_pre_hook(
        self, hook: Callable[[Any, tuple[Any, ...]], Any]
    ) -> RemovableHandle:
        """Call `hook(module, args)` before forward; what it returns replaces the arguments."""
        return RemovableHandle(self._forward_pre_hooks, hook)

    def register_full_backward_hook(
        self, hook: Callable[[Any, _Grads, _Grads], _Grads | None]
    ) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the inputs' gradients are there; it may replace them."""
        return RemovableHandle(self._backward_hooks, hook)

    # attributes -------------------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        kind = (
            "_parameters"
            if isinstance(value, Parameter)
            else "_modules"
            if isinstance(value, Module)
            else None
        )
        if kind is not None and "_parameters" not in own:
            what = "parameters" if kind == "_parameters" else "module"
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        held = next((group for group in _GROUPS if name in own.get(group, ())), None)
        if kind is None and held is None:
            return object.__setattr__(self, name, value)
        if (
            kind is None
            and value is not None
            and not (held == "_buffers" and isinstance(value, Tensor))
        ):
            what, wanted, *_ = _GROUPS[held]
            raise TypeError(
                f"cannot assign '{typename(value)}' as {what} '{name}' ({wanted} expected)"
            )
        own.pop(name, None)
        if held not in (None, kind) and kind is not None:
            del own[held][name]
        own[kind or held][name] = value
        return None

    def __getattr__(self, name: str) -> Tensor | Module:
        for group in _GROUPS:
            found = self.__dict__.get(group, ())
            if name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for group in _GROUPS:
            if name in self.__dict__[group]:
                self._non_persistent_buffers_set.discard(name)
                del self.__dict__[group][name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self._parameters, *self._buffers, *self._modules]

    def _register_as(self, group: str, what: str, name: str, value: Any) -> None:
        if "." in name:
            raise KeyError(
                f'{what} name can\'t contain "."' + (f", got: {name}" if what == "module" else "")
            )
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[group]:
            raise KeyError(f"attribute '{name}' already exists")
        kind, wanted = _GROUPS[group][2:]
        if not isinstance(value, (kind, type(None))):
            raise TypeError(
                f"cannot assign '{typename(value)}' object to {what} '{name}' ({wanted} required)"
            )
        self.__dict__[group][name] = value

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under a name. KeyError for bad or taken names."""
        self._register_as("_parameters", "parameter", name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the state but is not trained."""
        self._register_as("_buffers", "buffer", name, tensor)
        (
            self._non_persistent_buffers_set.discard
            if persistent
            else self._non_persistent_buffers_set.add
        )(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child module under a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._register_as("_modules", "module", name, module)

    # walking ----------------------------------------------------------------------------------------------------------

    def named_modules(self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:  # fmt: skip
        """Yield this module and all below it, with dotted names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(
                    memo, f"{prefix}.{name}" if prefix else name, remove_duplicate
                )

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct children, with names."""
        first = {
            child: name for name, child in reversed(self._modules.items()) if child is not None
        }
        for name, child in self._modules.items():
            if child is not None and first[child] == name:
                yield name, child

    def _named(self, group: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Any]]:
        seen = {id(None)}
        for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, value in getattr(module, group).items():
                if id(value) not in seen:
                    seen.add(id(value))
                    yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters, with dotted names."""
        return self._named("_parameters", prefix, recurse)

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """The buffers, with dotted names."""
        return self._named("_buffers", prefix, recurse)

    def modules(self) -> Iterator[Module]:
        """The module itself and all below it."""
        return (m for _, m in self.named_modules())

    def children(self) -> Iterator[Module]:
        """The direct children."""
        return (m for _, m in self.named_children())

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers."""
        return (b for _, b in self.named_buffers(recurse=recurse))

    # changing ---------------------------------------------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` on every module, children first."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor]) -> Self:
        for child in self.children():
            child._apply(fn)
        with no_grad():
            for p in self._parameters.values():
                if p is not None:
                    p.data = fn(p)
                    if p.grad is not None:
                        p.grad.data = fn(p.grad)
        self._buffers.update({name: fn(b) for name, b in self._buffers.items() if b is not None})
        return self

    @overload
    def to(
        self,
        device: Device | str | int | None = ...,
        dtype: dtypes.dtype | None = ...,
        non_blocking: bool = ...,
    ) -> Self: ...
    @overload
    def to(self, dtype: dtypes.dtype, non_blocking: bool = ...) -> Self: ...
    @overload
    def to(self, tensor: Tensor, non_blocking: bool = ...) -> Self: ...
    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert parameters and buffers, in place; a dtype, which has to be floating, applies to floating point ones."""
        given = [*args, *kwargs.values()]
        given += [v for x in given if isinstance(x, Tensor) for v in (x.dtype, x.device)]
        dtype = next((x for x in given if isinstance(x, dtypes.dtype)), None)
        where = next((x for x in given if isinstance(x, (str, Device))), None)
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired {dtype=!r}"
            )
        return self._apply(
            lambda t: t.to(where or t.device, dtype if dtype and t.is_floating_point() else t.dtype)
        )

    def double(self) -> Self:
        """Floating point parameters and buffers as float64."""
        return self.to(dtypes.float64)

    def float(self) -> Self:
        """Floating point parameters and buffers as float32."""
        return self.to(dtypes.float32)

    def half(self) -> Self:
        """Floating point parameters and buffers as float16."""
        return self.to(dtypes.float16)

    def cpu(self) -> Self:
        """Parameters and buffers on the CPU."""
        return self.to("cpu")

    def cuda(self, device: Device | int | None = None) -> Self:
        """Parameters and buffers on the simulated cuda device."""
        return self._apply(lambda t: t.cuda(device))

    def train(self, mode: bool = True) -> Self:
        """Training mode on or off, here and below."""
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """Training mode off, here and below."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether the parameters require grad."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the parameters' gradients, or set them to zero."""
        forget_grads(self.parameters(), set_to_none)

    # state dicts ------------------------------------------------------------------------------------------------------

    def _state(self) -> Iterator[tuple]:
        """Parameters and persistent buffers: dotted name, module, name in it, tensor."""
        for path, module in self.named_modules(remove_duplicate=False):
            for name, t in (module._parameters | module._buffers).items():
                if t is not None and name not in module._non_persistent_buffers_set:
                    yield f"{path}.{name}" if path else name, module, name, t

    def state_dict(self, *, prefix: str = "", keep_vars: bool = False) -> dict[str, Any]:
        """Parameters and persistent buffers by dotted name, detached: they share memory and version counter."""
        return OrderedDict(
            (prefix + key, t if keep_vars else t.detach()) for key, _, _, t in self._state()
        )

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy a state dict's values in (or, with `assign`, take its tensors). RuntimeError for other names or shapes."""
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        here = {key: rest for key, *rest in self._state()}
        missing, unexpected = (
            [k for k in here if k not in state_dict],
            [k for k in state_dict if k not in here],
        )
        problems = []
        for wrong, word in ((missing, "Missing"), (unexpected, "Unexpected")):
            if strict and wrong:
                problems.append(
                    f"{word} key(s) in state_dict: " + ", ".join(f'"{k}"' for k in wrong) + ". "
                )
        for key, (module, name, current) in here.items():
            new = state_dict.get(key, current)
            if new.shape != current.shape:
                problems.append(f"size mismatch for {key}: copying a param with shape {new.shape} from checkpoint, the shape in current model is {current.shape}.")  # fmt: skip
            elif new is not current:
                module._load(name, current, new, assign)
        if problems:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(problems)
            )
        return _IncompatibleKeys(missing, unexpected)

    @no_grad()
    def _load(self, name: str, current: Tensor, new: Tensor, assign: bool) -> None:
        if not assign:
            current.copy_(new)
            return
        if isinstance(new, Parameter):
            new.requires_grad_(current.requires_grad)
        elif isinstance(current, Parameter):
            new = Parameter(new, current.requires_grad)
        (self._parameters if name in self._parameters else self._buffers)[name] = new

    # printing ---------------------------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What a subclass adds to its printed line."""
        return ""

    def _shown(self) -> list[str]:
        return [f"({name}): {module!r}" for name, module in self._modules.items()]

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = [
            *(extra.split("\n") if extra else ()),
            *[text.replace("\n", "\n  ") for text in self._shown()],
        ]
        if not self._modules and len(lines) < 2:
            return f"{type(self).__name__}({extra})"
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)"


def forget_grads(parameters: Any, set_to_none: bool) -> None:
    """Forget the gradients of parameters, or set them to zero."""
    for p in parameters:
        grad = p.grad
        if grad is not None and set_to_none:
            p.grad = None
        elif grad is not None:
            grad.detach_() if grad.grad_fn is not None else grad.requires_grad_(False)
            grad.zero_()


# full backward hooks: identity functions around a module's inputs and outputs, whose nodes carry the hooks ------------------


class BackwardHookFunction(Function):
    """Gives its tensors back; its node stands where the module's gradients come in or go out."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Hand on what comes in."""
        ctx.mark_non_differentiable(*[a for a in args if not a.requires_grad])
        return args

    @staticmethod
    def backward(_ctx: Any, *args: Any) -> Any:
        """Hand on the gradients, as they are."""
        return args


def _through(values: tuple) -> tuple[tuple, list[int], Any]:
    """The values with their tensors passed through the identity, the tensors' places, and the node."""
    places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
    if not (is_grad_enabled() and any(values[i].requires_grad for i in places)):
        return values, places, None
    made = dict(zip(places, BackwardHookFunction.apply(*[values[i] for i in places]), strict=True))
    node = next(t.grad_fn for t in made.values() if t.grad_fn is not None)
    return tuple([made.get(i, v) for i, v in enumerate(values)]), places, node


def _with_backward_hooks(module: Any, args: tuple, run: Callable) -> Any:
    """Call `run` on the arguments between two nodes, at which the module's hooks see the gradients that pass."""
    seen: Any = None  # the gradients of the outputs, until those of the inputs are there
    args, places, node = _through(args)
    out = run(args)
    outs, out_places, out_node = _through(out if isinstance(out, tuple) else (out,))

    def call(found: tuple) -> tuple:
        nonlocal seen
        for h in list(module._backward_hooks.values()):
            new = h(module, found, seen)
            found = found if new is None else new
        seen = None
        return found

    def at_outputs(_: tuple, grads: tuple) -> tuple:
        nonlocal seen
        found = dict(zip(out_places, grads, strict=True))
        seen = tuple([found.get(i) for i in range(len(outs))])
        if node is None:
            warn_user("Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for more details.")  # fmt: skip
            call((None,) * len(args))
        return grads  # as they are: the node would have made zeros of one that is not there

    def hook(grads: tuple, _: tuple) -> tuple | None:  # errors say its name
        if seen is None:  # the gradient came to the inputs by another way than the outputs
            return None
        found = dict(zip(places, grads, strict=True))
        new = call(tuple([found.get(i) for i in range(len(args))]))
        return tuple([new[i] for i in places])

    if node is not None:
        node.register_hook(hook)
    if out_node is not None:
        out_node.register_hook(at_outputs)
    return outs if isinstance(out, tuple) else outs[0]
