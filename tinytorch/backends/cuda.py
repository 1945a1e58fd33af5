"""Switches for a GPU's products. Source: `torch.backends.cuda`."""


class Products:
    """How a GPU multiplies matrices. `allow_tf32` is remembered, and there is no GPU to heed it."""

    allow_tf32 = False


matmul = Products()


def is_built() -> bool:
    """Whether CUDA is built in: never, the second device is simulated."""
    return False


__all__ = ["is_built", "matmul"]
