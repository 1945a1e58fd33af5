"""What torch.load makes by itself, what it makes when it is allowed to, and what it says to the rest."""
import collections
import io
import torch
def there_and_back(thing, **how):
    page = io.BytesIO()
    torch.save(thing, page)
    page.seek(0)
    return torch.load(page, **how)

there_and_back([{1, 2}, b"ab", bytearray(b"c"), 1j, torch.Size([2]), torch.float16, collections.Counter("aab")])
there_and_back(frozenset([1]))
there_and_back(torch.nn.Linear(2, 1))
there_and_back(collections.defaultdict(list))
there_and_back(print)
there_and_back(range(3), weights_only=False), there_and_back(torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.ReLU()), weights_only=False)
there_and_back(range(3))

marked = torch.ones(2)
marked.name_of_mine = "kept"
there_and_back(marked).name_of_mine, there_and_back(marked[None]).shape
there_and_back(torch.zeros(0, 3).t()).stride()
there_and_back(marked, map_location={"cpu": "cpu"}), there_and_back(marked, map_location=lambda storage, where: print(where, storage.nbytes()))
there_and_back(marked, map_location="moon")
there_and_back(marked, map_location=5)
torch.load(io.BytesIO(b""))
torch.load(io.BytesIO(b"not a checkpoint"))
torch.load(io.BytesIO(b"PK\x03\x04 nor this"))
torch.load(7)
torch.save(marked, "/no/such/folder/here.pt")
torch.save(marked, 7)
