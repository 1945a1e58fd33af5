"""Hosts in which pictures and widgets work: each is installed, started, and used with Chromium. To be run by hand.

    python tools/hosts.py                      all hosts; a line of docs/hosts.md for each
    python tools/hosts.py voila marimo         some of them
    python tools/hosts.py --dark marimo        in a dark browser

Each host gets an environment of its own in a temporary folder, with what a user would download. A
line says for each
column what came out: `live` asks Python, `page` works without, `static` is there to be read. After
it stands what is
wrong: what is missing or cut, is there twice, or says that it failed. That ends this program with
1.
"""

import argparse
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from browser.books import write
from needs import find_browser
from playwright.sync_api import Error, Locator, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
FIRST = """
import tinytorch as torch
from copylab import CopyLab, compare, exercise, graph, memory, predict, steps
x = torch.ones(3, requires_grad=True)
y = (x.clone() * 2).sum()
code = "x = torch.ones(3, requires_grad=True)\\ny = x.clone()\\ny.sum().backward()"
"""
CELLS = (
    FIRST.strip(),
    "memory(x, y)",
    "graph(y)",
    "steps(code).live()",
    'compare("clone", "detach")',
    "CopyLab()",
    'exercise("two", "Make y.", check=lambda y: y == 2, solution="y = 2").live()',
    "predict(code)",
)
NAMES = "CopyLab, code, compare, exercise, graph, memory, predict, steps, torch, x, y"
COURSE = """
root_doc = "book"
extensions = ["{0}"]
html_theme = "{1}"
nb_execution_mode = "off"
nbsphinx_execute = "never"
"""


@dataclass(frozen=True)
class Host:
    """A program that shows notebooks: what is installed, how it is started, what its page needs to run all cells.

    starts: the words of a server, which gets a port; or of a program that makes `page` of a
    notebook that has run.
    """

    packages: tuple[str, ...]
    starts: tuple[str, ...]
    page: str
    runs: str = ""
    files: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """What its interpreter is told."""
        return self.starts if self.starts[0] == "-c" else ("-m", *self.starts)

    @property
    def serves(self) -> bool:
        """Whether it is a server."""
        return "{port}" in " ".join(self.starts)


_SERVER = ("--no-browser", "--allow-root", "--ServerApp.token=", "--ServerApp.port={port}")
_RUN_ALL = (
    "async () => { while (!window.jupyterapp) await new Promise((done) => setTimeout(done, 100));"
    " await jupyterapp.restored; let panel;"
    " while (!(panel = jupyterapp.shell.currentWidget)?.context) await new Promise((done) => setTimeout(done, 100));"
    " await panel.context.ready; await panel.sessionContext.ready;"
    " await jupyterapp.commands.execute('notebook:run-all-cells'); }"
)
_CLASSIC = (
    "async () => { const ready = (kernel) =>"
    " kernel?.is_connected() && kernel.info_reply.protocol_version && kernel.widget_manager;"
    " while (!ready(window.Jupyter?.notebook?.kernel)) await new Promise((done) => setTimeout(done, 100));"
    " Jupyter.notebook.execute_all_cells(); }"
)
IN_TIME = (
    "() => Promise.race([({0})(), new Promise((_, fail) =>"
    " setTimeout(() => fail(new Error('the notebook was not ready after two minutes')), 120_000))])"
)
_CONVERT = ("nbconvert", "--to", "html", "book.ipynb")
HOSTS = {
    "jupyterlab": Host(
        ("jupyterlab",),
        ("jupyterlab", *_SERVER, "--LabApp.expose_app_in_browser=True"),
        "doc/tree/book.ipynb",
        _RUN_ALL,
    ),
    "notebook": Host(
        ("notebook>=7",),
        ("notebook", *_SERVER, "--JupyterNotebookApp.expose_app_in_browser=True"),
        "notebooks/book.ipynb",
        _RUN_ALL,
    ),
    "notebook6": Host(
        ("notebook==6.5.*", "ipywidgets==7.*", "setuptools<81"),
        ("notebook", "--no-browser", "--allow-root", "--NotebookApp.token=", "--port={port}"),
        "notebooks/book.ipynb",
        _CLASSIC,
    ),
    "nbclassic": Host(("nbclassic",), ("nbclassic", *_SERVER), "notebooks/book.ipynb", _CLASSIC),
    "voila": Host(("voila",), ("voila", "book.ipynb", "--no-browser", "--port={port}"), ""),
    "marimo": Host(
        ("marimo",), ("marimo", "run", "app.py", "--headless", "--no-token", "--port={port}"), ""
    ),
    "nbconvert": Host(("nbconvert",), _CONVERT, "book.html"),
    "nbconvert-classic": Host(("nbconvert",), (*_CONVERT, "--template=classic"), "book.html"),
    "nbconvert-dark": Host(("nbconvert",), (*_CONVERT, "--theme=dark"), "book.html"),
    "nbconvert-slides": Host(
        ("nbconvert",), ("nbconvert", "--to", "slides", "book.ipynb"), "book.slides.html"
    ),
    "myst-nb": Host(
        ("myst-nb", "furo"),
        ("sphinx", ".", "out"),
        "out/book.html",
        "",
        {"conf.py": COURSE.format("myst_nb", "furo")},
    ),
    "nbsphinx": Host(
        ("nbsphinx", "pydata-sphinx-theme"),
        ("sphinx", ".", "out"),
        "out/book.html",
        "",
        {"conf.py": COURSE.format("nbsphinx", "pydata_sphinx_theme")},
    ),
    "jupyter-book": Host(
        ("jupyter-book<2",),
        ("-c", "from jupyter_book.cli.main import main; main()", "build", "."),
        "_build/html/book.html",
        "",
        {
            "_config.yml": "execute:\n  execute_notebooks: 'off'\n",
            "_toc.yml": "format: jb-book\nroot: book\n",
        },
    ),
}


