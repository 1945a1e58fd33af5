"""Are all widgets there in marimo, the players and predictions live? To be run by hand, where marimo is installed.

pip install marimo; python tests/in_marimo.py [dark]     starts it, looks at it with Chromium, stops it
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from needs import find_browser
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
CELLS = (
    """import tinytorch as torch
    from copylab import CopyLab, compare, exercise, graph, memory, predict, race, steps
    x = torch.ones(3, requires_grad=True)
    y = (x.clone() * 2).sum()
    code = "x = torch.ones(3, requires_grad=True)\\ny = x.clone()\\ny.sum().backward()\"""",
    "memory(x, y)",
    "graph(y)",
    "steps(code).live()",
    'compare("clone", "detach")',
    "CopyLab()",
    "predict(code)",
    'race(["clone"])',
    'exercise("two", "Make y.", names=("y",), check=lambda y: y == 2, solution="y = 2").live()',
)
NAMES = "CopyLab, code, compare, exercise, graph, memory, predict, race, steps, x, y"


def app() -> str:
    """The notebook: a function for each cell."""
    first, *others = (f"    {source}\n" for source in CELLS)
    cells = [f"def _():\n{first}    return {NAMES}\n", *(f"def _({NAMES}):\n{source}    return\n" for source in others)]
    return "import marimo\napp = marimo.App()\n" + "".join(f"@app.cell\n{cell}" for cell in cells)


def look(address: str) -> None:
    """Open the notebook and use what is live in it; ends with an error where something is missing."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        page = browser.new_page(color_scheme="light")
        page.goto(address)
        live = page.locator("marimo-anywidget")
        live.get_by_role("button", name="Next").click()
        live.get_by_text("Step 2 of 3").first.wait_for()
        for menu in live.locator("form select").all():
            menu.select_option(index=1)
        for field in live.locator("form input").all():
            field.fill("no")
        live.get_by_role("button", name="Commit").click()
        live.get_by_text(re.compile("[0-9] of [0-9] right")).first.wait_for()
        page.get_by_text("All 2 ways").wait_for()
        for text in ("gradients flow back to x", "Nothing is timed before Start is pressed", "Make y."):
            page.get_by_text(text).first.wait_for()
        assert page.locator("img[src^='data:image/svg']").count() >= 2
        schemes = live.locator(".cl-panel").evaluate_all("all => all.map(e => getComputedStyle(e).colorScheme)")
        print(f"all there; the panels are {set(schemes)}")
        browser.close()


def main(theme: str) -> None:
    """Start marimo, look, stop it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "app.py").write_text(app(), encoding="utf-8")
        Path(folder, "pyproject.toml").write_text(f'[tool.marimo.display]\ntheme = "{theme}"\n', encoding="utf-8")
        env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "widgets")])}
        command = [sys.executable, "-m", "marimo", "run", "app.py", "--headless", "--no-token", "--port", "8876"]
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            look(next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line))))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "light")
