"""Laying the course out: what a learner wrote is never lost."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import copylab.course
import nbformat
import pytest
from copylab.course.command import main
from copylab.course.layout import TRUST, lay_out, remembered_language, reset_lesson
from copylab.course.lesson import lessons_folder, read_notebook
from copylab.course.translation import digest_of_text
from course_folders import edit, lesson, names
from jupyter_client.blocking.client import BlockingKernelClient
from nbformat.sign import NotebookNotary

import tinytorch


def outputs(notebook: Path) -> list[bool]:
    """Whether each cell has an output."""
    return [bool(cell["outputs"]) for cell in read_notebook(notebook)["cells"]]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "notebooks"
    (folder / "pictures").mkdir(parents=True)
    (folder / "01_one.ipynb").write_text(lesson("edition = 1"), "utf-8")
    (folder / "pictures" / "a.svg").write_text("<svg/>", "utf-8")
    (folder / ".hidden").write_text("", "utf-8")
    monkeypatch.setattr("copylab.course.layout.lessons_folder", lambda: folder)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "mine"


def test_jupyterlab_is_told_what_the_course_needs() -> None:
    settings = json.loads(
        Path(copylab.course.__file__)
        .with_name("labconfig")
        .joinpath("default_setting_overrides.json")
        .read_text("utf-8")
    )
    # Or a notebook that is reopened says "Error displaying widget: model not found" over each table.
    assert settings["@jupyter-widgets/jupyterlab-manager:plugin"] == {"saveState": True}
    viewers = settings["@jupyterlab/docmanager-extension:plugin"]["defaultViewers"]
    assert viewers == {"markdown": "Markdown Preview"}


@pytest.mark.usefixtures("source")
def test_all_files_are_laid_out_once(folder: Path) -> None:
    for _ in range(2):
        assert lay_out(folder) == []
        assert names(folder) == ["01_one.ipynb", "pictures/a.svg"]


@pytest.mark.usefixtures("source")
def test_what_the_learner_wrote_stays(folder: Path) -> None:
    lay_out(folder)
    mine = edit(folder / "01_one.ipynb")
    assert lay_out(folder) == []
    assert (folder / "01_one.ipynb").read_text("utf-8") == mine


def test_a_new_edition_is_told_of_once_and_what_the_learner_wrote_stays(
    source: Path, folder: Path
) -> None:
    lay_out(folder)
    mine = edit(folder / "01_one.ipynb")
    for edition in (2, 3):
        (source / "01_one.ipynb").write_text(lesson(f"edition = {edition}"), "utf-8")
        (told,) = lay_out(folder)
        assert "01_one.ipynb. `copylab reset LESSON` gives the new edition" in told
        assert (folder / "01_one.ipynb").read_text("utf-8") == mine
        assert lay_out(folder) == []
    reset_lesson(folder, "one")
    assert "edition = 3" in (folder / "01_one.ipynb").read_text("utf-8")
    assert (folder / "01_one (yours).ipynb").read_text("utf-8") == mine


def test_an_untouched_lesson_is_brought_up_to_date(source: Path, folder: Path) -> None:
    lay_out(folder)
    (source / "01_one.ipynb").write_text(lesson("edition = 2"), "utf-8")
    (told,) = lay_out(folder)
    assert "replaced" in told
    assert names(folder) == ["01_one.ipynb", "pictures/a.svg"]
    assert "edition = 2" in (folder / "01_one.ipynb").read_text("utf-8")


def test_what_jupyterlab_writes_anew_is_no_change(source: Path, folder: Path) -> None:
    lay_out(folder)
    notebook = read_notebook(folder / "01_one.ipynb")
    (cell,) = notebook["cells"]
    cell |= {"source": "".join(cell["source"]), "metadata": {"trusted": True}, "execution_count": 7}
    (folder / "01_one.ipynb").write_text(
        json.dumps(notebook | {"metadata": {"kernelspec": {}}}), "utf-8"
    )
    (source / "01_one.ipynb").write_text(lesson("edition = 2"), "utf-8")
    (told,) = lay_out(folder)
    assert "replaced" in told

    cell["outputs"][0]["text"] = ["what a run of my own said\n"]
    (folder / "01_one.ipynb").write_text(json.dumps(notebook), "utf-8")
    (source / "01_one.ipynb").write_text(lesson("edition = 3"), "utf-8")
    assert "What you have begun stays as it is" in lay_out(folder)[0]


@pytest.mark.parametrize(
    "state",
    [
        None,
        "no json",
        "[]",
        '{"files": []}',
        '{"language": 1, "files": {"01_one.ipynb": null}}',
        '{"files": {"01_one.ipynb": {"language": "en"}}}',
    ],
)
@pytest.mark.usefixtures("source")
def test_without_a_record_every_file_counts_as_the_learners(
    folder: Path, state: str | None
) -> None:
    folder.mkdir()
    (folder / "01_one.ipynb").write_text("mine", "utf-8")
    if state is not None:
        (folder / ".copylab.json").write_text(state, "utf-8")
    assert "01_one.ipynb" in lay_out(folder)[0]
    assert (folder / "01_one.ipynb").read_text("utf-8") == "mine"


def test_a_lesson_that_has_another_number_now_moves(source: Path, folder: Path) -> None:
    for name in ("03_one", "04_two", "05_three"):
        (source / f"{name}.ipynb").write_text(lesson(f"_{name}"), "utf-8")
    lesson_one = (source / "01_one.ipynb").rename(source / ".one")
    lay_out(folder)
    lesson_one.rename(source / "01_one.ipynb")
    for name in ("03_one", "04_two", "05_three"):
        (source / f"{name}.ipynb").unlink()
    mine = edit(folder / "04_two.ipynb")
    (source / "02_two.ipynb").write_text(lesson("two"), "utf-8")
    assert lay_out(folder) == [
        "03_one.ipynb is now 01_one.ipynb.",
        "04_two.ipynb is now 02_two.ipynb. Yours is kept under the old name.",
        "05_three.ipynb is no longer part of the course.",
    ]
    assert names(folder) == ["01_one.ipynb", "02_two.ipynb", "04_two.ipynb", "pictures/a.svg"]
    assert (folder / "04_two.ipynb").read_text("utf-8") == mine
    assert lay_out(folder) == []


@pytest.mark.parametrize("asked", ["01_one.ipynb", "01_one", "01", "one"])
@pytest.mark.usefixtures("source")
def test_a_lesson_is_reset_and_the_learners_kept(folder: Path, asked: str) -> None:
    lay_out(folder)
    reset_lesson(folder, asked)
    assert names(folder) == ["01_one.ipynb", "pictures/a.svg"]
    mine = edit(folder / "01_one.ipynb")
    (told,) = reset_lesson(folder, asked)
    assert "'01_one (yours).ipynb'" in told
    assert (folder / "01_one (yours).ipynb").read_text("utf-8") == mine
    assert "edition = 1" in (folder / "01_one.ipynb").read_text("utf-8")
    assert lay_out(folder) == []
    with pytest.raises(ValueError, match="no lesson 'two'"):
        reset_lesson(folder, "two")


@pytest.mark.usefixtures("source")
def test_a_folder_that_is_a_file_is_an_error(folder: Path) -> None:
    folder.write_text("a file", encoding="utf-8")
    with pytest.raises(OSError, match="mine"):
        lay_out(folder)


def test_the_lessons_are_found() -> None:
    assert (lessons_folder() / "LICENSE").is_file()


@pytest.fixture
def german(source: Path) -> Path:
    for name in ("01_one", "02_two"):
        text = {"id": "title", "cell_type": "markdown", "metadata": {}, "source": ["Two names."]}
        notebook = json.loads(lesson("x = 1"))
        notebook["cells"].append(text)
        (source / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        catalogue = source / "translations" / "de" / f"{name}.md"
        catalogue.parent.mkdir(parents=True, exist_ok=True)
        catalogue.write_text(
            f"<!-- cell title {digest_of_text('Two names.')} -->\nZwei Namen.\n", encoding="utf-8"
        )
    return source


@pytest.mark.usefixtures("german")
def test_the_language_is_remembered(folder: Path) -> None:
    lay_out(folder, "de")
    assert not (folder / "translations").exists(), "a learner has no use for the catalogues"
    assert remembered_language(folder) == "de"
    assert lay_out(folder) == []
    assert "Zwei Namen." in (folder / "01_one.ipynb").read_text(encoding="utf-8")
    assert (folder / "pictures" / "a.svg").is_file()
    with pytest.raises(ValueError, match="it is in: en, de"):
        lay_out(folder, "fr")


@pytest.mark.usefixtures("german")
def test_another_language_replaces_what_is_untouched_and_piles_nothing_up(folder: Path) -> None:
    lay_out(folder, "en")
    mine = edit(folder / "02_two.ipynb")
    for language, text in (("de", "Zwei Namen."), ("en", "Two names."), ("de", "Zwei Namen.")):
        told = lay_out(folder, language)
        assert text in (folder / "01_one.ipynb").read_text("utf-8")
        assert (folder / "02_two.ipynb").read_text("utf-8") == mine
        assert ["02_two.ipynb" in one for one in told] == ([True] if language == "de" else [])
        assert lay_out(folder) == []
    assert names(folder) == ["01_one.ipynb", "02_two.ipynb", "pictures/a.svg"]
    reset_lesson(folder, "two")
    assert "Zwei Namen." in (folder / "02_two.ipynb").read_text("utf-8")


def test_outputs_that_answer_a_question_are_left_out(source: Path, folder: Path) -> None:
    program = "a = torch.tensor(1.0, requires_grad=True)\ny = a**2\nb = a.clone()\nz = b * 3\n"
    program += "y.backward()\nz.backward()\n"
    cells = (
        "from copylab.lessons.clone import joined, readings",
        "joined",
        f'steps("""\n{program}""")',
        "readings",
    )
    more = ("readings.check()", "progress('clone')", "print(1)", 'steps("x = 1")')
    (source / "02_two.ipynb").write_text(lesson(*cells, *more), "utf-8")
    (source / "03_three.ipynb").write_text(lesson("print(1)", tags=["questioned"]), "utf-8")
    (source / "04_four.ipynb").write_text(lesson("print(1)", tags=["answer"]), "utf-8")
    (source / "solutions").mkdir()
    (source / "solutions" / "02_two.ipynb").write_text(lesson(*cells), "utf-8")
    lay_out(folder)
    assert outputs(folder / "02_two.ipynb") == [True, False, False, False, False, False, True, True]
    assert outputs(folder / "03_three.ipynb") == outputs(folder / "04_four.ipynb") == [False]
    assert all(outputs(folder / "solutions" / "02_two.ipynb"))


def test_no_cell_says_that_the_learner_has_run_it(source: Path, folder: Path) -> None:
    stored = json.loads(lesson("x = 1", "x"))
    stored["cells"][1]["outputs"] = [
        {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": ["1"]}}
    ]  # fmt: skip
    (source / "02_two.ipynb").write_text(json.dumps(stored), "utf-8")
    lay_out(folder)
    for cell in read_notebook(folder / "02_two.ipynb")["cells"]:
        assert cell["outputs"], "the outputs stay"
        for part in (cell, *cell["outputs"]):
            assert part.get("execution_count") is None


@pytest.mark.usefixtures("source")
def test_what_was_laid_out_is_signed_in_the_course_folder_alone(folder: Path) -> None:
    def trusted() -> bool:
        with NotebookNotary(data_dir=str(folder / TRUST)) as notary:  # type: ignore[no-untyped-call]
            notebook = nbformat.read(folder / "01_one.ipynb", as_version=4)  # type: ignore[no-untyped-call]
            return bool(notary.check_signature(notebook))

    lay_out(folder)
    assert trusted()
    edit(folder / "01_one.ipynb", "what somebody else put there")
    assert not trusted()


def command(*arguments: str, **environment: str) -> tuple[int, str]:
    """Run `copylab` and return its exit status and what it says."""
    own = [sys.executable, "-m", "copylab", *arguments]
    done = subprocess.run(
        own, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_the_command_lays_out_without_jupyter_and_says_what_it_did(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run_here(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["copylab", *arguments])
        status = 0
        try:
            main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        return status, "".join(capsys.readouterr())

    there = f"--folder={folder}"
    # In a process of its own, which takes seconds; the others in this one.
    assert command(there, "--lay-out-only") == (0, f"Your lessons are in {folder}.\n")
    assert run_here("--version") == (0, f"copylab {tinytorch.__version__}\n")
    status, said = run_here(there, "--lay-out-only", "--language=zh")
    assert (status, str(folder) in said, said.isascii()) == (0, True, False), (
        "the command speaks it, too"
    )
    assert remembered_language(folder) == "zh"
    edit(folder / "02_clone.ipynb")
    status, said = run_here(there, "reset", "clone")
    assert (status, "02_clone (yours).ipynb" in said) == (0, True)
    assert [run_here(there, "reset", *rest)[0] for rest in ((), ("none",))] == [2, 1]


@pytest.mark.slow
def test_the_command_writes_assignments(tmp_path: Path) -> None:
    status, said = command("nbgrader", str(tmp_path), "02_clone")
    assert (status, said) == (0, f"{tmp_path / 'source' / '02_clone' / '02_clone.ipynb'}\n")


def test_without_jupyterlab_the_sentence_fits_every_installer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["copylab"])
    with pytest.raises(SystemExit) as ended:
        main()
    for installer in ("pip install", "uvx", "pipx run"):
        assert f"{installer} " in str(ended.value)


@pytest.mark.slow
def test_a_home_that_jupyter_cannot_write_is_a_sentence(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", "utf-8")
    keep = dict.fromkeys(name for name in os.environ if name.startswith("JUPYTER"))
    home = {"HOME": str(file), **{name: str(file / "x") for name in keep}}
    status, said = command(f"--folder={folder}", "--no-browser", **home)
    assert status == 1
    assert len(said.splitlines()) == 1
    assert str(file) in said


def test_jupyterlab_opens_the_front_page_and_asks_nothing(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    # Nothing of the user's own Jupyter settings, and none of the port numbers that something else may hold.
    keep = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    command = [
        sys.executable,
        "-m",
        "copylab",
        "--no-browser",
        "--port=0",
        f"--folder={folder}",
    ]
    log = tmp_path / "log"
    with log.open("w") as out:
        server = subprocess.Popen(command, env=keep | {"HOME": str(home)}, stdout=out, stderr=out)
    try:
        url = wait_for_address(log, server)
        page = urllib.request.urlopen(url, timeout=30).read().decode()
        assert "JupyterLab" in page
        assert "/lab/tree/START_HERE.md?" in url
        assert (folder / url.partition("/lab/tree/")[2].partition("?")[0]).is_file()
        settings = url.replace(
            url[url.index("/lab/tree") : url.index("?")], "/lab/api/settings/" + NOTIFICATION
        )
        answer = json.load(urllib.request.urlopen(settings, timeout=30))
        assert answer["schema"]["properties"]["fetchNews"]["default"] == "false"
        assert answer["schema"]["properties"]["checkForUpdates"]["default"] is False
        start_kernel(url, home)
    finally:
        server.terminate()
        server.wait(timeout=30)
    # ipykernel warns that others may listen unless its messages are encrypted, which frightens newcomers.
    assert "WARN" not in log.read_text().upper()


NOTIFICATION = "@jupyterlab/apputils-extension:notification"


def start_kernel(url: str, home: Path) -> None:
    """Start a kernel of the server, and wait until it answers."""
    kernels, token = url.partition("/lab")[0] + "/api/kernels", url.rpartition("token=")[2]
    request = urllib.request.Request(kernels, b"{}", {"Authorization": f"token {token}"})
    kernel = json.load(urllib.request.urlopen(request, timeout=30))
    connection = next(home.rglob(f"kernel-{kernel['id']}.json"))
    client = BlockingKernelClient(connection_file=str(connection))
    client.load_connection_file()
    client.start_channels()
    try:
        # `wait_for_ready` takes one that still starts for dead.
        client.kernel_info(reply=True, timeout=60)
    finally:
        client.stop_channels()


def wait_for_address(log: Path, server: subprocess.Popen) -> str:
    """Return the address that JupyterLab prints, or fail with all that it printed."""
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:\S+", log.read_text()):
            return found.group()
        time.sleep(0.1)
    pytest.fail(log.read_text() or "JupyterLab said nothing")
