"""Loss backward types."""
import torch
x = torch.tensor([1., 2.], requires_grad=True)
x.sum().item().backward()
loss = float(x.sum())
loss.backward()
x.sum().detach().backward()
torch.tensor(x.sum().item()).backward()
torch.argmax(x).backward()
(x > 1).sum().backward()
x.round().sum().backward()
x.grad
x.long().sum().backward()
x.sum().numpy()
x.numpy()
x.tolist()
(x.sum() > 2)
x.max().backward()
x.grad
x.sum().backward(retain_graph=False, create_graph=False)
x.grad
x.sum().backward(inputs=[x])
x.sum().backward(inputs=[])
x.sum().backward(torch.ones(2))
x.sum().backward(None)
x.mean().backward(gradient=torch.tensor(2., dtype=torch.float64))
x.grad
x.sum().backward(gradient="a")
torch.autograd.backward(x)
torch.autograd.backward((x * 2).sum(), retain_graph=True, grad_tensors=torch.tensor(0.5))
x.grad
torch.autograd.backward([x * 2], [torch.ones(3)])
torch.autograd.backward([x * 2, x.sum()], [torch.ones(2)])
