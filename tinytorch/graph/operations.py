"""The operations that this room needs, although it is below the room in which they are declared.

Making the history of a view anew takes the node of `as_strided`, `CopySlices` copies,
`retain_grad` clones. `ops` hands these in when it is loaded, so that nothing here has to import
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Operations:
    """What `ops` provides. `as_strided` is the declared operation, which also makes nodes.

    The others are functions.
    """

    as_strided: Any
    clone_contiguous: Callable[[Any], Any]
    construct_tensor: Callable[..., Any]
    copy_: Callable[[Any, Any], Any]
    new_empty_strided: Callable[[Any, tuple, tuple], Any]
    tensor_of_number: Callable[[float], Any]
    zero_: Callable[[Any], Any]


NEEDED_OPERATIONS = Operations()


def provide_operations(**operations: Any) -> None:
    """Set what `NEEDED_OPERATIONS` has. TypeError unless all of it is given, and nothing else."""
    if set(operations) != set(Operations.__annotations__):
        raise TypeError(f"expected {sorted(Operations.__annotations__)}")
    vars(NEEDED_OPERATIONS).update(operations)
