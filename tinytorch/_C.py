"""The few inner names of torch that programs and pictures reach for under `torch._C`."""

from __future__ import annotations

from types import SimpleNamespace

from .autograd.graph import _unsafe_set_version_counter

_autograd = SimpleNamespace(_unsafe_set_version_counter=_unsafe_set_version_counter)
