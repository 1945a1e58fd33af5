# What happens: an optimizer is loaded with another one's state_dict in the same process; both have one Adam state.
# Reported: pytorch/pytorch#196083
# Call: shared(student, teacher, first, second)
# Says: have 3 tensors in common: step, exp_avg and exp_avg_sq
import torch

student, teacher = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
first = torch.optim.Adam(student.parameters())
student(torch.randn(4, 3)).mean().backward()
first.step()
second = torch.optim.Adam(teacher.parameters())
second.load_state_dict(first.state_dict())
before = first.state[student.weight]["exp_avg"].clone()
(teacher(torch.randn(4, 3)) * 9).mean().backward()
second.step()
assert not torch.equal(before, first.state[student.weight]["exp_avg"])
