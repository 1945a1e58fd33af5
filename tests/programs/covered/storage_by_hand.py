"""Storages read, written, resized and copied by hand, in bytes and in elements."""
import warnings
import torch
warnings.simplefilter("ignore")  # typed storages are deprecated, which is said once in a process
box = torch.tensor([1, 2, 3], dtype=torch.int16)
bytes_ = box.untyped_storage()
bytes_.tolist(), bytes_[0], bytes_[-1], len(bytes_), bytes_.element_size()
bytes_[1] = 1
bytes_[0] = 300
box
bytes_[0] = 1.5
bytes_[-1] = 0
bytes_[9]
bytes_[0:4:2]
bytes_[2:4] = 0
box
bytes_.fill_(256 + 2), bytes_.fill_("a")
bytes_.copy_(torch.tensor([7, 8, 9], dtype=torch.int16).untyped_storage()); box
bytes_.copy_(torch.zeros(1).untyped_storage())
bytes_.resize_(-1), bytes_.resize_(2.)
bytes_.byteswap(torch.int16); box
bytes_.short().tolist()[:2], bytes_.float().dtype, bytes_.type()
torch.UntypedStorage([1, 2, 300]), torch.UntypedStorage([1, 2.]), torch.UntypedStorage("a")
elements = box.storage()
elements, elements.type(), elements.size()
elements[0] = 5
elements[0:2], elements["a"]
elements[9]
elements.fill_(4).tolist(), box
elements.resize_(5); len(elements), box
torch.LongStorage([1, 2]), torch.FloatStorage(2).size(), isinstance(elements, torch.ShortStorage), torch.FloatStorage
torch.FloatStorage(1, 2)
torch.FloatTensor(torch.FloatStorage([1, 2])), torch.empty(0).set_(torch.LongStorage([1, 2]))
torch.empty(0).set_(torch.arange(4.).untyped_storage(), 0, (2,), (-1,))
torch.empty(0).set_(torch.arange(4.), 1)
torch.empty(()).resize_([2, 4, 2 ** 29, 2 ** 29])
torch.empty((), dtype=torch.float64).resize_([8, 8, 2 ** 29, 2 ** 29])
torch.resize_as_(torch.arange(4.), torch.zeros(2, 1))
