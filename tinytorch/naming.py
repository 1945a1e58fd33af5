"""Classes print under the names that torch's own have."""

from __future__ import annotations


class ShownAs(type):
    """A class with `shown_as` prints as the class of that name; one derived from it prints as itself."""

    def __repr__(cls) -> str:
        name = cls.__dict__.get("shown_as")
        return type.__repr__(cls) if name is None else f"<class '{name}'>"
