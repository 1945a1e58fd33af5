"""Errors and warnings as torch has them, and the names that tinytorch does not have.

This file is loaded first and imports nothing of the package.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any, Self, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])
PACKAGE_FOLDER = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120 - `pathlib` takes long to load
_name_of: Any = type.__dict__["__name__"]
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: set for classes that a class statement made


class ShownAs(type):
    """Metaclass: a class with `shown_as` prints under that name.

    A class derived from it prints as itself.

    torch's classes are written in C, and their name includes the module, which Python's own errors
    print: `can only concatenate str (not "torch.Size") to str`. So the class gets such a name, and
    `__name__` is without the module.
    """

    def __new__(mcs, name: str, bases: tuple, body: dict) -> ShownAs:
        """Make a class with the name `shown_as`."""
        body.setdefault("__qualname__", name)
        return super().__new__(mcs, body.get("shown_as", name), bases, body)

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        return _name_of.__get__(cls).rpartition(".")[2]

    def __repr__(cls) -> str:
        name = cls.__dict__.get("shown_as")
        return type.__repr__(cls) if name is None else f"<class '{name}'>"


class NamedByTorch(metaclass=ShownAs):
    """Base of a class whose objects have names in torch, and of which programs make none.

    `object.__new__` makes them here.
    """

    shown_as: str

    __slots__ = ()

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Raise torch's TypeError."""
        raise TypeError(f"cannot create '{cls.shown_as}' instances")


def is_pytorch_tensor(x: Any) -> bool:
    """Return True for a tensor of PyTorch itself; its class prints as ours does."""
    torch = sys.modules.get("torch")
    if torch is None or torch.__name__ != "torch":
        return False
    # A folder named torch can be imported where PyTorch is not installed, and has no Tensor.
    return isinstance(x, getattr(torch, "Tensor", ()))


def refuse_operand(x: Any, other: Any) -> Any:
    """Return NotImplemented, which an operator gives for an unknown operand.

    TypeError for a tensor of PyTorch.
    """
    if is_pytorch_tensor(other):
        raise TypeError(
            f"a tensor of tinytorch, of shape {tuple(x.shape)}, and one of PyTorch, of shape "
            f"{tuple(other.shape)}, do not mix: make both with one of the two"
        )
    return NotImplemented


def type_name(x: Any) -> str:
    """Return the name of an object's type as errors of CPython and torch have it.

    With the module if it is written in C.
    """
    cls = type(x)
    if is_pytorch_tensor(x):
        return f"PyTorch {cls.__name__} (this is tinytorch)"
    name = _name_of.__get__(cls)
    is_written_in_c = not cls.__flags__ & _HEAP_TYPE
    if is_written_in_c and cls.__module__ != "builtins":
        return f"{cls.__module__}.{name}"
    return name


# warnings --------------------------------------------------------------------------------------

_warned_places: set[str] = set()
_is_warned_always = False


def set_warn_always(b: bool, /) -> None:
    """Choose whether warnings that torch gives once in a process come every time.

    RuntimeError for what is no bool. Source: `torch.set_warn_always`.
    """
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type_name(b)}")
    global _is_warned_always  # noqa: PLW0603 - torch's switch is one for the process
    _is_warned_always = b


def is_warn_always_enabled() -> bool:
    """Return True if warnings that torch gives once in a process come every time."""
    return _is_warned_always


def warn_user(message: str, category: type[Warning] = UserWarning, once: bool = False) -> None:
    """Warn at the user's line: the nearest frame outside of this package.

    `once`: at most once in a process.
    """
    if once and message in _warned_places:
        return
    if once:
        _warned_places.add(message)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tinytorch"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


class WaitingWarnings(threading.local):
    """What torch's C++ code says during backward, which torch hands on when that is over.

    `calls` are those of `warn_in_torch`; None outside of backward, and in the user's code within.
    """

    calls: list[tuple[str, str, bool]] | None = None


