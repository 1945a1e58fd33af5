"""Neural networks, enough to train and to meet the pitfalls of copying. Source: `torch.nn`."""

from ..errors import lacking
from . import functional, init, parameter

from .layers import BCEWithLogitsLoss, CrossEntropyLoss, MSELoss, NLLLoss  # isort: skip
from .layers import Dropout, Flatten, Identity, Linear, ModuleList, ReLU, Sequential, Sigmoid, Softmax, Tanh  # isort: skip
from .module import Module
from .parameter import Parameter

__all__ = [name for name in dir() if name[0] != "_" and name != "lacking"]
__getattr__ = lacking("torch.nn")
