"""torch's words for a call that fits none of several signatures: what was given, and why each does not take it.

Source: torch's `invalid_arguments.cpp`.
"""

from __future__ import annotations

from ..naming import type_name


def invalid_combination(name: str, args: tuple, kwargs: dict, lines: list[str]) -> TypeError:
    """torch's TypeError for arguments that fit none of several signatures."""
    named = _as_hashed(kwargs)
    head = f"{name}() received an invalid combination of arguments - got "
    given = [type_name(a) for a in args] + [f"{k}={type_name(v)}" for k, v in named.items()]
    got = f"({', '.join(given)}{', ' if named and not args else ''}), but expected "
    if len(lines) == 1:
        options = _options(lines[0])
        wrong = _unmatched(options, named)
        if wrong:
            return TypeError(f"{head}unrecognized keyword arguments: {', '.join(wrong)}")
        if len(options) == len(given):
            got = f"{_described(lines[0], args, named, options)}, but expected "
        return TypeError(head + got + lines[0])
    text = [f"{head}{got}one of:"]
    for line in lines:
        text.append(f" * {line}")
        options = _options(line)
        if len(options) != len(given):  # torch counts the star as well, and nothing as one
            continue
        wrong = _unmatched(options, named)
        if wrong:
            text.append(f"      didn't match because some of the keywords were incorrect: {', '.join(wrong)}")
        else:
            why = _described(line, args, named, options)
            text.append(f"      didn't match because some of the arguments have invalid types: {why}")
    return TypeError("\n".join(text) + "\n")


def _options(line: str) -> list[str]:
    """The names of a signature's parameters; of those with a default, the default, which torch takes for the name."""
    return [p.rpartition(" ")[2] for p in line[1:-1].split(", ")]


def _unmatched(options: list[str], named: dict) -> list[str]:
    return [k for k in named if k not in options[max(len(options) - len(named), 0) :]]


def _hash(text: str) -> int:
    """The C++ standard library's hash of a string (MurmurHash64A with its seed)."""
    key, size, factor = text.encode(), len(text.encode()), 0xC6A4A7935BD1E995
    mixed = lambda v: v ^ (v >> 47)  # noqa: E731
    h = 0xC70F6907 ^ (size * factor % 2**64)
    for at in range(0, size - 7, 8):
        part = int.from_bytes(key[at : at + 8], "little") * factor % 2**64
        h = (h ^ (mixed(part) * factor % 2**64)) * factor % 2**64
    if size % 8:
        h = (h ^ int.from_bytes(key[size // 8 * 8 :], "little")) * factor % 2**64
    return mixed(mixed(h) * factor % 2**64)


def _as_hashed(kwargs: dict) -> dict:
    """Keywords in the order of torch's `std::unordered_map`: the latest first, unless it falls in an earlier's bucket."""
    order: list[str] = []
    for name in kwargs:
        same = (i for i, other in enumerate(order) if _hash(other) % 13 == _hash(name) % 13)
        order.insert(next(same, 0), name)
    return {name: kwargs[name] for name in order}


_SIMPLE = {
    "Tensor": ("Tensor",),
    "float": ("float", "int", "long"),
    "int": ("int", "long"),
    "bool": ("bool",),
    "str": ("str",),
}


def _described(line: str, args: tuple, named: dict, options: list[str]) -> str:
    """The types of the arguments, those in exclamation marks that are not a signature's."""
    kinds = [p.rpartition(" ")[0] for p in line[1:-1].split(", ")]
    out = []
    for i in range(len(args) + len(named)):
        by_name = i >= len(args)
        if by_name and (i >= len(options) or options[i] not in named):
            continue
        x = named[options[i]] if by_name else args[i]
        fits = i < len(kinds) and type_name(x) in _SIMPLE.get(kinds[i], (kinds[i],))
        shown = type_name(x)
        if isinstance(x, (tuple, list)):
            inner = ", ".join(type_name(e) for e in x)
            shown += f" of ({inner}{',' * (len(x) == 1)})" if isinstance(x, tuple) else f" of [{inner}]"
        shown = (f"{options[i]}=" if by_name else "") + shown
        out.append(shown if fits else f"!{shown}!")
    return f"({', '.join(out)}{', ' if out and not args else ''})"
