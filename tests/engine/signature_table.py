"""How PyTorch lets its functions and methods be called, as its own generator of bindings gives it, for tinytorch's names.

    python tests/engine/signature_table.py

writes `tinytorch/ops/signatures.txt`: a line for each way to call, in the order in which PyTorch's parser tries them,
in its own notation. A method that is called as its function is, without the tensor itself and `out`, has no line.
Run from the repository's root, with PyTorch installed (whose package has the generator).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

TABLE = Path(__file__).parents[2] / "tinytorch" / "ops" / "signatures.txt"
# parsers written by hand in files that PyTorch does not install
BY_HAND = """
tensor(PyObject* data, *, ScalarType dtype=None, Device? device=None, bool pin_memory=False, bool requires_grad=False, DimnameList? names=None)
as_tensor(PyObject* data, *, ScalarType dtype=None, Device? device=None)
asarray(PyObject* obj, *, ScalarType? dtype=None, Device? device=None, bool? copy=None, bool requires_grad=False)
from_numpy(PyObject* ndarray)|alone
Tensor.apply_(PyObject* callable)|alone
frombuffer(PyObject* buffer, *, ScalarType dtype, int64_t count=-1, int64_t offset=0, bool requires_grad=False)
numel(Tensor input)
get_device(Tensor input)
range(Scalar start, Scalar end, Scalar step=1, *, Tensor out=None, ScalarType dtype=None, Layout layout=torch.strided, Device device=None, bool requires_grad=False)
nonzero(Tensor input, *, bool as_tuple=False, Tensor out=None)
Tensor.new(*, Device? device=None)
Tensor.new(*, int64_t cdata)|hidden
Tensor.new(Storage storage)
Tensor.new(Tensor other)
Tensor.new(Tensor other, *, Device? device=None)|hidden
Tensor.new(SymIntArrayRef size, *, Device? device=None)
Tensor.new(PyObject* data, *, Device? device=None)
Tensor.new_tensor(PyObject* data, *, ScalarType dtype=None, Device? device=None, bool requires_grad=False)
"""


def lines() -> list[str]:
    """The lines of the table."""
    import torchgen

    packaged = Path(torchgen.__file__).parent / "packaged"
    sys.path.insert(0, str(packaged))
    from autograd import gen_python_functions as bindings
    from torchgen.gen import parse_native_yaml

    import tinytorch
    from tinytorch.ops.arguments import derived

    native = packaged / "ATen" / "native"
    ops = parse_native_yaml(str(native / "native_functions.yaml"), str(native / "tags.yaml")).native_functions
    ops = [f for f in ops if bindings.should_generate_py_binding(f)]

    def generated(method: bool, kind: Any) -> dict[str, list[str]]:
        pairs = bindings.load_signatures(ops, str(packaged / "autograd" / "deprecated.yaml"), method=method)
        groups = bindings.group_filter_overloads(pairs, kind)
        prefix = "Tensor." if method else ""
        return {
            str(name): [prefix + g.signature.signature_str() for g in bindings.group_overloads(overloads)]
            for name, overloads in groups.items()
        }

    from tinytorch.nn.compiled import PASSED

    inside = generated(False, bindings.is_py_nn_function)
    inside = {
        f"nn.{n}": [f"nn.{line}" for line in inside[n]]
        for n in inside
        if f"nn.{n}" in {p.split("(")[0] for p in PASSED.values()}
    }
    functions = generated(False, bindings.is_py_torch_function)
    for kind in (bindings.is_py_nn_function, bindings.is_py_linalg_function, bindings.is_py_special_function):
        functions = generated(False, kind) | functions
    methods = generated(True, bindings.is_py_variable_method)
    template = (packaged / "autograd" / "templates" / "python_variable_methods.cpp").read_text()
    for line in re.findall(r'"(\w+\([^"]*\)(?:\|deprecated)?)"', template):
        methods.setdefault(line.partition("(")[0], []).append(f"Tensor.{line}")
    for name in re.findall(r'\{"(\w+)", \w+, METH_NOARGS', template):
        methods.setdefault(name, [f"Tensor.{name}()"])
    for line in filter(None, BY_HAND.split("\n")):
        name = line.partition("(")[0]
        table = methods if name.startswith("Tensor.") else functions
        table[name.removeprefix("Tensor.")] = [o for o in BY_HAND.split("\n") if o.startswith(f"{name}(")]

    has = (
        set(tinytorch._FUNCTIONS) | {f"linalg_{n}" for n in vars(tinytorch.linalg)} | set(vars(tinytorch.nn.functional))
    )
    import torch

    def in_python(name: str) -> bool:
        place = next((p for p in (torch, torch.nn.functional) if hasattr(p, name)), None)
        return isinstance(getattr(place, name, None), FunctionType)

    table = {n: functions[n] for n in functions if n in has and not in_python(n)} | inside
    for name in sorted(methods):
        if isinstance(getattr(torch.Tensor, name, None), FunctionType):
            if derived(f"Tensor.{name}", table):
                table[f"Tensor.{name}"] = [f"Tensor.{name}"]  # written in Python: the parser does not see the call
        elif hasattr(tinytorch.Tensor, name) and methods[name] != derived(f"Tensor.{name}", table):
            table[f"Tensor.{name}"] = methods[name]
    return [line for name in sorted(table) for line in table[name]]


if __name__ == "__main__":
    TABLE.write_text("\n".join(lines()) + "\n", encoding="utf-8", newline="\n")
