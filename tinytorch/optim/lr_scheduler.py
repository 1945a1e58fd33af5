"""Learning rates that change from epoch to epoch.

Source: `torch.optim.lr_scheduler`.
"""

from __future__ import annotations

import functools
import math
import weakref
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from ..missing import missing
from ..tensor import Tensor
from ..warn import warn_user
from .optimizer import Optimizer

_ORDER = "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
_EPOCH = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form is "
    "used instead of the new chainable form, where available. Please open an issue if you are unable to replicate your use "
    "case: https://github.com/pytorch/pytorch/issues/new/choose."
)


class _SchedulerMeta(type):
    """Prints the schedulers' classes by the names they have in torch."""

    def __repr__(cls) -> str:
        own = cls.__module__.startswith("tinytorch.")
        return f"<class 'torch.optim.lr_scheduler.{cls.__name__}'>" if own else super().__repr__()


def _rates(optimizer: Optimizer, key: str = "lr") -> list[Any]:
    """Each group's rate; one that is a tensor is copied."""
    return [g[key].clone() if isinstance(g[key], Tensor) else g[key] for g in optimizer.param_groups]


def _set_rate(group: dict[str, Any], value: Any) -> None:
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(value.item() if isinstance(value, Tensor) else value)
    else:
        group["lr"] = value


class LRScheduler(metaclass=_SchedulerMeta):
    """The base of the schedulers: counts epochs and sets what `get_lr` computes. TypeError without an optimizer."""

    _get_lr_called_within_step = False
    _is_initial = False
    _last_lr: list[Any]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                first = group["lr"]
                group.setdefault("initial_lr", first.clone() if isinstance(first, Tensor) else first)
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0.\n"
                    "This typically happens when:\n1. You're trying to resume training from a checkpoint but haven't "
                    "properly loaded the optimizer state\n2. You're using last_epoch >= 0 for a fresh training run (not "
                    "recommended)"
                )
        self.base_lrs = _rates(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _watch_steps(optimizer)
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All that the scheduler knows but the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state dict."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The rates that were set last."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The rates of this epoch, for each group."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Go on by one epoch."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warn_user(_EPOCH)
        self._get_lr_called_within_step = True
        try:
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
            values = self.get_lr() if closed is None else closed()
        finally:
            self._get_lr_called_within_step = False
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            _set_rate(group, value)
        self._last_lr = _rates(self.optimizer)

    def _check_order(self) -> None:
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warn_user(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make "
                f"sure to call `optimizer.step()` before `lr_scheduler.step()`. See more details at {_ORDER}"
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warn_user(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call "
                "them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result "
                f"in PyTorch skipping the first value of the learning rate schedule. See more details at {_ORDER}"
            )


def _watch_steps(optimizer: Optimizer) -> None:
    """Have an optimizer note that its `step` was called."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    function, seen = optimizer.step.__func__, weakref.ref(optimizer)  # type: ignore[attr-defined]

    @functools.wraps(function)
    def step(*args: Any, **kwargs: Any) -> Any:
        own: Any = seen()
        own._opt_called = True
        return function(own, *args, **kwargs)

    step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = step  # type: ignore[method-assign]


class _Scheduler(LRScheduler):
    """A scheduler that says what becomes of one group's rate, or that it stays as it is."""

    def get_lr(self) -> list[Any]:
        """The rates of this epoch, for each group."""
        if not self._get_lr_called_within_step:
            warn_user("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.")
        now = _rates(self.optimizer)
        if self._stays():
            return now
        return [self._next(lr, base, i) for i, (lr, base) in enumerate(zip(now, self.base_lrs, strict=True))]

    def _stays(self) -> bool:
        return self._is_initial

    def _next(self, lr: Any, base: Any, i: int) -> Any:
        raise NotImplementedError


class _Lambdas(_Scheduler):
    def _take(self, optimizer: Optimizer, lr_lambda: Any) -> None:
        self.optimizer = optimizer
        groups = len(optimizer.param_groups)
        if isinstance(lr_lambda, (list, tuple)):
            if len(lr_lambda) != groups:
                raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas: list[Callable] = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * groups

    def state_dict(self) -> dict[str, Any]:
        """All that the scheduler knows but the optimizer and plain functions."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = [None if isinstance(f, FunctionType) else f.__dict__.copy() for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state dict."""
        states = state_dict["lr_lambdas"]
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for function, state in zip(self.lr_lambdas, states, strict=False):
            if state is not None:
                function.__dict__.update(state)


class LambdaLR(_Lambdas):
    """The first rate times a function of the epoch."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        self._take(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def _stays(self) -> bool:
        return False

    def _next(self, lr: Any, base: Any, i: int) -> Any:
        return base * self.lr_lambdas[i](self.last_epoch)


class MultiplicativeLR(_Lambdas):
    """The rate before times a function of the epoch. TypeError for what cannot be called."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        self._take(optimizer, lr_lambda)
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        super().__init__(optimizer, last_epoch)

    def _next(self, lr: Any, base: Any, i: int) -> Any:
        return lr * self.lr_lambdas[i](self.last_epoch)


class StepLR(_Scheduler):
    """The rate times gamma every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _stays(self) -> bool:
        return self.last_epoch == 0 or self.last_epoch % self.step_size != 0

    def _next(self, lr: Any, base: Any, i: int) -> Any:
        return lr * self.gamma

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(_Scheduler):
    """The rate times gamma at each milestone."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _stays(self) -> bool:
        return self.last_epoch not in self.milestones

    def _next(self, lr: Any, base: Any, i: int) -> Any:
        return lr * self.gamma ** self.milestones[self.last_epoch]

    def _get_closed_form_lr(self) -> list[Any]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(_Scheduler):
    """A part of the rate, until `total_iters` epochs have passed. ValueError for a factor outside [0, 1]."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _stays(self) -> bool:
        return self.last_epoch not in (0, self.total_iters)

    def _next(self, lr: Any, base: Any, i: int) -> Any:
        return lr * (self.factor if self.last_epoch == 0 else 1.0 / self.factor)

    def _get_closed_form_lr(self) -> list[Any]:
        part = self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)
        return [base * part for base in self.base_lrs]


class LinearLR(_Scheduler):
    """From one part of the rate to another, in even steps over `total_iters` epochs. ValueError for parts out of range."""

    def __init__(self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
                 last_epoch: int = -1) -> None:  # fmt: skip
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _stays(self) -> bool:
        return self.last_epoch != 0 and (self._is_initial or self.last_epoch > self.total_iters)

    def _next(self, lr: Any, base: Any, i: int) -> Any:
        if self.last_epoch == 0:
            return lr * self.start_factor
        rise = self.end_factor - self.start_factor
        return lr * (1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))

    def _get_closed_form_lr(self) -> list[Any]:
        passed, rise = min(self.total_iters, self.last_epoch), self.end_factor - self.start_factor
        return [base * (self.start_factor + rise * passed / self.total_iters) for base in self.base_lrs]


class ExponentialLR(_Scheduler):
    """The rate times gamma every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self, lr: Any, base: Any, i: int) -> Any:
        return lr * self.gamma

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(_Scheduler):
    """The rate goes to 0 over `total_iters` epochs, as a power of the epochs that are left."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _stays(self) -> bool:
        return self._is_initial or self.last_epoch > self.total_iters

    def _next(self, lr: Any, base: Any, i: int) -> Any:
        left, before = (1.0 - n / self.total_iters for n in (self.last_epoch, self.last_epoch - 1))
        return lr * (left / before) ** self.power

    def _get_closed_form_lr(self) -> list[Any]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


class CosineAnnealingLR(_Scheduler):
    """The rate goes down to `eta_min` in `T_max` epochs along half a cosine, and up again."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _next(self, lr: Any, base: Any, i: int) -> Any:
        n, length, low = self.last_epoch, self.T_max, self.eta_min
        if self._step_count == 1 and n > 0:
            return low + (base - low) * (1 + math.cos(n * math.pi / length)) / 2
        if (n - 1 - length) % (2 * length) == 0:
            return lr + (base - low) * (1 - math.cos(math.pi / length)) / 2
        now, before = (1 + math.cos(math.pi * m / length) for m in (n, n - 1))
        return now / before * (lr - low) + low

    def _get_closed_form_lr(self) -> list[Any]:
        part = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * part / 2 for base in self.base_lrs]


