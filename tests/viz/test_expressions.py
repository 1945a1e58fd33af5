"""Code that follows the name of a tensor in a text: `.backward()`, `.grad`, `[0]`. It means what the text says."""

import ast
import linecache
from types import ModuleType
from typing import Any

import pytest

from tinytorch.viz import explain, graph, memory, snapshot
from tinytorch.viz.diagnose.diff import list_written_names
from tinytorch.viz.wording import join_attribute, parenthesize_name, write_expression


@pytest.mark.parametrize(
    ("name", "code", "label"),
    [
        ("x", "x", "x"),
        ("a.exp() + a.sin()", "(a.exp() + a.sin())", "(a.exp() + a.sin())"),
        ("a if flag else b", "(a if flag else b)", "(a if flag else b)"),
        ("lambda: x", "(lambda: x)", "(lambda: x)"),
        ("await x", "(await x)", "(await x)"),
        ("not x", "(not x)", "(not x)"),
        ("-x", "(-x)", "(-x)"),
        ("x**2", "(x**2)", "(x**2)"),
        ("a == b", "(a == b)", "(a == b)"),
        ("y := f(x)", "(y := f(x))", "(y := f(x))"),
        ("x * 0.5", "(x * 0.5)", "(x * 0.5)"),
        ("f(a,  # the first\n  b)", "f(a, b)", "f(a, b)"),
        ("a +\n b", "(a + b)", "(a + b)"),
        ("x # y", "x", "x"),
        ("d['#']", "d['#']", "d['#']"),
        ("f(x)(y)[0].T", "f(x)(y)[0].T", "f(x)(y)[0].T"),
        ("[a, b]", "[a, b]", "[a, b]"),
        ("(a + b).T", "(a + b).T", "(a + b).T"),
        ("sum((y for y in ys))", "sum((y for y in ys))", "sum((y for y in ys))"),
        ("hs.0", "hs[0]", "hs.0"),
        ("net.0.weight", "net[0].weight", "net.0.weight"),
        ("(x * 0.5, y).0", "(x * 0.5, y)[0]", "(x * 0.5, y).0"),
        ("[a, b].0.1.w", "[a, b][0][1].w", "[a, b].0.1.w"),
        ("d['v1.5'].0", "d['v1.5'][0]", "d['v1.5'].0"),
        ("opt.state[net.0.w].m", "opt.state[net[0].w].m", "opt.state[net.0.w].m"),
    ],
)
def test_an_expression_is_written_so_that_something_can_follow(
    name: str, code: str, label: str
) -> None:
    assert (write_expression(name), parenthesize_name(name)) == (code, label)
    assert join_attribute(name, "grad") == f"{label}.grad"
    followed = ast.parse(f"{code}.grad", mode="eval").body
    assert isinstance(followed, ast.Attribute)
    assert ast.dump(followed.value) == ast.dump(ast.parse(code, mode="eval").body)


@pytest.mark.parametrize(
    "name",
    [
        *("argument 0", "T7 (no name)", "w transposed", "a view of w", "the .grad of x in f"),
        *("x in f", "net in f.weight", "hs in f.0", "x (2)", "x (2).0", "x (global)"),
        *("0", "0.weight", "d.a b", "d.class", "None", "'a'", "", ".", "a.", ".0", "x.0 y"),
        *(
            "a, b",
            "*a",
            "a) + (b",
            "a] + [b",
            "a\nb",
            "x" * 3_000,
            "x" * 3_000 + " + y",
            "(" * 900,
            "\0",
        ),
    ],
)
def test_what_is_no_expression_becomes_no_code(name: str) -> None:
    assert write_expression(name) == ""
    assert parenthesize_name(name) == name
    assert join_attribute(name, "grad").startswith("the .grad of ")


class Program:
    """Variables, and calls that are written in the source of a file."""

    count = 0

    def __init__(self, engine: ModuleType) -> None:
        a = engine.tensor([1.0, 2.0], requires_grad=True)
        net = engine.nn.Sequential(engine.nn.Linear(2, 1))
        self.names: dict[str, Any] = {"a": a, "net": net, "flag": True, "torch": engine}
        self.names |= {"explain": explain, "graph": graph, "memory": memory, "snapshot": snapshot}

    def run(self, code: str) -> Any:
        """Run a program; return its `said`."""
        Program.count += 1
        file = f"<expressions {Program.count}>"
        linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
        try:
            exec(compile(code, file, "exec"), self.names)
        finally:
            del linecache.cache[file]
        return self.names.get("said")

    def eval(self, code: str) -> Any:
        """Return what an expression of a text is worth: it is one, and stands for something."""
        return eval(code, self.names)


