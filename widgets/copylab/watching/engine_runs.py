"""The call by which every backward runs, whichever function of the engine a program has called.

In PyTorch that is `_engine_run_backward`: `loss.backward()`, `torch.autograd.backward`, `torch.autograd.grad` and
a reentrant checkpoint all end there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial, wraps
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from tinytorch import autograd as tinytorch_autograd
from tinytorch.graph import MODES
from tinytorch.viz import grad_fn_or_none

from .scope import Replacement, find_watches_of_thread

if TYPE_CHECKING:
    from .observer import Watch


class EngineRun(NamedTuple):
    """What an engine is asked to run."""

    engine: str
    """Its name, "torch" or "tinytorch"."""
    outputs: Sequence[Any]
    """The tensors that it begins at; in PyTorch also edges of a graph."""
    inputs: Sequence[Any]
    """Those whose gradients alone are wanted; empty for all leaves."""
    accumulates: bool
    """True if it adds gradients to `.grad`, False if it returns them."""
    keeps_graph: bool = False
    """True if it leaves nodes what they have saved."""

    @property
    def root_nodes(self) -> list[Any]:
        """The nodes that it begins at."""
        nodes = map(_find_node, self.outputs)
        return [node for node in nodes if node is not None]

    def is_input(self, node: Any) -> bool:
        """Return True for the node at which the gradient of an input arrives."""
        leaf = getattr(node, "variable", None)
        return any(
            each is leaf if leaf is not None else _find_node(each) is node for each in self.inputs
        )


def _find_node(output: Any) -> Any:
    is_edge = isinstance(output, tuple)
    return output.node if is_edge else grad_fn_or_none(output)


class _RunsOfThread(threading.local):
    """What runs in a thread."""

    def __init__(self) -> None:
        self.surroundings: list[tuple[str, int]] = []
        """For each run, the engine and the number of the backward that it is inside of; -1 outside of one."""


_RUNS = _RunsOfThread()


def report_runs(
    engine: str,
    run: Callable[..., Any],
    read_call: Callable[[Any, Any], EngineRun],
    get_backward_nr: Callable[[], int],
) -> Callable[..., Any]:
    """Return a function that runs a backward as `run` does, and tells the watches of the thread.

    read_call: makes an `EngineRun` of its arguments. get_backward_nr: returns the number of the
    backward that runs now; -1 without one.
    """

    @wraps(run)
    def run_reported(*args: Any, **kwargs: Any) -> Any:
        watches = find_watches_of_thread()
        surrounding = engine, get_backward_nr()
        # Two runs inside of the same backward, one in the other, are one that comes here twice: another
        # tool may have kept one of these functions, and put it back after the watch had ended.
        if not watches or surrounding in _RUNS.surroundings:
            return run(*args, **kwargs)  # raises as the engine does
        _RUNS.surroundings.append(surrounding)
        try:
            run_now = partial(run, *args, **kwargs)
            return _run_and_report(watches, read_call(args, kwargs), run_now)
        finally:
            _RUNS.surroundings.pop()

    return run_reported


def _run_and_report(watches: list[Watch], call: EngineRun, run: Callable[[], Any]) -> Any:
    is_outermost = _RUNS.surroundings[-1][1] < 0
    starts = [watch.begin_run(call) for watch in watches]
    try:
        result = run()  # raises as the engine does
    except RuntimeError as error:
        # What a backward within this one has raised is that one's, and was reported there.
        if _count_frames(error, _run_and_report.__code__) == 1:
            for watch, start in zip(watches, starts, strict=True):
                watch.report_error(call, start, error)
        raise
    # Only of one that came to its end: after an error, leaves without a gradient show nothing.
    if call.accumulates and is_outermost:
        for watch in find_watches_of_thread():
            watch.record_backward()
    return result


def _count_frames(error: BaseException, code: CodeType) -> int:
    """Return how many frames in the traceback of an error run this code."""
    return sum(frame.f_code is code for frame in _iterate_frames(error))


def _iterate_frames(error: BaseException) -> Iterator[Any]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


# -- the two engines -------------------------------------------------------------------


@cache
def watch_torch_runs(torch: Any) -> tuple[Replacement, Replacement]:
    """Report the runs of PyTorch's engine."""

    def read_call(args: Any, kwargs: Any) -> EngineRun:
        return EngineRun(
            "torch",
            args[0] if args else kwargs.get("t_outputs", ()),
            args[4] if len(args) > 4 else kwargs.get("inputs", ()),
            bool(kwargs.get("accumulate_grad")),
            # Both functions of PyTorch's have decided it by now.
            bool(args[2] if len(args) > 2 else kwargs.get("retain_graph")),
        )

    @cache
    def replace(run: Any) -> Any:
        return report_runs("torch", run, read_call, torch._C._current_graph_task_id)

    # Two modules have it, and what patches it puts that of the second into both.
    modules = torch.autograd, torch.autograd.graph
    first, second = (Replacement(module, "_engine_run_backward", replace) for module in modules)
    return first, second


def get_tinytorch_backward_nr() -> int:
    """Return the number of the backward of tinytorch's that runs; -1 without one."""
    return MODES.thread.backward_nr


@cache
def watch_tinytorch_runs() -> Replacement:
    """Report the runs of tinytorch's engine, but those of `Tensor.backward`, which may take a shorter way."""

    def read_call(args: Any, kwargs: Any) -> EngineRun:
        keeps_graph = bool(args[3] if args[2] is None else args[2])
        return EngineRun("tinytorch", args[0], args[4] or (), kwargs["accumulate"], keeps_graph)

    def replace(run: Any) -> Any:
        return report_runs("tinytorch", run, read_call, get_tinytorch_backward_nr)

    return Replacement(tinytorch_autograd.api, "_check_and_walk", replace)


def report_tinytorch_method(backward: Any) -> Any:
    """Return `Tensor.backward` of tinytorch with its runs reported.

    A run with `inputs` is reported by `_check_and_walk`, to which it goes on: only there the inputs are
    checked, and a generator of them can be read once.
    """

    def read_call(args: Any, kwargs: Any) -> EngineRun:
        given = dict(zip(("gradient", "retain_graph", "create_graph"), args[1:], strict=False))
        given |= kwargs
        keeps = given.get("retain_graph")
        keeps_graph = bool(given.get("create_graph") if keeps is None else keeps)
        return EngineRun("tinytorch", args[:1], (), accumulates=True, keeps_graph=keeps_graph)

    reported = report_runs("tinytorch", backward, read_call, get_tinytorch_backward_nr)

    @wraps(backward)
    def run_backward(*args: Any, **kwargs: Any) -> Any:
        inputs = args[4] if len(args) > 4 else kwargs.get("inputs")
        return (reported if inputs is None else backward)(*args, **kwargs)

    return run_backward
