"""Running a user's code: read and mark it, watch it, stop it, catch what it prints and does. Nothing else executes any.

May import `tinytorch.viz` and the catalogue of words; knows nothing of widgets, questions or lessons.
"""
