"""What operations say of an `out=` whose dtype they do not write into; the others convert as torch's categories allow."""

from __future__ import annotations

from typing import Any

from .. import dtypes

# {0} and {1}: the names of the result's dtype and of `out`'s; {2} and {3}: the same in C++; {4}: the operation
_EXACT = "Expected out tensor to have dtype {2}, but got {3} instead"
_FOUND = "Found dtype {1} but expected {0}"
_TENSORDOT = "tensordot: Expected the output tensor to have dtype {0}, but got an output tensor with dtype {1}"
_MULTI = "multi_dot(): expected out tensor to have dtype {2} but got {3}"
_CAT = "torch.cat(): input types can't be cast to the desired output type {1}"
_POWER = "the output given to float_power has dtype {1} but the operation's result requires dtype {0}"
_SEARCH = (
    "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on "
    "whether out_int32 flag is True, but we got output tensor's dtype {1} and out_int32 flag is "
)
_EXTREME = "Expected the dtype for input and out to match, but got {0} for input's dtype and {1} for out's dtype."
_BOOL = "{4} only supports bool tensor for result, got: {1}"
_BOOLS = "{4} does not support non-boolean outputs."
_SCALARS = "{4}(): self and result must have the same scalar type"

_EXACTLY = """
    gather tril triu softmax log_softmax matmul mm addmm addmv baddbmm addbmm bmm mv sort matrix_power inverse
    linalg_inv_ex linalg_det split_with_sizes_copy scatter scatter_add index_add isin aminmax diag linalg_vector_norm
""".split()  # noqa: SIM905 - a list of strings would take a line for each
_LIKE_INPUT = "abs neg sgn sign ceil floor trunc round frac bitwise_not clamp".split()  # noqa: SIM905
OUT_DTYPE = {
    **dict.fromkeys(_EXACTLY, _EXACT),
    **dict.fromkeys(_LIKE_INPUT, _FOUND),
    **dict.fromkeys(("index_select", "masked_select"), _SCALARS),
    **dict.fromkeys(("amax", "amin"), _EXTREME),
    **dict.fromkeys(("isposinf", "isneginf", "signbit"), _BOOLS),
    "take": "take(): self and out expected to have the same dtype, but got self.dtype = {0} and out.dtype = {1}",
    "nonzero": "nonzero: Expected out tensor to have scalar type Long but got scalar type{1}",
    "where": "Expected out type to be {0} but got {1}",
    "nan_to_num": "nan_to_num: dtype of out: {1} should be same as input: {0}",
    "heaviside": "heaviside is not yet implemented for tensors with different dtypes.",
    "dot": "result dtype {1} does not match input dtype {0}",
    "vdot": "result dtype {1} does not match input dtype {0}",
    "tensordot": _TENSORDOT,
    "chain_matmul": _MULTI,
    "multi_dot": _MULTI,
    "float_power": _POWER,
    "linalg_norm": "linalg.norm expected out tensor dtype {0} but got: {1}",
    "multinomial": "multinomial expects Long tensor out, got: {1}",
}
OWN_CHECKS = OUT_DTYPE.keys() - _LIKE_INPUT  # which look at the dtype before they look at the memory
NO_DERIVATIVE = (
    "{}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires "
    "grad."
)
# Those whose `out` may not be an input, those that resize it before they look at its memory, and those that do not
# look at the memory of both.
APART = dict.fromkeys(("gather", "take", "index_select", "masked_select", "cat"), (True, "full", "partial"))
LATE = """
    addmm aminmax baddbmm bucketize cat cumprod cumsum diag gather index_add isin kthvalue linalg_cross linalg_inv_ex
    linalg_norm log_softmax logcumsumexp logsumexp matmul matrix_power max mean median min mm mode multi_dot nanmedian
    renorm searchsorted softmax sort stack tensordot topk
""".split()  # noqa: SIM905 - a list of strings would take a line for each
UNCHECKED = """
    all amax amin any argmax argmin bmm cummax cummin dot linalg_det linalg_vector_norm mv nansum norm prod std sum tril
    triu var vdot
""".split()  # noqa: SIM905 - a list of strings would take a line for each
# Those that take `out=` in no form.
WITHOUT_OUT = {"isnan", "isinf", "isfinite", "isreal", "relu"}


def check_out_dtype(function: str, d: dtypes.dtype, out: dtypes.dtype) -> None:
    """Raise torch's error unless a result of dtype `d` may be written into an `out` of another dtype."""
    if function in ("all", "any"):
        if out is not dtypes.bool_ and out is not dtypes.uint8:
            raise RuntimeError(_BOOL.format("", out.scalar_name, "", "", function))
        return
    if d is out:
        return
    if function in OUT_DTYPE:
        words = (d.scalar_name, out.scalar_name, dtypes.cpp_name(d), dtypes.cpp_name(out), function)
        raise RuntimeError(OUT_DTYPE[function].format(*words))
    if function in ("searchsorted", "bucketize"):
        raise RuntimeError(_SEARCH.format("", out.scalar_name) + ("True" if d is dtypes.int32 else "False"))
    if not dtypes.can_cast(d, out):
        if function in ("cat", "stack"):
            raise TypeError(_CAT.format("", out.scalar_name))
        if function == "logsumexp":
            raise RuntimeError(
                f"logsumexp(): Expected floating point type for result tensor, but got: {out.scalar_name}"
            )
        what = "ldexp" if function == "ldexp" else f"result type {d.scalar_name}"
        raise RuntimeError(f"{what} can't be cast to the desired output type {out.scalar_name}")


def check_same_dtype(out: Any, d: dtypes.dtype) -> None:
    """Raise torch's error unless `out` has the dtype `d` of the result."""
    if out.dtype is not d:
        raise RuntimeError(_EXACT.format("", "", dtypes.cpp_name(d), dtypes.cpp_name(out.dtype)))


# What is said of the values, then of the indices, by those that return both; {0} and {1} as above.
_MEDIAN = (
    "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type torch.{3} does not "
    "equal torch.{2} (while checking arguments for median)"
)
_PAIRS = {
    "mode": ("expected scalar type '{0}' but got '{1}' for values output", "expected scalar type '{0}' but got '{1}' for indices output"),
    "kthvalue": ("output values must be of same type as input", "output indices must be of scalar type Long"),
    "cummax": ("expected scalar_type {0} but found {1}",) * 2,
    "median": (_MEDIAN, "Expected tensor for argument #1 'indices' to have scalar type Long; but got torch.{3} instead (while checking arguments for median)"),
}  # fmt: skip
_PAIRS |= {"nanmedian": _PAIRS["median"], "cummin": _PAIRS["cummax"]}


def check_pair(function: str, out: Any, d: dtypes.dtype) -> None:
    """Raise torch's error unless `out` is two tensors that can hold the values, of dtype `d`, and the indices."""
    if len(out) != 2:
        raise TypeError(f"expected tuple of 2 elements but got {len(out)}")
    for i, wanted in (
        ((1, dtypes.int64), (0, d)) if function in ("median", "nanmedian") else ((0, d), (1, dtypes.int64))
    ):
        if out[i].dtype is wanted:
            continue
        if function not in _PAIRS:
            check_same_dtype(out[i], wanted)
        found = out[i].dtype
        raise RuntimeError(_PAIRS[function][i].format(wanted.scalar_name, found.scalar_name, wanted.tensor_type, found.tensor_type))  # fmt: skip
