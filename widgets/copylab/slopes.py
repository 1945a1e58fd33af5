"""`check_gradients()`: measure whether what backward gives is the slope of what forward computes.

No look at memory can answer that: a block that is computed again with other random numbers, a hook
that writes into a gradient, a backward written by hand with a mistake, a parameter behind a
reentrant checkpoint. So it is measured. Each parameter is moved a little along one direction, and
the change of the loss is held against what backward says about that direction.

In reading order: the call (`check_gradients`), what is put back afterwards (`restore_at_end`), one
evaluation of the loss (`Evaluation`), what is measured of a parameter (`measure_slope`), the
verdict (`Slope.verdict`), the lines that may have done it (`find_causes`), and how it is said
(`GradientCheck`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from tinytorch.viz import (
    RandomStates,
    collect_tensors,
    describe_exits,
    engine_name,
    explain,
    find_leaves,
    is_tensor,
    join_few_names,
    join_names,
    read_snapshot,
)

from .doc import (
    Box,
    Code,
    InPage,
    Items,
    Paragraph,
    Part,
    Presentation,
    Table,
    html_element,
    protect_marks,
)
from .ranks import find_rank
from .ui import panel_style_sheet
from .watching import watch
from .wording import gettext, gettext_noop, ngettext

AGREES, DIFFERS, NO_GRADIENT, UNUSED = "agrees", "differs", "no gradient", "unused"
FLAT, NOT_SMOOTH, NOT_REPEATABLE, NOT_FINITE = "flat", "not smooth", "not repeatable", "not finite"
SEVERAL = "several processes"

_VERDICTS = {
    AGREES: gettext_noop("the slope"),
    DIFFERS: gettext_noop("NOT the slope"),
    NO_GRADIENT: gettext_noop("no gradient, though the loss depends on it"),
    UNUSED: gettext_noop("no gradient, and the loss does not depend on it"),
    FLAT: gettext_noop("cannot be measured: the loss does not change along it"),
    NOT_SMOOTH: gettext_noop("cannot be measured: the loss is not smooth here, or too coarse"),
    NOT_REPEATABLE: gettext_noop("cannot be measured: two equal calls gave two losses"),
    NOT_FINITE: gettext_noop("cannot be measured: the loss is inf or nan"),
    SEVERAL: gettext_noop("cannot be measured: several processes train together"),
}
_ADVICE = {
    DIFFERS: gettext_noop(
        "What differs may be a part of the loss that leaves the graph (.item(), detach, no_grad), a "
        "backward written by hand, a hook that changes a gradient, a block that is computed again "
        "with other random numbers, or memory that was written to after autograd saved it."
    ),
    NO_GRADIENT: gettext_noop(
        "Where no gradient arrives, something cuts the graph on the way: detach, .data, "
        ".item(), no_grad, a reentrant checkpoint whose inputs need no gradient. If that is "
        "intended, all is well."
    ),
    FLAT: gettext_noop(
        "A gradient where the loss does not change is what a straight-through estimator gives on "
        "purpose: rounding, argmax, a code book."
    ),
    NOT_REPEATABLE: gettext_noop(
        "Each call should compute the same: the same batch, and random numbers from the global "
        "generators, which are put back before each call."
    ),
    NOT_SMOOTH: gettext_noop(
        "A network in float64 (`net.double()`) can be measured more finely than one in float32."
    ),
    SEVERAL: gettext_noop(
        "A gradient that is averaged over processes is not the slope of the loss that one of them "
        "has. Measure the network in one process, without what distributes it."
    ),
}

PRECISIONS = {"float64": 2**-52, "float32": 2**-23, "float16": 2**-10, "bfloat16": 2**-7}
"""The distance from 1 to the next number, by the name of the dtype."""
TOLERANCE = 0.02
"""Two slopes agree if they differ by less than this part of the larger one.

