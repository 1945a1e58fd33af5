"""Calls that do not fit: wrong numbers, types and names of arguments, of all that is declared."""

from __future__ import annotations

import re
import warnings
from types import BuiltinFunctionType
from typing import Any

import numpy as np
import pytest
from needs import torch_missing

import tinytorch
from tinytorch.ops import define

torch = pytest.importorskip("torch", reason=torch_missing())
pytestmark = pytest.mark.torch

CALLS = [
    "",
    "x, 'a'",
    "x, None",
    "x, foo=1",
    "x, x, foo=1",
    "'a'",
    "1",
    "[x]",
    "x, 1.5, x, x, x, x",
    "x, dim='a'",
    "x, [x], 1",
]


FEWER = (
    "addmm",
    "bernoulli",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bmm",
    "clamp",
    "clip",
    "div",
    "floor_divide",
    "lerp",
    "mm",
    "narrow",
    "nonzero",
    "normal",
    "random",
    "round",
    "scatter",
    "split",
)
"""What torch has more overloads of, or other ones, which its errors list."""


def outcome(engine: Any, call: str) -> str:
    """What the call raises."""
    names = {"torch": engine, "np": np, "x": engine.ones(2, 3)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eval(call, names)
        except Exception as error:
            return f"{type(error).__name__}: {re.sub('0x[0-9a-f]+', '', str(error))}"
    return "fine"


def _list_declared_names(owner: Any) -> list[str]:
    return [n for n in sorted(dir(owner)) if hasattr(getattr(owner, n), "overloads")]


def _in_c(name: str) -> bool:
    return (
        type(vars(torch.Tensor).get(name, vars(torch._C.TensorBase).get(name))).__name__
        == "method_descriptor"
    )


def _names() -> list[str]:
    """Functions that are declared with torch's schema and that torch has not written in Python."""
    functions = [
        n
        for n in _list_declared_names(tinytorch)
        if isinstance(getattr(torch, n, None), BuiltinFunctionType)
    ]
    names = [f"torch.{n}" for n in functions] + [
        f"x.{n}" for n in _list_declared_names(tinytorch.Tensor) if _in_c(n)
    ]
    return [n for n in names if n.partition(".")[2].rstrip("_") not in FEWER]


@pytest.mark.parametrize("name", _names())
def test_a_call_that_does_not_fit_says_what_torch_says(name: str) -> None:
    """Wherever torch raises a TypeError for the arguments, its text is tinytorch's."""
    different = []
    calls = [c[3:] for c in CALLS if c[:1] == "x"] if name[0] == "x" else CALLS
    for call in (f"{name}({inside})" for inside in calls):
        theirs = outcome(torch, call)
        if theirs.startswith("TypeError") and (ours := outcome(tinytorch, call)) != theirs:
            different.append(f"{call}\n  {ours}\ninstead of\n  {theirs}")
    assert not different, "\n".join(different)


OPERATORS = [
    "a + b",
    "b + a",
    "a - b",
    "b / a",
    "a @ b",
    "b @ a",
    "a < b",
    "b ** a",
    "a.__iadd__(b)",
]


@pytest.mark.parametrize("operation", OPERATORS)
def test_operands_of_both_engines_are_told_apart(operation: str) -> None:
    both = {"a": tinytorch.ones(2), "b": torch.ones(3)}
    said = (
        r"a tensor of tinytorch, of shape \(2,\), and one of PyTorch, of shape \(3,\), do not mix"
    )
    with pytest.raises(TypeError, match=said):
        eval(operation, both)


def test_arguments_of_the_other_engine_are_told_apart() -> None:
    a, b = tinytorch.ones(2), torch.ones(2)
    with pytest.raises(
        TypeError, match=r"must be Tensor, not PyTorch Tensor \(this is tinytorch\)"
    ):
        tinytorch.add(a, b)
    assert (a == b) is False, "which containers ask"


def test_a_number_that_is_self_has_no_name_of_an_input() -> None:
    with_a_number = [o for o in define.OPS if "Scalar self" in o.schema.text]
    assert {"pow", "remainder", "where"} <= {o.name for o in with_a_number}
    for declared in with_a_number:
        values = {"Scalar": "2.0", "Tensor": "x"}
        if declared.name.startswith("bitwise"):
            values = {"Scalar": "2", "Tensor": "x.long()"}
        for name in ("self", "input", "x", "a", "x1"):
            given = [
                f"{name if p.name == 'self' else p.name}={values[p.schema_type]}"
                for p in declared.schema.params
            ]
            call = f"torch.{declared.name}({', '.join(given)})".replace(
                "condition=x", "condition=x>0"
            )
            assert outcome(tinytorch, call) == outcome(torch, call), call
            assert (outcome(tinytorch, call) == "fine") == (name == "self")


# What is no tensor, where a tensor belongs.
NO_TENSORS = (
    "5",
    "2.5",
    "None",
    "'a'",
    "[1]",
    "()",
    "np.ones((2, 3))",
    "np.float32(2)",
    "object",
    "2**70",
)
FUNCTIONS_IN_PYTHON = [
    *(f"torch.nn.functional.{name}(z)" for name in ("relu", "relu_", "sigmoid", "tanh")),
    *(f"torch.nn.{name}()(z)" for name in ("ReLU", "Sigmoid", "Tanh", "Identity", "Flatten")),
    "torch.nn.functional.softmax(z, 0)",
    "torch.nn.functional.dropout(z)",
    "torch.nn.Linear(3, 2)(z)",
    "torch.nn.ReLU(inplace=True)(z)",
    *(f"torch.nn.init.{name}(z)" for name in ("zeros_", "ones_", "normal_", "eye_", "dirac_")),
    *(f"torch.nn.init.xavier_{name}_(x, z)" for name in ("uniform", "normal")),
    *(f"torch.nn.init.kaiming_{name}_(x, a=z)" for name in ("uniform", "normal")),
    *("x.size(z)", "x.stride(z)", "x.size(True)", "torch.nn.ModuleList(z)", "torch.nn.Dropout(z)"),
    "torch.nn.init.trunc_normal_(z)",
    "torch.nn.init.trunc_normal_(z, 0, 1, 3, 4)",
    "torch._C._autograd._unsafe_set_version_counter((z,), (1,))",
    "torch.set_rng_state(z)",
    "torch.Generator().set_state(z)",
    "torch.broadcast_shapes(z)",
    "torch.broadcast_shapes((3, 1), z)",
    "torch.autograd.grad(x.requires_grad_().sum(), z)",
    "z in x",
    "x[object]",
]
FUNCTIONS_IN_PYTHON += [
    f"torch.nn.functional.{loss}({arguments})"
    for loss in ("mse_loss", "nll_loss", "cross_entropy", "binary_cross_entropy_with_logits")
    for arguments in ("x, z", "z, x", "input=z, target=x", "x, x, reduction=z")
]


@pytest.mark.parametrize("call", FUNCTIONS_IN_PYTHON)
def test_what_is_no_tensor_is_refused_by_functions_in_python(call: str) -> None:
    assert {z: outcome(tinytorch, re.sub(r"\bz\b", z, call)) for z in NO_TENSORS} == {
        z: outcome(torch, re.sub(r"\bz\b", z, call)) for z in NO_TENSORS
    }


def test_a_method_of_no_tensor_says_what_torch_says() -> None:
    """Also one that has an overload for a number in the place of `self`: `pow`, `bitwise_and`."""
    names = [n for n in _list_declared_names(tinytorch.Tensor) if _in_c(n)]
    calls = [f"torch.Tensor.{name}({z})" for name in names for z in ("", "5", "5, x", "[x], 1")]
    assert len(calls) > 1000
    ours = {call: outcome(tinytorch, call) for call in calls}
    assert ours == {call: outcome(torch, call) for call in calls}


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "floor_divide"])
@pytest.mark.parametrize("number", ["5", "2.5", "True", "np.bool_(True)", "2**70"])
def test_a_number_as_out_is_made_a_tensor(name: str, number: str) -> None:
    call = f"torch.{name}(x, x, out={number})"
    assert outcome(tinytorch, call) == outcome(torch, call)


@pytest.mark.parametrize("operator", ["-", "/", "//", "%", "**", "+", "*"])
@pytest.mark.parametrize("number", ["np.float32(2)", "np.float64(2)", "np.bool_(True)"])
def test_numbers_of_numpy_on_the_left_of_an_operator(operator: str, number: str) -> None:
    found = [
        eval(f"{number} {operator} x", {"np": np, "x": engine.ones(2, 3)})
        for engine in (tinytorch, torch)
    ]
    assert isinstance(found[0], tinytorch.Tensor)
    assert (found[0].tolist(), str(found[0].dtype)) == (found[1].tolist(), str(found[1].dtype))
