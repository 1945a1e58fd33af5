"""Argmax accuracy."""
import torch
torch.manual_seed(0)
outputs = torch.randn(4, 3)
labels = torch.tensor([0, 1, 2, 1])
_, pred = torch.max(outputs, 1)
pred
pred == labels
(pred == labels).sum()
correct = (pred == labels).sum().item()
correct / len(labels)
(pred == labels).float().mean().item()
acc = (pred == labels).sum() / labels.size(0)
acc
(pred == labels).mean()
(outputs.argmax(1) == labels).type(torch.float).sum().item()
100 * correct // labels.size(0)
torch.sum(pred == labels.data)
preds = torch.sigmoid(outputs[:, 0]) > 0.5
preds
pred.eq(labels.view_as(pred)).sum()
outputs.data.max(1, keepdim=True)[1]
maxk = outputs.topk(2, 1, True, True)[1].t()
maxk.eq(labels.view(1, -1).expand_as(maxk))
