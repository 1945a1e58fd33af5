"""The operations: how one is declared (`schema`, `define`, `kernels`, `layout`), and the lists of them.

Each list is loaded by `tinytorch` itself; what it declares is in `define.FUNCTIONS` and on `Tensor`.
"""
