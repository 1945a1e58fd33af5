"""Every test of the pictures that takes `engine` runs over tinytorch and over real torch."""

import importlib
from types import ModuleType
from typing import cast

import pytest


@pytest.fixture(params=["tinytorch", pytest.param("torch", marks=pytest.mark.torch)])
def engine(request: pytest.FixtureRequest) -> ModuleType:
    """One engine after the other, as the module that a program would call `torch`."""
    return importlib.import_module(cast("str", request.param))
