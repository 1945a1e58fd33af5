"""to and its relatives: when a copy is made."""
import torch

x = torch.ones(2)
x.to("cpu") is x, x.to(torch.device("cpu")) is x, x.to(torch.float32) is x, x.to(torch.ones(1)) is x, x.to(dtype=torch.float64), x.to("cpu", torch.int64), x.to(torch.int32, copy=True), x.to(copy=True) is x, x.to() is x, x.to(other=torch.ones(1, dtype=torch.int8)).dtype, x.to(memory_format=torch.contiguous_format) is x, x.to(torch.float32, non_blocking=True) is x
x.to("foo")
x.to("cuda:x")
x.to(None)
x.to("meta").device if False else None
x.bool(), x.byte(), x.char(), x.short(), x.int(), x.long(), x.half(), x.float() is x, x.double()
torch.device("cpu"), torch.device("cpu", 0), torch.device("cpu:0"), torch.device("cpu") == torch.device("cpu"), torch.device("cpu") == torch.device("cpu", 0), str(torch.device("cpu:1")), torch.device(type="cpu"), torch.device("cpu").index, hash(torch.device("cpu")) == hash(torch.device("cpu"))
torch.device("foo")
torch.device("cpu:a")
torch.device()
torch.device("cpu:-1")
w = torch.ones(2, requires_grad=True)
y = w.double()
y
y.sum().backward()
w.grad
w.to(torch.int64).requires_grad, w.half(), w.float() is w, w.to(torch.float64).grad_fn.name(), w.type(torch.float64).grad_fn, w.cpu() is w
torch.tensor([1.9, -1.9, 0.5]).long(), torch.tensor([0.1, 0]).bool(), torch.tensor([256, -1]).byte(), torch.tensor([1e10]).int() if False else None
