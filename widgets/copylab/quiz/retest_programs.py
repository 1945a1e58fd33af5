"""Small programs that test one misconception each: the retests of a row that was got wrong.

A retest is run twice: as it is, and with one line replaced by what somebody with the misconception
believes that it does. The first run gives the right answer to its question, the second the wrong
one, so neither is stored. Names, numbers and shapes are drawn, see `retests.py`:

    x y z    names              V W    the numbers of two vectors of one length, N
    S T U    numbers            M      those of a matrix of R rows and C columns, P numbers in all
    K        a larger number    I      an index of a vector

Each of these placeholders is replaced wherever it stands alone, so no program has `x.T`. Nor has it
a call that is new to those who answer it: `tests/widgets/quiz/test_retest_calls.py` reads from the
lessons which calls these know, and names each that they do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from ..wording import gettext, gettext_noop
from . import ready_questions as ask
from .question import Features, Question
from .runs import QuizRun


@dataclass(frozen=True)
class RetestProgram:
    """A program of a few lines, and what somebody with the misconception believes that it does.

        RetestProgram("x = torch.tensor(V); y = x; y[I] = K", {2: "y = x.clone()"}, ask.value, "x")

    code: its lines, separated by "; ".
    line: the number, from 1, of the one that is taken for another.
    believed: what that line is taken to do: a statement, or several with "; " between them, that do just
        that, in its place and on one line. "pass" where it is taken to do nothing.
    question: makes the question from names of the program, such as those in `copylab.questions`.
    subject: the names that it is about, each a placeholder or a name of the program. So no question
        about a line can be asked.

    `line` and `believed` are written as one entry, `{2: "y = x.clone()"}`; ValueError for more.
    """

    code: str
    line: int
    believed: str
    question: Callable[..., Question]
    subject: tuple[str, ...]

    def __init__(
        self,
        code: str,
        believed: Mapping[int, str],
        question: Callable[..., Question],
        *subject: str,
    ) -> None:
        if len(believed) != 1:
            raise ValueError(
                f"a retest program has one line that is taken for another, not {len(believed)}"
            )
        ((line, text),) = believed.items()
        # By hand, so that names can be listed without a bracket.
        for name, value in zip(
            ("code", "line", "believed", "question", "subject"),
            (code, line, text, question, subject),
            strict=True,
        ):
            # As a frozen class demands.
            object.__setattr__(self, name, value)


def _count_nodes(run: QuizRun, line: int) -> int:
    return len(run.snapshot(line).nodes)


def _describe_added_nodes(run: QuizRun) -> str:
    before, after = _count_nodes(run, 2), _count_nodes(run, 3)
    return gettext(
        "There are {before} nodes before line {line}, and {after} after it.",
        before=before,
        after=after,
        line=3,
    )


def _ask_added_nodes() -> Question:
    """Ask how many nodes line 3 adds to the graph, which leads to its last tensor."""
    return Question(
        lambda: gettext("How many nodes does line {line} add to the graph?", line=3),
        None,
        lambda run: _count_nodes(run, 3) - _count_nodes(run, 2),
        because=_describe_added_nodes,
        name="added nodes",
        features=Features(shows_graph=True),
        hint=gettext_noop("a number"),
    )


_X = "x = torch.tensor(V, requires_grad=True)"
_SCALAR = "x = torch.tensor(S, requires_grad=True)"
_MATRIX = "x = torch.tensor(M)"
_CUT_COPY = "y = x.detach().clone()"
_ask_tensors = partial(ask.count, "tensors")
_ask_leaves = partial(ask.names_that, "is_leaf")
_ask_gradients = partial(ask.names_that, "has_grad")
_ask_requires_grad = partial(ask.names_that, "requires_grad")
_ask_nodes = partial(ask.names_that, "on_graph")

RETEST_PROGRAMS: Mapping[str, tuple[RetestProgram, ...]] = {
    # The second tensor that is believed in may be a view as well as a copy, which no number and no version tells from
    # a second name: tensors are counted, or compared.
    "a name is a copy": (
        RetestProgram("x = torch.tensor(V); y = x; y[I] = K", {2: "y = x.clone()"}, _ask_tensors),
        RetestProgram(
            "x = torch.tensor(S); y = x; x += T", {2: "y = x.clone()"}, ask.same_tensor, "x", "y"
        ),
        RetestProgram(f"{_MATRIX}; y = x; z = y * T; y += S", {2: "y = x.clone()"}, _ask_tensors),
    ),
    # Believed: a second tensor of the same numbers is the first one.
    "equal numbers are one tensor": (
        RetestProgram(
            "x = torch.tensor(V); y = torch.tensor(V); y[I] = K", {2: "y = x"}, ask.value, "x"
        ),
        RetestProgram("x = torch.ones(N); y = torch.ones(N); x += T", {2: "y = x"}, ask.value, "y"),
        RetestProgram(f"{_MATRIX}; y = x.clone(); z = y", {2: "y = x"}, ask.same_tensor, "x", "z"),
    ),
    # A write in each direction, and a view of all cells, which looks most like a copy.
    "a view is a copy": (
        RetestProgram(
            "x = torch.tensor(V); y = x[1:]; y[0] = K", {2: "y = x[1:].clone()"}, ask.value, "x"
        ),
        RetestProgram(f"{_MATRIX}; y = x[1]; x *= T", {2: "y = x[1].clone()"}, ask.value, "y"),
        RetestProgram(
            "x = torch.tensor(V); y = x[:]; x[I] = K", {2: "y = x.clone()"}, ask.value, "y"
        ),
    ),
    # Of a vector with these numbers, the index is the offset, as is believed of a row.
    "an offset is an index": (
        RetestProgram(f"{_MATRIX}; y = x[1]; y[0] = K", {2: "y = x.view(P)[1]"}, ask.offset, "y"),
        RetestProgram(f"{_MATRIX}; y = x[1:]; y *= T", {2: "y = x.view(P)[1:]"}, ask.offset, "y"),
        RetestProgram(
            "x = torch.arange(P).view(R, C); y = x[1, 1]; x += 1",
            {2: "y = x.view(P)[1]"},
            ask.offset,
            "y",
        ),
    ),
    # Whatever else named the storage is gone in each: only the view keeps it.
    "a slice frees the rest": (
        RetestProgram("x = torch.tensor(V); x = x[:2]", {2: "x = x[:2].clone()"}, ask.cells, "x"),
        RetestProgram(f"{_MATRIX}; y = x[1]; del x", {2: "y = x[1].clone()"}, ask.cells, "y"),
        RetestProgram(
            f"{_MATRIX}; x = x[:, 1:].detach(); x += T",
            {2: "x = x[:, 1:].clone()"},
            ask.cells,
            "x",
        ),
    ),
    # By `.data` and `detach`: of views there is a misconception of its own, above.
    "another tensor, another memory": (
        RetestProgram(
            "x = torch.tensor(V); y = x.data; y[I] = K", {2: "y = x.data.clone()"}, ask.value, "x"
        ),
        RetestProgram(
            "x = torch.tensor(V); y = x.detach(); x += T",
            {2: "y = x.detach().clone()"},
            ask.value,
            "y",
        ),
        RetestProgram(
            f"{_MATRIX}; y = x.data[0]; y += T", {2: "y = x.data[0].clone()"}, ask.value, "x"
        ),
    ),
    # The reverse of the one above: a copy is taken for a second name, or for a view.
    "a copy shares memory": (
        RetestProgram("x = torch.tensor(V); y = x.clone(); x[I] = K", {2: "y = x"}, ask.value, "y"),
        RetestProgram("x = torch.tensor(V); y = x * 1; y += T", {2: "y = x[:]"}, ask.value, "x"),
        RetestProgram(
            f"{_MATRIX}; y = x.detach().clone(); x *= T", {2: "y = x.detach()"}, ask.value, "y"
        ),
    ),
    # Believed: it is computed again after the write. On one line, so that no line changes its
    # number.
    "a tensor is a formula": (
        RetestProgram(
            "x = torch.tensor(S); y = x * T; x += K", {3: "x += K; y = x * T"}, ask.value, "y"
        ),
        RetestProgram(
            "x = torch.tensor(V); y = x.sum(); x[I] = K",
            {3: "x[I] = K; y = x.sum()"},
            ask.value,
            "y",
        ),
        RetestProgram(
            "x, y = torch.tensor(S), torch.tensor(T); z = x + y; y *= U",
            {3: "y *= U; z = x + y"},
            ask.value,
            "z",
        ),
    ),
    # What is believed to prove it is in the program, and holds: the two ids differ.
    "id shows memory": (
        RetestProgram(
            "x = torch.tensor(V); y = x[:]; assert id(y) != id(x)",
            {2: "y = x[:].clone()"},
            ask.same_storage,
            "x",
            "y",
        ),
        RetestProgram(
            f"{_MATRIX}; y = x[1]; assert id(y) != id(x)",
            {2: "y = x[1].clone()"},
            ask.same_storage,
            "x",
            "y",
        ),
        RetestProgram(
            "x = torch.tensor(V); y = x.view(N, 1); assert id(y) != id(x); y[I] = K",
            {2: "y = x.view(N, 1).clone()"},
            ask.value,
            "x",
        ),
    ),
    # With `requires_grad_` where `backward` follows, which would raise otherwise and give no
    # answer.
    "clone cuts the graph": (
        RetestProgram(
            f"{_X}; y = x.clone(); (y * T).sum().backward()",
            {2: "y = x.detach().clone().requires_grad_()"},
            ask.gradient,
            "x",
        ),
        RetestProgram(
            f"{_SCALAR}; y = x.clone(); z = y * T", {2: "y = x.detach().clone()"}, ask.on_graph, "y"
        ),
        RetestProgram(
            f"{_X}; y = (x * T).clone(); z = y + 1",
            {2: "y = (x * T).detach().clone()"},
            ask.gets_gradient,
            "x",
            "y",
        ),
    ),
    # As above: a leaf that requires grad, where `backward` is called on what comes of it.
    "a clone is a leaf": (
        RetestProgram(
            f"{_X}; y = x.clone(); y.sum().backward()",
            {2: "y = x.detach().clone().requires_grad_()"},
            ask.is_leaf,
            "y",
        ),
        RetestProgram(
            f"{_SCALAR}; y = x.clone(); z = x.detach()",
            {2: "y = x.detach().clone()"},
            _ask_leaves,
            "x",
            "y",
            "z",
        ),
        RetestProgram(
            f"{_X}; y = x * T; z = y.clone()", {3: "z = y.detach().clone()"}, ask.is_leaf, "z"
        ),
    ),
    # Believed of whatever is computed, and true of what is recorded.
    "a leaf is not computed": (
        RetestProgram("x = torch.tensor(V); y = x * T; z = y + x", {1: _X}, ask.is_leaf, "z"),
        RetestProgram(
            f"{_SCALAR}; y = x.detach(); z = y * T", {2: "y = x * 1"}, _ask_leaves, "x", "y", "z"
        ),
        RetestProgram(f"{_X}; with torch.no_grad(): y = x * T", {2: "y = x * T"}, ask.is_leaf, "y"),
    ),
    # Made a leaf by force: nothing else that is computed is one and requires grad.
    "the last result is a leaf": (
        RetestProgram(
            f"{_X}; y = x * T; z = y.sum()",
            {3: "z = (x * T).sum().detach().requires_grad_()"},
            _ask_leaves,
            "x",
            "y",
            "z",
        ),
        RetestProgram(
            f"{_SCALAR}; y = x * x + x",
            {2: "y = (x * x + x).detach().requires_grad_()"},
            ask.is_leaf,
            "y",
        ),
        RetestProgram(
            f"{_X}; y = x * x; loss = y.sum()",
            {3: "loss = y.sum().detach().requires_grad_()"},
            _ask_leaves,
            "y",
            "loss",
        ),
    ),
    # Believed: all nodes behind it are made a second time, for the copy.
    "a clone copies the graph": (
        RetestProgram(
            f"{_X}; y = x * S + T; z = y.clone()",
            {3: "z = (x * S + T).clone()"},
            _ask_added_nodes,
        ),
        RetestProgram(
            f"{_X}; y = (x * x).sum(); z = y.clone()",
            {3: "z = (x * x).sum().clone()"},
            _ask_added_nodes,
        ),
        RetestProgram(
            f"{_SCALAR}; y = x.exp() * x; z = y.clone()",
            {3: "z = (x.exp() * x).clone()"},
            _ask_added_nodes,
        ),
    ),
    # Believed: the copy keeps its gradient, as after `retain_grad`. In the third: it keeps all of
    # it, and nothing goes on.
    "the copy has the gradient": (
        RetestProgram(
            f"{_X}; y = x.clone(); (y * T).sum().backward()",
            {2: "y = x.clone(); y.retain_grad()"},
            ask.gradient,
            "y",
        ),
        RetestProgram(
            f"{_SCALAR}; y = x * T; (y * y).backward()",
            {2: "y = x * T; y.retain_grad()"},
            ask.gradient,
            "y",
        ),
        RetestProgram(
            f"{_X}; y = x.clone(); y.sum().backward()",
            {2: "y = x.detach().clone().requires_grad_()"},
            _ask_gradients,
            "x",
            "y",
        ),
    ),
    # Believed: `retain_grad` does nothing to a result.
    "a result never has a grad": (
        RetestProgram(
            f"{_X}; y = x * T; y.retain_grad(); (y * S).sum().backward()",
            {3: "pass"},
            ask.gradient,
            "y",
        ),
        RetestProgram(
            f"{_SCALAR}; y = x.clone(); y.retain_grad(); (y * T).backward()",
            {3: "pass"},
            ask.gradient,
            "y",
        ),
        RetestProgram(
            f"{_X}; y = x + T; y.retain_grad(); y.sum().backward()",
            {3: "pass"},
            _ask_gradients,
            "x",
            "y",
        ),
    ),
    # Believed: what was there is gone before the second one adds its own.
    "backward overwrites": (
        RetestProgram(
            f"{_SCALAR}; (x * T).backward(); (x * U).backward()",
            {3: "x.grad = None; (x * U).backward()"},
            ask.gradient,
            "x",
        ),
        RetestProgram(
            f"{_X}; (x * T).sum().backward(); (x * T).sum().backward()",
            {3: "x.grad = None; (x * T).sum().backward()"},
            ask.gradient,
            "x",
        ),
        RetestProgram(
            f"{_SCALAR}; (x * x).backward(); (x + x).backward()",
            {3: "x.grad = None; (x + x).backward()"},
            ask.gradient,
            "x",
        ),
    ),
    # Believed: the line that computes the result calls `backward`, too.
    "the graph has the gradient": (
        RetestProgram(
            f"{_SCALAR}; y = x * T; z = y + 1", {3: "z = y + 1; z.backward()"}, ask.gradient, "x"
        ),
        RetestProgram(
            f"{_X}; y = x * T; z = y.sum()", {3: "z = y.sum(); z.backward()"}, ask.gradient, "x"
        ),
        RetestProgram(
            f"{_SCALAR}; y = x + T; z = y * U",
            {3: "z = y * U; z.backward()"},
            _ask_gradients,
            "x",
            "y",
        ),
    ),
    # A zero is put there by hand, or arrives by a product with 0: then it is a gradient.
    "no gradient is a zero": (
        RetestProgram(
            f"{_SCALAR}; y = x * T", {2: "y = x * T; x.grad = torch.tensor(0.0)"}, ask.gradient, "x"
        ),
        RetestProgram(
            f"{_SCALAR}; y = torch.tensor(T, requires_grad=True); (x * x).backward()",
            {3: "(x * x + y * 0).backward()"},
            ask.gradient,
            "y",
        ),
        RetestProgram(
            "x, y = torch.tensor(S, requires_grad=True), torch.tensor(T); z = x * y; z.backward()",
            {3: "z.backward(); y.grad = torch.tensor(0.0)"},
            ask.gradient,
            "y",
        ),
    ),
    # Believed: the gradient goes into the tensor itself. Past autograd, which refuses a write into
    # a leaf; through `detach` where the version is asked for, as `.data` would leave it.
    "backward changes its leaf": (
        RetestProgram(
            f"{_SCALAR}; y = x * T; y.backward()",
            {3: "y.backward(); x.data.copy_(x.grad)"},
            ask.value,
            "x",
        ),
        RetestProgram(
            f"{_X}; y = (x * T).sum(); y.backward()",
            {3: "y.backward(); x.detach().add_(x.grad)"},
            ask.version,
            "x",
        ),
        RetestProgram(
            f"{_X}; y = (x * x).sum(); y.backward()",
            {3: "y.backward(); x.data.sub_(x.grad)"},
            ask.value,
            "x",
        ),
    ),
    # Believed: it is off wherever nobody has asked for it.
    "grad is not inherited": (
        RetestProgram(
            f"{_X}; y = torch.tensor(W); z = x + y",
            {1: "x = torch.tensor(V)"},
            ask.requires_grad,
            "z",
        ),
        RetestProgram(
            f"{_SCALAR}; y = torch.tensor(T); z = y * x",
            {3: "z = (y * x).detach()"},
            _ask_requires_grad,
            "x",
            "y",
            "z",
        ),
        RetestProgram(
            f"{_X}; y = x * T; z = y[I]", {3: "z = y[I].detach()"}, ask.requires_grad, "z"
        ),
    ),
    # Believed: what looks like an operation on `x` is recorded, or makes a tensor like `x`.
    "requires_grad is copied": (
        RetestProgram(f"{_X}; y = x.detach(); z = y * T", {2: "y = x * 1"}, ask.requires_grad, "z"),
        RetestProgram(
            f"{_X}; y = torch.zeros(N); z = y + T",
            {2: "y = torch.zeros(N, requires_grad=True)"},
            ask.requires_grad,
            "y",
        ),
        RetestProgram(
            f"{_SCALAR}; y = x.data; z = y.clone()",
            {2: "y = x * 1"},
            _ask_requires_grad,
            "x",
            "y",
            "z",
        ),
    ),
    # The source is taken for one that requires grad: a copy of that has a node.
    "a plain copy has a node": (
        RetestProgram("x = torch.tensor(V); y = x.clone(); z = y * T", {1: _X}, ask.on_graph, "z"),
        RetestProgram(
            "x = torch.tensor(S); y = x.clone(); z = x * y",
            {1: _SCALAR},
            _ask_nodes,
            "x",
            "y",
            "z",
        ),
        RetestProgram("x = torch.tensor(V); y = x.clone(); z = y.sum()", {1: _X}, ask.node, "y"),
    ),
    # Believed: a result looks at the cells of what it was computed from.
    "the graph joins memories": (
        RetestProgram(f"{_X}; y = x * T; z = y.sum()", {2: "y = x[:]"}, ask.sees_write, "x", "y"),
        RetestProgram(f"{_X}; y = x + T; z = y * y", {2: "y = x[:]"}, ask.same_storage, "x", "y"),
        RetestProgram(f"{_X}; y = x * T; y.data[I] = K", {2: "y = x[:]"}, ask.value, "x"),
    ),
    # Believed: what shares memory is recorded, as a view is.
    "memory joins graphs": (
        RetestProgram(f"{_X}; y = x.data; z = y * T", {2: "y = x[:]"}, ask.gets_gradient, "x", "y"),
        RetestProgram(
            f"{_X}; y = x.data.requires_grad_(); (y * T).sum().backward()",
            {2: "y = x[:]"},
            ask.gradient,
            "x",
        ),
        RetestProgram(
            f"{_SCALAR}; y = x.data.requires_grad_(); z = x + y; z.backward()",
            {2: "y = x.view(())"},
            ask.gradient,
            "x",
        ),
    ),
    "detach copies": (
        RetestProgram(f"{_X}; y = x.detach(); y[I] = K", {2: _CUT_COPY}, ask.value, "x"),
        RetestProgram(
            f"{_X}; y = x * T; z = y.detach(); z[I] = K",
            {3: "z = y.detach().clone()"},
            ask.value,
            "y",
        ),
        RetestProgram(
            f"{_SCALAR}; y = x.detach(); with torch.no_grad(): x *= T",
            {2: _CUT_COPY},
            ask.value,
            "y",
        ),
    ),
    # What `detach` returns is thrown away in each, so only a change of `y` itself could show.
    "detach works in place": (
        RetestProgram(
            f"{_SCALAR}; y = x * T; y.detach()", {3: "y.detach_()"}, ask.requires_grad, "y"
        ),
        RetestProgram(f"{_X}; y = x.clone(); y.detach()", {3: "y.detach_()"}, ask.on_graph, "y"),
        RetestProgram(
            f"{_X}; y = (x * T).sum(); y.detach(); y.backward()",
            {3: "y.detach_()"},
            ask.gradient,
            "x",
        ),
    ),
    # Believed: it is computed from its source, like any result.
    "detach keeps the graph": (
        RetestProgram(
            f"{_X}; y = x.detach(); (x * y).sum().backward()", {2: "y = x * 1"}, ask.gradient, "x"
        ),
        RetestProgram(
            f"{_X}; y = x * T; z = y.detach()", {3: "z = y * 1"}, ask.gets_gradient, "x", "z"
        ),
        RetestProgram(
            f"{_SCALAR}; y = x * x; z = y.detach() + y; z.backward()",
            {3: "z = y * 1 + y"},
            ask.gradient,
            "x",
        ),
    ),
    # Believed of `detach`, and true of `.data`.
    "detach has its own counter": (
        RetestProgram(f"{_X}; y = x.detach(); y[I] = K", {2: "y = x.data"}, ask.version, "x"),
        RetestProgram(
            f"{_X}; y = x * T; z = y.detach()", {3: "z = y.data"}, ask.same_counter, "y", "z"
        ),
        RetestProgram(
            f"{_X}; y = x.exp(); y.detach()[I] = K; y.sum().backward()",
            {3: "y.data[I] = K"},
            ask.outcome,
        ),
    ),
    # The same programs the other way round: believed of `.data`, and true of `detach`.
    ".data is detach": (
        RetestProgram(f"{_X}; y = x.data; y[I] = K", {2: "y = x.detach()"}, ask.version, "x"),
        RetestProgram(
            f"{_X}; y = x * T; z = y.data", {3: "z = y.detach()"}, ask.same_counter, "y", "z"
        ),
        RetestProgram(
            f"{_X}; y = x.exp(); y.data[I] = K; y.sum().backward()",
            {3: "y.detach()[I] = K"},
            ask.outcome,
        ),
    ),
    ".data keeps the gradient": (
        RetestProgram(
            f"{_X}; (x * T).sum().backward(); y = x.data", {3: "y = x"}, ask.gradient, "y"
        ),
        RetestProgram(f"{_X}; y = x.data; z = y * T", {2: "y = x"}, ask.requires_grad, "z"),
        RetestProgram(
            f"{_SCALAR}; (x * T).backward(); y = x.data", {3: "y = x"}, _ask_gradients, "x", "y"
        ),
    ),
    # Believed: a write that raises nothing has no effect on `backward`.
    "no error, right gradient": (
        RetestProgram(
            f"{_X}; y = (x * x).sum(); x.data[I] = K; y.backward()",
            {3: "pass"},
            ask.gradient,
            "x",
        ),
        RetestProgram(
            f"{_SCALAR}; y = x * x; x.data += T; y.backward()", {3: "pass"}, ask.gradient, "x"
        ),
        RetestProgram(
            f"y = torch.tensor(W); {_X}; z = (x * y).sum(); y.numpy()[I] = K; z.backward()",
            {4: "pass"},
            ask.gradient,
            "x",
        ),
    ),
    # Believed of `no_grad`, and true of `.data`.
    "no_grad hides a write": (
        RetestProgram(
            f"{_X}; with torch.no_grad(): x[I] = K", {2: "x.data[I] = K"}, ask.version, "x"
        ),
        RetestProgram(
            f"{_SCALAR}; y = x * x; with torch.no_grad(): x += T; y.backward()",
            {3: "x.data += T"},
            ask.outcome,
        ),
        RetestProgram(
            f"{_X}; y = (x * x).sum(); with torch.no_grad(): x *= T; y.backward()",
            {3: "x.data *= T"},
            ask.outcome,
        ),
    ),
    # The node of a sum or product with a number saves no result. That of `exp` does, and is what
    # every node is taken for.
    "every write breaks backward": (
        RetestProgram(
            f"{_X}; y = x + T; y *= S; y.sum().backward()", {2: "y = x.exp()"}, ask.outcome
        ),
        RetestProgram(
            f"{_X}; y = x * T; y[I] = K; y.sum().backward()", {2: "y = x.exp()"}, ask.outcome
        ),
        RetestProgram(
            f"{_SCALAR}; y = x * T; y.add_(K); y.backward()", {2: "y = x.exp()"}, ask.outcome
        ),
    ),
    # Believed of every view, and true of a view of `.data`.
    "a counter for each tensor": (
        RetestProgram(
            "x = torch.tensor(V); y = x[1:]; y[0] = K", {2: "y = x.data[1:]"}, ask.version, "x"
        ),
        RetestProgram(f"{_MATRIX}; y = x[0]; x *= T", {2: "y = x.data[0]"}, ask.version, "y"),
        RetestProgram(
            "x = torch.tensor(V); y, z = x[:2], x[1:]; y += S; z += T",
            {2: "y, z = x.data[:2], x.data[1:]"},
            ask.version,
            "x",
        ),
    ),
    # The reverse of the one above.
    "shared memory, shared counter": (
        RetestProgram("x = torch.tensor(V); y = x.data; y += T", {2: "y = x[:]"}, ask.version, "x"),
        RetestProgram(
            "x = torch.tensor(V); y = x[1:].data; y[0] = K", {2: "y = x[1:]"}, ask.version, "x"
        ),
        RetestProgram(
            f"{_MATRIX}; y = x.data[0]; y += T", {2: "y = x[0]"}, ask.same_counter, "x", "y"
        ),
    ),
    # The method in place does what the operator is believed to do.
    "computing is writing": (
        RetestProgram(
            "x = torch.tensor(V); y = x + T; z = y * x", {2: "y = x.add_(T)"}, ask.version, "x"
        ),
        RetestProgram(
            "x = torch.tensor(S); y = x * T; z = y + 1", {2: "y = x.mul_(T)"}, ask.value, "x"
        ),
        RetestProgram(f"{_MATRIX}; y = -x; z = y.sum()", {2: "y = x.neg_()"}, ask.value, "x"),
    ),
    # The operator does what the method in place is believed to do. Asked for the tensors, as above: the new one that
    # is believed in may look at the same cells.
    "in place makes a new tensor": (
        RetestProgram("x = torch.tensor(V); y = x; x += T", {3: "x = x + T"}, _ask_tensors),
        RetestProgram(f"{_MATRIX}; y = x; x *= T", {3: "x = x * T"}, ask.same_tensor, "x", "y"),
        RetestProgram(
            "x = torch.tensor(V); y, z = x, x[:]; x.mul_(T)", {3: "x = x.mul(T)"}, _ask_tensors
        ),
    ),
    # In layouts of which no view is possible: transposed, or expanded.
    "reshape is a view": (
        RetestProgram(
            f"{_MATRIX}; y = x.t().reshape(P); y[0] = K", {2: "y = x.view(P)"}, ask.value, "x"
        ),
        RetestProgram(
            f"{_MATRIX}; y = x.t().reshape(P); x *= T",
            {2: "y = x.view(P)"},
            ask.same_storage,
            "x",
            "y",
        ),
        RetestProgram(
            "x = torch.tensor(V); y = x.expand(2, N).reshape(-1); y += T",
            {2: "y = x.view(N)"},
            ask.version,
            "x",
        ),
    ),
    # In layouts of which a view is possible, and `reshape` gives one.
    "reshape is a copy": (
        RetestProgram(
            f"{_MATRIX}; y = x.reshape(P); y[0] = K",
            {2: "y = x.reshape(P).clone()"},
            ask.value,
            "x",
        ),
        RetestProgram(
            f"{_MATRIX}; y = x.reshape(C, R); y += T",
            {2: "y = x.reshape(C, R).clone()"},
            ask.version,
            "x",
        ),
        RetestProgram(
            "x = torch.tensor(V); y = x.reshape(N, 1); x[I] = K",
            {2: "y = x.reshape(N, 1).clone()"},
            ask.value,
            "y",
        ),
    ),
    # Believed: it is recorded, as a product with 1 or `stack` is.
    "torch.tensor keeps the history": (
        RetestProgram(
            f"{_SCALAR}; y = torch.tensor(x); z = y * T", {2: "y = x * 1"}, ask.requires_grad, "z"
        ),
        RetestProgram(
            f"{_SCALAR}; y = torch.tensor([x * T, x * U]); z = y.sum()",
            {2: "y = torch.stack([x * T, x * U])"},
            ask.gets_gradient,
            "x",
            "z",
        ),
        RetestProgram(
            f"{_SCALAR}; y = torch.tensor(x * T); z = x + y; z.backward()",
            {2: "y = x * T"},
            ask.gradient,
            "x",
        ),
    ),
    "new_tensor keeps the history": (
        RetestProgram(
            f"y = torch.tensor(W); {_X}; z = y.new_tensor(x)",
            {3: "z = x.clone()"},
            ask.requires_grad,
            "z",
        ),
        RetestProgram(
            f"{_SCALAR}; y = x.new_tensor(x); (x * y).backward()",
            {2: "y = x.clone()"},
            ask.gradient,
            "x",
        ),
        RetestProgram(
            f"{_X}; y = x * T; z = x.new_tensor(y)",
            {3: "z = y.clone()"},
            ask.gets_gradient,
            "x",
            "z",
        ),
    ),
    # Believed: the target is a second name of the source, or a view of it.
    "copy_ shares memory": (
        RetestProgram(
            "x = torch.tensor(V); y = torch.zeros(N); y.copy_(x); x[I] = K",
            {3: "y = x"},
            ask.value,
            "y",
        ),
        RetestProgram(
            "x, y = torch.tensor(V), torch.tensor(W); y.copy_(x); y += T",
            {2: "y = x[:]"},
            ask.value,
            "x",
        ),
        RetestProgram(
            f"{_MATRIX}; y = torch.zeros(R, C); y.copy_(x)",
            {3: "y = x[:]"},
            ask.same_storage,
            "x",
            "y",
        ),
    ),
    # Believed: bare numbers are moved, which is true of a detached source.
    "copy_ is not recorded": (
        RetestProgram(
            f"{_X}; y = torch.zeros(N); y.copy_(x); (y * T).sum().backward()",
            {3: "y.copy_(x.detach())"},
            ask.gradient,
            "x",
        ),
        RetestProgram(
            f"{_X}; y = torch.tensor(W); y.copy_(x)",
            {3: "y.copy_(x.detach())"},
            ask.on_graph,
            "y",
        ),
        RetestProgram(
            f"{_SCALAR}; y = torch.tensor(T); y.copy_(x)",
            {3: "y.copy_(x.detach())"},
            _ask_requires_grad,
            "x",
            "y",
        ),
    ),
    "numpy() copies": (
        RetestProgram(
            "x = torch.tensor(V); y = x.numpy(); y[I] = K",
            {2: "y = x.numpy().copy()"},
            ask.value,
            "x",
        ),
        RetestProgram(
            "x = torch.tensor(V); y = x.numpy(); x *= T; z = torch.tensor(y)",
            {2: "y = x.numpy().copy()"},
            ask.value,
            "z",
        ),
        RetestProgram(
            f"{_MATRIX}; y = x.numpy(); y[0] = K", {2: "y = x.numpy().copy()"}, ask.value, "x"
        ),
    ),
    # To the dtype and the device that it has already: there is nothing to convert.
    "to always copies": (
        RetestProgram(
            "x = torch.tensor(V); y = x.to(torch.float32); y[I] = K",
            {2: "y = x.clone()"},
            ask.value,
            "x",
        ),
        RetestProgram(
            f"{_MATRIX}; y = x.to(torch.float32); x += T", {2: "y = x.clone()"}, ask.value, "y"
        ),
        RetestProgram(
            "x = torch.tensor(S); y = x.to('cpu'); y *= T", {2: "y = x.clone()"}, ask.version, "x"
        ),
    ),
    # By a list or a mask, which pick elements. The slice of the same elements would be a view.
    "indexing is a view": (
        RetestProgram(
            "x = torch.tensor(V); y = x[[0, 1]]; y[0] = K", {2: "y = x[0:2]"}, ask.value, "x"
        ),
        RetestProgram(
            "x = torch.tensor(V); y = x[x > 0]; x[I] = K", {2: "y = x[:]"}, ask.value, "y"
        ),
        RetestProgram(f"{_MATRIX}; y = x[[1]]; y += T", {2: "y = x[1:2]"}, ask.version, "x"),
    ),
    # The container is copied in each, and the tensor in it is one.
    "a shallow copy is a copy": (
        RetestProgram(
            "x = torch.tensor(V); y = [x]; z = list(y); z[0][I] = K",
            {3: "z = [y[0].clone()]"},
            ask.value,
            "x",
        ),
        RetestProgram(
            "x = torch.tensor(S); y = {'one': x}; z = dict(y); z['one'] += T",
            {3: "z = {'one': x.clone()}"},
            ask.value,
            "x",
        ),
        RetestProgram(
            f"{_MATRIX}; y = [x]; z = y.copy(); z[0] *= T", {3: "z = [x.clone()]"}, ask.version, "x"
        ),
    ),
}
"""The programs of each misconception of the catalogue, by its name."""
