"""Stopping the gradient: which part learns, a frozen first part, a hidden state, a goal that gets no gradient."""

from __future__ import annotations

from .. import Misconception, Question, predict, tensor_facts
from ..looks import grad, is_tensor
from ..questions import gets_gradient, gradient, on_graph, requires_grad, value
from ..quiz import (
    ArgumentSource,
    CheckedFact,
    QuizRun,
    RetestProgram,
    are_tensors,
    follows_numbers,
    frees_graph,
    graph_leads_back,
    has_grad,
    left_grad_to_backward,
    quote_number,
    sends_gradient,
    shows_number,
    shows_values,
    walk_nodes,
    was_freed,
    was_gone_through,
)
from ..wording import gettext, gettext_noop
from . import task

AFTER = Misconception(
    "detach cuts what comes after",
    "One of its inputs is detached, so the result is off the graph.",
    "`detach` cuts the graph at one tensor. What you compute from it and from others that require grad is still "
    "recorded.",
    (
        RetestProgram(
            "x = torch.tensor(S, requires_grad=True); y = x.detach(); z = x * y",
            {3: "z = (x * y).detach()"},
            on_graph,
            "z",
        ),
        RetestProgram(
            "x = torch.tensor(V, requires_grad=True); y = (x * x.detach()).sum(); y.backward()",
            {2: "y = (x * x.detach()).sum().detach()"},
            gradient,
            "x",
        ),
        RetestProgram(
            "x, y = torch.tensor(V, requires_grad=True), torch.tensor(W, requires_grad=True); z = x.detach() * y",
            {2: "z = (x.detach() * y).detach()"},
            gets_gradient,
            "y",
            "z",
        ),
    ),
)

parts = predict(
    """
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    x = torch.tensor(1.0)
    y = a * x
    z = b * y.detach()
    z.backward()
    """,
    [
        value("z"),
        requires_grad("y", wrong={"no": "detach works in place"}),
        on_graph("z", wrong={"no": AFTER}),
        gradient("a", wrong={"3": "detach keeps the graph"}),
        gradient(
            "b",
            wrong={
                "3": "3 is `b` itself. When `b` grows by 1, `z` grows by what `b` is multiplied by: `y`, which is 2."
            },
        ),
        requires_grad("x", wrong={"yes": "requires_grad is copied"}),
    ],
    key="stop_gradient/parts",
    title="Two parts, and detach between them",
)

_Change = tuple[str, str, str]
"""How a row says it, a piece of the program, and what stands there instead."""

_DETACH: _Change = (gettext_noop("With `b * y.detach()` in line 4"), "b * y", "b * y.detach()")
_NO_GRAD: _Change = (
    gettext_noop("With line 3 inside `no_grad`"),
    "y = a * 1",
    "with torch.no_grad():\n    y = a * 1",
)
_FREEZE: _Change = (
    gettext_noop("With `a.requires_grad_(False)` above line 3"),
    "y = a * 1",
    "a.requires_grad_(False)\ny = a * 1",
)
_NOTHING: _Change = (gettext_noop("As it stands"), "", "")


def _run_changed(run: QuizRun, change: _Change) -> QuizRun:
    _, piece, instead = change
    return run.run_variant(run.code.replace(piece, instead)) if piece else run


def _ask_who_gets_a_gradient(change: _Change, *, wrong: dict[str, ArgumentSource]) -> Question:
    def find_names(run: QuizRun) -> set[str]:
        changed = _run_changed(run, change)
        return {name for name in ("a", "b") if changed.gradient(name) is not None}

    def because(run: QuizRun) -> str:
        changed = _run_changed(run, change)
        sentence = gettext_noop(
            "{change}, `a.grad` is {a}, and `b.grad` is {b}: from `z`, nodes lead to `b` alone."
        )
        # `backward` fills `.grad` of each leaf to which nodes lead.
        if changed.gradient("a") is not None:
            sentence = gettext_noop(
                "{change}, `a.grad` is {a}, and `b.grad` is {b}: from `z`, nodes lead to both."
            )
        return gettext(
            sentence,
            change=gettext(change[0]),
            a=quote_number(changed.gradient("a")),
            b=quote_number(changed.gradient("b")),
        )

    return Question(
        lambda: gettext(
            "{change}: which of `a` and `b` get a gradient?", change=gettext(change[0])
        ),
        None,
        answer=find_names,
        wrong=wrong,
        because=because,
        name=f"{change[0]}: gradients",
        hint="names, or none",
        names=("a", "b"),
        change=lambda run: _run_changed(run, change),
    )


