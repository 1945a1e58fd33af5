"""Why a tensor requires no grad, as far as the tensor itself and grad mode say it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from ..read import engine_name
from ..wording import gettext, short_dtype

_KINDS_WITH_GRADIENT = ("float", "bfloat", "complex")


def describe_why_no_grad(tensor: Any) -> Iterator[str]:
    """Yield what is certain of a tensor that requires no grad; nothing where only the program knows."""
    dtype = short_dtype(str(tensor.dtype))
    if not dtype.startswith(_KINDS_WITH_GRADIENT):
        yield gettext(
            "It is of dtype {dtype}: only floating point and complex tensors can require grad.",
            dtype=dtype,
        )
    if tensor.is_inference():
        yield gettext("It was made in inference mode, where no graph is recorded.")
    if not sys.modules[engine_name(tensor)].is_grad_enabled():
        yield gettext("Grad mode is off on the line that asks for backward.")
