"""Switching anomaly mode. Source: `torch.autograd.anomaly_mode`."""

from __future__ import annotations

import warnings

from ..graph.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled


class detect_anomaly:
    """Inside, backward says where what failed was made, and raises if a gradient is nan (with `check_nan`)."""

    __module__ = "torch.autograd.anomaly_mode"

    def __init__(self, check_nan: bool = True) -> None:
        self.before = is_anomaly_enabled(), is_anomaly_check_nan_enabled()
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self.check_nan)

    def __exit__(self, *exc: object) -> None:
        set_anomaly_enabled(*self.before)


class set_detect_anomaly:
    """Switch anomaly mode: at once when called, until the block ends when used as a context manager."""

    __module__ = "torch.autograd.anomaly_mode"

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = is_anomaly_enabled(), is_anomaly_check_nan_enabled()
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        set_anomaly_enabled(*self.before)


__all__ = ["detect_anomaly", "set_detect_anomaly"]
