# a program of a learner is one string
"""More answers to the exercises of the lessons: right ones by other means, and dangerous ones that look right.

By the key of the exercise: programs that are right, and programs that are not, each with a part of what is said to it.
All of them run after the exercise's start. Those that the exercise lists itself are in the lesson's module.
"""

from __future__ import annotations

SEEN_TWICE = "look at the same cells"
UNCOUNTED = "does not count"
ANOTHER = "is another tensor"
NO_DIFFERENCE = "as it was at the start"  # the change has no effect on what can be seen

_READ = "reading = torch.zeros(2)\nkept = []\nfor _ in range(3):\n"
_LAYER = "layer = torch.nn.Linear(1, 1, bias=False)\nwith torch.no_grad():\n    layer.weight.fill_(1.0)\n"
_TRAIN = "\nwith torch.no_grad():\n    layer.weight.fill_(99.0)"
_SEVEN = "\nwith torch.no_grad():\n    layer.weight.fill_(7.0)"
_SEED = "import copy\ntorch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1)\n"
_BIAS = "torch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1, bias=False)\n"
_P = "position = torch.tensor([1.0, 2.0])\n"
_D = "\na = torch.tensor([1.0, 2.0])\nb = double(a)"
_S = "a = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)\nh = a.sigmoid()\n"
_R = "w = torch.tensor([1.0], requires_grad=True)\nstate = torch.zeros(1)\ntotal = torch.zeros(1)\n"
_IN = "for x in (1.0, 2.0, 3.0):\n"
_W2 = "w = torch.tensor([2.0], requires_grad=True)\ny = (w * w).sum()\ny.backward()\n"
_AGAIN = "\ny = (w * w).sum()\ny.backward()"
_INDEPENDENT = "x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])\n"
_RING = "buffer = torch.zeros(3)\nscreen = buffer\nfor step in range(3):\n    frame = torch.full((3,), float(step))\n    "
_LOAD = "layer = torch.nn.Linear(2, 1, bias=False)\nweight = layer.weight\nnew = torch.tensor([[5.0, 6.0]])\n"
_SUM = "total = 0.0\nfor _ in range(3):\n    total = total + "
_OUT = "out = a.exp()\n"
_PERCENT = "out = a.sigmoid()\n"
_UP = "w = torch.tensor([4.0], requires_grad=True)\nloss = (w * w).sum()\n"
_SILENT = "x = torch.tensor([3.0], requires_grad=True)\ny = (x * x).sum()\n"
_AB = "torch.manual_seed(0)\nA = torch.nn.Linear(1, 1)\nB = torch.nn.Linear(1, 1)\nx = torch.tensor([2.0])\n"
_GO = "\nloss.backward()"
_HID = "w = torch.tensor(0.5, requires_grad=True)\nh = torch.tensor(1.0)\n" + _IN
_VALUE = "value = torch.tensor([1.0, 2.0], requires_grad=True)\nreward = 1.0\n"
_VLOSS = "\nloss = (value[0] - goal) ** 2\nloss.backward()"
_STACK = "w = torch.tensor([1.0, 2.0], requires_grad=True)\nparts = [w[0] * 3, w[1] * 4]\n"
_MASK = "x = torch.tensor([-1.0, 2.0, -3.0, 4.0])\n"
_ROW = "row = torch.tensor([1.0, 2.0])\n"
_ARRAY = 'import numpy as np\narray = np.array([1.0, 2.0])\nreader = {"buffer": array}\n'
_NEXT = '\nreader["buffer"][:] = 0.0'
_OLD = "param = torch.tensor([4.0], requires_grad=True)\nfor _ in range(2):\n    param.grad = None\n    loss = (param * param).sum()\n"
_LOGITS = "logits = torch.tensor([1.0, 2.0], requires_grad=True)\n"
_A = "a = torch.tensor([1.0, 2.0], requires_grad=True)\n"
_LOSS = (
    "factor = torch.tensor([1.0], requires_grad=True)\ntotal = 0.0\n"
    + _IN
    + "    loss = ((factor * x) ** 2).sum()\n"
)
_FULL = "bias = torch.full((3,), 0.5, requires_grad=True)\n"
_STATE = (
    "decay = torch.tensor(0.5, requires_grad=True)\nstate = torch.tensor(1.0)\nfor _ in range(3):\n"
)
_SQUARED = "\nsquares = (weight * weight).sum()\nsquares.backward()"
_PARTS = "a = torch.tensor([3.0], requires_grad=True)\nb = torch.tensor([2.0], requires_grad=True)\nh = a * 4\n"
_ROUNDS = "scale = torch.tensor([1.0], requires_grad=True)\ngrads = []\n" + _IN
_OPT = "torch.manual_seed(0)\nmodel = torch.nn.Linear(1, 1, bias=False)\nsgd = torch.optim.SGD(model.parameters(), lr=0.25)\n"
_ROUND = "for _ in range(2):\n    sgd.zero_grad()\n    loss = (model.weight**2).sum()\n    loss.backward()\n"
_TARGET = "def target_for(scores):\n    return "

