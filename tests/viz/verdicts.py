"""Programs of many kinds, and what backward really does at their end: raise, or give the gradient of what was saved.

A program ends with `loss`, or with `roots` that are called one after another. Where it says `look()` everything is
looked at, and the verdict compares with that; without it `explain` is asked without an earlier look. What the gradient
should be is found by running the program again with hooks that keep a copy of each tensor as it is saved.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import copylab

from tinytorch.viz import Explanation, explain, snapshot

NOT_COMPARED = "runs, not compared"

BEFORE = """
torch.manual_seed(0)
nn, F = torch.nn, torch.nn.functional
x, w = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
c, M, X, t = torch.randn(3), torch.randn(3, 3, requires_grad=True), torch.randn(4, 3), torch.randn(4, 1)
def mlp(): return nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1))
def close(): return ((net(X) - t) ** 2).mean()
"""
RIGHT = {
    "sum": "loss = x.sum()",
    "sum of two": "loss = (x + w).sum()",
    "minus": "loss = (x - w).mean()",
    "scaled": "loss = (x * 2 + 1).sum()",
    "divided": "loss = (x / 4 - 1).sum()",
    "negative": "loss = (-x).sum()",
    "views": "loss = M.view(9).reshape(3, 3).t()[1].sum()",
    "expanded": "loss = x.expand(2, 3).sum()",
    "joined": "loss = torch.cat([x, w]).sum() + torch.stack([x, w]).sum()",
    "flattened": "loss = M.unsqueeze(0).flatten().squeeze().sum()",
    "a leaf": "loss = torch.ones(1, requires_grad=True)",
    "a leaf of one row": "loss = torch.ones(1, 1, requires_grad=True)",
    "a leaf without dimensions": "loss = torch.tensor(2., requires_grad=True)",
    "a clone": "loss = x.clone().sum()",
    "half of it detached": "loss = (x + w.detach()).sum()",
    "another dtype": "loss = x.double().sum()",
    "one element": "loss = x[1]",
    "split": "a, b = x[:2], x[2:]\nloss = b.sum()",
    "unbound, one used": "a, b, d = x.unbind()\nloss = b * 3",
    "written where nothing was saved": "h = x * 2\nh += 1\nh.zero_()\nloss = h.sum()",
    "written through data where nothing was saved": "h = x * 2\nh.data.zero_()\nloss = h.sum()",
    "a leaf no longer asked for": "loss = (x + w).sum()\nw.requires_grad_(False)",
    "used before, nothing saved": "loss = x.sum()\nloss.backward()",
    "product": "loss = (x * w).sum()\nlook()",
    "exp": "loss = x.exp().sum()\nlook()",
    "chain": "loss = x.exp().log().sin().cos().tanh().sigmoid().sum()\nlook()",
    "power": "loss = (x ** 3).sum() + x.pow(2).sum()\nlook()",
    "root": "loss = (x * x + 1).sqrt().sum()\nlook()",
    "quotient": "loss = (x / (w * w + 1)).sum()\nlook()",
    "choices": "loss = torch.where(c > 0, x, w).sum() + x.clamp(-1, 1).sum() + x.abs().sum()\nlook()",
    "largest": "loss = x.max() + M.max(0)[0].sum() + x.min()\nlook()",
    "matrix product": "loss = (M @ x).sum() + (M @ M).sum()\nlook()",
    "indexed": "loss = x[torch.tensor([0, 0, 2])].sum()\nlook()",
    "one look is enough": "h = x.exp()\nloss = (h * h).sum()\nlook()\nz = h + 1\nz.mul_(2)",
    "a number": "k = torch.tensor(2.)\nloss = (x * k).sum()\nlook()",
    "a number that is not kept": "loss = (x * 2.5).sum()",
    "softmax": "loss = F.softmax(M, 1)[0, 0] + F.log_softmax(M, 1)[1, 1]\nlook()",
    "cross entropy": "loss = F.cross_entropy(M, torch.tensor([0, 1, 2]))\nlook()",
    "net": "net = mlp()\nloss = close()\nlook()",
    "net, bare input": "net = nn.Linear(3, 1)\nloss = F.mse_loss(net(X), t)\nlook()",
    "SGD": "net = mlp()\nopt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\nfor _ in range(3):\n"
    "    opt.zero_grad()\n    close().backward()\n    opt.step()\nloss = close()\nlook()",
    "Adam": "net = mlp()\nopt = torch.optim.Adam(net.parameters(), lr=0.1)\nfor _ in range(3):\n"
    "    opt.zero_grad()\n    close().backward()\n    opt.step()\nloss = close()\nlook()",
    "accumulated": "net = mlp()\nfor _ in range(3): (close() / 3).backward()\nloss = close() / 3\nlook()",
    "gradients set to zero": "net = mlp()\nclose().backward()\nloss = close()\nlook()\n"
    "for p in net.parameters(): p.grad.zero_()",
    "gradients forgotten": "net = mlp()\nclose().backward()\nloss = close()\nlook()\n"
    "for p in net.parameters(): p.grad = None",
    "recurrent": "h = torch.zeros(3)\nfor _ in range(4): h = torch.tanh(M @ h + x)\nloss = h.sum()\nlook()",
    "recurrent, cut": "h = torch.zeros(3)\nfor _ in range(3):\n    h = torch.tanh(M @ h.detach() + x)\n"
    "    loss = h.sum()\n"
    "    if _ < 2: loss.backward()\nlook()",
    "residual": "h = x\nfor _ in range(3): h = h + torch.tanh(M @ h)\nloss = h.sum()\nlook()",
    "relu in place": "h = M @ x\nh.relu_()\nloss = h.sum()\nlook()",
    "dropout": "loss = F.dropout(x, 0.5).sum()\nlook()",
    "average of weights": "net = mlp()\nslow = [p.detach().clone() for p in net.parameters()]\nloss = close()\nlook()\n"
    "for s, p in zip(slow, net.parameters()): s.lerp_(p.detach(), 0.1)",
    "discriminator": "G, D = nn.Linear(3, 3), nn.Linear(3, 1)\nfake = G(X)\n"
    "loss = D(fake.detach()).mean() - D(X).mean()\n"
    "look()",
    "generator": "G, D = nn.Linear(3, 3), nn.Linear(3, 1)\nfake = G(X)\nloss = -D(fake).mean()\nlook()",
    "used before, kept": "loss = x.exp().sum()\nloss.backward(retain_graph=True)\nlook()",
    "two that share nothing": "roots = [x.exp().sum(), w.exp().sum()]\nlook()",
    "two that share what saves nothing": "h = x + w\nroots = [h.sum(), h.mean()]",
    "the rest is not reached": "h = x.exp()\nz = h.sum()\nh.detach().zero_()\nloss = (w * 3).sum()",
    "a gradient of more rows": "x.grad = torch.zeros(3)\nx.grad.data = torch.zeros(2, 3)\nloss = x.sum()",
    "a result detached in place": "h = x.exp()\nloss = h.sum()\nlook()\nh.detach_()",
    "given another shape after it was used": "h = x * 2\nloss = h.sum()\nh.data = torch.ones(5)",
    "given a shape that is summed": "loss = (x * 2).sum()\nloss.data = torch.ones(1, 1)",
    "written to a copy": "h = x.exp()\nloss = h.sum()\nlook()\nh.detach().clone().zero_()",
    "written before it was saved": "x.data.mul_(2)\nloss = (x * x).sum()\nlook()",
    "written without effect": "h = x.exp()\nloss = h.sum()\nlook()\nh.data.mul_(1)",
    "restored": "h = x.exp()\nloss = h.sum()\nlook()\nold = h.data.clone()\nh.data.zero_()\nh.data.copy_(old)",
    "a weight frozen": "net = mlp()\nnet[0].weight.requires_grad_(False)\nloss = close()\nlook()",
    "a gradient is retained": "h = x.exp()\nh.retain_grad()\nloss = (h * h).sum()\nlook()",
    "nan": "loss = (x * float('nan')).exp().sum()\nlook()",
    "nothing in it": "e = torch.ones(0, requires_grad=True)\nloss = e.exp().sum()\nlook()",
    "many dimensions": "h = torch.randn(2, 3, 4, requires_grad=True)\nloss = h.permute(2, 0, 1).exp().sum()\nlook()",
    "a slice is saved": "loss = (M[:, 1] * M[0]).sum()\nlook()",
    "doubles": "d = x.detach().double().requires_grad_()\nloss = (d * d).sum()\nlook()",
}
RAISES = {
    "no grad": "loss = c.sum()",
    "whole numbers": "loss = torch.tensor([1, 2]).sum()",
    "truth": "loss = (x > 0).sum()",
    "detached": "loss = x.exp().sum().detach()",
    "computed in no_grad": "with torch.no_grad(): loss = x.exp().sum()",
    "several elements": "loss = x * 2",
    "no elements": "loss = torch.ones(0, requires_grad=True) * 2",
    "a leaf of several": "loss = x",
    "used twice": "loss = (x * x).sum()\nloss.backward()",
    "a part used": "h = x.exp()\n(h * 2).sum().backward()\nloss = (h * h).sum()",
    "recurrent, not cut": "h = torch.zeros(3)\nfor _ in range(3):\n    h = torch.tanh(M @ h + x)\n    loss = h.sum()\n"
    "    if _ == 1: loss.backward()",
    "losses added up": "total = 0\nfor _ in range(3):\n    loss = (x * w).sum()\n    total = total + loss\n"
    "    loss.backward()\nloss = total",
    "a result is written": "h = x.exp()\nh += 1\nloss = h.sum()",
    "a result is written through a view": "h = x.sigmoid()\nloss = h.sum()\nh.detach()[0] = 5",
    "an input is written": "h = x * 1\nz = h * h\nh.zero_()\nloss = z.sum()",
    "relu in place, saved": "h = x.exp()\nh.relu_()\nloss = h.sum()",
    "a leaf is written": "loss = (x * x).sum()\nwith torch.no_grad(): x.add_(1)",
    "step before backward": "net = mlp()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nclose().backward()\n"
    "loss = close()\nopt.step()",
    "Adam before backward": "net = mlp()\nopt = torch.optim.Adam(net.parameters(), lr=0.1)\nclose().backward()\n"
    "loss = close()\nlook()\nopt.step()",
    "the input is refilled": "loss = (X[0] * x).sum()\nlook()\nX.copy_(X + 1)",
    "an index is refilled": "i = torch.tensor([0, 1])\nloss = x.gather(0, i).sum()\nlook()\ni.add_(1)",
    "detached in place": "y = (x * 2).exp().sum()\nloss = y.detach_()",
    "a mask is refilled": "m = c > 0\nloss = torch.where(m, x, w).sum()\nm.fill_(True)",
    "two of one graph": "h = x.exp()\nroots = [h.sum(), (h * 2).sum()]",
    "two of one graph, looked at": "h = x.exp()\nroots = [h.sum(), (h * 2).sum()]\nlook()",
    "the generator again": "G, D = nn.Linear(3, 3), mlp()\nfake = G(X)\nfor p in G.parameters(): p\n"
    "roots = [D(fake).mean(), -(D(fake) ** 2).mean()]",
    "discriminator's step": "G, D = nn.Linear(3, 3), nn.Linear(3, 1)\nopt = torch.optim.SGD(D.parameters(), lr=0.1)\n"
    "fake = G(X)\nloss = -D(fake).mean()\n(D(X) ** 2).mean().backward()\nopt.step()",
    "a view of no_grad": "b = x * 1\nwith torch.no_grad(): loss = b[0]\nb.mul_(2)",
    "an input detached in place": "h = x * 2\nloss = (h * h).sum()\nlook()\nh.detach_()",
    "detached before the look": "h = x * 2\nloss = (h.exp() * h).sum()\nh.detach_()\nlook()",
    "a leaf moved into the graph": "loss = x.sum()\nx.requires_grad_(False)\nx.mul_(w)",
    "a frozen leaf added to": "loss = (x * 2).sum()\nlook()\nx.requires_grad_(False)\nx += w",
    "an expanded gradient": "x.grad = torch.zeros(1).expand(3)\nloss = x.sum()",
    "a gradient of whole numbers": "x.grad = torch.zeros(3)\nx.grad.data = torch.zeros(3, dtype=torch.int64)\n"
    "loss = x.sum()",
    "a gradient of fewer elements": "x.grad = torch.zeros(3)\nx.grad.data = torch.zeros(2)\nloss = x.sum()",
    "a loss of another shape": "loss = x * 2\nloss.data = torch.tensor(1.)",
    "a result of another shape": "h = x * 2\nh.data = torch.ones(5)\nloss = (h + 1).sum()",
    "a result of another shape, seen as a view": "h = x * 2\nh.data = torch.ones(5)\nloss = h.view(5, 1).mean()",
    "in place by another name": "h = torch.tanh(x)\nk = h.detach()\nloss = h.sum()\nk -= 1",
}
SILENT = {
    "data": "h = x.exp()\nloss = h.sum()\nlook()\nh.data.mul_(5)",
    "data, kept": "h = x.exp()\nd = h.data\nloss = h.sum()\nlook()\nd.mul_(5)",
    "data, an element": "h = x.exp()\nloss = h.sum()\nlook()\nh.data[1] = 0",
    "data of a leaf": "loss = (x * x).sum()\nlook()\nx.data.add_(1)",
    "data of a leaf, negative": "loss = (x * x).sum()\nlook()\nx.data.neg_()",
    "data exchanged": "loss = (x * w).sum()\nlook()\nx.data = torch.zeros(3)",
    "data of weights": "net = mlp()\nloss = close()\nlook()\nfor p in net.parameters(): p.data -= 0.5",
    "data of the input": "net = mlp()\nloss = close()\nlook()\nX.data.zero_()",
    "data, gathered": "i = torch.tensor([0, 1])\nloss = x.gather(0, i).sum()\nlook()\ni.data.add_(1)",
    "data, the sign of zero": "k = torch.zeros(3, requires_grad=True)\nloss = (1 / k).sum()\nlook()\nk.data.neg_()",
    "NumPy": "h = x.exp()\nloss = h.sum()\nlook()\nh.detach().numpy()[:] = 0",
    "NumPy of the input": "loss = (X[0] * x).sum()\nlook()\nX.numpy()[0] *= 2",
    "from NumPy": "import numpy\na = numpy.ones(3, numpy.float32)\nloss = (torch.from_numpy(a) * x).sum()\nlook()\n"
    "a[:] = 3",
    "storage": "h = x.exp()\nloss = h.sum()\nlook()\nh.untyped_storage().fill_(0)",
    "a number by data": "k = torch.tensor(2.)\nloss = (x * k).sum()\nlook()\nk.data.fill_(7)",
    "a number by data, not looked at": "k = torch.tensor(2.)\nloss = (x * k).sum()\nk.data.fill_(7)",
    "data, not looked at": "h = x.exp()\nloss = h.sum()\nh.data.mul_(5)",
    "data of a leaf, not looked at": "loss = (x * x).sum()\nx.data.neg_()",
    "NumPy, not looked at": "h = x.sigmoid()\nloss = h.sum()\nh.detach().numpy()[:] = 0",
    "storage, not looked at": "h = x.exp()\nloss = h.sum()\nh.untyped_storage().fill_(0)",
}
TORCH = {
    "layer norm": "net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4))\nloss = net(X).pow(2).sum()\nlook()",
    "batch norm": "net = nn.BatchNorm1d(3)\nloss = (net(X) * X).sum()\nlook()",
    "batch norm, not training": "net = nn.BatchNorm1d(3).eval()\nloss = (net(X) * X).sum()\nlook()",
    "batch norm, trained on": "net = nn.BatchNorm1d(3)\nloss = (net(X) * X).sum()\nlook()\nnet(X * 2)",
    "embedding": "net = nn.Embedding(5, 3)\nloss = net(torch.tensor([1, 1, 4])).sum()\nlook()",
    "convolution": "net = nn.Conv2d(1, 2, 3)\nloss = net(torch.randn(1, 1, 5, 5)).pow(2).sum()\nlook()",
    "running statistics": "net = nn.BatchNorm1d(3).eval()\nloss = (net(X) * X).sum()\nlook()\nnet.train()(X * 9)",
    "running statistics reset": "net = nn.BatchNorm1d(3)\nloss = (net(X) * X).sum()\nlook()\n"
    "net.reset_running_stats()",
    "buffers broadcast": "net = nn.BatchNorm1d(3)\nloss = (net(X) * X).sum()\nlook()\n"
    "for b in net.buffers(): b.copy_(b.clone())",
    "autoencoder": "E, D = nn.Linear(3, 4), nn.Linear(2, 3)\nm, v = E(X).chunk(2, 1)\n"
    "z = m + torch.randn(4, 2) * (v / 2).exp()\n"
    "loss = F.mse_loss(D(z), X) + (m.pow(2) + v.exp() - v - 1).mean()\nlook()",
    "teacher": "A, B = mlp(), mlp()\nwith torch.no_grad(): y = A(X)\n"
    "loss = F.kl_div(F.log_softmax(B(X), 0), F.softmax(y, 0))\n"
    "look()",
    "clipped": "net = mlp()\nclose().backward()\nnn.utils.clip_grad_norm_(net.parameters(), 0.1)\nloss = close()\n"
    "look()",
    "convolution and norm": "net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(inplace=True))\n"
    "loss = net(torch.randn(2, 1, 5, 5)).mean()\nlook()",
    "two passes in training": "net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.3))\n"
    "loss = (net(X) - net(X + 1)).pow(2).mean()\nlook()\nnet(X)",
    "triplets": "net = nn.Linear(3, 2)\nloss = F.triplet_margin_loss(net(X), net(X + 1), net(-X))\nlook()",
    "smooth labels": "loss = F.cross_entropy(M, torch.tensor([0, 1, 2]), label_smoothing=0.1)\nlook()",
    "logits": "net = nn.Linear(3, 1)\nloss = F.binary_cross_entropy_with_logits(net(X), (t > 0).float())\nlook()",
    "padded sequences": "net = nn.GRU(3, 2, batch_first=True)\n"
    "p = nn.utils.rnn.pack_padded_sequence(torch.randn(2, 3, 3), [3, 2], batch_first=True)\n"
    "loss = net(p)[1].pow(2).sum()\nlook()",
    "an index out of range": "i = torch.tensor([0, 1])\nloss = x.gather(0, i).sum()\nlook()\ni.data.add_(99)",
    "foreach": "net = mlp()\nloss = close()\nlook()\ntorch._foreach_add_([p.data for p in net.parameters()], 1.)",
    "version kept": "h = x.exp()\nloss = h.sum()\nlook()\nwith torch.autograd._unsafe_preserve_version_counter(h), "
    "torch.no_grad(): h.mul_(5)",
    "set_": "h = x.exp()\nloss = h.sum()\nlook()\nh.data.set_(torch.zeros(3))",
    "set_ of a leaf": "loss = (x * x).sum()\nlook()\nwith torch.no_grad(): x.set_(torch.zeros(3))",
    "running statistics, not looked at": "net = nn.BatchNorm1d(3).eval()\nloss = (net(X) * X).sum()\n"
    "net.train()(X * 9)",
    "complex": "loss = (x * 1j).sum()",
    "complex leaf": "loss = torch.ones(1, dtype=torch.complex64, requires_grad=True)",
    "complex on the way": "loss = (x * (1 + 2j)).abs().sum()\nlook()",
    "not implemented": "loss = torch.igamma(w.abs() + 1, torch.ones(3)).sum()\nlook()",
    "no derivative": "loss = torch.ops.aten._fused_dropout.default if 0 else torch.unique(x).sum()\nlook()",
    "leaky, below zero": "h = x * 1\nF.leaky_relu_(h, -0.5)\nloss = h.sum()\nlook()",
    "leaky": "h = x * 1\nF.leaky_relu_(h, 0.2)\nloss = h.sum()\nlook()",
    "svd": "loss = torch.linalg.svd(M)[1].sum()\nlook()",
    "qr, complete": "loss = torch.linalg.qr(torch.randn(4, 3, requires_grad=True), 'complete')[0].sum()\nlook()",
    "kept on the CPU": "with torch.autograd.graph.save_on_cpu(): loss = x.exp().sum()\nlook()",
    "kept on the CPU, written": "with torch.autograd.graph.save_on_cpu():\n    h = x.exp()\n    loss = h.sum()\n"
    "    look()\nh.detach().mul_(3)",
    "igamma of a constant": "loss = torch.igamma(torch.ones(3), x.abs() + 1).sum()\nlook()",
    "inverse": "loss = torch.linalg.inv(M).sum() + torch.linalg.solve(M, X[0]).sum()\nlook()",
    "singular": "loss = torch.linalg.det(M * 0) + torch.linalg.eigvalsh(M * 0).sum()\nlook()",
    "qr, r alone": "loss = torch.linalg.qr(M, 'r')[1].sum()\nlook()",
    "checkpoint": "from torch.utils.checkpoint import checkpoint\n"
    "loss = checkpoint(lambda v: v.exp(), x, use_reentrant=False).sum()\nlook()",
    "checkpoint, reentrant": "from torch.utils.checkpoint import checkpoint\n"
    "loss = checkpoint(lambda v: v.exp(), x, use_reentrant=True).sum()\nlook()",
    "checkpoint and a write": "from torch.utils.checkpoint import checkpoint\nh = x * 2\n"
    "loss = checkpoint(lambda v: v.exp(), h, use_reentrant=False).sum()\nlook()\nh.add_(1)",
    "checkpoint and a write by data": "from torch.utils.checkpoint import checkpoint\nh = x * 2\n"
    "loss = checkpoint(lambda v: v.exp(), h, use_reentrant=False).sum()\nlook()\nh.data.add_(1)",
    "mutation allowed": "h = x.exp()\nwith torch.autograd.graph.allow_mutation_on_saved_tensors():\n"
    "    h = x.exp()\n    loss = h.sum()\n    look()",
    "grad of inference": "loss = (x + w).sum()\nwith torch.inference_mode(): x.grad = torch.ones(3)",
    "grad is saved": "x.grad = torch.ones(3)\nloss = (w * x.grad).sum() + (x * 1).sum()\nlook()",
    "half precision": "b = x.detach().bfloat16().requires_grad_()\nloss = b.exp().sum()\nlook()",
    "half precision, written": "b = x.detach().bfloat16().requires_grad_()\nh = b.exp()\nloss = h.sum()\nlook()\n"
    "h.data.zero_()",
    "attention": "q = torch.randn(1, 2, 4, requires_grad=True)\n"
    "loss = F.scaled_dot_product_attention(q, q, q).sum()\nlook()",
    "transformer": "net = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)\n"
    "loss = net(torch.randn(2, 3, 4)).pow(2).sum()\n"
    "look()",
    "LSTM": "net = nn.LSTM(3, 2)\nloss = net(X.unsqueeze(1))[0].sum()\nlook()",
    "GRU": "net = nn.GRU(3, 2)\nloss = net(X.unsqueeze(1))[0].pow(2).sum()\nlook()",
    "pooled": "net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2))\n"
    "loss = net(torch.randn(1, 1, 6, 6)).pow(2).sum()\nlook()",
    "sparse": "s = torch.eye(3).to_sparse()\nloss = torch.sparse.mm(s, M).sum()\nlook()",
    "double backward": "g, = torch.autograd.grad(x.exp().sum(), x, create_graph=True)\nloss = (g * g).sum()\nlook()",
    "penalty": "net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))\nX.requires_grad_()\n"
    "g, = torch.autograd.grad(net(X).sum(), X, create_graph=True)\nloss = (g.norm(dim=1) - 1).pow(2).mean()\nlook()",
    "custom op": "loss = torch.ops.aten.mul(x, w).sum()\nlook()",
    "anomaly": "torch.autograd.set_detect_anomaly(True)\nloss = (x * 0).sqrt().sum()\nlook()",
    "a leaf of another shape": "loss = (x * w).sum()\nlook()\nw.data = torch.ones(5)",
    "a leaf of another shape, later": "h = x.sum()\nx.data = torch.ones(5)\nloss = (x * 3).sum()",
    "a net of another dtype": "net = mlp()\nloss = close()\nlook()\nnet.double()",
    "a gradient that the second saved": "x.grad = torch.ones(3)\nroots = [x.sum(), (w * x.grad).sum()]\nlook()",
    "compiled": "loss = torch.compile(lambda v: v.exp(), backend='aot_eager')(x).sum()\nlook()",
    "another device": "loss = torch.ones(3, requires_grad=True, device='meta').exp().sum()\nlook()",
    "nested": "n = torch.nested.nested_tensor([x, w])\nloss = torch.nested.to_padded_tensor(n * n, 0).sum()\nlook()",
    "vmap": "loss = torch.vmap(lambda v: v.exp())(M).sum()\nlook()",
    "parametrized": "net = torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 1))\n"
    "loss = net(X).pow(2).sum()\nlook()",
    "view of no_grad as a leaf": "with torch.no_grad(): v = c[0]\nloss = v.requires_grad_()",
    "weights as channels last": "net = nn.Conv2d(2, 2, 3)\nloss = net(torch.randn(1, 2, 5, 5)).pow(2).sum()\nlook()\n"
    "net.weight.data.mul_(2)",
}
CUSTOM = """
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        ctx.kept = v
        return v * v
    @staticmethod
    def backward(ctx, grad):
        BODY