In float32 the slope itself is known to some 0.1 %, more roughly where a ReLU bends on the way.
"""
ROUGHNESS = 0.05
"""The loss counts as smooth if half the step changes its slope by less than this part."""


@dataclass(frozen=True)
class Slope:
    """What was measured of one parameter, along one direction.

    name: of the parameter. measured: the change of the loss for a step of length 1. from_backward:
    what backward says of the same direction; None if no gradient arrived. Both are nan if nothing
    could be measured. verdict: "agrees", "differs", "no gradient", "unused", "flat", "not smooth",
    "not repeatable", "not finite" or "several processes".
    """

    name: str
    measured: float
    from_backward: float | None
    verdict: str

    @property
    def module(self) -> str:
        """The name of the module that has the parameter: `net.0` for `net.0.weight`."""
        return self.name.rpartition(".")[0] or self.name


def check_gradients(step: Callable[[], Any], *args: Any, **named: Any) -> GradientCheck:
    """Measure whether the gradients that backward gives are the slopes of the loss.

    >>> check_gradients(lambda: loss_of(net(x), y), net)

    step: a function without arguments that computes the loss, a tensor of one element, and does
        not call backward itself. It is called four times for each parameter, and three times more;
        and where a gradient is not the slope, once more under a watch, which knows the lines.
    args, named: what has the parameters: modules, tensors, optimizers, lists or dicts of them.

    The result is true if at least one slope could be measured and none of them differs:
    `assert check_gradients(step, net)`. `.slopes` has a Slope for each parameter.

    Nothing is changed: parameters, buffers, every `.grad` and the random states are put back, also
    after an error. Hooks of the network run, as in any backward.

    Raises ValueError if there is no parameter that requires grad, or the loss has several
    elements; TypeError if `step` returns no tensor or an argument holds none; and what `step` and
    backward raise. The method is that of `torch.autograd.gradcheck`, with one direction for each
    tensor instead of all of them, in the dtype that the network has.
    """
    # The caller's frame: the names of parameters are read from the source of the call.
    pairs = collect_tensors(args, named, sys._getframe(1), (step,)) if args or named else []
    parameters = _select_parameters(pairs)
    if not parameters:
        raise ValueError(
            "there is nothing to check: give the network, or tensors that require grad and are "
            "leaves, as in check_gradients(step, net)"
        )
    engine = sys.modules[engine_name(next(iter(parameters.values())))]
    evaluation = Evaluation(step, engine, _find_modules((*args, *named.values())))
    with restore_at_end(engine, list(parameters.values())):
        slopes = _measure_all(evaluation, parameters)
        return GradientCheck(slopes, find_causes(evaluation, parameters, slopes))


def _select_parameters(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the leaves that require grad, each once, by its first name.

    Only dtypes in which a step can be taken: complex numbers have two slopes for each direction.
    """
    parameters: dict[str, Any] = {}
    seen: set[int] = set()
    for name, tensor in pairs:
        can_move = str(tensor.dtype).rpartition(".")[2] in PRECISIONS
        if tensor.requires_grad and tensor.is_leaf and can_move and id(tensor) not in seen:
            seen.add(id(tensor))
            parameters[name] = tensor
    return parameters


def _find_modules(things: tuple[Any, ...]) -> list[Any]:
    """Return all modules among the arguments, with the modules inside of them."""
    modules: list[Any] = []
    for thing in things:
        if isinstance(thing, list | tuple):
            modules += _find_modules(tuple(thing))
        elif isinstance(thing, dict):
            modules += _find_modules(tuple(thing.values()))
        elif hasattr(thing, "_buffers") and callable(getattr(thing, "modules", None)):
            modules += thing.modules()
    return list({id(module): module for module in modules}.values())


# -- what is put back --------------------------------------------------------------


@contextmanager
def restore_at_end(engine: ModuleType, parameters: list[Any]) -> Iterator[None]:
    """Put the values and gradients of the parameters and the random states back at the end.

    Values are written through `.data`, which counts no write: a graph that the user has built of
    the parameters can still run backward.
    """
    random_states = RandomStates(engine)
    # Whole, although each parameter puts itself back: an error or an interrupt may come in between.
    values = [parameter.detach().clone() for parameter in parameters]
    gradients = [parameter.grad for parameter in parameters]
    try:
        yield
    finally:
        random_states.restore()
        with engine.no_grad():
            for parameter, value, gradient in zip(parameters, values, gradients, strict=True):
                parameter.data.copy_(value)
                parameter.grad = gradient


@contextmanager
def buffers_replaced(modules: list[Any]) -> Iterator[None]:
    """Let modules write into copies of their buffers: a running mean stays as it is.

    The buffers themselves are not even written back, so their version counters do not move either.
    """
    originals = [(module, dict(module._buffers)) for module in modules]
    # One copy for a buffer that several modules have: they go on sharing it.
    copies: dict[int, Any] = {}
    try:
        for module, buffers in originals:
            for name, buffer in buffers.items():
                if buffer is not None and id(buffer) not in copies:
                    copies[id(buffer)] = buffer.detach().clone()
                module._buffers[name] = copies.get(id(buffer))
        yield
    finally:
        for module, buffers in originals:
            module._buffers.update(buffers)


