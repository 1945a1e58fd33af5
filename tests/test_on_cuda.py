"""tools/on_cuda.py runs where no GPU is: CPU against CPU; and it notices what differs."""

import pytest

pytest.importorskip("torch")
import on_cuda
import torch


def test_the_cpu_says_what_the_cpu_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = list(on_cuda.read_programs())
    monkeypatch.setattr(on_cuda, "read_programs", lambda: programs[:3])
    monkeypatch.setattr(on_cuda, "SIZES", ((8, 4),))
    assert on_cuda.main(["--device", "cpu", "--rounds", "1"]) == 0
    compared, *_, timed = capsys.readouterr().out.splitlines()
    assert compared.startswith("3 programs, ")
    assert compared.endswith(" texts compared on cpu, 0 differ.")
    assert ", ratio " in timed
    # The comparison would say the same of nothing.
    assert len(programs) > 40
    said = [on_cuda.run_program(program, "cpu") for program in programs[:6]]
    assert sum("written  <" in texts["watch"] for texts in said) > 2
    assert sum("saved" in texts.get("explain", "") for texts in said) > 2
    assert {"explain", "memory", "shared"} < set(said[0])
    assert said[1]["error"].startswith("RuntimeError: one of the variables")


def test_another_text_is_a_difference(capsys: pytest.CaptureFixture[str]) -> None:
    assert on_cuda.compare("p", {"watch": "a", "explain": "b"}, {"watch": "a"}) == 1
    assert "DIFFERS  p: explain" in capsys.readouterr().out
    text = "S1, on cuda:0.\n  cells: 1, 2\n  all cells: min 1\n[torch.cuda.FloatTensor [3]] is cuda"
    same = "S1, on cpu.\n[torch.FloatTensor [3]] is cpu"
    assert on_cuda.remove_device(text, "cuda") == same
    assert on_cuda.remove_device("cuda:0", "cpu") == "cuda:0"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_that_it_was_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert on_cuda.main([]) == on_cuda.NOT_RUN == 77
    assert capsys.readouterr().out == "Not run: PyTorch finds no GPU here.\n"
