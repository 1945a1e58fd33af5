"""Small programs whose pictures must be the same under both engines, and a way to run them."""

from types import ModuleType
from typing import Any

PROGRAMS = {
    "sharing": """
x = torch.tensor([1., 2., 3.], requires_grad=True)
same = x
a = x.detach()
b = x.data
c = x.clone()
""",
    "stale": """
a = torch.tensor([1., 2., 3.], requires_grad=True)
out = a.sigmoid()
c = out.detach()
c.zero_()
""",
    "data": """
a = torch.tensor([1., 2., 3.], requires_grad=True)
out = a.sigmoid()
c = out.data
c.zero_()
""",
    "network": """
x = torch.ones(3, requires_grad=True)
w = torch.full((3,), 2., requires_grad=True)
y = x * 2
out = y.sigmoid()
d = out.detach()
z = out * w
loss = (z * z).sum()
d.zero_()
""",
    "gradient": """
x = torch.tensor([1., 2.], requires_grad=True)
y = (x * 2).sum()
y.backward()
""",
    "copy_": """
x = torch.ones(2, requires_grad=True)
y = torch.empty_like(x)
y.copy_(x)
z = y.sum()
""",
    "unnamed": """
a = torch.ones(2, requires_grad=True)
z = ((a * 3) * (a * 4)).sum()
""",
    "small": """
s = torch.tensor(3.)
n = torch.tensor([float('nan'), float('inf'), -float('inf')])
i = torch.tensor([True, False])
e = torch.zeros(0)
""",
    "no_grad": """
x = torch.ones(3, requires_grad=True)
with torch.no_grad():
    x.add_(1)
    y = x * 2
""",
    "types": """
x = torch.tensor([1, 2], dtype=torch.int64)
y = torch.tensor([1, 2], dtype=torch.float64)
""",
    "views": """
v = torch.tensor([[0., 1., 2.], [3., 4., 5.]])
t = v.view(3, 2)
r = v.reshape(6)
""",
}


def run(program: str, engine: ModuleType) -> dict[str, Any]:
    """The names that a program leaves behind."""
    names: dict[str, Any] = {}
    exec(compile(PROGRAMS.get(program, program), program, "exec"), {"torch": engine}, names)
    return names
