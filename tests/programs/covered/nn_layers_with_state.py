"""Linear, Embedding, the normalisations, PReLU; padding, distances and samples of softmax."""

import torch
import torch.nn as nn
import torch.nn.functional as F
nn.Linear(10, 10 / 2)
nn.Linear(2.5, 3)
nn.Linear(3, "a")
nn.Linear(2, 2, True, "cpu", torch.float64).weight.dtype
nn.Linear(2, 2, bias=False).bias
nn.Linear(2, 2, False)
nn.Linear(in_features=2, out_features=1)
nn.Linear(0, 2)
nn.Linear(2, 0).weight
nn.Linear(2, 0)(torch.ones(1, 2))
nn.Linear(2, 2, dtype=torch.int64)
nn.Linear(2)
nn.Linear()
nn.Identity()(torch.ones(2))
torch.manual_seed(0)
e = nn.Embedding(5, 3)
e
e(torch.tensor([1, 2]))
e(torch.tensor([[0, 4]])).shape
e(torch.tensor(1))
e(1)
e(torch.tensor([5]))
e(torch.tensor([-1]))
e(torch.tensor([1.]))
e = nn.Embedding(5, 3, padding_idx=0)
e.weight
e(torch.tensor([0, 1])).sum().backward()
e.weight.grad
nn.Embedding(5, 3, padding_idx=-1)
nn.Embedding(5, 3, padding_idx=7)
nn.Embedding(5, 3, padding_idx=-7)
nn.Embedding(5, 3, max_norm=1.0)
nn.Embedding(5, 3, scale_grad_by_freq=True)
nn.Embedding.from_pretrained(torch.arange(6.).view(3, 2))
nn.Embedding.from_pretrained(torch.arange(6.).view(3, 2)).weight
nn.Embedding.from_pretrained(torch.arange(6.).view(3, 2), freeze=False).weight.requires_grad
nn.Embedding.from_pretrained(torch.arange(6.))
nn.Embedding(3, 2, _weight=torch.ones(3, 2)).weight
nn.Embedding(3, 2, _weight=torch.ones(2, 2)).weight
ee = nn.Embedding(3, 2)
out = ee(torch.tensor([0, 2, 0]))
out.sum().backward()
ee.weight.grad
f = nn.Embedding(3, 2, scale_grad_by_freq=True)
f(torch.tensor([0, 2, 0])).sum().backward()
f.weight.grad
F.embedding(torch.tensor([1]), f.weight, padding_idx=1)
F.embedding(torch.tensor([1]), f.weight, 3)
out.grad_fn._saved_padding_idx, out.grad_fn._saved_sparse, out.grad_fn._saved_weight_sym_argsize_0
ln = nn.LayerNorm(3)
ln
ln.weight, ln.bias
x = torch.tensor([[1., 2., 4.], [0., -1., 3.]], requires_grad=True)
y = ln(x)
y
y.grad_fn
y.pow(3).sum().backward()
x.grad
y = ln(x)
(y * torch.arange(6.).view(2, 3)).sum().backward()
x.grad, ln.weight.grad, ln.bias.grad
nn.LayerNorm([2, 3], elementwise_affine=False)
nn.LayerNorm([2, 3], elementwise_affine=False)(x)
nn.LayerNorm(3, bias=False)
nn.LayerNorm(4)(x)
nn.LayerNorm((3,), eps=1e-3).state_dict()
F.layer_norm(x, (3,))
F.layer_norm(x, [2, 3], torch.ones(2, 3) * 2, torch.ones(2, 3))
F.layer_norm(x, (3,), torch.ones(2))
bn = nn.BatchNorm1d(3)
bn
bn.state_dict()
y = bn(x)
y
y.grad_fn
bn.running_mean, bn.running_var, bn.num_batches_tracked
x.grad = None
(y * torch.arange(6.).view(2, 3)).sum().backward()
x.grad, bn.weight.grad, bn.bias.grad
bn.eval()
bn(x)
bn(x).grad_fn
x.grad = None
bn(x).sum().backward()
x.grad
bn.train()(x[:1])
bn(torch.ones(2, 4))
bn(torch.ones(3))
bn(torch.ones(2, 3, 4)).shape
nn.BatchNorm1d(3, momentum=None)
nn.BatchNorm1d(3, affine=False, track_running_stats=False)
nn.BatchNorm1d(3, affine=False, track_running_stats=False)(x)
nn.BatchNorm1d(3, affine=False).state_dict()
[n for n, _ in nn.BatchNorm1d(3).named_parameters()]
[n for n, _ in nn.BatchNorm1d(3).named_buffers()]
b2 = nn.BatchNorm1d(3, momentum=None)
_ = b2(x), b2(x * 2)
b2.running_mean
b2.reset_running_stats()
b2.running_mean, b2.num_batches_tracked
nn.BatchNorm2d(2)
nn.BatchNorm2d(2)(torch.arange(16.).view(2, 2, 2, 2))
nn.BatchNorm2d(2)(torch.ones(2, 2))
nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU())
pr = nn.PReLU()
pr
pr(torch.tensor([-2., 3.]))
pr(torch.tensor([-2., 3.])).sum().backward()
pr.weight.grad
cs = nn.CosineSimilarity(dim=0)
cs(torch.tensor([1., 2.]), torch.tensor([2., 1.]))
F.cosine_similarity(torch.tensor([[1., 2.]]), torch.tensor([[2., 1.], [0., 0.]]))
F.cosine_similarity(x, x.detach() * 2).sum().backward()
x.grad
F.pairwise_distance(torch.tensor([[1., 2.]]), torch.tensor([[2., 1.]]))
F.pad(torch.ones(2, 2), (1, 1))
F.pad(torch.ones(2, 2), (1, 0, 0, 1), value=3.)
F.pad(torch.ones(2, 2), (1, 0, 0, 1), "constant", 3)
F.pad(torch.arange(4.), (-1, 2))
F.pad(torch.arange(4.), (1,))
F.pad(torch.arange(4.), (1, 1, 1, 1))
F.pad(torch.arange(4.), (-3, -2))
xx = torch.ones(2, 2, requires_grad=True)
p = F.pad(xx, (0, 1))
p
p.sum().backward()
xx.grad
F.pad(torch.arange(4), (1, 1))
torch.manual_seed(0); F.gumbel_softmax(torch.zeros(2, 3))
F.gumbel_softmax(torch.zeros(2, 3, requires_grad=True), hard=True)
F.gumbel_softmax(torch.zeros(2, 3), tau=0.1)
