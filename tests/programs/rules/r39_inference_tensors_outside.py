"""Inference tensors outside inference mode: detach() and .data count versions, copies have been written to once."""
import torch

with torch.inference_mode():
    i = torch.ones(2)
    i.detach()._version

d = i.detach()
d.is_inference(), d._version
d.add_(1)
d._version, i
i.data._version
i.add_(1)
i.clone()._version, i.double()._version, i.to(torch.float16)._version
(i * 2)._version
