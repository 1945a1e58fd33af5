"""The command `copylab`: lay the lessons out and open them in JupyterLab; watch a program."""

import argparse
import errno
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tinytorch import __version__

from ..course_folder import find_course_language
from ..doctor import print_report
from ..player import SECONDS, print_steps
from ..run import LIMITS
from ..safe_files import can_write_in, explain_error, resolve_folder
from ..watching import run_watched
from ..wording import gettext, set_language
from .exam import read_learners, write_exam
from .front_page import FRONT_PAGE, renew_front_page
from .grading import write_assignments
from .layout import TRUST, can_sign, lay_out, list_lessons, remembered_language, reset_lesson
from .lesson import lessons_folder
from .submissions import grade_class
from .translation import list_languages

_HERE = Path(__file__).resolve().parent
_LANGUAGE = "COPYLAB_LANGUAGE"
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="copylab", description=gettext("Lay the lessons out and open them in JupyterLab.")
    )
    folder_help = gettext("where to lay them out")
    language_help = gettext(
        "for example zh or ko; it is remembered, and what is not translated yet stays English"
    )
    parser.add_argument("--folder", type=Path, default=Path("copylab-course"), help=folder_help)
    parser.add_argument("--language", help=language_help)
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
    commands = parser.add_subparsers(dest="do", metavar="")
    reset = commands.add_parser(
        "reset", help=gettext("lay one lesson out anew; yours is kept beside it")
    )
    reset.add_argument("lesson", help=gettext("for example clone, or 02_clone"))
    reset.add_argument("--folder", type=Path, default=argparse.SUPPRESS, help=folder_help)
    _add_program_commands(commands)
    commands.add_parser("doctor", help=gettext("say what works here and what does not"))
    # SUPPRESS: an option before the command is not overwritten by the default behind it.
    for command in (reset, *_add_class_commands(commands)):
        command.add_argument("--language", default=argparse.SUPPRESS, help=language_help)
    return parser


def _add_program_commands(commands: Any) -> None:
    """Add the commands that run a program of the user's."""
    watch = commands.add_parser(
        "watch", help=gettext("run a program and name the lines that spoil a gradient")
    )
    watch.add_argument("--report", metavar="PAGE.html", help=gettext("write a page to be sent"))
    watch.add_argument(
        "-m", dest="is_module", action="store_true", help=gettext("the program is a module")
    )
    steps = commands.add_parser("steps", help=gettext("say what each line of a program changes"))
    steps.add_argument("--report", metavar="PAGE.html", help=gettext("write the player as a page"))
    steps.add_argument(
        "--rounds", type=int, help=gettext("how many rounds of each loop to step through")
    )
    # As in Python, where the sentence of a run that was ended names them.
    for limit, kind, most in (("seconds", float, SECONDS), ("max_steps", int, LIMITS.max_steps)):
        steps.add_argument(
            f"--{limit.replace('_', '-')}",
            type=kind,
            default=most,
            help=gettext("the run ends there; {number} if not given", number=f"{most:g}"),
        )
    for command in (watch, steps):
        command.add_argument("program", help=gettext("for example train.py"))
        arguments_help = gettext("arguments of the program")
        # All that follows the program is the program's, also what looks like an option of ours.
        command.add_argument("arguments", nargs=argparse.REMAINDER, help=arguments_help)


def _add_class_commands(commands: Any) -> list[argparse.ArgumentParser]:
    """Add the commands for teachers, and return their parsers."""
    assignments = commands.add_parser(
        "nbgrader", help=gettext("write the lessons as assignments for nbgrader")
    )
    exam = commands.add_parser(
        "exam", help=gettext("write an exam for each learner of a class, and its key")
    )
    exam.add_argument(
        "--students",
        type=Path,
        metavar="NAMES.txt",
        help=gettext("a file with a name in each line"),
    )
    exam.add_argument("--seed", type=int, default=1, help=gettext("another number, another exam"))
    exam.add_argument(
        "--questions", type=int, default=12, help=gettext("how many questions; 12 if not given")
    )
    exam.add_argument(
        "--exercises",
        type=int,
        default=0,
        help=gettext("how many programs with a line to rewrite; 0 if not given"),
    )
    grade = commands.add_parser(
        "grade", help=gettext("judge what a class handed in, and put it into one table")
    )
    for command in (assignments, exam, grade):
        command.add_argument("to", type=Path)
    for command in (assignments, exam):
        command.add_argument("lessons", nargs="*")
    return [assignments, exam, grade]