# -- the host ---------------------------------------------------------------------------


def make_environment(folder: Path, packages: tuple[str, ...]) -> Path:
    """Make an environment with these packages and copylab in it, once in a folder, and return its interpreter."""
    own = folder / str(abs(hash(packages)))
    python = own / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not own.exists():
        run_command(folder, sys.executable, "-m", "venv", str(own))
        run_command(
            folder, python, "-m", "pip", "install", "ipykernel", "nbconvert", *packages, str(ROOT)
        )
    return python


def run_command(folder: Path, *words: str | Path, env: dict[str, str] | None = None) -> str:
    """Run a command in a folder and return what it prints; RuntimeError if it fails."""
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{words}\n{done.stderr[-3000:]}")
    return done.stdout


def isolated_variables(folder: Path, python: Path) -> dict[str, str]:
    """The variables of a host that is not to find what is the user's, or another environment's."""
    homes = ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    return (
        os.environ
        | {name: str(folder / ".home") for name in homes}
        | {"PATH": path, "PYTHONPATH": ""}
    )


def write_marimo_app() -> str:
    """The notebook as marimo has it: a function for each cell."""
    # marimo shows it live by itself.
    own = (source.replace("steps(code).live()", "steps(code)") for source in CELLS)
    first, *others = (re.sub("(?m)^", "    ", source) + "\n" for source in own)
    cells = [
        f"def _():\n{first}    return {NAMES}\n",
        *(f"def _({NAMES}):\n{source}    return\n" for source in others),
    ]
    return "import marimo\napp = marimo.App()\n" + "".join(f"@app.cell\n{cell}" for cell in cells)


def prepare_files(host: Host, folder: Path, python: Path, *, dark: bool) -> None:
    """Write the notebook, which has run for a host that only shows it, and what else the host asks for."""
    files = {"app.py": write_marimo_app(), **host.files}
    files["pyproject.toml"] = f'[tool.marimo.display]\ntheme = "{"dark" if dark else "light"}"\n'
    write(folder, "book.ipynb", *CELLS)  # with text in it, nbsphinx wants Pandoc
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    if not host.serves:
        own = isolated_variables(folder, python)
        options = ("--execute", "--inplace", "--ExecutePreprocessor.store_widget_state=False")
        run_command(folder, python, "-m", "nbconvert", *options, "book.ipynb", env=own)
        run_command(folder, python, *host.words, env=own)


