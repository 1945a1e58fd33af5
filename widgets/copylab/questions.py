"""Ready-made questions about names, tensors, storages, version counters, nodes and gradients.

    from copylab.questions import same_storage, value
    predict(code, [same_storage("x", "y"), value("x", at=4)])

All but those about the whole run, `outcome` and `printed`, take `at`, a line of the code: the
question is then about the moment after that line, otherwise about the end. All but `state_table`
take `prompt`, to ask in other words, and `wrong`, what speaks against particular answers (see
`Question`); those with a free answer also take `hint`, to say how to write it. Answers are found by
running; so are the facts that speak against a wrong one.
"""

from .quiz import Question
from .quiz.ready_questions import (
    ENDLESS,
    ENDS,
    cells,
    count,
    gets_gradient,
    gradient,
    is_leaf,
    names_showing,
    names_that,
    node,
    offset,
    on_graph,
    outcome,
    printed,
    requires_grad,
    same_counter,
    same_storage,
    same_tensor,
    sees_write,
    state_table,
    value,
    version,
)

__all__ = [
    "ENDLESS",
    "ENDS",
    "Question",
    "cells",
    "count",
    "gets_gradient",
    "gradient",
    "is_leaf",
    "names_showing",
    "names_that",
    "node",
    "offset",
    "on_graph",
    "outcome",
    "printed",
    "requires_grad",
    "same_counter",
    "same_storage",
    "same_tensor",
    "sees_write",
    "state_table",
    "value",
    "version",
]
