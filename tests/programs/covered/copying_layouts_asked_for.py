"""Which layout a copy has: to() with a memory format, channels last, and arrays that keep their strides."""
import numpy as np
import torch
photo = torch.arange(48.).reshape(2, 3, 2, 4).requires_grad_()
last = photo.to(memory_format=torch.channels_last)
last.stride(), last.grad_fn.name(), last.to(memory_format=torch.channels_last) is last
back = last.to(memory_format=torch.contiguous_format)
back.stride(), back.grad_fn.name(), last.float(memory_format=torch.preserve_format) is last
turned = torch.arange(6.).reshape(2, 3).t()
turned.to(memory_format=torch.contiguous_format) is turned, turned.cpu(memory_format=torch.contiguous_format) is turned
turned.to(torch.float64, memory_format=torch.contiguous_format).stride(), turned.to(torch.float64).stride()
turned.to(memory_format=torch.channels_last)
turned.to(memory_format=1)
torch.zeros(2, 1, 3, 3).to(memory_format=torch.channels_last).stride(), torch.zeros(2, 3, 1, 1).to(memory_format=torch.channels_last).stride()
torch.tensor(np.broadcast_to(np.arange(3.), (2, 3))).stride(), torch.tensor(np.zeros((0, 3))).stride()
torch.tensor(np.arange(6).reshape(2, 3).T).stride(), torch.tensor(np.arange(12.).reshape(2, 6)[:, ::2]).stride()
torch.tensor(np.zeros((4, 6))[:1, :1]).stride(), torch.as_tensor(np.zeros((4, 6))[:1, :1]).stride()
torch.tensor([np.array([1, 2]), np.array([3, 4])])
torch.tensor([np.array(1), np.array(2)])
torch.tensor([1, np.array(2)])
