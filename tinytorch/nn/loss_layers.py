"""Losses as modules.

Source: `torch.nn`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from . import functional as F
from .layer import layer
from .losses import reduction_of

_REDUCED = {"size_average": None, "reduce": None, "reduction": "mean"}


def _options(module: Any, values: dict[str, Any]) -> None:
    old = [values.pop(name, None) for name in ("size_average", "reduce")]
    if any(x is not None for x in old):
        values["reduction"] = reduction_of(*old)
    for name in ("weight", "pos_weight"):
        if name in values:
            module.register_buffer(name, values.pop(name))
    if "delta" in values and not isinstance(values["delta"], (float, int)):
        raise TypeError(f"delta must be a float or int, got: {type(values['delta'])}")
    if "swap" in values and values["margin"] <= 0:
        raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {values['margin']} instead")
    vars(module).update(values)


def _loss(name: str, function: Callable, what: str, base: str = "", **values: Any) -> type:
    return layer(name, function, what, inputs="input, target", base=base, set_up=_options, **values)


MSELoss = _loss("MSELoss", lambda m, x, t: F.mse_loss(x, t, reduction=m.reduction), "Squared differences.", "_Loss",
                **_REDUCED)  # fmt: skip
L1Loss = _loss("L1Loss", lambda m, x, t: F.l1_loss(x, t, reduction=m.reduction), "Absolute differences.", "_Loss",
               **_REDUCED)  # fmt: skip
SmoothL1Loss = _loss("SmoothL1Loss", lambda m, x, t: F.smooth_l1_loss(x, t, reduction=m.reduction, beta=m.beta),
                     "Squared differences near 0, absolute ones beyond.", **_REDUCED, beta=1.0)  # fmt: skip
HuberLoss = _loss("HuberLoss", lambda m, x, t: F.huber_loss(x, t, m.reduction, m.delta),
                  "Squared differences near 0, linear beyond.", reduction="mean", delta=1.0)  # fmt: skip
BCELoss = _loss("BCELoss", lambda m, x, t: F.binary_cross_entropy(x, t, m.weight, reduction=m.reduction),
                "Cross entropy of probabilities.", "_WeightedLoss", weight=None, **_REDUCED)  # fmt: skip
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss",
    lambda m, x, t: F.binary_cross_entropy_with_logits(x, t, m.weight, reduction=m.reduction, pos_weight=m.pos_weight),
    "Cross entropy of sigmoid(input).", weight=None, **_REDUCED, pos_weight=None,
)  # fmt: skip
NLLLoss = _loss("NLLLoss", lambda m, x, t: F.nll_loss(x, t, m.weight, ignore_index=m.ignore_index, reduction=m.reduction),
                "Minus the log-probability of the right class.", weight=None, size_average=None, ignore_index=-100,
                reduce=None, reduction="mean")  # fmt: skip
CrossEntropyLoss = _loss(
    "CrossEntropyLoss",
    lambda m, x, t: F.cross_entropy(
        x, t, m.weight, ignore_index=m.ignore_index, reduction=m.reduction, label_smoothing=m.label_smoothing
    ),
    "Cross entropy of softmax(input).", weight=None, size_average=None, ignore_index=-100, reduce=None,
    reduction="mean", label_smoothing=0.0,
)  # fmt: skip
KLDivLoss = _loss("KLDivLoss", lambda m, x, t: F.kl_div(x, t, reduction=m.reduction, log_target=m.log_target),
                  "The Kullback-Leibler divergence.", **_REDUCED, log_target=False)  # fmt: skip

# of pairs and triplets, and likelihoods ----------------------------------------------------------------------------------


def _pairs(name: str, function: Any, what: str, inputs: str, **defaults: Any) -> type:
    kept = [k for k in defaults if k not in ("size_average", "reduce")]

    def forward(module: Any, *given: Tensor) -> Tensor:
        return function(*given, **{k: getattr(module, k) for k in kept})

    return layer(name, forward, what, inputs=inputs, set_up=_options, **defaults)


MarginRankingLoss = _pairs("MarginRankingLoss", F.margin_ranking_loss, "Two scores in the wanted order.",
                           "input1, input2, target", margin=0.0, **_REDUCED)  # fmt: skip
HingeEmbeddingLoss = _pairs("HingeEmbeddingLoss", F.hinge_embedding_loss, "Distances, short or beyond a margin.",
                            "input, target", margin=1.0, **_REDUCED)  # fmt: skip
CosineEmbeddingLoss = _pairs("CosineEmbeddingLoss", F.cosine_embedding_loss, "Vectors alike or apart.",
                             "input1, input2, target", margin=0.0, **_REDUCED)  # fmt: skip
TripletMarginLoss = _pairs("TripletMarginLoss", F.triplet_margin_loss, "Nearer to the positive than to the negative.",
                           "anchor, positive, negative", margin=1.0, p=2.0, eps=1e-6, swap=False, **_REDUCED)  # fmt: skip
SoftMarginLoss = _pairs("SoftMarginLoss", F.soft_margin_loss, "A smooth margin for classes 1 and -1.", "input, target",
                        **_REDUCED)  # fmt: skip
PoissonNLLLoss = _pairs("PoissonNLLLoss", F.poisson_nll_loss, "Counts under a Poisson distribution.", "log_input, target",
                        log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean")  # fmt: skip
GaussianNLLLoss = layer(
    "GaussianNLLLoss",
    lambda m, x, t, v: F.gaussian_nll_loss(x, t, v, full=m.full, eps=m.eps, reduction=m.reduction),
    "Values under a normal distribution.", inputs="input, target, var", full=False, eps=1e-6, reduction="mean",
)  # fmt: skip

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "NLLLoss",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
]
