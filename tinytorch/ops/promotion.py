"""What dtype two operands meet in, as functions of torch's own names."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..tensor import Tensor
from .arguments import is_number, unfit
from .core import op, result_dtype


@op(method=False)
def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The dtype of an operation on two tensors or numbers.

    Source: `torch.result_type`.
    """
    if not all(isinstance(x, Tensor) or is_number(x) for x in (tensor1, tensor2)):
        raise unfit("result_type")
    return result_dtype(tensor1, tensor2)


@op(method=False, strict=True)
def promote_types(type1: dtypes.dtype, type2: dtypes.dtype) -> dtypes.dtype:
    """The smallest dtype that holds both, by torch's table.

    Source: `torch.promote_types`.
    """
    return dtypes.promote_types(dtypes.as_dtype(type1), dtypes.as_dtype(type2))  # type: ignore[arg-type]


@op(method=False, strict=True)
def can_cast(from_: dtypes.dtype, to: dtypes.dtype) -> bool:
    """Whether a result of one dtype may be written into a tensor of another.

    Source: `torch.can_cast`.
    """
    return dtypes.can_cast(dtypes.as_dtype(from_), dtypes.as_dtype(to))  # type: ignore[arg-type]
