"""Forms of operations that PyTorch has and tinytorch lacks: calls of these say so."""

from __future__ import annotations

from .define import OVERLOADS

_SLICE = "int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1"
_FACTORS = "*, Scalar beta=1, Scalar alpha=1)"
# PyTorch's schemas, where tinytorch has another overload of the name, or of that without `_`. In
# front of each its place among the forms that PyTorch's errors list; -1 if only its `out=` is absent.
ABSENT_FORMS = (
    (1, f"addmm(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, {_FACTORS}"),
    (1, "bmm(Tensor self, Tensor mat2, ScalarType out_dtype)"),
    (1, "mm(Tensor self, Tensor mat2, ScalarType out_dtype)"),
    (0, "normal(Tensor mean, Tensor std, *, Generator? generator=None)"),
    (1, "normal(Tensor mean, float std=1., *, Generator? generator=None)"),
    (2, "normal(float mean, Tensor std, *, Generator? generator=None)"),
    (-1, "split_copy(Tensor self, SymInt split_size, int dim=0) -> Tensor[]"),
    (-1, "split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]"),
    (-1, "unbind_copy(Tensor self, int dim=0) -> Tensor[]"),
    (-1, f"slice_scatter(Tensor self, Tensor src, {_SLICE})"),
)


def note_absent_forms() -> None:
    """Tell each name of its absent forms, once all lists of operations are there."""
    for place, text in ABSENT_FORMS:
        name, _, parameters = text.partition("(")
        # Products take another dtype as functions alone.
        is_of_function = "out_dtype" in parameters
        OVERLOADS[name].add_absent(place, text, not is_of_function)
        # The schema of a form of `name_` is that of the operation.
        is_in_place = parameters.startswith("Tensor self") and not is_of_function
        if is_in_place and f"{name}_" in OVERLOADS:
            OVERLOADS[f"{name}_"].add_absent(place, text)
