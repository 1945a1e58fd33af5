"""The operations: how they are declared, and the lists of them."""

import numpy as np

from ..base import dtype_of_number
from ..graph import provide_operations
from ..tensor import Tensor, make_tensor
from . import (
    absent,
    arranging,
    by_index,
    copies,
    creation,
    deprecated,
    einsum,
    filling,
    functions_in_place,
    indexing,
    inner_writes,
    linalg,
    memory,
    orders,
    pointwise,
    products,
    reductions,
    striding,
    sums,
    view_copies,
    views,
)
from .choosing import where
from .copies import (
    MemoryFormat,
    clone,
    contiguous_format,
    copy_,
    copy_array,
    preserve_format,
    tensor_over_storage,
)
from .creation import empty, empty_like, eye, new_empty_strided, zeros_like
from .define import FUNCTIONS, find_function, make_function_of, offer_member, op
from .filling import zero_
from .from_data import legacy_constructor
from .kernels import as_array, check_kernel, composite, result_dtype
from .linalg import addmm, matmul
from .parts import stack
from .pointwise import divide, mul, sigmoid, sub, times
from .reductions import log_softmax, softmax
from .striding import as_strided
from .sums import expand
from .typed_storage import TypedStorage
from .views import array_of, reshape, t, view
from .written_in_c import (
    get_default_dtype,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
    set_anomaly_enabled,
)

__all__ = [
    "FUNCTIONS",
    "MemoryFormat",
    "TypedStorage",
    "absent",
    "addmm",
    "arranging",
    "array_of",
    "as_array",
    "as_strided",
    "by_index",
    "check_kernel",
    "clone",
    "composite",
    "contiguous_format",
    "copies",
    "copy_",
    "copy_array",
    "creation",
    "divide",
    "einsum",
    "empty",
    "empty_like",
    "expand",
    "eye",
    "filling",
    "find_function",
    "get_default_dtype",
    "indexing",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "legacy_constructor",
    "linalg",
    "log_softmax",
    "make_function_of",
    "matmul",
    "memory",
    "mul",
    "new_empty_strided",
    "offer_member",
    "op",
    "orders",
    "pointwise",
    "preserve_format",
    "products",
    "reductions",
    "reshape",
    "result_dtype",
    "set_anomaly_enabled",
    "sigmoid",
    "softmax",
    "stack",
    "striding",
    "sub",
    "sums",
    "t",
    "tensor_over_storage",
    "times",
    "view",
    "view_copies",
    "views",
    "where",
    "zero_",
    "zeros_like",
]


def _tensor_of_number(number: float) -> Tensor:
    """Return the 0-d tensor that PyTorch saves for a Python number.

    A float becomes float64, whatever the default dtype.
    """
    return make_tensor(
        np.array(number, np.float64 if isinstance(number, float) else dtype_of_number(number).np)
    )


absent.note_absent_forms()
inner_writes.note_inner_writes()
deprecated.note_deprecated_forms()
functions_in_place.offer_functions_in_place()
provide_operations(
    as_strided=as_strided,
    clone_contiguous=lambda tensor: clone(tensor, contiguous_format),
    construct_tensor=legacy_constructor,
    copy_=copy_,
    new_empty_strided=new_empty_strided,
    tensor_of_number=_tensor_of_number,
    zero_=zero_,
)
