"""What a picture has folded opens in a page that runs no script, with the keyboard alone."""

import pytest
from browser.conftest import Watched
from playwright.sync_api import Browser, expect

import tinytorch
from tinytorch.viz import graph, memory
from tinytorch.viz.render.picture import make_bundle

pytestmark = pytest.mark.browser


def pictures() -> str:
    """The pictures of a model of many layers, as a notebook is given them."""
    nn = tinytorch.nn
    net = nn.Sequential(
        *(nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2)) for _ in range(12))
    )
    loss = net(tinytorch.ones(1, 2)).sum()
    shown = (graph(net=net, loss=loss), memory(net=net, loss=loss))
    return "".join(picture._repr_mimebundle_()["text/html"] for picture in shown)


@pytest.mark.parametrize("script", [True, False])
def test_folds_open_with_the_keyboard(browser: Browser, script: bool) -> None:
    context = browser.new_context(java_script_enabled=script)
    page = Watched(context.new_page()).page
    page.set_content(pictures())
    fold = page.locator("details").filter(has_text="F1 ").first
    inside = fold.locator("img").first
    expect(inside).to_be_hidden()
    page.keyboard.press("Tab")
    expect(fold.locator("summary").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(inside).to_be_visible()
    assert inside.evaluate("image => image.naturalWidth") > 100
    page.keyboard.press("Enter")
    expect(inside).to_be_hidden()
    many = page.locator("details").filter(has_text="net.0 to 11, 12 times: 48 tensors").first
    many.locator("summary").first.press("Enter")
    each = many.locator("details").filter(has_text="net.3").first
    each.locator("summary").first.press("Enter")
    expect(each.get_by_text("net.3.0.weight: shape (2, 2)")).to_be_visible()
    context.close()


def test_a_large_picture_is_zoomed_with_a_key(browser: Browser) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="3000" height="90" viewBox="0 0 3000 90"></svg>'
    context = browser.new_context(java_script_enabled=False, viewport={"width": 800, "height": 600})
    page = context.new_page()
    page.set_content(make_bundle(svg, "wide")["text/html"])
    seen = page.locator("img")

    def width() -> float:
        box = seen.bounding_box()
        assert box is not None
        return box["width"]

    assert width() == 3000
    full = page.get_by_label("full size")
    expect(full).to_be_checked()
    full.press("ArrowRight")
    assert width() == 6000
    full.press("ArrowLeft")
    page.get_by_label("fit to the page").check()
    assert width() < 800
    context.close()
