"""Names of any kind neither break a picture nor get into it as markup."""

import json
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest
from needs import find_browser
from viz.test_memory import words_in

from tinytorch.viz import graph, layout, memory, snapshot
from tinytorch.viz.style import clean, shorten, width

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


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_stay_text(name: str, engine: ModuleType) -> None:
    x = engine.ones(2, requires_grad=True)
    snap = snapshot({name: x, "y" + name: x * 2})
    for picture in (memory(snap), graph(snap)):
        root = ET.fromstring(picture.svg)
        kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert kinds <= {"svg", "style", "rect", "path", "text", "title"}
        assert not any(name.lower().startswith("on") for element in root.iter() for name in element.attrib)
        assert "href" not in picture.svg
        picture.svg.encode()
        assert clean(name) in picture.text, "the text has the whole name"
        assert max(len(text) for text in words_in(picture.svg)) < 20_200
    ET.fromstring(layout.render(graph(snap).source, "svg").encode())


def test_long_names_are_cut_and_whole_in_a_title(engine: ModuleType) -> None:
    svg = memory({"x" * 10_000: engine.ones(1)}).svg
    titles = [element.text for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")]
    assert "x" * 10_000 in titles
    assert "x" * 14 + "…" + "x" * 15 in svg


def test_wide_letters_take_more_room() -> None:
    assert width("日本") > 1.5 * width("ab")
    assert width("a\u0301") == width("a")
    assert shorten("日" * 30, 20).endswith("…")
    assert width(shorten("日" * 30, 20)) <= width("x" * 20)


@pytest.mark.browser
def test_a_browser_shows_hostile_names_and_runs_nothing() -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    import tinytorch

    snap = snapshot({name: tinytorch.ones(1, requires_grad=True) * 2 for name in HOSTILE})
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_browser(), args=["--no-sandbox", "--disable-gpu"])
        try:
            page = browser.new_page()
            faults: list[str] = []
            page.on("dialog", lambda dialog: faults.append(dialog.message))
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("request", lambda request: faults.append(request.url))
            for picture in (memory(snap), graph(snap)):
                inline = f"<body>{picture.svg}<p id=after>still here</p></body>"
                page.set_content(inline + picture._repr_mimebundle_()["text/html"])
                assert page.inner_text("#after") == "still here"
                assert page.evaluate("document.images[0].decode().then(() => document.images[0].naturalWidth)") > 300
                assert page.evaluate("document.querySelectorAll('script, [onload], a').length") == 0
                drawn = page.evaluate("[...document.querySelectorAll('svg')].length")
                assert drawn == 1, json.dumps(drawn)
            assert [fault for fault in faults if not fault.startswith("data:")] == []
        finally:
            browser.close()
