"""Dropout of whole channels, and the one for SELU networks: numbers, shapes that warn, in place, what is refused."""

import torch
from torch import nn
from torch.nn import functional as F

x = torch.ones(2, 3, 2)
torch.manual_seed(0)
F.dropout1d(x)
F.dropout1d(x[0])
F.dropout1d(x[0, 0])
F.dropout2d(x)
F.dropout2d(x[0])
F.dropout2d(x.view(2, 3, 2, 1)).flatten()
F.dropout3d(x.view(2, 3, 2, 1, 1)).flatten()
F.dropout3d(x.view(2, 3, 2, 1)).flatten()
F.dropout3d(x)
F.dropout2d(torch.ones(3))
F.alpha_dropout(x), F.alpha_dropout(x, training=True)
F.feature_alpha_dropout(x, training=True)
F.alpha_dropout(x, 1.5)
F.dropout1d(x, -0.5)
y = x.clone()
F.dropout1d(y, inplace=True) is y, y._version, y
F.alpha_dropout(y, 0.2, True, True) is y, y._version, y
z = torch.ones(2, 3, requires_grad=True)
F.dropout1d(z).grad_fn, F.dropout1d(z).grad_fn.next_functions
F.alpha_dropout(z, training=True).grad_fn
torch.dropout(x, 0.5, True).shape, torch.dropout(x, 0.5, False) is x
torch.dropout(x, 2, True)
torch.dropout(z, 1.0, True)
torch.feature_dropout(x, 0.5, True)
torch.feature_dropout(x[0, 0], 0.5, True)
nn.Dropout1d(), nn.Dropout2d(0.2), nn.Dropout3d(0.1, True), nn.AlphaDropout(), nn.FeatureAlphaDropout(0.3)
nn.Dropout2d(2)
nn.Dropout2d(0.5).eval()(x) is x, nn.Dropout1d()(x)
type(nn.Dropout2d()), nn.AlphaDropout(0.5, True)(x)
nn.Dropout(0.5)(torch.ones(4, dtype=torch.int))
