"""clone adds one node, however deep the graph below it is; it copies none of it."""
import torch

def nodes(t):
    seen, todo = set(), [t.grad_fn]
    while todo:
        node = todo.pop()
        if node is not None and node not in seen:
            seen.add(node)
            todo += [n for n, _ in node.next_functions]
    return len(seen)

x = torch.tensor([1.], requires_grad=True)
z = x
for i in range(1000):
    z = z + 1

c = z.clone()
print(nodes(z), nodes(c))
print(c.grad_fn.name(), len(c.grad_fn.next_functions))
print(c.grad_fn.next_functions[0][0] is z.grad_fn)
d = z.detach().clone()
print(d.grad_fn)
