"""The controls and the traits of a CopyLab: each leads and follows, and a wrong value is refused."""

import re
from pathlib import Path
from typing import Any

import copylab
import pytest
import traitlets
from copylab import CopyLab, Source
from labs import actions, press, seen, source

import tinytorch

PAGE = Path(__file__).resolve().parents[3] / "docs" / "widgets" / "copylab.md"


def test_the_page_s_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = PAGE.read_text("utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(block.replace("import torch\n", "import tinytorch as torch\n"), names)
    assert "tensor([22., 24., 26.])" in capsys.readouterr().out
    assert names["found"]["same_storage"].answer is True
    for picture in re.findall(r'"([^"]+\.png)"', page):
        assert (PAGE.parent / picture).is_file()
    for trait in re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE):
        assert names["lab"].has_trait(trait)


class TestControls:
    def test_buttons(self) -> None:
        lab = CopyLab(engine=tinytorch)
        for name in (
            "loss x",
            "loss y",
            "write y",
            "backward",
            "clear",
            "track",
            "write x",
            "undo",
            "start_over",
        ):
            before = lab._panel.says
            press(lab, name)
            assert lab._panel.says != before, name
        assert "did not work" not in seen(lab)
        assert actions(lab) == ()
        lab._controls.way_to_write.value = ".data"
        press(lab, "write x")
        assert actions(lab) == ("x.data.add_(10)",)

    def test_choices_follow_and_lead(self) -> None:
        lab = CopyLab(engine=tinytorch)
        controls = lab._controls
        controls.method.value = "view"
        assert lab.method == "view"
        lab.method = "x.detach()"
        assert controls.method.value == lab.method == "detach"
        lab.source = Source("result", (7,), "float16")
        assert (controls.kind.value, controls.shape.value, controls.dtype.value) == (
            "result",
            (7,),
            "float16",
        )
        controls.shape.value = (2, 3)
        controls.dtype.value = "float32"
        assert source(lab) == Source("result", (2, 3))

    def test_what_is_seldom_asked_for_is_hidden_at_first(self) -> None:
        """Four rows of controls with nine buttons were above an exercise that needs four of these."""
        controls = CopyLab(engine=tinytorch)._controls
        first, actions, more = controls.box.children
        assert first.children == (controls.method, controls.kind, controls.more)
        names = [button.description for button in actions.children]
        assert names == [
            *("Write through x", "Write through y", "Loss from x", "Loss from y", "Backward"),
            *("Undo", "Start over"),
        ]
        # What belongs together goes on to the next row together, so that none is there alone.
        assert more.children[0].children == (
            controls.shape,
            controls.dtype,
            controls.transposed,
        )
        for shown, description in (("none", "More choices"), ("", "Fewer choices")):
            assert (more.layout.display, controls.more.description) == (shown, description)
            controls.more.click()
        assert more.layout.display == "none"

    def test_choices_that_do_not_fit_bring_others_along(self) -> None:
        lab = CopyLab(engine=tinytorch)
        lab._controls.dtype.value = "int64"
        assert source(lab) == Source("plain", (3,), "int64")
        assert (
            "floating point or complex dtype can require gradients, so x is now without grad"
            in lab._panel.says
        )
        assert "so x is now without grad" in seen(lab), (
            "what was not asked for is said where one looks"
        )
        lab._controls.kind.value = "leaf"
        assert source(lab) == Source("leaf", (3,), "float32")
        lab._controls.transposed.value = True
        assert source(lab) == Source("leaf", (2, 3), transposed=True)
        assert "now has shape (2, 3)" in lab._panel.says
        lab._controls.shape.value = ()
        assert source(lab) == Source("leaf", ())
        assert lab._controls.transposed.value is False

    def test_an_error_behind_a_button_is_shown(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lab = CopyLab(engine=tinytorch)

        def broken(*_: object) -> None:
            raise OSError("<b>no space</b>")

        monkeypatch.setattr("copylab.lab.explorer.run_lab_program", broken)
        press(lab, "write y")
        assert "That did not work. OSError: &lt;b&gt;no space&lt;/b&gt;" in lab._panel.html
        monkeypatch.undo()
        press(lab, "undo")
        assert "did not work" not in lab._panel.html


class TestTraits:
    def test_observed(self) -> None:
        lab = CopyLab(engine=tinytorch)
        changes: list[str] = []
        lab.observe(
            lambda change: changes.append(change["name"]),
            ["method", "source", "actions", "program", "verdicts"],
        )
        lab.method = "detach"
        assert sorted(changes) == ["method", "program", "verdicts"]
        lab.actions = ["y.add_(1)"]
        assert lab.program.endswith("y.add_(1)")
        lab.source = "plain"
        assert source(lab) == Source("plain")
        with pytest.raises(traitlets.TraitError):
            lab.program = "x = 1"

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("method", "clon", "Did you mean 'clone'"),
            ("source", [1, 2], "must be a tensor"),
            ("source", "lef", "'leaf', 'result' or 'plain'"),
            ("actions", ("y =",), "actions cannot be .*SyntaxError"),
            ("actions", (3,), "actions cannot be .*TypeError"),
        ],
    )
    def test_wrong_values(self, name: str, value: object, message: str) -> None:
        lab = CopyLab(engine=tinytorch)
        before = lab.text
        with pytest.raises(traitlets.TraitError, match=message):
            setattr(lab, name, value)
        assert lab.text == before

    def test_wrong_arguments(self) -> None:
        with pytest.raises(ValueError, match="Did you mean 'detach'"):
            CopyLab(method="detatch")  # codespell:ignore detatch
        with pytest.raises(TypeError, match="must be a tensor of torch or tinytorch"):
            CopyLab([1.0, 2.0])
        with pytest.raises(TypeError, match="engine must be a module"):
            CopyLab(engine="torch")  # type: ignore[arg-type]

    def test_words(self, capsys: pytest.CaptureFixture[str]) -> None:
        lab = CopyLab("plain", "detach", tinytorch)
        lab.write("y")
        assert repr(lab) == "CopyLab('detach', plain of shape (3,), 1 action)"
        lab.help()
        told = capsys.readouterr().out
        for named in re.findall(r"lab\.(\w+)", told):
            assert hasattr(lab, named)
        for label in re.findall(r'"([A-Z][^"]*)"', told):
            labels = [b.description for b in lab._controls.buttons.values()] + [
                lab._controls.method.description
            ]
            assert label in labels

    def test_it_is_the_package_s(self) -> None:
        assert copylab.CopyLab is CopyLab
        assert "CopyLab" in dir(copylab)
