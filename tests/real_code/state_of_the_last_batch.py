# What happens: a recurrent state goes into the next batch with its graph, which the first backward has freed.
# Reported: norse/norse#130, MorvanZhou/PyTorch-Tutorial#57
# Call: explain(loss, net=net)
# Says: in an earlier backward without retain_graph=True
import torch

net = torch.nn.GRUCell(2, 3)
state = net(torch.randn(1, 2))
state.sum().backward()
loss = net(torch.randn(1, 2), state).sum()
try:
    loss.backward(retain_graph=True)
except RuntimeError as error:
    assert "second time" in str(error)
