"""What to say about a name that tinytorch does not have: torch's own error, with a note that tells the two cases apart."""

from __future__ import annotations


def missing(template: str, name: str) -> AttributeError:
    """An AttributeError in torch's words; the note, shown in tracebacks, names tinytorch and where to look."""
    error = AttributeError(template.format(name))
    if not name.startswith("__"):
        error.add_note(
            f"tinytorch does not have '{name}'. It has PyTorch's copying, viewing and gradient rules on the CPU; what else "
            "PyTorch offers is described at https://docs.pytorch.org/docs/stable/search.html?q=" + name
        )
    return error
