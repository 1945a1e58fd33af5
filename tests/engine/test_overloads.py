"""Each form in PyTorch of a name that tinytorch has gives its result here, or says with a note that it is absent."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import make_compatibility
import pytest

import tinytorch
from tinytorch.ops.absent import ABSENT_FORMS
from tinytorch.ops.define import FUNCTIONS, OPS

M, V, INDEX, B = "torch.ones(2, 2)", "torch.ones(2)", "torch.tensor([[0, 1], [1, 0]])", "torch.ones(2, 2) > 0"  # fmt: skip
# Arguments that may fit a parameter, by its name, else by its type: the first combination that PyTorch takes is tried.
BY_NAME = {
    "self": (M, V, f"{M}.long()"), "index": (INDEX, "torch.tensor([0, 1])"), "mask": (B,), "condition": (B,),
    "indices": ("(torch.tensor([0, 1]),)",), "tensors": (f"[{M}, {M}]",), "size": ("(2, 2)",), "stride": ("(2, 1)",),
    "dims": ("(0, 1)",), "repeats": ("(1, 2)",), "split_size": ("1", "(1, 1)"), "split_sizes": ("(1, 1)",), "rounding_mode": ("'floor'",),
    "p": ("0.5", V), "dim": ("0", "(0,)"), "dim0": ("0",), "dim1": ("1",), "dim2": ("1",), "start": ("0",), "end": ("1", M),
    "steps": ("3",), "low": ("0",), "high": ("3",), "to": ("3",), "vec": (V,), "vec2": (V,), "tensor": (M, V),
    "reduce": ("'add'", "'sum'"), "dtype": ("torch.float64",), "decimals": ("1",), "memory_format": ("torch.preserve_format",),
    "equation": ("'ij,jk->ik'",), "source": (M, V),
}  # fmt: skip
BY_TYPE = {
    "Tensor": (M, V), "number": ("2",), "int": ("1", "0"), "float": ("0.5",), "bool": ("True",), "str": ("'a'",),
    "List[int]": ("(1, 1)", "(0,)"), "List[Tensor]": (f"[{M}, {M}]",), "Device": ("'cpu'",), "Generator": ("torch.Generator()",),
}  # fmt: skip


class Form(NamedTuple):
    """A form of an operation, with calls of it of which PyTorch may take the first or a later one."""

    calls: list[str]
    takes_out: bool = False  # the calls are still without it


def values(parameter: Any) -> tuple[str, ...]:
    """What may be given for a parameter of a schema."""
    kind = str(parameter.type)
    if kind.startswith("Optional["):
        kind = kind.removeprefix("Optional[").removesuffix("]")
    # A name may be that of a tensor in one schema and of a number in another.
    by_type = BY_TYPE.get(kind, ())
    return by_type if kind in ("number", "bool") else BY_NAME.get(parameter.name, by_type)


def forms(schema: Any) -> Iterator[Form]:
    """The ways to call a schema: as a function and as a method, with what it needs and with each of its options."""
    name, outs = schema.name.removeprefix("aten::"), [p for p in schema.arguments if p.is_out]
    needed = [p for p in schema.arguments if not (p.has_default_value() or p.is_out)]
    options = [p for p in schema.arguments if p.has_default_value() and p.name != "pin_memory"]
    for option in (None, *([] if outs else options)):
        parts = [*needed, *([option] if option else [])]
        functions, methods = [], []
        for given in itertools.islice(itertools.product(*map(values, parts)), 12):
            placed = [v for p, v in zip(parts, given, strict=False) if not p.kwarg_only and p is not option]  # fmt: skip
            named = [f"**{{{p.name!r}: {v}}}" for p, v in zip(parts, given, strict=False) if p.kwarg_only or p is option]  # fmt: skip
            functions.append(f"torch.{name}({', '.join([*placed, *named])})")
            if placed and needed and needed[0].name == "self" and not outs:
                methods.append(f"({placed[0]}).{name}({', '.join([*placed[1:], *named])})")
        if name in FUNCTIONS:
            yield Form(functions, bool(outs))
        if methods and hasattr(tinytorch.Tensor, name):
            yield Form(methods)


def find_call(form: Form) -> str | None:
    """A call of the form that PyTorch takes; `out=` has the shape of the result, as resizing takes long."""
    import torch

    for call in form.calls:
        try:
            result = eval(call, {"torch": torch})
        except Exception:
            continue
        if not form.takes_out:
            return call
        is_row = isinstance(result, tuple)
        outs = [
            f"torch.empty({tuple(x.shape)}, dtype={x.dtype})"
            for x in (result if is_row else (result,))
        ]
        text = f"({', '.join(outs)})" if is_row else outs[0]
        call = f"{call[:-1]}, out={text})"  # noqa: PLW2901
        return call if attempt(call, torch) is None else None
    return None


def attempt(call: str, engine: Any) -> Exception | None:
    """The error of a call, if it has one."""
    try:
        eval(call, {"torch": engine})
    except Exception as error:
        return error
    return None


def schemas_of_names() -> list[Any]:
    """PyTorch's schemas whose names tinytorch has, about tensors."""
    import torch

    return [
        s
        for s in torch._C._jit_get_all_schemas()
        if s.name.startswith("aten::")
        and (s.name[6:] in FUNCTIONS or hasattr(tinytorch.Tensor, s.name[6:]))
        and "Tensor" in str(s)
    ]


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_each_form_of_a_name_gives_a_result_or_the_note() -> None:
    wrong, tried = [], 0
    for form in itertools.chain.from_iterable(map(forms, schemas_of_names())):
        call = find_call(form)
        if call is None:
            continue
        tried += 1
        error = attempt(call, tinytorch)
        if error is not None and not getattr(error, "__notes__", None):
            wrong.append(f"{call}: {type(error).__name__}: {error}")
    assert tried > 700
    assert wrong == []


