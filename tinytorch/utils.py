"""What torch keeps in `torch.utils`: nothing of it is needed here but its name. Source: `torch.utils`."""

from typing import Any

from .errors import missing


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.utils' has no attribute '{}'", name)
