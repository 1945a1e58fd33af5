"""What each copy method does, found by running it: under both engines, against what PyTorch 2.13 was seen to do."""

import io
import itertools
import subprocess
import sys
from contextlib import nullcontext, redirect_stdout
from types import ModuleType

import pytest
from copylab.copying.fact import QUESTIONS, Facts, _ask_all, facts
from copylab.copying.methods import METHODS, Method
from copylab.copying.sources import Source

import tinytorch

SOURCES = (
    Source("leaf", (2, 3)),
    Source("result", (2, 3)),
    Source("plain", (2, 3)),
    Source("leaf", (2, 3), transposed=True),
)

# One letter for each yes: same tensor, storage, counter; y sees a write through x, x one through y; requires grad,
# leaf, gradient returns to x; strides and dtype kept. Then grad_fn, and what backward gives after a write through y.
LETTERS = {
    "same_tensor": "T",
    "same_storage": "S",
    "same_counter": "C",
    "y_sees_x": "w",
    "x_sees_y": "W",
    "requires_grad": "R",
    "leaf": "L",
    "gradient_returns": "G",
    "strides": "s",
    "dtype": "d",
}

# Written down from runs of PyTorch 2.13.0, in the order of SOURCES.
TORCH = {
    "=": (
        "TSCwWRLGsd None error",
        "TSCwWR-Gsd MulBackward0 error",
        "TSCwW-L-sd None none",
        "TSCwWRLGsd None error",
    ),
    "clone": (
        "-----R-Gsd CloneBackward0 right",
        "-----R-Gsd CloneBackward0 right",
        "------L-sd None none",
        "-----R-Gsd CloneBackward0 right",
    ),
    "detach": (
        "-SCwW-L-sd None error",
        "-SCwW-L-sd None error",
        "-SCwW-L-sd None none",
        "-SCwW-L-sd None error",
    ),
    ".data": (
        "-S-wW-L-sd None wrong",
        "-S-wW-L-sd None wrong",
        "-S-wW-L-sd None none",
        "-S-wW-L-sd None wrong",
    ),
    "detach().clone()": (
        "------L-sd None right",
        "------L-sd None right",
        "------L-sd None none",
        "------L-sd None right",
    ),
    "clone().detach()": (
        "------L-sd None right",
        "------L-sd None right",
        "------L-sd None none",
        "------L-sd None right",
    ),
    "copy_": (
        "-----R-Gsd CopyBackwards right",
        "-----R-Gsd CopyBackwards right",
        "------L-sd None none",
        "-----R-Gsd CopyBackwards right",
    ),
    "torch.tensor": (
        "------L-sd None right warns",
        "------L-sd None right warns",
        "------L-sd None none warns",
        "------L-sd None right warns",
    ),
    "new_tensor": (
        "------L-sd None right warns",
        "------L-sd None right warns",
        "------L-sd None none warns",
        "------L-sd None right warns",
    ),
    "view": (
        "-SCwWR-G-d ViewBackward0 error",
        "-SCwWR-G-d ViewBackward0 error",
        "-SCwW-L--d None none",
        "raises",
    ),
    "reshape": (
        "-SCwWR-G-d ViewBackward0 error",
        "-SCwWR-G-d ViewBackward0 error",
        "-SCwW-L--d None none",
        "-----R-G-d UnsafeViewBackward0 right",
    ),
    "to": (
        "TSCwWRLGsd None error",
        "TSCwWR-Gsd MulBackward0 error",
        "TSCwW-L-sd None none",
        "TSCwWRLGsd None error",
    ),
    "to(float64)": (
        "-----R-Gs- ToCopyBackward0 right",
        "-----R-Gs- ToCopyBackward0 right",
        "------L-s- None none",
        "-----R-Gs- ToCopyBackward0 right",
    ),
    "to(copy=True)": (
        "-----R-Gsd ToCopyBackward0 right",
        "-----R-Gsd ToCopyBackward0 right",
        "------L-sd None none",
        "-----R-Gsd ToCopyBackward0 right",
    ),
    "as_tensor": (
        "TSCwWRLGsd None error",
        "TSCwWR-Gsd MulBackward0 error",
        "TSCwW-L-sd None none",
        "TSCwWRLGsd None error",
    ),
    "from_numpy": (
        "-S-wW-L-sd None wrong",
        "-S-wW-L-sd None wrong",
        "-S-wW-L-sd None none",
        "-S-wW-L-sd None wrong",
    ),
    "deepcopy": (
        "-----RL-sd None right",
        "raises",
        "------L-sd None none",
        "-----RL-sd None right",
    ),
    "copy.copy": (
        "-S-wWRL-sd None wrong",
        "-S-wWRL-sd None wrong",
        "-S-wW-L-sd None none",
        "-S-wWRL-sd None wrong",
    ),
    "contiguous": (
        "TSCwWRLGsd None error",
        "TSCwWR-Gsd MulBackward0 error",
        "TSCwW-L-sd None none",
        "-----R-G-d CloneBackward0 right",
    ),
    "x[:]": (
        "-SCwWR-Gsd SliceBackward0 error",
        "-SCwWR-Gsd SliceBackward0 error",
        "-SCwW-L-sd None none",
        "-SCwWR-Gsd SliceBackward0 error",
    ),
    "x[[...]]": (
        "-----R-Gsd IndexBackward0 right",
        "-----R-Gsd IndexBackward0 right",
        "------L-sd None none",
        "-----R-G-d IndexBackward0 right",
    ),
}


