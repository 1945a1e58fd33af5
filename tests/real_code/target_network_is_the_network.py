# What happens: the target network is a second name of the network that is trained.
# Reported: andri27-ts/Reinforcement-Learning#14
# Call: shared(target, net)
# Says: target and net are one object: Linear.
import torch

net = torch.nn.Linear(3, 1)
target = net
target.load_state_dict(net.state_dict())
assert target.weight is net.weight
