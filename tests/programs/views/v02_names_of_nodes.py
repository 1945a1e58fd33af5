"""What each view operation is called in the graph, and what it saves."""
import torch

x = torch.arange(6.).view(2, 3).requires_grad_()
for y in (x[0], x[1:], x[None], x[...], x[:, 1], x.t(), x.T, x.mT, x.view(6), x.expand(2, 2, 3), x.unbind()[1], x.split(1)[0],
          x.chunk(2, 1)[0], x.diagonal(), x.unfold(1, 2, 1), x.squeeze(), x.squeeze(0), x.as_strided((2,), (1,)), x.narrow(1, 0, 2)):
    print(y.grad_fn.name(), y.output_nr)
s = x[-1:].grad_fn
s._saved_dim, s._saved_start, s._saved_end, s._saved_step, s._saved_self_sym_sizes
x.select(-1, -1).grad_fn._saved_dim
x.permute(1, -2).grad_fn._saved_dims
x.t()[1:].reshape(2, 2, 1).grad_fn.name()
x[:, ::2].reshape(-1).grad_fn.name()
x[:, :2].flatten().grad_fn.next_functions[0][0].name()
