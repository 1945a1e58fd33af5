"""set_ and resize_, and what they refuse."""
import torch

x = torch.arange(6.)
y = x[2:]
y.resize_(2, 2), x
y.resize_(2, 3).shape, x.untyped_storage().size()
x.set_()
x.shape, x.untyped_storage().size()
a = torch.arange(4.)
b = torch.empty(0)
b.set_(a.untyped_storage(), 1, (2,), (2,))
b
b.set_(a)
b._version, b.data_ptr() == a.data_ptr()
b.set_(torch.ones(2, dtype=torch.int64))
b.resize_as_(torch.zeros(2, 3)).shape
w = torch.ones(2, requires_grad=True)
w.resize_(3)
w.resize_(2)
(w * 2).resize_(1)
torch.zeros(2, 2).resize_(-1)
n = a.untyped_storage().resize_(0)
a.shape
c = torch.zeros(3)
c.numpy()
c.resize_(10)
torch.from_numpy(c.numpy()).resize_(20)
w.set_(a)
a.resize_(2, 2, memory_format=torch.channels_last)

# setting to a memory of the same size leaves the strides, whatever they are
gone = torch.arange(6.0)[::2][:0]
gone.stride(), gone.set_().stride(), gone.storage_offset()
wide = torch.arange(8.0)[::4]
wide.set_(torch.zeros(8).untyped_storage(), 1, (2,), ())
wide.stride(), torch.empty(3, 2).set_().stride()

# bytes that are read as bools: a copy holds 0 and 1, whatever was there
odd = torch.tensor([2, 255, 0, 7], dtype=torch.uint8).view(torch.bool)
odd.clone().view(torch.uint8), odd[::2].contiguous().view(torch.uint8), odd.view(torch.uint8)
odd.clone().copy_(odd).view(torch.uint8), odd.expand(2, 4).clone().view(torch.uint8)

# a reshape that copies: what inference mode made stays without a counter, what is made of it outside begins at 0
with torch.inference_mode():
    inner = torch.ones(3, 4)
    flat = inner[:, :3].reshape(-1)
flat.is_inference(), inner[:, :3].reshape(-1).is_inference(), inner[:, :3].reshape(-1)._version
flat._version
flat.add_(1)
