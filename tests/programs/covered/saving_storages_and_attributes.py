# What goes with a tensor into a file: old storages, attributes of parameters; and files that are still open.
import copy
import io
import pickle
import tempfile
import collections
import warnings
import torch
from torch import nn
def there_and_back(thing):
    file = io.BytesIO()
    torch.save(thing, file)
    file.seek(0)
    return torch.load(file)
def old(t):
    with warnings.catch_warnings():  # torch says once that such storages are deprecated
        warnings.simplefilter("ignore")
        return t.storage()
a = torch.arange(4.)
x, s = there_and_back([a, old(a)])
type(s).__name__, s.dtype, len(s)
x[0] = 9
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(s.tolist())
there_and_back([a, old(a.view(torch.int32))])

p = nn.Parameter(torch.ones(2))
p.note = "kept"
there_and_back(p).note
copy.copy(p).note
pickle.loads(pickle.dumps(p)).note
copy.deepcopy(p).note

file = tempfile.NamedTemporaryFile()
torch.save(a, file)
torch.load(file.name)
file.close()
class Wrong: write = "no function"
torch.save(a, Wrong())  # transcript: type only

Pair = collections.namedtuple("Pair", "first second")
class Two(nn.Module):
    def forward(self, x):
        return Pair(x * 1, x * 2)
two = Two()
two.register_full_backward_hook(lambda m, into, out: print(into, out)) is None
two(torch.ones(1, requires_grad=True))
nn.init.calculate_gain("conv_transpose2d")
