"""Make docs/pictures.md and its pictures: each case is run, drawn and described.

python docs/make_pictures.py            writes the page, its pictures, and those of the README that move
python docs/make_pictures.py --check    writes nothing; says what is not as it would be made
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from copylab import steps

if TYPE_CHECKING:
    from tinytorch.viz import Explanation, Snapshot

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
FOLDER = ROOT / "docs"


@dataclass(frozen=True)
class Case:
    """One program with a fault in it, what to look at, and what the reader should see."""

    name: str
    title: str
    before: str
    code: str
    look: str
    pictures: tuple[str, ...]
    after: str
    then: str = ""
    """What runs between two looks; the second one is shown, with what changed marked."""


MOVING_PROGRAM = """\
a = torch.tensor([1.0, 2.0], requires_grad=True)
out = a.sigmoid()
d = out.data
d.zero_()
out.sum().backward()
"""
"""What the README shows first, step by step: a wrong gradient without an error."""

CASES = (
    Case(
        "stale",
        "A stale saved tensor",
        "`sigmoid` keeps its result for backward. `detach()` gives a tensor over the same memory, and zeroing it "
        "zeroes what was kept. The two share one version counter, so the write was counted.",
        "a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
        "out = a.sigmoid()\n"
        "c = out.detach()\n"
        "c.zero_()\n"
        "loss = out.sum()",
        "a=a, out=out, c=c, loss=loss",
        ("memory", "graph"),
        "The cross is where backward will stop: saved at version 0, now at 1.",
    ),
    Case(
        "data",
        "The same write through .data",
        "With `.data` in place of `detach()` there is no error: the new tensor has a version counter of its own.",
        "a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
        "out = a.sigmoid()\n"
        "c = out.data\n"
        "c.zero_()\n"
        "loss = out.sum()",
        "a=a, out=out, c=c, loss=loss",
        ("memory", "graph"),
        "Backward checks C2, which is still at 0; C3 has counted the write. `a.grad` comes out as zeros.",
    ),
    Case(
        "state_dict",
        "A snapshot of a model that follows the model",
        "`state_dict()` copies nothing. Kept as the best weights so far, it changes with each step of the optimizer.",
        "net = torch.nn.Linear(2, 1)\n"
        "with torch.no_grad():\n"
        "    net.weight.fill_(0.5)\n"
        "    net.bias.fill_(0.0)\n"
        "best = net.state_dict()\n"
        "kept = {name: value.clone() for name, value in best.items()}\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.25)\n"
        "net(torch.ones(1, 2)).sum().backward()\n"
        "opt.step()\n"
        "opt.zero_grad()",
        "net=net, best=best, kept=kept",
        ("memory",),
        "`best` is in the storages of `net`, `kept` in its own: only `kept` has the weights from before the step.",
    ),
    Case(
        "target",
        "A target network that is the network",
        "The slow copy of a network (an average of its weights, or the target of Q-learning) must not share memory "
        "with it. `load_state_dict(..., assign=True)` takes the tensors themselves.",
        "net = torch.nn.Linear(2, 1, bias=False)\n"
        "target = torch.nn.Linear(2, 1, bias=False)\n"
        "ema = torch.nn.Linear(2, 1, bias=False)\n"
        "with torch.no_grad():\n"
        "    net.weight.fill_(1.0)\n"
        "target.load_state_dict(net.state_dict(), assign=True)\n"
        "ema.load_state_dict(net.state_dict())\n"
        "with torch.no_grad():\n"
        "    net.weight.add_(1.0)\n"
        "    for slow, fast in zip(ema.parameters(), net.parameters()):\n"
        "        slow.lerp_(fast, 0.5)",
        "net=net, target=target, ema=ema",
        ("memory",),
        "One storage for `net` and `target`: it can never lag behind. `ema` has its own, and is half way.",
    ),
    Case(
        "since",
        "What a line changed",
        "With `since=`, an earlier snapshot, a picture marks what is new or changed, in words and shapes and not in "
        "colour alone. Here two lines are looked at; the first of them is harmless, the second is not.",
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\nout = x.exp()\nd = out.detach()",
        "x=x, out=out, d=d, z=z",
        ("memory", "graph"),
        "A flag marks what is new, a diamond what changed: the saved tensor was live before, and is stale now.",
        then="z = out * 3\nd.mul_(2)",
    ),
    Case(
        "unseen",
        "A write that no counter saw",
        "`h.data` is gone as soon as the line has run, and its counter with it: nothing that is left has counted the "
        "write. An earlier look has checksums of what was saved, and tells.",
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\nh = x.exp()\nloss = h.sum()",
        "x=x, h=h, loss=loss",
        ("graph",),
        "`loss.backward()` raises nothing, and `x.grad` is five times too large.",
        then="h.data.mul_(5)",
    ),
)
HEAD = """# What the pictures show