def _jupyter_command(folder: Path, arguments: argparse.Namespace) -> list[str]:
    """Return the command line that opens the front page in JupyterLab."""
    # Without the page (a folder that may not be written) the first lesson is opened, and without
    # a lesson (all were removed) the folder itself.
    first_page = next(iter(list_lessons(folder)), ".")
    if (folder / FRONT_PAGE).is_file():
        first_page = FRONT_PAGE
    options = [
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{first_page}",
        # The terminal of a learner has the address alone, and what went wrong.
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
    # Jupyter does not start as root without this, and a container may have no other user.
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    # -P: a file of the learner's called random.py must not be imported in place of Python's.
    return [sys.executable, "-P", "-m", "jupyterlab", *options]


def _can_encrypt() -> bool:
    """Return True if the server and its kernels can encrypt their messages."""
    import zmq

    return bool(zmq.has("curve"))


def _require_jupyter() -> None:
    """End with a sentence if JupyterLab is not installed or could not start."""
    if importlib.util.find_spec("jupyterlab") is None:
        message = gettext(
            "JupyterLab is not installed beside copylab. Install both, with the tool that you use:\n"
            '  pip install "copylab[course]"\n'
            '  uvx --from "copylab[course]" copylab\n'
            '  pipx run --spec "copylab[course]" copylab\n'
            "Or take `copylab --lay-out-only` and open the lessons in a Jupyter of your own."
        )
        sys.exit(message)
    from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir, jupyter_runtime_dir

    for folder in map(Path, (jupyter_config_dir(), jupyter_data_dir(), jupyter_runtime_dir())):
        if not can_write_in(folder):
            message = gettext(
                "Jupyter keeps notes in {folder} and cannot write there. "
                "Set the variable HOME to a folder that you may write to.",
                folder=folder,
            )
            sys.exit(message)


def _run_command(folder: Path, language: str, arguments: argparse.Namespace) -> list[str]:
    """Do what the command line says, except for starting JupyterLab, and return remarks."""
    match arguments.do:
        case "reset":
            return reset_lesson(folder, arguments.lesson, arguments.language)
        case "nbgrader":
            remarks: list[str] = []
            written = write_assignments(
                folder, arguments.lessons, language=language, tell=remarks.append
            )
            return [*map(str, written), *remarks]
        case "exam":
            return _write_exam(folder, arguments)
        case "grade":
            tables, remarks = grade_class(folder, _show_progress)
            return [*map(str, tables), *remarks]
        case _:
            remarks = lay_out(folder, language)
            renew_front_page(folder)
            return [*remarks, gettext("Your lessons are in {folder}.", folder=folder)]


def _write_exam(folder: Path, arguments: argparse.Namespace) -> list[str]:
    """Write the exam of the command line, and return what to do with it."""
    learners = read_learners(arguments.students) if arguments.students else []
    paths = write_exam(
        folder,
        arguments.lessons,
        learners=learners,
        seed=arguments.seed,
        count=arguments.questions,
        exercises=arguments.exercises,
        tell_progress=_show_progress,
    )
    next_step = gettext(
        "Hand out what is in `exam`, and keep `exam_key.csv`. Put what comes back into "
        "`submitted/NAME`; then `copylab grade {folder}` judges it.",
        folder=folder,
    )
    count = gettext("Exams: {number}.", number=len(learners) or 1)
    return [*map(str, paths), count, next_step]


def _show_progress(done: int, of: int) -> None:
    """Write how far it is into one line of a terminal, which is empty again at the end."""
    # In a file or a pipe each of them would stay.
    if not sys.stderr.isatty():
        return
    text = gettext("{percent} % is done.", percent=100 * done // of)
    line = text if done < of else " " * len(text) + "\r"
    print(f"\r{line}", end="", file=sys.stderr, flush=True)


def _choose_language(folder: Path, arguments: argparse.Namespace) -> str:
    """Return the language of the command line, else of the course, of the environment, English."""
    if arguments.language:
        return str(arguments.language)
    # A folder of assignments or of a class is no course, and remembers no language.
    in_course = None if "to" in arguments else remembered_language(folder)
    return in_course or _language_of_environment()


def _run_program(arguments: argparse.Namespace) -> int:
    """Run the user's program under a watch, or step by step; return the exit status."""
    program, rest, report = arguments.program, arguments.arguments, arguments.report
    if arguments.do == "steps":
        return print_steps(
            program,
            rest,
            rounds=arguments.rounds,
            max_steps=arguments.max_steps,
            seconds=arguments.seconds,
            report=report,
        )
    return run_watched(program, rest, is_module=arguments.is_module, report=report)


def _find_language(words: list[str]) -> str | None:
    """Return the language that is behind `--language` on a command line; None if there is no such one."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    # Without a value it is an error, which the real parser reports.
    parser.add_argument("--language", nargs="?")
    language = parser.parse_known_args(words)[0].language
    return language if language in list_languages(lessons_folder()) else None


def _language_of_environment() -> str:
    language = os.environ.get(_LANGUAGE, "")
    return language if language in list_languages(lessons_folder()) else "en"


def _language_of_place() -> str:
    """Return the language of the environment, else of the course in whose folder we are, English.

    The first page of a course tells its learners to run a program under a watch, in a terminal.
    """
    if os.environ.get(_LANGUAGE):
        return _language_of_environment()
    return find_course_language() or "en"


def main() -> None:
    """Lay the lessons out and become JupyterLab, or do what else the command line says."""
    # What the parser says is worded before it has read anything.
    set_language(_find_language(sys.argv[1:]) or _language_of_environment())
    arguments = _make_parser().parse_args()
    if arguments.do == "doctor":
        print_report()
    if arguments.do in ("watch", "steps"):
        set_language(arguments.language or _language_of_place())
        sys.exit(_run_program(arguments))
    chosen_folder = arguments.to if "to" in arguments else arguments.folder
    starts_jupyter = not (arguments.do or arguments.lay_out_only)
    try:
        folder = resolve_folder(chosen_folder)
        language = _choose_language(folder, arguments)
        set_language(language)
        if starts_jupyter:
            _require_jupyter()
        remarks = _run_command(folder, language, arguments)
    except (ValueError, RuntimeError) as error:
        sys.exit(str(error))
    except OSError as error:
        message = gettext(
            "{folder} could not be written: {error}",
            folder=chosen_folder,
            error=explain_error(error),
        )
        # A folder that may only be read is no obstacle to opening the lessons in it.
        can_open = error.errno in _READ_ONLY and list_lessons(folder)
        if not (starts_jupyter and can_open):
            sys.exit(message)
        remarks = [message, gettext("The lessons open as they are.")]
    if starts_jupyter:
        if not os.access(folder, os.W_OK):
            remarks.append(
                gettext(
                    "What you change in {folder} cannot be stored: the folder cannot be "
                    "written to.",
                    folder=folder,
                )
            )
        remarks.append(gettext("Stop JupyterLab with Ctrl-C and y."))
    for remark in remarks:
        print(remark, flush=True)
    if starts_jupyter:
        _start_jupyter(_jupyter_command(folder, arguments), language)


def _start_jupyter(command: list[str], language: str) -> None:
    """Replace this process by JupyterLab; on Windows wait for it."""
    # labconfig/ beside this file: no request to the outside, and no question about that.
    paths = [str(_HERE), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    environment = os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(paths), _LANGUAGE: language}
    if os.name == "nt":
        # Windows has no exec: the shell would go on while JupyterLab runs.
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)
    os.execve(sys.executable, command, environment)