MORE: dict[str, tuple[list[str], dict[str, str]]] = {
    "start/part": (
        [
            "t = x[[False, False, True, True, False, False].index(True) : 4]",
            "t = x.narrow(0, 2, 2)",
            "t = x[2:4].detach()",
            "t = x.data[2:4]",
        ],
        {
            "t = x[2:4].clone()": "storage of its own",
            "t = x[[2, 3]]": "storage of its own",
            "t = x[2:4] + 0": "storage of its own",
            "t = torch.tensor(x[2:4].tolist())": "storage of its own",
        },
    ),
    "start/twelve": (
        [
            "y = x ** 2\ny.backward()",
            "y = x * 6 + x * 6\ny.backward()",
            "y = (x * 3).clone() * 4\ny.backward()",
            "y = x.clone()\ny.backward(torch.tensor(12.0))",
            "y = x * 3\ntorch.autograd.backward(y, torch.tensor(4.0))",
        ],
        {
            "y = x.detach() * 12": "requires no grad",
            "y = (x * 12).detach().requires_grad_()\ny.backward()": "no node that leads to x",
            "y = x.item() * torch.tensor(12.0, requires_grad=True)\ny.backward()": "no node that leads to x",
            "y = x * 3\nx.grad = torch.tensor(12.0)": "of your cell writes x.grad itself",
            "y = x * 2\ny.backward()\nx.grad *= 6": "of your cell writes x.grad itself",
            "y = x * 2\ny.backward()\nx.grad.fill_(12.0)": "of your cell writes x.grad itself",
            "y = x * 5\ny.backward(retain_graph=True)\nx.grad += 7": "of your cell writes x.grad itself",
        },
    ),
    "assignment/earlier": (
        [
            _P + "before = position.clone()\nposition += 10",
            _P + "before = position\nposition = torch.add(position, 10)",
            _P + "before = torch.tensor([1.0, 2.0])\nposition += 10",
            _P + "before = position\nposition = position.clone()\nposition += 10",
        ],
        {
            _P + "before = position.detach()\nposition += 10": SEEN_TWICE,
            _P + "before = position.data\nposition += 10": SEEN_TWICE,
            _P + "before = position.view(2)\nposition += 10": SEEN_TWICE,
            _P + "before = position\nposition.add_(10)": NO_DIFFERENCE,
            _P
            + "before = position\nposition = position + 10\nbefore = position - 10": "before shows [0, 0]",
        },
    ),
    "assignment/double": (
        [
            "def double(t):\n    return t * 2" + _D,
            "def double(t):\n    return t + t" + _D,
            "def double(t):\n    t = t.clone()\n    t *= 2\n    return t" + _D,
        ],
        {
            "def double(t):\n    t *= 2\n    return t + 0" + _D: "writes into t",
            "def double(t):\n    return t.mul_(2)" + _D: "writes into t",
            "def double(t):\n    s = t.detach()\n    s *= 2\n    return s" + _D: "writes into t",
            "def double(t):\n    return t.data.mul_(2)" + _D: "writes into t",
            "def double(t):\n    t += t\n    s = t + 0\n    t -= s / 2\n    return s"
            + _D: "although it shows its old numbers again",
        },
    ),
    "assignment/rows": (
        [
            "table = [torch.zeros(2), torch.zeros(2), torch.zeros(2)]\ntable[0] += 1",
            "zero = torch.zeros(2)\ntable = [zero.clone() for _ in range(3)]\ntable[0] += 1",
            "table = [torch.ones(2), torch.zeros(2), torch.zeros(2)]",
            "table = list(torch.zeros(3, 2))\ntable[0] += 1",
        ],
        {
            "zero = torch.zeros(2)\ntable = [zero + 1, zero, zero]": "are one tensor",
            "zero = torch.zeros(2)\ntable = [zero + 1, zero, zero.detach()]": SEEN_TWICE,
            "zero = torch.zeros(2)\ntable = [zero.clone() + 1, zero, zero.view(2)]": SEEN_TWICE,
        },
    ),
    "clone/readings": (
        [
            _READ + "    reading = reading + 1\n    kept.append(reading)",
            _READ + "    reading += 1\n    kept.append(torch.tensor(reading.tolist()))",
            _READ + "    reading = reading.clone()\n    reading += 1\n    kept.append(reading)",
            "kept = []\nfor n in range(3):\n    reading = torch.full((2,), n + 1.0)\n    kept.append(reading)",
        ],
        {
            _READ + "    reading += 1\n    kept.append(reading.view(2))": SEEN_TWICE,
            _READ + "    reading += 1\n    kept.append(reading.data)": SEEN_TWICE,
            _READ + "    reading += 1\n    kept.append(reading[:])": SEEN_TWICE,
            _READ
            + "    reading += 1\n    kept.append(reading if len(kept) == 2 else reading.clone())": "one write overwrites",
            _READ
            + "    reading += 1\n    kept.append(reading.detach() if len(kept) == 2 else reading + 0)": "one write overwrites",
        },
    ),
    "clone/both": (
        [
            "c = a.clone()\nc.retain_grad()\nout = 12 * c\nout.backward()",
            "c = a * 1\nc.retain_grad()\nout = c * 12\nout.backward()",
            "c = a.clone()\nc.retain_grad()\nout = (c * 4).clone() * 3\nout.backward()",
        ],
        {
            "c = a.clone().detach().requires_grad_()\nout = c * 12\nout.backward()\na.grad = c.grad": "no node that leads to a",
            "c = a.clone()\nc.retain_grad()\nout = a * 12\nout.backward()": "no node that leads to c",
            "c = a.view_as(a)\nc.retain_grad()\nout = c * 12\nout.backward()": SEEN_TWICE,
        },
    ),
    "detach/monitor": (
        [
            _SUM + "loss.data",
            "total = 0.0\nwith torch.no_grad():\n    for _ in range(3):\n        total = total + loss",
            "total = torch.tensor(0.0)\nfor _ in range(3):\n    total += loss.item()",
            "total = torch.zeros(1)\nfor _ in range(3):\n    total += loss.item()",
            "total = 0\nfor _ in range(3):\n    total = total + int(loss)",
            "total = 0.0\nfor _ in range(3):\n    total = total + loss.detach().numpy()",
        ],
        {
            "total = '75'": "it should be a tensor or a number",
            "total = torch.tensor(0.0)\nfor _ in range(3):\n    total += loss": "its node is AddBackward0",
            "total = loss.detach()\ntotal *= 3": SEEN_TWICE,
            "total = loss.data\ntotal *= 3": SEEN_TWICE,
            "total = loss * 3": "its node is MulBackward0",
        },
    ),
    "detach/protect": (
        [
            _OUT + "shown = out.clone().detach()\nshown[0] = 0.0",
            _OUT + "shown = torch.tensor(out.tolist())\nshown[0] = 0.0",
            _OUT + "shown = out.detach() * torch.tensor([0.0, 1.0])",
        ],
        {
            _OUT + "shown = out.data\nshown[0] = 0.0": SEEN_TWICE,
            _OUT + "shown = torch.from_numpy(out.detach().numpy())\nshown[0] = 0.0": SEEN_TWICE,
            _OUT + "out.data[0] = 0.0\nshown = out.detach().clone()": "out shows [0,",
        },
    ),
    "detach/half": (
        [
            "y = a * 3.0\ny.backward()",
            "y = a * a.item()\ny.backward()",
            "y = a.data * a\ny.backward()",
        ],
        {
            "y = (a * a).detach()": "requires no grad",
            "y = a * a\ny.backward()\ny = a.detach() * 3": "requires no grad",
            "y = a.clone() * a\ny.backward()": "a.grad is 6",
            "y = a + 6.0\na.grad = torch.tensor(3.0)": "through y, a gets the gradient 1",
        },
    ),
    "data/display": (
        [
            _PERCENT + "shown = out.detach() * 100",
            _PERCENT + "shown = out.data.clone()\nshown.mul_(100)",
            _PERCENT + "with torch.no_grad():\n    shown = out * 100",
        ],
        {
            _PERCENT
            + "shown = out.data\nshown.mul_(100)\nout = a.sigmoid()\nshown = out.data": SEEN_TWICE,
            _PERCENT + "shown = out * 100": "its node is MulBackward0",
            _PERCENT
            + "shown = torch.from_numpy(out.detach().numpy())\nshown.mul_(100)": SEEN_TWICE,
        },
    ),
    "data/update": (
        [
            _UP + "loss.backward()\nwith torch.no_grad():\n    w.sub_(1.0)",
            _UP + "loss.backward()\nw.detach().sub_(1.0)",
            _UP + "loss.backward()\nwith torch.no_grad():\n    w.copy_(w - 1)",
        ],
        {
            _UP + "loss.backward()\nw.data = w.data - 1.0": UNCOUNTED,
            _UP
            + "loss.backward()\ng = w.grad\nw = (w - 1.0).detach().requires_grad_()\nw.grad = g": ANOTHER,
            _UP + "w.data -= 1.0\nloss.backward()\nw.data += 0": NO_DIFFERENCE,
        },
    ),
    "data/silent": (
        [
            _SILENT + "x.data[0] = 100.0\ny.backward()",
            _SILENT + "x.data = torch.tensor([100.0])\ny.backward()",
            _SILENT + "torch.from_numpy(x.detach().numpy())[0] = 100.0\ny.backward()",
        ],
        {
            _SILENT
            + "y.backward()\nx.grad = torch.tensor([200.0])": "line 4 of your cell writes x.grad itself",
            _SILENT
            + "y.backward()\nx.grad.fill_(200.0)": "line 4 of your cell writes x.grad itself",
            _SILENT
            + "y.backward()\nx = torch.tensor([100.0], requires_grad=True)\nx.grad = torch.tensor([200.0])": "no node that leads to x",
        },
    ),
    "clone_detach/backup": (
        [
            _BIAS + "saved = [p.clone().detach() for p in layer.parameters()]" + _SEVEN,
            _BIAS
            + "import copy\nsaved = [copy.deepcopy(p.data) for p in layer.parameters()]"
            + _SEVEN,
            _BIAS
            + "with torch.no_grad():\n    saved = [p.clone() for p in layer.parameters()]"
            + _SEVEN,
        ],
        {
            _BIAS + "saved = [p.data for p in layer.parameters()]" + _SEVEN: SEEN_TWICE,
            _BIAS + "saved = list(layer.state_dict().values())" + _SEVEN: SEEN_TWICE,
            _BIAS
            + "import copy\nsaved = copy.deepcopy(list(layer.parameters()))"
            + _SEVEN: "requires grad",
        },
    ),
    "clone_detach/between": (
        [
            _A.replace("a =", "x =")
            + "k = x.clone()\nc = k.data.clone()\nc += 10\nk.sum().backward()",
            _A.replace("a =", "x =") + "k = x.clone()\nc = k.detach() + 10\nk.sum().backward()",
            _A.replace("a =", "x =")
            + "k = x.clone()\nc = torch.tensor(k.tolist())\nc += 10\nk.sum().backward()",
        ],
        {
            _A.replace("a =", "x =")
            + "k = x.clone()\nc = k.data\nc += 10\nk.sum().backward()": SEEN_TWICE,
            _A.replace("a =", "x =")
            + "k = x.clone()\nc = x.detach()\nc += 10\nk.sum().backward()": SEEN_TWICE,
            _A.replace("a =", "x =")
            + "k = x.clone()\nd = x.detach()\nd += 10\nc = d.clone()\nd -= 10\nk.sum().backward()": "x._version is 2",
            _A.replace("a =", "x =")
            + "k = x.clone()\nc = k + 10\nk.sum().backward()": "its node is AddBackward0",
            _A.replace("a =", "x =")
            + "k = x * 2 - x.detach()\nc = k.detach() + 10\nx.grad = torch.ones(2)": "through k.sum(), x gets the gradient [2, 2]",
        },
    ),
    "copy_/screen": (
        [
            _RING + "buffer[:] = frame",
            _RING + "buffer.fill_(float(step))",
            _RING + "screen[...] = frame",
        ],
        {
            _RING + "buffer.set_(frame)": SEEN_TWICE,
            _RING + "buffer.data = frame": UNCOUNTED,
            _RING + "buffer.data.copy_(frame)": UNCOUNTED,
            _RING + "buffer = frame\n    screen = buffer": UNCOUNTED,
            _RING + "screen = buffer.copy_(frame).clone()": "not the tensor buffer",
        },
    ),
    "copy_/load": (
        [
            _LOAD + 'layer.load_state_dict({"weight": new})',
            _LOAD + "with torch.no_grad():\n    weight[:] = new",
            _LOAD + "weight.detach().copy_(new)",
        ],
        {
            _LOAD + "layer.weight.data = new.clone()": UNCOUNTED,
            _LOAD + "weight.data[:] = new": UNCOUNTED,
            _LOAD
            + "with torch.no_grad():\n    weight.copy_(torch.tensor([[5.0, 6.0]]))": "it should show [[7, 8]]",
            _LOAD
            + "with torch.no_grad():\n    weight = layer.weight = torch.nn.Parameter(new)": SEEN_TWICE,
            _LOAD + "weight = layer.weight = torch.nn.Parameter(new.clone())": ANOTHER,
            _LOAD + "weight = new": "weight requires no grad",
        },
    ),
    "torch_tensor/sum": (
        [
            _STACK + "total = sum(parts)\ntotal.backward()",
            _STACK + "total = parts[0] + parts[1]\ntotal.backward()",
            _STACK + "total = (w * torch.tensor([3.0, 4.0])).sum()\ntotal.backward()",
        ],
        {
            _STACK
            + "total = torch.tensor(11.0, requires_grad=True)\ntotal.backward()": "no node that leads to w",
            _STACK
            + "total = torch.stack(parts).detach().sum().requires_grad_()\ntotal.backward()": "no node that leads to w",
            _STACK
            + "total = torch.tensor(11.0, requires_grad=True) * 1\ntotal.backward()\nw.grad = torch.tensor([3.0, 4.0])": "no node",
            _STACK + "total = sum(p.data for p in parts)": NO_DIFFERENCE,
        },
    ),
    "torch_tensor/start": (
        [
            "start = trained.clone().detach().requires_grad_()",
            "start = torch.tensor(trained.tolist(), requires_grad=True)",
            "start = torch.nn.Parameter(trained.detach().clone())",
        ],
        {
            "start = trained.data.requires_grad_()": SEEN_TWICE,
            "start = torch.nn.Parameter(trained.detach())": SEEN_TWICE,
            "start = trained + 0": "its node is AddBackward0",
        },
    ),
    "new_tensor/targets": (
        [
            _TARGET + "torch.tensor([0, 1]).to(scores)",
            _TARGET + "torch.tensor([0, 1], dtype=scores.dtype)",
            _TARGET + "torch.arange(2).type_as(scores)",
            "def target_for(scores):\n    made = torch.zeros_like(scores)\n    made[1] = 1\n    return made",
        ],
        {
            "def target_for(scores):\n    made = scores.data\n    made[0], made[1] = 0, 1\n    return made": SEEN_TWICE,
            _TARGET
            + "torch.tensor([0, 1]).double()": "given torch.float16, your function returns torch.float64",
            _TARGET + "scores * 0 + torch.tensor([0.0, 1.0])": "its node is AddBackward0",
        },
    ),
    "new_tensor/weights": (
        [
            "def weighted(x):\n    return x[0] + 10 * x[1]",
            "def weighted(x):\n    return (x * torch.tensor([1.0, 10.0], dtype=x.dtype)).sum()",
            "def weighted(x):\n    return (x * torch.tensor([1.0, 10.0]).to(x)).sum()",
        ],
        {
            "def weighted(x):\n    return (x.detach() * x.new_tensor([1.0, 10.0])).sum()": "requires no grad",
            "def weighted(x):\n    return (x.data * x.new_tensor([1.0, 10.0])).sum().requires_grad_()": "no node that leads to x",
            "def weighted(x):\n    return (x * 0).sum() + x.new_tensor(21.0)": "x.grad is [0, 0]",
        },
    ),
    "view_reshape/columns": (
        ["y = x.transpose(0, 1)", "y = x.mT", "y = x.permute(1, 0)", "y = x.T"],
        {
            "y = x.t().clone()": "storage of its own",
            "y = torch.tensor(x.t().tolist())": "storage of its own",
            "y = torch.stack([x[0], x[1]], 1)": "storage of its own",
            "y = x.t().reshape(6).view(3, 2)": "storage of its own",
            "x = torch.arange(6.0).view(2, 3)\nx = x.clone()\ny = x.t()": ANOTHER,
        },
    ),
    "view_reshape/independent": (
        [
            _INDEPENDENT + "flat = x.reshape(4).clone()\nflat += 10",
            _INDEPENDENT + "flat = x.reshape(4) + 10",
            _INDEPENDENT + "flat = x.flatten() + 10",
        ],
        {
            _INDEPENDENT + "flat = x.reshape(4).detach()\nflat += 10": SEEN_TWICE,
            _INDEPENDENT + "flat = x.data.reshape(4)\nflat += 10": SEEN_TWICE,
            _INDEPENDENT + "flat = x.contiguous().view(4)\nflat += 10": NO_DIFFERENCE,
        },
    ),
    "view_reshape/rows": (
        [
            _ROW + "table = row.expand(3, 2).clone()\ntable[0] += 100",
            _ROW + "table = torch.stack([row, row, row])\ntable[0] += 100",
            _ROW + "table = row.expand(3, 2) + torch.tensor([[100.0], [0.0], [0.0]])",
        ],
        {
            _ROW + "table = row.expand(3, 2).detach()\ntable[0] += 100": "has the stride (0, 1)",
            _ROW + "table = row.expand(3, 2).data\ntable[0] += 100": "has the stride (0, 1)",
            _ROW + "table = row.repeat(3, 1)\ntable += 100": "table shows",
            _ROW
            + "table = torch.tensor([[101.0, 102.0], [1.0, 2.0], [1.0, 2.0]])": "it should show [[103, 104], [3, 4], [3, 4]]",
        },
    ),
    "in_place/activation": (
        [
            _S + "h = h * (h >= 0.5)\nloss = h.sum()\nloss.backward()",
            _S + "loss = h[h >= 0.5].sum()\nloss.backward()",
            _S + "h = h.masked_fill(h < 0.5, 0.0)\nloss = h.sum()\nloss.backward()",
        ],
        {
            _S + "h.data[h < 0.5] = 0.0\nloss = h.sum()\nloss.backward()": UNCOUNTED,
            _S + "h.data[h < 0.5] = 0.0\nh = h.clone()\nloss = h.sum()\nloss.backward()": UNCOUNTED,
            _S
            + "torch.from_numpy(h.detach().numpy())[0] = 0.0\nloss = h.sum()\nloss.backward()": UNCOUNTED,
        },
    ),
    "in_place/running": (
        [
            _R
            + _IN
            + "    state = state.clone()\n    state += w * x\n    total = total + state * state\ntotal.backward()",
            _R
            + _IN
            + "    state = state + w * x\n    total = total + state ** 2\ntotal.backward()",
            _R
            + "state = w * torch.tensor([1.0, 3.0, 6.0])\ntotal = (state * state).sum(0, keepdim=True)\ntotal.backward()",
        ],
        {
            _R
            + _IN
            + "    state = state + (w * x).detach()\n    total = total + state * state": "requires no grad",
            _R
            + _IN
            + "    state = (state + w * x).clone()\n    total = total + state * state.detach()\ntotal.backward()": "w.grad is [46]",
            _R
            + _IN
            + "    state.data += x\n    total = total + state * state * w\ntotal.backward()": "w.grad is",
        },
    ),
    "in_place/rounds": (
        [
            _W2 + "w.grad = None\nw.detach().add_(1)" + _AGAIN,
            _W2 + "w.grad.zero_()\nwith torch.no_grad():\n    w += 1" + _AGAIN,
            _W2 + "with torch.no_grad():\n    w.copy_(w + 1)\nw.grad = None" + _AGAIN,
        ],
        {
            _W2 + "w.grad = None\nw.data += 1" + _AGAIN: UNCOUNTED,
            _W2 + "w.grad = None\nw.data = w.data + 1" + _AGAIN: UNCOUNTED,
            _W2 + "w = (w + 1).detach().requires_grad_()" + _AGAIN: ANOTHER,
            _W2.removesuffix("y.backward()\n")
            + "with torch.no_grad():\n    w += 1"
            + _AGAIN: "brought w 1 gradient",
        },
    ),
    "stop_gradient/frozen": (
        [
            _AB
            + "with torch.no_grad():\n    middle = A(x)\nloss = (B(middle) - 1.0).pow(2).sum()"
            + _GO,
            _AB + "loss = (B(A(x).data) - 1.0).pow(2).sum()" + _GO,
            _AB + "loss = (B(A(x).clone().detach()) - 1.0).pow(2).sum()" + _GO,
            _AB + "loss = (B(A(x).detach()) - 1.0).pow(2)" + _GO,
        ],
        {
            _AB
            + "loss = (B(A(x)) - 1.0).pow(2).sum()\nloss.backward()\nA.zero_grad()": "still leads back to A",
            _AB
            + "loss = (B(A(x).clone()) - 1.0).pow(2).sum()"
            + _GO: "a parameter of A has a gradient",
            _AB
            + "with torch.no_grad():\n    loss = (B(A(x)) - 1.0).pow(2).sum()": "a parameter of B has no gradient",
        },
    ),
    "stop_gradient/hidden": (
        [
            _HID + "    h = h.data * w + x\n    (h * h).backward()",
            _HID + "    h = h * w + x\n    (h * h).backward()\n    h = h.detach()",
            _HID + "    h = h.item() * w + x\n    (h * h).backward()",
            _HID + "    h = h * w + x\n    (h * h).backward()\n    h = h.item()",
        ],
        {
            _HID + "    h = h * w.detach() + x": "w.grad is None",
            _HID
            + "    h = h * w + x\n    (h * h).backward(retain_graph=True)\n    h = h.detach()": "your cell calls backward with retain_graph",
            _HID + "    h = h.detach() * w + x\n    w.grad = None\n    (h * h).backward()": "alone",
            _HID
            + "    h = (h * w + x).clone()\n    (h * h).backward(retain_graph=True)": "earlier rounds",
            _HID
            + "    h = h.detach() * w + x\n    (h.detach() * h).backward()": "w.grad is 17.6562",
        },
    ),
    "stop_gradient/goal": (
        [
            _VALUE + "goal = reward + 0.9 * value[1].item()" + _VLOSS,
            _VALUE + "goal = (reward + 0.9 * value[1]).detach()" + _VLOSS,
            _VALUE + "with torch.no_grad():\n    goal = reward + 0.9 * value[1]" + _VLOSS,
        ],
        {
            _VALUE + "goal = reward + 0.9 * (value[1] + 0)" + _VLOSS: "value.grad is [-3.6, 3.24]",
            _VALUE
            + "goal = reward + 0.9 * value[1]\nloss = (value[0].detach() - goal) ** 2\nloss.backward()": "Cut the goal, and not value[0]",
            _VALUE
            + "goal = reward + 0.9 * value[1].detach()\nloss = ((value[0] - goal) ** 2).detach()": "value.grad is None",
            _VALUE
            + "goal = 2.8\nloss = (value[0] - reward - 0.9 * value[1]) ** 2\nloss.backward()\nvalue.grad = torch.tensor([-3.6, 0.0])": "leads back to `value[1]`",
            _VALUE
            + "goal = reward + 0.9 * value[1]\nloss = (value[0] - goal) ** 2\nvalue.grad = torch.tensor([-3.6, 0.0])": "leads back to `value[1]`",
        },
    ),
    "beyond/percent": (
        [
            "def to_percent(x):\n    return x.to(torch.float32) * 100",
            "def to_percent(x):\n    return (x * 100).float()",
            "def to_percent(x):\n    y = x.to(torch.float32, copy=True)\n    y *= 100\n    return y",
        ],
        {
            "def to_percent(x):\n    return x.float().mul_(100)": "changes the numbers of that tensor",
            "def to_percent(x):\n    y = x.data.float()\n    y *= 100\n    return y": "changes the numbers of that tensor",
            "def to_percent(x):\n    y = x.detach().type(torch.float32)\n    y *= 100\n    return y": "changes the numbers of that tensor",
        },
    ),
    "beyond/mask": (
        [
            _MASK + "x.clamp_(min=0)",
            _MASK + "x *= x > 0",
            _MASK + "x.relu_()",
            _MASK + "x.masked_fill_(x < 0, 0.0)",
        ],
        {
            _MASK + "x.data[x < 0] = 0.0": UNCOUNTED,
            _MASK + "x = torch.where(x < 0, torch.zeros(4), x)": ANOTHER,
            _MASK + "x = x * (x > 0)\nx[0] = 0.0": ANOTHER,
            _MASK + "x.data = x.clamp(min=0)": UNCOUNTED,
        },
    ),
    "beyond/best": (
        [
            _SEED + "best = {k: v.clone() for k, v in layer.state_dict().items()}" + _TRAIN,
            _SEED + "best = {k: v.detach().clone() for k, v in layer.named_parameters()}" + _TRAIN,
            _SEED
            + "best = {k: torch.tensor(v.tolist()) for k, v in layer.state_dict().items()}"
            + _TRAIN,
        ],
        {
            _SEED
            + "best = {k: v.detach() for k, v in layer.named_parameters()}"
            + _TRAIN: NO_DIFFERENCE,
            _SEED + "best = copy.copy(layer.state_dict())" + _TRAIN: SEEN_TWICE,
            _SEED
            + "best = copy.deepcopy(dict(layer.named_parameters()))"
            + _TRAIN: "requires grad",
            _SEED + "best = {k: v.data for k, v in layer.named_parameters()}" + _TRAIN: SEEN_TWICE,
        },
    ),
    "choosing/dangerous": (
        [
            'names = ("from_numpy", "copy.copy", ".data")',
            'names = {".data", "copy.copy", "from_numpy"}',
            'names = [".data", ".data", "from_numpy", "copy.copy"]',
        ],
        {
            'names = [".data", "view"]': "'view' is not one of them",
            'names = [".data", "from_numpy", "copy.copy", "="]': "'=' is not one of them",
            'names = [".data", "copy.copy"]': "1 more is missing",
        },
    ),
    "choosing/wishes": (
        [
            'choice = dict(zip(choice, ("to(copy=True)", "detach().clone()", "detach", "reshape", "copy_")))',
            'choice = dict(zip(choice, ("x[[...]]", "clone().detach()", "detach", "x[:]", "copy_")))',
            'choice = dict(zip(choice, ("copy_", "clone().detach()", "detach", "view", "copy_")))',
        ],
        {
            'choice = dict(zip(choice, ("clone", "detach", "detach", "view", "copy_")))': "the result looks at the cells of x",
            'choice = dict(zip(choice, ("clone", "detach().clone()", ".data", "view", "copy_")))': "the counter of x misses writes through",
            'choice = dict(zip(choice, ("clone", "detach().clone()", "view", "view", "copy_")))': "the gradient still flows back",
        },
    ),
    "choosing/leaf": (
        [
            "def fresh_leaf(x):\n    return x.clone().detach().requires_grad_()",
            "def fresh_leaf(x):\n    return torch.tensor(x.tolist(), requires_grad=True)",
            "def fresh_leaf(x):\n    return torch.nn.Parameter(x.detach() + 0)",
        ],
        {
            "def fresh_leaf(x):\n    return x.data.requires_grad_()": SEEN_TWICE,
            "def fresh_leaf(x):\n    return torch.nn.Parameter(x.detach())": SEEN_TWICE,
            "def fresh_leaf(x):\n    return x + 0": "its node is AddBackward0",
            "def fresh_leaf(x):\n    return torch.empty_like(x, requires_grad=True).copy_(x)": "calling fresh_leaf raises",
        },
    ),
    "clinic/best": (
        [
            _LAYER + "best = {k: v.detach().clone() for k, v in layer.named_parameters()}" + _TRAIN,
            _LAYER + "import copy\nbest = copy.deepcopy(layer.state_dict())" + _TRAIN,
            _LAYER + 'best = {"weight": torch.tensor(layer.weight.tolist())}' + _TRAIN,
        ],
        {
            _LAYER
            + 'best = {"weight": layer.weight.item()}'
            + _TRAIN: "is of type float; it should be a tensor",
            _LAYER
            + "best = {k: v.detach() for k, v in layer.named_parameters()}"
            + _TRAIN: SEEN_TWICE,
            _LAYER + "best = {k: v.data for k, v in layer.named_parameters()}" + _TRAIN: SEEN_TWICE,
            _LAYER + "import copy\nbest = copy.copy(layer.state_dict())" + _TRAIN: NO_DIFFERENCE,
        },
    ),
    "clinic/numpy": (
        [
            _ARRAY + "data = torch.from_numpy(array.copy())" + _NEXT,
            _ARRAY + "data = torch.from_numpy(array).clone()" + _NEXT,
            _ARRAY + "data = torch.as_tensor(array, dtype=torch.float32)" + _NEXT,
        ],
        {
            _ARRAY + "data = torch.as_tensor(array)" + _NEXT: NO_DIFFERENCE,
            _ARRAY + "data = torch.from_numpy(array).detach()" + _NEXT: NO_DIFFERENCE,
            _ARRAY
            + "data = torch.from_numpy(array).view(2)"
            + _NEXT: "looks at the memory of array",
        },
    ),
    "clinic/scaled": (
        [
            "weight = torch.nn.Parameter(torch.tensor([3.0, 4.0]) * 0.1)" + _SQUARED,
            "weight = torch.tensor([3.0, 4.0]).mul_(0.1).requires_grad_()" + _SQUARED,
            "weight = torch.tensor([3.0, 4.0], requires_grad=True)\nwith torch.no_grad():\n    weight *= 0.1"
            + _SQUARED,
        ],
        {
            "weight = (torch.tensor([3.0, 4.0], requires_grad=True) * 0.1).requires_grad_()"
            + _SQUARED: NO_DIFFERENCE,
            "weight = torch.tensor([3.0, 4.0], requires_grad=True) * 0.1\nweight.retain_grad()"
            + _SQUARED: "is not a leaf",
            "start = torch.tensor([3.0, 4.0], requires_grad=True)\nweight = start * 0.1"
            + _SQUARED
            + "\nweight = start": "weight shows [3, 4]",
        },
    ),
    "clinic/stacked": (
        [
            "mean = sum(errors) / 2\nmean.backward()",
            "mean = (errors[0] + errors[1]).div(2)\nmean.backward()",
            "mean = torch.stack([(slope * x - 1) ** 2 for x in (1.0, 2.0)]).mean()\nmean.backward()",
        ],
        {
            "mean = torch.tensor([e.item() for e in errors]).mean().requires_grad_()\nmean.backward()": "no node that leads to slope",
            "mean = torch.stack([e.detach() for e in errors]).mean().requires_grad_()\nmean.backward()\nslope.grad = torch.tensor(7.0)": "no node that leads to slope",
            "mean = torch.stack(errors).mean()\nfor error in errors:\n    error.backward(retain_graph=True)": "slope.grad is 14",
            "mean = errors[0] + 4.0\nslope.grad = torch.tensor(7.0)": "slope gets the gradient 2",
            "slope = torch.tensor(2.0, requires_grad=True)\nerrors = [(slope * x - 1) ** 2 for x in (1.0, 2.0)]\n"
            "mean = slope * 7 - 9\nmean.backward()": "mean shows 5; it should show 17",
        },
    ),
    "clinic/parts": (
        [
            _PARTS + "kept = h.detach().clone()\nproduct = (h * b).sum()\nproduct.backward()",
            _PARTS + "kept = h.data\nproduct = (h * b).sum()\nproduct.backward()",
            _PARTS + "product = (h * b).sum()\nproduct.backward()\nkept = torch.tensor(h.tolist())",
            _PARTS + "product = (h * b).sum()\nproduct.backward()\nkept = h.item()",
            _PARTS + "product = (h * b).sum()\nproduct.backward()\nkept = h.tolist()",
            _PARTS + "product = (h * b).sum()\nproduct.backward()\nkept = h.detach().numpy()",
        ],
        {
            _PARTS
            + "kept = h\nproduct = (kept * b).sum()\nproduct.backward()": "so kept requires grad, too: its node is MulBackward0",
            _PARTS
            + "kept = h.detach().requires_grad_()\nproduct = (kept * b).sum()\nproduct.backward()\na.grad = kept.grad * 4": "kept requires grad",
            _PARTS
            + "kept = h.detach()\nproduct = (kept * b).sum()\nproduct.backward()\na.grad = 4 * b.detach()": "leads to a",
            _PARTS
            + "kept = h.detach()\nproduct = (h * b.data).sum()\nproduct.backward()\nb.grad = kept": "no node that leads to b",
            _PARTS
            + "kept = h.detach()\nproduct = (kept * b).sum() + (a * 8).sum()\nproduct.backward()": "product shows 48",
            _PARTS
            + "kept = torch.tensor([12.0])\nproduct = (h * b).sum()\nproduct.backward()": "kept shows 12; it should show 20",
        },
    ),
    "clinic/rounds": (
        [
            _ROUNDS
            + "    (scale * x).sum().backward()\n    grads.append(scale.grad)\n    scale.grad = None",
            _ROUNDS
            + "    (scale * x).sum().backward()\n    grads.append(scale.grad.clone())\n    scale.grad.zero_()",
            _ROUNDS + "    grads += torch.autograd.grad((scale * x).sum(), scale)",
        ],
        {
            _ROUNDS
            + "    torch.optim.SGD([scale]).zero_grad(set_to_none=False)\n    (scale * x).sum().backward()\n    grads.append(scale.grad)": "are one tensor",
            _ROUNDS
            + "    (scale * x).sum().backward()\n    grads.append(scale.grad.detach())\n    scale.grad.zero_()": SEEN_TWICE,
            _ROUNDS
            + "    (scale * x).sum().backward()\n    grads.append(scale.grad - len(grads))": "grads shows [[1], [2], [4]]",
            _ROUNDS + "    grads.append(torch.tensor([x]))": "no line of your cell uses scale",
            _ROUNDS
            + "    grads.append(torch.tensor([x]))\nprint(scale)": "no line of your cell uses scale",
        },
    ),
    "clinic/optimizer": (
        [
            _OPT
            + "model.load_state_dict({'weight': torch.tensor([[4.0]])})\n"
            + _ROUND
            + "    sgd.step()",
            _OPT + "model.weight.data = torch.tensor([[4.0]])\n" + _ROUND + "    sgd.step()",
            "torch.manual_seed(0)\nmodel = torch.nn.Linear(1, 1, bias=False)\nmodel.weight = torch.nn.Parameter(torch.tensor([[4.0]]))\n"
            "sgd = torch.optim.SGD(model.parameters(), lr=0.25)\n" + _ROUND + "    sgd.step()",
        ],
        {
            _OPT
            + "model.load_state_dict({'weight': torch.tensor([[4.0]])}, assign=True)\n"
            + _ROUND
            + "    sgd.step()": NO_DIFFERENCE,
            _OPT
            + "model.weight = torch.nn.Parameter(torch.tensor([[4.0]]))\n"
            + _ROUND
            + "    with torch.no_grad():\n        model.weight -= 0.25 * model.weight.grad\n    model.weight.grad = None": "sgd holds another tensor",
            _OPT
            + "weight = torch.nn.Parameter(torch.tensor([[4.0]]))\nsgd = torch.optim.SGD([weight], lr=0.25)\nmodel.weight = weight\n"
            + _ROUND: "model.weight shows [[4]]",
        },
    ),
    "clinic/write": (
        [
            _LOGITS + "out = logits.exp() + 1\nout.sum().backward()",
            _LOGITS + "out = logits.exp().clone()\nout += 1\nout.sum().backward()",
            _LOGITS + "out = torch.add(logits.exp(), 1)\nout.sum().backward()",
        ],
        {
            _LOGITS
            + "out = logits.exp()\ntorch.from_numpy(out.detach().numpy())[:] += 1\nout.sum().backward()": "logits.grad is [3.71828",
            _LOGITS
            + "out = logits.exp()\nout.data.add_(1)\nout.sum().backward()": "logits.grad is [3.71828",
            _LOGITS
            + "out = (logits.exp().detach() + 1).requires_grad_()\nout.sum().backward()": "no node that leads to logits",
        },
    ),
    "clinic/update": (
        [
            _OLD + "    loss.backward()\n    param.detach().sub_(0.1 * param.grad)",
            _OLD.replace("    param.grad = None\n", "")
            + "    loss.backward()\n    param.detach().sub_(0.1 * param.grad)\n    param.grad.zero_()",
            _OLD
            + "    loss.backward()\n    with torch.no_grad():\n        param.copy_(param - 0.1 * param.grad)",
            "param = torch.tensor([4.0], requires_grad=True)\nopt = torch.optim.SGD([param], lr=0.1)\nfor _ in range(2):\n    opt.zero_grad()\n    (param * param).sum().backward()\n    opt.step()",
        ],
        {
            _OLD + "    loss.backward()\n    param.data = param.data - 0.1 * param.grad": UNCOUNTED,
            _OLD + "    loss.backward()\n    param.data.sub_(0.1 * param.grad)": UNCOUNTED,
            _OLD
            + "    with torch.no_grad():\n        param -= 0.1 * 2 * param": "backward brought param the gradients []",
            _OLD
            + "    param.data -= 0.1 * 2 * param.data\n    loss.backward()\n    param.grad = None\nwith torch.no_grad():\n    param += 0\n    param += 0": "backward brought param the gradients [[6.4], [5.12]]",
            _OLD.replace(
                "    loss = (param * param).sum()\n",
                "    with torch.no_grad():\n        param *= 0.8\n    (param * param).sum().backward()",
            ): "param.grad is [5.12]",
        },
    ),
    "clinic/running": (
        [
            _LOSS + "    loss.backward()\n    total = total + loss.detach()",
            _LOSS.replace("total = 0.0", "total = torch.zeros(1)")
            + "    loss.backward()\n    total += loss.item()",
            _LOSS + "    loss.backward()\n    total = total + loss.detach().numpy()",
            _LOSS + "    loss.backward()\n    total = total + float(loss.detach())",
            _LOSS + "    loss.backward()\n    with torch.no_grad():\n        total = total + loss",
        ],
        {
            _LOSS + "    loss.backward()\n    total += loss": "its node is AddBackward0",
            _LOSS + "    total = total + loss\ntotal.backward()": "its node is AddBackward0",
            _LOSS + "    loss = loss.detach()\n    total = total + loss": "factor.grad is None",
            _LOSS
            + "    loss.backward()\n    total = total + loss\ntotal = total.detach()": "loses its history only behind the loop",
            _LOSS
            + "    total = total + loss\ntotal.backward()\ntotal = total.item()": "loses its history only behind the loop",
        },
    ),
    "clinic/leaf": (
        [
            _FULL + "with torch.no_grad():\n    bias[0].fill_(1.0)",
            _FULL + "bias.detach()[0] = 1.0",
            _FULL + "with torch.no_grad():\n    bias += torch.tensor([0.5, 0.0, 0.0])",
        ],
        {
            _FULL + "bias.data = torch.tensor([1.0, 0.5, 0.5])": UNCOUNTED,
            _FULL + "bias = torch.tensor([1.0, 0.5, 0.5], requires_grad=True)": ANOTHER,
            _FULL + "bias = bias * torch.tensor([2.0, 1.0, 1.0])": "is not a leaf",
        },
    ),
    "clinic/state": (
        [
            _STATE + "    state = state.data * decay\n    state.backward()",
            _STATE + "    state = state * decay\n    state.backward()\n    state = state.detach()",
            _STATE + "    state = state.item() * decay\n    state.backward()",
            _STATE + "    state = state * decay\n    state.backward()\n    state = state.item()",
        ],
        {
            _STATE
            + "    state = state * decay\n    state.backward(retain_graph=True)\n    state = state.clone()": "decay.grad is 2.75",
            _STATE + "    state = state * decay\nstate.backward()": "decay.grad is 0.75",
            _STATE + "    state = state * decay.detach()": "decay.grad is None",
        },
    ),
}
