"""Each in-place operation, the node it leaves and the gradient through it."""
import torch

x = torch.tensor([0.5, 1.5], requires_grad=True)
for name, *args in (("add_", 2), ("mul_", 3), ("sub_", 1), ("div_", 2), ("pow_", 2), ("exp_",), ("log_",), ("sqrt_",), ("tanh_",), ("sigmoid_",), ("relu_",), ("neg_",), ("abs_",), ("clamp_", 0.6, 1.0), ("sin_",), ("reciprocal_",), ("square_",), ("zero_",), ("fill_", 2), ("copy_", x), ("cumsum_", 0), ("masked_fill_", x > 1, 3.0), ("t_",), ("unsqueeze_", 0), ("addcmul_", x, x), ("lerp_", x, 0.5), ("log1p_",), ("rsqrt_",), ("round_",)):
    y = x * 1
    x.grad = None
    r = getattr(y, name)(*args)
    y.sum().backward()
    print(name, r is y, y.grad_fn.name(), y._version, x.grad)
