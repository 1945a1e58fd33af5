"""Programs that resist: whatever they do, the answer is the steps so far and a sentence, and the time limit holds."""

import re
import time
from pathlib import Path
from typing import Any

import pytest
from copylab import steps

import tinytorch

# Most wait for a time limit: the short runs leave them out.
pytestmark = pytest.mark.slow

PARTS = re.split(
    r"^== (.*)\n", Path(__file__).with_name("hostile.txt").read_text(), flags=re.MULTILINE
)[1:]
PROGRAMS = dict(zip(PARTS[::2], PARTS[1::2], strict=True))
PROGRAMS["many lines"] = "\n".join(f"x{i} = {i}" for i in range(3000))


@pytest.mark.parametrize("code", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_hostile_program_ends_in_steps(code: str) -> None:
    start = time.monotonic()
    shown: Any = steps(code, engine=tinytorch, seconds=0.5)
    assert len(shown) >= 1
    assert shown.text
    assert "</" in shown.html
    assert time.monotonic() - start < 20, "the limit is half a second; what is left is the pictures"