class ReduceLROnPlateau(LRScheduler):
    """The rate times a factor whenever a metric has not got better for more than `patience` epochs.

    ValueError for a factor of 1 or more and for unknown modes.
    """

    def __init__(self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
                 threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0,
                 eps: float = 1e-8) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        groups = len(optimizer.param_groups)
        several = isinstance(min_lr, (list, tuple))
        if several and len(min_lr) != groups:
            raise ValueError(f"expected {groups} min_lrs, got {len(min_lr)}")
        self.default_min_lr = None if several else min_lr
        self.min_lrs = list(min_lr) if several else [min_lr] * groups
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = _rates(optimizer)
        if mode not in {"min", "max"}:
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in {"rel", "abs"}:
            raise ValueError("threshold mode " + threshold_mode + " is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether epochs without progress do not count yet."""
        return self.cooldown_counter > 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Go on by one epoch, whose metric is given."""
        current = float(metrics)
        if epoch is not None:
            warn_user(_EPOCH)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        better = self._is_better(current)
        self.best = current if better else self.best
        self.num_bad_epochs = 0 if better else self.num_bad_epochs + 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = _rates(self.optimizer)

    def _is_better(self, now: float) -> bool:
        sign = -1 if self.mode == "min" else 1
        bound = (
            self.best * (1.0 + sign * self.threshold)
            if self.threshold_mode == "rel"
            else self.best + sign * self.threshold
        )
        return now < bound if self.mode == "min" else now > bound

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when `ReduceLROnPlateau` was "
                    f"initialized ({len(self.min_lrs)}), usually due to a new param group being added to the optimizer. Please "
                    "modify the `min_lrs` field to match the length of the `optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                _set_rate(group, new)


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.optim.lr_scheduler' has no attribute '{}'", name)


__all__ = ["ConstantLR", "CosineAnnealingLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
           "MultiplicativeLR", "PolynomialLR", "ReduceLROnPlateau", "StepLR"]  # fmt: skip
