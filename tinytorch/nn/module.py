"""Module: parameters, buffers and submodules by name; state dicts; hooks.

Source: `torch.nn.Module`.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from .. import dtypes
from ..devices import device as Device
from ..graph.modes import no_grad
from ..ops.arguments import parsed
from ..ops.core import FUNCTIONS
from ..ops.queries import typename
from ..tensor import Tensor
from .calling import Calls, registered
from .parameter import Buffer, Parameter
from .state import States


def indented(text: str, spaces: int) -> str:
    """The text with all lines but the first moved in."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * spaces + line for line in rest)])


_PLACES = {"Linear": "linear", "Identity": "linear", "Embedding": "sparse", "Module": "module", "Flatten": "flatten",
           "Unflatten": "flatten", "Dropout": "dropout", "Dropout1d": "dropout", "Dropout2d": "dropout",
           "Dropout3d": "dropout", "AlphaDropout": "dropout", "FeatureAlphaDropout": "dropout", "Sequential": "container", "ModuleList": "container",
           "ModuleDict": "container", "ParameterList": "container", "ParameterDict": "container",
           "LayerNorm": "normalization", "BatchNorm1d": "batchnorm", "BatchNorm2d": "batchnorm",
           "CosineSimilarity": "distance", "PairwiseDistance": "distance"}  # fmt: skip


class ModuleMeta(type):
    """Prints the modules' classes by the names they have in torch."""

    def __repr__(cls) -> str:
        if not cls.__module__.startswith("tinytorch."):
            return super().__repr__()
        place = _PLACES.get(cls.__name__, "loss" if cls.__name__.endswith("Loss") else "activation")
        return f"<class 'torch.nn.modules.{place}.{cls.__name__}'>"


