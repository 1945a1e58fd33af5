"""The switches of recording under the name of torch's module. Source: `torch.autograd.grad_mode`."""

from ..graph.modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]
