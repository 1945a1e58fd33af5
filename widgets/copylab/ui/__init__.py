"""What all widgets have in common: the live view with its two twins, the colours, the panel.

May import `doc` and the colours of `tinytorch.viz`.
"""
