"""Predictions, exercises, the misconceptions behind wrong answers, the learner's own progress.

May import `run`, `player`, `ui`, `doc`, `tinytorch.viz`. The ready-made questions are public:
`copylab.questions`.
"""

from .answers import format_number
from .exercises import Exercise, exercise, wrong
from .misconceptions import MISCONCEPTIONS, Misconception, misconception
from .prediction import Prediction, predict
from .progress import COURSE_STATE_FILE, PROGRESS_FILE, load_notes
from .question import Question, Wrong
from .runs import QuizRun
from .seen import (
    CheckedFact,
    apart,
    each,
    has_grad,
    kept_from,
    leads,
    leaf,
    needs_no_grad,
    nodes,
    shares,
    shows,
    tensor_list,
    tensors,
    written,
)
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
    "apart",
    "each",
    "exercise",
    "format_number",
    "has_grad",
    "kept_from",
    "leads",
    "leaf",
    "load_notes",
    "misconception",
    "needs_no_grad",
    "nodes",
    "predict",
    "render_standalone",
    "shares",
    "shows",
    "tensor_list",
    "tensors",
    "written",
    "wrong",
]
