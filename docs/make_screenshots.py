"""Take the pictures of docs/widgets: each widget in JupyterLab, used as its page says, light and dark.

python docs/make_screenshots.py                 all of them; needs what the browser tests need, and PyTorch
python docs/make_screenshots.py compare steps   some of them
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = map(str, (ROOT, ROOT / "widgets", ROOT / "tests", ROOT / "tools"))

from browser.books import stepping, write  # noqa: E402
from browser.conftest import Lab, Watched, serving  # noqa: E402
from needs import find_browser  # noqa: E402
from playwright.sync_api import Browser, FloatRect, Page, expect, sync_playwright  # noqa: E402

FOLDER = ROOT / "docs" / "widgets"
LIVE = ".jp-OutputArea-output:has(.cl-live, .cl-lab, .cl-player):visible"
PANEL = ".jp-OutputArea-output:has(.cl-panel):visible"
SHARED = """\
from copylab import shared
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
d = x.detach()
row = d[1]
shared(x, d, row)
"""
GROWTH = """\
from copylab import growth
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU())
outputs, total = [], 0
def step():
    global total
    hidden = net[0](torch.randn(32, 64))
    outputs.append(hidden.detach())
    total = total + net[1](hidden).sum()
growth(step)
"""
LOOP = """\
def loss_of(w):
    error = w - target
    return (error * error).sum()

target = torch.tensor([1., 2., 3.])
w = torch.zeros(3, requires_grad=True)
for step in range(20):
    loss = loss_of(w)
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad.zero_()
"""
COPIED = """\
x = torch.ones(3, requires_grad=True)
y = x.clone()
out = (y * y).sum()
d = y.detach()
d.mul_(2)
out.backward()
"""
DETACHED = """from copylab import predict
predict('''
x = torch.tensor([1.0, 2.0], requires_grad=True) * 1
y = x.detach()
''')"""
PART = """from copylab import exercise
from copylab.looks import same_storage, values
def check(x, t):
    assert not same_storage(x, t), "t still looks at the storage of x."
    assert values(t) == [2, 3], f"t shows {values(t)}."
part = exercise("my-course/part", "`t` should show `[2, 3]` and have a storage of its own.", check=check,
                start="x = torch.arange(6)\\nt = None", hints=["A slice picks a part.", "What copies a view?"],
                solution="t = x[2:4].clone()")"""


def press(page: Page, *names: str) -> None:
    """Press buttons, one after the other."""
    for name in names:
        page.get_by_role("button", name=name, exact=True).first.click()


def try_out(page: Page) -> None:
    """A loss, a write through y, and backward."""
    press(page, "Loss from x", "Write through y", "Backward")
    expect(page.locator(".cl-lab .cl-error")).to_be_visible()


def to_the_write(page: Page) -> None:
    """The step at which what was saved is overwritten."""
    press(page, *["Next step"] * 4)


def round_by_round(page: Page) -> None:
    """The third round of a loop, its calls stepped over."""
    for kind, way in (("Loop", "rounds"), ("loss_of", "all")):
        page.locator(".cl-player label", has_text=kind).locator("select").select_option(way)
    press(page, *["Next step"] * 5)


def prove(page: Page) -> None:
    """The program that proves the most dangerous answer."""
    page.locator(".cl-live td.cl-bad > button").first.click()


def fill(page: Page) -> None:
    """Eight answers, two of them wrong."""
    for row, answer in enumerate(["no", "no", "yes", "no", "no", "yes", "yes", "yes"]):
        page.locator(".cl-predict select").nth(row).select_option(answer)
    press(page, "Commit")
    expect(page.locator(".cl-reveal")).to_be_visible()


def check(page: Page) -> None:
    """A check that fails, and a hint."""
    press(page, "Check", "Hint")
    expect(page.locator(".cl-said")).to_contain_text("Hint 1")


@dataclass(frozen=True)
class Shot:
    """The cells after `import tinytorch as torch`, what is done with the last one, the selector of what is taken."""

    cells: tuple[str, ...]
    use: Callable[[Page], None] = lambda _: None
    takes: str = LIVE


SHOTS = {
    "copylab": Shot(("from copylab import CopyLab\nCopyLab(method='detach')",), try_out),
    "steps": Shot(stepping(COPIED), to_the_write),
    "steps-folded": Shot(stepping(LOOP), round_by_round),
    "compare": Shot(("from copylab import compare\ncompare()",), prove),
    "predict": Shot((DETACHED,)),
    "predict-revealed": Shot((DETACHED,), fill),
    "exercise": Shot(
        (PART, "part", "x = torch.arange(6)\nt = x[2:4]", "part.check()"),
        check,
        ".jp-Cell:nth-child(n+3)",
    ),
    "shared": Shot((SHARED,), takes=PANEL),
    "growth": Shot((GROWTH,), takes=PANEL),
}


def clip(page: Page, selector: str) -> FloatRect:
    """The box around all that the selector finds."""
    boxes = [box for one in page.locator(selector).all() if (box := one.bounding_box())]
    x, y = min(box["x"] for box in boxes), min(box["y"] for box in boxes)
    right, low = (
        max(box["x"] + box["width"] for box in boxes),
        max(box["y"] + box["height"] for box in boxes),
    )
    return {"x": x, "y": y, "width": right - x, "height": low - y}


def take(browser: Browser, lab: Lab, name: str, shot: Shot) -> None:
    """One widget, in both themes."""
    context = browser.new_context(viewport={"width": 1100, "height": 3000}, color_scheme="light")
    watched = Watched(context.new_page())
    page = watched.page
    watched.run_all(
        lab.address(write(lab.folder, f"{name}.ipynb", "import tinytorch as torch", *shot.cells))
    )
    watched.ask("")
    expect(page.locator(shot.takes).first).to_be_visible()
    shot.use(page)
    page.mouse.move(0, 0)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        expect(page.locator("body")).to_have_attribute(
            "data-jp-theme-light", str(theme == "light").lower()
        )
        page.wait_for_timeout(1000)  # for the colours to fade over, and the pictures of a step
        page.screenshot(path=FOLDER / f"{name}-{theme}.png", clip=clip(page, shot.takes))
    context.close()


def main(names: list[str]) -> None:
    """Take those that are named, or all."""
    with TemporaryDirectory() as there, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        with serving(Path(there) / "home", Path(there) / "served") as lab:
            for name in names or SHOTS:
                take(browser, lab, name, SHOTS[name])
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
