"""What a backward that runs tells: its number, its node, its order, what it will run; and what is called at its end."""
import torch

t = torch.tensor(1.0, requires_grad=True)
u = t.sin().exp()
numbers = []
h = u.register_hook(lambda g: numbers.append(torch._C._current_graph_task_id()))
u.backward(retain_graph=True)
u.backward(retain_graph=True)
numbers[1] - numbers[0]
torch._C._current_graph_task_id()
torch._C._current_autograd_node()
h.remove()
def show_order(g):
    print([n.name() for n in torch._C._current_graph_task_execution_order()])
h = u.register_hook(show_order)
u.backward(retain_graph=True)
with torch.autograd.set_multithreading_enabled(False):
    u.backward(retain_graph=True)
h.remove()
torch._C._current_graph_task_execution_order()
def show_node(*_):
    print(torch._C._current_autograd_node().name())
v = t * 2
h1 = v.register_hook(show_node)
h2 = v.grad_fn.register_hook(show_node)
h3 = t.register_hook(show_node)
h4 = t.register_post_accumulate_grad_hook(show_node)
v.backward()
for h in (h1, h2, h3, h4):
    h.remove()
b = t * 2
c = b.cos()
out = b * 3
accumulator = b.grad_fn.next_functions[0][0]
def will(g):
    print([torch._C._will_engine_execute_node(n) for n in (accumulator, b.grad_fn, c.grad_fn)])
h = out.register_hook(will)
out.backward(retain_graph=True)
out.backward(inputs=(b,), retain_graph=True)
torch.autograd.grad(out, b, retain_graph=True)
torch.autograd.grad(out, t, retain_graph=True)
torch._C._will_engine_execute_node(b.grad_fn)
torch._C._will_engine_execute_node(b)
engine = torch.autograd.Variable._execution_engine
engine.queue_callback(print)
class Outer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        engine.queue_callback(lambda: print("outer is over"))
        inner = g.detach().requires_grad_()
        with torch.enable_grad():
            inner = inner * 2
        inner.register_hook(lambda g: engine.queue_callback(lambda: print("inner is over")))
        inner.backward()
        print("inner returned")
        return g
x = torch.tensor(2.0, requires_grad=True)
h = x.register_post_accumulate_grad_hook(lambda x: print("accumulated"))
Outer.apply(x).backward()
