"""The command `copylab`: lay the lessons out in a folder of the learner's own and open them in JupyterLab.

What learners wrote is never overwritten. Of each lesson the hash of the edition that was laid out is kept; a lesson
that has changed since is theirs, and a newer edition is then put beside it.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import tinytorch
from tinytorch.viz.catalogue import gettext, use

from .cheatsheet import page
from .folder import lessons
from .translation import FOLDER, translated_texts

_HERE = Path(__file__).resolve().parent
_STATE = ".copylab.json"


def lay_out(source: Path, folder: Path, translated: Mapping[str, str] | None = None) -> list[str]:
    """Copy the files of `source` that are missing or outdated into `folder` and return what is worth telling.

    A file that the learner changed stays as it is; a newer edition is written beside it as `NAME (new).ipynb`.
    `translated` are texts by the names of files, in place of what those hold. Raises OSError if the folder cannot be
    written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = _read_state(folder)
    told = []
    for file in sorted(source.rglob("*")):
        name = file.relative_to(source)
        if not file.is_file() or any(part.startswith((".", "__")) or part == FOLDER for part in name.parts):
            continue
        text = (translated or {}).get(name.as_posix())
        data = file.read_bytes() if text is None else text.encode()
        mine, edition, before = folder / name, _digest(data), known.get(name.as_posix())
        known[name.as_posix()] = edition
        now = _digest(mine.read_bytes()) if mine.exists() else None
        if now is None:
            _write(data, mine)
        elif edition in (now, before):
            continue
        elif now == before:
            _write(data, mine)
            told.append(gettext("{name} has a new edition; you had not changed yours, so it was replaced.", name=name))
        else:
            beside = _free_name(mine)
            _write(data, beside)
            kept = gettext(
                "{name} has a new edition; yours is kept, the new one is {beside!r}.", name=name, beside=beside.name
            )
            told.append(kept)
    (folder / _STATE).write_text(json.dumps(known, indent=1), encoding="utf-8")
    return told


def lay_out_in(language: str, folder: Path) -> list[str]:
    """Lay the course out in a language, as `lay_out` does; "en" is the one that it is written in.

    The cheat sheet is made anew, in the language that widgets speak. Raises ValueError if the course is not there in
    that language, OSError if the folder cannot be written.
    """
    if language == "en":
        return lay_out(lessons(), folder)
    texts = dict(translated_texts(lessons(), language))
    return lay_out(lessons(), folder, texts | {"cheat_sheet.html": page(tinytorch)})


def _read_state(folder: Path) -> dict[str, str]:
    """Return the hashes of the editions laid out before; without them every file counts as the learner's own."""
    try:
        state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write(data: bytes, to: Path) -> None:
    """Write a file so that, whenever this is cut short, `to` is there whole or not at all."""
    to.parent.mkdir(parents=True, exist_ok=True)
    part = to.with_name(to.name + ".part")
    part.write_bytes(data)
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
    parser = argparse.ArgumentParser(
        prog="copylab", description=gettext("Lay the lessons out and open them in JupyterLab.")
    )
    default = Path("copylab-course")
    parser.add_argument("--folder", type=Path, default=default, help=gettext("where to lay them out"))
    parser.add_argument("--port", type=int, help=gettext("the port of JupyterLab (its own choice if not given)"))
    parser.add_argument("--no-browser", action="store_true", help=gettext("print the address instead of opening it"))
    parser.add_argument("--language", help=gettext("for example zh or ko; what is not translated yet stays English"))
    arguments = parser.parse_args()
    if arguments.language:
        use(arguments.language)
    if importlib.util.find_spec("jupyterlab") is None:
        sys.exit(gettext("JupyterLab is not installed here. Install it with: pip install jupyterlab"))
    folder = arguments.folder.expanduser().resolve()
    try:
        told = lay_out_in(arguments.language or "en", folder)
    except ValueError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(gettext("The lessons could not be laid out in {folder}: {error}", folder=folder, error=error))
    ready = gettext("Your lessons are in {folder}. Stop JupyterLab with Ctrl-C and y.", folder=folder)
    print(*told, ready, sep="\n", flush=True)
    command = _command(folder, arguments)
    # labconfig/ beside this file: no request to the outside, and no question about it on the first start.
    paths = [str(_HERE), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    environment = os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}
    if arguments.language:
        environment["COPYLAB_LANGUAGE"] = arguments.language  # the kernels get it, and widgets speak it
    if os.name == "nt":
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)
    os.execve(sys.executable, command, environment)
