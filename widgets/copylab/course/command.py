"""The command `copylab`: lay the lessons out in a folder of the learner's own and open them in JupyterLab."""

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from tinytorch import __version__
from tinytorch.viz.catalogue import gettext, use

from .grading import assign
from .layout import TRUST, lay_out, remembered, reset
from .lesson import lessons
from .lite import build_lite
from .translation import languages

_HERE = Path(__file__).resolve().parent
_LANGUAGE = "COPYLAB_LANGUAGE"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="copylab", description=gettext("Lay the lessons out and open them in JupyterLab.")
    )
    where = gettext("where to lay them out")
    parser.add_argument("--folder", type=Path, default=Path("copylab-course"), help=where)
    parser.add_argument("--lay-out-only", action="store_true", help=gettext("lay them out and start nothing"))
    parser.add_argument("--port", type=int, help=gettext("the port of JupyterLab (its own choice if not given)"))
    parser.add_argument("--no-browser", action="store_true", help=gettext("print the address instead of opening it"))
    parser.add_argument(
        "--language",
        help=gettext("for example zh or ko; it is remembered, and what is not translated yet stays English"),
    )
    parser.add_argument("--version", action="version", version=f"copylab {__version__}")
    more = parser.add_subparsers(dest="do", metavar="")
    anew = more.add_parser("reset", help=gettext("lay one lesson out anew; yours is kept beside it"))
    anew.add_argument("lesson", help=gettext("for example clone, or 02_clone"))
    anew.add_argument("--folder", type=Path, default=argparse.SUPPRESS, help=where)
    site = more.add_parser("site", help=gettext("make pages of the course, for any web server or none"))
    site.add_argument("to", type=Path)
    site.add_argument("--lite", type=Path, metavar="WHEELS", help=gettext("a JupyterLite instead, with these wheels"))
    grading = more.add_parser("nbgrader", help=gettext("write the lessons as assignments for nbgrader"))
    grading.add_argument("to", type=Path)
    grading.add_argument("lessons", nargs="*")
    return parser


def _command(folder: Path, arguments: argparse.Namespace) -> list[str]:
    """Return the command line that opens the first lesson in JupyterLab."""
    first = min(folder.glob("*.ipynb"), default=folder).relative_to(folder).as_posix()
    options = [
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{first}",
        f"--NotebookNotary.data_dir={folder / TRUST}",
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
        try:
            folder.mkdir(parents=True, exist_ok=True)
            writable = os.access(folder, os.W_OK)
        except OSError:
            writable = False
        if not writable:
            said = gettext(
                "Jupyter keeps notes in {folder} and cannot write there. "
                "Set the variable HOME to a folder that you may write to.",
                folder=folder,
            )
            sys.exit(said)


def _do(folder: Path, arguments: argparse.Namespace) -> list[str]:
    """Do what the command line says, but for starting JupyterLab, and return what is worth telling."""
    match arguments.do:
        case "reset":
            return reset(folder, arguments.lesson)
        case "site" if arguments.lite:
            build_lite(arguments.to, arguments.lite)
        case "site":
            from .site import build  # it reads the reference out of all modules

            return build(arguments.to)
        case "nbgrader":
            return [str(path) for path in assign(arguments.to, arguments.lessons)]
        case _:
            return [*lay_out(folder, arguments.language), gettext("Your lessons are in {folder}.", folder=folder)]
    return []


def main() -> None:
    """Lay the lessons out and become JupyterLab."""
    arguments = _parser().parse_args()
    folder = arguments.folder.expanduser().resolve()
    wished = os.environ.get(_LANGUAGE)
    arguments.language = (
        arguments.language or remembered(folder) or (wished if wished in languages(lessons()) else "en")
    )
    use(arguments.language)
    opens = not (arguments.do or arguments.lay_out_only)
    if opens:
        _check_jupyter()
    try:
        told = _do(folder, arguments)
    except (ValueError, RuntimeError) as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(gettext("{folder} could not be written: {error}", folder=arguments.folder, error=error))
    if opens:
        told.append(gettext("Stop JupyterLab with Ctrl-C and y."))
    for line in told:
        print(line, flush=True)
    if opens:
        _open(_command(folder, arguments), arguments.language)


def _open(command: list[str], language: str) -> None:
    # labconfig/ beside this file: no request to the outside, and no question about it on the first start.
    paths = [str(_HERE), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    environment = os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(paths), _LANGUAGE: language}
    if os.name == "nt":
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)
    os.execve(sys.executable, command, environment)
