"""The named pairs that some operations return: `torch.return_types.max` and its like."""

from __future__ import annotations

from typing import Any

from .naming import ShownAs


def _restored(name: str, values: tuple) -> tuple:
    """What `pickle` makes again of a result."""
    known = globals()[name.removesuffix("_out")]
    return (known.out if name.endswith("_out") else known)(values)


def _named(name: str, *fields: str) -> type:
    known, known.out = _kind(name, fields), _kind(f"{name}_out", fields)  # type: ignore[attr-defined]
    return known


def _kind(name: str, fields: tuple[str, ...]) -> type:
    def show(self: tuple) -> str:
        parts = ",\n".join(f"{f}={v!r}" for f, v in zip(fields, self, strict=True))
        return f"torch.return_types.{name}(\n{parts})"

    def reduce(self: tuple) -> tuple:
        return _restored, (name, tuple(self))

    def missing(self: tuple, attribute: str) -> None:
        raise AttributeError(f"'torch.return_types.{name}' object has no attribute '{attribute}'")

    def readonly(self: tuple, attribute: str, value: Any) -> None:
        if attribute in fields:
            raise AttributeError("readonly attribute")
        missing(self, attribute)

    body: dict[str, Any] = {
        "__getattr__": missing, "__setattr__": readonly,
        "shown_as": f"torch.return_types.{name}", "__slots__": (), "__module__": "torch.return_types", "__repr__": show, "__reduce__": reduce,
        "__doc__": f"What `torch.{name}` returns: {' and '.join(fields)}.", "n_fields": len(fields),
        "n_sequence_fields": len(fields), "n_unnamed_fields": 0,
    }  # fmt: skip
    for i, field in enumerate(fields):
        body[field] = property(lambda self, i=i: self[i])  # type: ignore[misc]
    return ShownAs(name, (tuple,), body)


max = _named("max", "values", "indices")
min = _named("min", "values", "indices")
median = _named("median", "values", "indices")
nanmedian = _named("nanmedian", "values", "indices")
mode = _named("mode", "values", "indices")
kthvalue = _named("kthvalue", "values", "indices")
sort = _named("sort", "values", "indices")
topk = _named("topk", "values", "indices")
cummax = _named("cummax", "values", "indices")
cummin = _named("cummin", "values", "indices")
aminmax = _named("aminmax", "min", "max")
linalg_svd = _named("linalg_svd", "U", "S", "Vh")
svd = _named("svd", "U", "S", "V")
linalg_qr = _named("linalg_qr", "Q", "R")
qr = _named("qr", "Q", "R")
linalg_eigh = _named("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_slogdet = _named("linalg_slogdet", "sign", "logabsdet")
slogdet = _named("slogdet", "sign", "logabsdet")
linalg_inv_ex = _named("linalg_inv_ex", "inverse", "info")
linalg_lstsq = _named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
frexp = _named("frexp", "mantissa", "exponent")