h = x * 1
loss = Own.apply(h).sum()
look()
"""
WITH_A_FUNCTION = {
    "a Function": CUSTOM.replace("BODY", "return 2 * grad * ctx.saved_tensors[0]"),
    "a Function, written": CUSTOM.replace("BODY", "return 2 * grad * ctx.saved_tensors[0]")
    + "h.add_(1)",
    "a Function that never looks": CUSTOM.replace("BODY", "return grad") + "h.add_(1)",
    "a Function that raises": CUSTOM.replace("BODY", "raise ValueError('no')"),
    "a Function with an attribute": CUSTOM.replace("BODY", "return 2 * grad * ctx.kept")
    + "h.data.add_(1)",
    "a Function that hands on the gradient": CUSTOM.replace("BODY", "return grad"),
    "a Function that returns too much": CUSTOM.replace("BODY", "return grad, grad"),
    "a Function that returns None": CUSTOM.replace("BODY", "return None").replace(
        "x * 1", "x.exp()"
    ),
    "a Function that returns None to a frozen leaf": CUSTOM.replace("BODY", "return None")
    + "x.requires_grad_(False)\nx.mul_(w)",
    "a Function in a try": CUSTOM.replace(
        "BODY", "try: ctx.saved_tensors\n        except RuntimeError: return grad"
    )
    + "h.add_(1)",
    "a Function that asks first": CUSTOM.replace(
        "BODY", "return grad if ctx else ctx.saved_tensors[0]"
    )
    + "h.add_(1)",
    "a Function that reads a size": CUSTOM.replace("BODY", "return grad * len(ctx.kept)")
    + "h.add_(1)",
    "a Function used twice": CUSTOM.replace("BODY", "return grad") + "loss.backward()",
}
TWICE = """
class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return v * v
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]
g, = torch.autograd.grad((Once.apply(x) * w).sum(), x, create_graph=True)
loss = g.sum()
look()
"""
HOOKS = {
    "differentiable once": TWICE,
    "a hook on a tensor": "h = x.exp()\nh.register_hook(lambda g: g * 2)\nloss = h.sum()\nlook()",
    "a hook that raises": "h = x * 2\nh.register_hook(lambda g: 1 / 0)\nloss = h.sum()\ndel h\nlook()",
    "a hook on a leaf": "x.register_hook(lambda g: 1 / 0)\nloss = x.sum()",
    "a hook after": "x.register_post_accumulate_grad_hook(lambda p: 1 / 0)\nloss = x.sum()",
    "a hook on a node": "loss = x.sum()\nloss.grad_fn.register_hook(lambda *g: 1 / 0)",
    "a hook before a node": "loss = x.sum()\nloss.grad_fn.register_prehook(lambda g: 1 / 0)",
    "a hook of a module": "net = nn.Linear(3, 1)\nnet.register_full_backward_hook(lambda *g: 1 / 0)\n"
    "loss = net(X).sum()\nlook()",
    "a hook that was removed": "h = x * 2\nh.register_hook(lambda g: 1 / 0).remove()\nloss = h.sum()\nlook()",
    "packed": "with torch.autograd.graph.saved_tensors_hooks(lambda v: v, lambda v: 1 / 0): loss = x.exp().sum()\n"
    "look()",
    "through a view": "h = x * 1\nh[:2].exp_()\nloss = h.sum()\nlook()",
    "through a view, written": "h = x * 1\nv = h[:2]\nv.exp_()\nh.add_(1)\nloss = h.sum()\nlook()",
}
BOTH = {**RIGHT, **RAISES, **SILENT, **WITH_A_FUNCTION, **HOOKS}


@dataclass(frozen=True)
class Truth:
    """What backward did: the error that it raised, or whether its gradients are those of what was saved."""

    error: str
    right: bool


def play(code: str, engine: ModuleType, look: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Run a program; what it leaves behind, with `roots`."""
    names: dict[str, Any] = {"torch": engine}
    names["look"] = lambda: look(names)
    exec(compile(BEFORE + code, code, "exec"), names)
    names.setdefault("roots", [names.get("loss")])
    return names


