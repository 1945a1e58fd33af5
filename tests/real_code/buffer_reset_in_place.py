# What happens: a state buffer that carries a graph is reset by zero_(), which keeps the graph.
# Reported: synsense/sinabs#5
# Call: explain(loss)
# Says: in an earlier backward without retain_graph=True
import torch

w = torch.ones(3, requires_grad=True)
state = torch.zeros(3)
state = torch.sigmoid(state + w)
state.sum().backward()
state[:2].zero_()
loss = (state * w).sum()
try:
    loss.backward(retain_graph=True)
except RuntimeError as error:
    assert "second time" in str(error)