@contextlib.contextmanager
def serve_page(host: Host, folder: Path, python: Path) -> Iterator[str]:
    """Start the host, if it is a server, and give the address of the page."""
    if not host.serves:
        yield (folder / host.page).as_uri()
        return
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [str(python), *(word.format(port=port) for word in host.words)]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=folder, env=isolated_variables(folder, python), stdout=log, stderr=log
        )
    try:
        address = f"http://127.0.0.1:{port}/{host.page}"
        end = time.monotonic() + 120
        while time.monotonic() < end and server.poll() is None:
            try:
                urllib.request.urlopen(address, timeout=60).close()
                break
            except OSError:
                time.sleep(0.3)
        else:
            raise RuntimeError((folder / "log").read_text()[-2000:])
        yield address
    finally:
        server.terminate()
        server.wait()


# -- what is looked at ------------------------------------------------------------------------


def check_pictures(page: Page) -> str:
    """Both pictures are there, as images."""
    images = page.locator("img[src^='data:image/svg']")
    images.nth(1).wait_for(state="attached")
    return "yes" if images.nth(0).is_visible() else "hidden"


def find_live_views(page: Page, kind: str) -> Locator:
    """The live views that have such a part."""
    return page.locator(".cl-live, marimo-anywidget").filter(has=page.locator(kind))


def find_widget(page: Page, kind: str) -> tuple[Locator, str]:
    """The place where a widget is used: its live view, or on the page."""
    live = find_live_views(page, kind)
    return (live.first, "live") if live.count() else (page.locator("body"), "page")


def use_player(page: Page) -> str:
    """The player steps, and the table of `compare` is there."""
    page.locator(".copylab-steps, .cl-player").locator(
        "visible=true"
    ).first.scroll_into_view_if_needed()
    here, how = find_widget(page, ".cl-player")
    here.get_by_role("button", name="Next step").first.click()
    here.get_by_text(re.compile("Step 2( |,)")).first.wait_for()
    page.get_by_text("All 2 ways").first.wait_for()
    return how


def use_lab_and_exercise(page: Page) -> str:
    """The lab and the exercise are used where they are live, and told where they are not."""
    live = page.get_by_role("button", name="Loss from x", exact=True)
    for told in ("gradients flow back to x", "Make y."):
        page.get_by_text(told).locator("visible=true").first.wait_for()
    if not live.count():
        return "static"
    live.click()
    page.get_by_text("Ran loss").first.wait_for(state="attached")
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_text("Not yet").first.wait_for()
    return "live"


def use_prediction(page: Page) -> str:
    """A prediction is filled in, committed and judged."""
    here, how = find_widget(page, "form")
    page.get_by_text("Fill in every row").locator("visible=true").first.scroll_into_view_if_needed()
    form = here.locator("form:has(.cl-commit)").locator("visible=true").first
    form.wait_for()
    for menu in form.locator("select").all():
        menu.select_option(index=1)
    for entry in form.locator("input").all():
        entry.fill("no")
    form.get_by_role("button", name="Commit").click()
    page.locator(".cl-headline", has_text=re.compile("[0-9] of [0-9] right")).locator(
        "visible=true"
    ).first.wait_for()
    return how


COLUMNS: dict[str, Callable[[Page], str]] = {
    "pictures": check_pictures,
    "steps, compare": use_player,
    "CopyLab, exercise": use_lab_and_exercise,
    "predict": use_prediction,
}
# Pictures that are cut at an edge behind which nothing scrolls; players whose picture has less room
# than there is.
CUT = """() => [...document.querySelectorAll(".cl-holder, img[src^='data:image/svg']")].filter((one) => {
    const box = one.getBoundingClientRect();
    if (!box.width) return false;
    const player = one.closest(".cl-player");
    if (player && one.scrollWidth > one.clientWidth + 1 && one.clientWidth < player.clientWidth * 0.8) return true;
    for (let at = one.parentElement; at && at !== document.body; at = at.parentElement) {
        const { overflowX } = getComputedStyle(at);
        if (/auto|scroll/.test(overflowX)) return false;
        if (/hidden|clip/.test(overflowX) && box.right > at.getBoundingClientRect().right + 1) return true;
    }
    return false;
}).length"""
TWICE = "twins => twins.filter((one) => one.getBoundingClientRect().height).length"
FAILED = re.compile(
    "Error displaying widget|Error creating widget|Failed to load|error-widget|Traceback"
)