def gradients(names: dict[str, Any]) -> list[Any]:
    """Call backward on the roots; the gradients of all leaves that have a name."""
    for root in names["roots"]:
        root.backward()
    tensors = [one for one in names.values() if hasattr(one, "is_leaf")]
    modules = [one for one in names.values() if hasattr(one, "parameters")]
    tensors += [each for one in modules for each in one.parameters()]
    return [one.grad.tolist() if one.is_leaf and one.grad is not None else None for one in tensors]


def verdict(code: str, engine: ModuleType) -> tuple[Explanation, Truth]:
    """The verdict at a program's end, and what then happens."""
    looks: list[Any] = []
    names = play(code, engine, lambda all_names: looks.append(snapshot(_shown(all_names))))
    said = explain(*names["roots"], since=looks[0] if looks else None)
    found, error = _outcome(names)
    if error:
        return said, Truth(error, right=False)
    with engine.autograd.graph.saved_tensors_hooks(
        lambda one: one.detach().clone(), lambda kept: kept
    ):
        wanted, _ = _outcome(play(code, engine, lambda _: None))
    return said, Truth("", repr(found) == repr(wanted))


def verdicts_without_looks(code: str, engine: ModuleType) -> dict[str, str]:
    """The verdicts at a program's end, by how `explain` is asked: alone, inside of a watch, and there with `run=True`."""
    said = {}
    ways: dict[str, AbstractContextManager[Any]] = {
        "alone": nullcontext(),
        "inside": copylab.watch(silent="record"),
    }
    for way, watch in ways.items():
        with watch:
            names = play(code, engine, lambda _: None)
            said[way] = explain(*names["roots"]).verdict
            if way == "inside":
                said["run"] = explain(*names["roots"], run=True).verdict
            names.clear()  # see `_outcome`
    return said


