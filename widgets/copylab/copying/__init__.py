"""Ways to copy a tensor, what is copied, and what each way does: found by running small programs, shown side by side.

May import `run`, `ui`, `doc`.
"""
