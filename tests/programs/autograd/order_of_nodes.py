"""The order in which backward runs nodes, ties included."""
import torch

def order(build):
    leaves = [torch.ones(2, requires_grad=True) for _ in range(4)]
    out = build(*leaves)
    log, names, stack = [], {}, [out.grad_fn]
    while stack:
        node = stack.pop()
        if node not in names:
            names[node] = f"{len(names)} {node.name()}"
            node.register_prehook(lambda grads, name=names[node]: log.append(name))
            stack += [below for below, _ in node.next_functions if below is not None]
    for i, leaf in enumerate(leaves):
        leaf.register_hook(lambda grad, i=i: log.append(f"leaf {i}"))
    out.sum().backward()
    print(*log, sep=", ")
    print([leaf.grad for leaf in leaves])

order(lambda a, b, c, d: (a + b) * (c + d))
order(lambda a, b, c, d: ((a * b) + (c * d)).sigmoid() + a + b + c + d)
order(lambda a, b, c, d: sum(t * k for k, t in enumerate([a, b, c, d, a, b, c, d, a], 1)))

def deep(*leaves):
    y = leaves[0]
    for i in range(6):
        y = y * leaves[i % 4] + (y.neg() if i % 2 else y.abs())
    return y

def written(a, b, c, d):
    w = (a * 1).view(2)
    w[:1].mul_(b[:1])
    return w + c

order(deep)
order(written)