EXPRESSIONS = [
    ("a.exp() + a.sin()", "(a.exp() + a.sin())"),
    ("a.exp() if flag else a", "(a.exp() if flag else a)"),
    ("flag and a.exp()", "(flag and a.exp())"),
    ("torch.add(\n    a,  # the first\n    a.exp(),\n)", "torch.add(a, a.exp())"),
    ("a.exp()\n    + a", "(a.exp() + a)"),
    ("-a", "(-a)"),
    ("a.exp()", "a.exp()"),
    ("a.exp()[:1].expand(2)", "a.exp()[:1].expand(2)"),
    ("(a.exp(), 1.5)", "(a.exp(), 1.5)[0]"),
    ("[h for h in [a.exp()]]", "[h for h in [a.exp()]][0]"),
]


@pytest.mark.parametrize(("source", "code"), EXPRESSIONS)
def test_the_calls_in_an_explanation_are_those_of_the_argument(
    source: str, code: str, engine: ModuleType
) -> None:
    program = Program(engine)
    text = str(program.run(f"said = explain({source})"))
    assert text.startswith(f"{code}.backward() would raise.\n")
    with pytest.raises(RuntimeError, match="scalar outputs"):
        program.eval(f"{code}.backward()")
    assert f"Way out: call {code}.sum().backward(), or give backward " in text
    program.eval(f"{code}.sum().backward()")
    assert program.eval("a.grad") is not None


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("a.sum() * 2", "(a.sum() * 2)"),
        ("a.sum() if flag else a", "(a.sum() if flag else a)"),
        ("sum(h for h in a)", "sum((h for h in a))"),
        ("sum(a[k] * 2\n    for k in (0, 1)) / 2", "(sum((a[k] * 2 for k in (0, 1))) / 2)"),
        ("(loss := a.sum())", "loss"),
        ("[0, a.sum()]", "[0, a.sum()][1]"),
        ("{'x': a.sum()}['x']", "{'x': a.sum()}['x']"),
    ],
)
def test_a_backward_that_runs_is_called_as_it_can_be_called(
    source: str, code: str, engine: ModuleType
) -> None:
    program = Program(engine)
    text = str(program.run(f"said = explain({source}, (a if flag else net))"))
    assert text == f"{code}.backward() would run. It adds to (a if flag else net).grad."
    program.eval(f"{code}.backward()")
    assert program.eval("(a if flag else net).grad") is program.eval("a.grad")


def test_each_verdict_has_the_call(engine: ModuleType) -> None:
    program = Program(engine)
    program.run("h = a.exp(); early = snapshot(h)")
    text = str(program.run("said = explain(h.sum() * 1)"))
    assert text.startswith("(h.sum() * 1).backward() would run and add to ")
    text = str(program.run("h.data.zero_(); said = explain(h.sum() * 1, since=early)"))
    assert text.startswith("(h.sum() * 1).backward() would run, but may give a wrong gradient.")
    program.run("b = a * 1; hook = b.register_hook(lambda g: g if g.sum() else None)")
    text = str(program.run("said = explain(b.sum() * 1)"))
    assert text.startswith("It is not known whether (b.sum() * 1).backward() would run and give ")


def test_a_backward_called_first_is_that_of_its_argument(engine: ModuleType) -> None:
    program = Program(engine)
    text = str(program.run("y = a.exp().sum()\nsaid = explain(y * 1, y\n * 2)"))
    assert "- (y * 1).backward(), called first, gives back what ExpBackward0 saved" in text
    program.eval("(y * 1).backward()")
    with pytest.raises(RuntimeError, match="second time"):
        program.eval("(y * 2).backward()")


@pytest.mark.torch
def test_a_complex_result_has_a_way_out_that_runs() -> None:
    import torch

    program = Program(torch)
    program.run("c = torch.ones(2, dtype=torch.complex64, requires_grad=True)")
    text = str(program.run("said = explain(c * 2)"))
    assert "Way out: call (c * 2).abs().sum().backward(), or give " in text
    with pytest.raises(RuntimeError, match="real scalar"):
        program.eval("(c * 2).sum().backward()")
    program.eval("(c * 2).abs().sum().backward()")
    text = str(program.run("said = explain(c.sum() if flag else c)"))
    code = "(c.sum() if flag else c)"
    assert f"Way out: call backward on {code}.abs() or {code}.real." in text
    program.eval(f"{code}.abs().backward()")
    program.eval(f"{code}.real.backward()")


def test_of_several_names_one_is_called(engine: ModuleType) -> None:
    program = Program(engine)
    program.run("y = z = a.sum(); b = a")
    assert str(program.run("said = explain(y, z, a, b)")) == (
        "y.backward() would run. It adds to a.grad."
    )
    # Of two names the one that is code.
    named = str(program.run("said = explain({'a loss': y}, y)"))
    assert named.startswith("y.backward() would run. ")


def test_what_no_code_names_is_described(engine: ModuleType) -> None:
    y = engine.tensor([1.0, 2.0], requires_grad=True)
    named: dict[str, Any] = {"my loss": y * 2, "w in f": y}
    text = str(explain(**named))
    assert text.startswith("backward() on my loss would raise.\n")
    assert "Way out: call .sum().backward() on my loss, or give backward " in text
    assert str(explain(**{"0": (y * 2).sum()}, **{"w in f": y})) == (
        "backward() on 0 would run. It adds to the .grad of w in f."
    )
    y.grad = engine.ones(2)
    assert "adds to the .grad of w in f" in graph({"w in f": y}, loss=(y * 2).sum()).text


