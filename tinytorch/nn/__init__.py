"""Neural networks, enough to train and to meet the pitfalls of copying.

Source: `torch.nn`.
"""

from . import functional, init, parameter
from .layers import Identity, Linear, ReLU, Sequential, Sigmoid, Tanh
from .module import Module
from .parameter import Buffer, Parameter

__all__ = ["Buffer", "Identity", "Linear", "Module", "Parameter", "ReLU", "Sequential", "Sigmoid", "Tanh", "functional",
           "init", "parameter"]  # fmt: skip
