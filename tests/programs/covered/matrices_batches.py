"""Products of batches: when they fold into one matrix, and the graph that tells."""
import torch

def names(node, depth=0):
    if node is None or depth > 4:
        return "-"
    return f"{node.name()}({', '.join(names(n, depth + 1) for n, _ in node.next_functions)})"

a = torch.ones(2, 3, 4, requires_grad=True)
m, v = torch.ones(4, 5, requires_grad=True), torch.ones(4, requires_grad=True)
names((a @ m).grad_fn)
names((a @ m.detach()).grad_fn)
names((a.detach() @ m).grad_fn)
c = torch.ones(3, 2, 4, requires_grad=True).transpose(0, 1)
names((c @ m.detach()).grad_fn)
names((c @ m).grad_fn)
names((c @ v.detach()).grad_fn)
names((m.t() @ a.mT).grad_fn)
names((m.t().detach() @ a.mT).grad_fn)
names((torch.ones(1, 3, 4, requires_grad=True) @ torch.ones(2, 4, 2)).grad_fn)
names((v @ torch.ones(2, 4, 3)).grad_fn)
(torch.ones(2, 3, 4) @ torch.ones(2, 4, 0)).shape, (torch.ones(0, 3, 4) @ torch.ones(4, 2)).shape
torch.ones(0, 3) @ torch.ones(2, 2, 3)
-torch.ones(2, 1) @ torch.zeros(1, 2)
-torch.ones(2, 2) @ torch.zeros(2, 2)
b = torch.ones(1, 2, 2)
torch.bmm(b > 0, b > 0)
torch.baddbmm(b, b.int(), b)
torch.baddbmm(b, b, b[0])
b[0].clone().addmm_(b[0], torch.ones(2, 3))
