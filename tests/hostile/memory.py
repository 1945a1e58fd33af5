"""Views, storages and arrays told odd sizes: nothing looks outside of its memory, alone, in threads, after a fork.

    python tests/hostile/memory.py --trials 1000000 --seed 1     prints tried / failed, and how each failed

Every array under a tensor is held against the memory that NumPy owns for it, each memory that came from outside lies
between two guards that no write may touch, and memory that NumPy looks at keeps its bytes after its tensors are gone.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import random
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

import numpy as np

import tinytorch
from tinytorch import Tensor

GUARD = 64  # bytes before and behind what is given to the engine
BEYOND = (2**31, 2**62, 2**63 - 1, 2**63, 2**64, -(2**63))
DTYPES = (np.float32, np.float64, np.int64, np.uint8, np.bool_, np.int16)
TYPES = (tinytorch.float32, tinytorch.float64, tinytorch.int64, tinytorch.uint8, tinytorch.int16)
REFUSED = (
    RuntimeError,
    ValueError,
    IndexError,
    TypeError,
    NotImplementedError,
    OverflowError,
    MemoryError,
)


class Guarded:
    """Memory of NumPy's between two guards."""

    def __init__(self, r: random.Random) -> None:
        self.whole = np.full(2 * GUARD + 8 * r.randrange(13), 0xA5, np.uint8)
        kind = r.choice(DTYPES)
        inside = self.whole[GUARD : len(self.whole) - GUARD]
        inside[...] = 1
        self.array = inside.view(kind)
        if self.array.size % 2 == 0 and r.random() < 0.5:
            self.array = self.array.reshape(2, -1)[:, :: r.choice((1, 1, 2))]
        if r.random() < 0.2:
            self.array = self.array.T

    def broken(self) -> bool:
        """Whether something wrote into a guard."""
        return bool((self.whole[:GUARD] != 0xA5).any() or (self.whole[-GUARD:] != 0xA5).any())


def outside(a: np.ndarray) -> bool:
    """Whether an array reaches outside of the memory that it was made of."""
    owner = a  # the last array on the way down: what it was made of lies under it as a whole
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    # An object in between tells NumPy the strides, which then checks nothing.
    made_of = getattr(owner.base, "base", None)
    owner = made_of if isinstance(made_of, np.ndarray) else owner
    if not a.size:
        return False
    low, high = np.lib.array_utils.byte_bounds(a)
    first, last = np.lib.array_utils.byte_bounds(owner)
    return low < first or high > last


def one_of(r: random.Random) -> int:
    return r.choice(BEYOND) if r.random() < 0.06 else r.randrange(-1, 5)


def row(r: random.Random, least: int = 0) -> tuple[int, ...]:
    return tuple(one_of(r) for _ in range(r.randrange(least, 4)))


def step(r: random.Random, tensors: list[Tensor], guards: list[Guarded]) -> Any:
    """Do one thing with one of the tensors; what comes out joins them."""
    t, other = r.choice(tensors), r.choice(tensors)
    size = row(r)
    strides = tuple(one_of(r) for _ in size) if r.random() < 0.9 else row(r)
    offset = one_of(r)

    def outer() -> Any:
        guards.append(Guarded(r))
        return tinytorch.from_numpy(guards[-1].array)

    deeds: list[Callable[[], Any]] = [
        lambda: t.as_strided(size, strides, offset),
        lambda: t.as_strided(size, strides),
        lambda: t.as_strided_(size, strides, offset),
        lambda: t.set_(other.untyped_storage(), offset, size, strides),
        lambda: t.set_(other),
        lambda: t.set_(other, offset, size, strides),
        t.set_,
        lambda: t.resize_(size),
        lambda: t.resize_as_(other),
        lambda: t.untyped_storage().resize_(r.choice((0, 1, 7, 16, 40, 200, *BEYOND))),
        lambda: t.untyped_storage().copy_(other.untyped_storage()),
        lambda: t.untyped_storage().__setitem__(offset, 7),
        lambda: t.view(size),
        lambda: t.view(r.choice(TYPES)),
        lambda: t.expand(size),
        lambda: t.reshape(size),
        lambda: t.chunk(one_of(r), one_of(r))[-1],
        lambda: t.narrow(one_of(r), one_of(r), one_of(r)),
        lambda: t[offset : one_of(r) : abs(one_of(r))],
        lambda: t[..., offset],
        lambda: t.diagonal(one_of(r), one_of(r), one_of(r)),
        lambda: t.transpose(one_of(r), one_of(r)),
        lambda: t.flip(0) if r.random() < 0.5 else t.T,
        lambda: t.fill_(1),
        t.zero_,
        lambda: t.add_(1),
        lambda: t.copy_(other),
        lambda: t.__setitem__(offset, 1),
        lambda: t.__setitem__(tinytorch.as_tensor([offset, one_of(r)]), other),
        lambda: t[tinytorch.as_tensor([[offset], [one_of(r)]])],
        lambda: t.scatter_(0, other, 1),
        lambda: tinytorch.gather(t, 0, other),
        t.clone,
        t.detach,
        lambda: setattr(t, "data", other),
        outer,
        lambda: tinytorch.from_numpy(t.numpy()),
        lambda: np.asarray(t.numpy()),
        lambda: tinytorch.zeros(size),
        lambda: tinytorch.as_strided(other.t(), size, strides, offset),
    ]
    return r.choice(deeds)()


