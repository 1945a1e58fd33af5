"""Whatever names, values, messages and translations say: under a strict Content-Security-Policy nothing of it runs."""

import json
import warnings
from collections.abc import Iterator
from gettext import NullTranslations
from pathlib import Path
from typing import Any

import copylab
import pytest
from browser.conftest import Watched
from copylab.quiz.standalone import render_standalone
from copylab.ui.exhibit import Live
from playwright.sync_api import Browser, Page, expect

import tinytorch
from tinytorch.viz import graph, memory
from tinytorch.viz.wording import catalogue

pytestmark = pytest.mark.browser

NONCE = "bm90IGd1ZXNzZWQ"
META = '<meta http-equiv="Content-Security-Policy" content="{}">'
SCRIPT = f'<script type="module" nonce="{NONCE}">'
STRICT = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'nonce-{NONCE}'"
EVIL = (
    """</script></style>--><img src=x onerror="document.title='hit'">`**&"'|{}</pre></details>\u202e张"""
    + "W" * 400
)
SHORT = EVIL[:66]
# Names that a page has, too.
KEYS = [
    "constructor",
    "__proto__",
    "toString",
    "querySelector",
    "body",
    "location",
    EVIL,
]
CODE = f"""
class constructor(dict):
    def __repr__(self): return {EVIL!r}
    def toString(self, __proto__): return __proto__ * 2
globals()[{EVIL!r}] = torch.ones(2, requires_grad=True)
valueOf = torch.ones(2, requires_grad=True) * 2
hasOwnProperty = constructor()
hasOwnProperty[{EVIL!r}] = hasOwnProperty.toString(valueOf)
globals().update({{key: torch.ones(1) for key in {KEYS!r}}})
import warnings
warnings.warn({EVIL!r})
print({EVIL!r})
hasOwnProperty
"""
FAILS = f"{CODE}raise ValueError({EVIL!r})"
SHAPES = "constructor = torch.ones(2)\n__proto__ = constructor.clone()\ntoString = __proto__ * constructor\n"


class Hostile(NullTranslations):
    """Translations in which markup stands: they are words like any others."""

    def __init__(self) -> None:
        super().__init__()
        self._catalog = {
            text: SHORT + text
            for text in ("Next →", "Next step", "Memory", "(any)", "What happened")
        }

    def info(self) -> dict[str, str]:
        return {"language": SHORT}

    def gettext(self, message: str) -> str:
        return SHORT + message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return SHORT + (msgid1 if n == 1 else msgid2)


