"""A hundred widgets in one notebook, a thousand interactions: no error, kernel memory flat, and closing frees all.

They are made on a busy machine: anywidget gives up a model whose script has not loaded within 2 s.
"""

import json
from collections.abc import Callable

import pytest
from browser.books import write
from browser.conftest import Lab, Watched
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

SETUP = """
import gc, os, weakref
os.environ["COPYLAB_PROGRESS"] = "many.json"
import tinytorch as torch
from comm import get_comm_manager
from copylab import CopyLab, compare, exercise, predict, steps
from IPython.display import display

def memory():
    gc.collect()
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096 / 1e6  # of memory in use, in MB

def comms():
    return sum(comm.target_name == "jupyter.widget" for comm in get_comm_manager().comms.values())

made = steps('x = torch.ones(2)\\ny = x.clone()\\nz = y.detach()')
def check(t):
    return None if t.tolist() == [2, 3] else f"t shows {t.tolist()}."

part = exercise("many/part", "`t` shall show `[2, 3]`.", check, start="t = None", hints=["A slice.", "From 2."],
                solution="t = torch.arange(6)[2:4]")
t = torch.arange(3)
before = comms()
widgets = []
"""

# A cell shows fifty outputs, and a widget makes two.
MAKE = """
code = "x = torch.ones(2)\\ny = x.clone()"
others = [CopyLab(), compare("clone", "detach"), predict(code).live(), part.live()]
for widget in [*(made.live() for _ in range(16)), *others]:
    widgets.append(widget)
    display(widget)
del widget, others
"""

# Five keys in each player: to the third step, and back to the second. In each of the others five buttons are pressed.
PRESS = """async () => {
    let count = 0;
    for (const live of document.querySelectorAll(".cl-live")) {
        const player = live.querySelector(".cl-player");
        for (const key of ["Home", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"]) {
            if (player) {
                const how = { key, bubbles: true, composed: true, cancelable: true };
                player.dispatchEvent(new KeyboardEvent("keydown", how));
            } else {
                const buttons = [...live.querySelectorAll("button")].filter((button) => !button.disabled);
                const quick = buttons.filter((button) => !button.textContent.includes("Start"));
                quick[count % quick.length]?.click();
                await new Promise((done) => setTimeout(done, 20));
            }
            count++;
        }
    }
    return count;
}"""

STEPS = "print([widget.step for widget in widgets if hasattr(widget, 'step')])"

CLOSE = """
refs = [weakref.ref(widget) for widget in widgets]
for widget in widgets:
    widget.close()
del widget, widgets
gc.collect()
print(json.dumps([comms() - before, [repr(ref()) for ref in refs if ref() is not None]]))
"""


BUSY = 4
"""How many times slower the page runs while the widgets are made."""


def until(page: Page, holds: Callable[[], bool]) -> None:
    """Wait until something holds: a view sends the latest state when the kernel has dealt with the one before."""
    for _ in range(100):
        if holds():
            return
        page.wait_for_timeout(100)
    assert holds()


@pytest.mark.stress
def test_a_hundred_widgets(watched: Watched, lab: Lab) -> None:
    name = write(lab.folder, "many.ipynb", SETUP, *[MAKE] * 5)
    page = watched.page
    watched.open(lab.address(name))
    browser = page.context.new_cdp_session(page)
    browser.send("Emulation.setCPUThrottlingRate", {"rate": BUSY})
    watched.do("notebook:run-all-cells")
    views = page.locator(".cl-live")
    expect(views).to_have_count(100, timeout=60_000)
    expect(page.locator(".cl-live .cl-player")).to_have_count(80, timeout=60_000)
    browser.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    assert watched.wrong == [], "models that were given up"
    sizes: list[float] = []
    # The first rounds load what is loaded late, and one may fall on a jump of the interpreter's
    # table of names.
    for _ in range(4):
        assert page.evaluate(PRESS) == 500
        until(page, lambda: json.loads(watched.ask(STEPS)) == [2] * 80)
        sizes.append(float(watched.ask("print(memory())")))
        if len(sizes) > 1 and sizes[-1] - sizes[-2] < 2:
            break
    print(
        f"kernel memory after each 500 interactions: {', '.join(f'{size:.1f}' for size in sizes)} MB"
    )
    assert sizes[-1] - sizes[-2] < 2, "what is kept of an interaction is kept of all"
    kept = json.loads((lab.folder / "many.json").read_text("utf-8"))
    assert kept["exercises"]["many/part"] == {"state": "wrong", "hints": 2, "solution": True}
    assert json.loads(watched.ask("import json" + CLOSE)) == [0, []], (
        "comms and widgets that are left"
    )
    expect(views).to_have_count(0)
