"""Module: parameters, buffers and submodules by name, state dicts, hooks.

Source: `torch.nn.Module`.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Self, overload

from ..autograd import Function
from ..base import ShownAs, dtypes, make_object_error, refuse_keywords, warn_user
from ..base import device as Device
from ..graph import RemovableHandle, is_grad_enabled, no_grad
from ..tensor import Tensor
from .parameter import Parameter


def typename(x: Any) -> str:
    """Return the type of an object with its module, as `torch.typename` does."""
    if isinstance(x, Tensor):
        return x.type()
    return repr(x if isinstance(x, type) else type(x)).removeprefix("<class '").removesuffix("'>")


# Its repr has another name than the class, as in PyTorch.
class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):  # noqa: PYI024
    __slots__ = ()

    def __repr__(self) -> str:
        return (
            super().__repr__()
            if self.missing_keys or self.unexpected_keys
            else "<All keys matched successfully>"
        )


# What PyTorch's modules have and these lack: the error says so.
ABSENT_FROM_MODULES = frozenset(
    [
        "T_destination",
        "bfloat16",
        "call_super_init",
        "compile",
        "dump_patches",
        "extend",
        "get_buffer",
        "get_extra_state",
        "get_parameter",
        "get_submodule",
        "ignore_index",
        "insert",
        "ipu",
        "label_smoothing",
        "mtia",
        "pop",
        "pos_weight",
        "register_backward_hook",
        "register_full_backward_pre_hook",
        "register_load_state_dict_post_hook",
        "register_load_state_dict_pre_hook",
        "register_module",
        "register_state_dict_post_hook",
        "register_state_dict_pre_hook",
        "set_extra_state",
        "set_submodule",
        "share_memory",
        "to_empty",
        "type",
        "xpu",
    ]
)


class _MemberKind(NamedTuple):
    """What a module knows by name, in the words of PyTorch's errors."""

    name: str  # "parameter", "buffer" or "child module"
    assignable: str  # what may be assigned to a name that is one of these
    type: type
    registrable: str  # what may be registered


_MEMBER_KINDS = {
    "_parameters": _MemberKind(
        name="parameter",
        assignable="torch.nn.Parameter or None",
        type=Parameter,
        registrable="torch.nn.Parameter or None",
    ),
    "_modules": _MemberKind(
        name="child module",
        assignable="torch.nn.Module or None",
        type=object,  # `add_module` checks it, with an error of its own
        registrable="",
    ),
    "_buffers": _MemberKind(
        name="buffer",
        assignable="torch.nn.Buffer, torch.Tensor or None",
        type=Tensor,
        registrable="torch Tensor or None",
    ),
}


class _StateEntry(NamedTuple):
    """A parameter or persistent buffer, as state dicts have it."""

    key: str  # dotted, from the module whose state it is
    module: Module  # that has it
    name: str  # in that module
    tensor: Tensor


_Grads = tuple[Tensor, ...] | Tensor
# Hooks of all modules.
_GLOBAL_FORWARD_PRE_HOOKS: dict[int, Callable] = OrderedDict()
_GLOBAL_FORWARD_HOOKS: dict[int, Callable] = OrderedDict()


def register_module_forward_pre_hook(
    hook: Callable[[Any, tuple[Any, ...]], Any],
) -> RemovableHandle:
    """Call `hook(module, args)` before the forward of every module, and before its own hooks."""
    return RemovableHandle(_GLOBAL_FORWARD_PRE_HOOKS, hook)


def register_module_forward_hook(
    hook: Callable[[Any, tuple[Any, ...], Any], Any],
) -> RemovableHandle:
    """Call `hook(module, args, output)` after forward of every module, before its own hooks."""
    return RemovableHandle(_GLOBAL_FORWARD_HOOKS, hook)


class ModuleMeta(type):
    """Metaclass that prints classes of modules by their names in PyTorch (`shown_as`)."""

    __repr__ = ShownAs.__repr__


def _forward_unimplemented(self: Any, *input: Any) -> None:
    """Compute the module's result; every subclass defines it."""
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


