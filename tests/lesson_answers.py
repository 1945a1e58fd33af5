"""Answers to the exercises of the lessons, right and wrong, and what the exercise has to say to each.

Keys are (lesson, number of the exercise); each answer is the whole cell, as a learner would leave it.
"""

ANSWERS: dict[tuple[str, str], list[tuple[str, str]]] = {}

_X = "x = torch.tensor([0., 1., 2., 3., 4., 5.])\n"
ANSWERS["00_start", "1"] = [
    (_X + "t = x[2:4]", "Right"),
    (_X + "t = [2., 3.]", "of the type list"),
    (_X + "t = x", "t is x itself"),
    (_X + "t = x[2:]", "t has the shape (4,)"),
    (_X + "t = torch.tensor([2., 3.])", "has a storage of its own"),
    (_X + "t = x[1:3]", "begins at cell 1"),
]

_X = "x = torch.tensor(6., requires_grad=True)\n"
ANSWERS["00_start", "2"] = [
    (_X + "y = x * 12\ny.backward()", "Right"),
    (_X + "y = x * x\ny.backward()", "Right"),
    (_X + "y = 72", "of the type int"),
    (_X + "y = x\ny.backward()", "y is x itself"),
    (_X + "y = torch.tensor(72.)", "no node"),
    (_X + "y = x * 12", "x.grad is None"),
    (_X + "y = x * 3\ny.backward()", "x.grad is 3"),
    (_X + "y = x * 12\ny.backward(retain_graph=True)\ny.backward()", "x.grad is 24"),
]

_KEEP = """
reading = torch.zeros(2)
kept = []
for _ in range(3):
    reading += 1
    kept.append({})
"""
ANSWERS["02_clone", "1"] = [
    (_KEEP.format("reading.clone()"), "Right"),
    (_KEEP.format("reading + 0"), "Right"),
    (_KEEP.format("reading.tolist()"), "not as tensors"),
    (_KEEP.format("reading.detach()"), "still the storage of reading"),
    (_KEEP.format("reading.clone() * 2"), "kept shows [[2.0, 2.0]"),
    (_KEEP.format("reading.clone()") + "kept = kept[:2]\n", "kept holds 2 things"),
]

_A = "a = torch.tensor(2.0, requires_grad=True)\n"
_GO = "out.backward()"
ANSWERS["02_clone", "2"] = [
    (_A + "c = a.clone()\nc.retain_grad()\nout = c ** 3\n" + _GO, "Right"),
    (_A + "c = a.clone()\nc.retain_grad()\nout = c * 12\n" + _GO, "Right"),
    (_A + "c = 2.0\nout = a ** 3\n" + _GO, "have to be tensors"),
    (_A + "c = a\nout = c ** 3\n" + _GO, "c is a itself"),
    (_A + "c = a.detach().clone()\nout = c ** 3", "c does not require grad"),
    (_A + "c = a.detach().clone().requires_grad_()\nout = c ** 3\n" + _GO, "c is a leaf"),
    (_A + "c = a.view(())\nc.retain_grad()\nout = c ** 3\n" + _GO, "no storage of its own"),
    (_A + "c = a.clone()\nc.retain_grad()\nout = c ** 3", "a.grad is None"),
    (_A + "c = a.clone()\nout = c ** 3\n" + _GO, "c.grad is None"),
    (_A + "c = a.clone()\nc.retain_grad()\nout = c * 6 + a * 6\n" + _GO, "made from c alone"),
    (_A + "c = a.clone()\nc.retain_grad()\nout = c * 6\n" + _GO, "both are 6"),
]
