"""`torch.special`: the functions of the top level that have a place, and in part another name, here too.

Source: `torch.special`.
"""

from __future__ import annotations

from typing import Any

from .missing import missing
from .ops.core import FUNCTIONS
from .tensor import Tensor

digamma = FUNCTIONS["digamma"]
erf = FUNCTIONS["erf"]
erfc = FUNCTIONS["erfc"]
erfinv = FUNCTIONS["erfinv"]
exp2 = FUNCTIONS["exp2"]
expit = FUNCTIONS["sigmoid"]
expm1 = FUNCTIONS["expm1"]
gammaln = FUNCTIONS["lgamma"]
log1p = FUNCTIONS["log1p"]
log_softmax = FUNCTIONS["log_softmax"]
logit = FUNCTIONS["logit"]
logsumexp = FUNCTIONS["logsumexp"]
polygamma = FUNCTIONS["polygamma"]
psi = FUNCTIONS["digamma"]
sinc = FUNCTIONS["sinc"]
softmax = FUNCTIONS["softmax"]
xlogy = FUNCTIONS["xlogy"]


def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Each element rounded to so many decimals. Source: `torch.special.round`."""
    return FUNCTIONS["round"](input, decimals=decimals, out=out)


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.special' has no attribute '{}'", name)


__all__ = [
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammaln",
    "log1p",
    "log_softmax",
    "logit",
    "logsumexp",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlogy",
]
