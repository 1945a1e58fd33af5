"""What tinytorch says in torch's words: names of types, warnings, and what it has not.

Everything here is loaded first and needs nothing else of the package.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

HERE = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120 - `pathlib` takes long to load
_name_of: Any = type.__dict__["__name__"]
_MADE_BY_A_CLASS_STATEMENT = 1 << 9  # Py_TPFLAGS_HEAPTYPE


class ShownAs(type):
    """A class with `shown_as` prints as the class of that name; one derived from it prints as itself.

    torch's classes are written in C and have their module in their name, which Python's own errors print: `can only
    concatenate str (not "torch.Size") to str`. Such a name is given to the class when it is made, and `__name__`
    answers without the module, as torch's do.
    """

    def __new__(mcs, name: str, bases: tuple, body: dict) -> ShownAs:
        """Make a class under the name that it is shown as."""
        body.setdefault("__qualname__", name)
        return super().__new__(mcs, body.get("shown_as", name), bases, body)

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        return _name_of.__get__(cls).rpartition(".")[2]

    def __repr__(cls) -> str:
        name = cls.__dict__.get("shown_as")
        return type.__repr__(cls) if name is None else f"<class '{name}'>"


def of_pytorch(x: Any) -> bool:
    """Whether it is a tensor of PyTorch itself, whose class has the name of ours."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.__name__ == "torch" and isinstance(x, torch.Tensor)


def not_taken(x: Any, other: Any) -> Any:
    """NotImplemented, as operators give it for what they do not take; TypeError for a tensor of PyTorch's."""
    if of_pytorch(other):
        raise TypeError(f"a tensor of tinytorch, of shape {tuple(x.shape)}, and one of PyTorch, of shape {tuple(other.shape)}, do not mix: make both with one of the two")  # fmt: skip
    return NotImplemented


def type_name(x: Any) -> str:
    """The type of an object as CPython and torch name it in errors: what is written in C has its module before its name."""
    kind = type(x)
    if of_pytorch(x):
        return f"PyTorch {kind.__name__} (this is tinytorch)"
    name = _name_of.__get__(kind)
    in_c = not kind.__flags__ & _MADE_BY_A_CLASS_STATEMENT
    return f"{kind.__module__}.{name}" if in_c and kind.__module__ != "builtins" else name


# Warnings, which point at the user's line.

_said: set[str] = set()
_always = False


def set_warn_always(b: bool, /) -> None:
    """Give every time the warnings that torch gives once a process. Source: `torch.set_warn_always`."""
    global _always  # noqa: PLW0603 - torch's switch is one for the process
    _always = b


def is_warn_always_enabled() -> bool:
    """Whether warnings that come once a process come every time."""
    return _always


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest frame outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tinytorch"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_in_torch(message: str, place: str, once: bool = False) -> None:
    """Warn as torch's C++ side does, which adds where in its sources the warning is raised; `once` a process."""
    if once and not _always:
        if place in _said:
            return
        _said.add(place)
    warn_user(f"{message} (Triggered internally at /__w/pytorch/pytorch/{place}.)")


# Names that are not here.


HAS_NOT = "tinytorch has no '{}'; if PyTorch has, run the program with PyTorch: the pictures and widgets work on its tensors too."


def missing(template: str, name: str) -> AttributeError:
    """An AttributeError in torch's words; a note, shown in tracebacks, says in one sentence what to do."""
    error = AttributeError(template.format(name))
    if not name.startswith("__"):
        error.add_note(HAS_NOT.format(name))
    return error


def lacking(module: str) -> Any:
    """The `__getattr__` of a module, by the name that the module has in torch."""

    def find(name: str) -> Any:
        raise missing(f"module '{module}' has no attribute '{{}}'", name)

    return find


class Absent:
    """Stands in a class for a name that torch has there: reading it is the error, and it is no attribute to Python.

    A `__getattr__` would say the same, but makes every attribute of the class slower to read.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, obj: Any, cls: type) -> Any:
        what = f"type object '{cls.__name__}'" if obj is None else f"'{cls.__name__}' object"
        raise missing(what + " has no attribute '{}'", self.name)


# What torch.Tensor has and tinytorch's has not; most of it in place, too, with an underscore.
OF_TENSOR = """
    H absolute acos acosh addbmm addcdiv addcmul addmm_ addmv addr adjoint amax amin aminmax angle apply_ arccos
    arccosh arcsin arcsinh arctan arctan2 arctanh argsort argwhere as_strided_scatter as_subclass asin asinh
    atan atan2 atanh baddbmm bernoulli bfloat16 bincount bitwise_left_shift bitwise_right_shift cauchy_
    ccol_indices cdouble cfloat chalf cholesky cholesky_inverse cholesky_solve clamp_max clamp_min coalesce
    col_indices conj conj_physical const_data_ptr copysign corrcoef cosh count_nonzero cov cross crow_indices
    cummax cummin cumprod cumsum deg2rad dense_dim dequantize det diag diag_embed diagflat diagonal_scatter diff
    digamma dim_order dist divide dsplit eig eq_ erf erfc erfinv exp2 expm1 exponential_ fill_diagonal_ fix
    fliplr flipud float_power fmax fmin fmod frac frexp gcd ge_ geometric_ geqrf ger grad_dtype greater
    greater_equal gt_ hardshrink hash_tensor heaviside histc histogram hsplit hypot i0 igamma igammac imag index
    index_add index_copy index_fill index_reduce index_select indices inner int_repr inverse ipu is_coalesced
    is_conj is_distributed is_ipu is_maia is_mps is_mtia is_neg is_nonzero is_pinned is_same_size is_shared
    is_sparse_csr is_vulkan is_xla is_xpu isclose isneginf isposinf isreal istft kron kthvalue lcm ldexp le_
    less less_equal lgamma log10 log1p log2 log_normal_ logaddexp logaddexp2 logcumsumexp logdet logit logsumexp
    lstsq lt_ lu lu_solve mH map2_ map_ masked_scatter masked_select matrix_exp matrix_power median mode
    module_load moveaxis movedim msort mtia multinomial multiply mvlgamma name nan_to_num nanmean nanmedian
    nanquantile nansum narrow_copy ne_ negative new nextafter nonzero_static not_equal orgqr ormqr pin_memory
    pinverse polygamma prelu prod put q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale
    q_zero_point qr qscheme quantile rad2deg real record_stream reinforce renorm repeat_interleave reshape_as
    resize resize_as resize_as_sparse_ resolve_conj resolve_neg rot90 row_indices rsqrt scatter_add
    scatter_reduce select_scatter share_memory_ signbit sinc sinh slice_inverse slice_scatter slogdet smm solve
    sort sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ split_with_sizes sspaddmm std stft
    storage storage_type subtract svd swapaxes swapdims symeig take take_along_dim tan tensor_split tile
    to_dense to_mkldnn to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc
    to_sparse_csr topk trace triangular_solve tril triu true_divide unflatten unfold unique unique_consecutive
    unsafe_chunk unsafe_split unsafe_split_with_sizes values var vdot volatile vsplit where xlogy xpu
""".split()  # noqa: SIM905 - a list of strings would take a line for each

Lacking: Any = type(
    "Lacking",
    (),
    {
        "__slots__": (),
        **{n: Absent(n) for name in OF_TENSOR for n in (name, f"{name.rstrip('_')}_")},
    },
)
"""A class to derive from, which has none of these names and says so."""
