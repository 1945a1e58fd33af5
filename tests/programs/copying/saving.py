"""save, load and pickle: what comes back, what stays shared."""

import collections, copy, io, pickle
import torch
def through(x, **options):
    b = io.BytesIO()
    torch.save(x, b)
    b.seek(0)
    return torch.load(b, **options)

a = torch.arange(4.)
through(a), through(a).dtype
d = through({'a': a, 'view': a[1:3], 'more': [1, 'x', None, True, (2.5,)]})
d
d['view'].data_ptr() - d['a'].data_ptr()
d['a'].zero_()
d['view']
d['view']._base, d['view']._is_view(), d['view'].storage_offset()
t = through(a[1:3])
t, t.untyped_storage().nbytes(), t.storage_offset()
y = torch.ones(2, requires_grad=True)
t = through(y)
t, t.is_leaf, t.requires_grad
z = y * 2
t = through(z)
t, t.is_leaf, t.grad_fn
y.grad = torch.ones(2)
through(y).grad
t = through(torch.nn.Parameter(a))
t, type(t)
through(torch.arange(6).view(2, 3).t()).stride()
through(torch.ones(2, 3, dtype=torch.float16)[:, ::2])
through(torch.tensor([True, False])), through(torch.tensor(3)), through(torch.zeros(0, 2))
through([torch.float32, torch.Size([2]), torch.device('cpu')])
through(collections.OrderedDict(a=a)), through({1, 2})
m = torch.nn.Linear(2, 2)
sd = through(m.state_dict())
type(sd), list(sd), torch.equal(sd['weight'], m.weight)
m.load_state_dict(sd)
through(a, map_location='cpu')
p, q = pickle.loads(pickle.dumps([a, a[:2]]))
p.add_(1)
q
p._version, q._version
pickle.loads(pickle.dumps(torch.float32)) is torch.float32
pickle.loads(pickle.dumps(torch.Size([2, 3])))
pickle.loads(pickle.dumps(torch.device('cpu')))
pickle.loads(pickle.dumps(torch.contiguous_format)) is torch.contiguous_format
pickle.loads(pickle.dumps(z)).grad_fn
torch.equal(pickle.loads(pickle.dumps(m)).weight, m.weight)
torch.load('no_such_file.pt')
