"""What every tensor holds, and how its class prints."""

from __future__ import annotations

from .missing import OF_TENSOR, Absent


class TensorMeta(type):
    """Prints the class by torch's name, and does not list what it has not."""

    def __repr__(cls) -> str:
        return type.__repr__(cls).replace("'tinytorch.", "'torch.")

    def __dir__(cls) -> list[str]:
        found: dict = {}
        for kind in cls.__mro__:
            for name, value in vars(kind).items():
                found.setdefault(name, value)
        return [n for n in type.__dir__(cls) if type(found.get(n)) is not Absent]


class TensorBase:
    """The slots of a tensor and what can be read off them."""

    __slots__ = (
        "__dict__", "__weakref__",
        "_acc",            # weak reference to the leaf's AccumulateGrad
        "_counter",        # the version counter: None until the tensor is written to or shared, `_vc` makes it
        "_creation",       # of a view: how it came about; unset for other tensors, as `_seen` is
        "_data",           # the ndarray: shape, strides and dtype come from it
        "_device",
        "_fn", "_grad", "_hooks", "_inference",
        "_offset",         # of the first element in the storage, in bytes
        "_output_nr",
        "_requires_grad",  # True for leaves that ask for it and for every result with a grad_fn
        "_seen",           # of a view: the version that its `grad_fn` belongs to
        "_storage",        # None until someone shares or looks at it: the ndarray alone then owns its memory
        "_view",           # None, or the base of which this tensor is a view
    )  # fmt: skip


for _name in OF_TENSOR:
    setattr(TensorBase, _name, Absent(_name))
