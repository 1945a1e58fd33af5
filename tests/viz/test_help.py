"""`help()` of the public names begins with an example, and it is true."""

import doctest
from types import ModuleType
from typing import Any

import pytest

from tinytorch import viz

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("thing", [viz.memory, viz.graph, viz.explain, viz.snapshot, viz.modules])
def test_the_help_begins_with_an_example_that_holds(thing: Any, engine: ModuleType) -> None:
    assert thing.__doc__.split("\n\n")[1].lstrip().startswith(">>> ")
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    (example,) = doctest.DocTestFinder(recurse=False).find(
        thing, globs={**vars(viz), "torch": engine}
    )
    assert runner.run(example).failed == 0
    assert runner.tries > 1
