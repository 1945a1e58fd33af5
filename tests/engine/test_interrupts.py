"""Signals come at any moment: a handler can compute, and an interrupt leaves NumPy as it was."""

import contextvars
import signal
import time
from collections.abc import Iterator

import numpy as np
import pytest

import tinytorch as torch

NAME = contextvars.ContextVar("NAME", default="unset")
pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timer here")


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """The handler of alarms is given back, and no alarm is left."""
    before = signal.getsignal(signal.SIGALRM)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def train(x: torch.Tensor) -> None:
    """Operations of every kind of kernel, and a backward with a hook."""
    y = torch.softmax(x * 2, 0).relu() + 1
    y.register_hook(lambda grad: grad * 1)
    y[y > 1.2] = 0
    (y.exp().sum() + y.clone().add_(1).mean()).backward()


def test_a_signal_handler_computes_whatever_it_interrupts() -> None:
    errors, values, names = [], set(), set()

    def handle(*_: object) -> None:
        try:
            values.add((torch.ones(3) * 2).sum().item())
            names.add(NAME.get())
        except Exception as error:
            errors.append(error)

    x, end = torch.zeros(4, requires_grad=True), time.monotonic() + 1
    token = NAME.set("of the test")
    try:
        signal.signal(signal.SIGALRM, handle)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        while time.monotonic() < end:
            train(x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        NAME.reset(token)
    assert (errors, values, names) == ([], {6.0}, {"of the test"})


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_leaves_the_floating_point_errors_of_the_user() -> None:
    is_expected = False

    def interrupt(*_: object) -> None:
        # A busy machine may hand an alarm to another thread, which passes it on when the next one is
        # set already. Each round takes one: a second would come behind its block and end the run.
        nonlocal is_expected
        if is_expected:
            is_expected = False
            raise KeyboardInterrupt

    x, interrupted = torch.zeros(4, requires_grad=True), 0
    train(x)
    signal.signal(signal.SIGALRM, interrupt)
    with np.errstate(divide="raise", over="print"):
        set_by_user = np.geterr()
        for i in range(300):
            try:
                is_expected = True
                signal.setitimer(signal.ITIMER_REAL, 0.0003 + i * 1e-6)
                # Python drops what is raised in a callback of a weak reference: then none comes.
                end = time.monotonic() + 0.1
                while time.monotonic() < end:
                    train(x)
                signal.setitimer(signal.ITIMER_REAL, 0)
                is_expected = False
            except KeyboardInterrupt:
                interrupted += 1
            assert np.geterr() == set_by_user
            # What waits for the end of a backward waits no longer.
            with pytest.warns(UserWarning, match="degrees of freedom"):
                torch.tensor(1.0).std()
    assert interrupted > 200
