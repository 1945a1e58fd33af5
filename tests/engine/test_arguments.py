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


def outcome_and_result(engine: Any, call: str) -> str:
    """What a call raises, or what it returns: the values of a tensor with its strides."""
    names: dict[str, Any] = {"torch": engine, "np": np, "x": engine.arange(6.0).view(2, 3)}
    names |= {"k": engine.arange(6).view(2, 3), "b": engine.tensor([True, False])}
    names |= {"v": engine.arange(4.0), "n": engine.tensor(2)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = eval(call, names)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    found = found if isinstance(found, (tuple, list)) else [found]
    texts = [
        f"{t.tolist()} {t.dtype} {t.stride()}" if isinstance(t, engine.Tensor) else repr(t)
        for t in found
    ]
    return re.sub("0x[0-9a-f]+|tiny(?=torch)", "", " ".join(texts))


# What PyTorch has written in C, and tinytorch in Python without a schema.
METHODS_IN_C = [
    *("_is_view", "data_ptr", "detach_", "dim", "element_size", "get_device"),
    *("is_complex", "is_contiguous", "is_floating_point", "is_inference", "is_signed", "item"),
    *("ndimension", "nelement", "numel", "requires_grad_", "retain_grad", "size"),
    *("storage_offset", "stride", "tolist", "untyped_storage"),
]
ARGUMENTS = ["5, 5", "5, 5, 5", "foo=1", "'a'", "x, x", "dim='a'", "1.5", "[0]", "0, foo=1"]


@pytest.mark.parametrize("name", METHODS_IN_C)
def test_arguments_that_a_method_in_c_does_not_take(name: str) -> None:
    calls = [f"x.{name}({arguments})" for arguments in ARGUMENTS]
    calls += [f"torch.Tensor.{name}({arguments})" for arguments in ("", "5", "None", "5, x", "[x]")]
    ours = {call: outcome_and_result(tinytorch, call) for call in calls}
    assert ours == {call: outcome_and_result(torch, call) for call in calls}
    assert all("Error" in text for text in ours.values())


ODD_CALLS = [
    # functions of the module without arguments
    *(
        f"torch.{name}(5)"
        for name in ("is_grad_enabled", "is_anomaly_enabled", "get_default_dtype")
    ),
    *(f"torch.is_{name}_enabled(a=1)" for name in ("inference_mode", "anomaly_check_nan", "grad")),
    *(f"torch.set_anomaly_enabled({z})" for z in ("", "5", "None", "True, 5", "True, check_nan=5")),
    *(f"torch.autograd.set_detect_anomaly({z})" for z in ("5", "'a'", "True, 5")),
    *(f"torch.finfo({z})" for z in ("None", "5", "torch.int64")),
    *(f"torch.iinfo({z})" for z in ("None", "5", "torch.float32")),
    *(f"torch.set_warn_always({z})" for z in ("5", "None")),
    # methods that PyTorch has written in Python
    *(
        f"x.split({z})"
        for z in ("", "'a'", "None", "1.5", "[1, 'a']", "['a']", "True", "k", "n", "b")
    ),
    *(
        f"torch.split({z})"
        for z in ("x, 'a'", "x, 1, 'a'", "x, np.int64(2)", "x, [1.5, 1]", "5, 1")
    ),
    *(f"torch.Tensor.split({z})" for z in ("", "5, 1", "x")),
    *(f"x.split({z})" for z in ("split_sizes=[1, 1]", "split_size=[1, 1]", "2, 1", "(1, 2), -1")),
    *(f"torch.Tensor.unflatten({z})" for z in ("", "5", "x", "x, 5", "5, 1, (3, 1)")),
    *(
        f"x.unflatten({z})"
        for z in ("", "1", "1, None", "1, ()", "1, 5", "'a', (3, 1)", "1, (3, 1)")
    ),
    *(f"x.register_hook({z})" for z in ("", "5, 5", "foo=1")),
    *(f"torch.Tensor.register_post_accumulate_grad_hook({z})" for z in ("", "x", "x, 5, 5")),
    *(f"x.__contains__({z})" for z in ("", "5, 5", "foo=1")),
    # norms
    *(f"x.norm({z})" for z in ("1j", "2, 0, True, torch.float64", "2, 0, True, 5", "foo=1", "'a'")),
    *(f"x.norm({z})" for z in ("x", "2, 'a'", "2, 5", "'fro', [0, 1, 0]", "2, 0, True, None, 5")),
    *(f"torch.norm({z})" for z in ("", "5", "None", "[1.0]", "x, 'fro', (0, 1)", "x, out=5")),
    *(f"torch.Tensor.norm({z})" for z in ("", "5")),
    # numbers that no dtype holds, and complex ones where PyTorch has no kernel for them
    *(f"x.copy_({z})" for z in ("2**70", "-2**70", "2**63", "2**64 - 1", "'a'", "None")),
    *(f"k.copy_({z})" for z in ("2**70", "-2**63 - 1", "2**63", "2**64 - 1", "1.5")),
    *(f"torch.zeros(1, dtype=torch.{d}).copy_(2**63)" for d in ("bool", "uint8", "int32", "half")),
    *(f"{z} {symbol} 1j" for z in ("k", "b", "x", "x.double()", "n") for symbol in "&|^"),
    *(f"k {symbol} 1j" for symbol in ("<<", ">>")),
    *(f"torch.bitwise_{name}(1j, k)" for name in ("and", "or", "xor", "left_shift")),
    *(f"{z}.bitwise_and_(1j)" for z in ("k", "b", "x.double()", "n")),
    "k.pow_(1j)",
    *("x.addcmul(x, x, value=1j)", "x.addcdiv_(x, x, value=1j)", "torch.arange(1j)"),
    *(f"torch.{name}(x, correction=1j)" for name in ("std", "var")),
    # types by their names
    *(
        f"x.type({z!r})"
        for z in ("torch.Tensor", "FloatTensor", "torch.LongTensor", "torch.float32")
    ),
    *(f"x.type({z})" for z in ("x", "5", "float", "object", "torch.Tensor", "torch.LongTensor")),
    # a method with other overloads than the function
    *(f"x.nonzero({z})" for z in ("", "5", "5, 5", "5, 5, 5", "foo=1", "as_tuple=5", "out=k")),
    *(f"torch.nonzero({z})" for z in ("x, 5", "x, as_tuple=5", "x, out=5", "x, foo=1", "5", "")),
    "x.nonzero(as_tuple=True)",
    # storages
    *(f"torch.UntypedStorage({z})" for z in ("'a'", "1.5", "None", "[1, 'a']", "{}", "x", "2**70")),
    *(f"torch.UntypedStorage({z}).tolist()" for z in ("[300, -1, True]", "b'ab'", "range(3)")),
]


@pytest.mark.parametrize("call", ODD_CALLS)
def test_an_odd_call_does_what_torch_does(call: str) -> None:
    assert outcome_and_result(tinytorch, call) == outcome_and_result(torch, call)
