"""Questions and tasks: predictions, exercises, what a wrong answer points to, and the learner's own progress.

May import `run`, `player`, `ui`, `doc`, `tinytorch.viz`. The ready-made questions are public: `copylab.questions`.
"""

from . import beliefs, evidence
from .answers import number
from .exercises import Exercise, exercise, wrong
from .misconceptions import MISCONCEPTIONS, Misconception, misconception
from .prediction import Prediction, predict
from .progress import NAME, STATE, load
from .question import Question, Wrong
from .rendering import page
from .runs import Run
from .seen import (
    Fact,
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

__all__ = [
    "MISCONCEPTIONS",
    "NAME",
    "STATE",
    "Exercise",
    "Fact",
    "Misconception",
    "Prediction",
    "Question",
    "Run",
    "Wrong",
    "apart",
    "beliefs",
    "each",
    "evidence",
    "exercise",
    "has_grad",
    "kept_from",
    "leads",
    "leaf",
    "load",
    "misconception",
    "needs_no_grad",
    "nodes",
    "number",
    "page",
    "predict",
    "shares",
    "shows",
    "tensor_list",
    "tensors",
    "written",
    "wrong",
]
