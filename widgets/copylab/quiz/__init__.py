"""Questions and tasks: predictions, exercises, what a wrong answer points to, and the learner's own progress.

May import `run`, `player`, `ui`, `doc`, `tinytorch.viz`. The ready-made questions are public: `copylab.questions`.
"""
