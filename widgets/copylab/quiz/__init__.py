"""Predictions, exercises, the misconceptions behind wrong answers, the learner's own progress.

May import `run`, `player`, `ui`, `doc`, `tinytorch.viz`. The ready-made questions are public:
`copylab.questions`.
"""

from .answers import format_number
from .checked_facts import (
    CheckedFact,
    are_tensors,
    elements_survive_writes,
    graph_leads_back,
    has_grad,
    is_leaf_with_grad,
    is_tensor_list,
    name_elements,
    needs_no_grad,
    share_no_cells,
    share_storage,
    shows_values,
    walk_nodes,
    was_written,
)
from .exercises import Exercise, exercise, wrong
from .misconceptions import MISCONCEPTIONS, Misconception, misconception
from .prediction import Prediction, predict
from .progress import COURSE_STATE_FILE, PROGRESS_FILE, load_notes
from .question import Question, Wrong
from .runs import QuizRun
from .standalone import render_standalone

__all__ = [
    "COURSE_STATE_FILE",
    "MISCONCEPTIONS",
    "PROGRESS_FILE",
    "CheckedFact",
    "Exercise",
    "Misconception",
    "Prediction",
    "Question",
    "QuizRun",
    "Wrong",
    "are_tensors",
    "elements_survive_writes",
    "exercise",
    "format_number",
    "graph_leads_back",
    "has_grad",
    "is_leaf_with_grad",
    "is_tensor_list",
    "load_notes",
    "misconception",
    "name_elements",
    "needs_no_grad",
    "predict",
    "render_standalone",
    "share_no_cells",
    "share_storage",
    "shows_values",
    "walk_nodes",
    "was_written",
    "wrong",
]