def _outcome(names: dict[str, Any]) -> tuple[list[Any], str]:
    """The gradients, or the error."""
    try:
        return gradients(names), ""
    except Exception as error:  # noqa: BLE001 - what it raises is what is asked
        return [], f"{type(error).__name__}: {error}"
    finally:
        names.clear()  # hooks hold them in circles through nodes, which nobody would find


def _shown(names: dict[str, Any]) -> dict[str, Any]:
    return {
        name: one
        for name, one in names.items()
        if hasattr(one, "is_leaf") or hasattr(one, "parameters")
    } | {"roots": names.get("roots", [])}


def judged(said: str, truth: Truth) -> str:
    """How a verdict stands against the truth: "right", "wrong", "unknown", or "right, not compared".

    The last is right of a backward that gives the gradient of what was saved; of another one, nothing is decided: the
    verdict is for a program that wrote nothing past a version counter. Such a write may spoil an index, too.
    """
    if said == NOT_COMPARED and (not truth.error or "out of bounds" in truth.error):
        return "right, not compared" if truth.right else "unknown"
    if said == "unknown" or (said == "may be wrong" and truth.right):
        return "unknown"
    return (
        "right"
        if said == ("raises" if truth.error else "runs" if truth.right else "may be wrong")
        else "wrong"
    )