@contextmanager
def gradients_set_aside(leaves: list[Any]) -> Iterator[None]:
    """Let backward find leaves without gradients, and give each its own `.grad` back."""
    gradients = [leaf.grad for leaf in leaves]
    try:
        for leaf in leaves:
            leaf.grad = None
        yield
    finally:
        for leaf, gradient in zip(leaves, gradients, strict=True):
            leaf.grad = gradient


# -- the loss ----------------------------------------------------------------------


class Evaluation:
    """The user's step, called from the same random states and buffers each time."""

    def __init__(self, step: Callable[[], Any], engine: ModuleType, modules: list[Any]) -> None:
        self.step, self.engine, self.modules = step, engine, modules
        self.random_states = RandomStates(engine)

    @contextmanager
    def computed_loss(self) -> Iterator[Any]:
        """Give the loss as a tensor with its graph; buffers are copies until the block ends.

        A backward belongs into the block: a checkpoint computes again in it, and writes into the
        buffers of its modules. TypeError and ValueError if it is no loss.
        """
        self.random_states.restore()
        with buffers_replaced(self.modules), self.engine.enable_grad():
            loss = self.step()
            _check_loss(loss)
            yield loss

    def compute_value(self) -> float:
        """Return the loss as a number."""
        with self.computed_loss() as loss:
            return float(loss.detach())

    def compute_gradients(self, parameters: list[Any]) -> tuple[float, list[Any]]:
        """Return the loss and the gradient that backward gives each parameter, None for none."""
        with self.computed_loss() as loss:
            value = float(loss.detach())
            if not loss.requires_grad:
                return value, [None] * len(parameters)
            return value, _run_backward(loss, parameters)


def _run_backward(loss: Any, parameters: list[Any]) -> list[Any]:
    """Return the gradient that backward gives each parameter; every `.grad` is put back."""
    # Backward fills the leaves that are not checked as well: theirs are put back, too.
    reached = {id(leaf): leaf for leaf in (*parameters, *find_leaves(loss))}
    with gradients_set_aside(list(reached.values())):
        loss.backward()
        return [_as_plain_gradient(parameter.grad) for parameter in parameters]


def _check_loss(loss: Any) -> None:
    if not is_tensor(loss):
        raise TypeError(f"step() returned {type(loss).__name__}; it is to return the loss")
    if loss.numel() != 1:
        shape = tuple(loss.shape)
        raise ValueError(f"step() is to return one number; it returned a tensor of shape {shape}")


def _as_plain_gradient(gradient: Any) -> Any:
    """Return a gradient without history, and dense: that of an embedding may be sparse."""
    if gradient is None:
        return None
    gradient = _find_local(gradient.detach())
    return gradient.to_dense() if gradient.is_sparse else gradient


def _find_local(tensor: Any) -> Any:
    """Return what this process has of a tensor: of a DTensor its own shard, which is no copy."""
    return getattr(tensor, "_local_tensor", tensor)


# -- measuring ---------------------------------------------------------------------


def _measure_all(evaluation: Evaluation, parameters: dict[str, Any]) -> tuple[Slope, ...]:
    """Measure every parameter, unless the loss is no number or another one each time."""
    loss, gradients = evaluation.compute_gradients(list(parameters.values()))
    # Twice, as random numbers may be equal by chance, those of a dropout with few elements.
    again = [evaluation.compute_value(), evaluation.compute_value()]
    trouble = ""
    if not all(map(math.isfinite, [loss, *again])):
        trouble = NOT_FINITE
    elif not all(math.isclose(value, loss, rel_tol=1e-5) for value in again):
        trouble = NOT_REPEATABLE
    is_shared = find_rank() is not None
    slopes = []
    for (name, parameter), gradient in zip(parameters.items(), gradients, strict=True):
        slope = Slope(name, math.nan, math.nan, trouble)
        # Each of several processes calls the step as often as the others, whatever it measures: a
        # step that sums over them waits for all.
        if is_shared or not trouble:
            measured = measure_slope(evaluation, name, _find_local(parameter), gradient, loss)
            slope = slope if trouble else measured
        # The gradient may be that of the losses of all, while the slope is that of the own one: where
        # the two agree, that is chance. The slopes are not averaged either. Of replicas (DDP) their mean
        # would have to be taken, of shards (FSDP, DTensor) the sum of what backward says, and of which
        # processes, the loss does not tell; a rank that has not called would be waited for.
        if is_shared and slope.verdict in (AGREES, DIFFERS, NO_GRADIENT, FLAT):
            slope = replace(slope, verdict=SEVERAL)
        slopes.append(slope)
    return tuple(slopes)