WAITING_WARNINGS = WaitingWarnings()


def warn_in_torch(message: str, place: str, once: bool = False) -> None:
    """Warn as torch's C++ code does, which adds the place in its sources.

    `once`: at most once in a process.
    """
    if WAITING_WARNINGS.calls is not None:
        WAITING_WARNINGS.calls.append((message, place, once))
        return
    if once and not _is_warned_always:
        if place in _warned_places:
            return
        _warned_places.add(place)
    warn_user(f"{message} (Triggered internally at /__w/pytorch/pytorch/{place}.)")


# names that tinytorch does not have ------------------------------------------------------------

ABSENT_NOTE = (
    "tinytorch has no '{}'; if PyTorch has, run the program with PyTorch: the pictures and "
    "widgets work on its tensors too."
)


def make_attribute_error(template: str, name: str, is_of_pytorch: bool = False) -> AttributeError:
    """Return an AttributeError in torch's words.

    Its note, which tracebacks show, says in one sentence what to do.
    """
    text = template.format(name)
    # Python suggests a name that is alike, `zeros` for `zeross`, unless the error has no object. But
    # `addr` is no mistake for `add`: PyTorch has it.
    is_of_pytorch = is_of_pytorch or name in vars(AbsentNames)
    error = AttributeError(text, name=name, obj=None) if is_of_pytorch else AttributeError(text)
    if not name.startswith("__"):
        error.add_note(ABSENT_NOTE.format(name))
    return error


def make_object_error(owner: Any, name: str) -> AttributeError:
    """Return the error for an attribute of an object which PyTorch has and tinytorch lacks."""
    template = f"'{type(owner).__name__}' object has no attribute '{{}}'"
    return make_attribute_error(template, name, is_of_pytorch=True)


def make_absence_error(form: str, advice: str = "") -> NotImplementedError:
    """Return the error for a form, a keyword or a dtype that PyTorch has and tinytorch lacks.

    PyTorch's own words would say that a right program is wrong. Its note is that of names.
    `advice`: a way that there is, "use ...".
    """
    error = NotImplementedError(f"{form} is not in tinytorch{advice and '; '}{advice}")
    error.add_note(ABSENT_NOTE.format(form))
    return error


# PyTorch's defaults of keywords that tinytorch lacks, where they are neither None nor False.
_DEFAULTS_OF_ABSENT = {
    "check_backward_ad": True,
    "check_undefined_grad": True,
    "dampening": 0,
    "ignore_index": -100,
    "label_smoothing": 0.0,
    "mode": "fan_in",
    "nondet_tol": 0.0,
    "nonlinearity": "leaky_relu",
    "reduce": None,  # False is no reduction,
    "remove_duplicate": True,
    "size_average": None,  # and here the sum
}


def _is_default(name: str, value: Any) -> bool:
    """Return True if a keyword that tinytorch lacks was given what PyTorch takes without it."""
    if name in _DEFAULTS_OF_ABSENT:
        default = _DEFAULTS_OF_ABSENT[name]
        return isinstance(value, type(default)) and value == default
    return value is None or value is False


def refuse_keywords(*keywords: str) -> Callable[[_Function], _Function]:
    """Decorate a function that PyTorch calls with more arguments: these are refused with the note.

    Unless they are PyTorch's defaults, which change nothing. More positional arguments than the
    function takes are refused, too: PyTorch may have a parameter for them.
    """

    def decorate(function: Any) -> Any:
        count, lacking = function.__code__.co_argcount, frozenset(keywords)

        @functools.wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            if len(args) <= count and lacking.isdisjoint(named):
                return function(*args, **named)
            for name in [name for name in named if name in keywords]:
                if not _is_default(name, named.pop(name)):
                    raise make_absence_error(f"{_name_called(function, args)}({name}=...)")
            if len(args) > count:
                is_method = count > 0 and function.__code__.co_varnames[0] == "self"
                form = f"with {len(args) - is_method} positional arguments"
                raise make_absence_error(f"{_name_called(function, args)}() {form}")
            return function(*args, **named)

        call.lacking = keywords  # type: ignore[attr-defined]
        return call

    return decorate