def short(found: Facts) -> str:
    """The answers in one line."""
    if found["raises"].answer:
        return "raises"
    letters = "".join(
        letter if found[key].answer is True else "-" for key, letter in LETTERS.items()
    )
    after = (str(found["after_write"].answer or "none")).partition(",")[0].split()[-1]
    return f"{letters} {found['grad_fn'].answer} {after}" + (
        " warns" if found["warns"].answer else ""
    )


def test_against_torch(engine: ModuleType) -> None:
    # A method that is not in TORCH is compared with PyTorch's own runs, below.
    assert {*TORCH} <= {*METHODS}
    for name, rows in TORCH.items():
        for source, row in zip(SOURCES, rows, strict=True):
            assert short(facts(name, source, engine)) == row, (name, source)


@pytest.mark.torch
def test_both_engines_say_the_same() -> None:
    torch = pytest.importorskip("torch")
    made = [
        *SOURCES,
        *itertools.starmap(
            Source, [("result", (2, 3), "float64", True), ("leaf", ()), ("plain", (3,), "bool")]
        ),
        Source("plain", (3, 2), "int64", transposed=True),
        Source("plain", (0, 3)),
        Source.of(torch.arange(12.0).view(3, 4)[:, 1::2]),
        Source.of(torch.arange(3.0).requires_grad_().unsqueeze(1).expand(3, 2)),
        Source.of(torch.tensor([float("nan"), 7.0], requires_grad=True)),
        Source("leaf", (60, 60)),
    ]
    for name, source in itertools.product(METHODS, made):
        ours, theirs = facts(name, source, tinytorch), facts(name, source, torch)
        assert ours.all == theirs.all, (name, source)


def test_a_proof_proves_its_answer(engine: ModuleType) -> None:
    """Each program stands alone: run as a script it prints what the fact says."""
    seen = 0
    for name, source in itertools.product(METHODS, SOURCES):
        for fact in facts(name, source, engine).values():
            if fact.why:
                assert fact.answer is None
                continue
            out = io.StringIO()
            with redirect_stdout(out), pytest.warns() if _warns(fact.proof) else nullcontext():
                exec(
                    fact.proof.replace("import torch\n", ""),
                    {"torch": engine, "__name__": "__main__"},
                )
            assert out.getvalue().rstrip("\n") == fact.output, fact.proof
            assert str(fact.answer) == fact.output
            seen += 1
    assert seen > 1000