class Module(metaclass=ModuleMeta):
    """Base of all networks.

    A subclass assigns parameters and modules as attributes and defines `forward`.
    """

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
        # Not by assignment, which asks for these.
        vars(self).update(
            training=True,
            _parameters={},
            _buffers={},
            _modules={},
            _non_persistent_buffers_set=set(),
            _forward_hooks=OrderedDict(),
            _forward_pre_hooks=OrderedDict(),
            _backward_hooks=OrderedDict(),
        )

    # An attribute, no method, so that type checkers let subclasses choose the parameters.
    forward: Callable[..., Any] = _forward_unimplemented

    # calling --------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` with the hooks around it."""
        has_hooks = (
            self._backward_hooks
            or self._forward_hooks
            or self._forward_pre_hooks
            or _GLOBAL_FORWARD_PRE_HOOKS
            or _GLOBAL_FORWARD_HOOKS
        )
        # Most calls. PyTorch skips the rest here, too.
        if not has_hooks:
            return self.forward(*args, **kwargs)
        for hook in [*_GLOBAL_FORWARD_PRE_HOOKS.values(), *self._forward_pre_hooks.values()]:
            new_args = hook(self, args)
            if new_args is not None:
                args = new_args if isinstance(new_args, tuple) else (new_args,)

        def run_forward(args: tuple) -> Any:
            output = self.forward(*args, **kwargs)
            for hook in [*_GLOBAL_FORWARD_HOOKS.values(), *self._forward_hooks.values()]:
                new_output = hook(self, args, output)
                if new_output is not None:
                    output = new_output
            return output

        if self._backward_hooks:
            return _run_with_backward_hooks(self, args, run_forward)
        return run_forward(args)

    @refuse_keywords("prepend", "with_kwargs", "always_call")
    def register_forward_hook(
        self, hook: Callable[[Any, tuple[Any, ...], Any], Any]
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after forward; what it returns replaces the output."""
        return RemovableHandle(self._forward_hooks, hook)

    @refuse_keywords("prepend", "with_kwargs")
    def register_forward_pre_hook(
        self, hook: Callable[[Any, tuple[Any, ...]], Any]
    ) -> RemovableHandle:
        """Call `hook(module, args)` before forward; what it returns replaces the arguments."""
        return RemovableHandle(self._forward_pre_hooks, hook)

    @refuse_keywords("prepend")
    def register_full_backward_hook(
        self, hook: Callable[[Any, _Grads, _Grads], _Grads | None]
    ) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the inputs are computed.

        What it returns replaces them.
        """
        return RemovableHandle(self._backward_hooks, hook)

    # attributes -----------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        new_group = None
        if isinstance(value, Parameter):
            new_group = "_parameters"
        elif isinstance(value, Module):
            new_group = "_modules"
        if new_group is not None and "_parameters" not in own:
            noun = "parameters" if new_group == "_parameters" else "module"
            raise AttributeError(f"cannot assign {noun} before Module.__init__() call")
        old_group = next((group for group in _MEMBER_KINDS if name in own.get(group, ())), None)
        if new_group is None:
            if old_group is None:
                return object.__setattr__(self, name, value)
            # A name that is a parameter, module or buffer stays one: only its like or None may
            # follow.
            is_buffer = old_group == "_buffers" and isinstance(value, Tensor)
            if value is not None and not is_buffer:
                kind = _MEMBER_KINDS[old_group]
                raise TypeError(
                    f"cannot assign '{typename(value)}' as {kind.name} '{name}' ({kind.assignable} "
                    "expected)"
                )
        # Python finds an attribute of the instance first: it would hide the member.
        own.pop(name, None)
        if old_group is not None and new_group not in (None, old_group):
            del own[old_group][name]
        own[new_group or old_group][name] = value
        return None

    def __getattr__(self, name: str) -> Tensor | Module:
        # Called only where the instance has no such attribute itself.
        for group in _MEMBER_KINDS:
            members = self.__dict__.get(group, ())
            if name in members:
                return members[name]
        if name in ABSENT_FROM_MODULES:
            raise make_object_error(self, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for group in _MEMBER_KINDS:
            if name in self.__dict__[group]:
                # A later buffer of this name is persistent unless it says otherwise.
                self._non_persistent_buffers_set.discard(name)
                del self.__dict__[group][name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        members = [*self._parameters, *self._buffers, *self._modules]
        # The modules of a Sequential have numbers, which are no attributes that one could type.
        return [*object.__dir__(self), *[name for name in members if not name[0].isdigit()]]

    def _register_member(self, group: str, noun: str, name: str, value: Any) -> None:
        if "." in name:
            suffix = f", got: {name}" if noun == "module" else ""
            raise KeyError(f'{noun} name can\'t contain "."{suffix}')
        if name == "":
            raise KeyError(f'{noun} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[group]:
            raise KeyError(f"attribute '{name}' already exists")
        kind = _MEMBER_KINDS[group]
        if not isinstance(value, (kind.type, type(None))):
            raise TypeError(
                f"cannot assign '{typename(value)}' object to {noun} '{name}' ({kind.registrable} "
                "required)"
            )
        self.__dict__[group][name] = value

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under a name. KeyError for bad or taken names."""
        self._register_member("_parameters", "parameter", name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the state but is not trained."""
        self._register_member("_buffers", "buffer", name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child module under a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._register_member("_modules", "module", name, module)

    # walking --------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
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
                yield from child.named_modules(
                    memo, f"{prefix}.{name}" if prefix else name, remove_duplicate
                )

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yield the direct children, each once, with names."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def _named_members(self, group: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Any]]:
        """Yield the members of a group with dotted names, one that is shared only once."""
        modules = self.named_modules(prefix=prefix) if recurse else [(prefix, self)]
        # None is what a parameter or buffer without a tensor is registered as.
        seen_ids = {id(None)}
        for path, module in modules:
            for name, value in getattr(module, group).items():
                if id(value) not in seen_ids:
                    seen_ids.add(id(value))
                    yield f"{path}.{name}" if path else name, value

    @refuse_keywords("remove_duplicate")
    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield the parameters, with dotted names."""
        return self._named_members("_parameters", prefix, recurse)

    @refuse_keywords("remove_duplicate")
    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Yield the buffers, with dotted names."""
        return self._named_members("_buffers", prefix, recurse)

    @refuse_keywords("remove_duplicate")
    def modules(self) -> Iterator[Module]:
        """Yield the module itself and all below it."""
        return (m for _, m in self.named_modules())

    def children(self) -> Iterator[Module]:
        """Yield the direct children."""
        return (m for _, m in self.named_children())

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield the parameters."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield the buffers."""
        return (b for _, b in self.named_buffers(recurse=recurse))

    # changing -------------------------------------------------------------------------------------

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
            for parameter in self._parameters.values():
                if parameter is not None:
                    # Not a new parameter: optimizers and other modules hold this one.
                    parameter.data = fn(parameter)
                    if parameter.grad is not None:
                        parameter.grad.data = fn(parameter.grad)
        # Buffers are replaced by other tensors, unlike parameters.
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
        """Convert parameters and buffers, in place.

        A dtype has to be floating point (else TypeError), and applies to those that are.
        """
        dtype: dtypes.dtype | None = None
        device: Device | str | None = None
        for argument in (*args, *kwargs.values()):
            if isinstance(argument, Tensor):
                dtype, device = dtype or argument.dtype, device or argument.device
            elif isinstance(argument, dtypes.dtype):
                dtype = argument
            elif isinstance(argument, (str, Device)):
                device = argument
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"{dtype=!r}"
            )

        def convert(tensor: Tensor) -> Tensor:
            new_dtype = dtype if dtype and tensor.is_floating_point() else tensor.dtype
            return tensor.to(device or tensor.device, new_dtype)

        return self._apply(convert)

    def double(self) -> Self:
        """Convert floating point parameters and buffers to float64."""
        return self.to(dtypes.float64)

    def float(self) -> Self:
        """Convert floating point parameters and buffers to float32."""
        return self.to(dtypes.float32)

    def half(self) -> Self:
        """Convert floating point parameters and buffers to float16."""
        return self.to(dtypes.float16)

    def cpu(self) -> Self:
        """Move parameters and buffers to the CPU."""
        return self.to("cpu")

    def cuda(self, device: Device | int | None = None) -> Self:
        """Move parameters and buffers to the simulated cuda device."""
        return self._apply(lambda t: t.cuda(device))

    def train(self, mode: bool = True) -> Self:
        """Switch training mode on or off, here and in all modules below. ValueError for no bool."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """Switch training mode off, here and in all modules below."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether the parameters require grad."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the parameters' gradients, or set them to zero."""
        forget_grads(self.parameters(), set_to_none)

    # state dicts ----------------------------------------------------------------------------------

    def _state_entries(self) -> Iterator[_StateEntry]:
        """Yield parameters and persistent buffers; one that is shared under each of its names."""
        # With duplicates: a state dict has shared parameters under all their names.
        for path, module in self.named_modules(remove_duplicate=False):
            for name, tensor in (module._parameters | module._buffers).items():
                if tensor is not None and name not in module._non_persistent_buffers_set:
                    yield _StateEntry(f"{path}.{name}" if path else name, module, name, tensor)

    @refuse_keywords("destination")
    def state_dict(self, *, prefix: str = "", keep_vars: bool = False) -> dict[str, Any]:
        """Return parameters and persistent buffers by dotted name, detached.

        They share memory and version counter with those of the module.
        """
        state: dict[str, Any] = OrderedDict()
        for entry in self._state_entries():
            state[prefix + entry.key] = entry.tensor if keep_vars else entry.tensor.detach()
        return state

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy the values of a state dict into the module (or, with `assign`, take its tensors).

        RuntimeError for other names or shapes, after all that fits has been loaded.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        entries = {entry.key: entry for entry in self._state_entries()}
        missing = [key for key in entries if key not in state_dict]
        unexpected = [key for key in state_dict if key not in entries]
        problems = []
        for keys, word in ((missing, "Missing"), (unexpected, "Unexpected")):
            if strict and keys:
                listed = ", ".join(f'"{key}"' for key in keys)
                problems.append(f"{word} key(s) in state_dict: {listed}. ")
        for key, entry in entries.items():
            if key in state_dict:
                problems += self._load_entry(entry, state_dict[key], assign)
        if problems:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(problems)
            )
        return _IncompatibleKeys(missing, unexpected)

    def _load_entry(self, entry: _StateEntry, new: Any, assign: bool) -> list[str]:
        """Load what a state dict has for an entry, or return what is wrong with it."""
        current = entry.tensor
        head = f'While copying the parameter named "{entry.key}"'
        if not isinstance(new, Tensor):
            words = "expected torch.Tensor or Tensor-like object from checkpoint but received"
            return [f"{head}, {words} {type(new)}"]
        if current.ndim == 0 and new.ndim == 1:
            new = new[0]  # as old releases of PyTorch saved them
        if new.shape != current.shape:
            shapes = (
                f"shape {new.shape} from checkpoint, the shape in current model is {current.shape}"
            )
            return [f"size mismatch for {entry.key}: copying a param with {shapes}."]
        try:
            if new is not current:
                entry.module._load_tensor(entry.name, current, new, assign)
        except Exception as error:  # noqa: BLE001 - all that is wrong is listed, as in PyTorch
            sizes = (
                f"whose dimensions in the model are {current.shape} and whose dimensions in the "
                f"checkpoint are {new.shape}"
            )
            return [f"{head}, {sizes}, an exception occurred : {error.args}."]
        return []

    @no_grad()
    def _load_tensor(self, name: str, current: Tensor, new: Tensor, assign: bool) -> None:
        if not assign:
            current.copy_(new)
            return
        # Whether it requires grad is up to the module, not to the state dict.
        if isinstance(new, Parameter):
            new.requires_grad_(current.requires_grad)
        elif isinstance(current, Parameter):
            new = Parameter(new, current.requires_grad)
        (self._parameters if name in self._parameters else self._buffers)[name] = new

    # printing -------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """Return what a subclass adds to its printed line."""
        return ""

    def _child_lines(self) -> list[str]:
        return [f"({name}): {module!r}" for name, module in self._modules.items()]

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        lines += [text.replace("\n", "\n  ") for text in self._child_lines()]
        if not self._modules and len(lines) < 2:
            return f"{type(self).__name__}({extra})"
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)"


def forget_grads(parameters: Any, set_to_none: bool) -> None:
    """Forget the gradients of parameters, or set them to zero."""
    for parameter in parameters:
        grad = parameter.grad
        if grad is None:
            continue
        if set_to_none:
            parameter.grad = None
            continue
        # Otherwise zeroing would be recorded in the graph of a gradient of `create_graph=True`.
        if grad.grad_fn is not None:
            grad.detach_()
        else:
            grad.requires_grad_(False)
        grad.zero_()


# full backward hooks ------------------------------------------------------------------------------
#
# The inputs and the outputs of forward pass through an identity function each. Its nodes are where
# the gradients of the module come in (at the outputs) and go out (at the inputs); the hooks of the
# module are hooks on these two nodes. Source: PyTorch's `torch/utils/hooks.py` (`BackwardHook`).


class BackwardHookFunction(Function):
    """The identity on several tensors, with a node to put hooks on."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Return the arguments."""
        ctx.mark_non_differentiable(*[a for a in args if not a.requires_grad])
        return args

    @staticmethod
    def backward(_ctx: Any, *args: Any) -> Any:
        """Return the gradients."""
        return args


class _Passage(NamedTuple):
    """Values whose tensors passed through the identity."""

    values: tuple  # the arguments of forward, or its results
    positions: list[int]  # of the tensors among the values
    node: Any  # of the identity; None if nothing was recorded

    @classmethod
    def through_identity(cls, values: tuple) -> _Passage:
        """Pass the tensors among the values through the identity, if one of them requires grad."""
        positions = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
        if not (is_grad_enabled() and any(values[i].requires_grad for i in positions)):
            return cls(values, positions, None)
        results = BackwardHookFunction.apply(*[values[i] for i in positions])
        new_values = list(values)
        for position, result in zip(positions, results, strict=True):
            new_values[position] = result
        node = next(t.grad_fn for t in results if t.grad_fn is not None)
        return cls(tuple(new_values), positions, node)

    def spread_gradients(self, gradients: tuple) -> tuple:
        """Return gradients of the tensors as gradients of all values, None for others."""
        spread: list[Any] = [None] * len(self.values)
        for position, gradient in zip(self.positions, gradients, strict=True):
            spread[position] = gradient
        return tuple(spread)


def _check_replacement(replacement: Any, count: int, has_input: bool) -> None:
    """Raise torch's RuntimeError for what a hook returned in place of the gradients of the inputs.

    `has_input`: an input requires grad.
    """
    if has_input and len(replacement) != count:
        raise RuntimeError(
            f"Backward hook returned an invalid number of grad_input, got {len(replacement)}, but "
            f"expected {count}"
        )
    is_nothing = isinstance(replacement, tuple) and all([x is None for x in replacement])
    if not (has_input or is_nothing):
        raise RuntimeError(
            "Backward hook for Modules where no input requires gradient should always return None "
            "or None for all gradients."
        )


def _check_output(output: Any) -> None:
    """Warn as torch does of an output whose gradients no hook sees."""
    if not isinstance(output, (Tensor, tuple)):
        warn_user(
            "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors "
            f"but received {type(output)}"
        )


def _run_with_backward_hooks(module: Any, args: tuple, run_forward: Callable) -> Any:
    """Run forward between two nodes, on which the hooks of the module see its gradients."""
    inputs = _Passage.through_identity(args)
    output = run_forward(inputs.values)
    _check_output(output)
    outputs = _Passage.through_identity(output if isinstance(output, tuple) else (output,))
    # Gradients of the outputs, from when they arrive until those of the inputs do.
    output_gradients: Any = None

    def call_module_hooks(input_gradients: tuple) -> tuple:
        nonlocal output_gradients
        for module_hook in list(module._backward_hooks.values()):
            replacement = module_hook(module, input_gradients, output_gradients)
            if replacement is None:
                continue
            _check_replacement(replacement, len(input_gradients), inputs.node is not None)
            input_gradients = replacement
        output_gradients = None
        return input_gradients

    def note_output_gradients(_: tuple, gradients: tuple) -> tuple:
        nonlocal output_gradients
        output_gradients = outputs.spread_gradients(gradients)
        if inputs.node is None:
            warn_user(
                "Full backward hook is firing when gradients are computed with respect to module "
                "outputs since no inputs require gradients. See "
                "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook "
                "for more details."
            )
            call_module_hooks((None,) * len(args))
        # Those that arrived: the node has made zeros of the missing ones.
        return gradients

    # PyTorch's function is called `hook`, too: errors of what it returns say that name.
    def hook(gradients: tuple, _: tuple) -> tuple | None:
        # A gradient that comes to the inputs by another way than the outputs is not the module's.
        if output_gradients is None:
            return None
        replaced = call_module_hooks(inputs.spread_gradients(gradients))
        return tuple([replaced[position] for position in inputs.positions])

    if inputs.node is not None:
        inputs.node.register_hook(hook)
    if outputs.node is not None:
        outputs.node.register_hook(note_output_gradients)
    return outputs.values if isinstance(output, tuple) else outputs.values[0]
