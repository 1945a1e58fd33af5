"""Spelling of what people read: prose, docstrings and comments.

    python tools/spelling.py             says what is misspelt, and ends with 1 if anything is

codespell knows common misspellings of English words. Those that it should leave alone are in
pyproject.toml; for one line, write `codespell:ignore WORD` in a comment on it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from project_files import ROOT, project_files, read_notebook

KINDS = {".cfg", ".css", ".js", ".md", ".mjs", ".py", ".toml", ".txt"}
AS_THEY_WRITE = "tests/programs"
"""Programs as people write them."""


def list_readable_files(root: Path) -> list[Path]:
    """Return the files that codespell can read as they are, by their path from the top folder."""
    files = []
    for path in project_files(root):
        name = path.relative_to(root)
        if path.suffix in KINDS and not name.as_posix().startswith(AS_THEY_WRITE):
            files.append(name)
    return files


def write_notebook_texts(root: Path, folder: Path) -> list[Path]:
    """Write the cells of each notebook into a text file, and return those files.

    Without outputs: what a run prints is PyTorch's, and images are no words.
    """
    files = []
    for notebook in project_files(root):
        if notebook.suffix != ".ipynb":
            continue
        text = "\n\n".join("".join(cell["source"]) for cell in read_notebook(notebook)["cells"])
        target = folder / notebook.relative_to(root).with_suffix(".ipynb.txt")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text + "\n", encoding="utf-8")
        files.append(target)
    return files


def find_misspellings(root: Path = ROOT) -> list[str]:
    """Return a line for each misspelt word: the file, the line, the word, what may be meant."""
    with tempfile.TemporaryDirectory() as folder:
        files = [
            *map(str, list_readable_files(root)),
            *map(str, write_notebook_texts(root, Path(folder))),
        ]
        # Without its remarks about encodings (1), binary files (2) and configuration (32).
        command = [sys.executable, "-m", "codespell_lib", "--quiet-level=35", "--check-hidden"]
        command += ["--toml", str(ROOT / "pyproject.toml"), *files]
        run = subprocess.run(
            command, cwd=root, capture_output=True, text=True, encoding="utf-8", check=False
        )
        # It ends with the number of misspellings, up to 255; 64 and more may also be an error of
        # its own.
        if run.returncode and not run.stdout:
            raise RuntimeError(f"codespell did not run: {run.stderr.strip()}")
        return [line.replace(folder, "").lstrip("/\\") for line in run.stdout.splitlines()]


if __name__ == "__main__":
    found = find_misspellings()
    print("\n".join(found) or "no misspelt word")
    sys.exit(bool(found))