def _ask_for_node(change: _Change, *, wrong: dict[str, ArgumentSource]) -> Question:
    def because(run: QuizRun) -> str:
        changed = _run_changed(run, change)
        node = changed.tensor("y").grad_fn_name
        sentence = gettext_noop(
            "{change}, `y.grad_fn` is {node}: `a * 1` was recorded, and `detach` gives another tensor."
        )
        if node is None:
            sentence = gettext_noop(
                "{change}, `y.grad_fn` is {node}: no input of `a * 1` requires grad."
            )
            if changed.tensor("a").requires_grad:
                sentence = gettext_noop("{change}, `y.grad_fn` is {node}: recording was off.")
        return gettext(sentence, change=gettext(change[0]), node=node)

    return Question(
        lambda: gettext("{change}: does `y` have a node?", change=gettext(change[0])),
        ("yes", "no"),
        answer=lambda run: _run_changed(run, change).read_fact(tensor_facts.has_node, "y").holds,
        wrong=wrong,
        because=because,
        name=f"{change[0]}: node",
        change=lambda run: _run_changed(run, change),
    )


ways = predict(
    """
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    y = a * 1
    z = b * y
    z.backward()
    """,
    [
        _ask_who_gets_a_gradient(
            _NOTHING,
            wrong={
                "b": "`backward` does not know what an optimizer is given. It goes wherever nodes lead, and from `z` they lead to `a`, too."
            },
        ),
        _ask_for_node(_DETACH, wrong={"no": "detach works in place"}),
        _ask_who_gets_a_gradient(_DETACH, wrong={"a, b": "detach keeps the graph", "none": AFTER}),
        _ask_for_node(
            _NO_GRAD,
            wrong={
                "yes": "Inside `no_grad` nothing is recorded: what is computed there has no node."
            },
        ),
        _ask_who_gets_a_gradient(
            _NO_GRAD,
            wrong={
                "a, b": "`y` has no node, so `backward` cannot go on from it to `a`.",
                "none": "Line 4 is outside `no_grad`, and `b` requires grad: the product was recorded.",
            },
        ),
        _ask_for_node(
            _FREEZE,
            wrong={"yes": "`a * 1` is recorded only if `a` requires grad, and `a` no longer does."},
        ),
        _ask_who_gets_a_gradient(
            _FREEZE,
            wrong={
                "a, b": "`backward` fills the `.grad` of leaves that require grad, and `a` no longer does.",
                "none": "`requires_grad_(False)` changes `a` alone: `b` still requires grad.",
            },
        ),
    ],
    key="stop_gradient/ways",
    title="Four ways to keep a part from changing",
)


def _compute_loss(first, second):
    a, c = (p.item() for p in first.parameters())
    b, d = (p.item() for p in second.parameters())
    return float((b * (a * 2.0 + c) + d - 1.0) ** 2)


