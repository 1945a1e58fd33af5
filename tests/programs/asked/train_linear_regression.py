"""Train linear regression."""
import torch
import torch.nn as nn
torch.manual_seed(0)
x = torch.linspace(0, 1, 10).unsqueeze(1)
y = 2 * x + 1
model = nn.Linear(1, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(10):
    optimizer.zero_grad()
    outputs = model(x)
    loss = criterion(outputs, y)
    loss.backward()
    optimizer.step()
    print(f"epoch [{epoch+1}/10], loss: {loss.item():.4f}")
list(model.parameters())
model(torch.tensor([[2.0]]))
model.weight.item(), model.bias.item()
model(torch.tensor([2.0]))
model(torch.tensor(2.0))
model(torch.ones(3, 2))
model(torch.tensor([[1]]))
model(x.double())
