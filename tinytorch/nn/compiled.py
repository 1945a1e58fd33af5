"""Arguments of functions that torch passes on to compiled ones, whose parser says what they do not take.

Source: how `torch.nn.functional` calls `torch` and `torch._C._nn`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..ops.arguments import parsed

# What is passed on, and to what. Without brackets: torch's function is the compiled one itself.
PASSED = {
    "binary_cross_entropy_with_logits": "binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)",
    "celu": "celu(input, alpha)",
    "cosine_embedding_loss": "cosine_embedding_loss(input1, input2, target, margin, reduction)",
    "cosine_similarity": "cosine_similarity",
    "cross_entropy": "nn.cross_entropy_loss(input, target, weight, reduction, ignore_index, label_smoothing)",
    "elu": "nn.elu(input, alpha)",
    "gelu": "gelu",
    "glu": "nn.glu(input, dim)",
    "hardshrink": "hardshrink",
    "hardsigmoid": "nn.hardsigmoid(input)",
    "hardswish": "nn.hardswish(input)",
    "hardtanh": "nn.hardtanh(input, min_val, max_val)",
    "hinge_embedding_loss": "hinge_embedding_loss(input, target, margin, reduction)",
    "kl_div": "kl_div(input, target, reduction, log_target=log_target)",
    "leaky_relu": "nn.leaky_relu(input, negative_slope)",
    "mish": "nn.mish(input)",
    "nll_loss": "nn.nll_loss_nd(input, target, weight, reduction, ignore_index)",
    "one_hot": "one_hot",
    "pad": "nn.pad(input, pad, mode, value)",
    "pairwise_distance": "pairwise_distance(x1, x2, p, eps, keepdim)",
    "poisson_nll_loss": "poisson_nll_loss(input, target, log_input, full, eps, reduction)",
    "prelu": "prelu",
    "selu": "selu(input)",
    "silu": "nn.silu(input)",
    "soft_margin_loss": "nn.soft_margin_loss(input, target, reduction)",
    "softplus": "softplus",
    "softshrink": "softshrink",
    "threshold": "threshold(input, threshold, value)",
    "triplet_margin_loss": "triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)",
}
# What torch's Python looks at before it passes the arguments on.
_ASKED_BEFORE = {
    "binary_cross_entropy_with_logits": "'size'",
    "glu": "'dim'",
    "hardtanh": "max_val",
    "triplet_margin_loss": "margin",
}
# These would take more than torch takes; of the others a call that fails is looked at again.
_LOOKED_AT_FIRST = {"cosine_similarity", "one_hot", "pad", "pairwise_distance", "soft_margin_loss"}


def _check(f: Callable, passed: str, args: tuple, kwargs: dict) -> None:
    """torch's error for a call whose arguments are of the wrong kinds."""
    key, _, inner = passed.rstrip(")").partition("(")
    if not inner:
        parsed(key, args, kwargs)
        return
    try:
        bound = inspect.signature(f).bind(*args, **kwargs)
    except TypeError:
        return  # Python says it better
    bound.apply_defaults()
    values = bound.arguments
    reduction = values.get("reduction", "mean")
    if "batchmean" != reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    values["reduction"] = 1
    parts = [part.partition("=")[::2] for part in inner.split(", ")]
    parsed(key, tuple([values[n] for n, to in parts if not to]), {n: values[to] for n, to in parts if to})


def compiled(name: str, f: Callable) -> Callable:
    """`f`, with the errors of torch's compiled function for arguments that it does not take."""
    passed, first, before = PASSED[name], name in _LOOKED_AT_FIRST, _ASKED_BEFORE.get(name)

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if first:
            _check(f, passed, args, kwargs)
        try:
            return f(*args, **kwargs)
        except Exception as error:
            if before is not None and str(error).find(before) >= 0:
                raise
            wrong: Exception = error
            try:
                _check(f, passed, args, kwargs)
            except (TypeError, ValueError) as said:
                wrong = said
            if wrong is error:
                raise
        raise wrong

    return call


__all__ = ["PASSED", "compiled"]