def _warns(proof: str) -> bool:
    return "catch_warnings" not in proof and any(
        call in proof for call in ("= torch.tensor(x)", "new_tensor(x)")
    )


def test_words() -> None:
    found = facts("clone", engine=tinytorch)
    assert repr(found) == "Facts('clone', leaf of shape (3,), 17 facts)"
    assert found["same_storage"].words == "no"
    assert found["grad_fn"].words == "CloneBackward0"
    assert found["copied"].words == "12 bytes"
    assert found["warns"].words == found["raises"].words == "no"
    assert facts("detach", engine=tinytorch)["grad_fn"].words == "none"
    assert facts("detach", "plain", tinytorch)["gradient_returns"].words == "-"
    assert facts("detach", "plain", tinytorch)["gradient_returns"].why == "x requires no grad"
    assert set(found) == {question.key for question in QUESTIONS}
    assert found.answers["leaf"] is False
    with pytest.raises(KeyError):
        _ = found["colour"]


def test_a_copy_that_cannot_be_made(engine: ModuleType) -> None:
    found = facts("deepcopy", "result", engine)
    assert str(found["raises"].answer).startswith(
        "RuntimeError: Only Tensors created explicitly by the user"
    )
    assert all(fact.why for key, fact in found.items() if key != "raises")
    assert found["leaf"].words == "-"
    own = Method("half", "y = x.half_way()")
    assert "AttributeError" in str(facts(own, engine=engine)["raises"].answer)
    assert "NameError" in facts(Method("none", "z = x"), engine=engine)["leaf"].why


def test_facts_as_they_are_after_more_lines(engine: ModuleType) -> None:
    assert facts("detach", engine=engine)["requires_grad"].answer is False
    later = facts("detach", engine=engine, then=["y.requires_grad_()"])
    assert later["requires_grad"].answer is True
    assert "y.requires_grad_()\n" in later["requires_grad"].proof
    assert facts("clone", engine=engine, then=["y[0] = 7"])["grad_fn"].answer == "CopySlices"
    assert "RuntimeError" in facts("clone", engine=engine, then=["x.add_(1)"])["leaf"].why


def test_own_methods(engine: ModuleType) -> None:
    tail = facts(Method("tail", "y = x[1:]"), engine=engine)
    assert tail["same_storage"].answer is True
    assert tail["x_sees_y"].answer is True
    assert tail["shape"].answer is False
    assert tail["strides"].answer is None
    numbers = (
        tinytorch.arange(4.0) if engine is tinytorch else pytest.importorskip("torch").arange(4.0)
    )
    assert facts("from_numpy", numbers[1:], engine)["same_storage"].answer is True, (
        "other storage object, same memory"
    )
    assert facts("deepcopy", numbers[1:], engine)["copied"].answer == 16, (
        "the whole storage is copied"
    )


def test_the_engine_of_a_caller_without_torch() -> None:
    assert facts("clone").engine == "tinytorch"


@pytest.mark.torch
def test_the_engine_of_the_caller() -> None:
    torch = pytest.importorskip("torch")
    names = {"torch": torch, "facts": facts}
    assert eval("facts('clone').engine", names) == "torch"


def test_around_the_call_anything_may_hold(engine: ModuleType) -> None:
    _ask_all.cache_clear()
    x = engine.tensor([1.0, 2.0], requires_grad=True)
    with engine.no_grad():
        assert facts("clone", x, engine)["requires_grad"].answer is True
        assert not engine.is_grad_enabled()
    assert (x._version, x.grad, x.tolist()) == (0, None, [1.0, 2.0])


def test_a_module_does_not_take_the_place_of_its_function() -> None:
    program = "import copylab.copying.fact, copylab; from copylab import facts; print(facts('clone')); print(copylab.facts)"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.startswith(
        "Facts('clone', leaf of shape (3,), 17 facts)\n<function facts at "
    )
