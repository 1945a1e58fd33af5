"""grad_fn at the end of what is printed."""
import torch

x = torch.ones(2, 2, requires_grad=True)
x * 2, x.sum(), x[0], x.t(), x.view(-1), x.clone(), x @ x, x.max(0), x.unbind(), -x, 1 / x, x ** 2, x.exp(), x.mean(1), (x > 0), x.detach(), x.data, x.double(), x.long(), x.sort()
y = x * 2
y[0] = 3
y
y.t_()
torch.cat([x, x]), torch.stack([x]), x.softmax(0), x.expand(1, 2, 2), x.repeat(1, 1), x.requires_grad_(False), torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2), requires_grad=False), torch.nn.Parameter(torch.tensor(1.5))
print(torch.nn.Parameter(torch.zeros(2, 2)))
[torch.ones(2, requires_grad=True), (torch.zeros(1),)]
{"a": torch.ones(2, 2)}
print("x", torch.ones(3), torch.tensor(5), sep="|")