@pytest.fixture(params=["English", "hostile"], autouse=True)
def translated(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Say everything in hostile words, too; the progress file is hostile in any case."""
    noted = {
        "state": EVIL,
        "in": EVIL,
        "hints": 10**30,
        "right": -1,
        "of": 0,
        "solution": EVIL,
        "answers": {EVIL: EVIL},
    }
    kept = {
        kind: {EVIL: noted, "evil": noted}
        for kind in ("predictions", "exercises", "misconceptions")
    }
    (tmp_path / "kept.json").write_text(json.dumps(kept), "utf-8")
    monkeypatch.setenv("COPYLAB_PROGRESS", str(tmp_path / "kept.json"))
    if request.param == "hostile":
        monkeypatch.setattr(catalogue, "_chosen", [Hostile()])


def prediction() -> copylab.Prediction:
    choices = [
        copylab.Question(
            EVIL, [SHORT, "no"], answer=lambda _: "no", wrong={SHORT: EVIL}, name="constructor"
        )
    ]
    choices += [
        copylab.Question(
            "`x`", None, answer=lambda _: EVIL, name="__proto__", hint=EVIL, because=EVIL
        )
    ]
    return copylab.predict(CODE, choices, engine=tinytorch, title=EVIL)


def exercise() -> copylab.Exercise:
    start = f"t = {EVIL!r}"
    return copylab.exercise(
        "evil", EVIL, lambda t: t and EVIL, start=start, hints=[EVIL], solution=start, title=EVIL
    )


def comparison() -> copylab.Comparison:
    warns = copylab.Method("a <b>", f"import warnings\nwarnings.warn({EVIL!r})\ny = x")
    return copylab.compare(
        warns, copylab.Method(SHORT, f"raise ValueError({EVIL!r})"), engine=tinytorch
    )


def race() -> copylab.Race:
    return copylab.race(
        {EVIL: f"raise ValueError({EVIL!r})", "b": "y = x"}, [1], engine=tinytorch, rounds=8
    ).run()


def lab() -> copylab.CopyLab:
    made = copylab.CopyLab(engine=tinytorch)
    made.run(FAILS)
    return made


def twins() -> list[str]:
    """What widgets and pictures store in a notebook."""
    task, x = exercise(), tinytorch.ones(2, requires_grad=True)
    told = [
        task,
        prediction().commit([SHORT, EVIL]),
        comparison(),
        race(),
        lab(),
        copylab.progress(),
    ]
    with warnings.catch_warnings(), copylab.watch() as seen:
        warnings.simplefilter("ignore")
        kept = {EVIL: x.exp()}
        kept[EVIL].data.add_(1)
        kept[EVIL].sum().backward()
    assert seen.findings
    told.append(seen)
    pages = [
        *(one.html for one in told),
        *(part.html() for part in (task.check({"t": 1}), task.hint(1), task.solution())),
        render_standalone(prediction()),
    ]
    pages += [memory({EVIL: x}).svg, graph({EVIL: x * 2}).svg]
    return [*(copylab.steps(code, engine=tinytorch).html for code in (FAILS, SHAPES)), *pages]


def views(widget: Any) -> Iterator[str]:
    """The scripts that open a widget and its parts over a model with their state."""
    if isinstance(widget, Live):
        state = {
            name: value
            for name, value in widget.get_state().items()
            if name[0] != "_" and name != "layout"
        }
        given = json.dumps(state).replace("<", "\\u003c")
        opened = widget._esm.replace("export default {", "const view = {").replace("</", "<\\/")
        yield (
            f"{opened}\nconst el = document.body.appendChild(document.createElement('div')); const state = {given};\n"
            "el.className = 'opened'; el.style.overflow = 'auto';\nconst on = () => {};\n"
            "const model = { get: (name) => state[name], set: on, on, off: on, save_changes: on, send: on };\n"
            "view.render({ el, model });\n"
        )
    for child in getattr(widget, "children", ()):
        yield from views(child)


def written(folder: Path, policy: str, *parts: str) -> str:
    """Write a page of these parts under a policy, each in a box that scrolls as in a notebook; gives its address."""
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>{META.format(policy)}<body>'
    boxes = "".join(f'<section style="overflow:auto">{one}</section>' for one in parts)
    (folder / "page.html").write_text(
        head + boxes.replace('<script type="module">', SCRIPT), "utf-8"
    )
    return (folder / "page.html").as_uri()


def check(page: Page) -> None:
    """None of the texts became an element, ran, or left its box; what the policy kept from running would be told."""
    assert page.title() == "t"
    assert (
        page.locator(
            'img:not([src^="data:image/svg+xml;base64,"]), [onerror], iframe, object, script[src]'
        ).count()
        == 0
    )
    assert page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def test_pages(watched: Watched, tmp_path: Path) -> None:
    page = watched.page
    page.goto(written(tmp_path, STRICT, *twins()))
    expect(page.locator(".cl-player")).to_have_count(2)
    for player in page.locator(".cl-player").all():
        player.get_by_role("button").nth(3).click()
        expect(player).to_have_attribute("data-step", player.get_attribute("data-steps") or "")
    check(page)


def test_views(watched: Watched, tmp_path: Path) -> None:
    player = copylab.steps(FAILS, engine=tinytorch).live()
    widgets = [player, exercise().live(), prediction().live(), comparison(), lab()]
    scripts = [script for widget in widgets for script in views(widget)]
    page = watched.page
    page.goto(
        written(tmp_path, STRICT, *(f'<script type="module">{one}</script>' for one in scripts))
    )
    expect(page.locator(".opened")).to_have_count(len(scripts))
    expect(page.locator(".opened > *")).to_have_count(len(scripts))
    check(page)


def test_a_saved_page_brings_its_policy(watched: Watched, tmp_path: Path) -> None:
    copylab.steps(SHAPES, engine=tinytorch).save(tmp_path / "page.html")
    page = watched.page
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".cl-player")).to_be_visible()
    assert watched.wrong == []
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')"
    )
    page.wait_for_function("document.querySelector('img[src=x]').complete")
    assert page.title() != "1"
    assert any("inline event handler" in said for said in watched.wrong)
    assert any("violates" in said for said in watched.wrong)
    watched.wrong.clear()


def test_where_neither_script_nor_style_is_let_in(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    page.goto(
        written(
            tmp_path,
            "default-src 'none'; img-src data:",
            copylab.steps(SHAPES, engine=tinytorch).html,
        )
    )
    assert page.locator(".cl-player").count() == 0
    for step in page.locator(".cl-step").all():
        step.evaluate("one => (one.open = true)")
        expect(step.locator("img").first).to_be_visible()
        assert step.locator("img").first.evaluate("one => one.naturalWidth") > 50
        expect(step.locator("li").first).to_be_visible()
    page.close()
