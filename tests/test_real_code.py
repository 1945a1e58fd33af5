"""Programs as people wrote them, each with the call that leads to what is wrong with it.

A program in `tests/real_code/` says at its head what happens (`What happens`), where it was reported, which call tells
(`Call`) and what that says (`Says`). `watch` is what a watch says unasked, `steps` what `print(steps(program))` prints.
An `assert` in the program shows that it happens; what is under `After` runs after the call. `Slow` says why it takes long.
"""

import gc
import linecache
import re
from pathlib import Path
from typing import Any

import copylab
import pytest

torch: Any = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning")]
FOLDER = Path(__file__).parent / "real_code"
HEAD = re.compile(r"^# ([A-Z][a-z]*(?: [a-z]+)*): (.+)$", re.MULTILINE)
UNASKED = ("watch", "steps")


def read_head(path: Path) -> dict[str, str]:
    return dict(HEAD.findall(path.read_text(encoding="utf-8")))


def list_programs() -> list[Any]:
    return [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * ("Slow" in read_head(path)))
        for path in sorted(FOLDER.glob("*.py"))
    ]


def run_program(path: Path) -> str:
    """Run a program and its call, as its author would; return what the call says."""
    program, head = path.read_text(encoding="utf-8"), read_head(path)
    call = head["Call"]
    source = program
    if call not in UNASKED:
        # Behind the program: names are those of its own variables.
        source += f"from copylab import {call.partition('(')[0]}\nsaid = str({call})\n"
    source += head.get("After", "").replace("; ", "\n") + "\n"
    file = f"{path.stem}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "program"}
    torch.manual_seed(0)
    try:
        with copylab.watch(silent="record") as watch:
            exec(compile(source, file, "exec"), names)
        if call == "watch":
            return watch.text
        return str(copylab.steps(program, rounds=1)) if call == "steps" else str(names["said"])
    finally:
        del linecache.cache[file]


@pytest.mark.parametrize("path", list_programs())
def test_the_call_leads_to_what_is_wrong(path: Path) -> None:
    head = read_head(path)
    assert {"What happens", "Call", "Says"} <= head.keys()
    said = run_program(path)
    gc.collect()  # a hook that lives on in a cycle makes the verdicts of others "unknown"
    assert head["Says"] in said


def test_programs_are_of_all_kinds() -> None:
    calls = {read_head(path)["Call"].partition("(")[0] for path in FOLDER.glob("*.py")}
    assert calls >= {"watch", "explain", "shared", "check_gradients", "growth", "steps", "memory"}
    reported = [path for path in FOLDER.glob("*.py") if "Reported" in read_head(path)]
    assert len(reported) >= 40
