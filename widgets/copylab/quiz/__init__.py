"""Predictions, exercises, the misconceptions behind wrong answers, the learner's own progress.

Below all of it is the run of a program, `runs.py`. A prediction (`prediction.py`) has questions
(`question.py`), most of them ready-made (`ready_questions.py`, public as `copylab.questions`).
Answers are read by `answers.py`. Against a wrong one speak the facts of the run (`evidence.py`) and
the misconception behind it (`wrong_answers.py`, `misconceptions.py`) or an objection, such as what
it was mixed up with (`objections.py`); `reveal.py` shows both, what several rows would say once
(`repetitions.py`), `standalone.py` on a page without a kernel. A retest asks about the same
misconception in a new program (`retests.py`, `retest_programs.py`), or asks for another line in it
(`rewrites.py`); one opens a lesson (`recalls.py`), and an exam is several of them (`exams.py`). An
exercise (`exercises.py`) checks the variables of an attempt (`attempts.py`) by facts of its own
(`checked_facts.py`). `verify.py` and `progress.py` are for both.

May import `run`, `player`, `ui`, `doc`, `looks`, `tensor_facts`, `safe_files`, `tinytorch.viz`.
"""

from .answers import format_answer, format_number, quote_number
from .attempts import is_same_program
from .checked_facts import (
    CheckedFact,
    are_tensors,
    brought_gradients,
    elements_survive_writes,
    follows_numbers,
    frees_graph,
    got_gradients,
    graph_leads_back,
    has_grad,
    has_no_history_in_loop,
    is_leaf_with_grad,
    is_still_of_line,
    is_tensor_list,
    leads_back_once,
    left_grad_to_backward,
    name_elements,
    needs_no_grad,
    recommend_clone,
    recommend_detached_clone,
    recommend_freed_graph,
    sends_gradient,
    share_no_cells,
    share_storage,
    shows_number,
    shows_values,
    uses_variable,
    walk_nodes,
    warn_of_data,
    was_freed,
    was_gone_through,
    was_left_alone,
    was_written,
)
from .diagnosis import Counterevidence, Diagnosis
from .exams import (
    ExamQuestion,
    JudgedAnswer,
    choose_misconceptions,
    choose_rewritable,
    draw_exam,
    draw_exercises,
    draw_question,
    find_misconceptions,
    is_blank,
    write_question,
)
from .exercises import Exercise, Verdict, exercise, wrong
from .misconceptions import MISCONCEPTIONS, Misconception, misconception
from .prediction import Prediction, Retest, predict, retest
from .progress import PROGRESS_FILE, find_progress_file, follow_notes, load_notes, parse_notes
from .question import ArgumentSource, Features, Question
from .recalls import Recall, find_answered_recall
from .retest_programs import RetestProgram
from .retests import find_programs
from .rewrites import Rewrite, draw_rewrite, find_rewrite, write_rewrite
from .runs import QuizRun
from .standalone import render_standalone
from .view import TaskView

__all__ = [
    "MISCONCEPTIONS",
    "PROGRESS_FILE",
    "ArgumentSource",
    "CheckedFact",
    "Counterevidence",
    "Diagnosis",
    "ExamQuestion",
    "Exercise",
    "Features",
    "JudgedAnswer",
    "Misconception",
    "Prediction",
    "Question",
    "QuizRun",
    "Recall",
    "Retest",
    "RetestProgram",
    "Rewrite",
    "TaskView",
    "Verdict",
    "are_tensors",
    "brought_gradients",
    "choose_misconceptions",
    "choose_rewritable",
    "draw_exam",
    "draw_exercises",
    "draw_question",
    "draw_rewrite",
    "elements_survive_writes",
    "exercise",
    "find_answered_recall",
    "find_misconceptions",
    "find_programs",
    "find_progress_file",
    "find_rewrite",
    "follow_notes",
    "follows_numbers",
    "format_answer",
    "format_number",
    "frees_graph",
    "got_gradients",
    "graph_leads_back",
    "has_grad",
    "has_no_history_in_loop",
    "is_blank",
    "is_leaf_with_grad",
    "is_same_program",
    "is_still_of_line",
    "is_tensor_list",
    "leads_back_once",
    "left_grad_to_backward",
    "load_notes",
    "misconception",
    "name_elements",
    "needs_no_grad",
    "parse_notes",
    "predict",
    "quote_number",
    "recommend_clone",
    "recommend_detached_clone",
    "recommend_freed_graph",
    "render_standalone",
    "retest",
    "sends_gradient",
    "share_no_cells",
    "share_storage",
    "shows_number",
    "shows_values",
    "uses_variable",
    "walk_nodes",
    "warn_of_data",
    "was_freed",
    "was_gone_through",
    "was_left_alone",
    "was_written",
    "write_question",
    "write_rewrite",
    "wrong",
]