def measure_slope(
    evaluation: Evaluation, name: str, parameter: Any, gradient: Any, loss: float
) -> Slope:
    """Measure one parameter by central differences, with a step and with half of it."""
    engine = evaluation.engine
    direction = _choose_direction(engine, parameter, gradient)
    from_backward = None if gradient is None else float((gradient * direction).sum())
    original = parameter.detach().clone()
    epsilon = PRECISIONS[str(parameter.dtype).rpartition(".")[2]]
    # The cube root of the precision is where the errors of rounding and of curvature meet; a fifth
    # of it keeps clear of the bends of a ReLU.
    step = epsilon ** (1 / 3) / 5 * max(1.0, float(original.norm()))

    def compute_slope(length: float) -> float:
        values = []
        for sign in (1, -1):
            with engine.no_grad():
                # Through `.data`, as in `restore_at_end`: no version counter moves.
                parameter.data.copy_(original + direction * (sign * length))
            values.append(evaluation.compute_value())
        return (values[0] - values[1]) / (2 * length)

    try:
        # Two steps, so that a kink shows: there the slope depends on how far one goes.
        slope, finer = compute_slope(step), compute_slope(step / 2)
    finally:
        with engine.no_grad():
            parameter.data.copy_(original)
    # the loss is a sum that is rounded: below this no slope can be told from none
    smallest = 8 * epsilon * max(abs(loss), epsilon) / step
    verdict = _judge_slope(slope, finer, from_backward, smallest)
    return Slope(name, finer, from_backward, verdict)


def _choose_direction(engine: ModuleType, parameter: Any, gradient: Any) -> Any:
    """Return a direction of length 1: along the gradient, where it is steep, and a bit aside.

    Aside, since a gradient that is right along itself may have lost another part: one that is
    anywhere, and one along the parameter, which is what a penalty on weights pulls at.
    """
    # A generator of its own: the direction is the same in each call, and the global numbers go on.
    chance = engine.randn(parameter.shape, generator=engine.Generator().manual_seed(1))
    direction = chance.to(parameter.dtype).to(parameter.device)
    direction = direction / direction.norm()
    if gradient is None or not float(gradient.norm()) > 0:
        return direction
    direction = gradient / gradient.norm() + 0.3 * direction
    own = parameter.detach()
    if float(own.norm()) > 0:
        direction = direction + 0.3 * own / own.norm()
    return direction / direction.norm()


def _judge_slope(slope: float, finer: float, from_backward: float | None, smallest: float) -> str:
    """Return the verdict on two measured slopes and what backward says."""
    if not (math.isfinite(slope) and math.isfinite(finer)):
        return NOT_FINITE
    size = max(abs(finer), abs(from_backward or 0.0))
    if size <= smallest:
        # Neither the measured slope nor that of backward can be told from 0.
        return UNUSED if from_backward is None else AGREES
    # Before smoothness: a loss that does not change has no slope whose roughness could be measured.
    if abs(finer) <= smallest and from_backward:
        return FLAT
    # Asked first: across a bend the measured slope is a mean of both sides, and no fault of backward.
    if abs(slope - finer) > ROUGHNESS * max(abs(slope), abs(finer)) + smallest:
        return NOT_SMOOTH
    if abs(finer - (from_backward or 0.0)) <= TOLERANCE * size + smallest:
        return AGREES
    return NO_GRADIENT if from_backward is None else DIFFERS


# -- the lines that may have done it ------------------------------------------------


def find_causes(
    evaluation: Evaluation, parameters: dict[str, Any], slopes: tuple[Slope, ...]
) -> tuple[str, ...]:
    """Return what can make the gradients wrong that are not the slope, with its lines.

    The step is run once more, under a watch: what was written to after it was saved; hooks,
    Functions and checkpoints, of which a look at the graph does not know what they do; and where
    values of these parameters left the graph.
    """
    doubtful = [slope.name for slope in slopes if slope.verdict in (DIFFERS, NO_GRADIENT)]
    if not doubtful:
        return ()
    causes: list[str] = []
    # What the step or a look raises this time must not take the place of what was measured.
    with suppress(Exception), watch(silent="record") as seen, evaluation.computed_loss() as loss:
        exits = [(name, seen.find_exits(parameters[name])) for name in doubtful]
        if loss.requires_grad:
            # Before backward frees the graph.
            opaque = list(_describe_code_of_program(loss))
            _run_backward(loss, list(parameters.values()))
            causes += [finding.summary for finding in seen.findings]
            causes += opaque
        causes += describe_exits((name, found) for name, found in exits if found)
    return tuple(causes)


