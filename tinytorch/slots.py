"""What every tensor holds, and how its class prints."""

from __future__ import annotations


class TensorMeta(type):
    """Prints the class by torch's name."""

    def __repr__(cls) -> str:
        return type.__repr__(cls).replace("'tinytorch.", "'torch.")


class TensorBase:
    """The slots of a tensor and what can be read off them."""

    __slots__ = (
        "__dict__", "__weakref__",
        "_acc",            # weak reference to the leaf's AccumulateGrad
        "_data",           # the ndarray: shape, strides and dtype come from it
        "_device",
        "_grad", "_grad_fn", "_hooks", "_inference",
        "_offset",         # of the first element in the storage, in bytes
        "_output_nr",
        "_requires_grad",  # True for leaves that ask for it and for every result with a grad_fn
        "_storage",        # None until someone shares or looks at it: the ndarray alone then owns its memory
        "_vc",             # the version counter
        "_view",           # None, or what makes this tensor a view
    )  # fmt: skip
