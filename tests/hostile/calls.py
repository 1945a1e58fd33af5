"""Every public name, called with odd arguments: each call ends with torch's kinds of error, and soon.

    python tests/hostile/calls.py --trials 1000000 --seed 1     prints tried / failed, and how each failed
    python tests/hostile/calls.py --one 1:4711                  one call again, with its traceback

A call that ends the process or hangs is found by its number, which `--log` writes down before the call.
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import inspect
import io
import math
import random
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

import numpy as np

import tinytorch

SECONDS = 1.0
ALLOWED = (
    TypeError,
    ValueError,
    RuntimeError,
    IndexError,
    NotImplementedError,
    ArithmeticError,
    StopIteration,
    BufferError,
    AssertionError,
    MemoryError,
)
NOT_CALLED = {
    "save": "writes files",
    "load": "reads files",
    "set_printoptions": "a setting",
    "set_default_dtype": "a setting",
    "set_default_device": "a setting",
    "use_deterministic_algorithms": "a setting",
    "set_warn_always": "a setting",
    "set_grad_enabled": "a setting",
    "detect_anomaly": "a setting",
    "set_detect_anomaly": "a setting",
    "__array_wrap__": "NumPy's",
    "__deepcopy__": "asks its memo, as PyTorch's does",
    "ShownAs": "makes classes",
}
BEYOND = 2**63
NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    7,
    -7,
    64,
    65,
    2**31,
    2**40,
    BEYOND - 1,
    BEYOND,
    -BEYOND,
    2**70,
    True,
    False,
    0.0,
    0.5,
    -1.5,
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    1j,
)


class Odd:
    """What only looks like a number, or a sequence."""

    def __index__(self) -> int:
        return 1

    def __len__(self) -> int:
        return 3


def _plain(rng: random.Random) -> Any:
    return rng.choice(
        (
            None,
            "",
            "cpu",
            "cuda",
            "mean",
            "sum",
            "ä",
            b"ab",
            ...,
            slice(None),
            slice(0, None, -1),
            object(),
            Odd(),
            int,
            len,
            {},
            {"a": 1},
            {1, 2},
            range(3),
            tinytorch.float32,
            tinytorch.int64,
            tinytorch.bool,
            "float32",
            tinytorch.Size([2]),
            tinytorch.device("cpu"),
            tinytorch.strided,
            tinytorch.contiguous_format,
            tinytorch.Generator(),
            np.float32(2),
            np.int64(-1),
            np.bool_(1),
            np.zeros((2, 3)),
            np.array("a"),
            np.array(None),
            np.zeros(3)[::-1],
            tinytorch.Tensor,
            tinytorch.zeros(3).untyped_storage(),
        )
    )


def tensor(rng: random.Random) -> Any:
    """A small tensor of any kind."""
    shape = rng.choice(
        (
            (),
            (0,),
            (1,),
            (3,),
            (4,),
            (2, 3),
            (3, 3),
            (1, 3),
            (0, 3),
            (2, 0, 2),
            (2, 1, 3),
            (1, 2, 2, 2),
        )
    )
    kind = rng.choice(
        ("float32", "float32", "float64", "float16", "int64", "int32", "uint8", "bool")
    )
    t = (
        tinytorch.ones(shape)
        .mul(rng.choice((0, 1, -2, 0.5, math.nan, math.inf)))
        .to(getattr(tinytorch, kind))
    )
    if rng.random() < 0.3 and t.is_floating_point():
        t.requires_grad_()
        t = t * 2 if rng.random() < 0.5 else t
    way = rng.randrange(8)
    if way == 0 and t.dim() > 1:
        return t.t() if t.dim() == 2 else t.transpose(0, -1)
    if way == 1 and t.numel():
        return t.as_strided((2, 2), (0, 0))
    if way == 2:
        return t.detach()
    return t.expand(2, *shape) if way == 3 else t


def value(rng: random.Random, depth: int = 0) -> Any:
    """An argument."""
    way = rng.random()
    if way < 0.35:
        return tensor(rng)
    if way < 0.6:
        return rng.choice(NUMBERS[:7]) if rng.random() < 0.6 else rng.choice(NUMBERS)
    if way < 0.8 and depth < 3:
        return rng.choice((tuple, list))([value(rng, depth + 1) for _ in range(rng.randrange(4))])
    if way < 0.805:
        endless: list[Any] = []
        endless.append(endless)
        return endless
    return _plain(rng)


def names() -> list[tuple[str, Any]]:
    """All that is called: functions of the package and its parts, and methods of tensors."""
    found = []
    for where, owner in (
        ("", tinytorch),
        ("nn.functional.", tinytorch.nn.functional),
        ("nn.", tinytorch.nn),
        ("nn.init.", tinytorch.nn.init),
        ("autograd.", tinytorch.autograd),
        ("optim.", tinytorch.optim),
        ("Tensor.", tinytorch.Tensor),
        ("UntypedStorage.", tinytorch.UntypedStorage),
        ("Generator.", tinytorch.Generator),
    ):
        for name in sorted(dir(owner)):
            own = name.startswith("_") and not (name.startswith("__") and where == "Tensor.")
            if own or name in NOT_CALLED or (name in dir(object) and name != "__eq__"):
                continue
            # A method is made when it is first named, and then the class has it.
            thing = getattr(owner, name, None)
            if where[:1].isupper():
                thing = inspect.getattr_static(owner, name, None)
            part = where.islower() and where != ""  # of which only what it defines itself is public
            theirs = part and not str(getattr(thing, "__module__", "")).startswith(
                f"{owner.__name__}"
            )
            if callable(thing) and not inspect.ismodule(thing) and not theirs:
                found.append((where + name, thing))
    return found


def call(number: int, seed: int, known: list[tuple[str, Any]]) -> tuple[str, Callable[[], Any]]:
    """One call of a seed and a number: its name, and what makes it."""
    rng = random.Random(f"{seed} {number}")
    name, function = rng.choice(known)
    args = [value(rng) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4)))]
    if name.startswith("Tensor."):
        args.insert(0, tensor(rng))
    elif name.startswith("UntypedStorage."):
        args.insert(0, tinytorch.zeros(3).untyped_storage())
    elif name.startswith("Generator."):
        args.insert(0, tinytorch.Generator())
    named = {}
    if rng.random() < 0.25:
        word = rng.choice(
            (
                "dim",
                "dtype",
                "out",
                "keepdim",
                "device",
                "size",
                "requires_grad",
                "other",
                "alpha",
                "generator",
            )
        )
        named[word] = value(rng)
    return name, lambda: function(*args, **named)


class Late(BaseException):
    """A call took too long."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise `Late` when it takes longer."""

    def late(*_: Any) -> None:
        raise Late

    was = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, was)


