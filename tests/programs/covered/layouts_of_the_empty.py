import torch

for t in torch.ones(0, 3).unfold(-1, 2, 1), torch.ones(0, 3).unsqueeze(0), torch.ones(2, 0, 3).transpose(0, 2):
    print(t.shape, t.stride(), torch.nan_to_num(t).stride(), torch.exp(t).stride())
    print(t.sort(0)[0].stride(), t.sort(-1)[1].stride(), t.argsort(0).stride(), t.roll(1, 0).stride(), t.flip(0).stride())

torch.zeros(0, 3, dtype=torch.bool).median()
torch.zeros(0, dtype=torch.bool).cumsum_(0)
torch.zeros((), dtype=torch.bool).cumprod_(0)
torch.zeros(2, dtype=torch.bool).cumprod_(0)

# that lie beyond the end of their memory
import copy, pickle
rest = torch.ones(0, 3).split((1, 2), -1)[1]
rest.storage_offset(), rest.untyped_storage().nbytes()
for t in pickle.loads(pickle.dumps(rest)), copy.deepcopy(rest), torch.empty(0).set_(rest.untyped_storage(), 1, (0, 2), (3, 1)):
    print(t.shape, t.stride(), t.storage_offset(), t.untyped_storage().nbytes())

# products of matrices of flags exist where there is nothing to add up
no = torch.zeros(2, 0, dtype=torch.bool)
no @ no.T, (no.T @ no).shape, torch.bmm(no[None], no.T[None])
torch.ones(1, 1, dtype=torch.bool) @ torch.ones(1, 1, dtype=torch.bool)

# an index is looked at where there is something to fill beside it
torch.arange(3).expand(0, 3).index_fill_(0, torch.tensor([0]), 1)
torch.zeros(3, 0).index_fill_(-1, torch.tensor([5]), 1)
torch.zeros(3, 0).index_fill_(0, torch.tensor([5]), 1)
