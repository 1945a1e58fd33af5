"""Initial numbers, and helpers over parameters."""

import collections, copy, pickle
import torch
from torch import nn
import torch.nn.functional as F
_ = torch.manual_seed(0)
q=nn.Parameter(torch.tensor([3.,4.]))
q.grad=torch.tensor([3.,4.])
nn.utils.clip_grad_norm_([q],1.), q.grad
q.grad=torch.tensor([3.,-4.])
nn.utils.clip_grad_value_([q],1.)
q.grad
nn.utils.clip_grad_norm_(q,1.,norm_type=1), q.grad
nn.utils.clip_grad_norm_(q,1.,norm_type=float('inf')), q.grad
nn.utils.clip_grad_norm_([],1.)
nn.utils.parameters_to_vector([torch.ones(2,requires_grad=True)])
nn.init.xavier_uniform_(torch.empty(2,3))
nn.init.xavier_normal_(torch.empty(2,3),gain=.5)
nn.init.kaiming_uniform_(torch.empty(2,3))
nn.init.kaiming_normal_(torch.empty(2,3),mode='fan_out',nonlinearity='relu')
nn.init.kaiming_normal_(torch.empty(2,3),mode='foo')
nn.init.kaiming_normal_(torch.empty(3))
nn.init.xavier_uniform_(torch.empty(3))
nn.init.uniform_(torch.empty(3),1,2)
nn.init.normal_(torch.empty(3),1,2)
nn.init.calculate_gain('relu'), nn.init.calculate_gain('leaky_relu',.2), nn.init.calculate_gain('tanh'), nn.init.calculate_gain('selu')
nn.init.calculate_gain('foo')
nn.init.uniform_(nn.Parameter(torch.empty(2)))
nn.init.normal_(torch.empty(3),generator=torch.Generator().manual_seed(1))
