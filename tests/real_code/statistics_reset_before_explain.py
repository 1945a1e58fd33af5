# What happens: the running statistics of a batch norm are reset before backward, which raises.
# Call: explain(loss)
# Says: loss.backward() would raise.
import torch

norm = torch.nn.BatchNorm1d(3)
loss = norm(torch.randn(4, 3, requires_grad=True)).square().sum()
norm.reset_running_stats()
try:
    loss.backward(retain_graph=True)
except RuntimeError as error:
    assert "modified by an inplace operation" in str(error)
