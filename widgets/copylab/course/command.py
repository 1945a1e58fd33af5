"""The command `copylab`: lay the lessons out in a folder of the learner's own and open them in JupyterLab."""

import argparse
import errno
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from tinytorch import __version__
from tinytorch.viz import gettext, use_language

from ..safe_files import can_write_in, explain_error, resolve_folder
from .grading import assign
from .layout import TRUST, can_sign, lay_out, list_lessons, remembered, reset
from .lesson import lessons
from .translation import languages

_HERE = Path(__file__).resolve().parent
_LANGUAGE = "COPYLAB_LANGUAGE"
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="copylab", description=gettext("Lay the lessons out and open them in JupyterLab.")
    )
    where = gettext("where to lay them out")
    speaks = gettext(
        "for example zh or ko; it is remembered, and what is not translated yet stays English"
    )
    parser.add_argument("--folder", type=Path, default=Path("copylab-course"), help=where)
    parser.add_argument("--language", help=speaks)
    parser.add_argument(
        "--lay-out-only", action="store_true", help=gettext("lay them out and start nothing")
    )
    parser.add_argument(
        "--port", type=int, help=gettext("the port of JupyterLab (its own choice if not given)")
    )
    parser.add_argument(
        "--no-browser", action="store_true", help=gettext("print the address instead of opening it")
    )
    parser.add_argument("--version", action="version", version=f"copylab {__version__}")
    more = parser.add_subparsers(dest="do", metavar="")
    anew = more.add_parser(
        "reset", help=gettext("lay one lesson out anew; yours is kept beside it")
    )
    anew.add_argument("lesson", help=gettext("for example clone, or 02_clone"))
    anew.add_argument("--folder", type=Path, default=argparse.SUPPRESS, help=where)
    grading = more.add_parser(
        "nbgrader", help=gettext("write the lessons as assignments for nbgrader")
    )
    grading.add_argument("to", type=Path)
    grading.add_argument("lessons", nargs="*")
    for command in (anew, grading):  # what is said before the command holds for it, too
        command.add_argument("--language", default=argparse.SUPPRESS, help=speaks)
    return parser


def _command(folder: Path, arguments: argparse.Namespace) -> list[str]:
    """Return the command line that opens the first lesson in JupyterLab."""
    first = next(iter(list_lessons(folder)), ".")
    options = [
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{first}",
        "--ServerApp.log_level=ERROR",
        "--LabApp.log_level=ERROR",
    ]
    if can_sign(folder):
        options.append(f"--NotebookNotary.data_dir={folder / TRUST}")
    if _can_encrypt():
        # Otherwise ipykernel 7.4 warns in the terminal that others may listen. Releases of
        # jupyter_client without encryption do not know the setting either, and ignore it.
        options.append("--KernelManager.transport_encryption=auto")
    if arguments.port is not None:
        options.append(f"--ServerApp.port={arguments.port}")
    if arguments.no_browser:
        options.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    return [sys.executable, "-P", "-m", "jupyterlab", *options]


def _can_encrypt() -> bool:
    """Return True if the server and its kernels can encrypt what they say to each other."""
    import zmq

    return bool(zmq.has("curve"))


def _check_jupyter() -> None:
    """End with a sentence if JupyterLab is not there or could not start."""
    if importlib.util.find_spec("jupyterlab") is None:
        said = gettext(
            "JupyterLab is not installed beside copylab. Install both, with the tool that you use:\n"
            '  pip install "copylab[course]"\n'
            '  uvx --from "copylab[course]" copylab\n'
            '  pipx run --spec "copylab[course]" copylab\n'
            "Or take `copylab --lay-out-only` and open the lessons in a Jupyter of your own."
        )
        sys.exit(said)
    from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir, jupyter_runtime_dir

    for folder in map(Path, (jupyter_config_dir(), jupyter_data_dir(), jupyter_runtime_dir())):
        if not can_write_in(folder):
            said = gettext(
                "Jupyter keeps notes in {folder} and cannot write there. "
                "Set the variable HOME to a folder that you may write to.",
                folder=folder,
            )
            sys.exit(said)


def _do(folder: Path, language: str, arguments: argparse.Namespace) -> list[str]:
    """Do what the command line says, but for starting JupyterLab, and return what is worth telling."""
    remarks: list[str] = []
    match arguments.do:
        case "reset":
            return reset(folder, arguments.lesson, arguments.language)
        case "nbgrader":
            written = assign(folder, arguments.lessons, language=language, tell=remarks.append)
            return [*map(str, written), *remarks]
        case _:
            return [
                *lay_out(folder, language),
                gettext("Your lessons are in {folder}.", folder=folder),
            ]


def _choose_language(folder: Path, arguments: argparse.Namespace) -> str:
    """Return the language that was asked for, or else that of the course in the folder, of the environment, English."""
    if arguments.language:
        return str(arguments.language)
    in_course = None if arguments.do == "nbgrader" else remembered(folder)
    wished = os.environ.get(_LANGUAGE, "")
    return in_course or (wished if wished in languages(lessons()) else "en")


def main() -> None:
    """Lay the lessons out and become JupyterLab."""
    arguments = _parser().parse_args()
    named = arguments.to if arguments.do == "nbgrader" else arguments.folder
    opens = not (arguments.do or arguments.lay_out_only)
    try:
        folder = resolve_folder(named)
        language = _choose_language(folder, arguments)
        use_language(language)
        if opens:
            _check_jupyter()
        told = _do(folder, language, arguments)
    except (ValueError, RuntimeError) as error:
        sys.exit(str(error))
    except OSError as error:
        said = gettext(
            "{folder} could not be written: {error}", folder=named, error=explain_error(error)
        )
        if not (opens and error.errno in _READ_ONLY and list_lessons(folder)):
            sys.exit(said)
        told = [said, gettext("The lessons open as they are.")]
    if opens:
        if not os.access(folder, os.W_OK):
            told.append(
                gettext(
                    "What you change in {folder} cannot be stored: it may not be written.",
                    folder=folder,
                )
            )
        told.append(gettext("Stop JupyterLab with Ctrl-C and y."))
    for line in told:
        print(line, flush=True)
    if opens:
        _open(_command(folder, arguments), language)


def _open(command: list[str], language: str) -> None:
    # labconfig/ beside this file: no request to the outside, and no question about it on the first start.
    paths = [str(_HERE), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    environment = os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(paths), _LANGUAGE: language}
    if os.name == "nt":
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)
    os.execve(sys.executable, command, environment)