class Attack:
    """Tensors that change from step to step; `failed` lists what was wrong."""

    def __init__(self, seed: int) -> None:
        self.r, self.failed = random.Random(seed), Counter[str]()
        self.guards: list[Guarded] = []
        self.looked_at: list[tuple[np.ndarray, bytes]] = []
        self.tensors: list[Tensor] = [
            tinytorch.arange(6.0),
            tinytorch.zeros(2, 3, dtype=tinytorch.int64),
        ]

    def run(self, steps: int) -> None:
        """Make so many steps, and look at all tensors after each."""
        for _ in range(steps):
            made = None
            try:
                made = step(self.r, self.tensors, self.guards)
            except REFUSED:
                pass
            except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
                self.failed[f"{type(error).__name__}: {error}"] += 1
            if isinstance(made, Tensor) and made.numel() < 10_000:
                self.tensors.append(made)
            self.look()

    def look(self) -> None:
        """Hold every tensor against its memory."""
        for t in self.tensors:
            if outside(t._data):
                self.failed["a tensor looks outside of its memory"] += 1
        if any(g.broken() for g in self.guards):
            self.failed["a guard was written to"] += 1
        if len(self.tensors) > 12:
            del self.tensors[self.r.randrange(len(self.tensors))]
        if len(self.guards) > 12:
            del self.guards[: self.r.randrange(8)]
        if len(self.tensors) < 2 or self.r.random() < 0.01:
            self.tensors.append(tinytorch.arange(6.0))
        if self.r.random() < 0.05:
            self.outlive()

    def outlive(self) -> None:
        """What NumPy looks at keeps its bytes when the tensor's storage moves, and when all tensors are gone."""
        t = tinytorch.arange(self.r.randrange(1, 200))
        seen, held = t.numpy(), t.numpy().data
        was = seen.tobytes()
        # Raised for "storage that is not resizable", in the words of PyTorch.
        with contextlib.suppress(RuntimeError):
            t.untyped_storage().resize_(self.r.choice((0, 8, 4096)))
        t.set_()
        del t
        gc.collect(0)
        made = [np.ones(len(seen), np.int64) for _ in range(4)]  # would take memory that was freed
        if seen.tobytes() != was or held.tobytes() != was:
            self.failed["memory that NumPy looks at changed"] += 1
        del made


def in_threads(seed: int, steps: int) -> Counter[str]:
    """Four threads change the same tensors at once."""
    first = Attack(seed)
    attacks = [Attack(seed + n) for n in range(4)]
    for attack in attacks:
        attack.tensors = first.tensors
    threads = [threading.Thread(target=attack.run, args=(steps,)) for attack in attacks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum((attack.failed for attack in attacks), Counter[str]())


def after_a_fork(seed: int, steps: int) -> Counter[str]:
    """A child goes on with the tensors of its parent, whose bytes stay as they are."""
    attack = Attack(seed)
    attack.run(steps)
    was = [t._data.tobytes() for t in attack.tensors]
    child = os.fork()
    if not child:
        attack.failed.clear()
        attack.run(steps)
        os._exit(1 if attack.failed else 0)
    failed = attack.failed.copy()
    if os.waitpid(child, 0)[1]:
        failed["in a child: it failed or ended"] += 1
    if [t._data.tobytes() for t in attack.tensors] != was:
        failed["a child changed what its parent has"] += 1
    return failed


def attack(trials: int, seed: int) -> tuple[int, Counter[str]]:
    """Attack in pieces of 500 steps; every tenth runs in threads, every tenth in a forked child."""
    failed, tried = Counter[str](), 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for piece in range(max(trials // 500, 1)):
            own = seed * 1_000_003 + piece
            if piece % 10 == 8:
                failed += in_threads(own, 125)
            elif piece % 10 == 9 and hasattr(os, "fork"):
                failed += after_a_fork(own, 250)
            else:
                alone = Attack(own)
                alone.run(500)
                failed += alone.failed
            tried += 500
    return tried, failed


def main() -> bool:
    """Attack as the command line says; True if something failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    if resource:  # memory as large as asked for is refused, rather than filled
        resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
    tried, failed = attack(asked.trials, asked.seed)
    for how, times in failed.most_common():
        print(f"{times} times {how}")
    print(f"{tried} tried, {sum(failed.values())} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
