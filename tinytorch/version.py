"""What `torch.version` tells: the version, and that nothing of CUDA or ROCm is built in."""

from . import __version__

cuda: str | None = None
hip: str | None = None
debug = False

__all__ = ["__version__", "cuda", "debug", "hip"]
