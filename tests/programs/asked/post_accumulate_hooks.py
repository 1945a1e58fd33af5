"""The dict of hooks that run after accumulation; random starts of gradgradcheck; old constructors over another dtype."""
import torch
t = torch.ones(2, requires_grad=True)
t._post_accumulate_grad_hooks
h = t.register_post_accumulate_grad_hook(lambda p: print(p.grad))
len(t._post_accumulate_grad_hooks)
t.sum().backward()
h.remove()
t._post_accumulate_grad_hooks
t.sum().backward()
torch.manual_seed(0)
x = torch.rand(3, dtype=torch.double, requires_grad=True)
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        print(g, g.stride())
        return 2 * g * ctx.saved_tensors[0]
torch.autograd.gradgradcheck(Square.apply, x, gen_non_contig_grad_outputs=True, fast_mode=True)
torch.LongTensor(torch.ones(2))
torch.nn.Dropout("a")
torch.nn.functional.dropout(t, 0.5, "yes")
