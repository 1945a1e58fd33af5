"""What a player says of copies, gradients and errors is so; what a file cannot have is refused."""

from pathlib import Path
from typing import Any

import pytest
from copylab import Steps, steps

IMPORT = "import tinytorch as torch\n"


def say(code: str, **options: Any) -> str:
    player: Steps = steps(IMPORT + code, **options)
    return player.text


def test_a_module_with_a_line_of_the_same_number_says_nothing_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "\n\n\ndef go(v):\n    l = (v * v).sum(); v.data.mul_(5)\n    l.backward()\n"
    (tmp_path / "module_of_six_lines.py").write_text(module, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    said = say(
        "import module_of_six_lines as other; v = torch.tensor([7., 7.], requires_grad=True)\n"
        "w = torch.ones(2, requires_grad=True)\n"
        "l = (w * w).sum()\n"
        "other.go(v); w.data.mul_(3)\n"
        "l.backward()"
    )
    assert "The gradient of v" not in said


def test_a_copy_is_said_of_a_copy_alone() -> None:
    inside = "x = torch.ones(2, 3)\ny = torch.ones(6)\ndef f(x):\n    y = x.reshape(6)\n    return y\nf(x)"
    assert "Copied" not in say(inside)
    assert "Copied: x.t() cannot be viewed with shape (6,)." in say(
        "x = torch.ones(2, 3)\ny = x.t().reshape(6)"
    )


def test_a_gradient_is_of_a_tensor() -> None:
    loss = "w = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\n"
    assert "The gradient of" not in say(loss + "torch.autograd.backward(loss)")
    trainer = "class Trainer:\n    def backward(self, loss):\n        loss.backward()\n"
    assert "The gradient of Trainer()" not in say(trainer + loss + "Trainer().backward(loss)")
    assert "The gradient of loss reached w." in say(loss + "loss.backward()")
    assert "The gradient of (w * w).sum() reached w." in say(loss + "(w * w).sum().backward()")


def test_an_error_that_does_not_come_is_no_alarm() -> None:
    write = "x = torch.ones(2, requires_grad=True)\ny = x.exp()\ny.add_(1)\n"
    assert "An error is coming" not in steps(IMPORT + write + "print(y)").html
    assert "An error is coming" in steps(IMPORT + write + "y.sum().backward()").html


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("a.gif", {"theme": "nonsense"}, "theme must be"),
        ("a.html", {"theme": "dark"}, "follows the theme of its reader"),
        ("a.gif", {"step": 1}, "has all steps"),
        ("a.svg", {"step": 1.0}, "no step 1.0"),
        ("a.svg", {"step": 9}, "no step 9: they are 1 to 2"),
    ],
)
def test_what_a_file_cannot_have_is_refused(
    name: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        steps(IMPORT + "x = torch.ones(2)").save(tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_no_steps_are_no_drawing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there are no steps to draw"):
        steps("# nothing").save(tmp_path / "a.gif")
