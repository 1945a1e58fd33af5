"""What the tests of all rooms may use."""

from pathlib import Path

import pytest
from kernels import kernel as kernel  # noqa: PLC0414  # a fixture


@pytest.fixture
def progress_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of its own that progress is kept in, and is not there yet."""
    monkeypatch.setenv("COPYLAB_PROGRESS", str(tmp_path / "kept.json"))
    return tmp_path / "kept.json"
