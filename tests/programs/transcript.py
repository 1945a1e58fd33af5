"""Run a program the way a reader at the prompt would, and write down what they see.

A program is its transcript: what follows a prompt ``>>> ``, and ``... `` right after it, is a statement; the rest is
what the reader saw: what it printed, the value of a bare expression, every warning (category and message) and the
exception that ended the statement, after which the next one runs.  Nothing that differs between two runs or two
machines is kept: no path, no line number, no place in PyTorch's sources.

What another release than 2.13 prints otherwise stands beside the program, as NAME.2.14.diff: that holds for 2.14 and
every later release up to the next file. An empty one says that the release prints again what 2.13 does.

As a command it writes what the statements print anew, with the PyTorch installed here:

    python tests/programs/transcript.py            every program
    python tests/programs/transcript.py -k linear  those whose name holds "linear"
    python tests/programs/transcript.py --engine tinytorch --print tests/programs/seeds/s1_linear.out
    python tests/programs/transcript.py tests/programs/asked/mine.py   a plain script becomes a program, mine.out
"""

from __future__ import annotations

import argparse
import ast
import builtins
import contextlib
import difflib
import importlib
import io
import re
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    ROOT = Path(__file__).resolve().parents[2]
    sys.path[:0] = map(str, (ROOT / "tests", ROOT / "tools"))

from releases import FOLLOWED, Release, installed_release, read_release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

HERE = Path(__file__).resolve().parent
SIMULATED = HERE / "cuda"

# Where a C++ warning was raised says nothing to the reader and differs between builds.
_TRIGGERED = re.compile(r"\s*\(Triggered internally at [^)]*\)")
# ``torch.manual_seed`` returns a generator whose repr is its address: an echo that would differ from run to run.
_ADDRESS = re.compile(r" object at 0x[0-9a-f]+")
_TYPE_ONLY = "# transcript: type only"
_ON_CPU = "# transcript: cpu"
_ON_GPU = "# transcript: on a GPU "


def programs(pattern: str = "") -> list[Path]:
    """Every program, in a fixed order; with `pattern`, those that have it in their path."""
    return [p for p in sorted(HERE.glob("*/*.out")) if pattern in p.relative_to(HERE).as_posix()]


def statements(text: str) -> list[tuple[int, str]]:
    """What was typed at the prompts of a transcript: the number of its first line, and the lines."""
    found: list[tuple[int, str]] = []
    typing = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(">>> "):
            found.append((number, line[4:]))
            typing = True
        elif typing and line[:4].rstrip() == "...":
            found[-1] = (found[-1][0], f"{found[-1][1]}\n{line[4:]}")
        else:
            typing = False
    return found


def typed(script: str) -> str:
    """A plain script as it is typed at prompts, comments and docstring too, with nothing printed yet."""
    lines, tree = script.splitlines(), ast.parse(script)
    blocks: list[list[int]] = []  # the lines of statements, from 0
    for s in tree.body:
        first, last = (
            min([s, *getattr(s, "decorator_list", [])], key=lambda n: n.lineno).lineno - 1,
            s.end_lineno or 0,
        )
        if blocks and first < blocks[-1][1]:  # several on a line
            blocks[-1][1] = last
        else:
            blocks.append([first, last])
    about = ast.get_docstring(tree)
    out, at = [f"# {line}" for line in (about or "").splitlines()], blocks.pop(0)[1] if about else 0
    for first, last in [*blocks, [len(lines), len(lines)]]:
        out += [line for line in lines[at:first] if line.startswith("#")]
        out += ["\n".join(lines[first:last])] * (first < last)
        at = last
    return "".join(f"{mark}{line}".rstrip() + "\n" for text in out for mark, line in _prompts(text))


