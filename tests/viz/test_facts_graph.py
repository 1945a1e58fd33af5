"""The graph picture is read back: it says all that is to be said of a snapshot, and no more; so does its text."""

import importlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from viz.looked import ALL, label, listed, looked, plural
from viz.reading import graph_parts, missed_in_picture, missed_in_text

from tinytorch.viz import Snapshot, graph
from tinytorch.viz.diagnose.diff import compare_snapshots
from tinytorch.viz.read.records import Node, Saved, Tensor
from tinytorch.viz.show.select_nodes import Fold, select_nodes
from tinytorch.viz.wording.labels import cut_middle, format_value

Card = tuple[str, ...]
OFF = "nothing here was computed from a tensor that requires grad"
SIGNS = {"stale": "bad", "freed": "void", "number": "dot"}


def short(name: str | None) -> str:
    return (name or "").rpartition("::")[2]


class Expected:
    """What a graph picture has to say of a snapshot. Which nodes are folded is taken as it is, not so what it says."""

    def __init__(self, snap: Snapshot, since: Snapshot | None) -> None:
        self.snap, self.since, self.view = snap, since, select_nodes(compare_snapshots(snap, since))
        self.old_tensors = {one.key: one for one in since.tensors} if since else {}
        self.old_nodes = {one.key: one for one in since.nodes} if since else {}
        self.old_names = {name: since.tensor(tid).key for name, tid in since.names} if since else {}
        self.items = {item.id: item for item in self.view.entries}
        self.new_nodes = {one.id for one in snap.nodes if since and one.key not in self.old_nodes}

    def fresh(self, tensor: Tensor) -> bool:
        return self.since is not None and tensor.key not in self.old_tensors

    # -- words -----------------------------------------------------------------

    def facts(self, one: Tensor) -> Iterator[str]:
        """The sentences expected of a tensor that changed."""
        for name in one.names:
            if name in self.old_names and self.old_names[name] != one.key:
                yield f"{name} is now another tensor"
        then = self.old_tensors.get(one.key)
        if then is None or self.since is None:
            return
        yield from (f"{name} is a new name" for name in one.names if name not in self.old_names)
        if then.requires_grad != one.requires_grad:
            yield f"requires_grad was {then.requires_grad}"
        if then.shape != one.shape:
            yield f"shape was {then.shape}"
        if then.grad_fn_name != one.grad_fn_name:
            yield f"grad_fn was {short(then.grad_fn_name) if then.grad_fn_name else None}"
        if (then.grad is None) != (one.grad is None):
            yield ".grad was None" if then.grad is None else ".grad is None now"
        if one.grad_fn in self.new_nodes and then.grad_fn_name == one.grad_fn_name:
            yield f"grad_fn was another {short(then.grad_fn_name)}"
        if one.grad and then.grad and values(self.snap, one.grad) != values(self.since, then.grad):
            yield ".grad changed"

    def was(self, node: Node, saved: Saved) -> str:
        """How something saved stood before; "" if it stands so still."""
        before = self.old_nodes.get(node.key)
        then = (
            next((one for one in before.saved if one.name == saved.name), None) if before else None
        )
        if then is None or (then.state, then.version) == (saved.state, saved.version):
            return ""
        return f"was {then.state}" + (
            f" at version {then.version}" if then.version is not None else ""
        )

    def unseen(self, saved: Saved) -> str:
        """Through which tensors a live saved one may have been written past its counter."""
        if saved.state != "live" or saved.tensor is None or saved.bytes_unchanged is False:
            return ""
        one = self.snap.tensor(saved.tensor)
        others = [
            o
            for o in self.snap.tensors
            if o.storage == one.storage and o.counter != one.counter and o.version
        ]
        return listed([label(self.snap, other.id) for other in others])

    def around(self) -> list[str]:
        nodes = bool(self.snap.nodes)
        found = [
            "backward follows the arrows"
            if nodes
            else "nothing here was computed from a tensor that requires grad"
        ]
        if any(line.startswith("was ") for card in self.cards().values() for line in card):
            found.append("marks what changed since the earlier look")
        return found + self.notes()

    def notes(self) -> list[str]:
        gone = [name for name in self.old_names if name not in dict(self.snap.names)]
        found = [f"no longer there: {listed(gone)}"] if gone else []
        lost = len(self.old_nodes.keys() - {one.key for one in self.snap.nodes})
        found += [f"{plural(lost, 'node')} of before no longer reached"] if lost else []
        if any(isinstance(item, Fold) and item.times > 1 for item in self.view.entries):
            found.append(
                "what is folded as so many times is equal in nodes, edges, and the shapes that are known"
            )
        return found

    def fold_facts(self, fold: Fold) -> list[str]:
        members = [self.snap.node(name) for name in fold.nodes]
        new = sum(one.id in self.new_nodes for one in members)
        found = [f"{plural(new, 'node')} new"] if new else []
        was = Counter(
            was for one in members for saved in one.saved if (was := self.was(one, saved))
        )
        found += [f"{count} saved {said}" for said, count in was.items()]
        leaves = [self.snap.tensor(one.variable) for one in members if one.variable]
        facts = Counter(fact for leaf in leaves for fact in self.facts(leaf))
        return found + [
            f"{plural(count, 'leaf', 'leaves')}: {fact}" for fact, count in facts.items()
        ]

    # -- cards and wires -------------------------------------------------------

    def cards(self) -> dict[str, Card]:
        """By the id of what they show."""
        made: dict[str, Card] = {}
        leaves = [
            item.variable for item in self.view.entries if isinstance(item, Node) and item.variable
        ]
        folded = [
            leaf for item in self.view.entries if isinstance(item, Fold) for leaf in item.leaves
        ]
        off: list[str] = []
        for one in self.snap.tensors:
            if one.id in leaves or (
                one.names and one.id not in folded and (one.requires_grad or one.grad_fn)
            ):
                if one.grad_fn is None or one.grad_fn in self.view.places:
                    made[one.id] = self.pill(one)
            elif one.names and one.id not in folded:
                name = label(self.snap, one.id)
                off += [f"was new: {name}" if self.fresh(one) else name]
                off += [f"was {fact}" for fact in self.facts(one)]
        for item in self.view.entries:
            made[item.id] = self.folded(item) if isinstance(item, Fold) else self.node(item)
        if off:
            made["off"] = ("not on the graph", "(needs no grad)", *off)
        return made

    def pill(self, one: Tensor) -> Card:
        leaf = "leaf " if one.is_leaf and one.requires_grad else ""
        new = ["NEW"] if self.fresh(one) else []
        return (
            *new,
            label(self.snap, one.id),
            f"{leaf}{one.shape}",
            *(f"was {fact}" for fact in self.facts(one)),
        )

    def node(self, node: Node) -> Card:
        lines = ["NEW"] if node.id in self.new_nodes else []
        lines.append(short(node.name))
        for saved in node.saved:
            unseen = self.unseen(saved)
            sign = (
                SIGNS[saved.state]
                if saved.state != "live"
                else "ok"
                if saved.bytes_unchanged and not unseen
                else "dot"
            )
            lines.append(f"{'bad' if saved.bytes_unchanged is False else sign} {self.saved(saved)}")
            if unseen:
                lines.append(f"bad perhaps written unseen, through {unseen}")
            if was := self.was(node, saved):
                lines.append(f"was {was}")
        return tuple(lines)

    def saved(self, saved: Saved) -> str:
        name = saved.name if len(saved.name) <= 14 else saved.name[:13] + "…"
        what = f" = {cut_middle(label(self.snap, saved.tensor), 26)}" if saved.tensor else ""
        what = what or (f" = {format_value(saved.value)}" if saved.value is not None else "")
        match saved.state:
            case "live":
                said = f"saved {name}{what}" + (
                    f", version {saved.version}" if saved.tensor else ""
                )
                return f"{said}: written unseen" if saved.bytes_unchanged is False else said
            case "stale":
                return f"saved {name}{what}: saved at version {saved.saved_version}, now at {saved.version}"
            case "freed":
                return f"saved {name}: freed"
        return f"saved {name}{what}"

    def folded(self, fold: Fold) -> Card:
        members = [self.snap.node(name) for name in fold.nodes]
        kinds = Counter(short(one.name) for one in members)
        states = Counter(saved.state for one in members for saved in one.saved)
        leaves = sum(one.variable is not None for one in members)
        made = [
            label(self.snap, one.id)
            for one in self.snap.tensors
            if one.names and one.grad_fn in fold.nodes
        ]
        return (
            *(["NEW"] if set(fold.nodes) <= self.new_nodes else []),
            f"{fold.id} {fold.times} times" if fold.times > 1 else fold.id,
            f"{len(members)} nodes folded",
            *(f"{count} x {kind}" for kind, count in kinds.items()),
            *(
                f"{'bad ' * (state == 'stale')}saved: {count} {state}"
                for state, count in states.items()
            ),
            *([f"with {plural(leaves, 'leaf', 'leaves')}"] if leaves else []),
            *([f"made here: {listed(made)}"] if made else []),
            *(f"was {fact}" for fact in self.fold_facts(fold)),
        )

    def wires(self) -> Counter[tuple[Card, Card, str, str]]:
        cards, places = self.cards(), self.view.places
        found = [
            (cards[one.id], cards[places[one.grad_fn]], "arrow dash", "")
            for one in self.snap.tensors
            if one.names and one.grad_fn in places
        ]
        for item in self.view.entries:
            if isinstance(item, Fold):
                heads = dict.fromkeys(places[end] for end in item.ends)
                found += [(cards[item.id], cards[head], "arrow", "") for head in heads]
                continue
            for index, end in enumerate(item.edges):
                if end in places:
                    number = str(index) if len(item.edges) > 1 else ""
                    found.append((cards[item.id], cards[places[end]], "arrow", number))
            if item.variable:
                found.append((cards[item.id], cards[item.variable], "leaf-l", ".grad"))
        return Counter(found)

    # -- the text --------------------------------------------------------------

    def text(self) -> list[str]:
        nodes = len(self.snap.nodes)
        lines = [f"Graph: {plural(nodes, 'node')}."]
        if not nodes:
            lines = ["Graph: no node. Nothing here was computed from a tensor that requires grad."]
        for tid in dict.fromkeys(tid for _, tid in self.snap.names):
            one = self.snap.tensor(tid)
            standing = f"made by {one.grad_fn} {short(one.grad_fn_name)}"
            if one.is_leaf:
                standing = (
                    "a leaf that requires grad"
                    if one.requires_grad
                    else "not on the graph (requires no grad)"
                )
            lines.append(f"{label(self.snap, tid)}{' (new)' * self.fresh(one)}: {standing}.")
            lines += [f"Changed: {fact}." for fact in self.facts(one)]
        for item in self.view.entries:
            lines += [
                "",
                *(self.fold_text(item) if isinstance(item, Fold) else self.node_text(item)),
            ]
        notes = [f"Note: {note}." for note in self.notes()]
        return [*lines, *([""] if notes else []), *notes]

    def node_text(self, node: Node) -> Iterator[str]:
        yield f"{node.id} {short(node.name)}{' (new)' * (node.id in self.new_nodes)}"
        if node.variable:
            leaf = self.snap.tensor(node.variable)
            nameless = not leaf.names
            name = label(self.snap, leaf.id) if nameless else leaf.names[0]
            yield f"adds to {name}.grad{' (new)' * (nameless and self.fresh(leaf))}"
            yield from (f"Changed: {fact}." for fact in self.facts(leaf) if nameless)
        for index, end in enumerate(node.edges):
            yield f"next_functions[{index}]: {self.target(end)}"
        for saved in node.saved:
            what = label(self.snap, saved.tensor) if saved.tensor else format_value(saved.value)
            since = ", unchanged" if saved.bytes_unchanged and saved.tensor else ""
            since = (
                ", but WRITTEN UNSEEN: backward computes from the new values"
                if saved.bytes_unchanged is False
                else since
            )
            said = {
                "live": f"{what}, live"
                + (f" at version {saved.version}" if saved.tensor else "")
                + since,
                "stale": f"{f'{what}, ' if saved.tensor else ''}STALE: saved at version {saved.saved_version}, "
                f"now at {saved.version}; backward will raise",
                "freed": "freed by a backward; another backward will raise",
                "number": what,
            }[saved.state]
            was = self.was(node, saved)
            yield f"saved {saved.name}: {said}{f' ({was})' if was else ''}"
            if unseen := self.unseen(saved):
                yield f"perhaps written unseen, through {unseen}: backward may be silently wrong"

    def target(self, which: str | None) -> str:
        if which is None:
            return "None (needs no gradient)"
        place = self.view.places[which]
        return (
            f"{which} {short(self.snap.node(which).name)}"
            if place == which
            else f"{place} (folded)"
        )

    def fold_text(self, fold: Fold) -> Iterator[str]:
        members = [self.snap.node(name) for name in fold.nodes]
        kinds = Counter(short(one.name) for one in members)
        told = listed([f"{kind} {count} times" for kind, count in kinds.items()])
        times = f" {fold.times} times:" if fold.times > 1 else ""
        yield f"{fold.id}{times} {len(members)} nodes folded: {told}"
        states = Counter(saved.state for one in members for saved in one.saved)
        yield from (f"saved: {count} {state}" for state, count in states.items())
        if leaves := [label(self.snap, one.variable) for one in members if one.variable]:
            yield f"leaves: {listed(leaves)}"
        yield from (f"Changed: {fact}." for fact in self.fold_facts(fold))
        yield from (f"goes on to: {self.target(end)}" for end in fold.ends)


