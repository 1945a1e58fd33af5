"""The page of what shares memory is what both engines give, and says what turns on the layout."""

import importlib

import pytest
from copylab.copying import METHODS, OPERATIONS, Method, find_all_sharing, method
from copylab.copying.shared_memory import find_sharing

import tinytorch

make = importlib.import_module("make_what_shares")


def test_the_page_is_what_the_runs_give() -> None:
    rows = list(find_all_sharing(tinytorch))
    assert make.DOCUMENT.read_text("utf-8") == make.make_page(rows), "docs/make_what_shares.py"
    assert [row.method for row in rows] == [*METHODS.values(), *OPERATIONS.values()]
    by_name = {row.method.name: row for row in rows}
    assert by_name["unfold"].verdict == by_name["T"].verdict == "always"
    assert by_name["index_select"].verdict == by_name["rot90"].verdict == "never"
    assert by_name["flatten"].depends_on_layout
    assert by_name["flatten"].list_layouts("copy") == [
        "transposed",
        "gaps between rows",
        "expanded",
    ]
    assert by_name["long"].verdict == "depends"
    assert not by_name["long"].depends_on_layout


@pytest.mark.torch
def test_pytorch_gives_the_same() -> None:
    torch = pytest.importorskip("torch")
    rows = find_all_sharing(tinytorch)
    make.check_against(rows, torch)
    wrong = rows[0]._replace(by_layout=rows[-1].by_layout, by_dtype={})
    with pytest.raises(RuntimeError, match="torch gives SharedMemory"):
        make.check_against([wrong, *rows[1:]], torch)


def test_an_operation_that_no_layout_is_right_for_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"no layout is right for y = x\.nothing"):
        find_sharing(Method("none", "y = x.nothing()"), tinytorch)


def test_an_operation_is_found_by_its_name() -> None:
    for name, entry in OPERATIONS.items():
        assert method(name) is entry
        assert method(entry.code) is entry
        assert entry.docs.startswith("https://docs.pytorch.org/")
    assert not OPERATIONS.keys() & METHODS.keys()
    assert method("T") is not method("t")
    assert method("torch.hstack") is OPERATIONS["hstack"]
    assert method("x.unfold()").name == "unfold"
