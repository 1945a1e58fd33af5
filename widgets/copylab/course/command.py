"""The command `copylab`: lay the lessons out in a folder of the learner's own and open them in JupyterLab."""

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from tinytorch import __version__
from tinytorch.viz.catalogue import gettext, use

from .folder import lessons
from .layout import TRUST, lay_out, remembered, reset
from .translation import languages

_HERE = Path(__file__).resolve().parent
_LANGUAGE = "COPYLAB_LANGUAGE"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="copylab", description=gettext("Lay the lessons out and open them in JupyterLab.")
    )
    default = Path("copylab-course")
    parser.add_argument(
        "reset",
        nargs="*",
        metavar="reset LESSON",
        help=gettext("lay one lesson out anew, for example `reset clone`; yours is kept beside it"),
    )
    parser.add_argument("--folder", type=Path, default=default, help=gettext("where to lay them out"))
    parser.add_argument("--lay-out-only", action="store_true", help=gettext("lay them out and start nothing"))
    parser.add_argument("--port", type=int, help=gettext("the port of JupyterLab (its own choice if not given)"))
    parser.add_argument("--no-browser", action="store_true", help=gettext("print the address instead of opening it"))
    parser.add_argument(
        "--language",
        help=gettext("for example zh or ko; it is remembered, and what is not translated yet stays English"),
    )
    parser.add_argument("--version", action="version", version=f"copylab {__version__}")
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


def _prepare(folder: Path, arguments: argparse.Namespace) -> list[str]:
    """Lay the course out, or one lesson of it anew; end with a sentence if that cannot be done."""
    asked = arguments.reset
    if asked and (asked[0] != "reset" or len(asked) != 2):
        sys.exit(gettext("copylab does not know {words!r}. Do you mean: copylab reset LESSON", words=" ".join(asked)))
    try:
        return reset(folder, asked[1]) if asked else lay_out(folder, arguments.language)
    except ValueError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(gettext("The lessons could not be laid out in {folder}: {error}", folder=folder, error=error))


def main() -> None:
    """Lay the lessons out and become JupyterLab."""
    arguments = _parser().parse_args()
    folder = arguments.folder.expanduser().resolve()
    wished = os.environ.get(_LANGUAGE)
    arguments.language = (
        arguments.language or remembered(folder) or (wished if wished in languages(lessons()) else "en")
    )
    use(arguments.language)
    opens = not (arguments.reset or arguments.lay_out_only)
    if opens:
        _check_jupyter()
    told = _prepare(folder, arguments)
    if not arguments.reset:
        told.append(gettext("Your lessons are in {folder}.", folder=folder))
    if opens:
        told.append(gettext("Stop JupyterLab with Ctrl-C and y."))
    print(*told, sep="\n", flush=True)
    if opens:
        _open(_command(folder, arguments), arguments.language)


def _open(command: list[str], language: str) -> None:
    # labconfig/ beside this file: no request to the outside, and no question about it on the first start.
    paths = [str(_HERE), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    environment = os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(paths), _LANGUAGE: language}
    if os.name == "nt":
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)
    os.execve(sys.executable, command, environment)
