# What happens: a second tensor, given to explain for its name, has many elements; backward of the loss runs.
# Call: explain(loss, probs=probs, net=net)
# Says: loss.backward() would run. It adds to net.bias.grad and net.weight.grad.
# After: loss.backward()
import torch

net = torch.nn.Linear(3, 2)
logits = net(torch.randn(4, 3))
probs, loss = logits.softmax(1), logits.square().mean()