@pytest.mark.torch
def test_absent_forms_are_pytorchs_and_not_declared() -> None:
    from engine.test_schemas import of_torch

    texts = {text for _, text in ABSENT_FORMS}
    assert texts - of_torch() == set()
    lacks_out = {text for place, text in ABSENT_FORMS if place < 0}
    assert (texts - lacks_out) & {o.schema.text for o in OPS} == set()


CALLS = (
    "torch.normal(torch.zeros(2), 1.0)",
    "torch.nn.CrossEntropyLoss(weight=torch.ones(1))",
    "torch.nn.CrossEntropyLoss(None)",
    "torch.nn.functional.mse_loss(torch.ones(1), torch.ones(1), weight=torch.ones(1))",
    "torch.nn.functional.mse_loss(torch.ones(1), torch.ones(1), 'sum')",
    "torch.nn.functional.mse_loss(torch.ones(1), torch.ones(1), reduce=False)",
    "torch.nn.functional.cross_entropy(torch.ones(2), torch.tensor(1), size_average=False)",
    "torch.optim.SGD([torch.ones(1)], nesterov=True)",
    "torch.nn.Linear(1, 1).state_dict(destination={})",
    "torch.ones(2, 2).norm('nuc')",
    "torch.ones(2, device='meta')",
    "torch.ones(2, device=3)",
)


@pytest.mark.parametrize("call", CALLS)
def test_the_note_says_what_to_do(call: str) -> None:
    error = attempt(call, tinytorch)
    assert isinstance(error, NotImplementedError)
    assert "is not in tinytorch" in str(error)
    assert "run the program with PyTorch" in error.__notes__[0]


def test_a_call_that_fits_nothing_keeps_pytorchs_words() -> None:
    for call in (
        "torch.ones(2).round_(1)",
        "torch.normal('a')",
        "torch.nn.CrossEntropyLoss(foo=1)",
    ):
        error = attempt(call, tinytorch)
        assert isinstance(error, TypeError)
        assert not hasattr(error, "__notes__")


def parameters(function: Any) -> set[str] | None:
    """The names of a function's parameters; None if it does not say, or takes any."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in found):
        return None
    return {p.name for p in found if p.kind is not p.VAR_POSITIONAL and not p.name.startswith("_")}


# By another name in PyTorch's own code, where nobody gives them by name.
OWN_NAMES = {"self", "iterable", "orig_func"}


@pytest.mark.torch
@pytest.mark.parametrize("place", make_compatibility.PLACES)
def test_each_keyword_of_pytorchs_is_there_or_known_to_be_absent(place: str) -> None:
    theirs, ours = (make_compatibility.at(engine, place) for engine in ("torch", "tinytorch"))
    both = make_compatibility.names("torch", place) & make_compatibility.names("tinytorch", place)
    for name in both:
        pairs = [(getattr(theirs, name), getattr(ours, name))]
        if isinstance(pairs[0][0], type) and place in ("torch.nn", "torch.optim"):
            pairs += [(getattr(pairs[0][0], m), getattr(pairs[0][1], m)) for m in dir(pairs[0][0])
                      if not m.startswith("_") and callable(getattr(pairs[0][1], m, None))]  # fmt: skip
        for their, our in pairs:
            wanted, taken = parameters(their), parameters(our)
            if wanted is None or taken is None:
                continue
            function = our.__init__ if isinstance(our, type) else our
            known = {*taken, *getattr(function, "lacking", ()), *OWN_NAMES}
            assert wanted <= known, (name, their)
