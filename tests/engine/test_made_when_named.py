"""What an import only notes is made when somebody names it: all of it can be made, once, and is found like what was there before."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from engine.test_declaring import declared

import tinytorch
from tinytorch import Tensor
from tinytorch.ops.define import FUNCTIONS, OPS, OVERLOADS, find_function
from tinytorch.ops.late import LaterFunction, LaterMethod, made_once
from tinytorch.ops.operation import Op
from tinytorch.ops.schema import Schema, has_tensor_self

ROOT = Path(__file__).resolve().parents[2]
PARTS = [name for name, part in vars(Op).items() if isinstance(part, made_once)]


def make_all_of(op: Op) -> None:
    """Make all that a call of an operation may need. The error of its declaration if there is one."""
    for part in PARTS:
        getattr(op, part)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.declaration.text.partition("(")[0])
def test_an_operation_can_be_made(op: Op) -> None:
    make_all_of(op)
    takes_tensor = any(p.name == "self" and p.is_tensor for p in op.schema.params)
    assert has_tensor_self(op.declaration.text) == takes_tensor


@pytest.mark.parametrize(
    ("declaration", "error"),
    [
        ('"hypot(Tensr self)", np.abs', "'Tensr self' has no type of a schema"),
        ('"hypot(Tensor)", np.abs', "'Tensor' is no parameter of a schema"),
        (
            '"hypot(Tensor self)", np.abs, other=fill_',
            "hypot(Tensor self) has no parameter 'other'",
        ),
        (
            '"hypot(Tensor self)", np.abs, self=lambda grad, end: grad',
            "hypot(Tensor self) has no parameter 'end'",
        ),
    ],
)
def test_a_mistake_in_a_declaration_is_found_when_it_is_made(declaration: str, error: str) -> None:
    text = f"op({declaration}, in_place=False)"
    with declared(text, is_offered=False), pytest.raises(ValueError, match=re.escape(error)):
        make_all_of(OPS[-1])


def test_every_function_and_method_can_be_made() -> None:
    assert len(PARTS) > 10 and len(FUNCTIONS) > 200
    for name in FUNCTIONS:
        assert getattr(tinytorch, name) is find_function(name)
        assert callable(find_function(name)) and name in dir(tinytorch)
    methods = [
        n for n, overloads in OVERLOADS.items() if any(o.is_method for o in overloads.offers)
    ]
    for name in methods:
        assert getattr(Tensor, name) is vars(Tensor)[name]
    assert len(methods) > 200


def test_an_import_makes_none() -> None:
    program = (
        "import sys, json\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "import tinytorch as torch\n"
        "from tinytorch.ops.define import OPS\n"
        "before = [op.name for op in OPS if 'schema' in vars(op)], 'mul' in vars(torch)\n"
        "torch.mul\n"
        "after = [op.name for op in OPS if 'schema' in vars(op)], 'mul' in vars(torch)\n"
        "print(json.dumps([before, after]))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert json.loads(answer.stdout) == [[[], False], [["mul"], True]]


def test_a_star_and_a_pickle_find_what_is_not_made_yet() -> None:
    names: dict = {}
    exec("from tinytorch import *", names)
    public = {name for name in FUNCTIONS if not name.startswith("_")}
    assert public <= {*names} and {"nn", "save", "float32", "Tensor"} <= {*names}
    for function in (tinytorch.add, Tensor.add):
        assert pickle.loads(pickle.dumps(function)) is function


def test_what_pytorch_lacks_is_no_attribute() -> None:
    assert not hasattr(tinytorch, "nosuch") and not hasattr(Tensor, "nosuch")
    with pytest.raises(AttributeError, match="module 'torch' has no attribute 'nosuch'"):
        tinytorch.nosuch  # type: ignore[attr-defined]  # noqa: B018


def make_slowly() -> Callable:
    """Make a function while other threads ask for it."""
    time.sleep(0.02)
    return lambda self: self


def test_threads_that_ask_at_the_same_time_get_the_same() -> None:
    later = LaterFunction(make_slowly)

    class Owner:
        pass

    Owner.method = LaterMethod(Owner, "method", make_slowly)  # type: ignore[attr-defined]
    found: list = []
    threads = [
        threading.Thread(target=lambda: found.append((later.function, Owner.method)))  # type: ignore[attr-defined]
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(set(found)) == 1


def test_a_method_takes_its_place_unless_somebody_else_has_it() -> None:
    class Owner:
        pass

    later = LaterMethod(Owner, "method", lambda: lambda self: "made")
    Owner.method = later  # type: ignore[attr-defined]
    assert Owner().method() == "made" and vars(Owner)["method"] is later.function  # type: ignore[attr-defined]
    other = LaterMethod(Owner, "method", lambda: lambda self: "other")
    Owner.method = lambda self: "a user's"  # type: ignore[attr-defined]
    assert other.__get__(Owner(), Owner)() == "other"
    assert Owner().method() == "a user's"  # type: ignore[attr-defined]


def test_what_a_schema_says_of_self_is_read_off_its_text() -> None:
    for text, takes_tensor in (
        ("exp(Tensor self)", True),
        ("t_(Tensor(a!) self)", True),
        ("unbind(Tensor(a -> *) self, int dim=0)", True),
        ("pow(Scalar self, Tensor exponent)", False),
        ("cat(Tensor[] tensors, int dim=0)", False),
    ):
        assert has_tensor_self(text) == takes_tensor
        assert Schema(text).text == text


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("add_", "x = torch.ones(2); x += 1"),
        ("mul", "torch.ones(2) * True"),
        ("__add__", "1 + torch.ones(2)"),
        ("neg", "-torch.ones(2)"),
    ],
)
def test_an_operator_made_during_a_patch_does_not_call_it_afterwards(name: str, use: str) -> None:
    """As PyTorch's, which never call what a program puts on Tensor for a while."""
    program = (
        "import tinytorch as torch\n"
        f"def patch(*given): calls.append(given); return method(*given)\n"
        f"calls = []; method = torch.Tensor.{name}; torch.Tensor.{name} = patch\n"
        f"{use}\n"
        f"torch.Tensor.{name} = method\n"
        f"{use}\n"
        "print(len(calls))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=ROOT
    )
    assert done.stdout == "0\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_does_not_wait_for_a_thread_that_it_has_not() -> None:
    program = """
import os, threading, warnings
from tinytorch.ops import late
import tinytorch as torch
warnings.simplefilter("ignore")
entered, done = threading.Event(), threading.Event()
def make():
    entered.set()
    done.wait(0.3)
    return len
thread = threading.Thread(target=lambda: late.LaterFunction(make).function)
thread.start()
entered.wait()
child = os.fork()
if child == 0:
    print(torch.cos(torch.zeros(1)).item(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
thread.join()
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=30,
    )
    assert done.stdout == "1.0\n"
