"""One server for all browser tests, with a home of its own, and pages that fail on any error or outside request.

It serves JupyterLab and Notebook 7. A test that asks for `lab` runs in JupyterLab alone, one that asks for
`usual_front` in both, in Notebook among the long tests.
"""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from copylab.course.layout import TRUST
from needs import find_browser
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, expect
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

expect.set_options(timeout=30_000)
TIMED = bool(os.environ.get("COPYLAB_TIMED"))
"""Whether times are held to their levels: by benchmarks/widgets.py on a quiet machine, never by the tests alone."""

_OVERRIDES: dict[str, dict[str, Any]] = {
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    "@jupyterlab/apputils-extension:themes": {"adaptive-theme": True},
}
_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run"
)
# What Notebook 7.6 itself throws while it starts, with `1 + 1` as the only cell too.
_OF_NOTEBOOK = {
    "Cannot read properties of undefined (reading 'schema')",
    "Command 'filebrowser:open-path' not registered.",
}


class Scheduling(LoadScopeScheduling):
    """Each test is given to whoever is free, but those of the site go to one worker, first: it takes long to build."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file if file.endswith("test_site.py") else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    return Scheduling(config, log)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    return {**browser_type_launch_args, "executable_path": find_browser(), "args": _FLAGS.split()}


@dataclass
class Lab:
    """A running server: its address, its token, the folder that it serves, and where a notebook is opened."""

    url: str
    token: str
    folder: Path
    front: str = "lab"  # or "notebook"

    def address(self, notebook: str) -> str:
        if self.front == "notebook":
            return f"{self.url}/notebooks/{notebook}?token={self.token}"
        return f"{self.url}/doc/tree/{notebook}?reset&token={self.token}"

    def api(self, path: str, method: str = "GET") -> bytes:
        request = urllib.request.Request(
            f"{self.url}/api/{path}",
            method=method,
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return bytes(answer.read())

    def close_sessions(self) -> None:
        for session in json.loads(self.api("sessions")):
            self.api(f"sessions/{session['id']}", "DELETE")


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with serving(tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("served")) as lab:
        yield lab


@contextlib.contextmanager
def serving(home: Path, folder: Path) -> Iterator[Lab]:
    """A server for `folder`, with a home of its own."""
    settings = home / "config" / "labconfig"
    settings.mkdir(parents=True)
    (settings / "default_setting_overrides.json").write_text(json.dumps(_OVERRIDES))
    lab = Lab(f"http://127.0.0.1:{_free_port()}", secrets.token_hex(16), folder)
    own = {"HOME": home, "IPYTHONDIR": home / "ipython", "JUPYTER_CONFIG_DIR": home / "config"}
    own |= {"JUPYTER_DATA_DIR": home / "data", "JUPYTER_RUNTIME_DIR": home / "runtime"}
    path = os.pathsep.join(
        filter(None, [*(p for p in sys.path if p), os.environ.get("PYTHONPATH")])
    )
    environment = (
        os.environ | {name: str(value) for name, value in own.items()} | {"PYTHONPATH": path}
    )
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        f"--IdentityProvider.token={lab.token}",
    ]
    command += [f"--ServerApp.port={lab.url.rpartition(':')[2]}", "--ServerApp.port_retries=0"]
    command += [f"--ServerApp.root_dir={folder}", "--LabApp.expose_app_in_browser=True"]
    command += ["--JupyterNotebookApp.expose_app_in_browser=True"]
    trusted = folder / "course" / TRUST  # as the command `copylab` starts it
    trusted.mkdir(parents=True)
    command += [f"--NotebookNotary.data_dir={trusted}"]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        _wait(lambda: lab.api("status"), server, home / "log")
        yield lab
        lab.close_sessions()
    finally:
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(10)
        server.kill()
        server.wait()


@pytest.fixture(params=["lab", pytest.param("notebook", marks=pytest.mark.stress)])
def usual_front(request: pytest.FixtureRequest, lab: Lab) -> Lab:
    """JupyterLab, and Notebook 7 in the long tests: it shows widgets by the same code."""
    return replace(lab, front=request.param)


def read_progress(page: Page, file: Path, word: str) -> dict[str, Any]:
    """Return the progress in a file once it has a word: it is written after the page has shown the same."""
    for _ in range(100):
        text = file.read_text("utf-8") if file.exists() else ""
        if word in text:
            break
        page.wait_for_timeout(100)
    return dict(json.loads(text))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait(ask: Callable[[], object], server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 180
    while True:
        try:
            ask()
        except OSError:
            if server.poll() is not None or time.monotonic() > end:
                pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")
            time.sleep(0.1)
        else:
            return


# What Jupyter's page says of its own: it asks for the list of kernels now and then, and its server trips where one
# ends meanwhile; it asks a kernel that is restarted how its debugger stands; and of a notebook that is opened with a new
# kernel it draws the stored widgets of the former one, if that comes before the cells are run again.
_OF_JUPYTER = (
    ("widget model not found", "/jupyterlab-manager/"),
    ("status of 500", "/api/kernels?"),
    ("Could not restore the debugger state", "/static/lab/"),
)


@dataclass
class Watched:
    """A page, and everything on it that must not happen: errors in the console, requests that leave the machine."""

    page: Page
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", self._error)
        self.page.on("request", self._request)

    def _error(self, error: Error) -> None:
        if error.message not in _OF_NOTEBOOK or "/static/notebook/notebook_core" not in (
            error.stack or ""
        ):
            self.wrong.append(f"error: {error}")

    def _console(self, message: ConsoleMessage) -> None:
        where = message.location.get("url") or ""
        theirs = any(words in message.text and place in where for words, place in _OF_JUPYTER)
        if message.type == "error" and not theirs:
            self.wrong.append(f"console: {message.text} ({where})")

    def _request(self, request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:", "about:")):
            self.wrong.append(f"outside request: {request.url}")

    def open(self, address: str) -> None:
        """Open a notebook; comes back when its kernel is ready."""
        self.page.goto(address)
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=30_000)
        self.page.evaluate(
            """async () => {
                await window.jupyterapp.restored;
                const panel = window.jupyterapp.shell.currentWidget;
                await panel.context.ready;
                await panel.sessionContext.ready;
            }"""
        )

    def do(self, command: str) -> None:
        """Have the page do one of its commands; comes back when it is done."""
        self.page.evaluate(
            "(command) => window.jupyterapp.commands.execute(command).then(() => {})", command
        )

    def run_all(self, address: str) -> None:
        """Open a notebook and run all its cells; comes back when they are done."""
        self.open(address)
        self.do("notebook:run-all-cells")

    def ask(self, code: str) -> str:
        """Run code in the kernel of the open notebook, after all messages on their way there; give what it prints."""
        said: str = self.page.evaluate(
            """async (code) => {
                const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
                const future = kernel.requestExecute({ code });
                let said = "";
                future.onIOPub = ({ header, content }) => {
                    if (header.msg_type === "stream") said += content.text;
                    if (header.msg_type === "error") said += `${content.ename}: ${content.evalue}`;
                };
                await future.done;
                return said;
            }""",
            code,
        )
        return said


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    context.set_default_timeout(60_000)  # a busy machine is no fault
    watched = Watched(context.new_page())
    yield watched
    context.close()
    assert watched.wrong == []
