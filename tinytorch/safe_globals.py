"""What loading may make from a file: the plain things always, what the user allows by name; all else is refused.

Source: `torch._weights_only_unpickler`, `torch.serialization`.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator
from typing import Any

from . import dtypes
from .devices import device
from .sizes import Size

PLAIN: dict[tuple[str, str], Any] = {
    (f.__module__, f.__name__): f for f in (OrderedDict, Counter, Size, set, complex, bytearray, device)
} | {("tinytorch.dtypes", d.called): d for d in dtypes.ALL}
# With weights_only=False: more of Python's and NumPy's own, none of which does anything but make a value.
_HARMLESS = {
    "builtins": {
        "frozenset",
        "range",
        "slice",
        "int",
        "float",
        "bool",
        "str",
        "bytes",
        "list",
        "dict",
        "tuple",
        "object",
    },
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy": {"ndarray", "dtype"},
}
_ALLOWED: list[Any] = []

_CHANGED = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to `True`. "
    "Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in arbitrary code "
    "execution. Do it only if you got the file from a trusted source."
)
_DOCUMENT = (
    "Check the documentation of torch.load to learn more about types accepted by default with weights_only "
    "https://pytorch.org/docs/stable/generated/torch.load.html."
)


def _called(obj: Any) -> tuple[str, str]:
    return obj.__module__, obj.__qualname__


def found(module: str, name: str, weights_only: bool) -> Any:
    """What a file asks for by name. pickle.UnpicklingError, in torch's words, if it may not have that."""
    if (module, name) in PLAIN:
        return PLAIN[module, name]
    for obj in _ALLOWED:
        if _called(obj) == (module, name):
            return obj
    here = getattr(sys.modules.get(module), name, None)
    if not weights_only:
        if name in _HARMLESS.get(module, ()) or (module, name) == ("collections", "defaultdict"):
            return defaultdict if name == "defaultdict" else here
        modules = sys.modules.get("tinytorch.nn.module")
        if isinstance(here, type) and modules is not None and issubclass(here, modules.Module):
            return here
        raise pickle.UnpicklingError(
            f"The file asks for {module}.{name}. tinytorch runs no code that a file names, with weights_only=False neither: "
            "allow it by torch.serialization.add_safe_globals if you trust it."
        )
    raise refusal_of(_as_torch_names(module, name, here))


def _as_torch_names(module: str, name: str, here: Any) -> str:
    if module.startswith("tinytorch") and isinstance(here, type):
        return repr(here).split("'")[1]
    return name if module == "builtins" else f"{module}.{name}"


def refusal_of(name: str) -> pickle.UnpicklingError:
    """torch's error for a name that is not on the list."""
    return pickle.UnpicklingError(
        "Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo those steps only "
        f"if you trust the source of the checkpoint\033[0m. \n\t(1) {_CHANGED}\n\t(2) Alternatively, to load with "
        "`weights_only=True` please check the recommended steps in the following error message.\n\tWeightsUnpickler error: "
        f"Unsupported global: GLOBAL {name} was not an allowed global by default. Please use "
        f"`torch.serialization.add_safe_globals([{name}])` or the `torch.serialization.safe_globals([{name}])` context "
        f"manager to allowlist this global if you trust this class/function.\n\n{_DOCUMENT}"
    )


def refusal_to_read(operand: int) -> pickle.UnpicklingError:
    """torch's error for a file that is no checkpoint."""
    return pickle.UnpicklingError(
        f"Weights only load failed. {_CHANGED}\nPlease file an issue with the following so that we can make "
        "`weights_only=True` compatible with your use case: WeightsUnpickler error: \n\nUnsupported operand "
        f"{operand}\n\n{_DOCUMENT}"
    )


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let loading make these classes, and call these functions, where a file names them.

    Source: `torch.serialization.add_safe_globals`.
    """
    _ALLOWED.extend(obj for obj in safe_globals if obj not in _ALLOWED)


def get_safe_globals() -> list[Any]:
    """What was allowed.

    Source: `torch.serialization.get_safe_globals`.
    """
    return list(_ALLOWED)


def clear_safe_globals() -> None:
    """Forget what was allowed.

    Source: `torch.serialization.clear_safe_globals`.
    """
    _ALLOWED.clear()


@contextlib.contextmanager
def safe_globals(safe_globals: list[Any]) -> Iterator[None]:
    """Allow these for as long as the context lasts.

    Source: `torch.serialization.safe_globals`.
    """
    before = list(_ALLOWED)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _ALLOWED[:] = before