Bugs that `print` does not show, each looked at before anything fails. The pictures work on PyTorch's tensors ([tried
releases](releases.md)) and on tinytorch's alike, and looking changes nothing. This page is made by
`python docs/make_pictures.py`.

How to read a memory picture: a row is a storage with its one tensor, name, arrow, cells, what it is, and its version.
What shares a storage is on one ground. There the arrows of all names meet in the cells; or, where a tensor reads only
some of the cells, each name has marks below those that it reads, dashed where it reads them in another order than from
left to right. Two tensors with one version counter have one mark, `v1`, with a bracket; two marks are two counters.
A name with a dashed edge, as `w.grad`, is no variable of the program. A leaf that requires grad says `requires_grad`, a
result which `grad_fn` made it. What changed is yellow, with what it was; what will go wrong is red. `memory(x,
level="storage")` leaves out what somebody may not know yet: the levels are "names", "storage", "counter" and "graph",
each with all before it.

How to read a graph picture: backward follows the arrows, to the right where that fits the page and down where it
does not (`direction="down"` or `"right"` says which). `+=` is an `AccumulateGrad`, which adds to the `.grad` of the
leaf behind it. Names of what a node made are beside it. A cross marks what was written to since it was saved, a
triangle what may have been. What has let go of what it had saved is pale and dashed. With `since=`, bold lines are
those along which a gradient went, as far as that is certain. A dark mark with scissors, *cut off*, is on the line
between two tensors over the same memory between which no gradient goes, as after `detach`. A dashed box, *freed by
backward*, is a tensor that is gone: it had no name, only the graph held it, and backward let go of it.

What is large is folded: a graph of more than 40 nodes by module (noted with `modules(net)`, or else by whose tensors
its nodes read) and by what is repeated, more than 30 tensors by module. What is in trouble, shared, named or new stays
visible as far as there is room. In a notebook the folds open below the picture, without a kernel too.
`graph(loss, find="layers.3")` unfolds and marks what is called so, `fold=False` draws all of it; `memory` takes both.
Names come from what you give: tensors, modules, optimizers, lists, generators, dataclasses,
`params=net.named_parameters()`. With `values=False` the numbers are left out, so that the picture is the same in each
run.