def make_error_of_arguments(name: str, count: int, named: Any = None) -> TypeError:
    """Make Python's error for a function in C that takes no arguments, and was given so many.

    `named`: those given by name, if there are any.
    """
    takes = "no keyword arguments" if named else f"no arguments ({count} given)"
    return TypeError(f"{name}() takes {takes}")


def _name_called(function: Any, args: tuple) -> str:
    """Return the name by which a user calls a function; for `__init__` the class."""
    return type(args[0]).__name__ if function.__name__ == "__init__" else function.__name__


def make_module_getattr(module: str) -> Any:
    """Return a `__getattr__` for a module. `module`: its name in torch."""

    def raise_error(name: str) -> Any:
        raise make_attribute_error(f"module '{module}' has no attribute '{{}}'", name)

    return raise_error


class AbsentName:
    """Descriptor for a name of torch's class that ours lacks.

    Reading it raises an AttributeError with a note.

    A `__getattr__` could do the same, but would make every attribute of the class slower to read.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, obj: Any, cls: type) -> Any:
        owner = f"type object '{cls.__name__}'" if obj is None else f"'{cls.__name__}' object"
        raise make_attribute_error(owner + " has no attribute '{}'", self.name)


# Attributes of torch.Tensor that ours lacks; most of them exist in place, too, with an
# underscore.
ABSENT_FROM_TENSOR = """
    absolute acos acosh addbmm aminmax angle apply_ arccos arccosh
    arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh baddbmm
    bfloat16 bincount
    ccol_indices cdouble cfloat chalf cholesky cholesky_inverse cholesky_solve
    coalesce col_indices conj_physical const_data_ptr copysign corrcoef cosh
    count_nonzero cov cross crow_indices cummax cummin deg2rad dense_dim dequantize det
    diff digamma dim_order dist divide eig erf erfc erfinv exp2 expm1
    fix float_power fmax fmin frac frexp gcd geqrf ger grad_dtype
    greater greater_equal hardshrink hash_tensor heaviside histc histogram hypot i0
    igamma igammac imag index indices inner int_repr inverse ipu
    is_coalesced is_conj is_distributed is_ipu is_maia is_mps is_mtia is_neg
    is_pinned is_same_size is_sparse_csr is_vulkan is_xla is_xpu isneginf isposinf
    isreal istft kron lcm ldexp less less_equal lgamma log10 log1p log2
    logaddexp logaddexp2 logcumsumexp logdet logit lstsq lu lu_solve
    map2_ map_ matrix_exp matrix_power mode module_load msort mtia multinomial
    multiply mvlgamma name nan_to_num nanmean nanmedian nanquantile nansum negative
    new nextafter nonzero_static not_equal orgqr ormqr pin_memory pinverse polygamma
    prelu q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale
    q_zero_point qr qscheme quantile rad2deg record_stream reinforce renorm resize
    resize_as resize_as_sparse_ row_indices rsqrt signbit sinc sinh slice_inverse
    slogdet smm solve sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_
    sspaddmm stft storage_type subtract svd symeig tan to_dense to_mkldnn
    to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc
    to_sparse_csr triangular_solve unique unique_consecutive
    unsafe_chunk unsafe_split unsafe_split_with_sizes values vdot volatile xlogy xpu
""".split()  # noqa: SIM905 - a list of strings would take a line for each

_body: dict[str, Any] = {"__slots__": ()}
for _name in ABSENT_FROM_TENSOR:
    for _variant in (_name, f"{_name.rstrip('_')}_"):
        _body[_variant] = AbsentName(_variant)
AbsentNames: Any = type("AbsentNames", (), _body)
"""Base class with an `AbsentName` for each of these names."""
