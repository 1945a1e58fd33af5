"""What can be done in a CopyLab: each action is the lines of code that do it."""

from __future__ import annotations

from collections.abc import Mapping

from tinytorch.viz.read.records import Snapshot

WRITES: Mapping[str, str] = {
    "in place": "{name}.add_(10)",
    ".data": "{name}.data.add_(10)",
    "NumPy": "{name}.detach().numpy()[...] += 10",
    "no_grad": "with torch.no_grad():\n    {name}.add_(10)",
}
"""Ways to write into a tensor, by the name under which they are offered."""

_BOOL = {".add_(10)": ".logical_not_()", "+= 10": "^= True"}


def write(name: str, how: str, dtype: str) -> str:
    """The code that writes through `name`. Raises ValueError for a way that there is not."""
    if how not in WRITES:
        raise ValueError(f"there is no way to write called {how!r}; there are {', '.join(map(repr, WRITES))}")
    code = WRITES[how].format(name=name)
    if dtype == "bool":
        for number, truth in _BOOL.items():
            code = code.replace(number, truth)
    return code


def loss(name: str) -> str:
    """The code that computes a loss from `name`. Its backward needs the values of `name` as they are now."""
    return f"loss = ({name} ** 2).sum()"


def backward(seen: Snapshot | None) -> str:
    """The code that calls backward: on the loss if there is one, else on one that is computed from y first."""
    there = seen is not None and any(name == "loss" for name, _ in seen.names)
    return "loss.backward()" if there else f"{loss('y')}\nloss.backward()"


def clear(seen: Snapshot | None) -> str:
    """The code that clears every gradient; empty if there is none."""
    if seen is None:
        return ""
    named = dict.fromkeys(tensor for _, tensor in seen.names)
    return "\n".join(f"{seen.tensor(one).names[0]}.grad = None" for one in named if seen.tensor(one).grad is not None)
