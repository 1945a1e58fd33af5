"""The command `copylab`: lay the lessons out in a folder of the learner's own and open them in JupyterLab.

What learners wrote is never overwritten. Of each lesson the hash of the edition that was laid out is kept; a lesson
that has changed since is theirs, and a newer edition is then put beside it.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .folder import lessons
from .translation import FOLDER, translated_texts

_HERE = Path(__file__).resolve().parent
_STATE = ".copylab.json"


def lay_out(source: Path, folder: Path) -> list[str]:
    """Copy the files of `source` that are missing or outdated into `folder` and return what is worth telling.

    A file that the learner changed stays as it is; a newer edition is written beside it as `NAME (new).ipynb`.
    Raises OSError if the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = _read_state(folder)
    told = []
    for file in sorted(source.rglob("*")):
        name = file.relative_to(source)
        if not file.is_file() or any(part.startswith((".", "__")) or part == FOLDER for part in name.parts):
            continue
        mine, edition, before = folder / name, _digest(file), known.get(name.as_posix())
        known[name.as_posix()] = edition
        if not mine.exists():
            _copy(file, mine)
        elif _digest(mine) == edition or before == edition:
            continue
        elif _digest(mine) == before:
            _copy(file, mine)
            told.append(f"{name} has a new edition; you had not changed yours, so it was replaced.")
        else:
            beside = _free_name(mine)
            _copy(file, beside)
            told.append(f"{name} has a new edition; yours is kept, the new one is {beside.name!r}.")
    (folder / _STATE).write_text(json.dumps(known, indent=1), encoding="utf-8")
    return told


def lay_out_in(language: str, folder: Path) -> list[str]:
    """Lay the course out in a language, as `lay_out` does; "en" is the one that it is written in.

    Raises ValueError if it is not there in that language, OSError if the folder cannot be written.
    """
    if language == "en":
        return lay_out(lessons(), folder)
    with tempfile.TemporaryDirectory() as made:
        copy = Path(made, "notebooks")
        shutil.copytree(lessons(), copy)
        for name, text in translated_texts(lessons(), language):
            (copy / name).write_text(text, encoding="utf-8")
        return lay_out(copy, folder)


def _read_state(folder: Path) -> dict[str, str]:
    """Return the hashes of the editions laid out before; without them every file counts as the learner's own."""
    try:
        state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _copy(file: Path, to: Path) -> None:
    """Copy a file so that, whenever this is cut short, `to` is there whole or not at all."""
    to.parent.mkdir(parents=True, exist_ok=True)
    part = to.with_name(to.name + ".part")
    shutil.copyfile(file, part)
    part.replace(to)


def _free_name(file: Path) -> Path:
    number = 1
    while (beside := file.with_stem(f"{file.stem} (new{'' if number == 1 else f' {number}'})")).exists():
        number += 1
    return beside


def _command(folder: Path, arguments: argparse.Namespace) -> list[str]:
    """Return the command line that opens the first lesson in JupyterLab."""
    first = min(folder.glob("*.ipynb"), default=folder).relative_to(folder).as_posix()
    options = [
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{first}",
        "--ServerApp.log_level=ERROR",
        "--LabApp.log_level=ERROR",
    ]
    if arguments.port is not None:
        options.append(f"--ServerApp.port={arguments.port}")
    if arguments.no_browser:
        options.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    return [sys.executable, "-P", "-m", "jupyterlab", *options]


def main() -> None:
    """Lay the lessons out and become JupyterLab."""
    parser = argparse.ArgumentParser(prog="copylab", description="Lay the lessons out and open them in JupyterLab.")
    parser.add_argument("--folder", type=Path, default=Path("copylab-course"), help="where to lay them out")
    parser.add_argument("--port", type=int, help="the port of JupyterLab (its own choice if not given)")
    parser.add_argument("--no-browser", action="store_true", help="print the address instead of opening it")
    parser.add_argument("--language", help="for example zh or ko; what is not translated yet stays English")
    arguments = parser.parse_args()
    if importlib.util.find_spec("jupyterlab") is None:
        sys.exit("JupyterLab is not installed here. Install it with: pip install jupyterlab")
    folder = arguments.folder.expanduser().resolve()
    try:
        told = lay_out_in(arguments.language or "en", folder)
    except ValueError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"The lessons could not be laid out in {folder}: {error}")
    print(*told, f"Your lessons are in {folder}. Stop JupyterLab with Ctrl-C and y.", sep="\n", flush=True)
    command = _command(folder, arguments)
    # labconfig/ beside this file: no request to the outside, and no question about it on the first start.
    paths = [str(_HERE), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    environment = os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}
    if os.name == "nt":
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)
    os.execve(sys.executable, command, environment)
