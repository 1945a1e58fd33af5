"""Names and values of any kind neither break a picture nor get into it as markup."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from needs import find_browser
from viz.looked import looked
from viz.test_memory import words_in

from tinytorch.viz import GraphPicture, Picture, Snapshot, explain, graph, memory, snapshot
from tinytorch.viz.read.records import CellRun, SavedRecord
from tinytorch.viz.render import layout
from tinytorch.viz.wording.labels import escape_unseen, shorten_text, text_width

HOSTILE = [
    "<script>alert(1)</script>",
    "\"quotes\" & 'more'",
    "{a|b} <c> [d]",
    "two\nlines\tand a tab",
    "\u202eright to left",
    "مرحبا",
    "שלום",
    "日本語のテンソル",
    "👨‍👩‍👧 and 🎉",
    "x" * 10_000,
    "日" * 10_000,
    "\x00\x1b[31m",
    "\ud800",
    "\\N\\l\\G\\",
    '" URL="javascript:alert(1)',
    "]]>",
    "--></svg><svg onload=alert(1)>",
    "<b>bold</b>",
    "%s {0} $x$",
    "",
    "\ufffe\uffff",
]


def check(picture: Picture | GraphPicture) -> None:
    """The picture is well-formed, and consists of nothing but what pictures consist of."""
    root = ET.fromstring(picture.svg)
    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert kinds <= {"svg", "style", "rect", "path", "text", "title"}
    assert not any(
        name.lower().startswith("on") for element in root.iter() for name in element.attrib
    )
    assert "href" not in picture.svg
    picture.svg.encode()
    picture.text.encode()
    assert max(len(text) for text in words_in(picture.svg)) < 20_200
    assert float(root.attrib["width"]) < 3_000, (
        "and however long a text is, it makes no picture endless"
    )
    if isinstance(picture, GraphPicture):
        ET.fromstring(layout.render(picture.source, "svg").encode())


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_stay_text(name: str, engine: ModuleType) -> None:
    x = engine.ones(2, requires_grad=True)
    snap = snapshot({name: x, "y" + name: x * 2})
    for picture in (memory(snap), graph(snap)):
        check(picture)
        assert escape_unseen(name) in picture.text, "the text has the whole name"


def everywhere(snap: Snapshot, text: str) -> Snapshot:
    """The snapshot with `text` for every dtype, device, note, kind of node, name of what was saved, and value."""
    notes = (text, f"another {text}")
    return replace(
        snap,
        tensors=tuple(
            replace(
                one, dtype=text, device=text, notes=notes, grad_fn_name=one.grad_fn_name and text
            )
            for one in snap.tensors
        ),
        storages=tuple(
            replace(
                one,
                device=text,
                dtype=text,
                notes=notes,
                runs=tuple(CellRun(run.start, (text,) * 3) for run in one.runs),
            )
            for one in snap.storages
        ),
        nodes=tuple(
            replace(
                node,
                name=text,
                saved=(
                    *(replace(one, name=text) for one in node.saved),
                    SavedRecord(text, "number", value=text),
                ),
            )
            for node in snap.nodes
        ),
        notes=notes,
    )


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_values_and_all_else_that_comes_from_outside_stay_text(
    text: str, engine: ModuleType
) -> None:
    snap, since = looked("turns stale", engine)
    assert since is not None
    for now, before in ((everywhere(snap, text), since), (snap, everywhere(since, text))):
        for picture in (memory(now, since=before), graph(now, since=before)):
            check(picture)
        assert explain(now).text.encode()
    folded, _ = looked("folded", engine)
    check(graph(everywhere(folded, text)))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_names_of_functions_modules_and_keys_stay_text(text: str, engine: ModuleType) -> None:
    names = containers(text, engine)
    for picture in (memory(names), graph(names)):
        check(picture)
        assert escape_unseen(text.rpartition("::")[2]) in picture.text


def containers(text: str, engine: ModuleType) -> dict[str, Any]:
    """A custom Function, a module and a dict that are called so, and what they give."""
    kind = text.replace("\0", "").encode("utf-8", "replace").decode()  # what a class can be called
    function: Any = type(
        kind,
        (engine.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1]),
            "backward": staticmethod(lambda _ctx, grad: grad),
        },
    )
    net = engine.nn.Sequential()
    net.add_module(text.replace(".", "") or "empty", engine.nn.Linear(1, 1))
    x = engine.ones(1, requires_grad=True)
    return {
        "net": net,
        "made": {text: function.apply(x * 1)},
        "out": function.apply(x),
        "numbered": {7: net(x)},
    }


@pytest.mark.torch
def test_subclasses_of_any_name_stay_text() -> None:
    import torch

    for text in HOSTILE:
        kind = type(text.replace("\0", "").encode("utf-8", "replace").decode(), (torch.Tensor,), {})
        for picture in (
            memory(x=torch.ones(2).as_subclass(kind)),
            graph(x=torch.ones(2).as_subclass(kind)),
        ):
            check(picture)
        assert "an object of the subclass " in memory(x=torch.ones(2).as_subclass(kind)).text


class _Refuses(dict[str, Any]):
    def items(self) -> Any:
        raise ValueError("nobody may look")


class _Key:
    def __str__(self) -> str:
        raise ValueError("no name")


class _Meta(type):
    def __getattr__(cls, name: str) -> Any:
        raise RuntimeError(name)


class _Odd(metaclass=_Meta):
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_what_refuses_to_be_looked_at_is_passed_over(engine: ModuleType) -> None:
    class Net(engine.nn.Module):  # type: ignore[name-defined]
        def named_parameters(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("not yet")

    x, loop = engine.ones(1), [engine.ones(1)]
    loop.append(loop)
    names = {"a": _Refuses(b=x), "c": _Odd(), "net": Net(), "loop": loop, "x": x}
    assert [name for name, _ in snapshot(names).names] == ["loop.0", "x"]
    keys = {_Key(): x, 10**6_000: engine.ones(2), (1, 2): engine.ones(3)}
    assert [name for name, _ in snapshot(keys).names] == ["<_Key>", "<int>", "(1, 2)"]
    with pytest.raises(
        TypeError, match="odd is of type _Odd, which is neither a tensor nor contains one"
    ):
        memory(odd=_Odd())


def test_long_names_are_cut_and_whole_in_a_title(engine: ModuleType) -> None:
    svg = memory({"x" * 10_000: engine.ones(1)}).svg
    titles = [
        element.text for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")
    ]
    assert "x" * 10_000 in titles
    assert "x" * 11 + "…" + "x" * 12 in svg


def test_wide_letters_take_more_room() -> None:
    assert text_width("日本") > 1.5 * text_width("ab")
    assert text_width("a\u0301") == text_width("a")
    assert shorten_text("日" * 30, 20).endswith("…")
    assert text_width(shorten_text("日" * 30, 20)) <= text_width("x" * 20)


@pytest.mark.browser
def test_a_browser_shows_hostile_names_and_runs_nothing() -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    import tinytorch

    snap = snapshot({name: tinytorch.ones(1, requires_grad=True) * 2 for name in HOSTILE})
    change, since = looked("turns stale", tinytorch)
    shown: list[Picture | GraphPicture] = [memory(snap), graph(snap)]
    for text in HOSTILE:
        names = containers(text, tinytorch)
        shown += [memory(names), graph(names)]
        shown += [kind(everywhere(change, text), since=since) for kind in (memory, graph)]
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=find_browser(), args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            page = browser.new_page()
            faults: list[str] = []
            page.on("dialog", lambda dialog: faults.append(dialog.message))
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("request", lambda request: faults.append(request.url))
            for picture in shown:
                inline = f"<body>{picture.svg}<p id=after>still here</p></body>"
                page.set_content(inline + picture._repr_mimebundle_()["text/html"])
                assert page.inner_text("#after") == "still here"
                assert (
                    page.evaluate(
                        "document.images[0].decode().then(() => document.images[0].naturalWidth)"
                    )
                    > 300
                )
                assert page.evaluate("document.querySelectorAll('script, [onload], a').length") == 0
                drawn = page.evaluate("[...document.querySelectorAll('svg')].length")
                assert drawn == 1, json.dumps(drawn)
            assert [fault for fault in faults if not fault.startswith("data:")] == []
        finally:
            browser.close()


@pytest.mark.parametrize("draw", [memory, graph])
def test_a_picture_may_stand_in_markdown(draw: Callable[..., Any], engine: ModuleType) -> None:
    x = engine.ones(2, requires_grad=True)
    data = draw(x=x, y=x * 2)._repr_mimebundle_()
    assert "\n\n" in data["text/plain"]
    assert "\n" not in data["text/html"]
    said = re.search(r"<pre>([^<]*)</pre>", data["text/html"])
    assert said is not None
    assert unescape(said[1]) == data["text/plain"]
