"""What people type, run on tinytorch and compared line by line with what PyTorch prints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from programs.transcript import (
    HERE,
    change,
    change_file,
    differences,
    programs,
    release_of,
    statements,
    store_change,
    stored_change,
    transcript,
    typed,
)
from releases import FOLLOWED, installed_release, read_release, reword

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = programs()
each_program = pytest.mark.parametrize(
    "program", PROGRAMS, ids=lambda p: p.relative_to(HERE).with_suffix("").as_posix()
)


@each_program
def test_tinytorch_prints_what_torch_prints(program: Path) -> None:
    difference = differences(program.read_text(encoding="utf-8"), transcript(program, "tinytorch"))
    assert not difference, f"{program.name} on tinytorch:\n{difference}"


@pytest.mark.torch
@each_program
def test_stored_transcript_is_torchs(program: Path) -> None:
    release = installed_release()
    changed = change(program.read_text(encoding="utf-8"), transcript(program, "torch"))
    assert changed == stored_change(program, release), (
        f"PyTorch {release} prints another text now; look, then run tests/programs/transcript.py:\n{changed}"
    )


CHANGES = sorted(HERE.glob("*/*.diff"))


@pytest.mark.parametrize("path", CHANGES, ids=lambda p: p.relative_to(HERE).as_posix())
def test_a_change_belongs_to_what_its_program_prints(path: Path) -> None:
    release = release_of(path)
    program = path.with_name(path.name.partition(".")[0] + ".out")
    assert release > FOLLOWED
    assert path == change_file(program, release)
    printed = program.read_text(encoding="utf-8")
    for part in path.read_text(encoding="utf-8").split("@@\n")[1:]:
        lines = part.splitlines()
        before = "\n".join(line[1:] for line in lines if line[0] != "+")
        assert f"{before}\n" in printed, f"run tests/programs/transcript.py on {release} again"
        assert any(line[0] in "+-" for line in lines)


def test_changes_hold_from_their_release_on(tmp_path: Path) -> None:
    program = tmp_path / "one.out"
    program.write_text(">>> a\n1\n>>> b\n2\n", encoding="utf-8")
    program.with_suffix(".2.14.diff").write_text("@@\n-1\n+3\n", encoding="utf-8")
    assert [stored_change(program, (2, minor)) for minor in (6, 13)] == ["", ""]
    assert [stored_change(program, (2, minor)) for minor in (14, 15)] == ["@@\n-1\n+3\n"] * 2
    assert store_change(program, (2, 15), ">>> a\n1\n>>> b\n2\n") == change_file(
        program, (2, 15)
    ), "as 2.13 again"
    assert [stored_change(program, (2, minor)) for minor in (14, 15, 16)] == [
        "@@\n-1\n+3\n",
        "",
        "",
    ]
    assert store_change(program, (2, 15), ">>> a\n1\n>>> b\n2\n") is None, "it is known"
    assert change(">>> a\n1\n", ">>> a\n2\n") == "@@\n >>> a\n-1\n+2\n"


def test_errors_are_said_as_the_release_says_them() -> None:
    said = "RuntimeError: Negation, the `-` operator, on a bool tensor is not supported."
    assert [reword(said, release) for release in ((2, 6), (2, 13))] == [said, said]
    assert (
        reword(said, (2, 14))
        == reword(said, (3, 0))
        == said.replace("RuntimeError", "NotImplementedError")
    )
    other = "RuntimeError: The size of tensor a (2) must match the size of tensor b (3)"
    assert reword(other, (2, 14)) == other
    assert read_release("2.14.1+cpu") == (2, 14)


@each_program
def test_program_is_fit_to_be_compared(program: Path) -> None:
    text = program.read_text(encoding="utf-8")
    assert not re.search(r"0x[0-9a-f]{4,}|Triggered internally|File \"|tinytorch", text)
    assert len(statements(text)) > 2, "a program with nothing to compare"
    assert re.search(r"^(?!>>> |\.\.\. )", text, re.MULTILINE), "a program that prints nothing"


def test_a_program_stands_once() -> None:
    assert PROGRAMS
    assert not [p.name for p in HERE.glob("*/*.py")]


def test_what_is_typed_is_read_from_what_is_seen() -> None:
    script = (
        '"""What it shows."""\nimport torch\n\n# twice\n@f\ndef g():\n\n    return 1\na = 1; a\n'
    )
    prompts = ">>> # What it shows.\n>>> import torch\n>>> # twice\n"
    prompts += ">>> @f\n... def g():\n...\n...     return 1\n>>> a = 1; a\n"
    assert typed(script) == prompts
    found = [text for _, text in statements(prompts + "1\n... more\n>>> a\n")]
    assert found == [
        "# What it shows.",
        "import torch",
        "# twice",
        "@f\ndef g():\n\n    return 1",
        "a = 1; a",
        "a",
    ]


def test_a_transcript_notices_what_differs(tmp_path: Path) -> None:
    program = tmp_path / "one.out"
    program.write_text(
        ">>> import torch\n>>> x = torch.ones(2)\n>>> x\n>>> x.nothing()  # transcript: type only\n>>> x + 1\n",
        encoding="utf-8",
    )
    text = transcript(program, "tinytorch")
    assert text.splitlines()[-2:] == [">>> x + 1", "tensor([2., 2.])"]
    assert "AttributeError\n" in text
    assert differences(text, text) == ""
    assert "-tensor([2., 2.])" in differences(text, text.replace("[2.", "[3."))


@pytest.mark.parametrize("version", [(3, 11), (3, 12)])
def test_an_ordered_dict_is_the_same_in_either_spelling(
    version: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.version_info", version)
    pairs = (
        ">>> d\nOrderedDict([('a', tensor([1.,\n        2.])), ('b', {'c': 1})])\n>>> [1]\n[1]\n"
    )
    like_a_dict = (
        ">>> d\nOrderedDict({'a': tensor([1.,\n        2.]), 'b': {'c': 1}})\n>>> [1]\n[1]\n"
    )
    assert bool(differences(pairs, like_a_dict)) is (version < (3, 12))
    assert differences(pairs, pairs.replace("2.", "3."))
    assert differences(pairs, pairs.replace("\n[1]", "\n(1)"))
