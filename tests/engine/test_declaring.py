"""docs/adding_an_op.md: the op that it declares, from its very text, is all that the page says, and PyTorch's.

The op is taken back after each test, so that nothing else sees it.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tinytorch
from tinytorch import Tensor
from tinytorch.graph import gradient_state
from tinytorch.ops import define, kernels, pointwise
from tinytorch.ops.choosing import masked_fill
from tinytorch.ops.schema import Schema

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "adding_an_op.md").read_text(encoding="utf-8")
EXAMPLE, IN_LISTS, JOINT, WITH_A_NUMBER = re.findall(
    r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
)


def registries() -> tuple[list, list, list, list]:
    """All that declaring writes to, as it is now, in its order: stubs and pages are written in that.

    All functions and methods are made first, so that nothing takes its place meanwhile.
    """
    functions = [(n, define.find_function(n)) for n in define.FUNCTIONS]
    for name in vars(Tensor):
        getattr(Tensor, name)
    groups = [(n, [*g.offers]) for n, g in define.OVERLOADS.items()]
    return functions, [*vars(Tensor).items()], groups, [*define.OPS]


def take_away(name: str) -> None:
    """Take away an op, and its `name_`, if it is declared."""
    define.OPS[:] = [o for o in define.OPS if o.name not in (name, f"{name}_")]
    for n in (name, f"{name}_"):
        define.FUNCTIONS.pop(n, None)
        define.OVERLOADS.pop(n, None)
        if n in vars(Tensor):
            delattr(Tensor, n)


def give_back(name: str, attributes: list[tuple[str, Any]]) -> None:
    """Give an op that was taken away back to Tensor, in its place: before those declared after it."""
    names = [n for n, _ in attributes]
    places = [names.index(n) for n in (name, f"{name}_") if n in names]
    for n, attribute in attributes[min(places, default=len(names)) :]:
        if n in vars(Tensor):
            delattr(Tensor, n)
        setattr(Tensor, n, attribute)


@contextlib.contextmanager
def declared(text: str, is_offered: bool = True) -> Iterator[Any]:
    """The function of an op that a text declares where the pointwise ones are declared; taken back in the end.

    None unless it is offered. If that op has been added to the lists since, as the page teaches, it is away meanwhile.
    """
    functions, attributes, _, ops = registries()
    overloads: list[Any] = [*define.OVERLOADS.items()]
    (name,) = re.findall(r'\bop\(\s*"(\w+)\(', text)
    try:
        take_away(name)
        exec(text, vars(pointwise) | {"masked_fill": masked_fill})
        yield define.find_function(name) if is_offered else None
    finally:
        take_away(name)
        define.OPS[:] = ops
        define.FUNCTIONS.clear()
        define.FUNCTIONS.update(functions)
        define.OVERLOADS.clear()
        define.OVERLOADS.update(overloads)
        give_back(name, attributes)


def said(call: Callable) -> str:
    """What a call gives, or the error that it raises."""
    try:
        return str(call())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def seen(torch: Any, hypot: Callable) -> dict[str, str]:
    """What somebody sees of the operation, by what it is."""
    x, y = (torch.tensor(v, requires_grad=True) for v in ([3.0, 5.0], [4.0, 12.0]))
    plain = torch.tensor([3.0, 5.0])
    z = hypot(x, y)
    saved = z.grad_fn._saved_result, z.grad_fn._saved_self
    written = x.detach().clone().hypot_(y)
    into = torch.empty(0)
    half = hypot(plain, y).grad_fn
    gx, gy = torch.autograd.grad(z.sum(), (x, y), create_graph=True)
    told = {
        "value": f"{z} {x.hypot(y)}",
        "node": f"{z.grad_fn.name()} {sorted(n for n in dir(z.grad_fn) if n.startswith('_saved'))}",
        "saved": f"{saved[0]} {saved[1] is x}",
        "not needed": f"{half._saved_self}",
        "gradient": f"{gx} {gy}",
        "second gradient": f"{torch.autograd.grad(gx.sum(), (x, y))}",
        "in place": f"{written} {written._version}",
        "on a leaf": said(lambda: x.hypot_(y)),
        "out=": f"{hypot(plain, plain, out=into) is into} {into}",
        "out= with history": said(lambda: hypot(x, y, out=into)),
        "too few": said(lambda: hypot(x)),
        "wrong type": said(lambda: hypot(x, 2.0)),
        "wrong keyword": said(lambda: x.hypot(that=y)),
        "wrong dtype": said(lambda: hypot(torch.tensor([1]), torch.tensor([1]))),
        "wrong shape": said(lambda: hypot(x, torch.ones(3))),
    }
    # An operation that was declared before, by another test, has taken the number 0.
    return {what: re.sub(r"(?<=HypotBackward)\d+", "0", text) for what, text in told.items()}


TORCHS = {
    "value": "tensor([ 5., 13.], grad_fn=<HypotBackward0>) tensor([ 5., 13.], grad_fn=<HypotBackward0>)",
    "node": "HypotBackward0 ['_saved_other', '_saved_result', '_saved_self']",
    "saved": "tensor([ 5., 13.], grad_fn=<HypotBackward0>) True",
    "not needed": "None",
    "gradient": "tensor([0.6000, 0.3846], grad_fn=<DivBackward0>) tensor([0.8000, 0.9231], grad_fn=<DivBackward0>)",
    "second gradient": "(tensor([0.1280, 0.0655]), tensor([-0.0960, -0.0273]))",
    "in place": "tensor([ 5., 13.], grad_fn=<HypotBackward0>) 1",
    "on a leaf": "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.",
    "out=": "True tensor([4.2426, 7.0711])",
    "out= with history": "RuntimeError: hypot(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.",
    "too few": 'TypeError: hypot() missing 1 required positional arguments: "other"',
    "wrong type": "TypeError: hypot(): argument 'other' (position 2) must be Tensor, not float",
    "wrong keyword": 'TypeError: hypot() missing 1 required positional arguments: "other"',
    "wrong dtype": "NotImplementedError: \"hypot_cpu\" not implemented for 'Long'",
    "wrong shape": "RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
}


def test_the_example_is_all_that_the_page_says() -> None:
    with declared(EXAMPLE) as hypot:
        assert seen(tinytorch, hypot) == TORCHS
        assert hypot.__doc__.startswith("hypot(Tensor self, Tensor other)\n")


@pytest.mark.torch
def test_what_it_does_is_torchs() -> None:
    import torch

    assert seen(torch, torch.hypot) == TORCHS
    with declared(EXAMPLE):
        schemas = {str(s) for s in torch._C._jit_get_all_schemas()}
        assert f"aten::{define.OPS[-1].schema.text} -> Tensor" in schemas


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ("np.hypot", "np.add", "value"),
        ("grad * self / result", "grad * self * result", "gradient"),
        ('takes="f", stub="hypot_cpu"', "", "wrong dtype"),
        (
            "other=lambda grad, other, result",
            "other=lambda grad, other, self, result",
            "not needed",
        ),
        ("Tensor other)", "Tensor other=None)", "too few"),
    ],
)
def test_a_wrong_declaration_is_noticed(old: str, new: str, differs: str) -> None:
    assert old in EXAMPLE
    with declared(EXAMPLE.replace(old, new)) as hypot:
        assert seen(tinytorch, hypot)[differs] != TORCHS[differs]


def test_nothing_of_it_is_left() -> None:
    before = registries()
    with declared(EXAMPLE):
        during = registries()
        assert all(a != b for a, b in zip(before, during, strict=True))
    assert registries() == before
    assert hasattr(tinytorch.ones(1), "hypot") == ("hypot" in dict(before[1]))


def test_an_op_that_is_there_already_comes_back_as_it_was() -> None:
    before, maximum = registries(), vars(Tensor)["maximum"]
    with declared(EXAMPLE.replace('"hypot(', '"maximum(')) as other:
        assert other(tinytorch.tensor([3.0]), tinytorch.tensor([4.0])).tolist() == [5.0]
        assert vars(Tensor)["maximum"] is not maximum and "maximum_" in vars(Tensor)
    assert registries() == before
    assert vars(Tensor)["maximum"] is maximum and "maximum_" not in vars(Tensor)


def test_the_other_examples_stand_in_the_lists() -> None:
    engine = "".join(
        p.read_text(encoding="utf-8") for p in (ROOT / "tinytorch" / "ops").glob("*.py")
    )
    lines = IN_LISTS.splitlines()
    assert len(lines) > 2
    assert [
        line
        for line in lines
        if re.sub(r"\s|# fmt: skip", "", line) not in re.sub(r"\s|# fmt: skip", "", engine)
    ] == []


def nodes_of_gradient(torch: Any, function: Callable) -> str:
    """The nodes from which the gradient of a function of two tensors comes."""
    x, y = (torch.tensor(v, requires_grad=True) for v in ([3.0, 5.0], [4.0, 12.0]))
    (grad,) = torch.autograd.grad(function(x, y).sum(), x, create_graph=True)
    names, fn = [], grad.grad_fn
    while fn is not None:
        names.append(fn.name())
        fn = next((edge[0] for edge in fn.next_functions if edge[0] is not None), None)
    return f"{grad} {names}"


def numbered_nodes_of_gradients(torch: Any, function: Callable) -> list[str]:
    """The gradients of a function of two tensors, and the nodes that compute them, in the order in which they were made.

    Each with the numbers of those below it, counted from the first.
    """
    x, y = (torch.tensor(v, requires_grad=True) for v in ([3.0, 0.0], [4.0, 0.0]))
    seed = torch.ones(2, requires_grad=True)
    gradients = torch.autograd.grad(function(x, y), (x, y), seed, create_graph=True)
    nodes = [gradient.grad_fn for gradient in gradients]
    for node in nodes:
        below = [n for n, _ in node.next_functions if n is not None and n.next_functions]
        nodes += [n for n in below if n not in nodes]
    nodes.sort(key=lambda node: node._sequence_nr())
    return [
        *map(str, gradients),
        *(
            f"{n.name()} {[nodes.index(m) if m in nodes else None for m, _ in n.next_functions]}"
            for n in nodes
        ),
    ]


NODES_OF_JOINT = [
    "tensor([0.1600, 0.0000], grad_fn=<MulBackward0>)",
    "tensor([-0.1200, -0.0000], grad_fn=<MulBackward0>)",
    "MulBackward0 [None, None]",  # of `other`, before that of `self`
    "MulBackward0 [None, None]",
    "AddBackward0 [1, 0]",
    "ReciprocalBackward0 [2]",
    "MaskedFillBackward0 [3]",
    "MulBackward0 [None, None]",
    "MulBackward0 [5, 4]",
    "NegBackward0 [None]",
    "MulBackward0 [None, 7]",
    "MulBackward0 [8, 4]",
]


def test_a_joint_formula_makes_the_nodes_in_the_order_that_the_page_promises() -> None:
    with declared(JOINT) as atan2:
        assert numbered_nodes_of_gradients(tinytorch, atan2) == NODES_OF_JOINT
        x, y = tinytorch.ones(1, requires_grad=True), tinytorch.ones(1)
        node = atan2(x, y).grad_fn
        assert node._saved_self is x and node._saved_other is y
    in_pythons_order = JOINT.replace(
        "self * self + squares_of_other", "self * self + other * other"
    )
    with declared(in_pythons_order) as atan2:
        assert "AddBackward0 [1, 0]" not in numbered_nodes_of_gradients(tinytorch, atan2)


@pytest.mark.torch
def test_a_joint_formula_makes_torchs_nodes_in_torchs_order() -> None:
    import torch

    assert numbered_nodes_of_gradients(torch, torch.atan2) == NODES_OF_JOINT
    x, y = torch.ones(1, requires_grad=True), torch.ones(1)
    node = torch.atan2(x, y).grad_fn
    assert node._saved_self is x and node._saved_other is y


WITH_A_NUMBERS_NODES = (
    "tensor([0.2689, 0.0009], grad_fn=<DivBackward0>) "
    "['DivBackward0', 'AddBackward1', 'ExpBackward0', 'SubBackward0', 'torch::autograd::AccumulateGrad']"
)


def test_a_formula_with_a_number_makes_the_nodes_that_the_page_promises() -> None:
    with declared(WITH_A_NUMBER) as logaddexp:
        assert nodes_of_gradient(tinytorch, logaddexp) == WITH_A_NUMBERS_NODES
    with declared(
        WITH_A_NUMBER.replace("plus(exp(sub(other, self)), 1)", "(1 + exp(sub(other, self)))")
    ) as other:
        assert "AddBackward0" in nodes_of_gradient(tinytorch, other)


@pytest.mark.torch
def test_a_formula_with_a_number_makes_torchs_nodes() -> None:
    import torch

    assert nodes_of_gradient(torch, torch.logaddexp) == WITH_A_NUMBERS_NODES


WRITES_FOR_ONE_INPUT = """op(
    "masked_sum(Tensor self, Tensor other, Tensor third)",
    Kernel(lambda a, b, c: a + b + c),
    self=lambda grad: zeros_like(grad),
    other=lambda grad: masked_fill_(masked_fill_(where(grad == 0, 0, grad), grad > 1, 2), grad < 1, 3),
    third=lambda grad, other: where(grad == 0, 0, masked_fill_(where(other > 0, grad, 0), grad > 1, 2)),
)"""


def note_version(versions: list, i: int, grad: Any) -> None:
    """Note the version of a gradient, as a hook on input number `i`."""
    versions[i] = grad._version


def test_the_writes_of_a_formula_are_counted_for_its_own_gradient() -> None:
    with declared(WRITES_FOR_ONE_INPUT) as masked_sum:
        for create_graph in (False, True):
            versions: list = [None, None, None]
            inputs = [tinytorch.ones(3, requires_grad=True) for _ in range(3)]
            for i, x in enumerate(inputs):
                x.register_hook(functools.partial(note_version, versions, i))
            out = masked_sum(*inputs).sum()
            tinytorch.autograd.grad(out, inputs, create_graph=create_graph)
            # What is written to a factor of the third one is none to the gradient itself.
            assert versions == [0, 2, 0]
    assert not gradient_state.FORMULA_WRITES


WRITES_TO_A_QUOTIENT = """op(
    "with_sign_of(Tensor self, Tensor other)",
    pointwise(np.copysign, "float"),
    self=lambda grad, self, result: grad * masked_fill_(result / self, self == 0, 0),
    other=lambda grad: zeros_like(grad),
)"""


def second_gradient(function: Callable) -> Any:
    """The gradient of the gradient of the squares of what a function of two tensors gives."""
    x, y = (tinytorch.tensor(v, requires_grad=True) for v in ([4.0, 2.0], [-4.0, -1.0]))
    (grad,) = tinytorch.autograd.grad(function(x, y).pow(2).sum(), x, create_graph=True)
    return tinytorch.autograd.grad(grad.sum(), x)[0]


def test_a_formula_writes_to_what_the_page_allows_and_to_nothing_that_is_saved() -> None:
    with declared(WRITES_TO_A_QUOTIENT) as with_sign_of:
        assert second_gradient(with_sign_of).tolist() == [2.0, 2.0]
    saved = WRITES_TO_A_QUOTIENT.replace("result / self", "result * reciprocal(self)")
    with declared(saved) as with_sign_of:
        assert second_gradient(with_sign_of).tolist() == [2.0, 2.0]
    saved = saved.replace(
        "masked_fill_(result * reciprocal(self)", "result * masked_fill_(reciprocal(self)"
    )
    with declared(saved) as with_sign_of, pytest.raises(RuntimeError, match="inplace operation"):
        second_gradient(with_sign_of)


def test_what_the_tables_name_is_there() -> None:
    rows = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    options = {
        n
        for row in rows
        for n in re.findall(r"(?:`|, )(\w+)=", row)
        if "f)`" not in row and "(f" not in row
    }
    kinds = {n for row in rows for n in re.findall(r"`(\w+)\((?:other, )?f[,)]", row)}
    assert len(options) > 6
    assert options <= set(inspect.signature(define.op).parameters)
    assert kinds == {
        n
        for n, k in vars(kernels).items()
        if isinstance(k, type) and k.__module__ == kernels.__name__
    } - {"Kernel"}


def test_a_kernel_of_several_operations_is_bound_to_each() -> None:
    shared = kernels.pointwise(max)
    of_one, of_three = (
        shared.bind_schema(Schema(text))
        for text in ("f(Tensor self)", "f(Scalar self, Tensor other, Scalar max)")
    )
    assert (of_one.operand_count, of_one.decides_layout) == (1, [True])
    # torch makes a tensor of `self`, and leaves a bound a number
    assert (of_three.operand_count, of_three.decides_layout) == (3, [True, True, False])
    assert (shared.operand_count, shared.decides_layout) == (2, [True, True])
    in_use = [o.kernel for o in define.OPS if isinstance(o.kernel, kernels.pointwise)]
    assert len({id(kernel) for kernel in in_use}) == len(in_use) > 40


def test_an_overload_whose_self_is_a_number_is_a_function_alone() -> None:
    with declared('op("hypot(Scalar self, Tensor other)", pointwise(np.hypot))') as hypot:
        assert hypot(3, tinytorch.tensor([4.0])).tolist() == [5.0]
        assert not {"hypot", "hypot_"} & {*dir(Tensor)}
        assert "hypot_" not in define.OVERLOADS
        with pytest.raises(TypeError):
            hypot(input=3, other=tinytorch.tensor([4.0]))
