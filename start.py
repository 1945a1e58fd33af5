"""Set everything up in the folder .venv, then start it.

    python3 start.py                          open the course in JupyterLab
    python3 start.py --language zh            ... in Chinese, and with ko in Korean
    python3 start.py --no-browser --port 8899 ... without opening a browser, on a port of your own
    python3 start.py reset clone              lay that lesson out anew; yours is kept beside it
    python3 start.py test                     run all tests
    python3 start.py test lint unit           run some of them (--help lists them)

Only Python 3.11 or newer is needed. The first run downloads what is missing, a second run takes seconds.
The versions that are installed are those of constraints.txt.
All that is installed and laid out is in this folder; to remove it, delete the folder. Outside of it, pip and
Jupyter keep caches and settings in your home, as they always do.
"""

# Standard library alone. Up to the version check this file must also be readable for an old Python.
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

if sys.version_info < (3, 11):
    names = [
        name
        for name in ("python3.14", "python3.13", "python3.12", "python3.11")
        if shutil.which(name)
    ]
    newer = [
        name for name in names if subprocess.call([name, "-c", ""], stderr=subprocess.DEVNULL) == 0
    ]
    sys.exit(
        "copylab needs Python 3.11 or newer, this is Python {}.{} ({}).\n{}".format(
            sys.version_info[0],
            sys.version_info[1],
            sys.executable,
            "Run it as: " + " ".join(newer[:1] + sys.argv)
            if newer
            else "Get a newer one from https://www.python.org",
        )
    )

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "copylab-setup.txt"
CONSTRAINTS = ROOT / "constraints.txt"
NEWEST_CONSTRAINED_PYTHON = (
    3,
    14,
)  # a newer one may need newer packages than those of constraints.txt


def environment() -> dict[str, str]:
    """Return the environment for the programs started here: none of the caller's settings that mix two Pythons."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONHOME", "PYTHONPATH")
    }
    return kept | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def works(*command: str) -> bool:
    """Say whether a command runs and succeeds, without a word of its own."""
    try:
        return (
            subprocess.run(command, env=environment(), capture_output=True, check=False).returncode
            == 0
        )
    except OSError:
        return False


def do(what: str, *command: str) -> None:
    """Run a command; if it fails, say what could not be done and stop."""
    if subprocess.run(command, env=environment(), check=False).returncode != 0:
        sys.exit(
            f"\nstart.py could not {what}; the lines above say why. Mend that and run it again."
        )


def make_venv() -> None:
    """Make sure that .venv holds a Python of the right version with pip in it."""
    if works(str(PYTHON), "-c", "import sys, pip; sys.exit(sys.version_info < (3, 11))"):
        return
    if works(str(PYTHON), "-c", "import sys; sys.exit(sys.version_info >= (3, 11))"):
        sys.exit(
            f"{VENV} was made by a Python older than 3.11. Delete that folder and run this again."
        )
    print(f"Making {VENV} ...", flush=True)
    if importlib.util.find_spec("venv") is None:
        sys.exit(
            "This Python lacks its module venv. On Debian or Ubuntu: sudo apt install python3-venv"
        )
    if importlib.util.find_spec("ensurepip"):
        do("make the environment", sys.executable, "-m", "venv", "--clear", str(VENV))
    else:
        do(
            "make the environment",
            sys.executable,
            "-m",
            "venv",
            "--clear",
            "--without-pip",
            str(VENV),
        )
        bring_pip()


def bring_pip() -> None:
    """Put pip into .venv without ensurepip: with uv, a pip that is there already, or Debian's."""
    uv = shutil.which("uv")
    if uv and works(uv, "pip", "install", "--python", str(PYTHON), "pip"):
        return
    if works(sys.executable, "-m", "pip", "--python", str(PYTHON), "install", "pip"):
        return
    with (
        tempfile.TemporaryDirectory() as folder
    ):  # Debian has pip in a package that needs no root to fetch
        if works(
            "sh",
            "-c",
            f"cd '{folder}' && apt-get -qq download python3-pip-whl && dpkg-deb -x *.deb .",
        ):
            for wheel in Path(folder).glob("usr/share/python-wheels/pip-*.whl"):
                if works(
                    str(PYTHON), f"{wheel}/pip", "install", "--quiet", "--no-index", str(wheel)
                ):
                    return
    sys.exit(
        "This Python comes without pip.\n"
        "On Debian or Ubuntu this helps: sudo apt install python3-venv\n"
        "Without root: put uv on the PATH (https://docs.astral.sh/uv). Then run start.py again."
    )


