"""Apple's GPUs. Source: `torch.backends.mps`."""


def is_available() -> bool:
    """Whether the device "mps" can be used: never."""
    return False


def is_built() -> bool:
    """Whether support for "mps" is built in: never."""
    return False


__all__ = ["is_available", "is_built"]