In a list or on Python's own prompt a picture is one line, such as `<memory of x and y: 2 tensors in 1 storage>`;
`print` has all of its words, and so has a notebook beside the picture.
"""


def run_case(case: Case, engine: ModuleType) -> tuple[dict[str, Any], Snapshot | None]:
    """Run a case; return the names that it leaves behind, and the snapshot taken on the way."""
    from tinytorch.viz import snapshot

    names: dict[str, Any] = {}
    exec(compile(case.code, case.name, "exec"), {"torch": engine}, names)
    if not case.then:
        return names, None
    before = snapshot(select_names(case, names))
    exec(compile(case.then, case.name, "exec"), {"torch": engine}, names)
    return names, before


def select_names(case: Case, names: dict[str, Any]) -> dict[str, Any]:
    """Select the names that the case looks at: some of them exist only after its second half."""
    parts = (part.partition("=")[0].strip() for part in case.look.split(","))
    return {part: names[part] for part in parts if part in names}


def tensors_of_case(case: Case, engine: ModuleType) -> dict[str, Any]:
    """Run a case and return what it looks at, by name."""
    return select_names(case, run_case(case, engine)[0])


def write_program(case: Case) -> str:
    """Write the program as a reader would."""
    imports = [*case.pictures]
    if case.then:
        imports.append("snapshot")
    if case.name != "since":
        imports.append("explain")
    look = case.look
    lines = ["import torch", f"from copylab import {', '.join(imports)}", "", case.code]
    if case.then:
        # Names that the second half makes are not there at the first look.
        names = [part.strip() for part in case.look.split(",")]
        first = ", ".join(
            part for part in names if f"\n{part.partition('=')[0]} = " not in f"\n{case.then}"
        )
        lines += [
            f"before = snapshot({first})",
            case.then,
            f"after = snapshot({case.look}, since=before)",
        ]
        look = "after, since=before"
    return "\n".join([*lines, *(f"{kind}({look})" for kind in case.pictures)])


def make_files(engine: ModuleType) -> dict[str, str]:
    """Make the content of each file below docs/: the page, and its pictures in two themes."""
    from tinytorch import viz

    files: dict[str, str] = {}
    page = [HEAD]
    for case in CASES:
        names, before = run_case(case, engine)
        snap = viz.snapshot(select_names(case, names), since=before)
        program = write_program(case)
        page += [f"## {case.title}\n", case.before + "\n", f"```python\n{program}\n```\n"]
        texts = []
        for kind in case.pictures:
            picture = getattr(viz, kind)(snap, since=before)
            stem = f"pictures/{case.name}-{kind}"
            for theme in ("light", "dark"):
                files[f"{stem}-{theme}.svg"] = picture.svg_in_theme(theme) + "\n"
            page.append(f"{image_html(stem, case.title, kind)}\n")
            texts.append(picture.text)
        page.append(case.after + "\n")
        page += describe_verdict(case, viz.explain(snap))
        page.append(
            "<details><summary>The same in words</summary>\n\n```text\n"
            + "\n\n".join(texts)
            + "\n```\n\n</details>\n"
        )
    files["pictures.md"] = "\n".join(page)
    return files


def describe_verdict(case: Case, explanation: Explanation) -> list[str]:
    """Write what `explain` says, for cases in which something was written."""
    has_write = any(finding.kind in ("stale", "unseen write") for finding in explanation.findings)
    if not has_write or case.name == "since":
        return []
    look = "after" if case.then else case.look
    return [
        (
            f"`print(explain({look}))` says, before backward is called:\n\n"
            f"```text\n{explanation}\n```\n"
        )
    ]


def image_html(stem: str, title: str, kind: str) -> str:
    """Write an image that follows the reader's theme."""
    alternative = f"{title}: the {kind} picture, told in words below"
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{stem}-dark.svg">'
        f'<img alt="{alternative}" src="{stem}-light.svg"></picture>'
    )


def list_outdated(engine: ModuleType, folder: Path = FOLDER) -> list[str]:
    """List the files that are missing or differ from what is made now."""
    return [
        name
        for name, text in make_files(engine).items()
        if not (folder / name).is_file() or (folder / name).read_text("utf-8") != text
    ]


def write_moving_pictures() -> None:
    """Write the moving pictures of the README. Their bytes follow Pillow's release: no --check."""
    shown = steps(MOVING_PROGRAM)
    for theme in ("light", "dark"):
        shown.save(FOLDER / "pictures" / f"steps-{theme}.gif", theme=theme)


def main(arguments: list[str]) -> int:
    """Write the files, or with --check say which are not current."""
    engine = importlib.import_module("tinytorch")
    if "--check" in arguments:
        old = list_outdated(engine)
        print("\n".join(old) or "docs/pictures.md and its pictures are current")
        return 1 if old else 0
    for name, text in make_files(engine).items():
        (FOLDER / name).parent.mkdir(exist_ok=True)
        (FOLDER / name).write_text(text, "utf-8")
    write_moving_pictures()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
