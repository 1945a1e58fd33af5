# Copies of views that are several, each written where it is told to go.
import torch
a = torch.arange(6.)
halves = [torch.empty(3), torch.empty(3)]
print(torch.split_copy(a, 3, out=halves))
halves
print(torch.unbind_copy(a.view(2, 3), out=tuple(halves)))
print(torch.split_with_sizes_copy(a, [3, 3], out=halves))
[h._version for h in halves]
torch.split_copy(a, 3, out=halves[:1])
torch.unbind_copy(a, out=halves)
torch.split_with_sizes_copy(a, [1, 5], out=halves[:1])
torch.split_copy(a, 3, out=halves[0])
torch.split_copy(a, 3, out=[torch.empty(3), torch.empty(3, dtype=torch.int64)])
torch.split_with_sizes_copy(a, [3, 3], out=[torch.empty(3), torch.empty(3, dtype=torch.int64)])
torch.nonzero(a, as_tuple=True, out=torch.empty(0, dtype=torch.int64))

# what has its place in one result
coords = torch.unravel_index(torch.tensor([[1, 5], [3, 2]]), (2, 3))
coords
[(c.stride(), c.storage_offset(), c._base.shape) for c in coords]
torch.unravel_index(torch.tensor(0), ())

# a target of another shape
t = torch.ones(1)
t.addbmm_(torch.ones(2, 3, 4), torch.ones(2, 4, 2)), t._version
torch.zeros(3).addr_(torch.ones(3), torch.ones(2))
torch.zeros(3, 3).addr_(torch.ones(3), torch.ones(2))
x = torch.empty((), dtype=torch.float64)
x.resize_(0, 4, 2305843009213693952)
a.index_put([], torch.ones(3))
a.view(2, 3).index_put([], torch.ones(2, 3), True)
torch.gather(a, 0, torch.empty(0, dtype=torch.uint8))
torch.gather(a, 0, torch.zeros(1, dtype=torch.uint8))