class Module(Calls, States, metaclass=ModuleMeta):
    """The base of all networks: a subclass assigns parameters and modules as attributes and defines `forward`."""

    training: bool
    call_super_init = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                if kwargs
                else f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
            )
        set_ = super().__setattr__
        set_("training", True)
        set_("_parameters", {})
        set_("_buffers", {})
        set_("_non_persistent_buffers_set", set())
        set_("_backward_pre_hooks", OrderedDict())
        set_("_backward_hooks", OrderedDict())
        set_("_is_full_backward_hook", None)
        for name in ("forward_hooks", "forward_hooks_with_kwargs", "forward_hooks_always_called", "forward_pre_hooks",
                     "forward_pre_hooks_with_kwargs", "state_dict_hooks", "state_dict_pre_hooks", "load_state_dict_pre_hooks",
                     "load_state_dict_post_hooks"):  # fmt: skip
            set_(f"_{name}", OrderedDict())
        set_("_modules", {})
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def _forward_unimplemented(self, *input: Any) -> None:
        """What the module computes; every subclass defines it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    forward: Callable[..., Any] = _forward_unimplemented
    _forward_unimplemented.__qualname__ = "_forward_unimplemented"

    # attributes --------------------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, (Parameter, Module)) and "_parameters" not in own:
            what = "parameters" if isinstance(value, Parameter) else "module"
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        if isinstance(value, Parameter):
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
        elif "_parameters" in own and name in own["_parameters"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._forget(name, "_modules")
            own["_modules"][name] = registered("module", self, name, value)
        elif "_modules" in own and name in own["_modules"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            own["_modules"][name] = registered("module", self, name, value)
        elif isinstance(value, Buffer) or ("_buffers" in own and name in own["_buffers"]):
            self._assign_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _assign_buffer(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
            )
        kept = value.persistent if isinstance(value, Buffer) else name not in self._non_persistent_buffers_set
        if type(self).register_buffer is Module.register_buffer:
            Module.register_buffer(self, name, value, kept)
        elif "persistent" in inspect.signature(self.register_buffer).parameters:
            self.register_buffer(name, value, kept)
        elif kept:
            self.register_buffer(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements register_buffer() without "
                "the persistent argument is not allowed."
            )

    def _forget(self, name: str, stays_in: str) -> None:
        """Make room for a name that goes into one group (where it keeps its place, if it has one)."""
        own = self.__dict__
        own.pop(name, None)
        for group in ("_parameters", "_buffers", "_modules"):
            if group != stays_in:
                own.get(group, {}).pop(name, None)
        own["_non_persistent_buffers_set"].discard(name)

    def __getattr__(self, name: str) -> Any:
        for group in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(group)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for group in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[group]:
                del self.__dict__[group][name]
                if group == "_buffers":
                    self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*object.__dir__(self), *self._parameters, *self._buffers, *self._modules}
        return sorted(n for n in names if not n[0].isdigit())

    def _check_name(self, name: str, what: str, group: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."' + (f", got: {name}" if what == "module" else ""))
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[group]:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under a name. KeyError for bad or taken names, ValueError for a non-leaf."""
        self._check_name(name, "parameter", "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = None if param is None else registered("parameter", self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the state but is not trained."""
        self._check_name(name, "buffer", "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = registered("buffer", self, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child module under a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name(name, "module", "_modules")
        self._modules[name] = registered("module", self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as `add_module`."""
        self.add_module(name, module)

    # walking ----------------------------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Yield this module and all below it, with dotted names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """Yield this module and all below it."""
        for _, m in self.named_modules():
            yield m

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct children, with names."""
        seen: set = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """The direct children."""
        for _, m in self.named_children():
            yield m

    def _named(self, group: str, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in getattr(module, group).items():
                if value is None or (remove_duplicate and id(value) in seen):
                    continue
                seen.add(id(value))
                yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters, with dotted names."""
        yield from self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters."""
        for _, p in self.named_parameters(recurse=recurse):
            yield p

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers, with dotted names."""
        yield from self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers."""
        for _, b in self.named_buffers(recurse=recurse):
            yield b

    def get_submodule(self, target: str) -> Module:
        """The module at a dotted name. AttributeError if there is none."""
        found: Module = self
        for name in target.split(".") if target else []:
            if not hasattr(found, name):
                raise AttributeError(f"{type(found).__name__} has no attribute `{name}`")
            found = getattr(found, name)
            if not isinstance(found, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module at a dotted name; with `strict`, one has to be there. ValueError, AttributeError."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted name."""
        found, name = self._at(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted name."""
        found, name = self._at(target)
        if not isinstance(found, Tensor) or isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def _at(self, target: str) -> tuple[Any, str]:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        return getattr(module, name), name

    # changing -----------------------------------------------------------------------------------------------------------

    def apply(self, fn: Callable) -> Module:
        """Call `fn` on every module, children first."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable, recurse: bool = True) -> Module:
        for child in self.children() if recurse else ():
            child._apply(fn)
        for p in self._parameters.values():
            if p is None:
                continue
            with no_grad():
                p.data = fn(p)
            if p.grad is not None:
                with no_grad():
                    p.grad.data = fn(p.grad)
        for name, b in self._buffers.items():
            if b is not None:
                self._buffers[name] = fn(b)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Module:
        """Convert parameters and buffers, in place; a dtype applies to floating point ones.

        RuntimeError for `copy`, TypeError for other arguments than those of `Tensor.to`.
        """
        parsed("Tensor.to", args, kwargs)
        if kwargs.get("copy") or (len(args) == 3 + isinstance(args[0] if args else None, (str, Device)) and args[-1]):
            raise RuntimeError(".to() does not accept copy argument")
        like = next((a for a in [*args, kwargs.get("tensor")] if isinstance(a, Tensor)), None)
        target = next((a for a in [*args, kwargs.get("dtype")] if isinstance(a, dtypes.dtype)), like and like.dtype)
        if target is not None and not target.is_floating_point:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={target!r}"
            )
        where = next((a for a in [*args, kwargs.get("device")] if isinstance(a, (str, Device))), like and like.device)

        def convert(t: Tensor) -> Tensor:
            out = t if where is None else t.to(where)
            return out.to(target) if target is not None and t.is_floating_point() else out

        return self._apply(convert)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Module:
        """Parameters and buffers on a device, their values left open."""
        return self._apply(lambda t: FUNCTIONS["empty_like"](t, device=device), recurse)

    def _floats(self, d: dtypes.dtype) -> Module:
        return self._apply(lambda t: t.to(d) if t.is_floating_point() else t)

    def type(self, dst_type: Any) -> Module:
        """All parameters and buffers in a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def double(self) -> Module:
        """Floating point parameters and buffers as float64."""
        return self._floats(dtypes.float64)

    def float(self) -> Module:
        """Floating point parameters and buffers as float32."""
        return self._floats(dtypes.float32)

    def half(self) -> Module:
        """Floating point parameters and buffers as float16."""
        return self._floats(dtypes.float16)

    def cuda(self, device: Any = None) -> Module:
        """Parameters and buffers on the simulated cuda device."""
        return self._apply(lambda t: t.cuda(device))

    def cpu(self) -> Module:
        """Parameters and buffers on the CPU."""
        return self._apply(lambda t: t.cpu())

    def train(self, mode: bool = True) -> Module:
        """Training mode on or off, here and below."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Module:
        """Evaluation mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Set whether the parameters require grad."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the parameters' gradients, or set them to zero."""
        for p in self.parameters():
            if p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    p.grad.detach_() if p.grad.grad_fn is not None else p.grad.requires_grad_(False)
                    p.grad.zero_()

    # printing -------------------------------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What a subclass adds to its printed line."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({n}): {indented(repr(m), 2)}" for n, m in self._modules.items()]
        if not children and len(lines) < 2:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"


for _base in Calls, States:  # their methods print as the module's own
    for _method in vars(_base).values():
        if isinstance(_method, FunctionType):
            _method.__qualname__ = f"Module.{_method.__name__}"
