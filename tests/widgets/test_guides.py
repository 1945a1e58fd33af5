"""The examples of the guides print what these say, on PyTorch."""

import linecache
import re
from typing import Any

import pytest
from project_files import ROOT


@pytest.mark.torch
@pytest.mark.parametrize("page", ["shared", "growth"])
def test_the_examples_of_a_guide_print_what_it_says(
    page: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    names: dict[str, Any] = {}
    blocks = re.findall(
        r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL
    )
    assert len(blocks) >= 2
    for code, printed in blocks:
        entry = (len(code), None, code.splitlines(keepends=True), "train.py")
        monkeypatch.setitem(linecache.cache, "train.py", entry)
        exec(compile(code, "train.py", "exec"), names)
        assert capsys.readouterr().out == printed
