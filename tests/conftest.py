"""Shared by all tests: the marks `torch` and `browser` skip, with the way out, what this machine cannot run."""

import gc
import sys
from collections.abc import Iterator

import pytest
from needs import REQUIRE_ALL, browser_missing, torch_missing

_NEEDS = {"torch": torch_missing, "browser": browser_missing}


def pytest_collection_finish() -> None:
    """Leave the thousands of tests themselves out of every later search for garbage: with them it takes a second."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose mark names something that is missing; fail it where everything is required."""
    for mark, missing in _NEEDS.items():
        if item.get_closest_marker(mark) and (reason := missing()):
            if REQUIRE_ALL:
                pytest.fail(f"{reason}; COPYLAB_REQUIRE_ALL=1 lets nothing be skipped", pytrace=False)
            pytest.skip(reason)


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    """Whatever language a test has chosen for the process, the next one is told everything in English."""
    yield
    if catalogue := sys.modules.get("tinytorch.viz.catalogue"):
        catalogue.use(None)
