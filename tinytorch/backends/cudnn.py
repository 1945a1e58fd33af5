"""The switches of cuDNN, which seeding recipes set. Source: `torch.backends.cudnn`."""

enabled = True
benchmark = False
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether cuDNN is there: never."""
    return False


def version() -> int | None:
    """The version of cuDNN: None, there is none."""
    return None


__all__ = ["allow_tf32", "benchmark", "deterministic", "enabled", "is_available", "version"]