@task(
    "stop_gradient/frozen",
    "After `loss.backward()` the parameters of `B` should have gradients and those of `A` none (`None`), and `A` should "
    "still be trainable elsewhere. Change the line of the loss, so that its graph no longer leads to `A`.",
    about="a part that is frozen",
    given="torch.manual_seed(0)\nA = torch.nn.Linear(1, 1)\nB = torch.nn.Linear(1, 1)\nx = torch.tensor([2.0])\n",
    start="loss = (B(A(x)) - 1.0).pow(2).sum()\nloss.backward()",
    hints=["Between `A` and `B`.", "`B` takes the numbers that `A` made, without their history."],
    solution="loss = (B(A(x).detach()) - 1.0).pow(2).sum()\nloss.backward()",
    wrong={
        "loss = (B(A(x.detach())) - 1.0).pow(2).sum()\nloss.backward(gradient=torch.tensor(2.0))": "a parameter of A has a gradient",
        "loss = (B(A(x)).detach() - 1.0).pow(2).sum()": "a parameter of B has no gradient, so B cannot learn",
        "A.requires_grad_(False)\nloss = (B(A(x)) - 1.0).pow(2).sum()\nloss.backward()": "freezes A for good",
        "loss = (B(x) - 1.0).pow(2).sum()\nloss.backward()": "is not the square of B(A(x)) - 1",
        "loss = (B(A(x)) - 1.0).pow(2).sum()\nloss.backward(inputs=list(B.parameters()))": "still leads back to A",
    },
    right="no node leads from the loss to `A`, so its gradients were never computed; `A` itself still requires grad.",
)
def frozen(A, B, loss):  # noqa: N803
    own, others = list(A.parameters()), list(B.parameters())
    yield are_tensors(loss=loss)
    yield CheckedFact(
        all(p.grad is None for p in own),
        gettext("a parameter of `A` has a gradient: behind `A`, the graph of the loss is not cut."),
        gettext("the parameters of `A` have no gradients."),
    )
    yield CheckedFact(
        all(p.grad is not None for p in others),
        gettext("a parameter of `B` has no gradient, so `B` cannot learn."),
        gettext("Those of `B` have."),
    )
    yield CheckedFact(
        all(p.requires_grad for p in own),
        gettext(
            "your cell freezes `A` for good: the parameters of `A` no longer require grad. Stop the gradient in the line of the loss only."
        ),
        gettext("`A` can still be trained."),
    )
    yield CheckedFact(
        not any(graph_leads_back(loss=loss, p=p).holds for p in own),
        gettext("`loss` still leads back to `A`: stop the gradient in the line of the loss."),
    )
    yield shows_number(_compute_loss(A, B), loss=loss).with_objection(
        gettext(
            "`loss` is not the square of `B(A(x)) - 1`: that is {right}.",
            right=quote_number(_compute_loss(A, B)),
        )
    )


@task(
    "stop_gradient/hidden",
    "Each `backward` should go through its own round only, without `retain_graph`. `h` keeps its value from round "
    "to round, not its history, and `w.grad` adds up the gradients of the three rounds.",
    about="a hidden state without its history",
    given="w = torch.tensor(0.5, requires_grad=True)\nh = torch.tensor(1.0)\nfor x in (1.0, 2.0, 3.0):\n",
    start="    h = h * w + x\n    (h * h).backward(retain_graph=True)",
    hints=["Cut where the state passes to the next round.", "`h.detach()` on the right side."],
    solution="    h = h.detach() * w + x\n    (h * h).backward()",
    wrong={
        "    h = h.clone() * w + x\n    (h * h).backward(retain_graph=True)": "earlier rounds are still in it",
        "    h = (h * w + x).detach()": "w.grad is None",
        "    h = (h * w + x).detach()\nw.grad = torch.tensor(35.3125)": "of your cell writes w.grad itself",
        "    h = h.detach() * w + x\n(h * h).backward()": "w.grad is 24.0625, the gradient of the last round alone",
        "    h = torch.tensor(1.0) * w + x\n    (h * h).backward()": "h shows 3.5",
        "    h = h.detach() * w + x\n    (h * h).backward(retain_graph=True)": "your cell calls `backward` with `retain_graph`",
    },
    right="`h` goes on as a value without a history, so a `backward` stays in its own round.",
)
def hidden(w, h):
    yield shows_number(4.375, h=h)
    yield CheckedFact(
        # That of the program as it was given: which it is says more than which it is not.
        grad(w) != 46.8125,
        gettext("`w.grad` is 46.8125: the gradients through the earlier rounds are still in it."),
    )
    yield CheckedFact(
        grad(w) != 24.0625,
        gettext(
            "`w.grad` is 24.0625, the gradient of the last round alone: those of all three should add up, to 35.3125."
        ),
    )
    yield has_grad(35.3125, w=w)
    yield left_grad_to_backward(w=w)
    yield frees_graph()
    # A number of Python's is handed on without a history, too, and has no nodes to look at.
    if is_tensor(h):
        yield was_freed(h=h)