def _importer(engine: str) -> Callable[..., Any]:
    """Make an ``__import__`` under which ``torch`` and ``torch.x`` mean `engine` and ``engine.x``."""

    def swapped(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "torch":
            name = engine + name[len("torch") :]
        return builtins.__import__(name, *rest)

    return swapped


def _namespace(engine: str) -> dict[str, Any]:
    names = dict(vars(builtins))
    if engine != "torch":
        names["__import__"] = _importer(engine)
    return {"__name__": "__main__", "__builtins__": names}


@contextlib.contextmanager
def _fresh_state(torch: ModuleType) -> Iterator[None]:
    """Warnings that come once per process come in every program; what a program sets ends with it."""
    always = getattr(torch, "is_warn_always_enabled", None)
    before = always() if always else False
    if always:
        torch.set_warn_always(True)
    try:
        with torch.enable_grad():
            yield
    finally:
        if always:
            torch.set_warn_always(before)


@contextlib.contextmanager
def _cuda_on_cpu(torch: ModuleType) -> Iterator[None]:
    """PyTorch prints ``device=`` for a CPU tensor as well, in the place it has for a GPU's."""
    real = torch._C._get_default_device
    torch._C._get_default_device = lambda: "cuda"
    try:
        yield
    finally:
        torch._C._get_default_device = real


def transcript(program: Path, engine: str = "torch", source: str | None = None) -> str:
    """Give what a reader sees who types the statements of `program` where ``torch`` is the module named `engine`.

    source: the program's text, if it is not stored yet.

    Programs in ``cuda/`` under "torch" give the text that is deduced from a run on the CPU, see cuda/README.md.
    """
    if source is None:
        source = program.read_text(encoding="utf-8")
    deduce = program.parent == SIMULATED and engine == "torch"
    torch = importlib.import_module(engine)
    out = io.StringIO()
    names = _namespace(engine)

    def note(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        print(f"{category.__name__}: {_TRIGGERED.sub('', str(message))}", file=out)

    with contextlib.ExitStack() as stack:
        stack.enter_context(_fresh_state(torch))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("always")
        # Python 3.12 says so of a line in PyTorch's own code, for generators under a grad mode.
        warnings.filterwarnings(
            "ignore", r"the \(type, exc, tb\) signature of throw", DeprecationWarning
        )
        warnings.showwarning = note
        if deduce:
            stack.enter_context(_cuda_on_cpu(torch))
        for line, text in statements(source):
            print("\n".join((mark + line).rstrip() for mark, line in _prompts(text)), file=out)
            if deduce and _ON_GPU in text:
                print(text.partition(_ON_GPU)[2].splitlines()[0], file=out)
                continue
            start = out.tell()
            for statement in ast.parse("\n" * (line - 1) + text, str(program)).body:
                _run(
                    _OnCpu().visit(statement) if deduce else statement,
                    str(program),
                    names,
                    out,
                    type_only=_TYPE_ONLY in text or _ON_GPU in text,
                )
            out.seek(start)
            said = out.read()
            if _ADDRESS.search(said):
                print(
                    f"{program.name}, line {line}: it prints an address, another one in each run: {said}",
                    file=sys.stderr,
                )
            if deduce:
                out.seek(start)
                out.truncate()
                out.write(_on_gpu(said, on_cpu=_ON_CPU in text))
    return out.getvalue()


def _prompts(text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines()):
        yield ("... " if number else ">>> "), line


def _run(
    statement: ast.stmt, name: str, names: dict[str, Any], out: io.StringIO, *, type_only: bool
) -> None:
    try:
        if isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), name, "eval"), names)
            shown = repr(value)
            if _ADDRESS.search(shown):
                where = f"{Path(name).name}, line {statement.lineno}"
                print(
                    f"{where}: its echo is left out, as it shows an address: {shown}",
                    file=sys.stderr,
                )
            elif value is not None:
                print(shown, file=out)
        else:
            exec(compile(ast.Module([statement], []), name, "exec"), names)
    except Exception as error:  # noqa: BLE001 - whatever it is, the reader sees it
        print(type(error).__name__ + ("" if type_only else f": {error}"), file=out)


