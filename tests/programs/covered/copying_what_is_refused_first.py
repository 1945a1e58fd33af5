import io, torch

# a source whose view was written to is refused before its shape
with torch.no_grad(): v = (x := torch.ones(2, 3, requires_grad=True)).view(3, 2)
v.detach().mul_(2)
torch.zeros(7).copy_(v)

# one memory, two dtypes, one file
w = torch.ones(2, 2)
torch.save((w, w.view(torch.int32)), io.BytesIO())
torch.save((w, w.t(), torch.nn.Parameter(w)), io.BytesIO())

# in which order dimensions lie
torch.stack([torch.ones(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)] * 2, 1).stride()
