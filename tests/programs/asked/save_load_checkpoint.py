"""Save load checkpoint."""
import torch
import io
import torch.nn as nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
model(torch.ones(1, 2)).sum().backward()
opt.step()
buf = io.BytesIO()
torch.save({"epoch": 3, "model": model.state_dict(), "opt": opt.state_dict(), "loss": 0.5}, buf)
buf.seek(0)
ck = torch.load(buf)
ck["epoch"], ck["loss"]
ck["model"]
ck["opt"]["param_groups"]
ck["opt"]["state"][0]
new = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
new.load_state_dict(ck["model"])
opt2 = torch.optim.Adam(new.parameters())
opt2.load_state_dict(ck["opt"])
opt2
torch.equal(new(torch.ones(1, 2)), model(torch.ones(1, 2)))
other = nn.Linear(3, 1)
other.load_state_dict(ck["model"])
torch.load("does_not_exist.pt")