def _describe_code_of_program(loss: Any) -> Iterator[str]:
    """Yield what backward runs besides formulas of the engine: Functions, hooks, checkpoints."""
    functions = {
        node.function.label: node.name
        for node in read_snapshot((loss,), {}, values=False).nodes
        if node.function is not None
    }
    for label, node in functions.items():
        yield gettext("{node} runs a function in Python: {code}", node=node, code=label)
    for finding in explain(loss).findings:
        is_said = any(label in finding.sentence for label in functions)
        if finding.kind == "not known" and not is_said:
            yield finding.sentence


# -- saying it ---------------------------------------------------------------------


class GradientCheck(Presentation):
    """Which gradients are the slope of the loss, in words and as a table.

    slopes: a Slope for each parameter, in their order. causes: sentences with the lines that may
    have made a gradient differ, or not arrive. The check is true if one could be measured and none
    differs.
    """

    def __init__(self, slopes: tuple[Slope, ...], causes: tuple[str, ...] = ()) -> None:
        self.slopes, self.causes = slopes, causes

    def __bool__(self) -> bool:
        verdicts = {slope.verdict for slope in self.slopes}
        return AGREES in verdicts and not verdicts & {DIFFERS, NO_GRADIENT}

    def __repr__(self) -> str:
        return self.text

    def tree(self) -> Box:
        """The headline, a row for each gradient that does not agree, and what to look for."""
        doubtful = [slope for slope in self.slopes if slope.verdict != AGREES]
        rows = [
            [
                protect_marks(slope.name),
                _format_slope(slope.measured),
                _format_slope(slope.from_backward),
                gettext(_VERDICTS[slope.verdict]),
            ]
            for slope in sorted(doubtful, key=lambda slope: list(_VERDICTS).index(slope.verdict))
        ]
        # What agrees has no row: of a network with a thousand parameters nobody looks for the wrong
        # one.
        head = ("", gettext("slope of the loss"), gettext("backward says"), "")
        found = {slope.verdict for slope in doubtful}
        advice = [gettext(text) for verdict, text in _ADVICE.items() if verdict in found]
        advice += self._describe_zeros()
        return Box(
            InPage(html_element("style", panel_style_sheet())),
            Paragraph(self._describe_result(), class_="cl-title"),
            Table(head, rows) if rows else None,
            Paragraph(self._describe_agreeing()) if rows and self._count_agreeing() else None,
            Items(advice, class_="cl-says") if advice else None,
            *self._list_causes(),
            class_="cl-panel",
        )

    def _list_causes(self) -> list[Part]:
        if not self.causes:
            return []
        # In code: a run-on of places and lines is not read.
        return [
            Paragraph(gettext("Seen while the loss was computed, and may be what did it:")),
            Code("\n".join(self.causes)),
        ]

    def _describe_result(self) -> str:
        differing = [s for s in self.slopes if s.verdict in (DIFFERS, NO_GRADIENT)]
        if differing:
            return gettext(
                "**{wrong} of {all} gradients are not the slope of the loss**, in {modules}.",
                wrong=len(differing),
                all=len(self.slopes),
                modules=join_names([f"`{protect_marks(s)}`" for s in _modules_of(differing)]),
            )
        if self:
            return self._describe_agreeing()
        return gettext("No gradient could be measured.")

    def _describe_agreeing(self) -> str:
        return ngettext(
            "{number} gradient is the slope of the loss.",
            "{number} gradients are the slope of the loss.",
            self._count_agreeing(),
        )

    def _describe_zeros(self) -> list[str]:
        """Say of which parameters the gradient is 0 throughout, and right: such a step is lost."""
        # Along its own direction a gradient is 0 only if all of its elements are.
        names = [
            f"`{protect_marks(slope.name)}`"
            for slope in self.slopes
            if slope.verdict == AGREES and slope.from_backward == 0
        ]
        if not names:
            return []
        sentence = ngettext(
            "The gradient of {names} is 0 throughout, and so is the slope, as far as it can be "
            "measured: a step along it changes nothing. Rounding, a comparison, `sign`, and a ReLU "
            "that lets nothing through are flat.",
            "The gradients of {names} are 0 throughout, and so are the slopes, as far as they can "
            "be measured: a step along them changes nothing. Rounding, a comparison, `sign`, and a "
            "ReLU that lets nothing through are flat.",
            len(names),
            names=join_few_names(names),
        )
        return [sentence]

    def _count_agreeing(self) -> int:
        return sum(slope.verdict == AGREES for slope in self.slopes)


def _modules_of(slopes: list[Slope]) -> list[str]:
    return list(dict.fromkeys(slope.module for slope in slopes))


def _format_slope(slope: float | None) -> str:
    if slope is None:
        return gettext("nothing")
    return "-" if math.isnan(slope) else f"{slope:.4g}"


__all__ = ["GradientCheck", "Slope", "check_gradients"]
