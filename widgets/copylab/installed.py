"""Which of the two engines can be imported here."""

from importlib.util import find_spec


def is_installed(engine: str) -> bool:
    """Return True if `import engine` would find code.

    A folder of that name in the working directory can be imported, too, but has none: it is what
    Python calls a namespace package.
    """
    spec = find_spec(engine)
    return spec is not None and spec.origin is not None
