"""How large the stack of a thread is, as the system says: how deep C may recurse in there."""

from __future__ import annotations

import sys
import threading
from functools import cache
from typing import Any

try:
    import ctypes
except ImportError:  # a Python without it, as in a browser
    ctypes = None

_ATTRIBUTE_BYTES = 256
"""Room for the attributes of a thread: 56 bytes in glibc on x86-64, 64 on ARM."""


def find_smallest_stack() -> int:
    """Return the bytes of this thread's stack, or of a thread that starts now; 0 if not known.

    What is made in one thread may be freed in another. A thread of the system's own size (on Linux
    8 MB with glibc and 128 kB with musl, on macOS 512 kB) is not asked about: only that of a size
    which the program has set, by `threading.stack_size`.
    """
    own_bytes, next_bytes = _measure_own_stack(), threading.stack_size()
    if next_bytes:
        return min(own_bytes, next_bytes)
    return own_bytes


def _measure_own_stack() -> int:
    # `threading.stack_size()` would not do: it is that of the next thread, and none of a thread that
    # Python did not start; and RLIMIT_STACK is that of the first.
    functions = _load_pthread()
    if functions is None:
        return 0
    attributes = ctypes.create_string_buffer(_ATTRIBUTE_BYTES)
    thread = ctypes.c_void_p(functions.pthread_self())
    if functions.pthread_getattr_np(thread, attributes) != 0:
        return 0
    size = ctypes.c_size_t(0)
    error = functions.pthread_attr_getstacksize(attributes, ctypes.byref(size))
    functions.pthread_attr_destroy(attributes)
    if error:
        return 0
    return size.value


@cache
def _load_pthread() -> Any:
    """Return the C library of this process; None where it cannot be asked."""
    if sys.platform != "linux" or ctypes is None:
        return None
    try:
        # An own object: what is said here of its functions holds for no other user of it.
        functions = ctypes.CDLL(None)
        functions.pthread_self.restype = ctypes.c_void_p
        _ = functions.pthread_getattr_np, functions.pthread_attr_getstacksize
    except (OSError, AttributeError):
        return None
    return functions
