"""Functions that write into their argument: `torch.exp_(x)` is `x.exp_()`.

Most of what is done in place is a method alone. Of these PyTorch makes functions, too, by the word
`function` in its list of operations. Source: torch's `native_functions.yaml`.
"""

from __future__ import annotations

import functools

from .define import OVERLOADS, offer_member
from .late import LaterFunction

_NAMES = """
    abs_ addmv_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ cos_ exp_ floor_ log_ neg_ reciprocal_ round_
    sigmoid_ sin_ sqrt_ tanh_ trunc_
"""


def offer_functions_in_place() -> None:
    """Offer the functions, once all lists of operations are there."""
    for name in _NAMES.split():
        make = functools.partial(OVERLOADS[name].make_function, method=False)
        offer_member(name, LaterFunction(make), method=False)
