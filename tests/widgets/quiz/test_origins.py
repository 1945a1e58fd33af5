"""Why tensors have something in common, or a number of things is what it is: the line is named, and is the right one."""

from __future__ import annotations

from types import ModuleType

import pytest
from copylab.questions import count, names_showing, same_counter, same_storage, same_tensor, version
from copylab.quiz.question import Question
from copylab.quiz.runs import QuizRun

VIEWS = "a = torch.ones(2)\nz = torch.ones(2)\nb = z[:1]"
FUNCTION = "def f(x):\n    y = x.clone()\n    return y\na = torch.ones(2)\nb = f(a)"
SET = "a = torch.ones(2)\nz = torch.ones(2)\nz.set_(a)"
BOTH = "a = b = torch.ones(2)"
EACH = "a, b = torch.ones(2), torch.ones(2)"
ROWS = "m = torch.ones(2, 2)\na, b = m.unbind()"
GRAD = "p = torch.ones(2, requires_grad=True)\n(p * p).sum().backward()\ng = p.grad"
REBOUND = "w = torch.ones(2)\nbest = w\nw = w + 1\nw += 1"
LOOP = "w = torch.ones(2)\nfor i in range(3):\n    w = w * 2\n    v = w[0]"


@pytest.mark.parametrize(
    ("code", "question", "reason"),
    [
        (VIEWS, same_tensor("a", "b"), "Line 3 (`b = z[:1]`) tied `b` to another tensor."),
        (VIEWS, same_storage("b", "z"), "Line 3 (`b = z[:1]`) gave `b` the storage of `z`."),
        (
            VIEWS,
            same_counter("z", "b"),
            "Line 3 (`b = z[:1]`) gave `b` the version counter of `z`.",
        ),
        # `b` did not get it with its line: it was that of `z`.
        (
            VIEWS,
            same_storage("a", "b"),
            "The storage of `b` came with line 2 (`z = torch.ones(2)`).",
        ),
        (VIEWS, count("storages"), "No storage was added by line 3 (`b = z[:1]`)."),
        (
            "x = torch.ones(3)\ny = x\nz = x[1:]",
            count("storages"),
            "These lines added no storage: line 2 (`y = x`) and line 3 (`z = x[1:]`).",
        ),
        (VIEWS, count("tensors"), "3 tensors: `a` (line 1); `z` (line 2); `b` (line 3)."),
        (
            FUNCTION,
            same_storage("a", "b"),
            "The storage of `b` came with line 2 (`y = x.clone()`).",
        ),
        # Line 5 has called line 2, which did add one.
        (FUNCTION, count("storages"), "2 storages: that of `a` (line 4); that of `b` (line 2)."),
        (SET, same_storage("a", "z"), "Line 3 (`z.set_(a)`) gave `z` the storage of `a`."),
        (
            SET,
            same_counter("a", "z"),
            "Line 2 (`z = torch.ones(2)`) gave `z` its own version counter.",
        ),
        (BOTH, same_tensor("a", "b"), f"Line 1 (`{BOTH}`) tied both names to one tensor."),
        (BOTH, same_storage("a", "b"), f"Line 1 (`{BOTH}`) gave both one storage."),
        (BOTH, count("names"), "2 names: `a` (line 1); `b` (line 1)."),
        (EACH, same_tensor("a", "b"), f"Line 1 (`{EACH}`) tied each name to its own tensor."),
        (EACH, same_storage("a", "b"), f"Line 1 (`{EACH}`) gave each its own storage."),
        (EACH, same_counter("a", "b"), f"Line 1 (`{EACH}`) gave each its own version counter."),
        (
            ROWS,
            same_counter("a", "b"),
            "Line 2 (`a, b = m.unbind()`) gave both one version counter.",
        ),
        (
            GRAD,
            same_storage("p", "g"),
            "The storage of `g` came with line 2 (`(p * p).sum().backward()`).",
        ),
        (
            REBOUND,
            same_tensor("w", "best", at=2),
            "Line 2 (`best = w`) tied `best` to the tensor of `w`.",
        ),
        (REBOUND, same_tensor("w", "best"), "Line 3 (`w = w + 1`) tied `w` to another tensor."),
        (REBOUND, same_storage("w", "best"), "Line 3 (`w = w + 1`) gave `w` its own storage."),
        (REBOUND, count("counters"), "No version counter was added by line 2 (`best = w`)."),
        (REBOUND, version("w"), "From line 3 (`w = w + 1`) on, `w` is another tensor."),
        (REBOUND, version("best"), "No write was counted for `best` since."),
        (REBOUND, names_showing(3, "w", "best"), "The 3 came with line 4 (`w += 1`)."),
        (REBOUND, names_showing(9, "w", "best"), "`best` is [1, 1]."),
        (LOOP, version("v"), "The version counter of `v` counts for `w` as well."),
        ("n = 3", count("storages"), "There are none."),
        ("x = torch.ones(2)\nn = 3", count("names"), "1 name: `x` (line 1)."),
    ],
)
def test_the_line_is_named(code: str, question: Question, reason: str, engine: ModuleType) -> None:
    assert question.bind(code).describe_facts(QuizRun(code, engine)).endswith(reason)


def test_a_new_tensor_in_each_round_was_not_written_to(engine: ModuleType) -> None:
    """Its version is 0 in each, but it is another tensor: nobody has counted writes into one."""
    assert "No write" not in version("v").bind(LOOP).describe_facts(QuizRun(LOOP, engine))


def test_of_what_has_no_counter_no_line_is_named(engine: ModuleType) -> None:
    code = "with torch.inference_mode():\n    x = torch.zeros(2)\n    y = x[0]"
    run = QuizRun(code, engine)
    assert "line 3" not in same_counter("x", "y").bind(code).describe_facts(run).casefold()
    assert "line 3" in same_storage("x", "y").bind(code).describe_facts(run).casefold()
    assert count("counters").bind(code).describe_facts(run) == "There are none."
