"""Bytecode of a backward as it is read, and the names of PyTorch's own hooks and formulas."""

import contextlib
import functools
import re
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import copylab
import pytest

from tinytorch.viz import explain, graph, memory, snapshot
from tinytorch.viz.read.doubts import _FIRST_NOT_IMPLEMENTED
from tinytorch.viz.read.user_code import _reads_saved, always_raises, describe_code


def returns_gradient(ctx: Any, grad: Any) -> Any:  # noqa: ARG001
    return grad


def reads_first(ctx: Any, grad: Any) -> Any:
    (x,) = ctx.saved_tensors
    return grad * x


def reads_a_size(ctx: Any, grad: Any) -> Any:
    return grad.expand(ctx.shape)


def reads_after_a_branch(ctx: Any, grad: Any) -> Any:
    if ctx.needs_input_grad[0]:
        return grad * ctx.saved_tensors[0]
    return None


def hands_ctx_on(ctx: Any, grad: Any) -> Any:
    return reads_first(ctx, grad)


def reads_in_a_closure(ctx: Any, grad: Any) -> Any:
    return grad * sum(ctx.saved_tensors[k] for k in range(1))


def reads_by_name(ctx: Any, grad: Any) -> Any:
    return getattr(locals()["ctx"], "saved_tensors")[0] * grad  # noqa: B009


def catches(ctx: Any, grad: Any) -> Any:
    try:
        return grad * ctx.saved_tensors[0]
    except RuntimeError:
        return grad


@pytest.mark.parametrize(
    ("function", "reads"),
    [
        (returns_gradient, False),
        (reads_first, True),
        (reads_a_size, False),
        (reads_after_a_branch, None),
        (hands_ctx_on, None),
        (reads_in_a_closure, None),
        (reads_by_name, None),
        (catches, None),
    ],
)
def test_what_a_backward_reads(function: Any, reads: bool | None) -> None:
    assert _reads_saved(function.__code__) is reads


def raises_at_the_end(grad: Any) -> Any:
    print(grad.no_such_attribute)
    raise ValueError(grad)


def raises_after_a_branch(grad: Any) -> Any:
    if grad is None:
        return None
    raise ValueError(grad)


def raises_into_a_block(grad: Any) -> Any:
    with contextlib.suppress(ValueError):
        raise ValueError(grad)


def raises_into_a_handler(grad: Any) -> Any:
    try:
        raise ValueError(grad)
    except ValueError:
        return grad


def raises_when_it_is_iterated(grad: Any) -> Any:
    raise ValueError(grad)
    yield grad  # type: ignore[unreachable]


async def raises_when_it_is_awaited(grad: Any) -> Any:
    raise ValueError(grad)


def raises_behind_its_return(grad: Any) -> Any:
    return grad
    raise ValueError(grad)


@contextlib.contextmanager
def raises_when_it_is_entered(grad: Any) -> Any:
    raise ValueError(grad)
    yield  # type: ignore[unreachable]


class Caller:
    def __call__(self, grad: Any) -> Any:
        raise ValueError(grad)


