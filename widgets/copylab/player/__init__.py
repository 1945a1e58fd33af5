"""The step-through: one frame for each step of a run, its static page, and the player in JavaScript (`web/`).

May import `run`, `ui`, `doc`, `tinytorch.viz`.
"""
