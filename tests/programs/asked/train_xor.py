"""Train xor."""
import torch
import torch.nn as nn
torch.manual_seed(2)
X = torch.tensor([[0., 0.], [0., 1.], [1., 0.], [1., 1.]])
Y = torch.tensor([[0.], [1.], [1.], [0.]])
class XOR(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(2, 4)
        self.out = nn.Linear(4, 1)
    def forward(self, x):
        x = torch.tanh(self.hidden(x))
        return torch.sigmoid(self.out(x))
model = XOR()
model
loss_fn = nn.BCELoss()
opt = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
for epoch in range(101):
    p = model(X)
    loss = loss_fn(p, Y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 20 == 0:
        print("epoch", epoch, "loss %.4f" % loss.item())
(model(X) > 0.5).int()
((model(X) > 0.5).float() == Y).float().mean()
