"""Anomaly mode without a forward pass to show, nan in gradients, and its switches."""
import torch

print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
x = torch.tensor([-1., 0.], requires_grad=True)
y = torch.sqrt(x).sum()
with torch.autograd.set_detect_anomaly(True):
    y.backward()
y = torch.sqrt(x).sum()
with torch.autograd.detect_anomaly(check_nan=False):
    y.backward()
x.grad
w = torch.ones(2, requires_grad=True) * 1
y = w * w
w.add_(1)
with torch.autograd.set_detect_anomaly(True, check_nan=False):
    print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    y.sum().backward()
y = torch.ones(2, requires_grad=True) * 2
h = y.register_hook(lambda g: g * float("nan"))
with torch.autograd.set_detect_anomaly(True):
    y.sum().backward()
with torch.autograd.set_detect_anomaly(True):
    y = torch.ones(2, requires_grad=True) * 2
    print(len(y.grad_fn.metadata["traceback_"]) > 0)
torch.autograd.set_detect_anomaly()
torch.autograd.set_detect_anomaly(1)
c = torch.autograd.set_detect_anomaly(True)
torch.is_anomaly_enabled()
c = torch.autograd.set_detect_anomaly(False)
torch.is_anomaly_enabled()
