# What happens: a decorator with no_grad is left on a part of the forward pass.
# Call: explain(loss, body=body, head=head)
# Says: body.weight and body.bias: grad mode was off in forward_without_gradients.py:
# After: loss.backward(); assert body.weight.grad is None
import torch

body, head = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)


@torch.no_grad()
def features(x):
    return body(x)


loss = head(features(torch.randn(4, 3))).mean()
