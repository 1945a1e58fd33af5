"""Forms that PyTorch still takes and no longer lists: `torch.add(x, 2, y)` means `x + 2 * y`.

Each is tried after all others of its name, and warns of itself. Source: torch's `deprecated.yaml`.
"""

from __future__ import annotations

from .define import OVERLOADS

_MATRICES = "Tensor mat1, Tensor mat2)"
_MATRIX = "Tensor mat, Tensor vec)"
_VECTORS = "Tensor vec1, Tensor vec2)"
_TENSORS = "Tensor tensor1, Tensor tensor2)"
_FORMAT = "*, MemoryFormat? memory_format=None)"
# By name, and by that with `_`, where tinytorch has it.
_DEPRECATED_FORMS = (
    "add(Tensor self, Scalar alpha, Tensor other)",
    f"addcdiv(Tensor self, Scalar value, {_TENSORS}",
    f"addcmul(Tensor self, Scalar value, {_TENSORS}",
    f"addmm(Scalar beta, Tensor self, Scalar alpha, {_MATRICES}",
    f"addmm(Scalar beta, Tensor self, {_MATRICES}",
    f"addmv(Scalar beta, Tensor self, Scalar alpha, {_MATRIX}",
    f"addmv(Scalar beta, Tensor self, {_MATRIX}",
    f"addr(Scalar beta, Tensor self, Scalar alpha, {_VECTORS}",
    f"addr(Scalar beta, Tensor self, {_VECTORS}",
    "copy_(Tensor self, Tensor other, bool async=False)",
    f"cuda(Tensor self, Device? device=None, bool async=False, {_FORMAT}",
    "sub(Tensor self, Scalar alpha, Tensor other)",
    f"type(Tensor self, PyObject dtype=None, bool async=False, {_FORMAT}",
)


def note_deprecated_forms() -> None:
    """Tell each name of its deprecated forms, once all lists of operations are there."""
    for text in _DEPRECATED_FORMS:
        name = text.partition("(")[0]
        for form_name in (name, f"{name}_"):
            if form_name in OVERLOADS:
                OVERLOADS[form_name].deprecated_forms.append(text)