def look_at_page(page: Page) -> tuple[list[str], list[str]]:
    """What came out for each column, and what is wrong."""
    words, wrong = [], []
    for name, attempt in COLUMNS.items():
        try:
            words.append(attempt(page))
        except Error as error:
            words.append("no")
            wrong.append(f"{name}: {error.message.splitlines()[0]} {error.message[-300:]!r}")
    if "live" == words[-1] == words[-2] and (
        twins := page.locator(".copylab-twin").evaluate_all(TWICE)
    ):
        wrong.append(f"{twins} stand there twice")
    for width in (1300, 700):
        page.set_viewport_size({"width": width, "height": 900})
        for one in page.locator(
            ".cl-player:visible"
        ).all():  # JupyterLab lays out what comes into view
            one.scroll_into_view_if_needed()
        with contextlib.suppress(Error):  # a page may be laid out anew some frames later
            page.wait_for_function(f"() => !({CUT})()", timeout=3_000)
        if cut := page.evaluate(CUT):
            wrong.append(f"at {width} px {cut} pictures are cut")
    if failed := FAILED.search(page.locator("body").inner_text()):
        wrong.append(f"it says: {failed[0]}")
    return words, wrong


def try_out(name: str, page: Page, work: Path, *, dark: bool) -> bool:
    """Install and start a host, look at it, print its line; says whether all is well."""
    host, folder = HOSTS[name], work / name
    python = make_environment(work, host.packages)
    folder.mkdir()
    prepare_files(host, folder, python, dark=dark)
    with serve_page(host, folder, python) as address:
        page.goto(address)
        if host.runs:
            page.evaluate(IN_TIME.format(host.runs))
        if host.serves:
            with contextlib.suppress(Error):  # what is missing then is told below
                page.get_by_role("button", name="Commit").locator("visible=true").wait_for(
                    timeout=120_000
                )
                find_live_views(page, "form").first.wait_for(state="attached", timeout=20_000)
        words, wrong = look_at_page(page)
        if wrong and (kept := os.environ.get("COPYLAB_SHOTS")):
            page.screenshot(path=Path(kept, f"{name}.png"), full_page=True)
    known = json.loads(run_command(folder, python, "-m", "pip", "list", "--format=json"))
    versions = {one["name"].lower().replace("_", "-"): one["version"] for one in known}
    packages = [re.split("[<>=]", one)[0] for one in host.packages if "setuptools" not in one]
    said = ", ".join(f"{one} {versions[one]}" for one in packages)
    print(
        f"| {name}: {said} | real, {time.strftime('%Y-%m-%d')} | {' | '.join(words)} |", flush=True
    )
    for one in wrong:
        print(f"    wrong: {one}", flush=True)
    return not wrong


def main() -> int:
    """Try the hosts that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("hosts", nargs="*", metavar="HOST", help=", ".join(HOSTS))
    parser.add_argument("--dark", action="store_true", help="in a dark browser")
    options = parser.parse_args()
    with (
        sync_playwright() as playwright,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work,
    ):
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        fine = []
        for name in options.hosts or HOSTS:
            context = browser.new_context(
                viewport={"width": 1300, "height": 900},
                color_scheme="dark" if options.dark else "light",
            )
            # Hosts ask the network, which is not to decide what comes out.
            context.route(re.compile(r"^https?://(?!127\.0\.0\.1)"), lambda route: route.abort())
            try:
                fine.append(try_out(name, context.new_page(), Path(work), dark=options.dark))
            except (RuntimeError, Error) as error:
                fine.append(False)
                print(f"| {name} | not tried |\n{error}", flush=True)
            context.close()
        browser.close()
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
