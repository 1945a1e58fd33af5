"""Install, start and use hosts of pictures and widgets with Chromium. To be run by hand.

    python tools/hosts.py                      all hosts; a line of docs/hosts.md for each
    python tools/hosts.py voila marimo         some of them
    python tools/hosts.py --dark marimo        in a dark browser

Each host gets an environment of its own in a temporary folder, with what a user would download. A
line says for each column what came out: `live` asks Python, `page` works without, `static` is there
to be read. Below it is what is wrong: what is missing or cut, is there twice, or says that it
failed. That ends this program with 1.
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
# The notebook has run already.
COURSE = """
root_doc = "book"
extensions = ["{0}"]
html_theme = "{1}"
nb_execution_mode = "off"
nbsphinx_execute = "never"
"""


@dataclass(frozen=True)
class Host:
    """A program that shows notebooks.

    packages: what is installed.
    starts: the words of a server, which gets a port; or of a program that makes `page` of a
        notebook that has run.
    page: the address of the notebook, or the file that is made.
    runs: the script with which its page runs all cells, if it has one.
    files: other files that it needs, by their names.
    """

    packages: tuple[str, ...]
    starts: tuple[str, ...]
    page: str
    runs: str = ""
    files: dict[str, str] = field(default_factory=dict)

    @property
    def interpreter_arguments(self) -> tuple[str, ...]:
        """The arguments of its Python."""
        return self.starts if self.starts[0] == "-c" else ("-m", *self.starts)

    @property
    def is_server(self) -> bool:
        """True if it is a server."""
        return "{port}" in " ".join(self.starts)


# Jupyter refuses to run as root, as in a container, and asks for a token before it shows a page.
_SERVER = ("--no-browser", "--allow-root", "--ServerApp.token=", "--ServerApp.port={port}")
# JupyterLab and Notebook 7: when the page is loaded, their application is not there yet.
_RUN_ALL = (
    "async () => { while (!window.jupyterapp) await new Promise((done) => setTimeout(done, 100));"
    " await jupyterapp.restored; let panel;"
    " while (!(panel = jupyterapp.shell.currentWidget)?.context)"
    " await new Promise((done) => setTimeout(done, 100));"
    " await panel.context.ready; await panel.sessionContext.ready;"
    " await jupyterapp.commands.execute('notebook:run-all-cells'); }"
)
# Notebook 6 and NBClassic: a kernel that is connected may still have no manager for widgets.
_CLASSIC = (
    "async () => { const ready = (kernel) =>"
    " kernel?.is_connected() && kernel.info_reply.protocol_version && kernel.widget_manager;"
    " while (!ready(window.Jupyter?.notebook?.kernel))"
    " await new Promise((done) => setTimeout(done, 100));"
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
    """Make an environment with these packages and copylab, and return its interpreter.

    Hosts with the same packages share one.
    """
    environment = folder / str(abs(hash(packages)))
    scripts = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
    python = environment / scripts
    if not environment.exists():
        run_command(folder, sys.executable, "-m", "venv", str(environment))
        # Together: what a host asks of ipywidgets decides which release copylab gets.
        requirements = ("ipykernel", "nbconvert", *packages, str(ROOT))
        run_command(folder, python, "-m", "pip", "install", *requirements)
    return python


def run_command(folder: Path, *words: str | Path, env: dict[str, str] | None = None) -> str:
    """Run a command in a folder and return what it prints; RuntimeError if it fails."""
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{words}\n{done.stderr[-3000:]}")
    return done.stdout


def isolated_variables(folder: Path, python: Path) -> dict[str, str]:
    """Return variables with which a host finds nothing of the user or of another environment."""
    variables = dict(os.environ)
    homes = ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    for name in homes:
        variables[name] = str(folder / ".home")
    # Jupyter starts its own programs by their names.
    variables["PATH"] = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    variables["PYTHONPATH"] = ""
    return variables


def write_marimo_app() -> str:
    """Return the notebook as marimo has it: a function for each cell."""
    functions: list[str] = []
    for source in CELLS:
        # marimo shows a player live by itself.
        source = source.replace("steps(code).live()", "steps(code)")  # noqa: PLW2901
        body = re.sub("(?m)^", "    ", source)
        # The first cell imports and defines what the others take as arguments.
        if not functions:
            functions.append(f"@app.cell\ndef _():\n{body}\n    return {NAMES}\n")
        else:
            functions.append(f"@app.cell\ndef _({NAMES}):\n{body}\n    return\n")
    return "import marimo\napp = marimo.App()\n" + "".join(functions)


def prepare_files(host: Host, folder: Path, python: Path, *, dark: bool) -> None:
    """Write the notebook and the other files of a host; run it for a host that only shows it."""
    theme = "dark" if dark else "light"
    files = {"app.py": write_marimo_app(), **host.files}
    files["pyproject.toml"] = f'[tool.marimo.display]\ntheme = "{theme}"\n'
    # Without a cell of text: for that, nbsphinx needs Pandoc.
    write(folder, "book.ipynb", *CELLS)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    if not host.is_server:
        variables = isolated_variables(folder, python)
        options = ("--execute", "--inplace", "--ExecutePreprocessor.store_widget_state=False")
        run_command(folder, python, "-m", "nbconvert", *options, "book.ipynb", env=variables)
        run_command(folder, python, *host.interpreter_arguments, env=variables)


@contextlib.contextmanager
def serve_page(host: Host, folder: Path, python: Path) -> Iterator[str]:
    """Start the host, if it is a server, and yield the address of the page."""
    if not host.is_server:
        yield (folder / host.page).as_uri()
        return
    # The system chooses a port that is free; the server gets it a moment later.
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        port = free_socket.getsockname()[1]
    command = [str(python), *(word.format(port=port) for word in host.interpreter_arguments)]
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
    """Wait for both pictures, which are images; return "yes" if the first one can be seen."""
    images = page.locator("img[src^='data:image/svg']")
    images.nth(1).wait_for(state="attached")
    return "yes" if images.nth(0).is_visible() else "hidden"


def find_live_views(page: Page, kind: str) -> Locator:
    """Return the live views that have a part which matches the selector `kind`."""
    return page.locator(".cl-live, marimo-anywidget").filter(has=page.locator(kind))


def find_widget(page: Page, kind: str) -> tuple[Locator, str]:
    """Return where a widget is used, and how: in its "live" view, or on the "page"."""
    live = find_live_views(page, kind)
    return (live.first, "live") if live.count() else (page.locator("body"), "page")


def use_player(page: Page) -> str:
    """Step in the player, and wait for the table of `compare`; return how the player is used."""
    players = page.locator(".copylab-steps, .cl-player").locator("visible=true")
    # JupyterLab lays out what comes into view.
    players.first.scroll_into_view_if_needed()
    here, how = find_widget(page, ".cl-player")
    here.get_by_role("button", name="Next step").first.click()
    here.get_by_text(re.compile("Step 2( |,)")).first.wait_for()
    page.get_by_text("All 2 ways").first.wait_for()
    return how


def use_lab_and_exercise(page: Page) -> str:
    """Use the lab and the exercise where they are live; return "live" or "static"."""
    loss = page.get_by_role("button", name="Loss from x", exact=True)
    # A static twin has these texts, too.
    for text in ("gradients flow back to x", "Make y."):
        page.get_by_text(text).locator("visible=true").first.wait_for()
    if not loss.count():
        return "static"
    loss.click()
    page.get_by_text("Ran loss").first.wait_for(state="attached")
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_text("Not yet").first.wait_for()
    return "live"


def use_prediction(page: Page) -> str:
    """Fill in a prediction, commit it and wait for the verdict; return how it is used."""
    here, how = find_widget(page, "form")
    page.get_by_text("Fill in every row").locator("visible=true").first.scroll_into_view_if_needed()
    form = here.locator("form:has(.cl-commit)").locator("visible=true").first
    form.wait_for()
    for menu in form.locator("select").all():
        menu.select_option(index=1)
    for entry in form.locator("input").all():
        entry.fill("no")
    form.get_by_role("button", name="Commit").click()
    headline = page.locator(".cl-headline", has_text=re.compile("[0-9] of [0-9] right"))
    headline.locator("visible=true").first.wait_for()
    return how


COLUMNS: dict[str, Callable[[Page], str]] = {
    "pictures": check_pictures,
    "steps, compare": use_player,
    "CopyLab, exercise": use_lab_and_exercise,
    "predict": use_prediction,
}
# Pictures that are cut at an edge behind which nothing scrolls; players whose picture has less room
# than there is. A picture has an empty edge of 6 px or more.
CUT = """() => {
  const pictures = [...document.querySelectorAll(".cl-holder, img[src^='data:image/svg']")];
  return pictures.filter((one) => {
    const box = one.getBoundingClientRect();
    if (!box.width) return false;
    const player = one.closest(".cl-player");
    const isNarrow = player && one.clientWidth < player.clientWidth * 0.8;
    if (isNarrow && one.scrollWidth > one.clientWidth + 4) return true;
    for (let at = one.parentElement; at && at !== document.body; at = at.parentElement) {
        const { overflowX } = getComputedStyle(at);
        if (/auto|scroll/.test(overflowX)) return false;
        const { right } = at.getBoundingClientRect();
        if (/hidden|clip/.test(overflowX) && box.right > right + 1) return true;
    }
    return false;
  }).length;
}"""
# Twins that take room on the page.
TWICE = "twins => twins.filter((one) => one.getBoundingClientRect().height).length"
# What hosts show in place of a widget or an output.
FAILED = re.compile(
    "Error displaying widget|Error creating widget|Failed to load|error-widget|Traceback"
)


def look_at_page(page: Page) -> tuple[list[str], list[str]]:
    """Return the word for each column, and what is wrong, a line for each."""
    words: list[str] = []
    wrong: list[str] = []
    for name, use in COLUMNS.items():
        try:
            words.append(use(page))
        except Error as error:
            words.append("no")
            wrong.append(f"{name}: {error.message.splitlines()[0]} {error.message[-300:]!r}")
    # Beside live views, no static twin is to be seen.
    if words[-2:] == ["live", "live"]:
        twins = page.locator(".copylab-twin").evaluate_all(TWICE)
        if twins:
            wrong.append(f"{twins} are shown twice")
    for width in (1300, 700):
        page.set_viewport_size({"width": width, "height": 900})
        # JupyterLab lays out what comes into view.
        for player in page.locator(".cl-player:visible").all():
            player.scroll_into_view_if_needed()
        # A page may be laid out anew some frames later.
        with contextlib.suppress(Error):
            page.wait_for_function(f"() => !({CUT})()", timeout=3_000)
        if cut := page.evaluate(CUT):
            wrong.append(f"at {width} px {cut} pictures are cut")
    if failed := FAILED.search(page.locator("body").inner_text()):
        wrong.append(f"it says: {failed[0]}")
    return words, wrong


def try_out(name: str, page: Page, work: Path, *, dark: bool) -> bool:
    """Install and start a host, look at it, print its line; return True if all is well."""
    host, folder = HOSTS[name], work / name
    python = make_environment(work, host.packages)
    folder.mkdir()
    prepare_files(host, folder, python, dark=dark)
    with serve_page(host, folder, python) as address:
        page.goto(address)
        if host.runs:
            page.evaluate(IN_TIME.format(host.runs))
        if host.is_server:
            # The last cell has run then. What is missing after this time is found below.
            with contextlib.suppress(Error):
                commit = page.get_by_role("button", name="Commit").locator("visible=true")
                commit.wait_for(timeout=120_000)
                find_live_views(page, "form").first.wait_for(state="attached", timeout=20_000)
        words, wrong = look_at_page(page)
        screenshots = os.environ.get("COPYLAB_SHOTS")
        if wrong and screenshots:
            page.screenshot(path=Path(screenshots, f"{name}.png"), full_page=True)
    versions = ", ".join(_list_versions(host, folder, python))
    date = time.strftime("%Y-%m-%d")
    print(f"| {name}: {versions} | real, {date} | {' | '.join(words)} |", flush=True)
    for fault in wrong:
        print(f"    wrong: {fault}", flush=True)
    return not wrong


def _list_versions(host: Host, folder: Path, python: Path) -> list[str]:
    """Return the packages of a host with the releases that were installed."""
    output = run_command(folder, python, "-m", "pip", "list", "--format=json")
    installed = {}
    for package in json.loads(output):
        installed[package["name"].lower().replace("_", "-")] = package["version"]
    names = [re.split("[<>=]", requirement)[0] for requirement in host.packages]
    # setuptools is there for Notebook 6 alone, and tells a reader nothing.
    return [f"{name} {installed[name]}" for name in names if name != "setuptools"]


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
        faulty = 0
        for name in options.hosts or HOSTS:
            context = browser.new_context(
                viewport={"width": 1300, "height": 900},
                color_scheme="dark" if options.dark else "light",
            )
            # Hosts ask the network, and copylab must not need it.
            context.route(re.compile(r"^https?://(?!127\.0\.0\.1)"), lambda route: route.abort())
            try:
                faulty += not try_out(name, context.new_page(), Path(work), dark=options.dark)
            # The other hosts are tried all the same.
            except (RuntimeError, Error) as error:
                faulty += 1
                print(f"| {name} | not tried |\n{error}", flush=True)
            context.close()
        browser.close()
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
