"""A user's program over copylab; tests have type checkers read it over tinytorch's tensors, and over PyTorch's.

The comment behind `reveal_type` is what they say of it.
"""

import tinytorch as torch
from copylab import (
    CopyLab,
    compare,
    exercise,
    explain,
    facts,
    graph,
    memory,
    predict,
    race,
    snapshot,
    steps,
    watch,
)
from copylab.looks import same_storage
from copylab.questions import value


def double(x: torch.Tensor) -> torch.Tensor:
    """A function to step through."""
    return x.detach().mul_(2)


def check(x: torch.Tensor, t: torch.Tensor) -> str | None:
    """Look at the learner's variables."""
    return "t still looks at the storage of x." if same_storage(x, t) else None


x = torch.ones(3, requires_grad=True)
with watch(silent="record") as w:
    loss = (x * 2).sum()
    loss.backward()
reveal_type(w)  # Watch
reveal_type(w.findings)  # list[Finding]
for finding in w.findings:
    reveal_type(finding.title)  # str
before = snapshot(x, values=False)
reveal_type(before)  # Snapshot
reveal_type(explain(loss, since=before))  # Explanation
reveal_type(explain(x.sum()).verdict)  # str
reveal_type(memory(x, doubled=double(x)))  # Picture
reveal_type(memory(x).svg)  # str
reveal_type(memory(x).save("memory.svg"))  # Path
reveal_type(graph(loss, params=[x]))  # GraphPicture
reveal_type(graph(x.sum()).text)  # str
run = steps(double, x, rounds=2)
reveal_type(run)  # Steps
reveal_type(run[0])  # Frame
reveal_type(run.text)  # str
reveal_type(steps("x = torch.ones(2)", engine=torch).html)  # str
table = compare("clone", "detach", source=x)
reveal_type(table)  # Comparison
reveal_type(table["clone"])  # Facts
reveal_type(facts("clone"))  # Facts
question = predict("x = torch.ones(2)\ny = x.clone()", [value("y")], key="mine/clone", engine=torch)
reveal_type(question)  # Prediction
reveal_type(question.commit([[1, 1]]))  # Reveal
reveal_type(race(["clone", "detach"], sizes=[10, 1000], engine=torch))  # Race
reveal_type(race().report)  # str
lab = CopyLab(x, method="detach")
lab.write("y")
reveal_type(lab)  # CopyLab
reveal_type(lab.program)  # str
task = exercise(
    "mine/part",
    "Copy `x`.",
    check=check,
    start="t = None",
    solution="t = x.clone()",
    wrong={"t = x": "storage"},
)
reveal_type(task)  # Exercise
reveal_type(task.check({"x": x, "t": x}))  # Verdict
reveal_type(bool(task.verify()))  # bool