def set_up(*extras: str) -> None:
    """Install copylab and the wanted extras of pyproject.toml into .venv, unless that was done before."""
    make_venv()
    # The path is in it because a moved .venv points to the old place, the version because Python may have changed.
    files = [(ROOT / "pyproject.toml").read_bytes(), CONSTRAINTS.read_bytes()]
    parts = [*files, str(ROOT).encode(), PYTHON.resolve().name.encode()]
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()
    stamp = STAMP.read_text().split() if STAMP.exists() else [""]
    if stamp[0] == digest and set(extras) <= set(stamp[1:]):
        return
    wanted = sorted({*extras, *stamp[1:]})
    print(
        f"Installing copylab with {', '.join(wanted)} into {VENV}; this takes about a minute, once.",
        flush=True,
    )
    STAMP.unlink(missing_ok=True)
    options = ["--editable", f"{ROOT}[{','.join(wanted)}]"]
    if sys.version_info[:2] <= NEWEST_CONSTRAINED_PYTHON:
        options = ["--constraint", str(CONSTRAINTS), *options]
    install_packages(*options)
    # What draws the graphs is compiled now, for a second or two, and not in front of the first reader.
    works(str(PYTHON), "-c", "from tinytorch.viz.render.layout import render; render('digraph{}')")
    STAMP.write_text("\n".join([digest, *wanted]))


def install_packages(*options: str) -> None:
    """Install packages into .venv with uv or pip and show how far it is; if it fails, say why and stop."""
    uv = shutil.which("uv")
    if uv and run_with_progress(uv, "pip", "install", "--python", str(PYTHON), *options).succeeded:
        return
    pip = [str(PYTHON), "-m", "pip", "install", "--no-user", "--progress-bar", "off", "--no-color"]
    # The pip that comes with an old Python takes twice as long to choose releases. Where no newer
    # one can be had, it has to do.
    works(*pip, "--quiet", "--upgrade", "pip")
    # Python compiles what it imports, once; most of the 9,000 modules are never imported.
    installation = run_with_progress(*pip, "--no-compile", *options)
    if not installation.succeeded:
        print("".join(installation.lines[-40:]), file=sys.stderr)
        sys.exit(
            "start.py could not install the packages; the lines above say why. Mend that and run it again."
        )


class Progress:
    """What a running installer has printed so far, and whether it succeeded."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.succeeded = False

    def describe(self) -> str:
        """Return how many packages were found, and the latest line that is no warning."""
        packages = sum(line.startswith("Collecting ") for line in self.lines)
        shown = [
            line.strip() for line in self.lines if line.strip() and not line.startswith("WARNING")
        ]
        return f"{packages:3} packages  {shown[-1] if shown else 'starting'}"


def run_with_progress(*command: str) -> Progress:
    """Run an installer and show on one line, each second anew, how long it has run and what it does.

    Where the output is no terminal, a line is printed every ten seconds.
    """
    progress = Progress()
    with subprocess.Popen(
        command,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:

        def read_output() -> None:
            for line in process.stdout or ():
                progress.lines.append(line)

        reader = threading.Thread(target=read_output, daemon=True)
        reader.start()
        show_until_end(progress, reader)
    progress.succeeded = process.returncode == 0
    return progress


def show_until_end(progress: Progress, reader: threading.Thread) -> None:
    """Print how far an installer is until the thread that reads its output ends."""
    is_terminal, begin, next_report = sys.stdout.isatty(), time.monotonic(), 0.0
    width = shutil.get_terminal_size().columns - 1
    while reader.is_alive():
        seconds = time.monotonic() - begin
        if seconds >= next_report:
            line = f"{seconds:4.0f} s  {progress.describe()}"[:width]
            print(f"\r{line:{width}}" if is_terminal else f"{line}\n", end="", flush=True)
            next_report = seconds + (1 if is_terminal else 10)
        reader.join(0.2)
    if is_terminal:
        print("\r" + " " * width, end="\r", flush=True)


def become(*command: str) -> None:
    """Hand over to a command of .venv, so that Ctrl-C and the exit status are its own."""
    sys.stdout.flush()
    if os.name == "nt":
        sys.exit(subprocess.run([PYTHON, *command], env=environment(), check=False).returncode)
    os.execve(PYTHON, [str(PYTHON), *command], environment())


def main(arguments: list[str]) -> None:
    """Do what the command line says; see the top of this file."""
    if arguments[:1] == ["test"]:
        set_up("course", "test")
        become(str(ROOT / "tools" / "run_all.py"), *arguments[1:])
    elif "-h" in arguments or "--help" in arguments:
        print(__doc__.strip())
    elif arguments and arguments[0] != "reset" and not arguments[0].startswith("-"):
        sys.exit(f"start.py does not know {arguments[0]!r}.\n\n{__doc__.strip()}")
    else:
        set_up("course")
        become("-P", "-m", "copylab", "--folder", str(ROOT / "course"), *arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
