"""What to say about a name that tinytorch does not have: torch's own error, with a note that tells the two cases apart."""

from __future__ import annotations

from typing import Any


def missing(template: str, name: str) -> AttributeError:
    """An AttributeError in torch's words; the note, shown in tracebacks, names tinytorch and where to look."""
    error = AttributeError(template.format(name))
    if not name.startswith("__"):
        error.add_note(
            f"tinytorch does not have '{name}'. It has PyTorch's copying, viewing and gradient rules on the CPU; what else "
            "PyTorch offers is described at https://docs.pytorch.org/docs/stable/search.html?q=" + name
        )
    return error


class Absent:
    """Stands in a class for a name that torch has there: reading it is the error, and it is no attribute to Python.

    A `__getattr__` would say the same, but makes every attribute of the class slower to read.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, obj: Any, cls: type) -> Any:
        what = f"type object '{cls.__name__}'" if obj is None else f"'{cls.__name__}' object"
        raise missing(what + " has no attribute '{}'", self.name)


# What torch.Tensor has and tinytorch's has not.
OF_TENSOR = """
    as_subclass bfloat16 ccol_indices cdouble cfloat chalf cholesky_inverse cholesky_solve coalesce
    col_indices conj_physical_ const_data_ptr crow_indices dense_dim dequantize eig geqrf hardshrink
    hash_tensor histogram i0 i0_ igamma igamma_ igammac igammac_ index indices int_repr ipu is_coalesced
    is_distributed istft lstsq lu lu_solve matrix_exp module_load mtia mvlgamma mvlgamma_ orgqr ormqr
    polygamma polygamma_ prelu q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale
    q_zero_point qscheme record_stream reinforce resize resize_as resize_as_sparse_ row_indices share_memory_
    slice_inverse smm solve sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ sspaddmm stft
    symeig to_dense to_mkldnn to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo
    to_sparse_csc to_sparse_csr triangular_solve values xpu
""".split()  # noqa: SIM905 - a list of strings would take a line for each