def values(snap: Snapshot, which: str) -> list[object]:
    """The values of a small contiguous gradient."""
    one = snap.tensor(which)
    storage = snap.storage(one.storage or "")
    return [
        format_value(storage.value(one.start_byte // one.itemsize + k)[1]) for k in range(one.numel)
    ]


def wrong(snap: Snapshot, since: Snapshot | None, svg: str, text: str) -> set[str]:
    """Which of "picture" and "text" does not say what it has to."""
    said, found = Expected(snap, since), set()
    try:
        seen = graph_parts(svg)
        if (Counter(seen.cards), Counter(seen.wires)) != (
            Counter(said.cards().values()),
            said.wires(),
        ):
            found.add("picture")
        if seen.around != said.around():
            found.add("picture")
    except (AssertionError, KeyError, IndexError):
        found.add("picture")
    if [line.strip() for line in text.split("\n")] != said.text():
        found.add("text")
    return found


@pytest.mark.parametrize("program", ALL)
def test_the_graph_picture_and_its_text_say_every_fact(program: str, engine: ModuleType) -> None:
    snap, since = looked(program, engine)
    picture = graph(snap, since=since)
    said, seen = Expected(snap, since), graph_parts(picture.svg)
    assert sorted(seen.cards) == sorted(said.cards().values())
    assert Counter(seen.wires) == said.wires()
    assert seen.around == said.around()
    assert [line.strip() for line in picture.text.split("\n")] == said.text()
    for which, card in said.cards().items():
        assert re.search(rf'\t{which} \[label="?{re.escape(dot(card))}["\s]', picture.source), (
            "and so does the DOT"
        )


def dot(card: Card) -> str:
    """The label of a card in the source for Graphviz."""
    signs = {"ok ": "+ ", "bad ": "! ", "void ": "- ", "was ": "~ ", "dot ": ""}
    lines = [line for line in card if line != "NEW"]
    for k, line in enumerate(lines):
        sign = next((sign for sign in signs if line.startswith(sign)), "")
        lines[k] = signs.get(sign, "") + line.removeprefix(sign)
    lines[0] = "new: " * (card[0] == "NEW") + lines[0]
    return "".join(f"{line}\\l" for line in lines) if len(lines) > 1 else lines[0]


BUSY = [
    "turns stale",
    "turns freed",
    "written unseen",
    "data",
    "number",
    "gradients",
    "folded, changed",
    "lost",
    "network",
]
"""Programs in which everything occurs that a graph picture can say."""


@pytest.mark.parametrize("program", BUSY)
def test_whatever_is_dropped_is_noticed(program: str) -> None:
    snap, since = looked(program, importlib.import_module("tinytorch"))
    made = graph(snap, since=since)
    assert missed_in_picture(wrong, snap, since, made) == []
    assert missed_in_text(wrong, snap, since, made, r" \(.*?\)|[,;:].*") == []


@pytest.mark.parametrize(
    "other",
    [
        {"name": "OtherBackward0"},
        {"saved": (Saved("result", "live", "T1", 0, 0),)},
        {"saved": (Saved("result", "stale", "T1", 0, 7),)},
        {"saved": (Saved("result", "freed"),)},
        {"saved": (Saved("result", "number", value=3),)},
        {"edges": ()},
        {"variable": "T2"},
    ],
)
def test_a_fact_that_is_told_otherwise_is_noticed(
    other: dict[str, Any], engine: ModuleType
) -> None:
    snap, _ = looked("network", engine)
    picture = graph(snap)
    head, *rest = snap.nodes
    assert wrong(
        replace(snap, nodes=(replace(head, **other), *rest)), None, picture.svg, picture.text
    ) == {
        "picture",
        "text",
    }


def test_the_programs_have_facts_of_every_kind() -> None:
    said: list[str] = []
    for program in BUSY:
        snap, since = looked(program, importlib.import_module("tinytorch"))
        seen = graph_parts(graph(snap, since=since).svg)
        said += (
            [line for card in seen.cards for line in card]
            + [f"edge {wire[3]}" for wire in seen.wires]
            + seen.around
        )
    for kind in (
        "NEW", "ok saved .*, version", "ok saved .* = ", "bad saved", "bad saved .*unseen", "void saved",
        "dot saved", "bad perhaps written",
        "was was live at", "was .grad was None", "was .grad changed", "was .* is now another", "was .* is a new name",
        r"\d+ nodes folded", r"was \d+ nodes? new", r"\d+ x ", "edge 0", "edge 1", "edge .grad", "no longer there",
        r"\d+ nodes? of before", "not on the graph",
    ):  # fmt: skip
        assert any(re.match(kind, line) for line in said), kind
