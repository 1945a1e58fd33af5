"""`pytest --copylab-watch`: a user's tests under `watch(silent="raise")`.

A test fails where backward meets a tensor that was written since it was saved, whether the engine says so or not.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    about = "fail a test whose gradients are computed from saved tensors that were written since (copylab.watch)"
    parser.getgroup("copylab").addoption("--copylab-watch", action="store_true", help=about)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """Run a test under a watch, if that was asked for."""
    if not item.config.getoption("--copylab-watch"):
        yield
        return
    from .observer import watch

    with watch(silent="raise"):
        yield
