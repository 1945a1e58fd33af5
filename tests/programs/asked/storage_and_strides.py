"""Storage and strides."""
import torch
x = torch.arange(6.).view(2, 3)
x.untyped_storage().nbytes(), x.untyped_storage().size(), len(x.untyped_storage())
x.storage_offset(), x[1].storage_offset(), x[:, 1].stride()
x.t().stride(), x.t().is_contiguous(), x.t().contiguous().stride()
x.storage()
x.untyped_storage().data_ptr() == x.t().untyped_storage().data_ptr()
x[1].data_ptr() - x.data_ptr()
x[1]._base is x, x._base
x[1].view(3, 1)._base is x
x._is_view(), x[0]._is_view()
y = x[:, :2]
y.is_contiguous(), y.stride()
y.clone().stride(), y.contiguous().stride()
y.untyped_storage().nbytes()
y.clone().untyped_storage().nbytes()
x.resize_(3, 3).shape
x.resize_(2, 2)
x.untyped_storage().nbytes()
x.set_(torch.ones(3))
x.t()
torch.empty_strided((2, 3), (1, 2)).stride()
x.is_set_to(x), x.data_ptr() == x.detach().data_ptr()
x.requires_grad_().resize_(5)
torch.zeros(2, 3).T.reshape(-1).stride()
torch.zeros(3, 1).stride(), torch.zeros(1, 3).t().is_contiguous(), torch.zeros(0, 3).stride()
x.untyped_storage()[0]
x.storage()[0]
x.detach().storage().tolist()
