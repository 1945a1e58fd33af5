"""docs/messages.md says what PyTorch and tinytorch say now, and its ways out raise nothing."""

import importlib

import pytest
from releases import FOLLOWED, installed_release

make = importlib.import_module("make_messages")
PAGE = make.DOCUMENT.read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", ["tinytorch", pytest.param("torch", marks=pytest.mark.torch)])
def test_the_page_has_what_is_said_now(engine: str) -> None:
    if engine == "torch" and installed_release() != FOLLOWED:
        pytest.skip("the page has the words of the release that tinytorch follows")
    torch = importlib.import_module(engine)
    assert make.make_page(torch) == PAGE, "run docs/make_messages.py"
    assert [case.fix for case in make.CASES if make.run_program(torch, case.fix)] == []


def test_each_program_says_something_of_its_own() -> None:
    titles = [line for line in PAGE.splitlines() if line.startswith("## ")]
    assert len(titles) == len(set(titles)) == len(make.CASES) >= 20
