"""What gradcheck says of backwards that are wrong, change, know no zeros; fast mode; how often it calls."""
import torch
from torch.autograd import Function, gradcheck, gradgradcheck

x = torch.tensor([1.0, 2.0], dtype=torch.double, requires_grad=True)
class Half(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]
gradcheck(Half.apply, x)
gradcheck(Half.apply, x, raise_exception=False)
gradcheck(Half.apply, x, fast_mode=True)
gradcheck(lambda x: x ** 2, x, fast_mode=True), gradgradcheck(lambda x: x ** 3, x, fast_mode=True)
class Shaky(Half):
    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0] + torch.rand_like(g) * 1e-7 * g
gradcheck(Shaky.apply, x)
gradcheck(Shaky.apply, x, nondet_tol=1e-5)
def added(x):
    y = x.clone()
    y.register_hook(lambda g: g + 1e-2)
    return y
gradcheck(added, x, atol=1e-1)
def refuses(x):
    y = x.clone()
    def hook(g):
        if g is None:
            raise RuntimeError("no gradient")
    y.register_hook(hook)
    return y
gradcheck(refuses, x)
gradcheck(refuses, x, check_undefined_grad=False)
gradcheck(lambda x: torch.cat([x, x]) if (x >= 1).all() else x, x)
gradcheck(lambda x: torch.cat([x, x]) if (x >= 1).all() else x, x, fast_mode=True)
gradcheck(lambda x: x.float() if (x >= 1).all() else x, x)
gradcheck(lambda x: x.long(), x)
gradcheck(lambda x: x.detach() * 2, x)
gradcheck(lambda x: x.detach() * 2, x, fast_mode=True)
gradcheck(lambda x: (), x)
gradcheck(lambda x: None, x)
gradcheck(lambda x: x, x.detach())
gradcheck(lambda x: x.clone(), x.float().detach().requires_grad_(), atol=1e-1)
gradcheck(lambda x: x, x.detach()[:1].requires_grad_().expand(2))
calls = []
def counted(x):
    calls.append(x.tolist())
    return x * 2
gradcheck(counted, x)
len(calls), len({tuple(c) for c in calls})
gradcheck(counted, x, check_forward_ad=False, check_backward_ad=False)
gradcheck(counted, x, check_batched_grad=True, check_backward_ad=False, check_forward_ad=True)
gradgradcheck(lambda x: x ** 3, x, torch.ones(2, dtype=torch.double, requires_grad=True))
gradgradcheck(lambda x: x ** 3, x, gen_non_contig_grad_outputs=True)
gradgradcheck(lambda x: x ** 3, x, check_rev_over_rev=False)