class _OnCpu(ast.NodeTransformer):
    """``"cuda"`` and ``"cuda:0"`` become ``"cpu"``; nothing else changes."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if node.value in ("cuda", "cuda:0"):
            return ast.copy_location(ast.Constant("cpu"), node)
        return node


def _on_gpu(said: str, *, on_cpu: bool) -> str:
    """Turn a CPU run's text, made with ``device='cpu'`` in every repr, into what a GPU run prints."""
    if on_cpu:
        return said.replace(", device='cpu'", "")
    said = said.replace(", device='cpu'", ", device='cuda:0'")
    return said.replace("device(type='cpu')", "device(type='cuda', index=0)")


def differences(expected: str, got: str) -> str:
    """Give a unified diff, empty if the two transcripts are the same."""
    if sys.version_info >= (3, 12):
        expected, got = _without_brackets(expected), _without_brackets(got)
    return "\n".join(
        difflib.unified_diff(
            expected.splitlines(), got.splitlines(), "stored", "got", lineterm="", n=4
        )
    )


def change_file(program: Path, release: Release) -> Path:
    """Name the file that holds what a release prints otherwise than 2.13."""
    return program.with_suffix(f".{release[0]}.{release[1]}.diff")


def release_of(change: Path) -> Release:
    """Read off the name of a change file from which release on it holds."""
    return read_release(change.suffixes[-3].lstrip(".") + change.suffixes[-2])


def stored_change(program: Path, release: Release) -> str:
    """Give what `release` is known to print otherwise than 2.13; empty where it prints the same."""
    changes = {release_of(path): path for path in program.parent.glob(f"{program.stem}.*.*.diff")}
    known = [since for since in changes if FOLLOWED < since <= release]
    return changes[max(known)].read_text(encoding="utf-8") if known else ""


def change(stored: str, got: str) -> str:
    """Give what is printed otherwise, as it is stored: without line numbers, which move when a program grows."""
    lines = differences(stored, got).splitlines()[2:]
    return "".join("@@\n" if line.startswith("@@") else f"{line}\n" for line in lines)


def store_change(program: Path, release: Release, text: str) -> Path | None:
    """Store what a release printed where that is news, and say in which file."""
    path = change_file(program, release)
    new, old = change(program.read_text(encoding="utf-8"), text), stored_change(program, release)
    if new == old:
        return None
    path.write_text(new, encoding="utf-8", newline="\n")
    return path


def _without_brackets(text: str) -> str:
    """Outputs that show an OrderedDict without brackets: Python 3.12 writes it as a dict, 3.11 as a list of pairs."""
    lines, inside = [], False
    for line in text.splitlines():
        inside = not line.startswith((">>> ", "... ")) and (inside or "OrderedDict(" in line)
        lines.append(re.sub(r"[()\[\]{}]", "", line).replace("': ", "', ") if inside else line)
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Write or print transcripts; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "-k", default="", metavar="TEXT", help="only programs whose path holds TEXT"
    )
    parser.add_argument(
        "--engine", default="torch", help="the module to run them on; only torch's runs are stored"
    )
    parser.add_argument(
        "--print", action="store_true", dest="show", help="print the transcripts, store nothing"
    )
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args(argv)
    chosen = [f.resolve() for f in options.files] or programs(options.k)
    for given in chosen:
        program, stored = given.with_suffix(".out"), given.read_text(encoding="utf-8")
        is_script = given != program
        text = transcript(program, options.engine, typed(stored) if is_script else stored)
        if options.show:
            print(f"----- {program.name}\n{text}", end="")
            continue
        if options.engine != "torch":
            parser.error("stored transcripts are torch's; use --print with another engine")
        if installed_release() != FOLLOWED:
            if is_script:
                parser.error("a new program is stored as PyTorch {}.{} prints it".format(*FOLLOWED))
            if path := store_change(program, installed_release(), text):
                print(f"wrote {path.relative_to(HERE)}")
        elif is_script or stored != text:
            program.write_text(text, encoding="utf-8", newline="\n")
            print(f"wrote {program.relative_to(HERE)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
