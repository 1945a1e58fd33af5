"""What hooks on nodes may return."""
import torch

def hooked(returned, where="y", when="pre"):
    x = torch.tensor([1., 2.], requires_grad=True)
    y = x * 2
    fn = y.grad_fn if where == "y" else y.grad_fn.next_functions[0][0]
    def pre(out):
        return returned(out[0]) if callable(returned) else returned
    def post(into, out):
        return returned(into[0] if into else out[0]) if callable(returned) else returned
    if when == "pre":
        fn.register_prehook(pre)
    else:
        fn.register_hook(post)
    try:
        (y * y).sum().backward()
    finally:
        print(x.grad)

hooked(lambda g: (g * 3,))
hooked(lambda g: g * 2)
hooked(lambda g: None)
hooked((1,))
hooked(3)
hooked(lambda g: ())
hooked(lambda g: (None,))
hooked(lambda g: (g, g))
hooked(lambda g: (g.double(),))
hooked(lambda g: (g.sum(),))
hooked(lambda g: (g * 3, None), when="post")
hooked(lambda g: (g * 3,), when="post")
hooked(lambda g: g, when="post")
hooked(lambda g: (g.sum(), None), when="post")
hooked(lambda g: (g, g), when="post")
hooked(lambda g: (g * 3,), where="leaf")
hooked(lambda g: (None,), where="leaf")
hooked(lambda g: g, where="leaf")
hooked(lambda g: (), where="leaf", when="post")
hooked(lambda g: (g,), where="leaf", when="post")
hooked(lambda g: 3, where="leaf", when="post")
