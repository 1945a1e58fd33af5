"""Shared by all tests: the marks `torch` and `browser` skip, with the way out, what this machine cannot run."""

import gc
import importlib
import signal
import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType

import pytest
from needs import REQUIRE_ALL, browser_missing, torch_missing

# Asked before each test: a look at the metadata takes two milliseconds.
_NEEDS = {"torch": cache(torch_missing), "browser": cache(browser_missing)}


def pytest_configure() -> None:
    """Take Ctrl-C as Python does: what a shell starts in the background ignores it, and nothing ends endless code."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Leave the thousands of tests themselves out of every later search for garbage: with them it takes a second."""
    gc.collect()
    gc.freeze()


_TESTS_BETWEEN_FREEZES = 200
_run_tests: list[str] = []


def pytest_runtest_logstart(nodeid: str) -> None:
    """Leave out, too, what tests have imported and left: a look searches all objects, PyTorch's among them."""
    _run_tests.append(nodeid)
    if len(_run_tests) % _TESTS_BETWEEN_FREEZES == 0:
        pytest_collection_finish()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose mark names something that is missing; fail it where everything is required."""
    for mark, missing in _NEEDS.items():
        if item.get_closest_marker(mark) and (reason := missing()):
            if REQUIRE_ALL:
                pytest.fail(
                    f"{reason}; COPYLAB_REQUIRE_ALL=1 lets nothing be skipped", pytrace=False
                )
            pytest.skip(reason)


@pytest.fixture(autouse=True, scope="session")
def folders_of_jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Shells and kernels read no settings of whoever runs the tests, and write none: a home may be read only."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name.lower())))
        yield


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    """Whatever language a test has chosen for the process, the next one is told everything in English."""
    yield
    if catalogue := sys.modules.get("tinytorch.viz.wording.catalogue"):
        catalogue.set_language(None)


@pytest.fixture(params=["tinytorch", pytest.param("torch", marks=pytest.mark.torch)])
def engine(request: pytest.FixtureRequest) -> ModuleType:
    """One engine after the other, as the module that a program would call `torch`."""
    return importlib.import_module(request.param)


@pytest.fixture(autouse=True)
def no_older_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks of programs that other tests ran hang on in circles through torch's nodes, which nobody can collect."""
    # Not `torch`: where PyTorch was uninstalled, an empty folder of that name can be imported.
    if torch_hooks := sys.modules.get("torch.utils.hooks"):
        from tinytorch.viz.read.doubts import HookSearch

        monkeypatch.setattr(HookSearch, "searched_up_to", torch_hooks.RemovableHandle.next_id)
        monkeypatch.setattr(HookSearch, "found", ())