def inside(error: BaseException) -> bool:
    """Return True if only a mistake in the engine raises such an error."""
    # A group of an optimizer without parameters raises it, as in PyTorch.
    if isinstance(error, KeyError) and error.args == ("params",):
        return False
    if isinstance(error, RecursionError) or not isinstance(error, (*ALLOWED, AttributeError)):
        return True
    if not isinstance(error, AttributeError):
        return False
    asked = error.name or ""  # what PyTorch asks an argument for in Python, too, is PyTorch's error
    return (
        asked.startswith("_")
        or "Required" in str(error)
        or not (asked in (*dir(tinytorch.Tensor), "items") or hasattr(error, "__notes__"))
    )


def tried(make: Callable[[], Any]) -> str:
    """How a call ended: "" as it should, else what was wrong."""
    began = time.process_time()  # other programs may be at work, too
    try:
        with within(3 * SECONDS):
            result = make()
            if inspect.isgenerator(result):
                result.close()
    except Late:
        return f"took over {3 * SECONDS:.0f} s"
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        if inside(error):
            where = traceback.extract_tb(error.__traceback__)[-1]
            return f"{type(error).__name__}: {str(error)[:90]} ({where.filename.rpartition('/')[2]}:{where.lineno})"
    took = time.process_time() - began
    return f"took {took:.1f} s" if took > SECONDS else ""


def attack(trials: int, seed: int, first: int = 0, log: Any = None) -> tuple[int, Counter[str]]:
    """Make `trials` calls: how many were made, and how those failed that failed, with the number of the first."""
    known, failed, numbers = names(), Counter[str](), dict[str, int]()
    held = builtins.print
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        for number in range(first, first + trials):
            name, make = call(number, seed, known)
            if log is not None:
                log.seek(0)
                log.write(f"{seed}:{number} {name}\n")
                log.flush()
            if how := tried(make):
                failed[f"{name}: {how}"] += 1
                numbers.setdefault(f"{name}: {how}", number)
            # `no_grad().__enter__()` and the like are public, and may have been called.
            while tinytorch.is_grad_enabled() is False:
                tinytorch.set_grad_enabled(True)
    assert builtins.print is held
    return trials, Counter({f"{how} [{seed}:{numbers[how]}]": n for how, n in failed.items()})


def main() -> bool:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--one", default="", help="SEED:NUMBER")
    parser.add_argument("--log", type=argparse.FileType("w"), default=None)
    asked = parser.parse_args()
    if resource:  # 2 GB of ones, as asked for, take longer than a second
        resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
    if asked.one:
        seed, number = map(int, asked.one.split(":"))
        name, make = call(number, seed, names())
        print(name, inspect.getclosurevars(make).nonlocals)
        make()
        return False
    count, failures = attack(asked.trials, asked.seed, asked.first, asked.log)
    print("\n".join(f"{n} times {how}" for how, n in failures.most_common(60)))
    print(f"{count} tried, {sum(failures.values())} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
