"""The number of files that four lines of a program pass through, from the cell to what is shown: what a reader has to follow."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from copylab import steps
from project_files import ROOT

import tinytorch

CODE = """
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a.clone()
b.sum().backward()
print(a.grad)
"""


def passed_through(work: Callable[[], object]) -> set[str]:
    """The files of copylab and of the pictures of which a function is called; loading a module does not count."""
    seen: set[Path] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            seen.add(Path(frame.f_code.co_filename))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    rooms = (ROOT / "tinytorch" / "viz", ROOT / "widgets" / "copylab")
    return {
        file.relative_to(ROOT).as_posix() for file in seen if any(map(file.is_relative_to, rooms))
    }


def test_running_and_looking() -> None:
    found = passed_through(lambda: steps(CODE, engine=tinytorch))
    assert "widgets/copylab/run/recorder.py" in found
    assert "tinytorch/viz/read/reader.py" in found
    assert len(found) <= 27, sorted(found)


def test_with_all_that_is_shown() -> None:
    found = passed_through(lambda: steps(CODE, engine=tinytorch).html)
    assert "tinytorch/viz/render/graph_svg.py" in found
    assert len(found) <= 72, sorted(found)  # some more where tests before it ran other engines
