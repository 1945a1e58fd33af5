"""The copies in a program are found where they are, and another one is written in their place."""

import pytest
from copylab.copying import exchange_copies, find_program_copies

TENSORS = {"x", "y", "w", "net.weight"}
FOUND = {
    "y = x": ["="],
    "y = x.clone()": ["clone"],
    "y: object = x.detach()": ["detach"],
    "y = x.data": [".data"],
    "self.y = net.weight": ["="],
    "g = x.grad": ["="],
    "y = x.clone().detach()": ["clone().detach()"],
    "y = x.detach().clone().sum()": ["detach().clone()"],
    "y = f(x.detach(), k=w.data)": ["detach", ".data"],
    "for i in range(2): y = (x * 2).clone()": ["clone"],
    "def f(a): return a.detach() * 2": ["detach"],
    "y = copy.deepcopy(x)": ["deepcopy"],
    "y = torch.tensor(x)": ["torch.tensor"],
    "y = torch.tensor(x.clone())": ["clone"],
    "y = x.to(x.dtype)": ["to"],
    # No copies: a write, numbers, what may be no tensor, another shape.
    "x.data -= 1": [],
    "x[0] = y": [],
    "y = torch.tensor([1.0])": [],
    "m = copy.deepcopy(model)": [],
    "rows = batch.data": [],
    "y = x.shape": [],
    "print(x)": [],
    "y = x.view(-1)": [],
    "y = x.to(w.dtype)": [],
    "y = (": [],
}


@pytest.mark.parametrize("code", FOUND)
def test_the_copies_of_a_program_are_found(code: str) -> None:
    copies = find_program_copies(code, TENSORS)
    assert [copy.method.name for copy in copies] == FOUND[code]
    for index, copy in enumerate(copies):
        # What is there already can be written there again, whatever is around it.
        own = exchange_copies(code, copies, {index: copy.method.name}).code.splitlines()
        assert own[-1] == code
        assert copy.method.name in copy.methods


def test_other_copies_are_written_in_their_place() -> None:
    code = 'def f(é):\n    return "ü", x.clone(\n    ), é.detach()\ny = (x + 1).data\nz = x'
    copies = find_program_copies(code, TENSORS | {"é"})
    assert [(copy.line, copy.method.name, copy.source) for copy in copies] == [
        (2, "clone", "x"),
        (3, "detach", "é"),
        (5, "=", "x"),
    ], "what is no name is a tensor only if a method of tensors is called on it"
    changed = exchange_copies(code, copies, {0: "=", 1: "detach().clone()", 2: "deepcopy"})
    assert changed.code == (
        'import copy\ndef f(é):\n    return "ü", x, é.detach().clone()\n'
        "y = (x + 1).data\nz = copy.deepcopy(x)"
    )
    assert changed.lines == (3, 3, 5)
    assert changed.added_line == 1
    assert exchange_copies(code, copies, {}).code == code
    assert [copies[0].label("="), copies[2].label("=")] == ["nothing", "="]


def test_an_import_goes_behind_what_must_stay_first() -> None:
    head = '"""A docstring."""\nfrom __future__ import annotations\n'
    copies = find_program_copies(f"{head}y = x", TENSORS)
    assert exchange_copies(f"{head}y = x", copies, {0: "deepcopy"}).code == (
        f"{head}import copy\ny = copy.deepcopy(x)"
    )
    code = "import copy\ny = x"
    copies = find_program_copies(code, TENSORS)
    assert exchange_copies(code, copies, {0: "deepcopy"}).added_line == 0
    # Further down it comes too late, and on a line with what must stay first only there.
    for code, expected, lines in (
        ("y = x\nimport copy", "import copy\ny = copy.deepcopy(x)\nimport copy", (2, 1, 1)),
        ('"a"; y = x', '"a"; import copy; y = copy.deepcopy(x)', (1, 0, 1)),
    ):
        changed = exchange_copies(code, find_program_copies(code, TENSORS), {0: "deepcopy"})
        assert changed.code == expected
        assert (*changed.lines, changed.added_line, changed.added_steps) == lines


def test_a_line_is_found_in_the_program_as_it_was() -> None:
    code = "x = torch.ones(2)\ny = (x\n    ).clone()\nz = y.clone()\ny / 0"
    copies = find_program_copies(code, TENSORS)
    changed = exchange_copies(code, copies, {0: "deepcopy", 1: "="})
    lines = [changed.code.splitlines().index(line) + 1 for line in ("z = y", "y / 0")]
    assert [changed.find_original_line(line) for line in (2, *lines)] == [1, 4, 5]


@pytest.mark.parametrize(
    "code",
    [
        "copy = x.clone()",
        "def copy(): pass",
        "class copy: pass",
        "def f(copy): return copy",
        "f = lambda *copy: 1",
        "from copy import copy",
        "from copy import *",
        "import numpy as copy",
        "try: pass\nexcept ValueError as copy: pass",
        "match x:\n    case [*copy]: pass",
        "import copy\ndel copy",
    ],
)
def test_no_deepcopy_where_its_name_is_the_programs_own(code: str) -> None:
    copies = find_program_copies(f"{code}\ny = x.clone()", TENSORS)
    assert not any("deepcopy" in copy.methods for copy in copies)