@pytest.mark.parametrize(
    ("saved", "way_out"),
    [
        ("h", "write to a copy (h.clone()), or write after backward"),
        ("(h if flag else a)", "write to a copy ((h if flag else a).clone()), or write after"),
        ("hs", "write to a copy (hs[0].clone()), or write after backward"),
        ("[1.5, h]", "write to a copy ([1.5, h][1].clone()), or write after backward"),
        ("get()", "write to a copy (clone), or write after backward"),
        ("(h := get())", "write to a copy (h.clone()), or write after backward"),
        ("get() if flag else a", "write to a copy (clone), or write after backward"),
        ("hs[next(numbers)]", "write to a copy (clone), or write after backward"),
        ("h if get() is h else a", "write to a copy (clone), or write after backward"),
    ],
)
def test_the_way_out_of_a_write_copies_what_was_written(
    saved: str, way_out: str, engine: ModuleType
) -> None:
    program = Program(engine)
    program.run("h = a.exp(); loss = h.sum(); h = h.zero_(); hs = [h]; get = lambda: h")
    program.run("numbers = iter([0])")
    text = str(program.run(f"said = explain(loss, {saved})"))
    assert f"Way out: {way_out}" in text


def test_the_way_out_of_an_unseen_write_copies_what_was_written(engine: ModuleType) -> None:
    program = Program(engine)
    program.run("h = a.exp(); loss = h.sum(); early = snapshot(loss)")
    program.run("n = h.detach().numpy(); n[:] = 0")
    text = str(program.run("said = explain(loss, h if flag else a, n, since=early)"))
    assert "or make it from a copy ((h if flag else a).detach().clone())." in text
    program.run("del n")
    text = str(program.run("said = explain(loss, h if flag else a, since=early)"))
    code = "(h if flag else a).detach()"
    assert f"write to a copy ({code}.clone()); a write through {code} would at least be" in text
    assert program.eval(f"{code}.data_ptr() == h.data_ptr()")


@pytest.mark.parametrize(
    ("source", "start"),
    [
        ("net if flag else a", "(net if flag else a).0."),
        ("flag and net", "(flag and net).0."),
        ("[net][0]", "[net][0].0."),
        ("(net, 1.5)", "(net, 1.5).0.0."),
    ],
)
def test_paths_below_an_expression_lead_there(source: str, start: str, engine: ModuleType) -> None:
    program = Program(engine)
    snap = program.run(f"said = snapshot({source})")
    assert [name for name, _ in snap.names] == [f"{start}weight", f"{start}bias"]
    code = snap.find_expression(f"{start}weight")
    assert program.eval(code) is program.eval("net[0].weight")
    label = program.run(f"said = snapshot(a, {source})").grad_label(f"{start}weight")
    assert label == f"{start}weight.grad"


def test_a_view_without_a_name_is_a_part_of_the_expression(engine: ModuleType) -> None:
    program = Program(engine)
    program.run("w = torch.ones(4, 6)\nv = w[1].requires_grad_()\ny = v * v")
    text = program.run("said = graph(y, w if flag else a)").text
    assert "(w if flag else a)[1]" in text
    assert program.eval("(w if flag else a)[1].data_ptr() == v.data_ptr()")
    program.run("v = w.t().requires_grad_()\ny = v * v")
    assert "(w if flag else a) transposed" in program.run("said = graph(y, w if flag else a)").text
    part = engine.ones(4, 6)
    loss = (part[1].requires_grad_() ** 2).sum()
    assert "a view of my w" in graph({"my w": part}, loss=loss).text
    assert "my w[1]" not in graph({"my w": part}, loss=loss).text


def test_what_was_written_is_named_in_code(engine: ModuleType) -> None:
    program = Program(engine)
    before = program.run("said = snapshot(a if flag else net)")
    program.run("a.sum().backward()")
    after = program.run("said = snapshot(a if flag else net)")
    assert list_written_names(before, after) == ["(a if flag else net).grad"]


def test_refusals_of_several_roots_are_those_of_their_calls(engine: ModuleType) -> None:
    class Unsure(engine.autograd.Function):  # type: ignore[name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:  # noqa: ARG004
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:  # noqa: ARG004
            return grad if grad.sum() else None

    x = engine.ones(2, requires_grad=True)
    h = x + 1
    first, second = h.sum(), Unsure.apply(h).sum()
    x.grad = engine.zeros(1).expand(2)  # cannot be added to
    for picture in (graph(first * 1, second, x=x), memory(first * 1, second, x=x)):
        assert "(first * 1).backward() will raise: x.grad is expanded" in picture.text
    with pytest.raises(RuntimeError, match="single memory location"):
        (first * 1).backward()
    picture = memory({"my loss": first, "other": second, "x": x})
    assert "backward() on my loss will raise: x.grad is expanded" in picture.text
