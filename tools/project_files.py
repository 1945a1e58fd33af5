"""The project's own files, and what people read of a notebook."""

import json
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# What tools, environments and learners leave in a checkout.
_NOT_OURS = {
    ".git",
    ".hypothesis",
    ".venv",
    "course",
    "build",
    "dist",
    "node_modules",
    "test-results",
}
_TEXT = {
    ".py",
    ".md",
    ".toml",
    ".cfg",
    ".ipynb",
    ".js",
    ".mjs",
    ".css",
    ".json",
    ".txt",
    ".out",
    ".svg",
    "",
}


def project_files(root: Path = ROOT) -> Iterator[Path]:
    """Yield the project's own text files: not what tools and environments leave behind."""
    for path in sorted(root.iterdir()):
        if path.name in _NOT_OURS or path.name.endswith(
            ("_cache", "__pycache__", ".egg-info", "_checkpoints")
        ):
            continue
        if path.is_dir():
            yield from project_files(path)
        elif path.suffix in _TEXT and path.name != ".git":
            yield path


def read_notebook(path: Path) -> dict:
    """Return a notebook as the plain data of its file."""
    notebook: dict = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def read_prose(path: Path) -> str:
    """Return the text of the Markdown cells of a notebook."""
    cells = read_notebook(path)["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


# Docstrings