@pytest.mark.parametrize(
    ("function", "is_sure"),
    [
        (raises_at_the_end, True),
        (lambda _: 1 / 0, True),
        (lambda grad: (grad, 1 % 0)[0], True),
        (lambda grad: grad * (7 // 0), True),
        (raises_after_a_branch, False),
        (raises_into_a_block, False),
        (raises_into_a_handler, False),
        (raises_when_it_is_iterated, False),
        (raises_when_it_is_awaited, False),
        (raises_behind_its_return, False),
        (raises_when_it_is_entered, False),
        (Caller(), False),
        (Caller, False),
        (print, False),
        (functools.partial(raises_at_the_end), False),
        (lambda grad: grad / 0, False),
        (lambda grad: grad or 1 / 0, False),
        (lambda grad: lambda: grad / (1 / 0), False),
        (lambda grad: [1 / 0 for _ in grad], False),
        (lambda grad: grad * (0 / 1), False),
    ],
)
def test_what_always_raises(function: Any, is_sure: bool) -> None:
    assert always_raises(function) is is_sure


def test_code_is_named_with_its_place() -> None:
    line = reads_first.__code__.co_firstlineno
    place = f"reads_first (test_user_code.py:{line})"
    assert describe_code(reads_first) == place
    assert describe_code(functools.partial(reads_first, None)) == place
    assert describe_code(print) == "print"
    names: dict[str, Any] = {}
    exec("def f(): pass", names)
    assert describe_code(names["f"]) == "f (line 1)"


def refuses(*_: Any) -> Any:
    raise ValueError("today")


class Hooked:
    """A hook that is a method."""

    def refuses(self, *_: Any) -> Any:
        raise ValueError("today")


def make_function(engine: ModuleType, backward: Any, name: str = "Doubles") -> Any:
    """Make a Function with this backward, which computes the double and saves its input."""

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(name, (engine.autograd.Function,), methods)


@pytest.mark.parametrize("hook", [refuses, Hooked().refuses])
@pytest.mark.parametrize("registers", ["register_hook", "register_post_accumulate_grad_hook"])
@pytest.mark.parametrize(
    "what", ["before", "after", "frozen", "with others", "removed", "other leaf", "replaced"]
)
def test_a_hook_on_a_leaf_that_always_raises(
    engine: ModuleType, hook: Any, registers: str, what: str
) -> None:
    x, w = engine.ones(3, requires_grad=True), engine.ones(3, requires_grad=True)
    if what == "with others":
        x.register_hook(lambda grad: grad * 2)
    loss = None if what != "after" else (x * 2).sum()
    handle = getattr(w if what == "other leaf" else x, registers)(hook)
    loss = (x * 2).sum() if loss is None else loss
    if what == "frozen":
        x.requires_grad_(False)
    elif what == "removed":
        handle.remove()
    elif what == "replaced":  # an alias has no hooks
        loss = (x.detach().requires_grad_() * 2).sum()
    said = explain(loss, x=x)
    try:
        loss.backward()
    except ValueError:
        assert said.verdict == "unknown"
        assert re.search(r"refuses \(test_user_code.py:\d+\)", said.text)
    else:
        assert what in ("removed", "other leaf", "replaced")
        assert said.verdict != "raises"
        assert what != "removed" or said.verdict.startswith("runs")


@pytest.mark.torch
@pytest.mark.parametrize("registers", ["register_hook", "register_post_accumulate_grad_hook"])
def test_swapped_tensors_leave_their_hooks_behind(registers: str) -> None:
    import torch

    x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    getattr(x, registers)(refuses)
    torch.utils.swap_tensors(x, w)
    loss = (x + 1).sum()
    # `x._backward_hooks` has the hook still, and nothing shows that it is not called.
    assert explain(loss).verdict == "unknown"
    loss.backward()


@pytest.mark.torch
@pytest.mark.parametrize("catches", [True, False])
def test_a_context_of_the_program_may_catch_what_a_backward_raises(catches: bool) -> None:
    import torch
    from torch.utils._contextlib import _DecoratorContextManager

    class Catches(_DecoratorContextManager):
        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> bool:
            return True

    decorate = Catches() if catches else torch.no_grad()

    @decorate  # type: ignore[untyped-decorator]
    def backward(ctx: Any, grad: Any) -> Any:  # noqa: ARG001
        raise ValueError("today")

    loss = make_function(torch, backward).apply(torch.ones(3, requires_grad=True)).sum()
    assert explain(loss).verdict == ("unknown" if catches else "raises")
    with contextlib.nullcontext() if catches else pytest.raises(ValueError, match="today"):
        loss.backward()


@pytest.mark.torch
@pytest.mark.parametrize("changes_in", ["hook", "backward", ""])
def test_what_raises_may_be_changed_in_backward(changes_in: str) -> None:
    import torch

    def unpack(_: Any) -> Any:
        raise ValueError("today")

    def change(grad: Any) -> Any:
        unpack.__code__ = (lambda kept: kept).__code__
        return grad

    x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda v: v, unpack):
        h = x * w
    if changes_in == "hook":
        h.register_hook(change)
    loss = h.sum()
    if changes_in == "backward":
        changes = make_function(torch, lambda ctx, grad: change(grad))  # noqa: ARG005
        loss = changes.apply(w).sum() + loss
    assert explain(loss).verdict == ("unknown" if changes_in else "raises")
    with contextlib.nullcontext() if changes_in else pytest.raises(ValueError, match="today"):
        loss.backward()


@pytest.mark.torch
@pytest.mark.parametrize("action", ["error", "default"])
def test_a_dry_run_raises_the_warnings_that_the_program_has_raised(action: Any) -> None:
    import torch

    def unpack(kept: Any) -> Any:
        warnings.warn("today", stacklevel=1)
        return kept

    with torch.autograd.graph.saved_tensors_hooks(lambda v: v, unpack):
        loss = torch.ones(3, requires_grad=True).exp().sum()
    with warnings.catch_warnings(record=True, action=action) as shown:
        said = explain(loss, run=True)
        assert not shown
        assert (said.verdict == "raises") is (action == "error")
        if action == "error":
            with pytest.raises(UserWarning, match="today"):
                loss.backward()


def returns_nothing(ctx: Any, grad: Any) -> Any:  # noqa: ARG001
    return None


def returns_after_a_branch(ctx: Any, grad: Any) -> Any:  # noqa: ARG001
    return None if grad is None else grad


@pytest.mark.parametrize("backward", [returns_nothing, returns_gradient, returns_after_a_branch])
def test_a_hook_that_raises_behind_a_function_may_not_be_called(
    engine: ModuleType, backward: Any
) -> None:
    x = engine.ones(3, requires_grad=True)
    x.register_post_accumulate_grad_hook(refuses)
    loss = make_function(engine, backward).apply(x).sum()
    said = explain(loss, x=x).verdict
    try:
        loss.backward()
    except ValueError:
        assert said in ("raises", "unknown")
    else:
        assert said == "unknown"


def test_a_function_that_always_raises(engine: ModuleType) -> None:
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        raise ValueError(grad * x)

    x = engine.ones(3, requires_grad=True)
    loss = make_function(engine, backward).apply(x).sum()
    said = explain(loss)
    assert said.verdict == "raises"
    assert "backward (test_user_code.py:" in said.text
    assert "raises an error as it is now" in said.text
    with pytest.raises(ValueError, match="tensor"):
        loss.backward()


@pytest.mark.parametrize(
    ("before", "of_function", "of_leaf", "verdicts"),
    [
        ("nothing", "backward will raise: ", "backward will raise: ", ("raises", "raises")),
        ("a hook", "backward may raise: ", "backward will raise: ", ("raises", "unknown")),
        ("a Function", "backward may raise: ", "backward may raise: ", ("unknown", "unknown")),
    ],
)
def test_pictures_and_explain_are_as_sure_of_an_error(
    engine: ModuleType, before: str, of_function: str, of_leaf: str, verdicts: tuple[str, str]
) -> None:
    """A hook that other code gives another `__code__` does not raise, and cards said that backward will.

    The first verdict is with a .grad that cannot be added to.
    """

    def refuse(ctx: Any, grad: Any) -> Any:  # noqa: ARG001
        raise ValueError("today")

    def replace_code(*_: Any) -> None:
        refuse.__code__ = returns_gradient.__code__

    def replace_and_return(ctx: Any, grad: Any) -> Any:  # noqa: ARG001
        replace_code()
        return grad

    w, v = engine.ones(2, requires_grad=True), engine.ones(2, requires_grad=True)
    loss = make_function(engine, refuse, "Refuses").apply(w) * v
    if before == "a Function":
        loss = make_function(engine, replace_and_return).apply(loss)
    loss = loss.sum()
    if before == "a hook":
        loss.register_hook(replace_code)
    w.grad = engine.zeros(1).expand(2)  # cannot be added to
    pictures = graph(loss, w=w), memory(loss=loss, w=w)
    assert explain(loss, w=w).verdict == verdicts[0]
    assert f"{of_function}RefusesBackward is a Function in Python: " in pictures[0].text
    assert all(f"{of_leaf}w.grad is expanded" in picture.text for picture in pictures)
    w.grad = None
    assert explain(loss).verdict == verdicts[1]
    if before == "nothing":
        with pytest.raises(ValueError, match="today"):
            loss.backward()
    else:
        loss.backward()


@pytest.mark.torch
def test_a_function_with_vjp_in_the_place_of_backward_is_not_known() -> None:
    import torch

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:  # noqa: ARG004
            return x * 2

        @staticmethod
        def vjp(ctx: Any, grad: Any) -> Any:  # noqa: ARG004
            return grad * 2

    loss = Product.apply(torch.ones(3, requires_grad=True)).sum()
    assert explain(loss).verdict != "raises"
    loss.backward()


@pytest.mark.torch
@pytest.mark.parametrize("is_watched", [False, True])
def test_a_hook_that_unpacks_and_always_raises(is_watched: bool) -> None:
    import torch

    def ignore(ctx: Any, grad: Any) -> Any:  # noqa: ARG001
        return grad * 2

    def open_after_a_branch(ctx: Any, grad: Any) -> Any:
        return grad * 2 if grad is not None else ctx.saved_tensors

    hooks = torch.autograd.graph.saved_tensors_hooks
    with copylab.watch(silent="record") if is_watched else contextlib.nullcontext():
        x = torch.ones(3, requires_grad=True)
        for compute, verdict in (
            (torch.exp, "raises"),
            (make_function(torch, ignore).apply, "runs"),
            (make_function(torch, open_after_a_branch).apply, "unknown"),
        ):
            with hooks(lambda v: v, refuses):
                loss = compute(x).sum()
            said = explain(loss)
            assert said.verdict == verdict
            sentence = ", which unpacks it, raises an error as it is now"
            assert (sentence in said.text) == (verdict != "runs")
            # What a backward never opens is no mark of the graph's, whatever its hook does.
            assert (sentence in graph(loss).text) == (verdict == "raises")
            assert (": its hook raises as it" in graph(loss).svg) == (verdict == "raises")
            if verdict == "raises":
                with pytest.raises(ValueError, match="today"):
                    loss.backward()
            else:
                loss.backward()


@pytest.mark.torch
def test_the_table_of_what_is_not_implemented_is_that_of_pytorch() -> None:
    import torchgen
    from torchgen.packaged.autograd.load_derivatives import load_derivatives

    packaged = Path(torchgen.__file__).parent / "packaged"
    native = packaged / "ATen" / "native"
    derivatives, _ = load_derivatives(
        str(packaged / "autograd" / "derivatives.yaml"),
        str(native / "native_functions.yaml"),
        str(native / "tags.yaml"),
    )
    nodes = set()
    for of_function in derivatives.values():
        for info in of_function.values():
            for derivative in info.derivatives:
                is_first = derivative.var_names == (info.args_with_derivatives[0].name,)
                # Gradients of gradients are of kinds of their own, and `chunk` of nested tensors.
                if is_first and derivative.formula.startswith("not_implemented"):
                    nodes.add(info.op)
    nodes = {name for name in nodes if not re.search("BackwardBackward|^Chunk", name)}
    assert len(nodes) > 10
    assert [name for name in nodes if not _FIRST_NOT_IMPLEMENTED.search(name)] == []
    assert not _FIRST_NOT_IMPLEMENTED.search("IgammaBackward1")


def test_three_looks_say_the_same_of_a_leaf_that_is_none(engine: ModuleType) -> None:
    x = engine.ones(2, requires_grad=True)
    w = engine.ones(2, requires_grad=True)
    loss = x.sum()
    x.requires_grad_(False)
    x.mul_(w)
    reason = "x is not a leaf any more: something that requires grad was written into it"
    assert reason in explain(loss=loss, x=x).text
    assert f"backward will raise: {reason}" in graph(loss=loss, x=x).text
    assert f"backward will raise: {reason}" in memory(loss=loss, x=x).text


def test_three_looks_say_the_same_of_what_was_detached(engine: ModuleType) -> None:
    x = engine.ones(2, requires_grad=True)
    h = x * 2
    loss = (h * h).sum()
    before = snapshot(loss=loss, h=h)
    h.detach_()
    said = explain(loss=loss, h=h, since=before)
    assert [finding.kind for finding in said.findings] == ["detached"]
    assert "DETACHED in place since it was saved; backward will raise" in graph(loss, h=h).text
    assert "detach_() has cut it off its history since" in memory(loss=loss, h=h).text
    with pytest.raises(RuntimeError, match="detached in-place"):
        loss.backward()


def test_nothing_is_freed_of_a_function_that_saved_nothing(engine: ModuleType) -> None:
    class Attribute(engine.autograd.Function):  # type: ignore[name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.factor = 2
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.factor

    x = engine.ones(2, requires_grad=True)
    y = Attribute.apply(x)
    loss = y.sum()
    loss.backward()
    assert "freed" not in graph(y, x=x).text
    loss.backward()


@pytest.mark.torch
def test_a_way_out_names_what_the_program_has() -> None:
    import torch

    h = torch.ones(3, requires_grad=True).exp()
    loss = (h * 1).sum()
    hs = [h]
    before = snapshot(loss=loss, hs=hs)
    array = h.detach().numpy()
    array[0] = 5
    said = explain({"loss": loss, "hs": hs, "array": array}, since=before)
    assert "write to a copy of array" in said.text
    assert "hs[0].detach().clone()" in said.text
    del array
    said = explain(loss=loss, hs=hs, since=before)
    assert "a write through hs[0].detach() would at least be counted" in said.text


@pytest.mark.torch
def test_packed_tensors_of_pytorchs_own_hooks_are_read() -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    x = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        loss = x.exp().sum()
    assert explain(loss, since=snapshot(loss)).verdict == "runs"
    h = x * 2
    loss = checkpoint(torch.exp, h, use_reentrant=False).sum()
    said = explain(loss)
    assert "backward runs the checkpointed" in said.text
    h.add_(1)
    said = explain(loss)
    assert said.verdict == "raises"
    assert "an input of the checkpointed exp was written to after the forward pass" in said.text
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        loss = x.exp().sum()
        assert explain(loss, since=snapshot(loss)).verdict == "runs"
    assert explain(loss).verdict == "raises"
    with torch.autograd.graph.saved_tensors_hooks(lambda v: v, lambda v: v):
        assert explain(x.exp().sum()).verdict == "runs, not compared"
    with torch.autograd.graph.saved_tensors_hooks(lambda v: v, lambda v: v.clone()):
        loss = x.exp().sum()
    said = explain(loss)
    assert said.verdict == "unknown"
    assert re.search(r"<lambda> \(test_user_code.py:\d+\), which unpacks it, may raise", said.text)


def test_of_two_losses_each_is_judged_for_itself(engine: ModuleType) -> None:
    class Unknown(engine.autograd.Function):  # type: ignore[name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:  # noqa: ARG004
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:  # noqa: ARG004
            return grad if grad.sum() else None

    x = engine.ones(2, requires_grad=True)
    h = x + 1
    first, second = h.sum(), Unknown.apply(h).sum()
    x.grad = engine.zeros(1).expand(2)  # cannot be added to
    assert explain(first, x=x).verdict == "raises"
    assert explain(second, x=x).verdict == "unknown"
    for picture in (graph(first, second, x=x), memory(first, second, x=x)):
        assert "first.backward() will raise: x.grad is expanded" in picture.text
    assert "backward will raise: x.grad is expanded" in graph(first, x=x).text
    assert "backward may raise: x.grad is expanded" in graph(second, x=x).text
    other = h.mean()
    assert "  backward will raise: x.grad is expanded" in graph(first, other, x=x).text