@task(
    "stop_gradient/goal",
    "A program learns a game and guesses how many points are still to come: `value[0]` now, `value[1]` "
    "after its next move, which brings `reward` points. (0.9 makes later points count less.) "
    "`value[0]` should move towards the goal, and the goal should stay put: `value.grad` is `[-3.6, 0]`. "
    "Change one line.",
    about="a goal that stays put",
    given="value = torch.tensor([1.0, 2.0], requires_grad=True)\nreward = 1.0\n",
    start="goal = reward + 0.9 * value[1]\nloss = (value[0] - goal) ** 2\nloss.backward()",
    hints=[
        "The goal is computed from `value`. Treat it as a number.",
        "Cut the goal, not the difference.",
    ],
    solution="goal = reward + 0.9 * value[1].detach()\nloss = (value[0] - goal) ** 2\nloss.backward()",
    wrong={
        "goal = reward + 0.9 * value[1].clone()\nloss = (value[0] - goal) ** 2\nloss.backward()": "value.grad is [-3.6, 3.24]",
        "goal = (reward + 0.9 * value[1]).detach()\nloss = (value.detach()[0] - goal) ** 2": "value.grad is None",
        "goal = torch.tensor(reward)\nloss = (value[0] - goal) ** 2": "goal shows 1",
        "goal = reward + 0.9 * value[1].detach()\nloss = value[0] - goal\nloss.backward()": "loss shows -1.8",
        "goal = reward + 0.9 * value[1]\nloss = (value[0] - goal) ** 2\nloss.backward()\nvalue.grad[1] = 0": "leads back to `value[1]`",
        "goal = 2.8\nloss = (value[0] - goal) ** 2\nloss.backward()": "goal shows 2.8",
    },
    right="the gradient flows into `value[0]` alone: the goal is a number without a history.",
)
def bootstrap(value, goal, loss):
    yield are_tensors(loss=loss)
    yield shows_values(2.8, goal=goal)
    yield shows_values(3.24, loss=loss)
    yield CheckedFact(
        not has_grad([0, 3.24], value=value).holds,
        gettext(
            "`value.grad` is `[0, 3.24]`: the goal moves, and `value[0]` stays put. Cut the goal, and not `value[0]`."
        ),
    )
    yield has_grad([-3.6, 0], value=value)
    yield graph_leads_back(loss=loss, value=value)
    # After a backward that is not known. It may be a number of Python's, or cut off where the loss takes it.
    leads = getattr(goal, "requires_grad", False) and graph_leads_back(loss=loss, goal=goal).holds
    yield CheckedFact(
        not leads and not any(_takes_second(node, value) for node in walk_nodes(loss)),
        gettext(
            "`loss` still leads back to `value[1]`: cut the goal, and leave `value.grad` alone."
        ),
    )
    yield sends_gradient([-3.6, 0], loss=loss, value=value)
    yield was_gone_through(loss=loss)
    yield follows_numbers("[1.0, 2.0]", "[1.0, 4.0]", lambda goal: shows_values(4.6, goal=goal))


def _takes_second(node, value):
    """Return True if a node is that of `value[1]`: the loss goes on to it, whatever `goal` is now."""
    (behind, _), *_ = node.next_functions or ((None, 0),)
    return getattr(behind, "variable", None) is value and getattr(node, "_saved_index", 0) == 1
